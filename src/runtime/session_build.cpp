// session_build.cpp -- lays a session out in the caller's memory: measured and placed by the same walk.
// Touches the arena only, and only when it is placing.
// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "ops/channel_major.h"
#include "pack/layout.h"
#include "runtime/call.h"
#include "runtime/session_plan.h"

namespace rnnp {
namespace {

constexpr uint32_t kEveryIsa = ~RNNP_ISA_REFERENCE_ONLY;

// Whether it is for the instruction sets alone that a node finds no kernel. Firmware knows its CPU.
bool another_isa_would_do(SessionConfig any, const BuildEnv &env, const BlobNode &node) {
  if (!kManyThreads) return false;
  any.isa = kEveryIsa;
  const Op *op = operator_of(any, node);
  Arena arena(nullptr, 0);
  BuildEnv trial = env;
  trial.isa = any.isa;
  trial.arena = &arena;
  void *object = nullptr;
  return op != nullptr && (op->check == nullptr || op->check(*any.model, node) == RNNP_OK) &&
         op->build(&trial, node, &object) == RNNP_OK;
}

rnnp_status build_node(const SessionConfig &config, const Op *op, BuildEnv *env, uint32_t index, NodeSlot *slot, Refusal *refusal) {
  const BlobNode &node = config.model->nodes[index];
  void *object = nullptr;
  const rnnp_status status = op->build(env, node, &object);
  if (status == RNNP_OK && slot != nullptr) *slot = {op, &node, object, nullptr};
  if (status == RNNP_E_LAYOUT && another_isa_would_do(config, *env, node)) return refuse(refusal, Reason::kIsa, index);
  return status == RNNP_OK ? status : refuse(refusal, reason_of(status), index);
}

const float *constant_of(const SessionConfig &config, uint32_t value, const BlobValue &v) {
  if (kDataElsewhere && config.memory != nullptr) return config.memory->constant(config.memory, value);
  return config.model->weights(v.location);
}

// Which buffer a value's rows are in for good; inputs and outputs are redirected per run.
void place_values(const SessionConfig &config, const Session &s, const PipelineSlot &pipe) {
  const Model &m = *config.model;
  for (uint32_t i = 0; i < m.values.count; ++i) {
    const BlobValue &v = m.values[i];
    ValueSlot &slot = pipe.values[i];
    slot.row_bytes = size_t{v.row_elems} * sizeof(float);
    switch (ValueKind(v.kind)) {
      case ValueKind::kSequence:
        slot.data = pipe.sequence_pool + size_t{v.location} * config.max_batch * pipe.pool_steps;
        break;
      case ValueKind::kRow:
        slot.data = s.row_pool + size_t{v.location} * config.max_batch;
        break;
      case ValueKind::kConst:
        slot.data = const_cast<float *>(constant_of(config, i, v));
        slot.row_bytes = 0;
        break;
      case ValueKind::kInput:
        slot.data = nullptr;
        break;
    }
  }
}

void place_states(const SessionConfig &config, Arena *arena, Session *s) {
  const Model &m = *config.model;
  for (uint32_t i = 0; i < m.states.count; ++i) {
    const uint32_t row = state_row_elems(m.states[i].elems);
    const size_t elems = mul_sat(config.max_batch, row), all = mul_sat(elems, m.states[i].buffers);
    float *a = arena->take<float>(all);
    if (a == nullptr) continue;
    zero_data(config.memory, a, all * sizeof(float));
    s->states[i] = {{a, a + (all - elems)}, 0, m.states[i].elems, row};
  }
}

// Steps for which pools and staging have room: a chunk, or the chunks of a wavefront that are under way.
uint32_t pool_steps(const SessionConfig &config) {
  const uint32_t wavefront = wavefront_stages(config.wavefront) * config.wavefront.chunk_steps;
  return wavefront > config.chunk_steps ? wavefront : config.chunk_steps;
}

// Staging for an input of the caller's that is not packed: one chunk of rows.
void place_staging(const SessionConfig &config, Arena *arena, IoSlot *slots) {
  const Model &m = *config.model;
  for (uint32_t i = 0; i < m.inputs.count; ++i) {
    const BlobIo &io = m.inputs[i];
    if (io.role == RNNP_ROLE_LENGTHS) continue;
    const size_t rows = io.role == RNNP_ROLE_SEQUENCE ? mul_sat(config.max_batch, pool_steps(config)) : config.max_batch;
    uint8_t *staging = arena->take<uint8_t>(mul_sat(mul_sat(rows, m.values[io.value].row_elems), sizeof(float)));
    if (slots != nullptr) slots[i].staging = staging;
  }
}

// A library for one thread has none.
bool has_channel_major(const SessionConfig &config) {
  return kManyThreads && config.channel_major != nullptr && has_many_threads(config.machine);
}

// Every table of the session in one go, so that placing them is one test.
struct Tables {
  Session *session;
  ValueSlot *values;  // of the session's own slot, then of the wavefront's
  NodeSlot *nodes;
  StateSlot *states;
  Barrier *barriers;
  IoSlot *inputs, *outputs;
  PipelineSlot *slots;
  uint32_t *rows;  // the three lists of the row map
  NodeSlot *channel_major_nodes, *joined_nodes;
  uint8_t *channel_major;
};

// A line per thread and for each set of threads that meets.
uint32_t barrier_lines(const SessionConfig &config) {
  if (!kManyThreads) return 0;
  return (config.region_threads > 1 ? 2 * config.region_threads : 0) + wavefront_stages(config.wavefront);
}

Tables take_session_tables(const SessionConfig &config, Arena *arena) {
  const Model &m = *config.model;
  Tables t;
  t.session = arena->take<Session>(1);
  t.values = arena->take<ValueSlot>(mul_sat(m.values.count, 1 + wavefront_stages(config.wavefront)));
  t.nodes = arena->take<NodeSlot>(m.nodes.count);
  t.states = arena->take<StateSlot>(m.states.count);
  t.barriers = arena->take<Barrier>(barrier_lines(config));
  t.inputs = arena->take<IoSlot>(m.inputs.count);
  t.outputs = arena->take<IoSlot>(m.outputs.count);
  t.slots = arena->take<PipelineSlot>(wavefront_stages(config.wavefront));
  t.rows = arena->take<uint32_t>(mul_sat(config.max_batch, 3));
  const bool channel_major = has_channel_major(config);
  t.channel_major_nodes = arena->take<NodeSlot>(channel_major ? m.nodes.count : 0);
  t.joined_nodes = arena->take<NodeSlot>(channel_major ? m.nodes.count : 0);
  t.channel_major = arena->take<uint8_t>(channel_major ? m.values.count : 0);
  return t;
}

// Threads have lines to meet at, of all, of teams and of the wavefront.
void place_barriers(const SessionConfig &config, const Tables &t) {
  if (!kManyThreads) return;
  Session &s = *t.session;
  s.executor = config.executor;
  s.wavefront = config.wavefront;
  s.slots = t.slots;
  s.barriers = t.barriers;
  s.team_barriers = t.barriers + config.region_threads;
  s.wavefront_barriers = t.barriers + (barrier_lines(config) - wavefront_stages(config.wavefront));
  for (uint32_t i = 0; i < barrier_lines(config); ++i) s.barriers[i] = {0, config.executor.wait, config.executor.ctx};
}

// `bytes`: of all tables.
void fill_session(const SessionConfig &config, const Tables &t, size_t bytes) {
  zero_bytes(t.session, bytes);
  Session &s = *t.session;
  s.max_batch = config.max_batch;
  s.chunk_steps = config.chunk_steps;
  s.max_steps = config.max_steps;
  s.region_threads = config.region_threads;
  s.parallel_steps = config.parallel_steps;
  s.causal = (config.model->header->flags & kBlobCausal) != 0;
  s.model = *config.model;
  s.memory = config.memory;
  s.nodes = t.nodes;
  s.states = t.states;
  s.inputs = t.inputs;
  s.outputs = t.outputs;
  s.rows = {t.rows, 0};
  s.run_nodes = run_nodes;
  for (uint32_t i = 0; i < config.max_batch; ++i) {
    s.rows.slot_of[i] = s.rows.slot_of[config.max_batch + i] = i;
  }
  place_barriers(config, t);
  s.run_input = run_input(s.model);
  s.in_place = runs_in_place(s.model);
}

uint32_t single_step_threads(const Session &s) {
  return !kManyThreads || s.parallel_steps > 1 ? 1 : s.region_threads;
}

void finish_nodes(Session *s) {
  FinishEnv env = {&s->model, s->pipe.values, s->states, s->max_batch, single_step_threads(*s), s->pipe.scratch, 0, false};
  for (uint32_t i = 0; i < s->model.nodes.count; ++i) {
    NodeSlot &n = s->nodes[i];
    n.step = n.op->finish != nullptr ? n.op->finish(&env, *n.node, n.object) : nullptr;
  }
  s->xnnpack_count = env.xnnpack_count;
  s->xnnpack_refused = env.xnnpack_refused;
}

// Of nodes that run channel-major values, and of all others, what runs them there.
void mark_channel_major_nodes(const SessionConfig &config, const Tables &t) {
  OpChoice choice = choice_of(config);
  choice.model = &t.session->model;
  const ChannelMajorNodes nodes = {t.nodes, t.channel_major_nodes, t.joined_nodes, t.channel_major, config.wavefront.stages != 0};
  if (!config.channel_major->channel_major->plan(choice, nodes)) return;
  t.session->channel_major_nodes = t.channel_major_nodes;
  t.session->joined_nodes = t.joined_nodes;
  t.session->channel_major = t.channel_major;
  states_written(t.session, Held::kInitial);
}

// What rnnp_step needs to know, decided once.
void prepare_fast_path(Session *s) {
  const Model &m = s->model;
  if (!s->causal || s->run_input == kNone || single_step_threads(*s) != 1) return;
  s->plain_io = m.inputs.count == 1 && m.inputs[0].limit == 0 && m.outputs.count == 1;
  s->step_input = &s->pipe.values[m.inputs[s->run_input].value];
  s->step_output = &s->pipe.values[m.outputs[0].value];
  s->step_env = chunk_env({s, nullptr, 1, s->max_batch, false, 1}, s->pipe, 0, 1);
}

}  // namespace

rnnp_status build_session(const SessionConfig &config, Arena *arena, Arena *data, Session **session, Refusal *refusal) {
  const Model &m = *config.model;
  const Tables t = take_session_tables(config, arena);
  BuildEnv env = {};
  static_cast<OpChoice &>(env) = choice_of(config);
  static_cast<PlanLimits &>(env) = config;
  env.arena = arena;
  env.memory = config.memory;
  const bool placing = !arena->measuring() && !arena->overflowed();
  if (placing) fill_session(config, t, arena->used());
  env.model = placing ? &t.session->model : config.model;
  for (uint32_t i = 0; i < m.nodes.count; ++i) {
    const Op *op = operator_of(config, m.nodes[i]);
    const Op *channel_major = has_channel_major(config) ? channel_major_of(config, m.nodes[i]) : nullptr;
    rnnp_status status = build_node(config, op, &env, i, placing ? &t.nodes[i] : nullptr, refusal);
    if (status == RNNP_OK && channel_major != nullptr)
      status = build_node(config, channel_major, &env, i, placing ? &t.channel_major_nodes[i] : nullptr, refusal);
    if (status != RNNP_OK) return status;
  }
  place_states(config, data, t.session);
  const size_t rows = mul_sat(config.max_batch, pool_steps(config));
  const size_t scratch_bytes = arena_align_up(env.scratch_bytes, config.machine);
  uint8_t *scratch =
      data->take<uint8_t>(mul_sat(scratch_bytes, wavefront_stages(config.wavefront) > 1 ? wavefront_stages(config.wavefront) : 1));
  float *sequence_pool = data->take<float>(mul_sat(m.header->sequence_pool_elems, rows));
  float *row_pool = data->take<float>(mul_sat(m.header->row_pool_elems, config.max_batch));
  place_staging(config, data, placing ? t.inputs : nullptr);
  if (arena->overflowed() || data->overflowed()) return refuse(refusal, Reason::kTooLarge);
  if (arena->measuring()) return RNNP_OK;
  t.session->recurrent_isa = env.recurrent_isa;
  t.session->row_pool = row_pool;
  t.session->pipe = {t.values, sequence_pool, config.chunk_steps, 0, scratch};
  place_values(config, *t.session, t.session->pipe);
  for (uint32_t i = 0; i < wavefront_stages(config.wavefront); ++i) {
    const uint32_t steps = config.wavefront.chunk_steps;
    float *pool = sequence_pool + size_t{m.header->sequence_pool_elems} * config.max_batch * steps * i;
    t.slots[i] = {t.values + size_t{m.values.count} * (i + 1), pool, steps, steps * i, scratch + scratch_bytes * i};
    place_values(config, *t.session, t.slots[i]);
  }
  for (uint32_t i = 0; i < m.states.count; ++i) {
    for (uint32_t row = 0; row < config.max_batch; ++row) reset_state(*t.session, i, row);
  }
  if (has_channel_major(config)) mark_channel_major_nodes(config, t);
  finish_nodes(t.session);
  prepare_fast_path(t.session);
  t.session->tag = kSessionTag;
  *session = t.session;
  return RNNP_OK;
}

}  // namespace rnnp
