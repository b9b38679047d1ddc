// conv_taps.cpp -- convolution along time alone, its taps where they lie: each is a row of x, of this chunk or of the ring, so a
// product reads the rows of all taps in place. Steps go in stretches within which every tap's rows are evenly spaced; those that
// read no earlier chunk are one stretch, of all batch rows. Threads own steps, or output tiles where those are few. Touches its
// output and its own state only. Where the ring is short, its ends would cut the first steps into stretches of a few: what they
// read is copied in order. SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "ops/panel_product.h"
#include "ops/patches.h"

namespace rnnp {
namespace {

constexpr size_t kFewestSteps = 8;               // of a thread
constexpr uint32_t kMostProductRows = 1u << 30;  // of a product

struct PlacedTap : GemmTap {
  RNNPACK_BYTES_32(12);
};

struct ConvTaps : PanelProduct {
  RNNPACK_BYTES_32(140);
  const AttrConv *attr;
  const ValueSlot *x, *y;  // of the fast path
  const StateSlot *state;
  ptrdiff_t x_first;   // of a tap within a row of x
  PlacedTap *taps;     // of each thread
  size_t copy_bytes;   // of a thread's scratch; 0: nothing is copied
  const float *zeros;  // a tap of them
};

// Whether that many steps are better read from a copy: it has at most half the rows that their taps read.
bool is_worth_a_copy(const AttrConv &a, uint64_t steps) {
  return a.lead > 0 && !reads_ahead(a) && static_cast<uint64_t>(a.lead) + steps <= a.time_taps * steps / 2;
}

// What is done now: these steps of a batch row or of all of them, by one thread.
struct Work {
  const RunEnv &env;
  const ConvTaps &c;
  const ValueSlot &x, &y;
  GemmArgs gemm;
  PlacedTap *taps;
  float *copy;
};

bool accepts_taps(const OpChoice &choice, const BlobNode &node) {
  return has_taps_in_place(*choice.model, node);
}

rnnp_status check_taps(const Model &m, const BlobNode &node) {
  const AttrConv *a = m.attr<AttrConv>(node);
  const rnnp_status status = check_conv(m, node, a);
  return status != RNNP_OK ? status : check_conv_matrix(m, *a);
}

rnnp_status build_taps(BuildEnv *env, const BlobNode &node, void **object) {
  const Model &m = *env->model;
  const AttrConv *a = m.attr<AttrConv>(node);
  PanelProduct product;
  const rnnp_status status = find_product(*env, m.matrix(a->matrix), a->bias, a->act, a->out_channels, &product);
  if (status != RNNP_OK) return status;
  PlacedTap *taps = env->arena->take<PlacedTap>(mul_sat(a->time_taps, env->threads));
  float *zeros = env->arena->take<float>(tap_elems(*a));
  ConvTaps *c = env->arena->take<ConvTaps>(1);
  const uint32_t lead = a->lead > 0 ? static_cast<uint32_t>(a->lead) : 0, early = lead < env->chunk_steps ? lead : env->chunk_steps;
  const size_t copied = env->l1d_bytes != 0 && is_worth_a_copy(*a, early) ? size_t{lead} + early : 0;
  const size_t copy_bytes =
      align_up(mul_sat(mul_sat(copied, m.values[m.node_input(node, 0)].row_elems), sizeof(float)), kBlobAlign);
  const size_t scratch = mul_sat(copy_bytes, env->threads);
  if (scratch > env->scratch_bytes) env->scratch_bytes = scratch;
  *object = c;
  if (c == nullptr || taps == nullptr || zeros == nullptr) return RNNP_OK;
  zero_bytes(zeros, tap_elems(*a) * sizeof(float));
  for (size_t i = 0; i < size_t{a->time_taps} * env->threads; ++i) taps[i].k = tap_elems(*a);
  *c = {};
  static_cast<PanelProduct &>(*c) = product;
  c->attr = a;
  const BlobWindow &w = a->window;
  c->x_first = w.x_first + ptrdiff_t{window_start(w, 0, 0)} * w.x_stride[0] + ptrdiff_t{window_start(w, 1, 0)} * w.x_stride[1];
  c->taps = taps;
  c->zeros = zeros;
  c->copy_bytes = copy_bytes;
  c->gemm.in_parts = true;
  return RNNP_OK;
}

// --- Products ----------------------------------------------------------------------------------------------------------------

// What the taps that have been placed for group 0 give, group by group.
void multiply_taps(Work *w, uint32_t rows, float *y, size_t y_row_bytes) {
  const ConvTaps &c = w->c;
  const AttrConv &a = *c.attr;
  GemmArgs g = w->gemm;
  g.rows = rows;
  g.out = y + a.window.y_first;
  g.out_row_bytes = y_row_bytes;
  for (uint32_t group = 0;;) {
    c.run(&g);
    if (c.act != nullptr) activate_product(c.act, a.act, g, c.nr);
    if (++group == a.groups) return;
    set_panels(&g.w, w->env.model->matrix(a.matrix), group);
    if (g.start != nullptr) g.start += c.bias_elems;
    g.out += a.out_channels;
    const ptrdiff_t next = ptrdiff_t{static_cast<int32_t>(a.in_channels)} * a.window.x_stride[2];
    for (uint32_t tap = 0; tap < a.time_taps; ++tap) {
      if (w->taps[tap].a != c.zeros) w->taps[tap].a += next;
    }
  }
}

void place(const Work &w, uint32_t tap, const float *row, size_t row_bytes) {
  PlacedTap &to = w.taps[tap];
  to.a = row != nullptr ? row + w.c.x_first : w.c.zeros;
  to.row_bytes = row != nullptr ? row_bytes : 0;
}

// Steps [begin, end) of one batch row.
void run_taps_row(Work *w, uint32_t batch_row, uint32_t begin, uint32_t end) {
  const RunEnv &env = w->env;
  while (begin < end) {
    uint32_t steps = end - begin;
    for (uint32_t tap = 0; tap < w->c.attr->time_taps; ++tap) {
      const TapRows rows = tap_rows(env, *w->c.attr, w->x, {0, begin, batch_row, 0, 0}, tap);
      if (rows.steps < steps) steps = rows.steps;
      place(*w, tap, rows.first, rows.in_ring ? w->x.row_bytes : env.batch * w->x.row_bytes);
    }
    multiply_taps(w, steps, row_of(w->y, size_t{begin} * env.batch + batch_row), env.batch * w->y.row_bytes);
    begin += steps;
  }
}

void copy_rows_of(const Work &w, uint32_t batch_row, uint32_t begin, uint32_t end) {
  const RunEnv &env = w.env;
  const AttrConv &a = *w.c.attr;
  const size_t row_bytes = w.x.row_bytes, row_elems = row_bytes / sizeof(float);
  const uint32_t lead = static_cast<uint32_t>(a.lead), earlier = lead - begin;
  if (a.state == kNone) {
    zero_bytes(w.copy, earlier * row_bytes);
  } else {
    const Ring ring = ring_in(env.states[a.state], batch_row);
    const uint32_t first = row_of_age(a, oldest_row(a, ring), earlier), whole = lead - first < earlier ? lead - first : earlier;
    copy_bytes(w.copy, ring.rows + first * row_elems, whole * row_bytes);
    copy_bytes(w.copy + whole * row_elems, ring.rows, (earlier - whole) * row_bytes);
  }
  float *to = w.copy + earlier * row_elems;
  if (env.batch == 1) return copy_bytes(to, row_of(w.x, 0), end * row_bytes);
  for (uint32_t step = 0; step < end; ++step, to += row_elems)
    copy_bytes(to, row_of(w.x, size_t{step} * env.batch + batch_row), row_bytes);
}

// Steps [begin, end) of one batch row, none behind the lead, from a copy of what they read.
void run_by_copy(Work *w, uint32_t batch_row, uint32_t begin, uint32_t end) {
  const RunEnv &env = w->env;
  const AttrConv &a = *w->c.attr;
  copy_rows_of(*w, batch_row, begin, end);
  for (uint32_t tap = 0; tap < a.time_taps; ++tap)
    place(*w, tap, w->copy + size_t{tap} * a.time_dilation * (w->x.row_bytes / sizeof(float)), w->x.row_bytes);
  multiply_taps(w, end - begin, row_of(w->y, size_t{begin} * env.batch + batch_row), env.batch * w->y.row_bytes);
}

// One step of all batch rows, whose rings stand at one place.
void run_taps_step(Work *w, uint32_t step) {
  const RunEnv &env = w->env;
  const AttrConv &a = *w->c.attr;
  for (uint32_t tap = 0; tap < a.time_taps; ++tap) {
    const TapRows rows = tap_rows(env, a, w->x, {0, step, 0, 0, 0}, tap);
    place(*w, tap, rows.first, rows.in_ring ? env.states[a.state].row_elems * sizeof(float) : w->x.row_bytes);
  }
  multiply_taps(w, env.batch, row_of(w->y, size_t{step} * env.batch), w->y.row_bytes);
}

// Steps of all batch rows that read this chunk alone.
void run_inside(Work *w, uint32_t begin, uint32_t end) {
  const RunEnv &env = w->env;
  const uint32_t most = env.batch > 1 ? kMostProductRows / env.batch : kMostProductRows;
  while (begin < end) {
    const uint32_t steps = end - begin < most ? end - begin : most;
    for (uint32_t tap = 0; tap < w->c.attr->time_taps; ++tap)
      place(*w, tap, tap_rows(env, *w->c.attr, w->x, {0, begin, 0, 0, 0}, tap).first, w->x.row_bytes);
    multiply_taps(w, steps * env.batch, row_of(w->y, size_t{begin} * env.batch), w->y.row_bytes);
    begin += steps;
  }
}

void run_steps(Work *w, uint32_t begin, uint32_t end) {
  const RunEnv &env = w->env;
  const AttrConv &a = *w->c.attr;
  const bool even = env.lengths == nullptr && !reads_ahead(a) && a.lead >= 0;
  uint32_t inside = end;
  if (even && end > static_cast<uint32_t>(a.lead))
    inside = begin > static_cast<uint32_t>(a.lead) ? begin : static_cast<uint32_t>(a.lead);
  if (even && env.batch > 1 && inside - begin <= env.batch && rings_are_even(env, a)) {
    for (; begin < inside; ++begin) run_taps_step(w, begin);
  }
  const size_t copied = (static_cast<size_t>(a.lead) + inside - begin) * w->x.row_bytes;
  const bool copies = even && begin < inside && copied <= w->c.copy_bytes && is_worth_a_copy(a, inside - begin);
  for (uint32_t row = 0; row < env.batch && begin < inside; ++row) (copies ? run_by_copy : run_taps_row)(w, row, begin, inside);
  run_inside(w, inside, end);
}

void run_taps(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const ConvTaps &c = *static_cast<const ConvTaps *>(object);
  const uint32_t y = env.model->node_output(node, 0);
  if (!runs_in_chunk(env, y)) return;
  const ValueSlot &x = env.values[env.model->node_input(node, 0)];
  Work w = {env,
            c,
            x,
            env.values[y],
            c.gemm,
            c.taps + size_t{thread} * c.attr->time_taps,
            view_as<float>(env.scratch + thread * c.copy_bytes)};
  size_t begin = 0, end = env.steps, first_tile = 0, last_tile = c.tiles;
  if (env.steps >= kFewestSteps * env.threads || c.tiles < env.threads) {
    split_range(env.steps, env.threads, thread, &begin, &end);
  } else {
    split_range(c.tiles, env.threads, thread, &first_tile, &last_tile);
  }
  w.gemm.taps = w.taps;
  w.gemm.tile_begin = static_cast<uint32_t>(first_tile);
  w.gemm.tile_end = static_cast<uint32_t>(last_tile);
  if (begin != end && first_tile != last_tile) run_steps(&w, static_cast<uint32_t>(begin), static_cast<uint32_t>(end));
  if (c.attr->state != kNone) keep_history(env, *c.attr, x, thread);
}

// One step of one batch row, of one group.
void run_one(void *object) {
  ConvTaps &c = *static_cast<ConvTaps *>(object);
  const AttrConv &a = *c.attr;
  const Ring ring = ring_in(*c.state, 0);
  const uint32_t oldest = oldest_row(a, ring), lead = static_cast<uint32_t>(a.lead);
  const size_t row_elems = c.x->row_bytes / sizeof(float);
  const float *x = row_of(*c.x, 0);
  uint32_t age = lead;
  for (uint32_t tap = 0; tap < a.time_taps; ++tap, age -= a.time_dilation)
    c.taps[tap].a = (age == 0 ? x : ring.rows + row_of_age(a, oldest, age) * row_elems) + c.x_first;
  c.gemm.out = row_of(*c.y, 0) + a.window.y_first;
  c.run(&c.gemm);
  if (c.act != nullptr) activate_product(c.act, a.act, c.gemm, c.nr);
  copy_bytes(ring.rows + oldest * row_elems, x, c.x->row_bytes);
  write_word(ring.place, oldest + 1 == lead ? 0 : oldest + 1);
}

StepFn finish_taps(FinishEnv *env, const BlobNode &node, void *object) {
  ConvTaps &c = *static_cast<ConvTaps *>(object);
  if (env->max_batch != 1 || env->threads != 1 || c.attr->groups != 1 || c.attr->state == kNone) return nullptr;
  c.x = &env->values[env->model->node_input(node, 0)];
  c.y = &env->values[env->model->node_output(node, 0)];
  c.state = &env->states[c.attr->state];
  c.gemm.taps = c.taps;
  c.gemm.rows = 1;
  c.gemm.tile_begin = 0;
  c.gemm.tile_end = c.tiles;
  c.gemm.out_row_bytes = c.y->row_bytes;
  return run_one;
}

}  // namespace

RNNPACK_OP(conv_taps, {OpKind::kConv, accepts_taps, check_taps, conv_costs, build_taps, finish_taps, run_taps});

}  // namespace rnnp
