// walk_half_body.h -- walk_body.h for panels of f16 and bf16: loads that step their own address, in a fixed order.
// Room: kernels; included by panel_body.h, used by the ISAs whose Vec::kWalks is true (NEON with 16 registers, RISC-V).
// Contract: panel_body.h. Why so: as walk_body.h; what becomes of a load takes registers of its own.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_WALK_HALF_BODY_H_
#define RNNPACK_KERNELS_WALK_HALF_BODY_H_

#include "kernels/panel_types.h"

namespace rnnp::RNNPACK_SET {
namespace {

template <class Panel, int kMr, int kTiles, int kVectors, class V>
struct WalkHalfTurns {
  static constexpr int kCount = kTiles * kVectors, kKr = Panel::kKr;
  F acc[kMr][kCount];
  Rows<kMr> rows;
  const uint8_t *panels[kTiles];
  size_t skip;  // from the last vector of a tile's k to the first of the next

  RNNPACK_INLINE void fetch(int n, F (&w)[kKr]) {
    const uint8_t *&panel = panels[n / kVectors];
    Panel::template fetch_next<V>(&panel, w);
    if (n % kVectors == kVectors - 1) panel += skip;
  }

  // kTerms of the k that lie together. Of rows and panel vectors the fewer are held in registers, the others pass, one ahead
  // where there is room.
  template <int kTerms>
  RNNPACK_INLINE void turn() {
    if constexpr (kMr < kCount || V::kScalarFactors) {
      F a[kMr][kTerms];
      RNNPACK_UNROLL
      for (int i = 0; i < kMr * kTerms; ++i) a[i / kTerms][i % kTerms] = V::broadcast_next(&rows.at[i / kTerms]);
      constexpr int kAhead = kMr == 1 && !V::kScalarFactors ? 1 : 0;
      F w[kAhead + 1][kKr];
      RNNPACK_UNROLL
      for (int n = 0; n < kAhead; ++n) fetch(n, w[n]);
      RNNPACK_UNROLL
      for (int n = 0; n < kCount; ++n) {
        if (n + kAhead < kCount) fetch(n + kAhead, w[(n + kAhead) % (kAhead + 1)]);
        const F(&at)[kKr] = w[n % (kAhead + 1)];
        RNNPACK_UNROLL
        for (int i = 0; i < kMr * kTerms; ++i) acc[i % kMr][n] = V::fma_here(a[i % kMr][i / kMr], at[i / kMr], acc[i % kMr][n]);
      }
    } else {
      F w[kCount][kKr];
      RNNPACK_UNROLL
      for (int n = 0; n < kCount; ++n) fetch(n, w[n]);
      RNNPACK_UNROLL
      for (int i = 0; i < kMr * kTerms; ++i) {
        const F a = V::broadcast_next(&rows.at[i / kTerms]);
        RNNPACK_UNROLL
        for (int n = 0; n < kCount; ++n) acc[i / kTerms][n] = V::fma_here(a, w[n][i % kTerms], acc[i / kTerms][n]);
      }
    }
  }

  RNNPACK_INLINE void run(F (&sums)[kMr][kCount], const uint8_t *panel, size_t tile_bytes, size_t panel_k, size_t k) {
    RNNPACK_UNROLL
    for (int i = 0; i < kMr * kCount; ++i) acc[i / kCount][i % kCount] = sums[i / kCount][i % kCount];
    RNNPACK_UNROLL
    for (int t = 0; t < kTiles; ++t) panels[t] = panel + static_cast<size_t>(t) * tile_bytes;
    skip = panel_k - size_t{kVectors * kWidth * Panel::kColumnBytes};
    RNNPACK_NO_UNROLL
    for (size_t left = k / kKr; left != 0; --left) turn<kKr>();
    if constexpr (kKr > 1) {
      if (k % kKr != 0) turn<1>();
    }
    RNNPACK_UNROLL
    for (int i = 0; i < kMr * kCount; ++i) sums[i / kCount][i % kCount] = acc[i / kCount][i % kCount];
  }
};

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_WALK_HALF_BODY_H_
