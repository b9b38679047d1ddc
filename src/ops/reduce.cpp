// reduce.cpp -- sums, means, extremes, products and norms over feature axes of a row; threads own rows.
// Touches its output only. Additions have one fixed order per output: 16 lanes along the reduced axes (lanes.h), or, where the
// outputs lie side by side and the reduced elements do not, one accumulator per output with ascending index.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/scalar_math.h"
#include "ops/lanes.h"
#include "ops/op.h"
#include "ops/strides.h"

namespace rnnp {
namespace {

struct ReduceNode {
  const AttrReduce *attr;
  float count;   // elements per output
  bool columns;  // outputs side by side
};

bool fits(const Model &m, const AttrReduce &a, uint32_t x, uint32_t y) {
  uint64_t kept, over;
  if (!dims_fit(a.kept_rank, a.kept_dims, &kept) || !dims_fit(a.over_rank, a.over_dims, &over) || a.over_rank == 0) return false;
  if (!is_f32_value(m, y, uint32_t(kept)) || !is_f32_value(m, x, 0)) return false;
  const uint32_t elems = m.values[x].row_elems;
  if (kept * over > elems) return false;  // no more work than elements
  int64_t low = a.x_first, high = a.x_first;
  return widen_reach(a.kept_rank, a.kept_dims, a.kept_stride, &low, &high) &&
         widen_reach(a.over_rank, a.over_dims, a.over_stride, &low, &high) && low >= 0 && high < int64_t{elems};
}

rnnp_status check(const Model &m, const BlobNode &node) {
  const AttrReduce *a = m.attr<AttrReduce>(node);
  const uint32_t x = m.node_input(node, 0), y = m.node_output(node, 0);
  if (a == nullptr || a->op > uint32_t(Reduce::kLogSumExp) || !fits(m, *a, x, y)) return RNNP_E_BLOB_CORRUPT;
  if (m.values[x].sequence != m.values[y].sequence || is_const(m, x)) return RNNP_E_BLOB_CORRUPT;
  return RNNP_OK;
}

rnnp_status build(BuildEnv *env, const BlobNode &node, void **object) {
  const AttrReduce *a = env->model->attr<AttrReduce>(node);
  ReduceNode *r = env->arena->take<ReduceNode>(1);
  *object = r;
  if (r == nullptr) return RNNP_OK;
  uint32_t over = 1;
  for (uint32_t i = 0; i < a->over_rank; ++i) over *= a->over_dims[i];
  const bool side_by_side = a->kept_rank != 0 && a->kept_stride[a->kept_rank - 1] == 1 && a->over_stride[a->over_rank - 1] != 1;
  *r = {a, static_cast<float>(over), side_by_side};
  return RNNP_OK;
}

// One output: x is at its first element.
template <class Fold>
float reduce_one(const AttrReduce &a, const Fold &fold, const float *x) {
  float lanes[kLanes];
  fold_start<Fold>(lanes);
  const uint32_t last = a.over_rank - 1;
  Walk walk(last, a.over_dims, a.over_stride, 0);
  do fold_into(fold, x + walk.at, a.over_stride[last], a.over_dims[last], lanes);
  while (walk.next());
  return fold_end<Fold>(lanes);
}

// `width` outputs side by side, at most kLanes.
template <class Fold>
void reduce_columns(const AttrReduce &a, const Fold &fold, const float *x, uint32_t width, float *y) {
  float sum[kLanes];
  fold_start<Fold>(sum);
  Walk walk(a.over_rank, a.over_dims, a.over_stride, 0);
  do {
    const float *from = x + walk.at;
    if (width == kLanes) {
      for (uint32_t l = 0; l < kLanes; ++l) sum[l] = Fold::join(sum[l], fold.map(from[l]));
    } else {
      for (uint32_t l = 0; l < width; ++l) sum[l] = Fold::join(sum[l], fold.map(from[l]));
    }
  } while (walk.next());
  for (uint32_t l = 0; l < width; ++l) y[l] = sum[l];
}

// Returns the number of outputs.
template <class Fold>
size_t reduce_row(const ReduceNode &r, const Fold &fold, const float *x, float *y) {
  const AttrReduce &a = *r.attr;
  const float *begin = y;
  const uint32_t rank = a.kept_rank - (r.columns ? 1 : 0), width = r.columns ? a.kept_dims[rank] : 1;
  Walk walk(rank, a.kept_dims, a.kept_stride, static_cast<ptrdiff_t>(a.x_first));
  do {
    if (!r.columns) {
      *y++ = reduce_one(a, fold, x + walk.at);
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

struct FoldExp : FoldSum {
  float shift;
  explicit FoldExp(float s) : shift(s) {}
  float map(float x) const { return scalar_exp(x - shift); }
};

// log(sum(exp(x))), with the largest element taken out first.
void log_sum_exp_row(const AttrReduce &a, const float *x, float *y) {
  Walk walk(a.kept_rank, a.kept_dims, a.kept_stride, static_cast<ptrdiff_t>(a.x_first));
  do {
    const float largest = reduce_one(a, FoldMax(), x + walk.at);
    const bool finite = largest - largest == 0.0f;
    *y++ = finite ? largest + scalar_log(reduce_one(a, FoldExp(largest), x + walk.at)) : largest;
  } while (walk.next());
}

void run_row(const ReduceNode &r, const float *x, float *y) {
  size_t n;
  switch (Reduce(r.attr->op)) {
    case Reduce::kSum:
      reduce_row(r, FoldSum(), x, y);
      return;
    case Reduce::kMean:
      n = reduce_row(r, FoldSum(), x, y);
      for (size_t i = 0; i < n; ++i) y[i] /= r.count;
      return;
    case Reduce::kMax:
      reduce_row(r, FoldMax(), x, y);
      return;
    case Reduce::kMin:
      reduce_row(r, FoldMin(), x, y);
      return;
    case Reduce::kProd:
      reduce_row(r, FoldProduct(), x, y);
      return;
    case Reduce::kL1:
      reduce_row(r, FoldSumAbs(), x, y);
      return;
    case Reduce::kL2:
      n = reduce_row(r, FoldSumSquare(), x, y);
      for (size_t i = 0; i < n; ++i) y[i] = scalar_sqrt(y[i]);
      return;
    case Reduce::kSumSquare:
      reduce_row(r, FoldSumSquare(), x, y);
      return;
    case Reduce::kLogSum:
      n = reduce_row(r, FoldSum(), x, y);
      for (size_t i = 0; i < n; ++i) y[i] = scalar_log(y[i]);
      return;
    case Reduce::kLogSumExp:
      log_sum_exp_row(*r.attr, x, y);
      return;
  }
}

void run(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const ReduceNode &r = *static_cast<const ReduceNode *>(object);
  const uint32_t x = env.model->node_input(node, 0), y = env.model->node_output(node, 0);
  if (!runs_in_chunk(env, y)) return;
  size_t begin, end;
  split_range(chunk_rows(env, y), env.threads, thread, &begin, &end);
  for (size_t row = begin; row < end; ++row) run_row(r, row_of(env.values[x], row), row_of(env.values[y], row));
}

}  // namespace

const Op rnnp_op_reduce = {OpKind::kReduce, nullptr, check, nullptr, build, nullptr, run};

}  // namespace rnnp
