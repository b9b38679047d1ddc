// byte_dot_neondot.h -- products of bytes with int8 weights, for NEON with dot products: the words that dense and sparse panels
// share. Room: kernels; included by gemm_*_neondot.cpp. Contract: docs/KERNELS.md, "Bytes". SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_BYTE_DOT_NEONDOT_H_
#define RNNPACK_KERNELS_BYTE_DOT_NEONDOT_H_

#include "kernels/bytes_neon.h"

namespace rnnp {
namespace {

struct ByteDot : Bytes {
  using I = int32x4_t;
  static constexpr int kZero = 0;

  static RNNPACK_INLINE I zero() { return vdupq_n_s32(0); }
  static RNNPACK_INLINE I add(I a, I b) { return vaddq_s32(a, b); }
  static RNNPACK_INLINE void add_dot(I *sum, int8x16_t factor, const uint8_t *weights) {
    *sum = vdotq_s32(*sum, bytes_at(weights), factor);
  }
  static RNNPACK_INLINE float32x4_t to_float(I sum, const int32_t *) { return vcvtq_f32_s32(sum); }
};

}  // namespace
}  // namespace rnnp
#endif  // RNNPACK_KERNELS_BYTE_DOT_NEONDOT_H_
