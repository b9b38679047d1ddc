// conv_taps.cpp -- convolution along time alone, its taps where they lie: each is a row of x, of this chunk or of the ring, so a
// product reads the rows of all taps in place. Steps go in stretches within which every tap's rows are evenly spaced; those that
// read no earlier chunk are one stretch, of all batch rows. Threads own steps, or output tiles where those are few. Touches its
// output and its own state only. SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "ops/panel_product.h"
#include "ops/patches.h"

namespace rnnp {
namespace {

constexpr size_t kFewestSteps = 8;        // of a thread
constexpr uint32_t kMostRows = 1u << 30;  // of a product

struct PlacedTap : GemmTap {
  RNNPACK_BYTES_32(12);
};

struct ConvTaps {
  RNNPACK_BYTES_32(124);
  const AttrConv *attr;
  GemmArgs gemm;  // of group 0; taps, out, rows and tiles are set per call
  GemmFn run;
  ActFn act;
  size_t bias_elems;  // from group to group
  uint32_t tiles, nr;
  ptrdiff_t x_first;   // of a tap within a row of x
  PlacedTap *taps;     // of each thread
  const float *zeros;  // a tap of them
};

// What is done now: these steps of a batch row or of all of them, by one thread.
struct Work {
  const RunEnv &env;
  const ConvTaps &c;
  const ValueSlot &x, &y;
  GemmArgs gemm;
  PlacedTap *taps;
};

bool accepts(const OpChoice &choice, const BlobNode &node) {
  return has_taps_in_place(*choice.model, node);
}

rnnp_status check(const Model &m, const BlobNode &node) {
  const AttrConv *a = m.attr<AttrConv>(node);
  const rnnp_status status = check_conv(m, node, a);
  return status != RNNP_OK ? status : check_conv_matrix(m, *a);
}

rnnp_status build(BuildEnv *env, const BlobNode &node, void **object) {
  const Model &m = *env->model;
  const AttrConv *a = m.attr<AttrConv>(node);
  const Matrix matrix = m.matrix(a->matrix);
  const Kernel *gemm = find_gemm(*env, matrix.format, 1);
  const bool activated = a->act.act != uint32_t(Act::kIdentity);
  const Kernel *act = activated ? find_act(*env, a->act) : nullptr;
  if (gemm == nullptr || (activated && act == nullptr)) return RNNP_E_LAYOUT;
  PlacedTap *taps = env->arena->take<PlacedTap>(mul_sat(a->time_taps, env->threads));
  float *zeros = env->arena->take<float>(tap_elems(*a));
  ConvTaps *c = env->arena->take<ConvTaps>(1);
  *object = c;
  if (c == nullptr || taps == nullptr || zeros == nullptr) return RNNP_OK;
  zero_bytes(zeros, tap_elems(*a) * sizeof(float));
  for (size_t i = 0; i < size_t{a->time_taps} * env->threads; ++i) taps[i].k = tap_elems(*a);
  *c = {};
  c->attr = a;
  c->run = gemm->gemm;
  c->act = act ? act->act : nullptr;
  c->tiles = panel_count(matrix.format, a->out_channels);
  c->nr = matrix.format.nr;
  c->bias_elems = vector_bytes(matrix.format, matrix.shape) / sizeof(float);
  const BlobWindow &w = a->window;
  c->x_first = w.x_first + ptrdiff_t{window_start(w, 0, 0)} * w.x_stride[0] + ptrdiff_t{window_start(w, 1, 0)} * w.x_stride[1];
  c->taps = taps;
  c->zeros = zeros;
  set_product(&c->gemm, matrix);
  c->gemm.start = m.weights_or_none(a->bias);
  c->gemm.units = a->out_channels;
  c->gemm.tap_count = a->time_taps;
  return RNNP_OK;
}

// --- Products ----------------------------------------------------------------------------------------------------------------

// What the taps that have been placed for group 0 give, group by group.
void multiply(Work *w, uint32_t rows, float *y, size_t y_row_bytes) {
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
    set_panels(&g, w->env.model->matrix(a.matrix), group);
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
void run_row(Work *w, uint32_t batch_row, uint32_t begin, uint32_t end) {
  const RunEnv &env = w->env;
  while (begin < end) {
    uint32_t steps = end - begin;
    for (uint32_t tap = 0; tap < w->c.attr->time_taps; ++tap) {
      const TapRows rows = tap_rows(env, *w->c.attr, w->x, {0, begin, batch_row, 0, 0}, tap);
      if (rows.steps < steps) steps = rows.steps;
      place(*w, tap, rows.first, rows.in_ring ? w->x.row_bytes : env.batch * w->x.row_bytes);
    }
    multiply(w, steps, row_of(w->y, size_t{begin} * env.batch + batch_row), env.batch * w->y.row_bytes);
    begin += steps;
  }
}

// One step of all batch rows, whose rings stand at one place.
void run_step(Work *w, uint32_t step) {
  const RunEnv &env = w->env;
  const AttrConv &a = *w->c.attr;
  for (uint32_t tap = 0; tap < a.time_taps; ++tap) {
    const TapRows rows = tap_rows(env, a, w->x, {0, step, 0, 0, 0}, tap);
    place(*w, tap, rows.first, rows.in_ring ? env.states[a.state].row_elems * sizeof(float) : w->x.row_bytes);
  }
  multiply(w, env.batch, row_of(w->y, size_t{step} * env.batch), w->y.row_bytes);
}

// Steps of all batch rows that read this chunk alone.
void run_inside(Work *w, uint32_t begin, uint32_t end) {
  const RunEnv &env = w->env;
  const uint32_t most = kMostRows / env.batch;
  while (begin < end) {
    const uint32_t steps = end - begin < most ? end - begin : most;
    for (uint32_t tap = 0; tap < w->c.attr->time_taps; ++tap)
      place(*w, tap, tap_rows(env, *w->c.attr, w->x, {0, begin, 0, 0, 0}, tap).first, w->x.row_bytes);
    multiply(w, steps * env.batch, row_of(w->y, size_t{begin} * env.batch), w->y.row_bytes);
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
    for (; begin < inside; ++begin) run_step(w, begin);
  }
  for (uint32_t row = 0; row < env.batch && begin < inside; ++row) run_row(w, row, begin, inside);
  run_inside(w, inside, end);
}

void run(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const ConvTaps &c = *static_cast<const ConvTaps *>(object);
  const uint32_t y = env.model->node_output(node, 0);
  if (!runs_in_chunk(env, y)) return;
  const ValueSlot &x = env.values[env.model->node_input(node, 0)];
  Work w = {env, c, x, env.values[y], c.gemm, c.taps + size_t{thread} * c.attr->time_taps};
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

}  // namespace

RNNPACK_OP(conv_taps, {OpKind::kConv, accepts, check, conv_costs, build, nullptr, run});

}  // namespace rnnp
