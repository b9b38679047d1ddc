// conv_channel_major.cpp -- convolution along time of few channels with a channel-major result: steps are the lanes of the sums.
// The last steps of x lie in lines, one for each element, which the taps read in place; they go into the state's ring when someone
// else reads that. The kernel of NCHW convolutions makes the sums, in the order of a product of rows, and what nodes behind make of
// them. Touches its output, those nodes' and its own state only.
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
constexpr uint32_t kMostBeside = 4;     // elements of x for each that is read
constexpr uint32_t kBlock = 64;         // steps whose lines stay in L1
constexpr uint32_t kBlocks = 4;         // for which lines have room, at least, before earlier steps are moved to their begin
constexpr uint32_t kWholeVectors = 16;  // steps that fill vectors of every CPU
constexpr uint32_t kManySteps = 1u << 30;

// The last steps of x, a line for each element. Those that have come since are not in the state's ring yet.
struct Lines {
  float *at;
  uint32_t line;    // floats from one to the next
  uint32_t end;     // behind the last step
  uint32_t behind;  // steps; of many as many modulo the ring
  bool known;       // `lead` steps before `end` are those of the stream
};

struct Joined;

struct ConvChannelMajor {
  RNNPACK_BYTES_32(172);
  // What each block needs lies side by side.
  uint32_t placed;    // steps of x that the taps are in; 0: they are in lines
  uint32_t x, first;  // the value, and its element that is the first channel
  uint32_t elems;     // of a step of x
  uint32_t lead;
  bool pointwise;          // reads a step's x alone
  bool begins_with_zeros;  // the state, or what is read where there is none
  bool zeros;              // it does so now
  Lines lines;
  ConvNchwFn run;
  ConvNchwArgs args;
  ActFn act;
  const AttrConv *attr;
  uint32_t *taps;
  Joined *joined;  // where nodes are
};

// With what the nodes behind it do.
struct Joined {
  RNNPACK_BYTES_32(176);
  ConvChannelMajor *first, *second, *then;  // second, then: nullptr
  // What comes of it goes into this one's lines, and nobody else reads it; nullptr: into a value.
  ConvChannelMajor *home;
  bool is_home;  // x is in the first one's lines already
  JoinedNodes nodes;
  AfterSums after, after_then;
};

bool takes_channel_major(const OpChoice &choice, const BlobNode &node) {
  const Model &m = *choice.model;
  const AttrConv *a = m.attr<AttrConv>(node);
  if (a == nullptr || a->matrix >= m.matrices.count || a->groups != 1 || a->y_plane != 0) return false;
  const PanelFormat &format = m.matrix(a->matrix).format;
  if (format.weight != DType::kF32 || format.nr < kFewestUnits || is_sparse(format)) return false;
  if (m.values[m.node_input(node, 0)].row_elems > kMostBeside * a->in_channels) return false;
  if (a->out_channels > kMostUnits || conv_depth(*a) > kMostDepth || a->lead < 0 || reads_ahead(*a)) return false;
  if (window_positions(a->window) != 1 || a->window.kernel[0] != 1 || a->window.kernel[1] != 1 || !taps_lie_in_x(*a)) return false;
  const Kernel *kernel = find_kernel(*choice.kernels, KernelFamily::kConvNchw, DType::kF32, 0, choice.isa);
  return m.values[m.node_output(node, 0)].sequence && kernel != nullptr;
}

uint32_t lead_of(const AttrConv &a) {
  return static_cast<uint32_t>(a.lead);
}

// An odd number of cache lines: those of neighbours do not share their places in a cache.
uint32_t line_floats(uint32_t lead) {
  return ((2 * lead + kBlocks * kBlock + 2 * 15) / 16 | 1) * 16;
}

// Behind the earlier steps of lines that begin: where a cache line does.
uint32_t first_end(uint32_t lead) {
  return (lead + 15) / 16 * 16;
}

rnnp_status build_channel_major(BuildEnv *env, const BlobNode &node, void **object) {
  const Model &m = *env->model;
  const AttrConv *a = m.attr<AttrConv>(node);
  ActFn act = nullptr;
  if (!find_act_behind(*env, a->act, &act)) return RNNP_E_LAYOUT;
  ConvChannelMajor c = {};
  c.attr = a;
  c.run = find_kernel(*env->kernels, KernelFamily::kConvNchw, DType::kF32, 0, env->isa)->conv_nchw;
  c.act = act;
  c.x = m.node_input(node, 0);
  c.elems = m.values[c.x].row_elems;
  const BlobWindow &w = a->window;
  c.first = static_cast<uint32_t>(w.x_first + ptrdiff_t{window_start(w, 0, 0)} * w.x_stride[0] +
                                  ptrdiff_t{window_start(w, 1, 0)} * w.x_stride[1]);
  c.lead = lead_of(*a);
  c.begins_with_zeros = c.zeros = a->state == kNone || m.states[a->state].init == kNone;
  c.pointwise = a->time_taps == 1 && a->lead == 0;
  const Matrix matrix = m.matrix(a->matrix);
  c.taps = env->arena->take<uint32_t>(conv_depth(*a));
  ConvChannelMajor *kept = env->arena->take<ConvChannelMajor>(1);
  c.joined = env->arena->take<Joined>(1);
  c.lines.line = line_floats(c.lead);
  c.lines.at = env->arena->take<float>(mul_sat(c.elems, c.lines.line) + kPlaneSlack);
  *object = kept;
  if (kept == nullptr || c.joined == nullptr || c.taps == nullptr || c.lines.at == nullptr) return RNNP_OK;
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

// Steps before the next one: out of the ring, or zeros.
RNNPACK_NOINLINE void begin_lines(const RunEnv &env, ConvChannelMajor *c) {
  const AttrConv &a = *c->attr;
  const uint32_t lead = lead_of(a);
  Lines &l = c->lines;
  l.end = first_end(lead);
  float *at = l.at + (l.end - lead);
  l.behind = 0;
  l.known = a.state != kNone;  // of none each run begins with zeros
  if (c->zeros) {
    for (uint32_t i = 0; i < c->elems; ++i) zero_bytes(at + size_t{i} * l.line, lead * sizeof(float));
    return;
  }
  const Ring ring = ring_in(env.states[a.state], 0);
  const uint32_t oldest = oldest_row(a, ring);
  transpose(ring.rows + size_t{oldest} * c->elems, c->elems, at, l.line, c->elems, lead - oldest);
  if (oldest != 0) transpose(ring.rows, c->elems, at + (lead - oldest), l.line, c->elems, oldest);
}

// The steps that the ring has not seen go into it, as rows.
void keep(const Model &, StateSlot *states, const BlobNode &, void *object) {
  ConvChannelMajor &c = *static_cast<ConvChannelMajor *>(object);
  const AttrConv &a = *c.attr;
  Lines &l = c.lines;
  if (a.state == kNone || l.behind == 0) return;
  const Ring ring = ring_in(states[a.state], 0);
  const uint32_t lead = lead_of(a);
  if (lead == 0) __builtin_unreachable();  // of a state
  uint32_t left = l.behind < lead ? l.behind : lead, at = (oldest_row(a, ring) + (l.behind - left)) % lead;
  while (left != 0) {
    const uint32_t rows = left < lead - at ? left : lead - at;
    transpose(l.at + (l.end - left), l.line, ring.rows + size_t{at} * c.elems, c.elems, rows, c.elems);
    at = at + rows == lead ? 0 : at + rows;
    left -= rows;
  }
  write_word(ring.place, at);
  l.behind = 0;
}

void forget(void *object, bool initial) {
  ConvChannelMajor &c = *static_cast<ConvChannelMajor *>(object);
  c.lines.known = false;
  c.zeros = c.attr->state == kNone || (c.begins_with_zeros && initial);
}

// Room for so many behind the last step.
void make_room(ConvChannelMajor *c, uint32_t steps) {
  Lines &l = c->lines;
  const uint32_t lead = c->lead;
  if (l.end + steps <= l.line) return;
  const uint32_t end = first_end(lead);
  for (uint32_t i = 0; i < c->elems; ++i) {
    float *line = l.at + size_t{i} * l.line;
    copy_bytes(line + (end - lead), line + (l.end - lead), lead * sizeof(float));
  }
  l.end = end;
}

// Where `count` steps go that come behind the last one.
float *extend(ConvChannelMajor *c, uint32_t count) {
  Lines &l = c->lines;
  make_room(c, count);
  float *to = l.at + l.end;
  l.end += count;
  l.behind += count;
  if (l.behind >= kManySteps) l.behind -= (kManySteps / 2) / (c->lead + 1) * c->lead;
  return to;
}

// `count` steps of this chunk go behind those before them; of channel-major ones the kernel puts them there, where it may.
void append(const RunEnv &env, ConvChannelMajor *c, uint32_t first, uint32_t count, bool by_kernel) {
  Lines &l = c->lines;
  const ValueSlot &x = env.values[c->x];
  float *to = extend(c, count);
  if (!is_channel_major(env, c->x)) return transpose(row_of(x, first), c->elems, to, l.line, c->elems, count);
  const float *from = row_of(x, 0) + first;
  if (by_kernel) {
    c->args.from = {from, static_cast<ptrdiff_t>(env.steps), 0, 1, c->elems, 1, count, c->lead, 0, 0, l.line};
    return;
  }
  for (uint32_t i = 0; i < c->elems; ++i, from += env.steps, to += l.line) copy_bytes(to, from, count * sizeof(float));
}

void place_taps(ConvChannelMajor *c, uint32_t steps, uint32_t tap, uint32_t channel) {
  if (c->placed == steps) return;
  c->placed = steps;
  uint32_t *to = c->taps;
  for (uint32_t t = 0; t < c->attr->time_taps; ++t) {
    for (uint32_t i = 0; i < c->attr->in_channels; ++i) *to++ = t * tap + (c->first + i) * channel;
  }
}

// --- Steps -------------------------------------------------------------------------------------------------------------------

// x as it lies, without lines of its own.
bool is_in_place(const RunEnv &env, const ConvChannelMajor &c) {
  return c.pointwise && env.steps % kWholeVectors == 0 && is_channel_major(env, c.x);
}

// Before a chunk's first block.
void begin_chunk(const RunEnv &env, ConvChannelMajor *c) {
  if (is_in_place(env, *c)) return place_taps(c, env.steps, 0, env.steps);
  place_taps(c, 0, c->attr->time_dilation, c->lines.line);
  if (!c->lines.known) begin_lines(env, c);
}

// What the taps of `count` steps are in.
float *channel_lines(const RunEnv &env, ConvChannelMajor *c, uint32_t first, uint32_t count, bool by_kernel) {
  c->args.from.channels = 0;
  if (is_in_place(env, *c)) return row_of(env.values[c->x], 0) + first;
  append(env, c, first, count, by_kernel);
  return c->lines.at + (c->lines.end - count - c->lead);
}

float *plane_of(const RunEnv &env, uint32_t value, uint32_t first) {
  return value == kNone ? nullptr : row_of(env.values[value], 0) + first;
}

// Blocks of steps; of one that reads x as it lies all are one. lines: of a block; block: what else the kernel is told of it.
template <class LinesOf, class Block>
void run_blocks(const RunEnv &env, ConvChannelMajor *c, bool in_place, const LinesOf &lines, const Block &block) {
  const uint32_t most = in_place ? env.steps : kBlock;
  for (uint32_t first = 0; first < env.steps; first += most) {
    const uint32_t count = env.steps - first < most ? env.steps - first : most;
    c->args.lines = lines(first, count);
    c->args.y_columns = count;
    c->args.y_plane = env.steps;
    block(first, count);
  }
}

void run_channel_major(const RunEnv &env, const BlobNode &node, void *object, uint32_t) {
  ConvChannelMajor &c = *static_cast<ConvChannelMajor *>(object);
  const AttrConv &a = *c.attr;
  float *y = row_of(env.values[env.model->node_output(node, 0)], 0) + size_t{a.window.y_first} * env.steps;
  begin_chunk(env, &c);
  c.args.after = nullptr;
  c.args.then = nullptr;
  run_blocks(
      env, &c, is_in_place(env, c), [&](uint32_t first, uint32_t count) { return channel_lines(env, &c, first, count, true); },
      [&](uint32_t first, uint32_t) {
        c.args.y = y + first;
        c.run(&c.args);
      });
  if (c.act == nullptr) return;
  const ActArgs act = {y, y, size_t{a.out_channels} * env.steps, a.act};
  c.act(&act);
}

// Steps of a chunk that lines have room for, whoever fills them.
bool lines_have_room(const RunEnv &env) {
  return env.steps <= kBlocks * kBlock;
}

// Elements by steps.
struct Planes {
  float *at;
  size_t plane;
};

Planes planes_of(const RunEnv &env, uint32_t value) {
  return {plane_of(env, value, 0), env.steps};
}

// The last steps of lines, this chunk's where they were made there.
Planes last_steps(const RunEnv &env, const Lines &l) {
  return {l.at + (l.end - env.steps), l.line};
}

Planes result_of(const RunEnv &env, const Joined &j) {
  if (j.home == nullptr || !lines_have_room(env)) return planes_of(env, j.nodes.result());
  if (!j.home->lines.known) begin_lines(env, j.home);
  return {extend(j.home, env.steps), j.home->lines.line};
}

// What the kernel is told of the convolution behind, but for a block's.
void begin_then(const RunEnv &env, Joined *j, const Planes &y, const Planes &add) {
  begin_chunk(env, j->then);
  ConvNchwArgs &args = j->then->args;
  args.after = &j->after_then;
  args.from.channels = 0;
  args.y_plane = y.plane;
  j->after_then.add_plane = add.plane;
}

void run_joined(const RunEnv &env, const BlobNode &, void *object, uint32_t) {
  Joined &j = *static_cast<Joined *>(object);
  ConvChannelMajor &c = *j.first, *then = j.then;
  AfterSums &after = j.after;
  begin_chunk(env, &c);
  if (j.second != nullptr) begin_chunk(env, j.second);
  const bool is_here = j.is_home && lines_have_room(env);
  const bool in_place = is_in_place(env, c) && (j.second == nullptr || is_in_place(env, *j.second));
  const bool one_call = then != nullptr && env.steps % kWholeVectors == 0;
  const Planes x = is_here ? last_steps(env, c.lines) : Planes{nullptr, 0}, y = result_of(env, j);
  const Planes then_add = is_here && j.nodes.then_add == c.x ? x : planes_of(env, j.nodes.then_add);
  if (then != nullptr) begin_then(env, &j, y, then_add);
  c.args.after = &after;
  c.args.then = one_call ? &then->args : nullptr;
  c.args.inner = one_call && j.nodes.inner != 0;
  after.add_plane = env.steps;
  const auto lines = [&](uint32_t first, uint32_t count) {
    if (!is_here) return channel_lines(env, &c, first, count, true);
    c.args.from.channels = 0;
    return x.at + first - c.lead;
  };
  run_blocks(env, &c, in_place, lines, [&](uint32_t first, uint32_t count) {
    if (j.second != nullptr) after.lines = channel_lines(env, j.second, first, count, false);
    after.add = plane_of(env, j.nodes.add, first);
    after.other = plane_of(env, j.nodes.other, first);
    after.sum = plane_of(env, j.nodes.sum, first);
    if (then == nullptr) {
      c.args.y = y.at + first;
      c.args.y_plane = y.plane;
      return c.run(&c.args);
    }
    c.args.y = plane_of(env, j.nodes.y, first);
    then->args.lines = c.args.y;
    then->args.y = y.at + first;
    then->args.y_columns = count;
    j.after_then.add = then_add.at + first;
    c.run(&c.args);
    if (one_call) return;
    then->args.lines = channel_lines(env, then, first, count, true);
    then->run(&then->args);
  });
}

const Op kJoined = {OpKind::kConv, nullptr, nullptr, nullptr, nullptr, nullptr, run_joined};

void follow(ConvChannelMajor *c, AfterSums *after) {
  after->taps = c->taps;
  after->panels = c->args.panels;
  after->start = c->args.start;
  after->k = c->args.k;
  after->nr = c->args.nr;
}

bool join(const OpChoice &choice, const JoinedNodes &nodes, const NodeSlot *apart, NodeSlot *joined) {
  const Model &m = *choice.model;
  ConvChannelMajor *c = static_cast<ConvChannelMajor *>(joined->object);
  Joined *j = c->joined;
  *j = {};
  j->first = c;
  j->nodes = nodes;
  if (nodes.second != kNone) {
    j->second = static_cast<ConvChannelMajor *>(apart[nodes.second].object);
    follow(j->second, &j->after);
  }
  if (nodes.then != kNone) j->then = static_cast<ConvChannelMajor *>(apart[nodes.then].object);
  if (nodes.unary != kNone) {
    j->after.how = m.attr<AttrUnary>(m.nodes[nodes.unary])->act;
    if (!find_act_behind(choice, j->after.how, &j->after.act)) return false;
  }
  joined->op = &kJoined;
  joined->object = j;
  return true;
}

// The joined node that reads a value as its x, which nothing reads besides.
Joined *reader_of(const Model &m, const ChannelMajorNodes &nodes, uint32_t value) {
  for (uint32_t i = 0; i < m.nodes.count; ++i) {
    if (nodes.joined[i].op != &kJoined) continue;
    Joined *j = static_cast<Joined *>(nodes.joined[i].object);
    if (j->first->x != value || j->first->pointwise || j->first->attr->state == kNone) continue;
    return count_readers(m, value) == 1u + (j->nodes.then_add == value) ? j : nullptr;
  }
  return nullptr;
}

void find_homes(const Model &m, const ChannelMajorNodes &nodes) {
  for (uint32_t i = 0; i < m.nodes.count && !nodes.side_by_side; ++i) {
    if (nodes.joined[i].op != &kJoined) continue;
    Joined *j = static_cast<Joined *>(nodes.joined[i].object);
    if (j->nodes.then == kNone && j->nodes.sum != kNone) continue;  // y has the planes of that
    Joined *reader = reader_of(m, nodes, j->nodes.result());
    if (reader == nullptr) continue;
    j->home = reader->first;
    reader->is_home = true;
  }
}

bool never_rows(const OpChoice &, const BlobNode &) {
  return false;
}

bool plan(const OpChoice &choice, const ChannelMajorNodes &nodes) {
  if (!mark_channel_major(choice, nodes)) return false;
  join_nodes(choice, nodes, join);
  find_homes(*choice.model, nodes);
  return true;
}

const ChannelMajorOp kChannelMajor = {plan, keep, forget};

}  // namespace

RNNPACK_OP(conv_channel_major, {OpKind::kConv, never_rows, nullptr, conv_costs, build_channel_major, nullptr, run_channel_major,
                                takes_channel_major, &kChannelMajor});

}  // namespace rnnp
