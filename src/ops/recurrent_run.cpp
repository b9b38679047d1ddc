// recurrent_run.cpp -- the recurrent layer: input GEMM for a chunk of steps, then the time loop over owned tiles.
// Touches: its own object, the scratch while it runs, its states, its outputs. Threads own tiles for the session's life (DeepCPU's
// weight-centric streamlining) and meet once per step (twice for kGru, whose candidate needs all of r*h).
// SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent_run.h"

#include "base/bytes.h"
#include "kernels/inlining.h"

namespace rnnp {
namespace {

// The threads that run one direction together; the barrier lines are the team's.
struct Team {
  Barrier *lines;
  uint32_t threads, self;
};

struct TileRange {
  uint32_t begin, end;
};

// p and `bytes` beyond it; an operand that is absent stays so.
const float *offset_bytes(const float *p, size_t bytes) {
  return p == nullptr ? nullptr : view_as<float>(reinterpret_cast<const uint8_t *>(p) + bytes);
}
float *offset_bytes(float *p, size_t bytes) {
  return p == nullptr ? nullptr : view_as<float>(reinterpret_cast<uint8_t *>(p) + bytes);
}

// The same step for rows [first, first + count).
RecurArgs rows_of(const RecurArgs &a, uint32_t first, uint32_t count) {
  RecurArgs r = a;
  const size_t state = a.state_row_bytes * first;
  r.preact = offset_bytes(a.preact, a.preact_row_bytes * first);
  r.x = offset_bytes(a.x, a.x_row_bytes * first);
  r.h_prev = a.h_prev + state / sizeof(float);
  r.h_next = a.h_next + state / sizeof(float);
  r.c = offset_bytes(a.c, state);
  r.z = offset_bytes(a.z, state);
  r.rh = offset_bytes(a.rh, state);
  r.r_bias = offset_bytes(a.r_bias, a.r_bias_row_bytes * first);
  r.y = offset_bytes(a.y, a.y_row_bytes * first);
  r.rows = count;
  return r;
}

// Rows past their length keep their state (carried to h_next) and give zeros.
void carry_rows(const RecurArgs &a, uint32_t first, uint32_t count, TileRange tiles, uint32_t nr) {
  const uint32_t begin = tiles.begin * nr;
  const uint32_t end = tiles.end * nr < a.hidden_size ? tiles.end * nr : a.hidden_size;
  if (begin >= end) return;
  for (uint32_t row = first; row < first + count; ++row) {
    const RecurArgs r = rows_of(a, row, 1);
    copy_bytes(r.h_next + begin, r.h_prev + begin, (end - begin) * sizeof(float));
    if (r.y != nullptr) zero_bytes(r.y + begin, (end - begin) * sizeof(float));
  }
}

void run_half(const Half &half, const RecurArgs &a, uint32_t nr) {
  if (half.split != nullptr) half.split->multiply(half, a, nr);
  half.cells(&a);
}

// Runs of rows that are active at `step` (of the run) go to the kernel, the others are carried where the half does that.
void ragged_rows(const Half &half, const RecurArgs &a, const int32_t *lengths, size_t step, TileRange tiles, uint32_t nr) {
  uint32_t row = 0;
  while (row < a.rows) {
    const bool active = step < static_cast<size_t>(lengths[row]);
    uint32_t end = row + 1;
    while (end < a.rows && (step < static_cast<size_t>(lengths[end])) == active) ++end;
    if (active) {
      run_half(half, rows_of(a, row, end - row), nr);
    } else if (half.carries) {
      carry_rows(a, row, end - row, tiles, nr);
    }
    row = end;
  }
}

void run_rows(const Half &half, const RecurArgs &a, const int32_t *lengths, size_t step, TileRange tiles, uint32_t nr) {
  if (tiles.begin == tiles.end) return;
  if (lengths == nullptr) {
    run_half(half, a, nr);
  } else {
    ragged_rows(half, a, lengths, step, tiles, nr);
  }
}

// initial_h, initial_c given with this run: copied into the live state before the first step.
RNNPACK_NOINLINE void load_initial(const RunEnv &env, uint32_t value, uint32_t state, const BlobStrided &at, const Team &team) {
  if (value == kNone || env.values[value].data == nullptr) return;
  StateSlot &s = env.states[state];
  size_t begin, end;
  split_range(env.batch, team.threads, team.self, &begin, &end);
  for (size_t row = begin; row < end; ++row) {
    const float *from = row_of(env.values[value], row) + at.first;
    float *to = s.buffer[s.live] + row * s.row_elems;
    for (uint32_t i = 0; i < s.elems; ++i, from += at.stride) to[i] = *from;
  }
}

void store_final(const RunEnv &env, const Recurrent &layer, uint32_t value, const StateSlot &s, uint32_t live, uint32_t d,
                 const Team &team) {
  if (value == kNone || env.values[value].data == nullptr) return;
  size_t begin, end;
  split_range(env.batch, team.threads, team.self, &begin, &end);
  for (size_t row = begin; row < end; ++row) {
    float *to = row_of(env.values[value], row) + size_t{d} * layer.hidden_size;
    copy_bytes(to, s.buffer[live] + row * s.row_elems, layer.hidden_size * sizeof(float));
  }
}

// Where the arguments of step `t` of the chunk point; `local` counts from the start of the sub-chunk that holds preact.
struct StepFrame {
  const ValueSlot *x, *y;
  float *preact;
  uint32_t d, hidden_size;
  void *factors;
};

void place_step(RecurArgs *a, const RunEnv &env, const StepFrame &f, size_t t, size_t local) {
  if (a->x != nullptr) {
    a->x = row_of(*f.x, t * env.batch);
  } else {
    a->preact = offset_bytes(f.preact, local * env.batch * a->preact_row_bytes);
  }
  if (f.y != nullptr) a->y = row_of(*f.y, t * env.batch) + size_t{f.d} * f.hidden_size;
}

void project_input(const RunEnv &env, const Recurrent &layer, const Direction &dir, const StepFrame &f, size_t first, size_t count,
                   TileRange tiles) {
  GemmArgs g = dir.gemm;
  g.a = row_of(*f.x, first * env.batch);
  g.a_row_bytes = f.x->row_bytes;
  g.out = f.preact;
  g.rows = static_cast<uint32_t>(count * env.batch);
  g.tile_begin = tiles.begin;
  g.tile_end = tiles.end;
  g.scratch = f.factors;
  if (tiles.begin != tiles.end) layer.gemm(&g);
}

// Rows beyond this run's batch keep their state. After an odd number of steps the others' lies in the other buffer: the fewer rows
// follow the more, so that what a call costs does not grow with the rows that are idle.
void settle_rows(const RunEnv &env, StateSlot *s, uint32_t live) {
  if (live == s->live) return;
  const uint32_t idle = env.max_batch - env.batch;
  const size_t row_bytes = s->row_elems * sizeof(float), idle_first = size_t{env.batch} * s->row_elems;
  if (idle > env.batch) {
    copy_bytes(s->buffer[s->live], s->buffer[live], env.batch * row_bytes);
    return;
  }
  if (idle != 0) copy_bytes(s->buffer[live] + idle_first, s->buffer[s->live] + idle_first, idle * row_bytes);
  s->live = live;
}

// All steps of a chunk in one call: one row on one thread, forwards.
void run_multi_step(const Direction &dir, const StateSlot &h, const StepFrame &frame, const RunEnv &env, size_t first, size_t count,
                    RecurArgs *a, uint32_t *live) {
  place_step(a, env, frame, first, 0);
  a->h_prev = h.buffer[*live];
  a->h_next = h.buffer[*live ^ 1];
  a->steps = static_cast<uint32_t>(count);
  dir.recur(a);
  *live ^= count & 1;
}

void run_direction(const RunEnv &env, const BlobNode &node, const Recurrent &layer, uint32_t d, const Team &team,
                   uint8_t *scratch) {
  const Direction &dir = layer.direction[d];
  const uint32_t y = env.model->node_output(node, 0);
  const uint32_t inits[2] = {env.model->node_input(node, 1), env.model->node_input(node, 2)};
  const uint32_t states[2] = {dir.state_h, dir.state_c};
  if (env.first_chunk && (inits[0] != kNone || inits[1] != kNone)) {
    const BlobDirection &blob = env.model->attr<AttrRecurrent>(node)->direction[d];
    for (int i = 0; i < 2; ++i) {
      if (states[i] != kNone) load_initial(env, inits[i], states[i], i == 0 ? blob.init_h : blob.init_c, team);
    }
    barrier_wait(team.lines, team.threads, team.self);
  }
  const int32_t *lengths = row_lengths(env, env.model->node_input(node, 3));
  size_t begin, end;
  if (dir.split == nullptr) {
    split_range(layer.plan.tiles, team.threads, team.self, &begin, &end);
  } else {
    dir.split->share(dir, layer.plan.tiles, team.threads, team.self, &begin, &end);
  }
  const TileRange tiles = {static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};

  StateSlot &h = env.states[dir.state_h];
  uint32_t live = h.live;
  const RecurrentCut &plan = layer.plan;
  uint8_t *factors = scratch + plan.preact_bytes + 2 * plan.gate_bytes + team.self * plan.factor_bytes;
  StepFrame frame = {&env.values[env.model->node_input(node, 0)], nullptr, view_as<float>(scratch), d, layer.hidden_size, factors};
  if (y != kNone && env.values[y].data != nullptr) frame.y = &env.values[y];

  RecurArgs a = dir.args;
  a.x = nullptr;
  a.y = nullptr;
  a.tile_begin = tiles.begin;
  a.tile_end = tiles.end;
  a.rows = env.batch;
  a.x_row_bytes = frame.x->row_bytes;
  a.y_row_bytes = frame.y != nullptr ? frame.y->row_bytes : 0;
  a.c = dir.state_c != kNone ? env.states[dir.state_c].buffer[env.states[dir.state_c].live] : nullptr;
  if (layer.gemm == nullptr || (env.steps == 1 && plan.takes_input)) a.x = row_of(*frame.x, 0);
  if (plan.gate_bytes != 0) {
    a.z = view_as<float>(scratch + plan.preact_bytes);
    a.rh = offset_bytes(a.z, plan.gate_bytes);
  }
  if (dir.split != nullptr && layer.cell == Cell::kGruLinear) {
    a.r_bias = a.z;
    a.r_bias_row_bytes = a.state_row_bytes;
  }
  const Half half = {dir.recur, dir.split, layer.cell, false, dir.output == nullptr, factors};
  const Half second = {dir.output, dir.split, layer.cell, true, true, factors};

  const bool together = kMultiStep && dir.multi_step && env.batch == 1 && team.threads == 1 && lengths == nullptr;
  for (size_t done = 0; done < env.steps;) {
    const size_t left = env.steps - done;
    const size_t count = left < layer.plan.chunk_steps ? left : layer.plan.chunk_steps;
    const size_t first = dir.reverse ? left - count : done;
    if (a.x == nullptr) project_input(env, layer, dir, frame, first, count, tiles);
    if (together) {
      run_multi_step(dir, h, frame, env, first, count, &a, &live);
      done += count;
      continue;
    }
    for (size_t i = 0; i < count; ++i) {
      const size_t local = dir.reverse ? count - 1 - i : i;
      place_step(&a, env, frame, first + local, local);
      a.h_prev = h.buffer[live];
      a.h_next = h.buffer[live ^ 1];
      a.descending = static_cast<uint8_t>(layer.plan.serpentine & live);
      const size_t step = env.first_step + first + local;
      run_rows(half, a, lengths, step, tiles, layer.nr);
      if (dir.output != nullptr) {
        barrier_wait(team.lines, team.threads, team.self);
        RecurArgs out = a;
        out.r = dir.output_r;
        run_rows(second, out, lengths, step, tiles, layer.nr);
      }
      live ^= 1;
      barrier_wait(team.lines, team.threads, team.self);
    }
    done += count;
  }

  if (env.last_chunk) {
    store_final(env, layer, env.model->node_output(node, 1), h, live, d, team);
    if (dir.state_c != kNone) {
      const StateSlot &c = env.states[dir.state_c];
      store_final(env, layer, env.model->node_output(node, 2), c, c.live, d, team);
    }
  }
  if (team.self == 0) settle_rows(env, &h, live);
}

}  // namespace

void run_recurrent(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  const Recurrent &layer = *static_cast<const Recurrent *>(object);
  if (kManyThreads && layer.plan.teams == 2 && env.threads >= 2) {
    const uint32_t first = env.threads / 2;
    const uint32_t d = thread < first ? 0 : 1;
    const Team team = {env.team_barriers + (d ? first : 0), d ? env.threads - first : first, d ? thread - first : thread};
    run_direction(env, node, layer, d, team, env.scratch + d * layer.plan.team_bytes);
    return;
  }
  for (uint32_t d = 0; d < layer.direction_count; ++d) {
    run_direction(env, node, layer, d, {env.barriers, env.threads, thread}, env.scratch);
    if (d + 1 < layer.direction_count) barrier_wait(env.barriers, env.threads, thread);
  }
}

}  // namespace rnnp
