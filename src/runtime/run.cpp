// run.cpp -- runs a session: chunk by chunk through the nodes, inside one parallel region.
// Touches the session and the caller's outputs; every check precedes the first write.
// The road of a chunk: bind inputs (in place when packed, else staged) -> each node, a barrier after each -> hand out outputs.
// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>

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

void bind_input(const Job &job, const Lane &lane, uint32_t i, size_t first, uint32_t steps) {
  const Session &s = *job.session;
  const Model &m = *s.model;
  const BlobIo &io = m.inputs[i];
  ValueSlot &slot = lane.values[io.value];
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
  uint8_t *to = s.inputs[i].staging + (sequence ? bytes * s.max_batch * lane.staging_step : 0);
  slot.data = to;
  for (size_t step = 0; step < (sequence ? steps : 1u); ++step) {
    for (uint32_t row = 0; row < job.batch; ++row, to += bytes)
      copy_bytes(to, tensor_row(b, bytes, job.batch, first + step, row), bytes);
  }
}

void *pool_rows(const Session &s, const Lane &lane, const BlobValue &v) {
  if (ValueKind(v.kind) == ValueKind::kSequence) return lane.sequence_pool + size_t{v.location} * s.max_batch * lane.pool_steps;
  return s.row_pool + size_t{v.location} * s.max_batch;
}

// A node's result goes straight to the caller's packed memory; otherwise to the pool, and is copied out after the chunk.
void bind_output(const Job &job, const Lane &lane, uint32_t i, size_t first) {
  const Session &s = *job.session;
  const Model &m = *s.model;
  const BlobIo &io = m.outputs[i];
  const BlobValue &v = m.values[io.value];
  if (v.kind > uint32_t(ValueKind::kRow)) return;
  const bool sequence = io.role == RNNP_ROLE_SEQUENCE;
  const rnnp_buffer &b = job.outputs[i];
  const bool direct = b.data != nullptr && is_packed(b, row_bytes_of(m, io), job.batch, sequence) &&
                      !(sequence && (job.flags & RNNP_RUN_LAST_STEP));
  lane.values[io.value].data =
      direct ? tensor_row(b, row_bytes_of(m, io), job.batch, sequence ? first : 0, 0) : pool_rows(s, lane, v);
}

const uint8_t *value_row(const Lane &lane, uint32_t value, size_t row) {
  return reinterpret_cast<const uint8_t *>(row_of(lane.values[value], row));
}

// Where rows end: the call's lengths, else the model's first LENGTHS input.
const int32_t *last_step_lengths(const Job &job) {
  const Model &m = *job.session->model;
  for (uint32_t i = 0; i < m.inputs.count && job.lengths == nullptr; ++i) {
    if (m.inputs[i].role == RNNP_ROLE_LENGTHS) return static_cast<const int32_t *>(job.inputs[i].data);
  }
  return job.lengths;
}

void hand_out_last_step(const Job &job, const Lane &lane, const BlobIo &io, const rnnp_buffer &b, size_t first, uint32_t steps) {
  const size_t bytes = row_bytes_of(*job.session->model, io);
  const int32_t *lengths = last_step_lengths(job);
  for (uint32_t row = 0; row < job.batch; ++row) {
    const size_t length = lengths != nullptr ? static_cast<size_t>(lengths[row]) : job.steps;
    uint8_t *to = tensor_row(b, bytes, job.batch, 0, row);
    if (length == 0) {
      if (first == 0) zero_bytes(to, bytes);
    } else if (length > first && length <= first + steps) {
      copy_bytes(to, value_row(lane, io.value, (length - 1 - first) * job.batch + row), bytes);
    }
  }
}

void hand_out(const Job &job, const Lane &lane, uint32_t i, size_t first, uint32_t steps, bool last_chunk) {
  const Model &m = *job.session->model;
  const BlobIo &io = m.outputs[i];
  const rnnp_buffer &b = job.outputs[i];
  const bool sequence = io.role == RNNP_ROLE_SEQUENCE;
  if (b.data == nullptr || (!sequence && !last_chunk)) return;
  if (sequence && (job.flags & RNNP_RUN_LAST_STEP)) {
    hand_out_last_step(job, lane, io, b, first, steps);
    return;
  }
  const size_t bytes = row_bytes_of(m, io);
  if (lane.values[io.value].data == tensor_row(b, bytes, job.batch, sequence ? first : 0, 0)) return;
  for (size_t step = 0; step < (sequence ? steps : 1u); ++step) {
    for (uint32_t row = 0; row < job.batch; ++row) {
      copy_bytes(tensor_row(b, bytes, job.batch, first + step, row), value_row(lane, io.value, step * job.batch + row), bytes);
    }
  }
}

// --- The parallel region ---------------------------------------------------------------------------------------------------------

void team_barrier(const Job &job, uint32_t thread) {
  if (kManyThreads && job.threads > 1) barrier_wait(job.session->barriers, job.threads, thread);
}

void bind(const Job &job, const Lane &lane, size_t first, uint32_t steps) {
  const Model &m = *job.session->model;
  for (uint32_t i = 0; i < m.inputs.count; ++i) bind_input(job, lane, i, first, steps);
  for (uint32_t i = 0; i < m.outputs.count; ++i) bind_output(job, lane, i, first);
}

void hand_out_all(const Job &job, const Lane &lane, size_t first, uint32_t steps) {
  const uint32_t count = job.session->model->outputs.count;
  for (uint32_t i = 0; i < count; ++i) hand_out(job, lane, i, first, steps, first + steps == job.steps);
}

RunEnv chunk_env(const Job &job, const Lane &lane, size_t first, uint32_t steps) {
  const Session &s = *job.session;
  return {s.model,
          lane.values,
          s.states,
          lane.scratch,
          s.barriers,
          job.lengths,
          first,
          steps,
          job.batch,
          s.max_batch,
          job.threads,
          first == 0,
          first + steps == job.steps};
}

void run_chunk(const Job &job, size_t first, uint32_t steps, uint32_t thread) {
  const Session &s = *job.session;
  if (thread == 0) bind(job, s.lane, first, steps);
  team_barrier(job, thread);
  const RunEnv env = chunk_env(job, s.lane, first, steps);
  for (uint32_t i = 0; i < s.model->nodes.count; ++i) {
    s.nodes[i].op->run(env, *s.nodes[i].node, s.nodes[i].object, thread);
    team_barrier(job, thread);
  }
  if (thread == 0) hand_out_all(job, s.lane, first, steps);
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

// One stage's nodes on one chunk, alone.
void run_stage(const Job &job, size_t first, uint32_t stage, const Lane &lane) {
  const Session &s = *job.session;
  const size_t left = job.steps - first;
  const uint32_t steps = left < s.wave.chunk_steps ? static_cast<uint32_t>(left) : s.wave.chunk_steps;
  if (stage == 0) bind(job, lane, first, steps);
  RunEnv env = chunk_env(job, lane, first, steps);
  env.scratch = s.waves[stage].scratch;
  env.barriers = s.barriers + stage;
  env.threads = 1;
  for (uint32_t i = s.wave.first_node[stage]; i < s.wave.first_node[stage + 1]; ++i)
    s.nodes[i].op->run(env, *s.nodes[i].node, s.nodes[i].object, 0);
  if (stage + 1 == s.wave.stages) hand_out_all(job, lane, first, steps);
}

// Thread i is stage i: chunk c goes through stage i in round c + i, in lane c modulo the number of stages.
void run_wave_thread(void *arg, uint32_t thread) {
  const Job &job = *static_cast<const Job *>(arg);
  const Session &s = *job.session;
  const uint32_t stages = s.wave.stages;
  if (thread >= stages) return;
  const FlushDenormals flush;
  uint32_t lane = 0;
  size_t first = 0;
  for (uint32_t wait = 0; wait < thread; ++wait) barrier_wait(s.barriers + s.threads, stages, thread);
  while (first < job.steps) {
    run_stage(job, first, thread, s.waves[lane]);
    first += s.wave.chunk_steps;
    lane = lane + 1 == stages ? 0 : lane + 1;
    barrier_wait(s.barriers + s.threads, stages, thread);
  }
  for (uint32_t wait = thread; wait + 1 < stages; ++wait) barrier_wait(s.barriers + s.threads, stages, thread);
}

void run_job(Job *job) {
  if (!kManyThreads) {
    run_thread(job, 0);
    return;
  }
  const Session &s = *job->session;
  const bool wave = s.wave.stages != 0 && job->steps >= s.wave.fewest_steps;
  job->threads = wave || job->steps < s.parallel_steps ? 1 : s.threads;
  if (wave || job->threads > 1) {
    s.executor.parallel(s.executor.ctx, wave ? run_wave_thread : run_thread, job);
  } else {
    run_thread(job, 0);
  }
  // Those who were not there, or worked alone, have counted other meetings.
  for (uint32_t i = 1; i < s.threads; ++i) s.barriers[i].epoch = s.barriers[0].epoch;
}

// --- Checks ----------------------------------------------------------------------------------------------------------------------

rnnp_status check_buffer(const Model &m, const BlobIo &io, const rnnp_buffer &b) {
  if (b.data == nullptr) return RNNP_OK;
  if (!is_aligned(b.data, 4)) return RNNP_E_ALIGN;
  const size_t bytes = row_bytes_of(m, io);
  const size_t row = b.row_stride_bytes ? b.row_stride_bytes : bytes;
  if (b.row_stride_bytes % 4 || b.step_stride_bytes % 4) return RNNP_E_ALIGN;
  if (row < bytes || (b.step_stride_bytes != 0 && b.step_stride_bytes < bytes)) return RNNP_E_ARG;
  return RNNP_OK;
}

bool lengths_fit(const int32_t *lengths, uint32_t batch, size_t steps) {
  for (uint32_t i = 0; i < batch; ++i) {
    if (lengths[i] < 0 || static_cast<size_t>(lengths[i]) > steps) return false;
  }
  return true;
}

// Every index of an i32 sequence input lies within its table.
bool indices_fit(const Session &s, const BlobIo &io, const rnnp_buffer &b, size_t steps, uint32_t batch) {
  if (io.limit == 0) return true;
  const uint32_t elems = s.model->values[io.value].row_elems;
  for (size_t step = 0; step < steps; ++step) {
    for (uint32_t row = 0; row < batch; ++row) {
      const int32_t *index = view_as<int32_t>(tensor_row(b, elems * sizeof(int32_t), batch, step, row));
      for (uint32_t i = 0; i < elems; ++i) {
        if (index[i] >= static_cast<int32_t>(io.limit) || index[i] < -static_cast<int32_t>(io.limit)) return false;
      }
    }
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
    status = check_buffer(m, m.inputs[i], io.inputs[i]);
    if (status == RNNP_OK && !indices_fit(s, m.inputs[i], io.inputs[i], io.steps, io.batch)) return RNNP_E_INDEX;
    if (status == RNNP_OK && m.inputs[i].role == RNNP_ROLE_LENGTHS && io.inputs[i].data != nullptr &&
        !lengths_fit(static_cast<const int32_t *>(io.inputs[i].data), io.batch, io.steps)) {
      return RNNP_E_SHAPE;
    }
  }
  for (uint32_t i = 0; i < m.outputs.count && status == RNNP_OK; ++i) status = check_buffer(m, m.outputs[i], io.outputs[i]);
  return status;
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

rnnp_status rnnp_run_io(rnnp_session *session, const rnnp_io *given) {
  constexpr size_t kFewestBytes = offsetof(rnnp_io, rows);
  if (!rnnp::is_session(session) || given == nullptr || given->struct_bytes < kFewestBytes) return RNNP_E_ARG;
  rnnp_io io = {};
  rnnp::copy_bytes(&io, given, given->struct_bytes < sizeof io ? kFewestBytes : sizeof io);
  const rnnp_status status = rnnp::check_io(*session, io);
  if (status != RNNP_OK) return status;
  if (io.rows != nullptr && !rnnp::rows_fit(session, io.rows, io.batch)) return RNNP_E_SHAPE;
  if (io.steps == 0) return RNNP_OK;
  rnnp::arrange_rows(session, io.rows, io.batch);
  rnnp::Job job = {session, io.inputs, io.outputs, io.lengths, io.steps, io.batch, io.flags, 1};
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
  rnnp::arrange_rows(session, nullptr, session->max_batch);
  const rnnp_buffer packed = {const_cast<void *>(x), 0, 0};
  if (!rnnp::indices_fit(*session, m.inputs[session->simple_input], packed, steps, session->max_batch)) return RNNP_E_INDEX;
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
  if (!session->single || !session->rows.in_order || x == nullptr || y == nullptr || !rnnp::is_aligned(x, 4) ||
      !rnnp::is_aligned(y, 4))
    return rnnp_run(session, 1, x, y);
  rnnp::run_single_step(session, x, y);
  return RNNP_OK;
}
