// conv_history.cpp -- Contract: conv_history.h.
// SPDX-License-Identifier: Apache-2.0
#include "ops/conv_history.h"

#include "base/bytes.h"
#include "pack/winograd.h"

namespace rnnp {
namespace {

constexpr uint32_t kMostLead = 1u << 24;  // steps that a convolution may reach back or ahead

bool time_fits(const Model &m, const AttrConv &a, uint32_t x) {
  if (a.time_taps == 0 || a.time_dilation == 0 || a.lead > int32_t{kMostLead} || a.lead < -int32_t{kMostLead}) return false;
  if (a.time_taps > kMostLead || uint64_t{a.time_taps - 1} * a.time_dilation > kMostLead) return false;
  const bool causal = (m.header->flags & kBlobCausal) != 0;
  if ((a.time_taps != 1 || a.lead != 0) && !m.values[x].sequence) return false;
  if (reads_ahead(a) && (causal || a.state != kNone)) return false;
  if (a.state == kNone) return !causal || a.lead <= 0;
  return a.lead > 0 && is_persistent_state(m, a.state, uint64_t{static_cast<uint32_t>(a.lead)} * m.values[x].row_elems, 1);
}

bool depth_fits(const AttrConv &a) {
  uint64_t depth = a.time_taps;
  const uint32_t factors[] = {a.window.kernel[0], a.window.kernel[1], a.in_channels};
  for (const uint32_t factor : factors) {
    depth *= factor;  // both at most 2^28 here
    if (depth == 0 || depth > kWindowMost) return false;
  }
  return true;
}

Ring ring_of(const RunEnv &env, const AttrConv &a, uint32_t batch_row) {
  return ring_in(env.states[a.state], batch_row);
}

// Where y is NCHW: they are whole, and all of them inside.
bool planes_fit(const AttrConv &a, uint32_t y_elems) {
  const BlobWindow &w = a.window;
  if (a.y_plane == 0) return true;
  const uint64_t plane = uint64_t{w.out_size[0]} * w.out_size[1];
  if (a.y_plane != plane || w.y_stride[1] != 1 || w.y_stride[0] != w.out_size[1]) return false;
  return plane <= kWindowMost && w.y_first + plane * a.out_channels <= y_elems;
}

void keep_row(const RunEnv &env, const AttrConv &a, const ValueSlot &x, uint32_t batch_row) {
  const uint32_t lead = static_cast<uint32_t>(a.lead), live = live_steps(env, batch_row);
  const Ring ring = ring_of(env, a, batch_row);
  uint32_t at = oldest_row(a, ring);
  uint32_t step = 0;
  if (live > lead) {
    step = live - lead;
    at = (at + step % lead) % lead;
  }
  while (step < live) {
    uint32_t rows = 1;  // that lie side by side in x, too
    if (env.batch == 1) rows = live - step < lead - at ? live - step : lead - at;
    copy_bytes(ring.rows + at * (x.row_bytes / sizeof(float)), row_of(x, size_t{step} * env.batch + batch_row), rows * x.row_bytes);
    at = at + rows == lead ? 0 : at + rows;
    step += rows;
  }
  write_word(ring.place, at);
}

}  // namespace

bool is_depthwise(const Model &m, const BlobNode &node) {
  const AttrConv *a = m.attr<AttrConv>(node);
  return a != nullptr && a->matrix < m.matrices.count && m.matrix(a->matrix).format.nr == 0;
}

bool is_nchw(const Model &m, const BlobNode &node) {
  const AttrConv *a = m.attr<AttrConv>(node);
  return a != nullptr && a->y_plane != 0;
}

bool has_winograd_weights(const Model &m, const BlobNode &node) {
  const AttrConv *a = m.attr<AttrConv>(node);
  if (a == nullptr || a->matrix >= m.matrices.count) return false;
  const uint32_t *kernel = a->window.kernel, k = m.matrix(a->matrix).shape.k;
  return a->y_plane != 0 ? are_winograd_weights(kernel[0], kernel[1], a->in_channels, k)
                         : a->groups == 1 && are_line_points(kernel[0], kernel[1], a->time_taps, a->in_channels, k);
}

rnnp_status check_planes(const Model &m, const AttrConv &a, uint32_t k) {
  if (a.groups != 1 || a.time_taps != 1 || a.lead != 0 || a.state != kNone) return RNNP_E_BLOB_CORRUPT;
  if (!m.has_matrix(a.matrix, 1, a.out_channels, k, 1)) return RNNP_E_BLOB_CORRUPT;
  const PanelFormat &format = m.matrix(a.matrix).format;
  if (format.weight != DType::kF32 || format.nr % kPlaneUnits != 0 || is_sparse(format)) return RNNP_E_BLOB_CORRUPT;
  return a.bias == kNone || m.vector_fits(a.bias, m.matrix(a.matrix), 1) ? RNNP_OK : RNNP_E_BLOB_CORRUPT;
}

rnnp_status check_conv_matrix(const Model &m, const AttrConv &a) {
  if (!m.has_matrix(a.matrix, 1, a.out_channels, conv_depth(a), a.groups)) return RNNP_E_BLOB_CORRUPT;
  return a.bias == kNone || m.vector_fits(a.bias, m.matrix(a.matrix), 1) ? RNNP_OK : RNNP_E_BLOB_CORRUPT;
}

NodeCosts conv_costs(const Model &m, const BlobNode &node) {
  return element_costs(m, node, conv_depth(*m.attr<AttrConv>(node)));
}

rnnp_status check_conv(const Model &m, const BlobNode &node, const AttrConv *a) {
  if (a == nullptr) return RNNP_E_BLOB_CORRUPT;
  const uint32_t x = m.node_input(node, 0), y = m.node_output(node, 0);
  if (!is_f32_value(m, x, 0) || !is_f32_value(m, y, 0) || is_const(m, x) || m.values[x].sequence != m.values[y].sequence)
    return RNNP_E_BLOB_CORRUPT;
  if (a->groups == 0 || a->groups > kWindowMost || a->in_channels > kWindowMost || a->out_channels > kWindowMost)
    return RNNP_E_BLOB_CORRUPT;
  const uint64_t in = uint64_t{a->groups} * a->in_channels, out = uint64_t{a->groups} * a->out_channels;
  if (in > kWindowMost || out > kWindowMost || !planes_fit(*a, m.values[y].row_elems) ||
      !window_fits(a->window, uint32_t(in), a->y_plane != 0 ? 1 : uint32_t(out), m.values[x].row_elems, m.values[y].row_elems) ||
      !time_fits(m, *a, x) || !depth_fits(*a)) {
    return RNNP_E_BLOB_CORRUPT;
  }
  return a->act.act <= uint32_t(Act::kCeil) ? RNNP_OK : RNNP_E_BLOB_CORRUPT;
}

TapRows tap_rows(const RunEnv &env, const AttrConv &a, const ValueSlot &x, const Position &p, uint32_t tap) {
  const int64_t step = int64_t{p.step} - a.lead + int64_t{tap} * a.time_dilation;
  const uint32_t live = live_steps(env, p.batch_row), left = env.steps - p.step;
  const bool ahead = reads_ahead(a);
  // The ring stands still where a row has ended, so behind that a step sees no other: how far the end is back is not known.
  const bool stands = !ahead && step != int64_t{p.step};
  if (stands && p.step >= live) return {nullptr, left, false};
  const uint32_t goes_on = stands ? live - p.step : left;
  const auto fewer = [&](int64_t steps) { return steps < int64_t{goes_on} ? static_cast<uint32_t>(steps) : goes_on; };
  if (step >= 0) {
    const int64_t end = ahead ? live : env.steps;
    if (step >= end) return {nullptr, left, false};
    return {row_of(x, static_cast<size_t>(step) * env.batch + p.batch_row), fewer(end - step), false};
  }
  if (a.state == kNone) return {nullptr, fewer(-step), false};
  const Ring ring = ring_of(env, a, p.batch_row);
  const uint32_t lead = static_cast<uint32_t>(a.lead), age = static_cast<uint32_t>(-step);
  const uint32_t at = row_of_age(a, oldest_row(a, ring), age);
  return {ring.rows + at * (x.row_bytes / sizeof(float)), fewer(age < lead - at ? age : lead - at), true};
}

bool rings_are_even(const RunEnv &env, const AttrConv &a) {
  if (a.state == kNone) return true;
  for (uint32_t row = 1; row < env.batch; ++row) {
    if (oldest_row(a, ring_of(env, a, row)) != oldest_row(a, ring_of(env, a, 0))) return false;
  }
  return true;
}

void keep_history(const RunEnv &env, const AttrConv &a, const ValueSlot &x, uint32_t thread) {
  if (env.threads > 1) barrier_wait(env.barriers, env.threads, thread);
  size_t begin, end;
  split_range(env.batch, env.threads, thread, &begin, &end);
  for (size_t row = begin; row < end; ++row) keep_row(env, a, x, static_cast<uint32_t>(row));
}

}  // namespace rnnp
