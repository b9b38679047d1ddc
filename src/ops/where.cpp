// where.cpp -- y = condition != 0 ? a : b over a row, each operand with strides of its own; threads own rows.
// Touches its output only. A once-per-run operand of a per-step result is repeated for every step.
// SPDX-License-Identifier: Apache-2.0
#include "ops/op.h"
#include "ops/strides.h"

namespace rnnp {
namespace {

constexpr uint32_t kOperands = 3;  // condition, a, b

bool choice_fits(const Model &m, uint32_t operand, uint32_t y, const AttrWhere &w, uint32_t i) {
  if (!is_f32_operand(m, operand, y)) return false;
  return strides_fit(w.rank, w.dims, w.stride[i], w.first[i], m.values[operand].row_elems);
}

rnnp_status check_where(const Model &m, const BlobNode &node) {
  const AttrWhere *w = m.attr<AttrWhere>(node);
  const uint32_t y = m.node_output(node, 0);
  uint64_t elems;
  if (w == nullptr || w->rank == 0 || !dims_fit(w->rank, w->dims, &elems) || !is_f32_value(m, y, uint32_t(elems)))
    return RNNP_E_BLOB_CORRUPT;
  for (uint32_t i = 0; i < kOperands; ++i) {
    if (!choice_fits(m, m.node_input(node, i), y, *w, i)) return RNNP_E_BLOB_CORRUPT;
  }
  return RNNP_OK;
}

void select(const float *c, const float *a, const float *b, float *y, uint32_t n, const ptrdiff_t *step) {
  if (step[0] == 1 && step[1] == 1 && step[2] == 1) {
    for (uint32_t i = 0; i < n; ++i) y[i] = c[i] != 0.0f ? a[i] : b[i];
    return;
  }
  for (ptrdiff_t i = 0; i < static_cast<ptrdiff_t>(n); ++i) y[i] = c[i * step[0]] != 0.0f ? a[i * step[1]] : b[i * step[2]];
}

void where_row(const AttrWhere &w, const float *const *from, float *y) {
  const uint32_t last = w.rank - 1;
  const ptrdiff_t step[kOperands] = {w.stride[0][last], w.stride[1][last], w.stride[2][last]};
  Walk c(last, w.dims, w.stride[0], static_cast<ptrdiff_t>(w.first[0]));
  Walk a(last, w.dims, w.stride[1], static_cast<ptrdiff_t>(w.first[1]));
  Walk b(last, w.dims, w.stride[2], static_cast<ptrdiff_t>(w.first[2]));
  do {
    select(from[0] + c.at, from[1] + a.at, from[2] + b.at, y, w.dims[last], step);
    y += w.dims[last];
    a.next();
    b.next();
  } while (c.next());
}

void run_where(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const AttrWhere &w = **static_cast<const AttrWhere *const *>(object);
  const Model &m = *env.model;
  const uint32_t y = m.node_output(node, 0);
  if (!runs_in_chunk(env, y)) return;
  size_t begin, end;
  split_range(chunk_rows(env, y), env.threads, thread, &begin, &end);
  for (size_t row = begin; row < end; ++row) {
    const float *from[kOperands];
    for (uint32_t i = 0; i < kOperands; ++i) from[i] = operand_row(env, m.node_input(node, i), y, row);
    where_row(w, from, row_of(env.values[y], row));
  }
}

}  // namespace

RNNPACK_OP(where, {OpKind::kWhere, nullptr, check_where, nullptr, keep_attr<AttrWhere>, nullptr, run_where});

}  // namespace rnnp
