// byte_dot_neon.h -- products of bytes with int8 weights, for NEON without dot products: the words that dense and sparse panels
// share. Room: kernels; included by gemm_*_neon.cpp. Contract: docs/KERNELS.md, "Int8". SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_BYTE_DOT_NEON_H_
#define RNNPACK_KERNELS_BYTE_DOT_NEON_H_

#include "kernels/bytes_neon.h"

namespace rnnp::RNNPACK_SET {
namespace {

struct ByteDot : Bytes {
  // Four units; of each, two sums.
  struct I {
    int32x4_t low, high;
  };
  static constexpr int kZero = 0;

  static RNNPACK_INLINE I zero() { return {vdupq_n_s32(0), vdupq_n_s32(0)}; }
  static RNNPACK_INLINE I add(I a, I b) { return {vaddq_s32(a.low, b.low), vaddq_s32(a.high, b.high)}; }
  static RNNPACK_INLINE int16x8_t low_products(int8x16_t a, int8x16_t b) { return vmull_s8(vget_low_s8(a), vget_low_s8(b)); }
#if defined(__aarch64__)
  static RNNPACK_INLINE int16x8_t high_products(int8x16_t a, int8x16_t b) {
    return vmull_high_s8(a, b);
  }
  static RNNPACK_INLINE int16x8_t add_high_products(int16x8_t sum, int8x16_t a, int8x16_t b) {
    return vmlal_high_s8(sum, a, b);
  }
#else
  static RNNPACK_INLINE int16x8_t high_products(int8x16_t a, int8x16_t b) {
    return vmull_s8(vget_high_s8(a), vget_high_s8(b));
  }
  static RNNPACK_INLINE int16x8_t add_high_products(int16x8_t sum, int8x16_t a, int8x16_t b) {
    return vmlal_s8(sum, vget_high_s8(a), vget_high_s8(b));
  }
#endif
  static RNNPACK_INLINE void add_dot(I *sum, int8x16_t factor, const uint8_t *weights) {
    const int8x16_t w = bytes_at(weights);
    sum->low = vpadalq_s16(sum->low, low_products(w, factor));
    sum->high = vpadalq_s16(sum->high, high_products(w, factor));
  }
  static RNNPACK_INLINE float32x4_t to_float(I sum, const int32_t *) {
#if defined(__aarch64__)
    return vcvtq_f32_s32(vpaddq_s32(sum.low, sum.high));
#else
    return vcvtq_f32_s32(vcombine_s32(vpadd_s32(vget_low_s32(sum.low), vget_high_s32(sum.low)),
                                      vpadd_s32(vget_low_s32(sum.high), vget_high_s32(sum.high))));
#endif
  }
};

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_BYTE_DOT_NEON_H_
