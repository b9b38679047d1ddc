// bytes_neon.h -- rows of floats to bytes. Room: kernels; the words of byte_rows.h. Contract: docs/KERNELS.md, "Int8".
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_BYTES_NEON_H_
#define RNNPACK_KERNELS_BYTES_NEON_H_

#include "kernels/vec_neon.h"
// After the vectors, whose words it uses.
#include "kernels/byte_floats.h"

namespace rnnp::RNNPACK_SET {
namespace {

struct Bytes : RowFloats {
  static RNNPACK_INLINE int8x16_t bytes_at(const uint8_t *p) { return vreinterpretq_s8_u8(vld1q_u8(p)); }
  static RNNPACK_INLINE int8x16_t broadcast(const uint8_t *four) {
    uint32_t word;
    __builtin_memcpy(&word, four, sizeof word);
    return vreinterpretq_s8_u32(vdupq_n_u32(word));
  }

  // The nearest integers, halves to the even one.
  static RNNPACK_INLINE int32x4_t whole(float32x4_t cut) {
#if defined(__aarch64__)
    return vcvtnq_s32_f32(cut);
#else
    const float32x4_t ones = Vec::set1(12582912.0f);  // 1.5 * 2^23: the last place is worth 1
    return vsubq_s32(vreinterpretq_s32_f32(vaddq_f32(cut, ones)), vreinterpretq_s32_f32(ones));
#endif
  }
  static RNNPACK_INLINE int16x4_t words_of(float32x4_t v) {
    const float32x4_t cut = Vec::min(Vec::max(v, Vec::set1(-127.0f)), Vec::set1(127.0f));
    return vmovn_s32(vbicq_s32(whole(cut), vreinterpretq_s32_u32(Vec::is_nan(v))));
  }
  static RNNPACK_INLINE void quantise(const float *a, size_t k, float to_byte, int zero, uint8_t *to) {
    const float32x4_t scale = Vec::set1(to_byte);
    const int8x8_t zeros = vdup_n_s8(static_cast<int8_t>(zero));
    for (size_t i = 0; i < (k + 63) / 64 * 64; i += 8) {
      const int16x4_t first = words_of(Vec::mul(load(a, k, i), scale)), second = words_of(Vec::mul(load(a, k, i + 4), scale));
      vst1_s8(static_cast<int8_t *>(static_cast<void *>(to + i)), vadd_s8(vmovn_s16(vcombine_s16(first, second)), zeros));
    }
  }
};

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_BYTES_NEON_H_
