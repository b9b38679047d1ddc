// reduce.cpp -- sums, means, extremes, products and norms over feature axes of a row; threads own rows.
// Touches its output only. Additions have one fixed order per output: 16 lanes along the reduced axes (lanes.h), or, where the
// outputs lie side by side and the reduced elements do not, one accumulator per output with ascending index.
// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce_rows.h"

namespace rnnp {
namespace {

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

rnnp_status check_reduce(const Model &m, const BlobNode &node) {
  const AttrReduce *a = m.attr<AttrReduce>(node);
  const uint32_t x = m.node_input(node, 0), y = m.node_output(node, 0);
  if (a == nullptr || a->op > uint32_t(Reduce::kLogSumExp) || !fits(m, *a, x, y)) return RNNP_E_BLOB_CORRUPT;
  if (m.values[x].sequence != m.values[y].sequence || is_const(m, x)) return RNNP_E_BLOB_CORRUPT;
  return RNNP_OK;
}

rnnp_status build_reduce(BuildEnv *env, const BlobNode &node, void **object) {
  const AttrReduce *a = env->model->attr<AttrReduce>(node);
  ReduceNode *r = env->arena->take<ReduceNode>(1);
  *object = r;
  if (r == nullptr) return RNNP_OK;
  uint32_t over = 1;
  for (uint32_t i = 0; i < a->over_rank; ++i) over *= a->over_dims[i];
  const bool side_by_side = a->kept_rank != 0 && a->kept_stride[a->kept_rank - 1] == 1 && a->over_stride[a->over_rank - 1] != 1;
  *r = {a, static_cast<float>(over), side_by_side, static_cast<uint8_t>(over > 8 ? kLanes : over > 4 ? 8 : over > 2 ? 4 : over)};
  return RNNP_OK;
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
    case Reduce::kLogSum:
      n = reduce_row(r, FoldSum(), x, y);
      for (size_t i = 0; i < n; ++i) y[i] = scalar_log(y[i]);
      return;
    case Reduce::kL2:
      n = reduce_row(r, FoldSumSquare(), x, y);
      for (size_t i = 0; i < n; ++i) y[i] = scalar_sqrt(y[i]);
      return;
    case Reduce::kSumSquare:
      reduce_row(r, FoldSumSquare(), x, y);
      return;
    default:
      return reduce_slow_path(r, x, y);
  }
}

void run_reduce(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const ReduceNode &r = *static_cast<const ReduceNode *>(object);
  const uint32_t x = env.model->node_input(node, 0), y = env.model->node_output(node, 0);
  if (!runs_in_chunk(env, y)) return;
  size_t begin, end;
  split_range(chunk_rows(env, y), env.threads, thread, &begin, &end);
  for (size_t row = begin; row < end; ++row) run_row(r, row_of(env.values[x], row), row_of(env.values[y], row));
}

}  // namespace

RNNPACK_OP(reduce, {OpKind::kReduce, nullptr, check_reduce, nullptr, build_reduce, nullptr, run_reduce});

}  // namespace rnnp
