// walk_body.h -- the inner loop where registers are few and a load steps its own address: in a fixed order.
// Room: kernels; included by panel_body.h, used by the ISAs whose Vec::kWalks is true (NEON with 16 registers, RISC-V).
// Contract: panel_body.h.
// Why so: left to itself GCC 12 makes an address for every load and moves all of a turn's loads to its front, which 16 registers do
// not hold. Loads alternate with multiply-adds here; a panel's pointer walks through it, a row's along its factors.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_WALK_BODY_H_
#define RNNPACK_KERNELS_WALK_BODY_H_

#include "kernels/rows_body.h"

namespace rnnp::RNNPACK_SET {
namespace {

template <int kMr, int kTiles, int kVectors, int kRow, class V>
struct WalkTurns {
  static constexpr int kCount = kTiles * kVectors;
  F acc[kMr][kCount];  // a copy: through a reference GCC stores each sum in every turn
  Rows<kMr> rows;
  const float *panels[kTiles];

  // Vector n of this k; after the last of a tile its pointer is at the next k.
  RNNPACK_INLINE F weights(int n) {
    const float *&panel = panels[n / kVectors];
    const F w = V::fetch_next(&panel);
    if (kVectors * kWidth != kRow && n % kVectors == kVectors - 1) panel += kRow - kVectors * kWidth;
    return w;
  }

  // One k. Of rows and panel vectors the fewer are held in registers, the others pass, one loaded ahead where there is room.
  RNNPACK_INLINE void one() {
    if constexpr (kMr < kCount || V::kScalarFactors) {
      constexpr int kAhead = kMr <= 2 || V::kScalarFactors ? 2 : 1;
      F a[kMr], w[kAhead];
      RNNPACK_UNROLL
      for (int m = 0; m < kMr; ++m) a[m] = V::broadcast_next(&rows.at[m]);
      RNNPACK_UNROLL
      for (int n = 0; n < kAhead && n < kCount; ++n) w[n] = weights(n);
      RNNPACK_UNROLL
      for (int n = 0; n < kCount; ++n) {
        RNNPACK_UNROLL
        for (int m = 0; m < kMr; ++m) acc[m][n] = V::fma_here(a[m], w[n % kAhead], acc[m][n]);
        if (n + kAhead < kCount) w[n % kAhead] = weights(n + kAhead);
      }
    } else {
      F w[kCount];
      RNNPACK_UNROLL
      for (int n = 0; n < kCount; ++n) w[n] = weights(n);
      RNNPACK_UNROLL
      for (int m = 0; m < kMr; ++m) {
        const F a = V::broadcast_next(&rows.at[m]);
        RNNPACK_UNROLL
        for (int n = 0; n < kCount; ++n) acc[m][n] = V::fma_here(a, w[n], acc[m][n]);
      }
    }
  }

  static RNNPACK_INLINE void copy(F (&to)[kMr][kCount], const F (&from)[kMr][kCount]) {
    RNNPACK_UNROLL
    for (int m = 0; m < kMr; ++m) {
      RNNPACK_UNROLL
      for (int n = 0; n < kCount; ++n) to[m][n] = from[m][n];
    }
  }

  RNNPACK_INLINE void run(F (&sums)[kMr][kCount], const float *panel, size_t tile_elems, size_t k) {
    copy(acc, sums);
    RNNPACK_UNROLL
    for (int t = 0; t < kTiles; ++t) panels[t] = panel + t * tile_elems;
    if (k % 2 != 0) one();
    RNNPACK_NO_UNROLL
    for (size_t left = k / 2; left != 0; --left) {
      one();
      one();
    }
    copy(sums, acc);
  }
};

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_WALK_BODY_H_
