// schedule.cpp -- how a call's steps go through the nodes: chunk after chunk by the whole team, as a wavefront of chunks through
// groups of layers, or one step alone. Touches the session through call_io.cpp and the operators.
// SPDX-License-Identifier: Apache-2.0
#include "base/fpenv.h"
#include "ops/channel_major.h"
#include "runtime/call.h"
#include "runtime/run_each_node.h"

namespace rnnp {
namespace {

void team_barrier(const Call &call, uint32_t thread) {
  barrier_wait(call.session->barriers, call.threads, thread);
}

uint32_t steps_of_chunk(const Call &call, size_t first, uint32_t chunk_steps) {
  const size_t left = call.steps - first;
  return left < chunk_steps ? static_cast<uint32_t>(left) : chunk_steps;
}

// All chunks of a call are, or none.
bool call_is_channel_major(const Call &call) {
  return kManyThreads && call.steps >= kFewestChannelMajorSteps && call.lengths == nullptr &&
         call.session->channel_major != nullptr;
}

}  // namespace

RunEnv chunk_env(const Call &call, const PipelineSlot &pipe, size_t first, uint32_t steps) {
  const Session &s = *call.session;
  RunEnv env;
  env.model = &s.model;
  env.values = pipe.values;
  env.states = s.states;
  env.scratch = pipe.scratch;
  env.barriers = s.barriers;
  env.team_barriers = s.team_barriers;
  env.lengths = call.lengths;
  env.first_step = first;
  env.steps = steps;
  env.batch = call.batch;
  env.max_batch = s.max_batch;
  env.threads = call.threads;
  env.first_chunk = first == 0;
  env.last_chunk = first + steps == call.steps;
  env.channel_major = call_is_channel_major(call) ? s.channel_major : nullptr;
  return env;
}

namespace {

void run_and_wait(const void *run, const RunEnv &env, uint32_t node) {
  const NodeRun &what = *static_cast<const NodeRun *>(run);
  if (kManyThreads && what.nodes[node].op == nullptr) return;
  what.run(what, env, node);
  barrier_wait(env.barriers, env.threads, what.thread);
}

void run_untraced(const NodeRun &what, const RunEnv &env, uint32_t i) {
  const NodeSlot &n = what.nodes[i];
  n.op->run(env, *n.node, n.object, what.thread);
}

}  // namespace

void run_each_node(const NodeRun &what, const RunEnv &env) {
  const uint32_t end = end_node(*what.session, what.stage);
  for (uint32_t i = first_node(*what.session, what.stage); i < end;) {
    const NodeSlot &head = what.nodes[i];
    const LoopOp *loop = env.steps > 1 && head.op != nullptr ? head.op->loop : nullptr;
    const uint32_t count = loop != nullptr ? loop->nodes(*env.model, *head.node) : 0;
    if (count != 0) {
      loop->run(env, *head.node, head.object, what.thread, {&what, run_and_wait, i});
      i += count;
    } else {
      run_and_wait(&what, env, i++);
    }
  }
}

void run_nodes(const Session &s, const RunEnv &env, uint32_t stage, uint32_t thread) {
  const bool joined = kManyThreads && env.channel_major != nullptr;
  run_each_node({&s, joined ? s.joined_nodes : s.nodes, stage, thread, run_untraced}, env);
}

namespace {

// --- Chunks ------------------------------------------------------------------------------------------------------------------

void run_chunk(const Call &call, size_t first, uint32_t steps, uint32_t thread) {
  const Session &s = *call.session;
  if (thread == 0) bind_steps(call, s.pipe, first, steps);
  team_barrier(call, thread);
  const RunEnv env = chunk_env(call, s.pipe, first, steps);
  s.run_nodes(s, env, kEveryNode, thread);
  if (thread == 0) hand_out_steps(call, s.pipe, first, steps);
}

void run_thread(void *arg, uint32_t thread) {
  const Call &call = *static_cast<const Call *>(arg);
  if (thread >= call.threads) return;  // more than the model gains from
  const FlushDenormals flush;
  for (size_t first = 0; first < call.steps;) {
    const uint32_t steps = steps_of_chunk(call, first, call.session->chunk_steps);
    run_chunk(call, first, steps, thread);
    first += steps;
  }
}

void run_chunks(Call *call) {
  const Session &s = *call->session;
  bind_rows(*call, s.pipe);
  call->threads = kManyThreads && call->steps >= s.parallel_steps ? s.region_threads : 1;
  if (call->threads > 1) {
    s.executor.parallel(s.executor.ctx, run_thread, call);
  } else {
    run_thread(call, 0);
  }
  hand_out_rows(*call, s.pipe);
}

// --- The wavefront
// ------------------------------------------------------------------------------------------------------------------

// One stage's nodes on one chunk, alone.
void run_stage(const Call &call, size_t first, uint32_t stage, const PipelineSlot &pipe) {
  const Session &s = *call.session;
  const uint32_t steps = steps_of_chunk(call, first, s.wavefront.chunk_steps);
  if (stage == 0) bind_steps(call, pipe, first, steps);
  RunEnv env = chunk_env(call, pipe, first, steps);
  env.scratch = s.slots[stage].scratch;
  s.run_nodes(s, env, stage, 0);
  if (stage + 1 == s.wavefront.stages) hand_out_steps(call, pipe, first, steps);
}

// Thread i is stage i: chunk c goes through stage i in round c + i, in pipe c modulo the number of stages.
void run_wavefront_thread(void *arg, uint32_t thread) {
  const Call &call = *static_cast<const Call *>(arg);
  const Session &s = *call.session;
  const uint32_t stages = s.wavefront.stages;
  if (thread >= stages) return;
  const FlushDenormals flush;
  uint32_t pipe = 0;
  size_t first = 0;
  for (uint32_t wait = 0; wait < thread; ++wait) barrier_wait(s.wavefront_barriers, stages, thread);
  while (first < call.steps) {
    run_stage(call, first, thread, s.slots[pipe]);
    first += s.wavefront.chunk_steps;
    pipe = pipe + 1 == stages ? 0 : pipe + 1;
    barrier_wait(s.wavefront_barriers, stages, thread);
  }
  for (uint32_t wait = thread; wait + 1 < stages; ++wait) barrier_wait(s.wavefront_barriers, stages, thread);
}

// Values without a time axis are the same in all lanes: bound before any stage begins, handed out when all have ended.
void run_wavefront(Call *call) {
  const Session &s = *call->session;
  for (uint32_t pipe = 0; pipe < s.wavefront.stages; ++pipe) bind_rows(*call, s.slots[pipe]);
  call->threads = 1;
  s.executor.parallel(s.executor.ctx, run_wavefront_thread, call);
  hand_out_rows(*call, s.slots[0]);
}

}  // namespace

void bring_states_up(const Session &s) {
  if (!kManyThreads || s.held != Held::kLast) return;
  for (uint32_t i = 0; i < s.model.nodes.count; ++i) {
    const NodeSlot &n = s.channel_major_nodes[i];
    if (n.op->channel_major != nullptr) n.op->channel_major->keep(s.model, s.states, *n.node, n.object);
  }
}

namespace {

// Steps of rows read the states, those of channel-major values what the nodes hold.
void hand_over_steps(Session *s, bool channel_major) {
  if (!kManyThreads || s->channel_major == nullptr) return;
  if (!channel_major) {
    if (s->detours & kHandOver) bring_states_up(*s);
    states_written(s, Held::kOthers);
    return;
  }
  for (uint32_t i = 0; s->held != Held::kLast && i < s->model.nodes.count; ++i) {
    const NodeSlot &n = s->channel_major_nodes[i];
    if (n.op->channel_major != nullptr) n.op->channel_major->forget(n.object, s->held == Held::kInitial);
  }
  s->held = Held::kLast;
  s->detours |= kHandOver;
}

}  // namespace

void run_call(Call *call) {
  const Session &s = *call->session;
  hand_over_steps(call->session, call_is_channel_major(*call));
  if (kManyThreads && s.wavefront.stages != 0 && call->steps >= s.wavefront.fewest_steps) {
    run_wavefront(call);
  } else {
    run_chunks(call);
  }
}

rnnp_status run_single_step(Session *s, const void *x, void *y) {
  const FlushDenormals flush;
  s->step_input->data = const_cast<void *>(x);
  s->step_output->data = y;
  if (s->detours != 0) {
    arrange_rows(s, nullptr, s->max_batch);
    if (kManyThreads && (s->detours & kHandOver)) hand_over_steps(s, false);
    if (s->detours != 0) {
      s->run_nodes(*s, s->step_env, kEveryNode, 0);
      return RNNP_OK;
    }
  }
  const NodeSlot *end = s->nodes + s->model.nodes.count;
  for (const NodeSlot *n = s->nodes; n != end; ++n) {
    if (n->step != nullptr) {
      n->step(n->object);
    } else {
      n->op->run(s->step_env, *n->node, n->object, 0);
    }
  }
  return RNNP_OK;
}

}  // namespace rnnp
