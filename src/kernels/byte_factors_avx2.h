// byte_factors_avx2.h -- what the bytes of blocks are multiplied by, eight units to a vector. Room: kernels; included by
// gemm_bsr_<isa>.cpp after a byte_dot_<isa>.h. Contract: gemm_bsr_body.h. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_BYTE_FACTORS_AVX2_H_
#define RNNPACK_KERNELS_BYTE_FACTORS_AVX2_H_

#include "pack/panel_format.h"

namespace rnnp::RNNPACK_SET {
namespace {

struct Words : ByteDot {
  static constexpr int kMostRows = 1, kChains = 2;
  using Factor = I;
  struct Factors {
    I of[2];
  };

  static RNNPACK_INLINE I word(const uint8_t *row, uint16_t quad) { return broadcast(row + size_t{quad} * kBlockK); }
  template <int kStrips>
  static RNNPACK_INLINE Factors factors(const uint8_t *row, const uint16_t *at) {
    if constexpr (kStrips == 4) {
      return {{_mm256_blend_epi32(word(row, at[0]), word(row, at[1]), 0xf0),
               _mm256_blend_epi32(word(row, at[2]), word(row, at[3]), 0xf0)}};
    } else {
      return {{word(row, at[0]), word(row, at[kStrips - 1])}};
    }
  }
};

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_BYTE_FACTORS_AVX2_H_
