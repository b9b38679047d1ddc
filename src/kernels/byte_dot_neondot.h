// byte_dot_neondot.h -- products of bytes with int8 weights, for NEON with dot products: the words that dense and sparse panels
// share. Room: kernels; included by gemm_*_neondot.cpp. Contract: docs/KERNELS.md, "Int8". SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_BYTE_DOT_NEONDOT_H_
#define RNNPACK_KERNELS_BYTE_DOT_NEONDOT_H_

#include "kernels/bytes_neon.h"

namespace rnnp::RNNPACK_SET {
namespace {

struct ByteDot : Bytes {
  using I = int32x4_t;
  static constexpr int kZero = 0;

  static RNNPACK_INLINE I zero() { return vdupq_n_s32(0); }
  static RNNPACK_INLINE I add(I a, I b) { return vaddq_s32(a, b); }
  static RNNPACK_INLINE void add_dot(I *sum, int8x16_t factor, const uint8_t *weights) {
    *sum = vdotq_s32(*sum, bytes_at(weights), factor);
  }
  // Sixteen k of each unit, the factors of four taken from a lane.
  template <int kGroup, int kVectors>
  static RNNPACK_INLINE void add_lane(I (&sum)[kVectors], int8x16_t factors, const uint8_t *panel) {
    RNNPACK_UNROLL
    for (int v = 0; v < kVectors; ++v) sum[v] = vdotq_laneq_s32(sum[v], bytes_at(panel + v * 16), factors, kGroup);
  }
  template <int kVectors>
  static RNNPACK_INLINE void add_groups(I (&sum)[kVectors], const uint8_t *a, const uint8_t *panel, size_t panel_k) {
    const int8x16_t factors = bytes_at(a);
    add_lane<0>(sum, factors, panel);
    add_lane<1>(sum, factors, panel + panel_k);
    add_lane<2>(sum, factors, panel + 2 * panel_k);
    add_lane<3>(sum, factors, panel + 3 * panel_k);
  }
  static RNNPACK_INLINE float32x4_t to_float(I sum, const int32_t *) { return vcvtq_f32_s32(sum); }
};

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_BYTE_DOT_NEONDOT_H_
