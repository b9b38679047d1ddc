// call.cpp -- rnnp_step, rnnp_run and rnnp_run_io: every check, and the caller's tensors resolved into the session's views. Nothing
// that a caller can see is written before the last check. SPDX-License-Identifier: Apache-2.0
#include "runtime/call.h"

#include "base/bytes.h"
#include "kernels/compiler.h"
#include "runtime/structs.h"

namespace rnnp {
namespace {

constexpr size_t kFewestBufferBytes = offsetof(rnnp_buffer, row_stride_bytes) + sizeof(rnnp_buffer::row_stride_bytes);

bool lengths_fit(const int32_t *lengths, uint32_t batch, size_t steps) {
  for (uint32_t i = 0; i < batch; ++i) {
    if (lengths[i] < 0 || static_cast<size_t>(lengths[i]) > steps) return false;
  }
  return true;
}

// Every index of an i32 sequence input lies within its table.
bool indices_fit(const BlobIo &io, const TensorView &view, const TensorShape &shape) {
  const int32_t limit = static_cast<int32_t>(io.limit);
  for (size_t step = 0; step < shape.steps; ++step) {
    for (uint32_t row = 0; row < shape.batch; ++row) {
      const int32_t *index = view_as<int32_t>(view.row(step, row));
      for (size_t i = 0; i < shape.elem_bytes / sizeof(int32_t); ++i) {
        if (index[i] >= limit || index[i] < -limit) return false;
      }
    }
  }
  return true;
}

rnnp_status check_shape(const Session &s, size_t steps, uint32_t batch) {
  if (batch == 0 || batch > s.max_batch) return RNNP_E_SHAPE;
  if (s.model.header->fixed_batch != 0 && batch != s.model.header->fixed_batch) return RNNP_E_SHAPE;
  if (!s.causal && steps > s.max_steps) return RNNP_E_SHAPE;
  return steps > SIZE_MAX / 4 / s.max_batch ? RNNP_E_SHAPE : RNNP_OK;
}

TensorShape shape_of(const Session &s, const BlobIo &io, size_t steps, uint32_t batch) {
  return {size_t{s.model.values[io.value].row_elems} * sizeof(float), steps, batch, io.role == RNNP_ROLE_SEQUENCE};
}

rnnp_status take_input(Session *s, uint32_t i, const rnnp_buffer &b, size_t steps, uint32_t batch) {
  const BlobIo &io = s->model.inputs[i];
  if (b.data == nullptr && (io.role == RNNP_ROLE_SEQUENCE || io.role == RNNP_ROLE_ROW)) return RNNP_E_ARG;
  TensorView &view = s->inputs[i].view;
  const TensorShape shape = shape_of(*s, io, steps, batch);
  const rnnp_status status = resolve(b, shape, &view);
  if (status != RNNP_OK || b.data == nullptr) return status;
  const bool readable = !kDataElsewhere || s->memory == nullptr;
  if (io.role == RNNP_ROLE_LENGTHS) {
    if (!view.packed) return RNNP_E_ARG;
    return !readable || lengths_fit(view_as<int32_t>(view.data), batch, steps) ? RNNP_OK : RNNP_E_SHAPE;
  }
  return io.limit == 0 || !readable || indices_fit(io, view, shape) ? RNNP_OK : RNNP_E_INDEX;
}

// Output `out` in the memory of input `in`: held back until the chunk's inputs have been read, if that is enough.
rnnp_status share_memory(const Session &s, IoSlot *out, const TensorShape &shape, uint32_t in) {
  const BlobIo &io = s.model.inputs[in];
  const TensorView &view = s.inputs[in].view;
  if (view.data == nullptr || !overlap(out->view, view)) return RNNP_OK;
  const bool apart = !(out->view.packed && view.packed) && out->view.data != view.data;  // rows of one between rows of the other
  out->held = true;
  if (io.role == RNNP_ROLE_LENGTHS) return RNNP_E_ARG;
  if (shape.steps == 0 || apart) return RNNP_OK;  // shape.steps 0: written once, when everything has been read
  if (io.role != RNNP_ROLE_SEQUENCE) return RNNP_E_ARG;
  const size_t in_bytes = shape_of(s, io, shape.steps, shape.batch).elem_bytes;
  return follows(out->view, shape.elem_bytes, view, in_bytes, shape.batch) ? RNNP_OK : RNNP_E_ARG;
}

// After all inputs: an output may lie in the memory of one.
rnnp_status take_output(Session *s, uint32_t i, const rnnp_buffer &b, size_t steps, uint32_t batch, bool last_step) {
  const BlobIo &io = s->model.outputs[i];
  IoSlot *out = &s->outputs[i];
  TensorShape shape = shape_of(*s, io, steps, batch);
  if (last_step) shape.sequence = false;
  rnnp_status status = resolve(b, shape, &out->view);
  out->held = false;
  if (io.role != RNNP_ROLE_SEQUENCE) shape.steps = 0;
  for (uint32_t in = 0; in < s->model.inputs.count && status == RNNP_OK && b.data != nullptr; ++in)
    status = share_memory(*s, out, shape, in);
  return status;
}

rnnp_status check_io(const Session &s, const rnnp_io &io) {
  const Model &m = s.model;
  if (io.flags & ~RNNP_RUN_LAST_STEP) return RNNP_E_ARG;
  if (io.buffer_bytes < kFewestBufferBytes || io.buffer_bytes > kMostStructBytes) return RNNP_E_ARG;
  if (io.input_count != m.inputs.count || io.output_count != m.outputs.count) return RNNP_E_SHAPE;
  if ((io.input_count && io.inputs == nullptr) || (io.output_count && io.outputs == nullptr)) return RNNP_E_ARG;
  const rnnp_status status = check_shape(s, io.steps, io.batch);
  if (status != RNNP_OK) return status;
  return io.lengths == nullptr || lengths_fit(io.lengths, io.batch, io.steps) ? RNNP_OK : RNNP_E_SHAPE;
}

}  // namespace

rnnp_status take_call(Session *s, const rnnp_io &io, Call *call) {
  const bool last_step = (io.flags & RNNP_RUN_LAST_STEP) != 0;
  rnnp_status status = check_io(*s, io);
  rnnp_buffer b = {};
  for (uint32_t i = 0; i < io.input_count && status == RNNP_OK; ++i) {
    if (!take_element(io.inputs, io.buffer_bytes, i, &b)) return RNNP_E_ARG;
    status = take_input(s, i, b, io.steps, io.batch);
  }
  for (uint32_t i = 0; i < io.output_count && status == RNNP_OK; ++i) {
    if (!take_element(io.outputs, io.buffer_bytes, i, &b)) return RNNP_E_ARG;
    status = take_output(s, i, b, io.steps, io.batch, last_step);
  }
  if (status != RNNP_OK) return status;
  if (io.rows != nullptr && !rows_fit(s, io.rows, io.batch)) return RNNP_E_SHAPE;
  *call = {s, io.lengths, io.steps, io.batch, last_step, 1};
  return RNNP_OK;
}

rnnp_status take_plain_call(Session *s, size_t steps, const void *x, void *y, Call *call) {
  const Model &m = s->model;
  if (s->run_input == kNone) return RNNP_E_INPUTS;
  rnnp_status status = check_shape(*s, steps, s->max_batch);
  if (status == RNNP_OK && steps != 0 && (x == nullptr || y == nullptr)) status = RNNP_E_ARG;
  for (uint32_t i = 0; i < m.inputs.count && status == RNNP_OK && steps != 0; ++i)
    status = take_input(s, i, {i == s->run_input ? const_cast<void *>(x) : nullptr, 0, 0}, steps, s->max_batch);
  for (uint32_t i = 0; i < m.outputs.count && status == RNNP_OK && steps != 0; ++i)
    status = take_output(s, i, {i == 0 ? y : nullptr, 0, 0}, steps, s->max_batch, false);
  if (status == RNNP_OK) *call = {s, nullptr, steps, s->max_batch, false, 1};
  return status;
}

namespace {

rnnp_status run_io(Session *s, const rnnp_io &io) {
  Call call;
  const rnnp_status status = take_call(s, io, &call);
  if (status != RNNP_OK || call.steps == 0) return status;
  arrange_rows(s, io.rows, io.batch);
  run_call(&call);
  return RNNP_OK;
}

bool step_indices_fit(const Session &s, const void *x) {
  const BlobIo &io = s.model.inputs[s.run_input];
  const size_t row_bytes = s.step_input->row_bytes;
  const TensorView view = {static_cast<uint8_t *>(const_cast<void *>(x)), 0, row_bytes, row_bytes * s.max_batch, true};
  return io.limit == 0 || indices_fit(io, view, {row_bytes, 1, s.max_batch, true});
}

// What the steps of most models need not ask: whether indices lie in their table; and all but x and y is left out, which a call
// before this one may have bound.
RNNPACK_NOINLINE rnnp_status take_seldom_io(const Session &s, const void *x) {
  if (!is_aligned(x, 4)) return RNNP_E_ALIGN;
  if (!step_indices_fit(s, x)) return RNNP_E_INDEX;
  const Model &m = s.model;
  for (uint32_t i = 0; i < m.inputs.count; ++i) s.lane.values[m.inputs[i].value].data = nullptr;
  for (uint32_t i = 1; i < m.outputs.count; ++i) s.lane.values[m.outputs[i].value].data = output_rows(s, s.lane, i);
  return RNNP_OK;
}

// One step on the short road.
rnnp_status take_step(Session *s, const void *x, void *y) {
  if (x == nullptr || y == nullptr) return RNNP_E_ARG;
  if (!s->plain_io) {
    const rnnp_status status = take_seldom_io(*s, x);
    if (status != RNNP_OK) return status;
  }
  if (!is_aligned(x, 4) || !is_aligned(y, 4)) return RNNP_E_ALIGN;
  const uintptr_t from = reinterpret_cast<uintptr_t>(x), to = reinterpret_cast<uintptr_t>(y);
  const size_t in = s->step_input->row_bytes * s->max_batch, out = s->step_output->row_bytes * s->max_batch;
  const bool overlap = from <= to ? to - from < in : from - to < out;
  if (!overlap) return run_single_step(s, x, y);
  if (!s->in_place || (from != to && s->model.outputs[0].role == RNNP_ROLE_SEQUENCE)) return RNNP_E_ARG;
  void *made = output_rows(*s, s->lane, 0);
  run_single_step(s, x, made);
  copy_bytes(y, made, out);
  return RNNP_OK;
}

rnnp_status run_plain(Session *s, size_t steps, const void *x, void *y) {
  Call call;
  const rnnp_status status = take_plain_call(s, steps, x, y, &call);
  if (status != RNNP_OK || call.steps == 0) return status;
  arrange_rows(s, nullptr, s->max_batch);
  run_call(&call);
  return RNNP_OK;
}

}  // namespace
}  // namespace rnnp

rnnp_status rnnp_run_io(rnnp_session *session, const rnnp_io *given) {
  rnnp_io io = {};
  if (!rnnp::is_session(session) || !rnnp::take_struct(given, rnnp::kFewestIoBytes, &io)) return RNNP_E_ARG;
  return rnnp::run_io(session, io);
}

rnnp_status rnnp_run(rnnp_session *session, size_t steps, const void *x, void *y) {
  if (!rnnp::is_session(session)) return RNNP_E_ARG;
  return steps == 1 && session->causal ? rnnp_step(session, x, y) : rnnp::run_plain(session, steps, x, y);
}

rnnp_status rnnp_step(rnnp_session *session, const void *x, void *y) {
  if (!rnnp::is_session(session)) return RNNP_E_ARG;
  if (session->step_input != nullptr) return rnnp::take_step(session, x, y);
  if (!session->causal) return RNNP_E_DIRECTION;
  return rnnp::kManyThreads ? rnnp::run_plain(session, 1, x, y) : rnnp_status{RNNP_E_INPUTS};  // what else stands in the way
}
