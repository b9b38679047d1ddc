// move.cpp -- operators that only move data: a strided copy within rows (slice, concat, transpose) and one step out of a sequence.
// Touches its output only, and the last step that it keeps: a row that has ended in an earlier chunk or run still has it, so
// results do not depend on cuts. Threads own rows. SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "ops/op.h"
#include "ops/strides.h"
#include "ops/transpose4x4.h"

namespace rnnp {
namespace {

rnnp_status check_copy(const Model &m, const BlobNode &node) {
  const AttrCopy *a = m.attr<AttrCopy>(node);
  const uint32_t x = m.node_input(node, 0), y = m.node_output(node, 0);
  if (a == nullptr || a->rank == 0 || a->rank > kBlobMaxRank || !is_f32_value(m, x, 0) || !is_f32_value(m, y, 0))
    return RNNP_E_BLOB_CORRUPT;
  uint64_t count;
  if (!dims_fit(a->rank, a->dims, &count) || count > m.values[y].row_elems)
    return RNNP_E_BLOB_CORRUPT;  // no more work than elements
  if (!strides_fit(a->rank, a->dims, a->x_stride, a->x_first, m.values[x].row_elems) ||
      !strides_fit(a->rank, a->dims, a->y_stride, a->y_first, m.values[y].row_elems)) {
    return RNNP_E_BLOB_CORRUPT;
  }
  if (!operand_is_ready(m, x, y) || (m.values[x].sequence && !m.values[y].sequence)) return RNNP_E_BLOB_CORRUPT;
  return RNNP_OK;
}

// Two axes of a copy, and how far apart their elements lie on both sides.
struct CopiedPlane {
  uint32_t rows, columns;
  ptrdiff_t x_row, x_column, y_row, y_column;
};

void copy_plane(const CopiedPlane &p, const float *x, float *y) {
  if (p.x_row == 1 && p.y_column == 1) return turn(x, p.x_column, y, p.y_row, p.rows, p.columns);
  const bool lines = p.x_column == 1 && p.y_column == 1;
  for (uint32_t i = 0; i < p.rows; ++i, x += p.x_row, y += p.y_row) {
    if (lines) {
      copy_bytes(y, x, p.columns * sizeof(float));
    } else {
      for (ptrdiff_t k = 0; k < static_cast<ptrdiff_t>(p.columns); ++k) y[p.y_column * k] = x[p.x_column * k];
    }
  }
}

// All but two axes as an odometer: the last, and that one beside it along which x lies, if there is one.
void copy_row(const AttrCopy &a, const float *x, float *y) {
  const uint32_t last = a.rank - 1;
  uint32_t beside = last == 0 ? 0 : last - 1;
  for (uint32_t i = 0; i < last && a.x_stride[last] != 1; ++i) {
    if (a.x_stride[i] == 1) beside = i;
  }
  CopiedPlane plane = {1, a.dims[last], 0, a.x_stride[last], 0, a.y_stride[last]};
  if (last != 0) plane.rows = a.dims[beside], plane.x_row = a.x_stride[beside], plane.y_row = a.y_stride[beside];
  uint32_t index[kBlobMaxRank] = {};
  x += a.x_first;
  y += a.y_first;
  for (;;) {
    copy_plane(plane, x, y);
    uint32_t axis = last;
    for (; axis > 0; --axis) {
      const uint32_t i = axis - 1;
      if (i == beside) continue;
      x += a.x_stride[i];
      y += a.y_stride[i];
      if (++index[i] < a.dims[i]) break;
      x -= ptrdiff_t{a.x_stride[i]} * static_cast<ptrdiff_t>(a.dims[i]);
      y -= ptrdiff_t{a.y_stride[i]} * static_cast<ptrdiff_t>(a.dims[i]);
      index[i] = 0;
    }
    if (axis == 0) return;
  }
}

void run_copy(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const AttrCopy &a = **static_cast<const AttrCopy *const *>(object);
  const uint32_t x = env.model->node_input(node, 0), y = env.model->node_output(node, 0);
  if (!runs_in_chunk(env, y)) return;
  const bool repeats = env.model->values[x].sequence != env.model->values[y].sequence;
  size_t begin, end;
  split_range(chunk_rows(env, y), env.threads, thread, &begin, &end);
  for (size_t row = begin; row < end; ++row) {
    copy_row(a, row_of(env.values[x], repeats ? row % env.batch : row), row_of(env.values[y], row));
  }
}

rnnp_status check_time_step(const Model &m, const BlobNode &node) {
  const AttrTimeStep *a = m.attr<AttrTimeStep>(node);
  const uint32_t x = m.node_input(node, 0), y = m.node_output(node, 0);
  if (a == nullptr || a->last > 1 || !is_f32_value(m, y, 0) || !is_f32_value(m, x, m.values[y].row_elems))
    return RNNP_E_BLOB_CORRUPT;
  if (!m.values[x].sequence || m.values[y].sequence) return RNNP_E_BLOB_CORRUPT;
  const bool kept = a->last && (m.header->flags & kBlobCausal) != 0;
  if (kept ? !is_persistent_state(m, a->state, m.values[y].row_elems, 0) : a->state != kNone) return RNNP_E_BLOB_CORRUPT;
  return RNNP_OK;
}

// The last valid step of the row so far: of this chunk, else the one kept; zeros before the first.
void run_last_step(const RunEnv &env, const AttrTimeStep &a, const ValueSlot &x, const ValueSlot &y, size_t row) {
  const size_t bytes = x.row_bytes;
  const uint32_t steps = live_steps(env, row);
  const float *from = steps != 0 ? row_of(x, size_t{steps - 1} * env.batch + row) : nullptr;
  if (a.state != kNone) {
    float *kept = kept_row(env, a.state, row);
    if (from != nullptr && (steps < env.steps || env.last_chunk || env.lengths != nullptr)) copy_bytes(kept, from, bytes);
    from = kept;
  }
  if (!env.last_chunk) return;
  if (from != nullptr) {
    copy_bytes(row_of(y, row), from, bytes);
  } else {
    zero_bytes(row_of(y, row), bytes);
  }
}

void run_time_step(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const AttrTimeStep &a = **static_cast<const AttrTimeStep *const *>(object);
  const uint32_t x = env.model->node_input(node, 0), y = env.model->node_output(node, 0);
  const ValueSlot &from = env.values[x], &to = env.values[y];
  if (!a.last && !env.first_chunk) return;
  size_t begin, end;
  split_range(env.batch, env.threads, thread, &begin, &end);
  for (size_t row = begin; row < end; ++row) {
    if (a.last) {
      run_last_step(env, a, from, to, row);
    } else {
      copy_bytes(row_of(to, row), row_of(from, row), from.row_bytes);
    }
  }
}

}  // namespace

RNNPACK_OP(copy, {OpKind::kCopy, nullptr, check_copy, nullptr, keep_attr<AttrCopy>, nullptr, run_copy});
RNNPACK_OP(time_step, {OpKind::kTimeStep, nullptr, check_time_step, nullptr, keep_attr<AttrTimeStep>, nullptr, run_time_step});

}  // namespace rnnp
