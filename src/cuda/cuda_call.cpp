// cuda_call.cpp -- rnnp_cuda_run, _step, _run_io and _wait: the runtime's checks and schedule (runtime/call.h) with rows and
// lengths brought to the device. Contract: cuda.h. SPDX-License-Identifier: Apache-2.0
#include "cuda/cuda_session.h"
#include "cuda/kernels/args.h"
#include "runtime/call.h"
#include "runtime/structs.h"

namespace rnnp {
namespace cuda {
namespace {

// A tensor of the call lies where the GPU is known not to reach.
bool is_out_of_reach(const Session &s) {
  for (uint32_t i = 0; i < s.model.inputs.count; ++i) {
    if (s.inputs[i].view.data != nullptr && gpu_cannot_reach(s.inputs[i].view.data)) return true;
  }
  for (uint32_t i = 0; i < s.model.outputs.count; ++i) {
    if (s.outputs[i].view.data != nullptr && gpu_cannot_reach(s.outputs[i].view.data)) return true;
  }
  return false;
}

// Enqueues a call that has been checked. rows: of the session, or nullptr.
rnnp_status enqueue(rnnp_cuda_session *s, Call *call, const uint32_t *rows) {
  Context &c = s->context;
  if (is_out_of_reach(*s->session)) return RNNP_E_ARG;
  c.rows = nullptr;
  c.lengths = nullptr;
  if (rows != nullptr) {
    set_device_words(&c, c.row_list, rows, call->batch);
    c.rows = c.row_list;
  }
  if (call->lengths != nullptr) {
    set_device_words(&c, c.length_list, call->lengths, call->batch);
    c.lengths = c.length_list;
  }
  run_call(call);
  return end_work(s);
}

rnnp_status run_plain(rnnp_cuda_session *s, size_t steps, const void *x, void *y, void *stream) {
  rnnp_status status = begin_work(s, stream);
  if (status != RNNP_OK) return status;
  Call call;
  status = take_plain_call(s->session, steps, x, y, &call);
  return status != RNNP_OK || steps == 0 ? status : enqueue(s, &call, nullptr);
}

// What the kernels found since the last look, which is over with that.
rnnp_status take_findings(rnnp_cuda_session *s) {
  Context &c = s->context;
  uint32_t found[kFindings] = {};
  if (c.has_mapped_findings) {
    c.error = gpu_wait(c.stream);
    copy_bytes(found, c.findings, sizeof found);  // written by kernels that have ended
  } else {
    c.read(&c, found, c.findings, sizeof found);
  }
  const rnnp_status status = take_error(s);
  const bool timed_out = found[kFoundTimeOut] != 0;
  if (status != RNNP_OK || (!timed_out && found[kFoundBadIndex] == 0)) return status;
  const uint32_t none[kFindings] = {};
  c.write(&c, c.findings, none, sizeof none);
  if (timed_out) {
    // Words of a launch that stopped half way look fresh to the next: it is made to clear them.
    uint32_t anew[kExchanges][kControlWords] = {};
    for (uint32_t i = 0; i < kExchanges; ++i) anew[i][kEpoch] = kClearFromEpoch;
    c.write(&c, c.control, anew, sizeof anew);
  }
  const rnnp_status written = take_error(s);
  return written != RNNP_OK ? written : timed_out ? RNNP_E_TIMEOUT : RNNP_E_INDEX;
}

}  // namespace
}  // namespace cuda
}  // namespace rnnp

rnnp_status rnnp_cuda_run(rnnp_cuda_session *session, size_t steps, const void *x, void *y, void *stream) {
  return rnnp::cuda::run_plain(session, steps, x, y, stream);
}

rnnp_status rnnp_cuda_step(rnnp_cuda_session *session, const void *x, void *y, void *stream) {
  if (!rnnp::cuda::is_cuda_session(session)) return RNNP_E_ARG;
  return session->session->causal ? rnnp::cuda::run_plain(session, 1, x, y, stream) : RNNP_E_NOT_CAUSAL;
}

rnnp_status rnnp_cuda_run_io(rnnp_cuda_session *session, const rnnp_io *given, void *stream) {
  rnnp_io io = {};
  rnnp_status status = rnnp::cuda::begin_work(session, stream);
  if (status != RNNP_OK) return status;
  if (!rnnp::take_struct(given, rnnp::kFewestIoBytes, &io)) return RNNP_E_ARG;
  rnnp::Call call;
  status = rnnp::take_call(session->session, io, &call);
  return status != RNNP_OK || io.steps == 0 ? status : rnnp::cuda::enqueue(session, &call, io.rows);
}

rnnp_status rnnp_cuda_wait(rnnp_cuda_session *session, void *stream) {
  const rnnp_status status = rnnp::cuda::begin_work(session, stream);
  return status != RNNP_OK ? status : rnnp::cuda::take_findings(session);
}
