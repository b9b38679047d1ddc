// depthwise.cpp -- convolution of each channel by itself: weights [taps][channels], channels side by side in x and y.
// A few channels at a time stay in registers over all taps, which are added in one order; taps outside x are left out.
// Threads own positions. Touches its output and its own state only.
// SPDX-License-Identifier: Apache-2.0
#include "ops/conv_history.h"

namespace rnnp {
namespace {

constexpr uint32_t kLanes = 16;     // channels in registers
constexpr uint32_t kKnownTaps = 8;  // time taps whose rows are looked up once

struct Depthwise {
  const AttrConv *attr;
  const float *w, *bias;
  ActFn act;
};

rnnp_status check(const Model &m, const BlobNode &n, const AttrConv *a) {
  const rnnp_status status = check_conv(m, n, a);
  if (status != RNNP_OK) return status;
  if (a->nr != 0) return RNNP_E_UNSUPPORTED;  // conv.cpp
  if (a->dtype != uint32_t(DType::kF32)) return RNNP_E_LAYOUT;
  if (a->in_channels != 1 || a->out_channels != 1 || a->window.x_stride[2] != 1) return RNNP_E_BLOB_CORRUPT;
  if (!m.weights_fit(a->w, uint64_t{conv_depth(*a)} * a->groups)) return RNNP_E_BLOB_CORRUPT;
  return a->bias == kNone || m.weights_fit(a->bias, a->groups) ? RNNP_OK : RNNP_E_BLOB_CORRUPT;
}

rnnp_status build(BuildEnv *env, const BlobNode &node, void **object) {
  const Model &m = *env->model;
  const AttrConv *a = m.attr<AttrConv>(node);
  const rnnp_status status = check(m, node, a);
  if (status != RNNP_OK) return status;
  const bool activated = a->act.act != uint32_t(Act::kIdentity);
  const Kernel *act = activated ? find_act(*env, a->act) : nullptr;
  if (activated && act == nullptr) return RNNP_E_LAYOUT;
  Depthwise *d = env->arena->take<Depthwise>(1);
  *object = d;
  if (d != nullptr) *d = {a, m.weights(a->w), a->bias == kNone ? nullptr : m.weights(a->bias), act ? act->act : nullptr};
  return RNNP_OK;
}

// What all channels of one position share.
struct Place {
  const RunEnv &env;
  const ValueSlot &x;
  const Position &p;
  Taps h, w;
  int32_t h_start, w_start;
  const float *rows[kKnownTaps];  // nullptr: zeros
};

// Adds the taps of channels [first, first + count) to sum.
template <uint32_t kCount>
void add_taps(const Depthwise &d, const Place &at, uint32_t first, uint32_t count, float *sum) {
  const AttrConv &a = *d.attr;
  const BlobWindow &w = a.window;
  const uint32_t lanes = kCount ? kCount : count;
  for (uint32_t tap = 0; tap < a.time_taps; ++tap) {
    const float *row = tap < kKnownTaps ? at.rows[tap] : tap_row(at.env, a, at.x, at.p, tap);
    if (row == nullptr) continue;
    for (uint32_t h = at.h.begin; h < at.h.end; ++h) {
      const float *line = row + w.x_first + ptrdiff_t{at.h_start + static_cast<int32_t>(h * w.dilation[0])} * w.x_stride[0];
      for (uint32_t k = at.w.begin; k < at.w.end; ++k) {
        const float *x = line + ptrdiff_t{at.w_start + static_cast<int32_t>(k * w.dilation[1])} * w.x_stride[1] + first;
        const float *weight = d.w + ((size_t{tap} * w.kernel[0] + h) * w.kernel[1] + k) * a.groups + first;
        for (uint32_t i = 0; i < lanes; ++i) sum[i] += weight[i] * x[i];
      }
    }
  }
}

void run_position(const Depthwise &d, const Place &at, float *y) {
  const uint32_t channels = d.attr->groups;
  for (uint32_t first = 0; first < channels; first += kLanes) {
    const uint32_t count = channels - first < kLanes ? channels - first : kLanes;
    float sum[kLanes];
    for (uint32_t i = 0; i < count; ++i) sum[i] = d.bias != nullptr ? d.bias[first + i] : 0.0f;
    if (count == kLanes) {
      add_taps<kLanes>(d, at, first, kLanes, sum);
    } else {
      add_taps<0>(d, at, first, count, sum);
    }
    for (uint32_t i = 0; i < count; ++i) y[first + i] = sum[i];
  }
  if (d.act == nullptr) return;
  const ActArgs args = {y, y, channels, d.attr->act};
  d.act(&args);
}

void run_positions(const RunEnv &env, const Depthwise &d, const ValueSlot &x, const ValueSlot &y, size_t begin, size_t end) {
  if (begin == end) return;
  const BlobWindow &w = d.attr->window;
  Position p = position_at(w, env.batch, begin);
  Place at = {env, x, p, {}, {}, 0, 0, {}};
  for (bool first = true; begin < end; ++begin, first = false) {
    for (uint32_t tap = 0; tap < d.attr->time_taps && tap < kKnownTaps && (first || (p.h == 0 && p.w == 0)); ++tap)
      at.rows[tap] = tap_row(env, *d.attr, x, p, tap);
    at.h_start = window_start(w, 0, p.h);
    at.w_start = window_start(w, 1, p.w);
    at.h = taps_inside(w, 0, at.h_start);
    at.w = taps_inside(w, 1, at.w_start);
    run_position(d, at, window_output(w, y, p));
    next_position(w, env.batch, &p);
  }
}

void run(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const Depthwise &d = *static_cast<const Depthwise *>(object);
  const uint32_t y = env.model->node_output(node, 0);
  if (!runs_in_chunk(env, y)) return;
  const ValueSlot &x = env.values[env.model->node_input(node, 0)];
  size_t begin, end;
  split_range(chunk_rows(env, y) * window_positions(d.attr->window), env.threads, thread, &begin, &end);
  run_positions(env, d, x, env.values[y], begin, end);
  if (d.attr->state != kNone) keep_history(env, *d.attr, x, thread);
}

}  // namespace

const Op rnnp_op_depthwise = {OpKind::kConv, build, nullptr, run};

}  // namespace rnnp
