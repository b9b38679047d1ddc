// lane_body.h -- the inner loop where a multiply-add takes its factor from a lane of a vector: four k a turn, in a fixed order.
// Room: kernels; included by panel_body.h, used by the ISAs whose Vec::kLanes is true. Reads four floats of each row at a time.
// Contract: panel_body.h.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_LANE_BODY_H_
#define RNNPACK_KERNELS_LANE_BODY_H_

#include "kernels/rows_body.h"

namespace rnnp {
namespace {

// The order of loads and multiply-adds where a factor is a lane of a vector: four rows of a panel a turn, kAhead weights loaded
// before they are needed and each of a row's vectors of factors replaced after its last use, so that an in-order core finds a load
// to go with every multiply-add. The last turn's loads ahead read its own rows once more.
template <int kMr, int kTiles, int kVectors, int kRow, class V>
struct LaneTurns {
  static constexpr int kCount = kTiles * kVectors, kAhead = kMr == 1 ? 4 : 2;
  F (&acc)[kMr][kCount];
  F a[kMr], weights[kAhead];
  size_t tile_elems;

  // Vector `at` of the turn that begins at `panel`; those past its end are the next turn's.
  RNNPACK_INLINE F fetch(const float *panel, const float *next, int at) const {
    const float *from = at < 4 * kCount ? panel : next;
    const int lane = at / kCount % 4, n = at % kCount;
    return V::fetch(from + lane * kRow + n / kVectors * tile_elems + n % kVectors * kWidth);
  }

  template <int kLane>
  RNNPACK_INLINE void lane(const float *panel, const float *next, const Rows<kMr> &next_factors, size_t next_i) {
    RNNPACK_UNROLL
    for (int n = 0; n < kCount; ++n) {
      constexpr int kFirst = kLane * kCount;
      F &w = weights[(kFirst + n) % kAhead];
      RNNPACK_UNROLL
      for (int m = 0; m < kMr; ++m) {
        acc[m][n] = V::template fma_lane<kLane>(a[m], w, acc[m][n]);
        if (kLane == 3 && n == kCount - 1) a[m] = V::fetch(next_factors.at[m] + next_i);
      }
      w = fetch(panel, next, kFirst + n + kAhead);
    }
  }

  // What leads to x is done before the loads and multiply-adds that follow: each step of it between others, not all at the turn's
  // end.
  template <class T>
  static RNNPACK_INLINE void stay_here(T &x) {
    __asm__ volatile("" : "+r"(x));
  }

  // Returns how many k are done.
  RNNPACK_INLINE size_t run(const Rows<kMr> &rows, const float *panel, size_t k) {
    if (k < 4) return 0;
    RNNPACK_UNROLL
    for (int m = 0; m < kMr; ++m) a[m] = V::fetch(rows.at[m]);
    RNNPACK_UNROLL
    for (int n = 0; n < kAhead; ++n) weights[n] = fetch(panel, panel, n);
    size_t i = 0;
    RNNPACK_NO_UNROLL
    for (size_t left = k / 4; left != 0;) {
      lane<0>(panel, panel, rows, i);
      size_t more = --left != 0;
      stay_here(more);
      lane<1>(panel, panel, rows, i);
      const float *next = panel + more * (4 * kRow);
      stay_here(next);
      lane<2>(panel, next, rows, i);
      i += more * 4;
      stay_here(i);
      lane<3>(panel, next, rows, i);
      panel = next;
    }
    return k / 4 * 4;
  }
};

}  // namespace
}  // namespace rnnp
#endif  // RNNPACK_KERNELS_LANE_BODY_H_
