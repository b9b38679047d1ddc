// nibble_words_neon.h -- the words on int4 that NEON with dot products and without share. Room: kernels; included by
// gemm_i4_neon*.cpp. Contract: gemm_i4_body.h. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_NIBBLE_WORDS_NEON_H_
#define RNNPACK_KERNELS_NIBBLE_WORDS_NEON_H_

#include "kernels/bytes_neon.h"
// After the bytes.
#include "kernels/kernels.h"

namespace rnnp::RNNPACK_SET {
namespace {

RNNPACK_INLINE int32_t sum_of_32_bytes(const uint8_t *p) {
  return vaddlvq_s8(Bytes::bytes_at(p)) + vaddlvq_s8(Bytes::bytes_at(p + 16));
}

struct NibbleWords : Bytes {
  static constexpr int kMostRows = 1, kMostVectors = 4;
  static constexpr int32_t kExcess = 8;
  static constexpr size_t kStepK = 8;

  static size_t tile_width(const GemmArgs &g) { return size_t{g.w.gates} * 16; }
  static RNNPACK_INLINE int32x4_t minus(int32_t v) { return vdupq_n_s32(-v); }
  static RNNPACK_INLINE float32x4_t to_float(int32x4_t sum) { return vcvtq_f32_s32(sum); }

  struct Weights {
    int8x16_t low, high;
    RNNPACK_INLINE explicit Weights(const uint8_t *p) {
      const uint8x16_t w = vld1q_u8(p);
      low = vreinterpretq_s8_u8(vandq_u8(w, vdupq_n_u8(15)));
      high = vreinterpretq_s8_u8(vshrq_n_u8(w, 4));
    }
  };

  template <class Partial>
  static RNNPACK_INLINE void add_step(Partial *part, const Weights &w, const uint8_t *a) {
    part->add(w.low, broadcast(a));
    part->add(w.high, broadcast(a + 4));
  }
};

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_NIBBLE_WORDS_NEON_H_
