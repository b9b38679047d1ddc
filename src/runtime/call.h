// call.h -- one call of rnnp_step, rnnp_run or rnnp_run_io after its checks: the same for all three from here on.
// The data path: call.cpp checks and resolves the caller's tensors into the session's views -> schedule.cpp runs the nodes chunk by
// chunk -> call_io.cpp binds views to values before a chunk and hands results out after it. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_RUNTIME_CALL_H_
#define RNNPACK_RUNTIME_CALL_H_

#include "runtime/session.h"

namespace rnnp {

// The tensors are the views of session->inputs and session->outputs.
struct Call {
  Session *session;
  const int32_t *lengths;  // of the call: gate every recurrent layer; nullptr: a layer's own, if it has any
  size_t steps;            // > 0
  uint32_t batch;
  bool last_step;    // sequence outputs get each row's last valid step only
  uint32_t threads;  // that run its nodes side by side: the region's, or one
};

// --- call.cpp: the checks -----------------------------------------------------------------------------------------------------

constexpr size_t kFewestIoBytes = offsetof(rnnp_io, rows);  // of the oldest header

// Every check of a call, its tensors resolved into the session's views. Steps 0: there is nothing to do. The rows that io names are
// rows of the session, but not yet arranged.
rnnp_status take_call(Session *session, const rnnp_io &io, Call *call);
// All rows; the one input that must be given, and the first output.
rnnp_status take_plain_call(Session *session, size_t steps, const void *x, void *y, Call *call);

// --- call_io.cpp: binding and handing out ------------------------------------------------------------------------------------

// Tensors without a time axis: once per call, before its first chunk, in every pipe that the call goes through.
void bind_rows(const Call &call, const PipelineSlot &pipe);
void hand_out_rows(const Call &call, const PipelineSlot &pipe);
// Tensors with one: per chunk of `steps` steps from `first` on.
void bind_steps(const Call &call, const PipelineSlot &pipe, size_t first, uint32_t steps);
void hand_out_steps(const Call &call, const PipelineSlot &pipe, size_t first, uint32_t steps);
// Where an output is made that is not made in the caller's memory.
void *output_rows(const Session &session, const PipelineSlot &pipe, uint32_t output);

// --- schedule.cpp: the nodes, in chunks, in a wavefront, or one step alone
// --------------------------------------------------------

void run_call(Call *call);
// What the nodes are told of the chunk of `steps` steps from `first` on.
RunEnv chunk_env(const Call &call, const PipelineSlot &pipe, size_t first, uint32_t steps);
// Session::run_nodes without a trace.
void run_nodes(const Session &s, const RunEnv &env, uint32_t stage, uint32_t thread);
// One step of all rows on the caller's thread, y apart from x, both packed: for sessions with a step_input. RNNP_OK: the call's
// last word.
rnnp_status run_single_step(Session *session, const void *x, void *y);

}  // namespace rnnp
#endif  // RNNPACK_RUNTIME_CALL_H_
