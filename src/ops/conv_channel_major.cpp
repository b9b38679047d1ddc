// conv_channel_major.cpp -- convolution along time of few channels with a channel-major result: steps are the lanes of the sums.
// What the taps of some steps read is put into lines, one for each channel, from x, channel-major or rows, and from the ring; the
// kernel of NCHW convolutions makes the sums, in the order of a product of rows. Touches its output and its own state only.
// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "kernels/inlining.h"
#include "ops/channel_major.h"
#include "ops/patches.h"
#include "ops/transpose4x4.h"

namespace rnnp {
namespace {

constexpr uint32_t kMostUnits = 16;     // measured, Zen 4: of 8 channels rows take twice as long, of 16 a tenth longer
constexpr uint32_t kFewestUnits = 8;    // of a panel: those of 4 are for CPUs without vectors
constexpr uint32_t kMostDepth = 1024;   // of a unit
constexpr uint32_t kBlock = 64;         // steps whose lines stay in L1
constexpr uint32_t kWholeVectors = 16;  // steps that fill vectors of every CPU

struct ConvChannelMajor {
  RNNPACK_BYTES_32(124);
  const AttrConv *attr;
  ConvNchwArgs args;
  ConvNchwFn run;
  ActFn act;
  uint32_t *taps;
  uint32_t line;      // floats of one
  bool apart;         // a tap's steps are lines of their own
  uint32_t placed;    // steps of x that the taps are in; 0: they are in lines
  ptrdiff_t x_first;  // of channel 0 within a row of x
};

bool takes_channel_major(const OpChoice &choice, const BlobNode &node) {
  const Model &m = *choice.model;
  const AttrConv *a = m.attr<AttrConv>(node);
  if (a == nullptr || a->matrix >= m.matrices.count || a->groups != 1 || a->y_plane != 0) return false;
  const PanelFormat &format = m.matrix(a->matrix).format;
  if (format.weight != DType::kF32 || format.nr < kFewestUnits || is_sparse(format)) return false;
  if (a->out_channels > kMostUnits || conv_depth(*a) > kMostDepth || a->lead < 0 || reads_ahead(*a)) return false;
  if (window_positions(a->window) != 1 || a->window.kernel[0] != 1 || a->window.kernel[1] != 1 || !taps_lie_in_x(*a)) return false;
  const Kernel *kernel = find_kernel(*choice.kernels, KernelFamily::kConvNchw, DType::kF32, 0, choice.isa);
  return m.values[m.node_output(node, 0)].sequence && kernel != nullptr;
}

uint32_t lead_of(const AttrConv &a) {
  return static_cast<uint32_t>(a.lead);
}

rnnp_status build(BuildEnv *env, const BlobNode &node, void **object) {
  const Model &m = *env->model;
  const AttrConv *a = m.attr<AttrConv>(node);
  ActFn act = nullptr;
  if (!find_act_behind(*env, a->act, &act)) return RNNP_E_LAYOUT;
  ConvChannelMajor c = {};
  c.attr = a;
  c.run = find_kernel(*env->kernels, KernelFamily::kConvNchw, DType::kF32, 0, env->isa)->conv_nchw;
  c.act = act;
  c.apart = lead_of(*a) > (a->time_taps - 1) * kBlock;
  c.line = kBlock + (c.apart ? 0 : lead_of(*a));
  const size_t lines = size_t{c.apart ? a->time_taps : 1} * a->in_channels * c.line + kPlaneSlack;
  if (lines * sizeof(float) > env->scratch_bytes) env->scratch_bytes = lines * sizeof(float);
  const BlobWindow &w = a->window;
  c.x_first = w.x_first + ptrdiff_t{window_start(w, 0, 0)} * w.x_stride[0] + ptrdiff_t{window_start(w, 1, 0)} * w.x_stride[1];
  c.taps = env->arena->take<uint32_t>(conv_depth(*a));
  ConvChannelMajor *kept = env->arena->take<ConvChannelMajor>(1);
  *object = kept;
  if (kept == nullptr || c.taps == nullptr) return RNNP_OK;
  const Matrix matrix = m.matrix(a->matrix);
  c.args.taps = c.taps;
  c.args.panels = matrix.f32();
  c.args.start = m.weights_or_none(a->bias);
  c.args.k = conv_depth(*a);
  c.args.y_lines = 1;
  c.args.nr = matrix.format.nr;
  c.args.unit_end = a->out_channels;
  c.placed = kNone;
  *kept = c;
  return RNNP_OK;
}

// --- What the taps read ------------------------------------------------------------------------------------------------------

// y[element][step] of rows, or rows of that: neighbouring elements of x lie along y's lines.
RNNPACK_NOINLINE void transpose(const float *x, size_t x_row, float *y, size_t y_row, uint32_t rows, uint32_t columns) {
  if (rows == 1 && x_row == 1) return copy_bytes(y, x, columns * sizeof(float));
  if (columns == 1 && y_row == 1) return copy_bytes(y, x, rows * sizeof(float));
  turn(x, static_cast<ptrdiff_t>(x_row), y, static_cast<ptrdiff_t>(y_row), rows, columns);
}

struct Work {
  const RunEnv &env;
  ConvChannelMajor &c;
  const ValueSlot &x;
  bool x_channel_major;
};

size_t elems_of(const ValueSlot &value) {
  return value.row_bytes / sizeof(float);
}

// Channels of `count` steps from `age` steps before the chunk's first on.
RNNPACK_NOINLINE void put_earlier(const Work &w, uint32_t age, uint32_t count, float *to) {
  const AttrConv &a = *w.c.attr;
  const size_t row = elems_of(w.x);
  if (a.state == kNone) {
    for (uint32_t i = 0; i < a.in_channels; ++i) zero_bytes(to + size_t{i} * w.c.line, count * sizeof(float));
    return;
  }
  const Ring ring = ring_in(w.env.states[a.state], 0);
  const uint32_t at = row_of_age(a, oldest_row(a, ring), age), left = lead_of(a) - at, whole = count < left ? count : left;
  transpose(ring.rows + at * row + w.c.x_first, row, to, w.c.line, a.in_channels, whole);
  if (count != whole) transpose(ring.rows + w.c.x_first, row, to + whole, w.c.line, a.in_channels, count - whole);
}

// Of `count` steps of this chunk.
void put_present(const Work &w, uint32_t first, uint32_t count, float *to) {
  const ConvChannelMajor &c = w.c;
  if (!w.x_channel_major) return transpose(row_of(w.x, first) + c.x_first, elems_of(w.x), to, c.line, c.attr->in_channels, count);
  const float *from = row_of(w.x, 0) + static_cast<size_t>(c.x_first) * w.env.steps + first;
  for (uint32_t i = 0; i < c.attr->in_channels; ++i, from += w.env.steps, to += c.line) copy_bytes(to, from, count * sizeof(float));
}

// Of `count` steps from `back` before `first` on.
RNNPACK_NOINLINE void put_steps(const Work &w, uint32_t first, uint32_t back, uint32_t count, float *to) {
  if (back > first) {
    const uint32_t earlier = back - first < count ? back - first : count;
    put_earlier(w, back - first, earlier, to);
    to += earlier;
    count -= earlier;
    first = back;
  }
  if (count != 0) put_present(w, first - back, count, to);
}

void put_lines(const Work &w, uint32_t first, uint32_t steps, float *to) {
  const AttrConv &a = *w.c.attr;
  if (!w.c.apart) return put_steps(w, first, lead_of(a), lead_of(a) + steps, to);
  for (uint32_t tap = 0; tap < a.time_taps; ++tap, to += size_t{a.in_channels} * w.c.line)
    put_steps(w, first, lead_of(a) - tap * a.time_dilation, steps, to);
}

void place_taps(ConvChannelMajor *c, uint32_t steps, uint32_t tap, uint32_t channel) {
  if (c->placed == steps) return;
  c->placed = steps;
  uint32_t *to = c->taps;
  for (uint32_t t = 0; t < c->attr->time_taps; ++t) {
    for (uint32_t i = 0; i < c->attr->in_channels; ++i) *to++ = t * tap + i * channel;
  }
}

// --- Steps -------------------------------------------------------------------------------------------------------------------

void run_blocks(const Work &w, float *y) {
  ConvChannelMajor &c = w.c;
  const AttrConv &a = *c.attr;
  const uint32_t steps = w.env.steps;
  ConvNchwArgs args = c.args;
  args.y_plane = steps;
  if (a.time_taps == 1 && a.lead == 0 && w.x_channel_major && steps % kWholeVectors == 0) {
    place_taps(&c, steps, 0, steps);
    args.lines = row_of(w.x, 0) + static_cast<size_t>(c.x_first) * steps;
    args.y = y;
    args.y_columns = steps;
    return c.run(&args);
  }
  place_taps(&c, 0, c.apart ? a.in_channels * c.line : a.time_dilation, c.line);
  args.lines = view_as<float>(w.env.scratch);
  for (uint32_t first = 0; first < steps; first += kBlock) {
    args.y = y + first;
    args.y_columns = steps - first < kBlock ? steps - first : kBlock;
    put_lines(w, first, args.y_columns, args.lines);
    c.run(&args);
  }
}

// The last steps of x go into the ring, as rows.
void keep_channel_major(const Work &w) {
  const AttrConv &a = *w.c.attr;
  const Ring ring = ring_in(w.env.states[a.state], 0);
  const uint32_t lead = lead_of(a), steps = w.env.steps, elems = static_cast<uint32_t>(elems_of(w.x));
  if (lead == 0) __builtin_unreachable();  // of a state
  uint32_t step = steps > lead ? steps - lead : 0, at = (oldest_row(a, ring) + step) % lead;
  while (step < steps) {
    const uint32_t rows = steps - step < lead - at ? steps - step : lead - at;
    transpose(row_of(w.x, 0) + step, steps, ring.rows + size_t{at} * elems, elems, rows, elems);
    at = at + rows == lead ? 0 : at + rows;
    step += rows;
  }
  write_word(ring.place, at);
}

void run(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  ConvChannelMajor &c = *static_cast<ConvChannelMajor *>(object);
  const AttrConv &a = *c.attr;
  const uint32_t x = env.model->node_input(node, 0);
  float *y = row_of(env.values[env.model->node_output(node, 0)], 0) + size_t{a.window.y_first} * env.steps;
  const Work w = {env, c, env.values[x], is_channel_major(env, x)};
  run_blocks(w, y);
  if (c.act != nullptr) {
    const ActArgs act = {y, y, size_t{a.out_channels} * env.steps, a.act};
    c.act(&act);
  }
  if (a.state == kNone) return;
  if (w.x_channel_major) return keep_channel_major(w);
  keep_history(env, a, w.x, thread);
}

bool never_rows(const OpChoice &, const BlobNode &) {
  return false;
}

}  // namespace

RNNPACK_OP(conv_channel_major,
           {OpKind::kConv, never_rows, nullptr, conv_costs, build, nullptr, run, takes_channel_major, mark_channel_major});

}  // namespace rnnp
