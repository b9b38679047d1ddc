// run_each_node.h -- the order in which a chunk goes through nodes, loops step by step; how one node runs is the caller's.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_RUNTIME_RUN_EACH_NODE_H_
#define RNNPACK_RUNTIME_RUN_EACH_NODE_H_

#include "runtime/session.h"

namespace rnnp {

inline RunEnv step_of_chunk(const RunEnv &chunk, uint32_t step) {
  RunEnv env = chunk;
  env.first_step += step;
  env.steps = 1;
  env.first_chunk = chunk.first_chunk && step == 0;
  env.last_chunk = chunk.last_chunk && step + 1 == chunk.steps;
  return env;
}

// run(env, i) for each of the nodes [i, end), by every thread; a barrier after each.
template <class Run>
void run_each_node(const NodeSlot *nodes, const RunEnv &env, uint32_t i, uint32_t end, uint32_t thread, Run run) {
  const auto run_and_wait = [&](const RunEnv &at, uint32_t node) {
    if (kManyThreads && nodes[node].op == nullptr) return;
    run(at, node);
    barrier_wait(env.barriers, env.threads, thread);
  };
  while (i < end) {
    const NodeSlot &head = nodes[i];
    const LoopOp *loop = env.steps > 1 && head.op != nullptr ? head.op->loop : nullptr;
    const uint32_t count = loop != nullptr ? loop->nodes(*env.model, *head.node) : 0;
    if (count == 0) {
      run_and_wait(env, i++);
      continue;
    }
    const auto place = [&](uint32_t step) {
      if (thread == 0) loop->place(env, *head.node, head.object, step);
      barrier_wait(env.barriers, env.threads, thread);
    };
    for (uint32_t step = 0; step < env.steps; ++step) {
      place(step);
      const RunEnv at = step_of_chunk(env, step);
      for (uint32_t k = 0; k < count; ++k) run_and_wait(at, i + k);
    }
    place(env.steps);
    i += count;
  }
}

}  // namespace rnnp
#endif  // RNNPACK_RUNTIME_RUN_EACH_NODE_H_
