// recurrent.cpp -- recurrent layers over time: initial and final states, the rows that run, the threads of each direction.
// Touches: its own object, the scratch while it runs, its states, its outputs. SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent.h"

#include "base/bytes.h"
#include "kernels/inlining.h"
#include "ops/recurrent_build.h"
#include "ops/recurrent_check.h"

namespace rnnp {
namespace {

// initial_h, initial_c given with this run: copied into the live state before the first step.
RNNPACK_NOINLINE void load_initial(const RunEnv &env, uint32_t value, uint32_t state, const BlobStrided &at, const Team &team) {
  if (value == kNone || state == kNone || env.values[value].data == nullptr) return;
  StateSlot &s = env.states[state];
  size_t begin, end;
  split_range(env.batch, team.threads, team.self, &begin, &end);
  for (size_t row = begin; row < end; ++row) {
    const float *from = row_of(env.values[value], row) + at.first;
    float *to = s.buffer[s.live] + row * s.row_elems;
    for (uint32_t i = 0; i < s.elems; ++i, from += at.stride) to[i] = *from;
  }
}

void load_states(const RunEnv &env, const BlobNode &node, const Direction &dir, uint32_t d, const Team &team) {
  const uint32_t h = env.model->node_input(node, 1), c = env.model->node_input(node, 2);
  if (!env.first_chunk || (h == kNone && c == kNone)) return;
  const BlobDirection &blob = env.model->attr<AttrRecurrent>(node)->direction[d];
  load_initial(env, h, dir.state_h, blob.init_h, team);
  load_initial(env, c, dir.state_c, blob.init_c, team);
  barrier_wait(team.lines, team.threads, team.self);
}

void store_final(const RunEnv &env, uint32_t value, const StateSlot &s, uint32_t live, uint32_t d, const Team &team) {
  if (value == kNone || env.values[value].data == nullptr) return;
  size_t begin, end;
  split_range(env.batch, team.threads, team.self, &begin, &end);
  for (size_t row = begin; row < end; ++row) {
    float *to = row_of(env.values[value], row) + size_t{d} * s.elems;
    copy_bytes(to, s.buffer[live] + row * s.row_elems, s.elems * sizeof(float));
  }
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

// The chunk's steps of all rows.
void place_chunk(const RunEnv &env, const BlobNode &node, uint32_t d, Sequence *s) {
  const Model &m = *env.model;
  const ValueSlot &x = env.values[m.node_input(node, 0)];
  const uint32_t y = m.node_output(node, 0);
  const bool wants_y = y != kNone && env.values[y].data != nullptr;
  RecurArgs &a = s->args;
  a.rows = env.batch;
  a.x_row_bytes = x.row_bytes;
  a.y_row_bytes = wants_y ? env.values[y].row_bytes : 0;
  s->x = row_of(x, 0);
  s->y = wants_y ? row_of(env.values[y], 0) + size_t{d} * s->args.hidden_size : nullptr;
  s->x_step = env.batch * a.x_row_bytes;
  s->y_step = env.batch * a.y_row_bytes;
  s->project = s->layer->gemm != nullptr && (env.steps > 1 || !s->layer->plan.takes_input) ? project_rows : nullptr;
  s->steps = env.steps;
  s->most = s->layer->plan.chunk_steps;
  s->lengths = row_lengths(env, m.node_input(node, 3));
  s->first_step = env.first_step;
}

void run_direction(const RunEnv &env, const BlobNode &node, const Recurrent &layer, uint32_t d, const Team &team, uint8_t *scratch,
                   Products *products) {
  const Direction &dir = layer.direction[d];
  load_states(env, node, dir, d, team);
  StateSlot &h = env.states[dir.state_h];
  const bool has_c = dir.state_c != kNone;
  const StateSlot &c = env.states[has_c ? dir.state_c : dir.state_h];
  Sequence s;
  start_sequence(layer, dir, team, scratch, products, &s);
  place_chunk(env, node, d, &s);
  s.args.c = has_c ? c.buffer[c.live] : nullptr;
  s.h[0] = h.buffer[0];
  s.h[1] = h.buffer[1];
  s.live = h.live;
  run_sequence(&s);
  if (env.last_chunk) {
    store_final(env, env.model->node_output(node, 1), h, s.live, d, team);
    if (has_c) store_final(env, env.model->node_output(node, 2), c, c.live, d, team);
  }
  if (team.self == 0) settle_rows(env, &h, s.live);
}

bool is_fused_layer(const OpChoice &choice, const BlobNode &node) {
  return !is_unfused(*choice.model, node);
}

rnnp_status build_layer(BuildEnv *env, const BlobNode &node, void **object) {
  const AttrRecurrent &a = *env->model->attr<AttrRecurrent>(node);
  const RecurrentShape shape = recurrent_shape(*env->model, a);
  const RecurrentPlan plan = plan_recurrent(shape, *env);
  Recurrent *layer = nullptr;
  const rnnp_status status = build_over_time(env, a, plan, {find_gemm(*env, shape.w, plan.gates), false, 0, 0}, &layer);
  *object = layer;
  return status;
}

void run_layer(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  run_over_time(env, node, *static_cast<const Recurrent *>(object), thread, nullptr);
}

}  // namespace

rnnp_status build_over_time(BuildEnv *env, const AttrRecurrent &a, const RecurrentPlan &plan, const RecurrentKernels &kernels,
                            Recurrent **built) {
  if (plan.scratch_bytes > env->scratch_bytes) env->scratch_bytes = plan.scratch_bytes;
  return build_recurrent(env, a, plan, kernels, built);
}

void run_over_time(const RunEnv &env, const BlobNode &node, const Recurrent &layer, uint32_t thread, Products *products) {
  if (kManyThreads && layer.plan.teams == 2 && env.threads >= 2) {
    const uint32_t first = env.threads / 2;
    const uint32_t d = thread < first ? 0 : 1;
    const Team team = {env.team_barriers + (d ? first : 0), d ? env.threads - first : first, d ? thread - first : thread};
    run_direction(env, node, layer, d, team, env.scratch + d * layer.plan.team_bytes, products);
    return;
  }
  for (uint32_t d = 0; d < layer.direction_count; ++d) {
    run_direction(env, node, layer, d, {env.barriers, env.threads, thread}, env.scratch, products);
    if (d + 1 < layer.direction_count) barrier_wait(env.barriers, env.threads, thread);
  }
}

RNNPACK_OP(recurrent,
           {OpKind::kRecurrent, is_fused_layer, check_recurrent, recurrent_costs, build_layer, finish_recurrent, run_layer});

}  // namespace rnnp
