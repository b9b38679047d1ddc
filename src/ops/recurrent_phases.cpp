// recurrent_phases.cpp -- Contract: recurrent_phases.h. Threads own tiles for the session's life (DeepCPU's weight-centric
// streamlining) and meet where a phase says so: once per step, twice for kGru, whose candidate needs all of r*h, thrice for
// kLstmNorm. SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent_phases.h"

#include "kernels/inlining.h"
#include "ops/share_tiles.h"

namespace rnnp {
namespace {

RNNPACK_INLINE void run_phase(const Phase &p, RecurArgs *a, Products *products) {
  if (p.kind != PhaseKind::kCells) return products->multiply(p, *a, products);
  a->r = p.r;
  p.cells(a);
}

// The phases up to where threads meet; returns the last of them. A product may use what the one before it has quantised, so all of
// them go before other rows do.
const Phase *run_phases(const Phase *p, RecurArgs *a, Products *products) {
  for (;; ++p) {
    run_phase(*p, a, products);
    if (p->meets) return p;
  }
}

const Phase *next_barrier(const Phase *p) {
  while (!p->meets) ++p;
  return p;
}

// The phases of a step that goes over the tiles as `a` says.
RNNPACK_INLINE const Phase *phases_of(const Direction &d, const RecurArgs &a) {
  return d.phases + (a.descending ? d.downwards : 0);
}

// --- Rows past their length, or masked -------------------------------------------------------------------------------------------

// The same step for rows [first, first + count).
RecurArgs rows_of(const RecurArgs &a, uint32_t first, uint32_t count) {
  RecurArgs r = a;
  const size_t state = a.state_row_bytes * first;
  r.preact = operand_at(a.preact, a.preact_row_bytes * first);
  r.x = operand_at(a.x, a.x_row_bytes * first);
  r.h_prev = a.h_prev + state / sizeof(float);
  r.h_next = a.h_next + state / sizeof(float);
  r.c = operand_at(a.c, state);
  r.z = operand_at(a.z, state);
  r.rh = operand_at(a.rh, state);
  r.r_bias = operand_at(a.r_bias, a.r_bias_row_bytes * first);
  r.y = operand_at(a.y, a.y_row_bytes * first);
  r.rows = count;
  return r;
}

enum class RowKind : uint8_t { kActive, kMasked, kPast };

RNNPACK_NOINLINE RowKind row_kind(const Sequence &s, size_t at, uint32_t row) {
  if (s.lengths != nullptr && s.first_step + at >= static_cast<size_t>(s.lengths[row])) return RowKind::kPast;
  if (!s.layer->masked) return RowKind::kActive;
  const float *x = s.x + (at * s.x_step + row * s.args.x_row_bytes) / sizeof(float);
  return x[s.args.input_size] != 0 ? RowKind::kActive : RowKind::kMasked;
}

// A row that does not run keeps its state, carried to h_next. A masked one gives it, one past its length zeros.
void carry_row(const Sequence &s, uint32_t row, RowKind kind) {
  const RecurArgs &a = s.args;
  const uint32_t nr = s.layer->nr, begin = a.tile_begin * nr;
  const uint32_t end = a.tile_end * nr < a.hidden_size ? a.tile_end * nr : a.hidden_size;
  if (begin >= end) return;
  const size_t bytes = (end - begin) * sizeof(float), unit = a.state_row_bytes * row / sizeof(float) + begin;
  copy_bytes(a.h_next + unit, a.h_prev + unit, bytes);
  if (a.y == nullptr) return;
  float *y = a.y + a.y_row_bytes * row / sizeof(float) + begin;
  zero_bytes(y, bytes);
  if (kind == RowKind::kMasked) copy_bytes(y, a.h_prev + unit, bytes);
}

// Runs of rows that step `at` runs go through the phases; the others are carried where the step ends.
const Phase *run_ragged(const Sequence &s, const Phase *p, size_t at) {
  const Phase *end = next_barrier(p);
  for (uint32_t row = 0, next; row < s.args.rows; row = next) {
    const RowKind kind = row_kind(s, at, row);
    for (next = row + 1; next < s.args.rows && row_kind(s, at, next) == kind;) ++next;
    if (kind == RowKind::kActive) {
      RecurArgs some = rows_of(s.args, row, next - row);
      run_phases(p, &some, s.products);
    }
    for (uint32_t i = row; kind != RowKind::kActive && end->last && i < next; ++i) carry_row(s, i, kind);
  }
  return end;
}

// --- Steps -----------------------------------------------------------------------------------------------------------------------

// Step `at` of the sequence, `local` of those whose pre-activations are there.
void place_step(Sequence *s, size_t at, size_t local) {
  RecurArgs &a = s->args;
  if (s->project != nullptr) {
    a.preact = operand_at(s->preact, local * a.rows * a.preact_row_bytes);
  } else {
    a.x = operand_at(s->x, at * s->x_step);
  }
  a.y = operand_at(s->y, at * s->y_step);
  a.h_prev = s->h[s->live];
  a.h_next = s->h[s->live ^ 1];
  a.descending = static_cast<uint8_t>(s->layer->plan.serpentine & s->live);
}

void run_step(Sequence *s, size_t at, size_t local) {
  place_step(s, at, local);
  const RecurArgs &a = s->args;
  const Phase *p = phases_of(*s->direction, a);
  for (bool ended = false; !ended; ++p) {
    if (a.tile_begin == a.tile_end) {
      p = next_barrier(p);
    } else if (s->lengths == nullptr && !s->layer->masked) {
      p = run_phases(p, &s->args, s->products);
    } else {
      p = run_ragged(*s, p, at);
    }
    barrier_wait(s->team.lines, s->team.threads, s->team.self);
    ended = p->last;
  }
  s->live ^= 1;
}

// One row on one thread, forwards: in one call all steps of a chunk, or those from one that is masked to the next.
void run_multi_step(Sequence *s, size_t first, size_t count) {
  const auto runs = [&](size_t local) { return !s->layer->masked || row_kind(*s, first + local, 0) == RowKind::kActive; };
  for (size_t local = 0, next; local < count; local = next) {
    next = local + 1;
    if (!runs(local)) {
      run_step(s, first + local, local);
      continue;
    }
    while (next < count && runs(next)) ++next;
    place_step(s, first + local, local);
    s->args.steps = static_cast<uint32_t>(next - local);
    s->direction->phases->cells(&s->args);
    s->live ^= (next - local) & 1;
  }
}

// Which tiles the thread owns. A layer with one matrix of R has that twice.
void share_direction(const Direction &d, size_t tiles, const Team &team, size_t *begin, size_t *end) {
  const GemmArgs *all[3] = {&d.input};
  uint32_t count = 0;
  if (d.products != nullptr) {
    all[1] = &d.products->gates;
    all[2] = &d.products->candidate;
    count = all[1]->w.panels == all[2]->w.panels ? 2 : 3;
  }
  share_tiles(all, count, tiles, team.threads, team.self, begin, end);
}

// Where pre-activations, z and r*h of a team lie in its scratch; returns what lies behind them, of the thread: where products
// quantise their rows.
uint8_t *place_scratch(const Recurrent &layer, uint8_t *scratch, uint32_t thread, RecurArgs *a) {
  const RecurrentCut &plan = layer.plan;
  a->preact = view_as<float>(scratch);
  if (plan.gate_bytes != 0) {
    a->z = view_as<float>(scratch + plan.preact_bytes);
    a->rh = view_as<float>(scratch + plan.preact_bytes + plan.gate_bytes);
  }
  if (a->r_bias_row_bytes != 0) a->r_bias = a->z;
  return scratch + plan.preact_bytes + 2 * plan.gate_bytes + thread * plan.factor_bytes;
}

}  // namespace

void start_sequence(const Recurrent &layer, const Direction &direction, const Team &team, uint8_t *scratch, Products *products,
                    Sequence *s) {
  size_t begin, end;
  share_direction(direction, layer.plan.tiles, team, &begin, &end);
  s->layer = &layer;
  s->direction = &direction;
  s->team = team;
  s->products = products;
  RecurArgs &a = s->args = direction.args;
  s->factors = place_scratch(layer, scratch, team.self, &a);
  s->preact = const_cast<float *>(a.preact);
  a.tile_begin = static_cast<uint32_t>(begin);
  a.tile_end = static_cast<uint32_t>(end);
  if (direction.products == nullptr) return;
  *products = *direction.products;
  GemmArgs *const both[2] = {&products->gates, &products->candidate};
  for (GemmArgs *g : both) {
    g->tile_begin = a.tile_begin;
    g->tile_end = a.tile_end;
    g->scratch = s->factors;
  }
}

void project_rows(const Sequence &s, size_t first, size_t count) {
  GemmArgs g = s.direction->input;
  g.a = operand_at(s.x, s.x_step * first);
  g.a_row_bytes = s.args.x_row_bytes;
  g.out = s.preact;
  g.rows = static_cast<uint32_t>(count * s.args.rows);
  g.tile_begin = s.args.tile_begin;
  g.tile_end = s.args.tile_end;
  g.scratch = s.factors;
  s.layer->gemm(&g);
}

void run_sequence(Sequence *s) {
  const Direction &d = *s->direction;
  const bool contiguous = s->args.rows == 1 && s->team.threads == 1 && s->lengths == nullptr;
  if (s->project != nullptr) s->args.x = nullptr;
  for (size_t done = 0; done < s->steps;) {
    const size_t left = s->steps - done, count = left < s->most ? left : s->most, first = d.reverse ? left - count : done;
    if (s->project != nullptr && s->args.tile_begin != s->args.tile_end) s->project(*s, first, count);
    if (kMultiStep && d.multi_step && contiguous) {
      run_multi_step(s, first, count);
    } else {
      for (size_t i = 0; i < count; ++i) {
        const size_t local = d.reverse ? count - 1 - i : i;
        run_step(s, first + local, local);
      }
    }
    done += count;
  }
}

// --- A single step of all rows on the caller's thread ----------------------------------------------------------------------------
// Every argument but x, y, h and the sweep is set beforehand: at small sizes a step takes less time than finding out what it is
// about.
namespace {

// kTakesInput: of a layer whose one phase is its cells, which take the input.
template <bool kTakesInput>
void run_layer_step(void *object) {
  Recurrent &layer = *static_cast<Recurrent *>(object);
  Direction &d = layer.direction[0];
  RecurArgs &a = d.args;
  const SingleStep &s = layer.single;
  if (!kTakesInput) {
    d.input.a = static_cast<const float *>(s.x->data);
    layer.gemm(&d.input);
  }
  const uint32_t live = s.h->live;
  a.y = static_cast<float *>(s.y->data);
  a.h_prev = s.h->buffer[live];
  a.h_next = s.h->buffer[live ^ 1];
  a.descending = static_cast<uint8_t>(layer.plan.serpentine & live);
  if (kTakesInput) {
    a.x = static_cast<const float *>(s.x->data);
    d.phases->cells(&a);
  } else {
    const Phase *p = phases_of(d, a);
    do run_phase(*p, &a, d.products);
    while (!p++->last);
  }
  s.h->live = live ^ 1;
}

// Forward, one direction, no optional input, mask or final state.
bool is_plain(const Model &m, const BlobNode &node, const Recurrent &layer) {
  for (uint32_t i = 1; i < node.input_count; ++i) {
    if (m.node_input(node, i) != kNone) return false;
  }
  for (uint32_t i = 1; i < node.output_count; ++i) {
    if (m.node_output(node, i) != kNone) return false;
  }
  return layer.direction_count == 1 && !layer.masked && m.node_output(node, 0) != kNone;
}

}  // namespace

StepFn finish_recurrent(FinishEnv *env, const BlobNode &node, void *object) {
  Recurrent &layer = *static_cast<Recurrent *>(object);
  const Model &m = *env->model;
  Direction &d = layer.direction[0];
  if (env->threads != 1 || !is_plain(m, node, layer)) return nullptr;
  layer.single = {&env->states[d.state_h], &env->values[m.node_input(node, 0)], &env->values[m.node_output(node, 0)]};
  RecurArgs &a = d.args;
  a.x_row_bytes = layer.single.x->row_bytes;
  a.y_row_bytes = layer.single.y->row_bytes;
  a.c = d.state_c != kNone ? env->states[d.state_c].buffer[0] : nullptr;
  a.rows = env->max_batch;
  if (layer.plan.takes_input) return run_layer_step<true>;
  d.input.scratch = place_scratch(layer, static_cast<uint8_t *>(env->scratch), 0, &a);
  d.input.out = const_cast<float *>(a.preact);
  d.input.a_row_bytes = a.x_row_bytes;
  d.input.rows = a.rows;
  if (d.products != nullptr) d.products->gates.scratch = d.products->candidate.scratch = d.input.scratch;
  return run_layer_step<false>;
}

}  // namespace rnnp
