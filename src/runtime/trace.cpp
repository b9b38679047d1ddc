// trace.cpp -- rnnp_session_set_trace, and how nodes run under one. A file of its own: a session runs its nodes through a pointer,
// so that a program without a trace links none of this. SPDX-License-Identifier: Apache-2.0
#include "rnnpack/trace.h"

#include "runtime/call.h"
#include "runtime/run_each_node.h"
#include "runtime/structs.h"

namespace rnnp {
namespace {

// Of a single step, by the node's fast path.
void run_told(const NodeRun &what, const RunEnv &env, uint32_t i) {
  const Session &s = *what.session;
  const rnnp_trace &trace = *s.trace;
  const NodeSlot &n = what.nodes[i];
  const uint32_t thread = what.stage != kEveryNode ? what.stage : what.thread;
  const rnnp_trace_event event = {i, thread, env.first_step, env.steps, env.batch, &env};
  trace.begin(trace.ctx, &event);
  if (n.step != nullptr && &env == &s.step_env) {
    n.step(n.object);
  } else {
    n.op->run(env, *n.node, n.object, what.thread);
  }
  trace.end(trace.ctx, &event);
}

void run_traced(const Session &s, const RunEnv &env, uint32_t stage, uint32_t thread) {
  run_each_node({&s, nodes_of(s, env), stage, thread, run_told}, env);
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
