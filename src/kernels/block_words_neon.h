// block_words_neon.h -- the words on blocks of int8 for NEON, with dot products and without. Room: kernels; included by
// gemm_bsr_neon*.cpp after their products of bytes. Contract: gemm_bsr_body.h. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_BLOCK_WORDS_NEON_H_
#define RNNPACK_KERNELS_BLOCK_WORDS_NEON_H_

#include "pack/panel_format.h"

namespace rnnp::RNNPACK_SET {
namespace {

struct Words : ByteDot {
  static constexpr int kMostRows = 1, kChains = 1;
  using Factor = int8x16_t;
  struct Factors {
    Factor of[4];
  };

  static RNNPACK_INLINE I start(const int32_t *) { return zero(); }
  static RNNPACK_INLINE float32x4_t floats(I sum) { return to_float(sum, nullptr); }
  template <int kStrips>
  static RNNPACK_INLINE Factors factors(const uint8_t *row, const uint16_t *quad) {
    Factors f;
    RNNPACK_UNROLL
    for (int p = 0; p < 4; ++p) f.of[p] = broadcast(row + size_t{quad[p * kStrips / 4]} * kBlockK);
    return f;
  }
};

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_BLOCK_WORDS_NEON_H_
