// call.cpp -- rnnp_step, rnnp_run and rnnp_run_io: every check, and the caller's tensors resolved into the session's views. Nothing
// that a caller can see is written before the last check. SPDX-License-Identifier: Apache-2.0
#include "runtime/call.h"

#include "base/bytes.h"
#include "kernels/inlining.h"
#include "runtime/structs.h"

namespace rnnp {
namespace {

constexpr size_t kFewestBufferBytes = offsetof(rnnp_const_buffer, row_stride_bytes) + sizeof(rnnp_const_buffer::row_stride_bytes);
static_assert(sizeof(rnnp_const_buffer) == sizeof(rnnp_buffer), "rnnp_io.buffer_bytes is the size of both");

rnnp_status result(Session *s, CallError error) {
  static constexpr int8_t kStatuses[] = {
#define RNNPACK_CALL_ERROR(name, status, words) status,
      RNNPACK_CALL_ERRORS(RNNPACK_CALL_ERROR)
#undef RNNPACK_CALL_ERROR
  };
  s->call_error = error;
  return rnnp_status(kStatuses[uint32_t(error)]);
}

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

// No float of the tensor has all bits of its exponent set.
bool is_finite(const TensorView &view, const TensorShape &shape) {
  constexpr uint32_t kExponent = 0x7f800000u;
  for (size_t step = 0; step < (shape.sequence ? shape.steps : 1); ++step) {
    for (uint32_t row = 0; row < shape.batch; ++row) {
      const uint32_t *bits = view_as<uint32_t>(view.row(step, row));
      for (size_t i = 0; i < shape.elem_bytes / sizeof(float); ++i) {
        if ((bits[i] & kExponent) == kExponent) return false;
      }
    }
  }
  return true;
}

CallError check_shape(const Session &s, size_t steps, uint32_t batch) {
  if (batch == 0 || batch > s.max_batch) return CallError::kBatch;
  if (s.model.header->fixed_batch != 0 && batch != s.model.header->fixed_batch) return CallError::kBatch;
  if (!s.causal && steps > s.max_steps) return CallError::kSteps;
  return steps > SIZE_MAX / 4 / s.max_batch ? CallError::kSteps : CallError::kNothing;
}

TensorShape shape_of(const Session &s, const BlobIo &io, size_t steps, uint32_t batch) {
  return {size_t{s.model.values[io.value].row_elems} * sizeof(float), steps, batch, io.role == RNNP_ROLE_SEQUENCE};
}

// Whether the CPU can look at the caller's tensors.
bool is_readable(const Session &s) {
  return !kDataElsewhere || s.memory == nullptr;
}

CallError take_input(Session *s, uint32_t i, const rnnp_const_buffer &in, size_t steps, uint32_t batch, bool check_finite) {
  const BlobIo &io = s->model.inputs[i];
  if (in.data == nullptr && (io.role == RNNP_ROLE_SEQUENCE || io.role == RNNP_ROLE_PER_RUN)) return CallError::kNull;
  TensorView &view = s->inputs[i].view;
  const TensorShape shape = shape_of(*s, io, steps, batch);
  const CallError error = resolve({const_cast<void *>(in.data), in.step_stride_bytes, in.row_stride_bytes}, shape, &view);
  if (error != CallError::kNothing || in.data == nullptr) return error;
  if (io.role == RNNP_ROLE_LENGTHS && !view.packed) return CallError::kStridedLengths;
  if (!is_readable(*s)) return CallError::kNothing;
  if (io.role == RNNP_ROLE_LENGTHS) {
    return lengths_fit(view_as<int32_t>(view.data), batch, steps) ? CallError::kNothing : CallError::kLengths;
  }
  if (io.limit != 0) return indices_fit(io, view, shape) ? CallError::kNothing : CallError::kIndex;
  return !check_finite || is_finite(view, shape) ? CallError::kNothing : CallError::kNotFinite;
}

// Output `out` in the memory of input `in`: held back until the chunk's inputs have been read, if that is enough.
CallError share_memory(const Session &s, IoSlot *out, const TensorShape &shape, uint32_t in) {
  const BlobIo &io = s.model.inputs[in];
  const TensorView &view = s.inputs[in].view;
  if (view.data == nullptr || !overlap(out->view, view)) return CallError::kNothing;
  const bool apart = !(out->view.packed && view.packed) && out->view.data != view.data;  // rows of one between rows of the other
  out->held = true;
  if (io.role == RNNP_ROLE_LENGTHS) return CallError::kOverlap;
  if (shape.steps == 0 || apart) return CallError::kNothing;  // shape.steps 0: written once, when everything has been read
  if (io.role != RNNP_ROLE_SEQUENCE) return CallError::kOverlap;
  const size_t in_bytes = shape_of(s, io, shape.steps, shape.batch).elem_bytes;
  return follows(out->view, shape.elem_bytes, view, in_bytes, shape.batch) ? CallError::kNothing : CallError::kOverlap;
}

// After all inputs: an output may lie in the memory of one.
CallError take_output(Session *s, uint32_t i, const rnnp_buffer &b, size_t steps, uint32_t batch, bool last_step) {
  const BlobIo &io = s->model.outputs[i];
  IoSlot *out = &s->outputs[i];
  TensorShape shape = shape_of(*s, io, steps, batch);
  if (last_step) shape.sequence = false;
  CallError error = resolve(b, shape, &out->view);
  out->held = false;
  if (io.role != RNNP_ROLE_SEQUENCE) shape.steps = 0;
  for (uint32_t in = 0; in < s->model.inputs.count && error == CallError::kNothing && b.data != nullptr; ++in)
    error = share_memory(*s, out, shape, in);
  return error;
}

// Whether output `i` leaves those before it alone; of strided ones, whose rows may lie between each other, that is the caller's.
bool is_alone(const Session &s, uint32_t i) {
  const TensorView &view = s.outputs[i].view;
  for (uint32_t other = 0; other < i; ++other) {
    const TensorView &before = s.outputs[other].view;
    if (before.data != nullptr && view.data != nullptr && before.packed && view.packed && overlap(before, view)) return false;
  }
  return true;
}

CallError check_io(const Session &s, const rnnp_io &io) {
  const Model &m = s.model;
  const uint32_t known = is_readable(s) ? RNNP_RUN_LAST_STEP | RNNP_RUN_CHECK_FINITE : RNNP_RUN_LAST_STEP;
  if (io.flags & ~known) return CallError::kFlags;
  if (io.buffer_bytes < kFewestBufferBytes || io.buffer_bytes > kMostStructBytes) return CallError::kStruct;
  if (io.input_count != m.inputs.count || io.output_count != m.outputs.count) return CallError::kCounts;
  if ((io.input_count && io.inputs == nullptr) || (io.output_count && io.outputs == nullptr)) return CallError::kNull;
  const CallError error = check_shape(s, io.steps, io.batch);
  if (error != CallError::kNothing) return error;
  return io.lengths == nullptr || lengths_fit(io.lengths, io.batch, io.steps) ? CallError::kNothing : CallError::kLengths;
}

CallError take_tensors(Session *s, const rnnp_io &io) {
  CallError error = check_io(*s, io);
  rnnp_const_buffer in = {};
  for (uint32_t i = 0; i < io.input_count && error == CallError::kNothing; ++i) {
    if (!take_element(io.inputs, io.buffer_bytes, i, &in)) return CallError::kStruct;
    error = take_input(s, i, in, io.steps, io.batch, (io.flags & RNNP_RUN_CHECK_FINITE) != 0);
  }
  rnnp_buffer out = {};
  for (uint32_t i = 0; i < io.output_count && error == CallError::kNothing; ++i) {
    if (!take_element(io.outputs, io.buffer_bytes, i, &out)) return CallError::kStruct;
    error = take_output(s, i, out, io.steps, io.batch, (io.flags & RNNP_RUN_LAST_STEP) != 0);
    if (error == CallError::kNothing && io.steps != 0 && !is_alone(*s, i)) return CallError::kOverlap;
  }
  if (error != CallError::kNothing) return error;
  return io.rows == nullptr || rows_fit(s, io.rows, io.batch) ? CallError::kNothing : CallError::kRows;
}

CallError take_plain_tensors(Session *s, size_t steps, const void *x, void *y) {
  const Model &m = s->model;
  if (s->run_input == kNone) return CallError::kInputs;
  CallError error = check_shape(*s, steps, s->max_batch);
  if (error == CallError::kNothing && steps != 0 && (x == nullptr || y == nullptr)) error = CallError::kNull;
  for (uint32_t i = 0; i < m.inputs.count && error == CallError::kNothing && steps != 0; ++i)
    error = take_input(s, i, {i == s->run_input ? x : nullptr, 0, 0}, steps, s->max_batch, false);
  for (uint32_t i = 0; i < m.outputs.count && error == CallError::kNothing && steps != 0; ++i)
    error = take_output(s, i, {i == 0 ? y : nullptr, 0, 0}, steps, s->max_batch, false);
  return error;
}

}  // namespace

rnnp_status take_call(Session *s, const rnnp_io &io, Call *call) {
  const CallError error = take_tensors(s, io);
  if (error == CallError::kNothing) *call = {s, io.lengths, io.steps, io.batch, (io.flags & RNNP_RUN_LAST_STEP) != 0, 1};
  return result(s, error);
}

rnnp_status take_plain_call(Session *s, size_t steps, const void *x, void *y, Call *call) {
  const CallError error = take_plain_tensors(s, steps, x, y);
  if (error == CallError::kNothing) *call = {s, nullptr, steps, s->max_batch, false, 1};
  return result(s, error);
}

namespace {

rnnp_status run_io(Session *s, const rnnp_io &io) {
  Call call = {};  // GCC does not see that a refused call is not read
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
RNNPACK_NOINLINE CallError take_uncommon_io(const Session &s, const void *x) {
  if (!is_aligned(x, 4)) return CallError::kAlign;
  if (!step_indices_fit(s, x)) return CallError::kIndex;
  const Model &m = s.model;
  for (uint32_t i = 0; i < m.inputs.count; ++i) s.pipe.values[m.inputs[i].value].data = nullptr;
  for (uint32_t i = 1; i < m.outputs.count; ++i) s.pipe.values[m.outputs[i].value].data = output_rows(s, s.pipe, i);
  return CallError::kNothing;
}

// One step on the fast path.
rnnp_status take_step(Session *s, const void *x, void *y) {
  s->call_error = CallError::kNothing;
  if (x == nullptr || y == nullptr) return result(s, CallError::kNull);
  if (!s->plain_io) {
    const CallError error = take_uncommon_io(*s, x);
    if (error != CallError::kNothing) return result(s, error);
  }
  if (!is_aligned(x, 4) || !is_aligned(y, 4)) return result(s, CallError::kAlign);
  const uintptr_t from = reinterpret_cast<uintptr_t>(x), to = reinterpret_cast<uintptr_t>(y);
  const size_t in = s->step_input->row_bytes * s->max_batch, out = s->step_output->row_bytes * s->max_batch;
  const bool overlap = from <= to ? to - from < in : from - to < out;
  if (!overlap) return run_single_step(s, x, y);
  if (!s->in_place || (from != to && s->model.outputs[0].role == RNNP_ROLE_SEQUENCE)) return result(s, CallError::kOverlap);
  void *made = output_rows(*s, s->pipe, 0);
  run_single_step(s, x, made);
  copy_bytes(y, made, out);
  return RNNP_OK;
}

rnnp_status run_plain(Session *s, size_t steps, const void *x, void *y) {
  Call call = {};  // GCC does not see that a refused call is not read
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
  if (!rnnp::is_session(session)) return RNNP_E_ARG;
  if (!rnnp::take_struct(given, rnnp::kFewestIoBytes, &io)) return rnnp::result(session, rnnp::CallError::kStruct);
  return rnnp::run_io(session, io);
}

rnnp_status rnnp_run(rnnp_session *session, size_t steps, const void *x, void *y) {
  if (!rnnp::is_session(session)) return RNNP_E_ARG;
  return steps == 1 && session->causal ? rnnp_step(session, x, y) : rnnp::run_plain(session, steps, x, y);
}

rnnp_status rnnp_step(rnnp_session *session, const void *x, void *y) {
  if (!rnnp::is_session(session)) return RNNP_E_ARG;
  if (session->step_input != nullptr) return rnnp::take_step(session, x, y);
  if (!session->causal) return rnnp::result(session, rnnp::CallError::kNotCausal);
  return rnnp::kManyThreads ? rnnp::run_plain(session, 1, x, y) : rnnp::result(session, rnnp::CallError::kInputs);
}
