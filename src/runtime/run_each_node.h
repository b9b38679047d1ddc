// run_each_node.h -- the order in which a chunk goes through nodes, loops step by step; how one node runs is the caller's.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_RUNTIME_RUN_EACH_NODE_H_
#define RNNPACK_RUNTIME_RUN_EACH_NODE_H_

#include "runtime/session.h"

namespace rnnp {

// What a thread goes through: nodes of a stage, or kEveryNode; and how it runs one.
struct NodeRun {
  const Session *session;
  const NodeSlot *nodes;
  uint32_t stage, thread;
  void (*run)(const NodeRun &what, const RunEnv &env, uint32_t node);
};

// By every thread; a barrier after each node. In schedule.cpp.
void run_each_node(const NodeRun &what, const RunEnv &env);

}  // namespace rnnp
#endif  // RNNPACK_RUNTIME_RUN_EACH_NODE_H_
