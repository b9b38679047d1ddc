// products_f32.h -- up to 16 rows of a matrix times one column, exact products on the ordinary units; a warp has the rows and all
// of k. Invariant of sums: lane l adds columns 64 g + 2 l and + 1 over g ascending, then lanes are added as a butterfly. Whoever
// multiplies does it through these functions, so kernels and grids cannot change bits. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_KERNELS_PRODUCTS_F32_H_
#define RNNPACK_CUDA_KERNELS_PRODUCTS_F32_H_

#include <math.h>

#include "cuda/device_layout.h"
#include "cuda/simt.h"

namespace rnnp {
namespace cuda {

struct alignas(8) Floats2 {
  float x, y;
};
struct alignas(16) Floats4 {
  float x, y, z, w;
};

// Two rows times this lane's two columns.
SIMT_FN void multiply_pair(const Floats4 &w, float first, float second, float *upper, float *lower) {
  *upper = fmaf(w.y, second, fmaf(w.x, first, *upper));
  *lower = fmaf(w.w, second, fmaf(w.z, first, *lower));
}

// The sums of kRows rows over 32 lanes, where lanes that differ in bit kMask have the others' parts: each keeps half of the rows
// and adds the other's, until it has one. Lane l ends with row_of_sum's. The order of a row's sums is the same for any kRows.
template <int kRows, int kMask = 16>
SIMT_FN float add_lanes(float acc[kRows], uint32_t lane) {
  if constexpr (kRows > 1) {
    constexpr int kHalf = kRows / 2;
    const bool upper = (lane & kMask) != 0;
    SIMT_UNROLL for (int r = 0; r < kHalf; ++r) {
      const float send = upper ? acc[r] : acc[r + kHalf], keep = upper ? acc[r + kHalf] : acc[r];
      acc[r] = keep + simt::shuffle_xor(send, kMask);
    }
    return add_lanes<kHalf, kMask / 2>(acc, lane);
  } else {
    const float sum = acc[0] + simt::shuffle_xor(acc[0], kMask);
    if constexpr (kMask == 1) return sum;
    float next[1] = {sum};
    return add_lanes<1, kMask / 2>(next, lane);
  }
}
template <int kRows>
constexpr uint32_t row_of_sum(uint32_t lane) {
  return lane / (kLanes / kRows);
}

// kColumns columns that are multiplied by the same rows: pairs of a lane, kGroups groups of 64 columns at a time. row(n): where
// column n lies.
template <int kPairs, int kGroups, int kColumns>
struct RowSums {
  float acc[kColumns][kMostWarpRows];

  template <class Row>
  SIMT_FN void multiply(const Floats4 *mine, uint32_t pairs, uint32_t k, Row row, RowSums *s) {
    const uint32_t lane = simt::thread() % kLanes, groups = column_groups(k);
    SIMT_UNROLL for (uint32_t n = 0; n < kColumns; ++n) SIMT_UNROLL for (uint32_t r = 0; r < kMostWarpRows; ++r) s->acc[n][r] =
        0.0f;
    SIMT_ROLLED for (uint32_t first = 0; first < groups; first += kGroups) {
      Floats4 w[kGroups][kPairs];
      SIMT_UNROLL for (uint32_t j = 0; j < kGroups; ++j) SIMT_UNROLL for (uint32_t r = 0; r < kPairs; ++r) {
        const uint32_t group = first + j < groups ? first + j : groups - 1, pair = r < pairs ? r : pairs - 1;
        w[j][r] = mine[(group * pairs + pair) * kLanes];
      }
      SIMT_UNROLL for (uint32_t n = 0; n < kColumns; ++n) SIMT_UNROLL for (uint32_t j = 0; j < kGroups; ++j) {
        if (j != 0 && first + j >= groups) break;
        const uint32_t at = (first + j) * 64 + 2 * lane;
        const float *column = row(n), one = at < k ? column[at] : 0.0f, two = at + 1 < k ? column[at + 1] : 0.0f;
        SIMT_UNROLL for (uint32_t r = 0; r < kPairs; ++r)
            multiply_pair(w[j][r], one, two, &s->acc[n][2 * r], &s->acc[n][2 * r + 1]);
      }
    }
  }
};

// This warp's rows of a block's image in memory times columns: of each, the sums of its rows over all lanes (add_lanes). A weight
// is loaded once for kColumns of them, and at least eight loads are under way.
template <int kColumns, class Row>
SIMT_FN void multiply_rows(const uint8_t *image, const Shape &s, Row row, float sums[kColumns]) {
  const uint32_t lane = simt::thread() % kLanes, warp = simt::thread() / kLanes, groups = column_groups(s.k);
  const uint32_t pairs = pairs_of_warp(s.gates, rows_of_warp(s.gates, s.units));
  const Floats4 *mine = reinterpret_cast<const Floats4 *>(image) + uint64_t{warp} * groups * pairs * kLanes + lane;
  const auto add_all = [&](float acc[kColumns][kMostWarpRows]) {
    SIMT_UNROLL for (uint32_t n = 0; n < kColumns; ++n) sums[n] = add_lanes<kMostWarpRows>(acc[n], lane);
  };
  if (pairs <= 2) {
    RowSums<2, 4, kColumns> all;
    RowSums<2, 4, kColumns>::multiply(mine, pairs, s.k, row, &all);
    add_all(all.acc);
  } else if (pairs <= 4) {
    RowSums<4, 2, kColumns> all;
    RowSums<4, 2, kColumns>::multiply(mine, pairs, s.k, row, &all);
    add_all(all.acc);
  } else {
    RowSums<8, 1, kColumns> all;
    RowSums<8, 1, kColumns>::multiply(mine, pairs, s.k, row, &all);
    add_all(all.acc);
  }
}
template <class Row>
SIMT_FN float multiply_rows(const uint8_t *image, const Shape &s, Row row) {
  float sum[1];
  multiply_rows<1>(image, s, row, sum);
  return sum[0];
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_KERNELS_PRODUCTS_F32_H_
