// pool.cpp -- largest element or mean under a window over feature axes; elements are taken in the window's order.
// Touches its output only. Threads own positions.
// SPDX-License-Identifier: Apache-2.0
#include "ops/window.h"

namespace rnnp {
namespace {

rnnp_status check(const Model &m, const BlobNode &node) {
  const AttrPool *a = m.attr<AttrPool>(node);
  const uint32_t x = m.node_input(node, 0), y = m.node_output(node, 0);
  if (a == nullptr || !is_f32_value(m, x, 0) || !is_f32_value(m, y, 0) || is_const(m, x) ||
      m.values[x].sequence != m.values[y].sequence) {
    return RNNP_E_BLOB_CORRUPT;
  }
  if (a->pool > uint32_t(Pool::kAverage) ||
      !window_fits(a->window, a->channels, a->channels, m.values[x].row_elems, m.values[y].row_elems)) {
    return RNNP_E_BLOB_CORRUPT;
  }
  for (int i = 0; i < 2; ++i) {
    if (a->counted_before[i] > kWindowMost || a->counted_after[i] > kWindowMost) return RNNP_E_BLOB_CORRUPT;
  }
  return RNNP_OK;
}

// Taps of one axis that the mean counts: inside x or its counted surroundings.
uint32_t counted_taps(const AttrPool &a, int axis, int32_t start) {
  BlobWindow wide = a.window;
  wide.in_size[axis] += a.counted_before[axis] + a.counted_after[axis];
  const Taps taps = taps_inside(wide, axis, start + static_cast<int32_t>(a.counted_before[axis]));
  return taps.end - taps.begin;
}

void take_largest(const float *x, int32_t stride, uint32_t channels, float *y) {
  for (uint32_t i = 0; i < channels; ++i) {
    const float v = x[static_cast<ptrdiff_t>(i) * stride];
    y[i] = v > y[i] || v != v ? v : y[i];  // NaN stays
  }
}

void add_elements(const float *x, int32_t stride, uint32_t channels, float *y) {
  for (uint32_t i = 0; i < channels; ++i) y[i] += x[static_cast<ptrdiff_t>(i) * stride];
}

void run_position(const AttrPool &a, const float *x, const Position &p, float *y) {
  const BlobWindow &w = a.window;
  const bool largest = a.pool == uint32_t(Pool::kMax);
  const int32_t h_start = window_start(w, 0, p.h), w_start = window_start(w, 1, p.w);
  const Taps h = taps_inside(w, 0, h_start), k = taps_inside(w, 1, w_start);
  for (uint32_t i = 0; i < a.channels; ++i) y[i] = largest ? -__builtin_inff() : 0.0f;
  for (uint32_t i = h.begin; i < h.end; ++i) {
    const float *line = x + w.x_first + ptrdiff_t{h_start + static_cast<int32_t>(i * w.dilation[0])} * w.x_stride[0];
    for (uint32_t j = k.begin; j < k.end; ++j) {
      const float *at = line + ptrdiff_t{w_start + static_cast<int32_t>(j * w.dilation[1])} * w.x_stride[1];
      largest ? take_largest(at, w.x_stride[2], a.channels, y) : add_elements(at, w.x_stride[2], a.channels, y);
    }
  }
  if (largest) return;
  const float count = static_cast<float>(counted_taps(a, 0, h_start)) * static_cast<float>(counted_taps(a, 1, w_start));
  for (uint32_t i = 0; i < a.channels; ++i) y[i] /= count;
}

void run(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const AttrPool &a = **static_cast<const AttrPool *const *>(object);
  const uint32_t y = env.model->node_output(node, 0);
  if (!runs_in_chunk(env, y)) return;
  size_t begin, end;
  split_range(chunk_rows(env, y) * window_positions(a.window), env.threads, thread, &begin, &end);
  if (begin == end) return;
  Position p = position_at(a.window, env.batch, begin);
  for (; begin < end; ++begin) {
    run_position(a, row_of(env.values[env.model->node_input(node, 0)], p.row), p, window_output(a.window, env.values[y], p));
    next_position(a.window, env.batch, &p);
  }
}

}  // namespace

const Op rnnp_op_pool = {OpKind::kPool, nullptr, check, nullptr, keep_attr<AttrPool>, nullptr, run};

}  // namespace rnnp
