// lane_body.h -- the inner loop where a multiply-add takes its factor from a lane of a vector: in a fixed order.
// Room: kernels; included by panel_body.h, used by the ISAs whose Vec::kLanes is true. Reads four floats of each row at a time.
// Contract: panel_body.h.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_LANE_BODY_H_
#define RNNPACK_KERNELS_LANE_BODY_H_

#include "kernels/rows_body.h"

namespace rnnp::RNNPACK_SET {
namespace {

// The order of loads and multiply-adds where a factor is a lane of a vector: kTurn rows of a panel a turn, kAhead weights loaded
// before they are needed and each vector of factors replaced after its last use, so that an in-order core finds a load to go with
// every multiply-add. The last turn's loads ahead read its own rows once more. kRow 0: the floats from one k to the next are an
// argument.
template <int kMr, int kTiles, int kVectors, int kRow, class V>
struct LaneTurns {
  static constexpr bool kLong = kMr == 1 && V::kRegisters >= 32;
  static constexpr int kTurn = kLong ? 8 : 4, kAhead = kLong ? 4 : 2;
  static constexpr int kCount = kTiles * kVectors;
  F (&acc)[kMr][kCount];
  F a[kTurn / 4][kMr], weights[kAhead];
  size_t row;

  RNNPACK_INLINE size_t row_floats() const { return kRow != 0 ? size_t{kRow} : row; }

  // A turn's first row of each tile's panel; all of its rows where instructions do not know how far apart they are.
  static constexpr int kPlaces = kRow != 0 ? 1 : kTurn;
  struct Panels {
    const float *at[kTiles][kPlaces];
  };

  // Vector `number` of the turn that begins at `panels`; those past its end are the next turn's.
  static RNNPACK_INLINE F fetch(const Panels &panels, const Panels &next, int number) {
    const Panels &from = number < kTurn * kCount ? panels : next;
    const int k = number / kCount % kTurn, n = number % kCount;
    return V::fetch(from.at[n / kVectors][k % kPlaces] + (k - k % kPlaces) * kRow + n % kVectors * kWidth);
  }
  static RNNPACK_INLINE F fetch(const Rows<kMr> &rows, int m, int quarter, size_t bytes) {
    return V::fetch(offset_bytes(rows.at[m], bytes) + 4 * quarter);
  }

  // One k of a turn; `next_bytes` is where the next turn's factors begin.
  template <int kK>
  RNNPACK_INLINE void one(const Panels &panels, const Panels &next, const Rows<kMr> &rows, size_t next_bytes) {
    constexpr int kFirst = kK * kCount, kQuarter = kK / 4;
    RNNPACK_UNROLL
    for (int n = 0; n < kCount; ++n) {
      F &w = weights[(kFirst + n) % kAhead];
      RNNPACK_UNROLL
      for (int m = 0; m < kMr; ++m) {
        acc[m][n] = V::template fma_lane<kK % 4>(a[kQuarter][m], w, acc[m][n]);
        if (kK % 4 == 3 && n == kCount - 1) a[kQuarter][m] = fetch(rows, m, kQuarter, next_bytes);
      }
      w = fetch(panels, next, kFirst + n + kAhead);
    }
  }
  template <int kK>
  RNNPACK_INLINE void four(const Panels &panels, const Panels &next, const Rows<kMr> &rows, size_t next_bytes) {
    one<kK>(panels, next, rows, next_bytes);
    one<kK + 1>(panels, next, rows, next_bytes);
    one<kK + 2>(panels, next, rows, next_bytes);
    one<kK + 3>(panels, next, rows, next_bytes);
  }

  // What leads to x is done before the loads and multiply-adds that follow: each step of it between others, not all at the turn's
  // end.
  template <class T>
  static RNNPACK_INLINE void stay_here(T &x) {
    __asm__ volatile("" : "+r"(x));
  }

  RNNPACK_INLINE void turn(Panels *panels, const Rows<kMr> &rows, size_t more, size_t *bytes) {
    Panels next;
    one<0>(*panels, *panels, rows, *bytes);
    *bytes += more * (4 * kTurn);
    stay_here(*bytes);
    one<1>(*panels, *panels, rows, *bytes);
    RNNPACK_UNROLL
    for (int p = 0; p < kTiles * kPlaces; ++p) {
      const float *&at = next.at[p / kPlaces][p % kPlaces];
      at = panels->at[p / kPlaces][p % kPlaces] + more * (kTurn * row_floats());
      stay_here(at);
    }
    one<2>(*panels, next, rows, *bytes);
    one<3>(*panels, next, rows, *bytes);
    if constexpr (kTurn == 8) four<4>(*panels, next, rows, *bytes);
    *panels = next;
  }

  // Returns how many k are done.
  RNNPACK_INLINE size_t run(const Rows<kMr> &rows, const float *panel, size_t tile_elems, size_t k) {
    if (k < kTurn) return 0;
    RNNPACK_UNROLL
    for (int q = 0; q < kTurn / 4; ++q) {
      RNNPACK_UNROLL
      for (int m = 0; m < kMr; ++m) a[q][m] = fetch(rows, m, q, 0);
    }
    Panels panels;
    RNNPACK_UNROLL
    for (int p = 0; p < kTiles * kPlaces; ++p)
      panels.at[p / kPlaces][p % kPlaces] = panel + p / kPlaces * tile_elems + static_cast<size_t>(p % kPlaces) * row_floats();
    RNNPACK_UNROLL
    for (int n = 0; n < kAhead; ++n) weights[n] = fetch(panels, panels, n);
    size_t bytes = 0;
    RNNPACK_NO_UNROLL
    for (size_t left = k / kTurn; left != 0;) {
      size_t more = --left != 0;
      stay_here(more);  // or it becomes a second branch
      turn(&panels, rows, more, &bytes);
    }
    return k / kTurn * kTurn;
  }
};

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_LANE_BODY_H_
