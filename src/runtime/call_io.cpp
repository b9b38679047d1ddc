// call_io.cpp -- where the values of a chunk lie: in the caller's memory where it is packed, else staged (inputs) or in the pools
// and copied out afterwards (outputs). Touches the pipe's values, the staging buffers and the caller's outputs.
// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "runtime/call.h"

namespace rnnp {
namespace {

bool is_sequence(const BlobIo &io) {
  return io.role == RNNP_ROLE_SEQUENCE;
}

size_t io_elem_bytes(const Session &s, const BlobIo &io) {
  return size_t{s.model.values[io.value].row_elems} * sizeof(float);
}

// Rows of a call's batch one behind the other, as operators want them.
RowPlaces packed_rows(const Call &call, void *data, size_t bytes) {
  return {static_cast<uint8_t *>(data), call.batch * bytes, bytes};
}

// A caller's tensor from step `first` on.
RowPlaces rows_from(const TensorView &view, size_t first) {
  return {view.row(first, 0), view.step_bytes, view.row_bytes};
}

// `staging_rows`: the pipe's place in the staging buffer, in rows.
void bind_input(const Call &call, const PipelineSlot &pipe, uint32_t i, size_t first, uint32_t steps, size_t staging_rows) {
  const Session &s = *call.session;
  const BlobIo &io = s.model.inputs[i];
  const TensorView &view = s.inputs[i].view;
  ValueSlot &slot = pipe.values[io.value];
  if (view.data == nullptr || view.packed) {
    slot.data = view.data == nullptr ? nullptr : view.row(first, 0);
    return;
  }
  const size_t bytes = io_elem_bytes(s, io);
  uint8_t *to = s.inputs[i].staging + bytes * staging_rows;
  copy_rows(s.memory, {packed_rows(call, to, bytes), rows_from(view, first), steps, call.batch, bytes});
  slot.data = to;
}

// A node's result goes straight to the caller's packed memory; otherwise to the pool, and is copied out after the chunk.
void bind_output(const Call &call, const PipelineSlot &pipe, uint32_t i, size_t first) {
  const Session &s = *call.session;
  const BlobIo &io = s.model.outputs[i];
  const TensorView &view = s.outputs[i].view;
  const bool direct = view.data != nullptr && view.packed && !s.outputs[i].held && !(is_sequence(io) && call.last_step);
  pipe.values[io.value].data = direct ? view.row(first, 0) : output_rows(s, pipe, i);
}

// Where rows end: the call's lengths, else the model's first LENGTHS input.
const int32_t *last_step_lengths(const Call &call) {
  const Model &m = call.session->model;
  for (uint32_t i = 0; i < m.inputs.count && call.lengths == nullptr; ++i) {
    if (m.inputs[i].role == RNNP_ROLE_LENGTHS) return view_as<int32_t>(call.session->inputs[i].view.data);
  }
  return call.lengths;
}

void hand_out_last_step(const Call &call, const PipelineSlot &pipe, uint32_t i, size_t first, uint32_t steps) {
  const Session &s = *call.session;
  const BlobIo &io = s.model.outputs[i];
  const size_t bytes = io_elem_bytes(s, io);
  const RowPlaces from = packed_rows(call, pipe.values[io.value].data, bytes);
  const LastSteps last = {
      rows_from(s.outputs[i].view, 0), from, last_step_lengths(call), first, steps, call.steps, call.batch, bytes};
  copy_last_steps(s.memory, last);
}

void copy_out(const Call &call, const PipelineSlot &pipe, uint32_t i, size_t first, uint32_t steps) {
  const Session &s = *call.session;
  const BlobIo &io = s.model.outputs[i];
  const TensorView &view = s.outputs[i].view;
  if (pipe.values[io.value].data == view.row(first, 0)) return;  // it was made there
  const size_t bytes = io_elem_bytes(s, io);
  copy_rows(s.memory, {rows_from(view, first), packed_rows(call, pipe.values[io.value].data, bytes), steps, call.batch, bytes});
}

}  // namespace

void *output_rows(const Session &s, const PipelineSlot &pipe, uint32_t output) {
  const BlobValue &v = s.model.values[s.model.outputs[output].value];
  if (ValueKind(v.kind) == ValueKind::kSequence) return pipe.sequence_pool + size_t{v.location} * s.max_batch * pipe.pool_steps;
  return s.row_pool + size_t{v.location} * s.max_batch;
}

void bind_rows(const Call &call, const PipelineSlot &pipe) {
  const Model &m = call.session->model;
  for (uint32_t i = 0; i < m.inputs.count; ++i) {
    if (!is_sequence(m.inputs[i])) bind_input(call, pipe, i, 0, 1, 0);
  }
  for (uint32_t i = 0; i < m.outputs.count; ++i) {
    if (!is_sequence(m.outputs[i])) bind_output(call, pipe, i, 0);
  }
}

void hand_out_rows(const Call &call, const PipelineSlot &pipe) {
  const Session &s = *call.session;
  for (uint32_t i = 0; i < s.model.outputs.count; ++i) {
    const BlobIo &io = s.model.outputs[i];
    if (!is_sequence(io) && s.outputs[i].view.data != nullptr) copy_out(call, pipe, i, 0, 1);
  }
}

void bind_steps(const Call &call, const PipelineSlot &pipe, size_t first, uint32_t steps) {
  const Session &s = *call.session;
  const Model &m = s.model;
  const size_t staging_rows = size_t{s.max_batch} * pipe.staging_step;
  for (uint32_t i = 0; i < m.inputs.count; ++i) {
    if (is_sequence(m.inputs[i])) bind_input(call, pipe, i, first, steps, staging_rows);
  }
  for (uint32_t i = 0; i < m.outputs.count; ++i) {
    if (is_sequence(m.outputs[i])) bind_output(call, pipe, i, first);
  }
}

void hand_out_steps(const Call &call, const PipelineSlot &pipe, size_t first, uint32_t steps) {
  const Session &s = *call.session;
  for (uint32_t i = 0; i < s.model.outputs.count; ++i) {
    const BlobIo &io = s.model.outputs[i];
    if (!is_sequence(io) || s.outputs[i].view.data == nullptr) continue;
    if (call.last_step) {
      hand_out_last_step(call, pipe, i, first, steps);
    } else {
      copy_out(call, pipe, i, first, steps);
    }
  }
}

}  // namespace rnnp
