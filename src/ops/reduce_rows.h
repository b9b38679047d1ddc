// reduce_rows.h -- a reduction's loops over a row, for any fold of lanes.h. Touches its output only.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_REDUCE_ROWS_H_
#define RNNPACK_OPS_REDUCE_ROWS_H_

#include "kernels/scalar_math.h"
#include "ops/lanes.h"
#include "ops/reduce_slow_path.h"
#include "ops/strides.h"

namespace rnnp {

namespace {

// One output: x is at its first element. `count`: as many lanes as the elements reach, or all.
template <class Fold>
float reduce_one(const AttrReduce &a, const Fold &fold, const float *x, uint32_t count) {
  float lanes[kLanes];
  const uint32_t last = a.over_rank - 1;
  fold_start<Fold>(lanes);
  Walk walk(last, a.over_dims, a.over_stride, 0);
  do fold_into(fold, x + walk.at, a.over_stride[last], a.over_dims[last], lanes);
  while (walk.next());
  return fold_end<Fold>(lanes, count);
}

constexpr uint32_t kColumnBlock = 256;

// `width` outputs side by side, at most kLanes. Blocks are folded alone: the sum of a large image rounds less.
template <class Fold>
void reduce_columns(const AttrReduce &a, const Fold &fold, const float *x, uint32_t width, float *y) {
  float sum[kLanes];
  fold_start<Fold>(sum);
  uint32_t folded = 0;
  Walk walk(a.over_rank, a.over_dims, a.over_stride, 0);
  do {
    const float *from = x + walk.at;
    if (folded++ % kColumnBlock == 0 && folded != 1) {
      for (uint32_t l = 0; l < width; ++l) y[l] = folded == kColumnBlock + 1 ? sum[l] : Fold::join(y[l], sum[l]);
      fold_start<Fold>(sum);
    }
    if (width == kLanes) {
      for (uint32_t l = 0; l < kLanes; ++l) sum[l] = Fold::join(sum[l], fold.map(from[l]));
    } else {
      for (uint32_t l = 0; l < width; ++l) sum[l] = Fold::join(sum[l], fold.map(from[l]));
    }
  } while (walk.next());
  for (uint32_t l = 0; l < width; ++l) y[l] = folded <= kColumnBlock ? sum[l] : Fold::join(y[l], sum[l]);
}

// Returns the number of outputs.
template <class Fold>
size_t reduce_row(const ReduceNode &r, const Fold &fold, const float *x, float *y, uint32_t count = kLanes) {
  const AttrReduce &a = *r.attr;
  const float *begin = y;
  const uint32_t rank = a.kept_rank - (r.columns ? 1 : 0), width = r.columns ? a.kept_dims[rank] : 1;
  Walk walk(rank, a.kept_dims, a.kept_stride, static_cast<ptrdiff_t>(a.x_first));
  do {
    if (!r.columns) {
      *y++ = reduce_one(a, fold, x + walk.at, count);
      continue;
    }
    for (uint32_t i = 0; i < width; i += kLanes) {
      const uint32_t some = width - i < kLanes ? width - i : kLanes;
      reduce_columns(a, fold, x + walk.at + i, some, y);
      y += some;
    }
  } while (walk.next());
  return static_cast<size_t>(y - begin);
}

}  // namespace
}  // namespace rnnp
#endif  // RNNPACK_OPS_REDUCE_ROWS_H_
