// trace.cpp -- rnnp_session_set_trace, and how nodes run under one. A file of its own: a session runs its nodes through a pointer,
// so that a program without a trace links none of this. SPDX-License-Identifier: Apache-2.0
#include "rnnpack/trace.h"

#include "runtime/call.h"
#include "runtime/run_each_node.h"
#include "runtime/structs.h"

namespace rnnp {
namespace {

// As run_nodes; of a single step, by the nodes' fast paths.
void run_traced(const Session &s, const RunEnv &env, uint32_t stage, uint32_t thread) {
  const rnnp_trace &trace = *s.trace;
  const NodeSlot *nodes = nodes_of(s, env);
  run_each_node(nodes, env, first_node(s, stage), end_node(s, stage), thread, [&](const RunEnv &at, uint32_t i) {
    const NodeSlot &n = nodes[i];
    const rnnp_trace_event event = {i, stage != kEveryNode ? stage : thread, at.first_step, at.steps, at.batch, &at};
    trace.begin(trace.ctx, &event);
    if (n.step != nullptr && &at == &s.step_env) {
      n.step(n.object);
    } else {
      n.op->run(at, *n.node, n.object, thread);
    }
    trace.end(trace.ctx, &event);
  });
}

}  // namespace
}  // namespace rnnp

rnnp_status rnnp_session_set_trace(rnnp_session *session, const rnnp_trace *trace) {
  if (!rnnp::is_session(session) || session->memory != nullptr) return RNNP_E_ARG;
  const bool whole = trace == nullptr || (trace->struct_bytes >= sizeof *trace && trace->begin != nullptr && trace->end != nullptr);
  if (!whole) return RNNP_E_ARG;
  session->trace = trace;
  session->run_nodes = trace != nullptr ? rnnp::run_traced : rnnp::run_nodes;
  session->detours = static_cast<uint8_t>((session->detours & ~rnnp::kTraced) | (trace != nullptr ? rnnp::kTraced : 0));
  return RNNP_OK;
}
