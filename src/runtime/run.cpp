// run.cpp -- runs a session: chunk by chunk through the nodes, inside one parallel region.
// Touches the session and the caller's outputs; every check precedes the first write.
// The road of a chunk: bind inputs (in place when packed, else staged) -> each node, a barrier after each -> hand out outputs.
// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "base/fpenv.h"
#include "runtime/session.h"

namespace rnnp {
namespace {

// One call of rnnp_run or rnnp_run_io, after its checks.
struct Job {
  Session *session;
  const rnnp_buffer *inputs, *outputs;
  const int32_t *lengths;  // of the call: gate every recurrent layer; nullptr: a layer's own, if it has any
  size_t steps;
  uint32_t batch, flags;
  uint32_t threads;  // that run it
};

size_t row_bytes_of(const Model &m, const BlobIo &io) {
  return size_t{m.values[io.value].row_elems} * sizeof(float);
}

bool is_packed(const rnnp_buffer &b, size_t row_bytes, uint32_t batch, bool sequence) {
  const bool rows = b.row_stride_bytes == 0 || b.row_stride_bytes == row_bytes || batch == 1;
  const bool steps = !sequence || b.step_stride_bytes == 0 || b.step_stride_bytes == row_bytes * batch;
  return rows && steps;
}

uint8_t *tensor_row(const rnnp_buffer &b, size_t row_bytes, uint32_t batch, size_t step, size_t row) {
  const size_t row_stride = b.row_stride_bytes ? b.row_stride_bytes : row_bytes;
  const size_t step_stride = b.step_stride_bytes ? b.step_stride_bytes : row_stride * batch;
  return static_cast<uint8_t *>(b.data) + step * step_stride + row * row_stride;
}

// --- Inputs and outputs of a chunk -------------------------------------------------------------------------------------------

void bind_input(const Job &job, uint32_t i, size_t first, uint32_t steps) {
  const Session &s = *job.session;
  const Model &m = *s.model;
  const BlobIo &io = m.inputs[i];
  ValueSlot &slot = s.values[io.value];
  if (io.role == RNNP_ROLE_LENGTHS) {
    slot.data = job.inputs[i].data;
    return;
  }
  const bool sequence = io.role == RNNP_ROLE_SEQUENCE;
  const rnnp_buffer &b = job.inputs[i];
  const size_t bytes = row_bytes_of(m, io);
  if (b.data == nullptr || is_packed(b, bytes, job.batch, sequence)) {
    slot.data = b.data == nullptr ? nullptr : tensor_row(b, bytes, job.batch, sequence ? first : 0, 0);
    return;
  }
  uint8_t *to = s.inputs[i].staging;
  slot.data = to;
  for (size_t step = 0; step < (sequence ? steps : 1u); ++step) {
    for (uint32_t row = 0; row < job.batch; ++row, to += bytes)
      copy_bytes(to, tensor_row(b, bytes, job.batch, first + step, row), bytes);
  }
}

void *pool_rows(const Session &s, const BlobValue &v) {
  if (ValueKind(v.kind) == ValueKind::kSequence) return s.sequence_pool + size_t{v.location} * s.max_batch * s.chunk_steps;
  return s.row_pool + size_t{v.location} * s.max_batch;
}

// A node's result goes straight to the caller's packed memory; otherwise to the pool, and is copied out after the chunk.
void bind_output(const Job &job, uint32_t i, size_t first) {
  const Session &s = *job.session;
  const Model &m = *s.model;
  const BlobIo &io = m.outputs[i];
  const BlobValue &v = m.values[io.value];
  if (v.kind > uint32_t(ValueKind::kRow)) return;
  const bool sequence = io.role == RNNP_ROLE_SEQUENCE;
  const rnnp_buffer &b = job.outputs[i];
  const bool direct = b.data != nullptr && is_packed(b, row_bytes_of(m, io), job.batch, sequence) &&
                      !(sequence && (job.flags & RNNP_RUN_LAST_STEP));
  s.values[io.value].data = direct ? tensor_row(b, row_bytes_of(m, io), job.batch, sequence ? first : 0, 0) : pool_rows(s, v);
}

const uint8_t *value_row(const Session &s, uint32_t value, size_t row) {
  return reinterpret_cast<const uint8_t *>(row_of(s.values[value], row));
}

// Where rows end: the call's lengths, else the model's first LENGTHS input.
const int32_t *last_step_lengths(const Job &job) {
  const Model &m = *job.session->model;
  for (uint32_t i = 0; i < m.inputs.count && job.lengths == nullptr; ++i) {
    if (m.inputs[i].role == RNNP_ROLE_LENGTHS) return static_cast<const int32_t *>(job.inputs[i].data);
  }
  return job.lengths;
}

void hand_out_last_step(const Job &job, const BlobIo &io, const rnnp_buffer &b, size_t first, uint32_t steps) {
  const Session &s = *job.session;
  const size_t bytes = row_bytes_of(*s.model, io);
  const int32_t *lengths = last_step_lengths(job);
  for (uint32_t row = 0; row < job.batch; ++row) {
    const size_t length = lengths != nullptr ? static_cast<size_t>(lengths[row]) : job.steps;
    uint8_t *to = tensor_row(b, bytes, job.batch, 0, row);
    if (length == 0) {
      if (first == 0) zero_bytes(to, bytes);
    } else if (length > first && length <= first + steps) {
      copy_bytes(to, value_row(s, io.value, (length - 1 - first) * job.batch + row), bytes);
    }
  }
}

void hand_out(const Job &job, uint32_t i, size_t first, uint32_t steps, bool last_chunk) {
  const Session &s = *job.session;
  const Model &m = *s.model;
  const BlobIo &io = m.outputs[i];
  const rnnp_buffer &b = job.outputs[i];
  const bool sequence = io.role == RNNP_ROLE_SEQUENCE;
  if (b.data == nullptr || (!sequence && !last_chunk)) return;
  if (sequence && (job.flags & RNNP_RUN_LAST_STEP)) {
    hand_out_last_step(job, io, b, first, steps);
    return;
  }
  const size_t bytes = row_bytes_of(m, io);
  if (s.values[io.value].data == tensor_row(b, bytes, job.batch, sequence ? first : 0, 0)) return;
  for (size_t step = 0; step < (sequence ? steps : 1u); ++step) {
    for (uint32_t row = 0; row < job.batch; ++row) {
      copy_bytes(tensor_row(b, bytes, job.batch, first + step, row), value_row(s, io.value, step * job.batch + row), bytes);
    }
  }
}

// --- The parallel region ---------------------------------------------------------------------------------------------------------

void team_barrier(const Job &job, uint32_t thread) {
  if (kManyThreads && job.threads > 1) barrier_wait(job.session->barriers, job.threads, thread);
}

void run_chunk(const Job &job, size_t first, uint32_t steps, uint32_t thread) {
  const Session &s = *job.session;
  const Model &m = *s.model;
  const bool last = first + steps == job.steps;
  if (thread == 0) {
    for (uint32_t i = 0; i < m.inputs.count; ++i) bind_input(job, i, first, steps);
    for (uint32_t i = 0; i < m.outputs.count; ++i) bind_output(job, i, first);
  }
  team_barrier(job, thread);
  const RunEnv env = {&m,    s.values,  s.states,    s.scratch,   s.barriers, job.lengths, first,
                      steps, job.batch, s.max_batch, job.threads, first == 0, last};
  for (uint32_t i = 0; i < m.nodes.count; ++i) {
    s.nodes[i].op->run(env, *s.nodes[i].node, s.nodes[i].object, thread);
    team_barrier(job, thread);
  }
  if (thread == 0) {
    for (uint32_t i = 0; i < m.outputs.count; ++i) hand_out(job, i, first, steps, last);
  }
}

void run_thread(void *arg, uint32_t thread) {
  const Job &job = *static_cast<const Job *>(arg);
  const FlushDenormals flush;
  for (size_t first = 0; first < job.steps;) {
    const size_t left = job.steps - first;
    const uint32_t steps = left < job.session->chunk_steps ? static_cast<uint32_t>(left) : job.session->chunk_steps;
    run_chunk(job, first, steps, thread);
    first += steps;
  }
}

void run_job(Job *job) {
  if (!kManyThreads) {
    run_thread(job, 0);
    return;
  }
  const Session &s = *job->session;
  job->threads = job->steps >= s.parallel_steps ? s.threads : 1;
  if (job->threads > 1) {
    s.executor.parallel(s.executor.ctx, run_thread, job);
    return;
  }
  run_thread(job, 0);
  for (uint32_t i = 1; i < s.threads; ++i) s.barriers[i].epoch = s.barriers[0].epoch;  // the others were not there to count
}

// --- Checks ----------------------------------------------------------------------------------------------------------------------

rnnp_status check_buffer(const Model &m, const BlobIo &io, const rnnp_buffer &b, uint32_t batch) {
  if (b.data == nullptr) return RNNP_OK;
  if (!is_aligned(b.data, 4)) return RNNP_E_ALIGN;
  const size_t bytes = row_bytes_of(m, io);
  const size_t row = b.row_stride_bytes ? b.row_stride_bytes : bytes;
  if (b.row_stride_bytes % 4 || b.step_stride_bytes % 4) return RNNP_E_ALIGN;
  if (row < bytes || (b.step_stride_bytes != 0 && b.step_stride_bytes < bytes)) return RNNP_E_ARG;
  (void)batch;
  return RNNP_OK;
}

bool lengths_fit(const int32_t *lengths, uint32_t batch, size_t steps) {
  for (uint32_t i = 0; i < batch; ++i) {
    if (lengths[i] < 0 || static_cast<size_t>(lengths[i]) > steps) return false;
  }
  return true;
}

rnnp_status check_shape(const Session &s, size_t steps, uint32_t batch) {
  if (batch == 0 || batch > s.max_batch) return RNNP_E_SHAPE;
  if (s.model->header->fixed_batch != 0 && batch != s.model->header->fixed_batch) return RNNP_E_SHAPE;
  if (!s.causal && steps > s.max_steps) return RNNP_E_SHAPE;
  return steps > SIZE_MAX / 4 / s.max_batch ? RNNP_E_SHAPE : RNNP_OK;
}

rnnp_status check_io(const Session &s, const rnnp_io &io) {
  const Model &m = *s.model;
  if (io.flags & ~RNNP_RUN_LAST_STEP) return RNNP_E_ARG;
  if (io.input_count != m.inputs.count || io.output_count != m.outputs.count) return RNNP_E_SHAPE;
  if ((io.input_count && io.inputs == nullptr) || (io.output_count && io.outputs == nullptr)) return RNNP_E_ARG;
  rnnp_status status = check_shape(s, io.steps, io.batch);
  if (status != RNNP_OK) return status;
  if (io.lengths != nullptr && !lengths_fit(io.lengths, io.batch, io.steps)) return RNNP_E_SHAPE;
  for (uint32_t i = 0; i < m.inputs.count && status == RNNP_OK; ++i) {
    const bool required = m.inputs[i].role == RNNP_ROLE_SEQUENCE || m.inputs[i].role == RNNP_ROLE_ROW;
    if (required && io.inputs[i].data == nullptr) return RNNP_E_ARG;
    status = check_buffer(m, m.inputs[i], io.inputs[i], io.batch);
    if (status == RNNP_OK && m.inputs[i].role == RNNP_ROLE_LENGTHS && io.inputs[i].data != nullptr &&
        !lengths_fit(static_cast<const int32_t *>(io.inputs[i].data), io.batch, io.steps)) {
      return RNNP_E_SHAPE;
    }
  }
  for (uint32_t i = 0; i < m.outputs.count && status == RNNP_OK; ++i)
    status = check_buffer(m, m.outputs[i], io.outputs[i], io.batch);
  return status;
}

bool is_session(const Session *s) {
  return s != nullptr && s->tag == kSessionTag;
}

constexpr uint32_t kSimpleTensors = 16;

// The short road: no binding, no copying, no chunk; the nodes one after the other.
void run_single_step(Session *s, const void *x, void *y) {
  const FlushDenormals flush;
  s->single_input->data = const_cast<void *>(x);
  s->single_output->data = y;
  const NodeSlot *end = s->nodes + s->model->nodes.count;
  for (const NodeSlot *n = s->nodes; n != end; ++n) {
    if (n->step != nullptr) {
      n->step(n->object);
    } else {
      n->op->run(s->single_env, *n->node, n->object, 0);
    }
  }
}

}  // namespace
}  // namespace rnnp

rnnp_status rnnp_run_io(rnnp_session *session, const rnnp_io *io) {
  if (!rnnp::is_session(session) || io == nullptr || io->struct_bytes < sizeof(rnnp_io)) return RNNP_E_ARG;
  const rnnp_status status = rnnp::check_io(*session, *io);
  if (status != RNNP_OK || io->steps == 0) return status;
  rnnp::Job job = {session, io->inputs, io->outputs, io->lengths, io->steps, io->batch, io->flags, 1};
  rnnp::run_job(&job);
  return RNNP_OK;
}

rnnp_status rnnp_run(rnnp_session *session, size_t steps, const void *x, void *y) {
  if (!rnnp::is_session(session)) return RNNP_E_ARG;
  const rnnp::Model &m = *session->model;
  if (!session->simple || m.inputs.count > rnnp::kSimpleTensors || m.outputs.count > rnnp::kSimpleTensors) return RNNP_E_SHAPE;
  const rnnp_status status = rnnp::check_shape(*session, steps, session->max_batch);
  if (status != RNNP_OK || steps == 0) return status;
  if (x == nullptr || y == nullptr) return RNNP_E_ARG;
  if (!rnnp::is_aligned(x, 4) || !rnnp::is_aligned(y, 4)) return RNNP_E_ALIGN;
  if (steps == 1 && session->single) {
    rnnp::run_single_step(session, x, y);
    return RNNP_OK;
  }
  rnnp_buffer inputs[rnnp::kSimpleTensors], outputs[rnnp::kSimpleTensors];
  for (uint32_t i = 0; i < m.inputs.count; ++i) inputs[i] = {nullptr, 0, 0};
  for (uint32_t i = 0; i < m.outputs.count; ++i) outputs[i] = {nullptr, 0, 0};
  inputs[session->simple_input].data = const_cast<void *>(x);
  outputs[0].data = y;
  rnnp::Job job = {session, inputs, outputs, nullptr, steps, session->max_batch, 0, 1};
  rnnp::run_job(&job);
  return RNNP_OK;
}

rnnp_status rnnp_step(rnnp_session *session, const void *x, void *y) {
  if (!rnnp::is_session(session)) return RNNP_E_ARG;
  if (!session->causal) return RNNP_E_DIRECTION;
  if (!session->single || x == nullptr || y == nullptr || !rnnp::is_aligned(x, 4) || !rnnp::is_aligned(y, 4))
    return rnnp_run(session, 1, x, y);
  rnnp::run_single_step(session, x, y);
  return RNNP_OK;
}
