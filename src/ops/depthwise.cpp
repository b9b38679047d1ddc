// depthwise.cpp -- convolution of each channel by itself: weights [taps][channels], channels side by side in x and y.
// The kernel gets the taps of a position that lie in x as a list, and adds them in one order.
// Threads own positions. Touches its output and its own state only.
// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "ops/conv_history.h"

namespace rnnp {
namespace {

struct Depthwise {
  RNNPACK_BYTES_32(24);
  const AttrConv *attr;
  const float *w, *bias;
  DepthwiseFn run;
  ActFn act;
  size_t list_bytes;  // of a list of taps; each thread has two in scratch
};

bool accepts_depthwise(const OpChoice &choice, const BlobNode &node) {
  return is_depthwise(*choice.model, node);
}

rnnp_status check_depthwise(const Model &m, const BlobNode &n) {
  const AttrConv *a = m.attr<AttrConv>(n);
  const rnnp_status status = check_conv(m, n, a);
  if (status != RNNP_OK) return status;
  if (a->in_channels != 1 || a->out_channels != 1 || a->window.x_stride[2] != 1) return RNNP_E_BLOB_CORRUPT;
  if (!m.has_matrix(a->matrix, 1, a->groups, conv_depth(*a), 1)) return RNNP_E_BLOB_CORRUPT;
  return a->bias == kNone || m.vector_fits(a->bias, m.matrix(a->matrix), 1) ? RNNP_OK : RNNP_E_BLOB_CORRUPT;
}

rnnp_status build_depthwise(BuildEnv *env, const BlobNode &node, void **object) {
  const Model &m = *env->model;
  const AttrConv *a = m.attr<AttrConv>(node);
  ActFn act = nullptr;
  if (!find_act_behind(*env, a->act, &act)) return RNNP_E_LAYOUT;
  const Matrix matrix = m.matrix(a->matrix);
  const Kernel *kernel = find_panel_kernel(*env, KernelFamily::kDepthwise, matrix.format);
  if (kernel == nullptr) return RNNP_E_LAYOUT;
  const size_t list_bytes = align_up(mul_sat(conv_depth(*a), pointer_bytes(env->machine)), kBlobAlign);
  const size_t scratch = mul_sat(mul_sat(list_bytes, 2), env->threads);
  if (scratch > env->scratch_bytes) env->scratch_bytes = scratch;
  Depthwise *d = env->arena->take<Depthwise>(1);
  *object = d;
  if (d == nullptr) return RNNP_OK;
  *d = {a, matrix.f32(), a->bias == kNone ? nullptr : m.weights(a->bias), kernel->depthwise, act, list_bytes};
  return RNNP_OK;
}

struct Lists {
  const float **x, **w;
};

// The taps of one position that lie in x, in order; returns how many.
uint32_t list_taps(const RunEnv &env, const Depthwise &d, const ValueSlot &x, const Position &p, const Lists &lists) {
  const AttrConv &a = *d.attr;
  const BlobWindow &w = a.window;
  const int32_t h_start = window_start(w, 0, p.h), w_start = window_start(w, 1, p.w);
  const Taps h = taps_inside(w, 0, h_start), k = taps_inside(w, 1, w_start);
  uint32_t count = 0;
  for (uint32_t tap = 0; tap < a.time_taps; ++tap) {
    const float *row = tap_row(env, a, x, p, tap);
    if (row == nullptr) continue;
    for (uint32_t i = h.begin; i < h.end; ++i) {
      const float *line = row + w.x_first + ptrdiff_t{h_start + static_cast<int32_t>(i * w.dilation[0])} * w.x_stride[0];
      const float *weights = d.w + (size_t{tap} * w.kernel[0] + i) * w.kernel[1] * a.groups;
      for (uint32_t j = k.begin; j < k.end; ++j, ++count) {
        lists.x[count] = line + ptrdiff_t{w_start + static_cast<int32_t>(j * w.dilation[1])} * w.x_stride[1];
        lists.w[count] = weights + size_t{j} * a.groups;
      }
    }
  }
  return count;
}

void run_positions(const RunEnv &env, const Depthwise &d, const ValueSlot &x, const ValueSlot &y, size_t begin, size_t end,
                   const Lists &lists) {
  if (begin == end) return;
  const BlobWindow &w = d.attr->window;
  Position p = position_at(w, env.batch, begin);
  for (; begin < end; ++begin) {
    float *out = window_output(w, y, p);
    const DepthwiseArgs args = {lists.x, lists.w, d.bias, out, list_taps(env, d, x, p, lists), d.attr->groups};
    d.run(&args);
    if (d.act != nullptr) {
      const ActArgs act = {out, out, d.attr->groups, d.attr->act};
      d.act(&act);
    }
    next_position(w, env.batch, &p);
  }
}

void run_depthwise(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const Depthwise &d = *static_cast<const Depthwise *>(object);
  const uint32_t y = env.model->node_output(node, 0);
  if (!runs_in_chunk(env, y)) return;
  const ValueSlot &x = env.values[env.model->node_input(node, 0)];
  size_t begin, end;
  split_range(chunk_rows(env, y) * window_positions(d.attr->window), env.threads, thread, &begin, &end);
  uint8_t *scratch = env.scratch + thread * 2 * d.list_bytes;
  const Lists lists = {view_as<const float *>(scratch), view_as<const float *>(scratch + d.list_bytes)};
  run_positions(env, d, x, env.values[y], begin, end, lists);
  if (d.attr->state != kNone) keep_history(env, *d.attr, x, thread);
}

}  // namespace

RNNPACK_OP(depthwise, {OpKind::kConv, accepts_depthwise, check_depthwise, conv_costs, build_depthwise, nullptr, run_depthwise});

}  // namespace rnnp
