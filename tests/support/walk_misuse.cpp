// walk_misuse.cpp -- the calls of a walk that must be refused and change nothing, and the options that may be refused. See walk.h.
// SPDX-License-Identifier: Apache-2.0
#define RNNP_NODISCARD
#include <cstddef>
#include <cstring>

#include "support/session_fixture.h"
#include "support/walk.h"

namespace rnnp_test {

void Call::expect_untouched() const {
  for (const CallTensor &t : out)
    if (t.given() && !t.shared() && !t.untouched()) throw Wrong("a call that did nothing wrote an output");
}

void Walk::draw_wild(rnnp_session_options *o, rnnp_executor *executor) {
  o->max_steps = c_.of({rules_.most_steps, rules_.most_steps, 3u, 1u});
  o->isa_allowed = c_.of({0u, 0u, RNNP_ISA_REFERENCE_ONLY, 0x7fu});
  o->flags = c_.of({0u, RNNP_SESSION_ALL_THREADS, RNNP_SESSION_PORTABLE_OPS, RNNP_SESSION_ALL_XNNPACK | RNNP_SESSION_ALL_THREADS});
  switch (c_.below(48)) {
    case 1:
      o->max_batch = c_.of({0u, RNNP_MAX_BATCH, RNNP_MAX_BATCH + 1, 0xffffffffu});
      break;
    case 2:
      o->max_steps = c_.of({0u, RNNP_MAX_STEPS, RNNP_MAX_STEPS + 1, 0xffffffffu});
      break;
    case 3:
      o->chunk_steps = c_.of({RNNP_MAX_CHUNK_STEPS, RNNP_MAX_CHUNK_STEPS + 1, 0xffffffffu});
      break;
    case 4:
      o->flags = c_.word();
      break;
    case 5:
      o->struct_bytes = c_.of({0u, 3u, 4u, 8u, 0xffffffffu});
      break;
    case 6:
      executor->threads = c_.of({0u, 1u, 2u, 1025u});
      o->executor = executor;
      break;
  }
}

void Walk::misuse_init(const rnnp_session_options *options, uint8_t *memory, size_t bytes) {
  rnnp_session *session = nullptr;
  rnnp_memory need = RNNP_MEMORY_INIT;
  switch (c_.below(64)) {
    case 1:
      return expect_refused(rnnp_session_init(nullptr, model_, options, memory, bytes), "no handle");
    case 2:
      return expect_refused(rnnp_session_init(&session, nullptr, options, memory, bytes), "a session of no model");
    case 3:
      return expect_refused(rnnp_session_init(&session, model_, options, nullptr, bytes), "a session in no memory");
    case 4:
      return expect_refused(rnnp_session_init(&session, model_, options, memory + 4, bytes - 4), "memory that is not aligned");
    case 5:
      return expect_refused(rnnp_session_init(&session, model_, options, memory, bytes - 1), "a byte too few");
    case 6:
      return expect_refused(rnnp_session_memory(nullptr, options, &need), "the memory of no model");
    case 7:
      return expect_refused(rnnp_session_memory(model_, options, nullptr), "memory facts into nothing");
  }
}

// The words for a refusal and the refusal itself agree, and what is named exists.
rnnp_status Walk::explain_and_init(rnnp_session **session, const rnnp_session_options *options, uint8_t *memory, size_t bytes) {
  if (!c_.once_in(16)) return rnnp_session_init(session, model_, options, memory, bytes);
  rnnp_refusal refusal = RNNP_REFUSAL_INIT;
  const rnnp_status told = rnnp_session_explain(model_, options, memory, bytes, &refusal);
  const rnnp_status made = rnnp_session_init(session, model_, options, memory, bytes);
  if (told != made || refusal.status != made) throw Wrong("rnnp_session_explain and rnnp_session_init differ");
  if (refusal.node != RNNP_NO_NODE && refusal.node >= info_.node_count) throw Wrong("a refusal names a node that is not there");
  if (std::strlen(refusal.reason) == 0 || std::strlen(refusal.op) + std::strlen(refusal.node_name) > SIZE_MAX / 2)
    throw Wrong("a refusal has no words");
  return made;
}

// rnnp_run and rnnp_step with tensors of a call with strides.
void Walk::misuse_plain(const Call &call) {
  rnnp_session *session = places_[call.session].session;
  uint8_t *x = take(4), *y = take(4);
  if (x == nullptr || y == nullptr) return;
  expect_refused(rnnp_run(nullptr, 1, x, y), "a run of no session");
  expect_refused(rnnp_step(nullptr, x, y), "a step of no session");
  if (x_ == SIZE_MAX) return expect_refused(rnnp_run(session, 1, x, y), "a run of a model with other inputs");
  if (info_.causal == 0) expect_refused(rnnp_step(session, x, y), "a step of a model that is not causal");
  expect_refused(rnnp_run(session, 1, nullptr, y), "a run without an input");
  expect_refused(rnnp_run(session, 1, x, nullptr), "a run without an output");
  expect_refused(rnnp_run(session, 1, x + 1, y), "an input that is not aligned");
  expect_refused(rnnp_run(session, 1, x, y + 2), "an output that is not aligned");
}

// A call that is right but for one thing.
void Walk::misuse_call() {
  Call call;
  if (!draw_call(&call, false) || call.steps == 0) return;
  rnnp_session *session = places_[call.session].session;
  const Place &place = places_[call.session];
  CallIo g(call, streams_, false, &memory_);
  rnnp_io &io = g.io;
  const uint32_t batch = io.batch, kind = c_.below(14);
  const size_t in = call.in.empty() ? 0 : c_.below(static_cast<uint32_t>(call.in.size()));
  const size_t out = call.out.empty() ? 0 : c_.below(static_cast<uint32_t>(call.out.size()));
  const bool has_in = in < call.in.size() && call.in[in].given(), has_out = out < call.out.size() && call.out[out].given();
  std::vector<int32_t> lengths(batch, 0);
  std::vector<uint32_t> rows = g.rows;
  rnnp_io *given = &io;
  if (kind == 0) {
    io.batch = c_.once_in(2) ? 0 : static_cast<uint32_t>(place.rows.size()) + 1;
  } else if (kind == 1) {
    lengths.back() = c_.once_in(2) ? static_cast<int32_t>(call.steps) + 1 : -1;
    io.lengths = lengths.data();
  } else if (kind == 2 && has_in) {
    const size_t less = inputs_[in].row_elems * sizeof(float) - sizeof(float);
    g.in[in].row_stride_bytes = less == 0 ? 2 : less;
  } else if (kind == 3 && has_out && batch > 1) {
    g.out[out].row_stride_bytes = SIZE_MAX / 4 * 4;
  } else if (kind == 4 && has_out) {
    g.out[out].data = static_cast<uint8_t *>(g.out[out].data) + 2;
  } else if (kind == 5) {
    rows.back() = c_.once_in(2) || batch == 1 ? static_cast<uint32_t>(place.rows.size()) : rows.front();
    io.rows = rows.data();
  } else if (kind == 6 && has_in && inputs_[in].role <= RNNP_ROLE_PER_RUN) {
    g.in[in].data = nullptr;
  } else if (kind == 7) {
    (c_.once_in(2) ? io.input_count : io.output_count) += 1;
  } else if (kind == 8 && has_in && inputs_[in].limit != 0) {  // in the last row
    call.in[in].row(call.steps - 1, batch - 1)[inputs_[in].row_elems - 1] = inputs_[in].limit;
  } else if (kind == 9) {
    io.struct_bytes = c_.of({0u, 4u, 8u});
  } else if (kind == 10) {
    io.buffer_bytes = c_.of({0u, 4u, uint32_t(sizeof(rnnp_buffer)) - 1, 0xffffffffu});
  } else if (kind == 11 && !(g.in.empty() && g.out.empty())) {
    if (!g.in.empty()) io.inputs = nullptr;
    if (!g.out.empty() && (g.in.empty() || c_.once_in(2))) io.outputs = nullptr;
  } else if (kind == 12) {
    c_.once_in(2) ? (void)(session = nullptr) : (void)(given = nullptr);
  } else if (kind == 13) {
    return misuse_plain(call);
  } else {
    io.flags |= c_.word() | 0x80000000u;
  }
  say("misuse(" + std::to_string(kind) + ")");
  expect_refused(rnnp_run_io(session, given), "a wrong call");
  call.expect_untouched();
}

void Walk::misuse_state() {
  const Stream &one = streams_[c_.below(static_cast<uint32_t>(streams_.size()))];
  const Place &place = places_[one.session];
  const uint32_t none = c_.of({static_cast<uint32_t>(place.rows.size()), 0xfffffffeu});
  const size_t bytes = place.need.state_bytes;
  uint8_t *at = take(bytes);
  if (at == nullptr) return;
  say("misuse of states");
  expect_refused(rnnp_state_save(nullptr, one.row, at, bytes), "a state of no session");
  expect_refused(rnnp_state_save(place.session, one.row, nullptr, bytes), "a state into nothing");
  expect_refused(rnnp_state_save(place.session, one.row, at, bytes - 1), "a state into too few bytes");
  expect_refused(rnnp_state_save(place.session, none, at, bytes), "a state of no row");
  std::memset(at, 0x11, bytes);
  expect_refused(rnnp_state_load(place.session, one.row, at, bytes), "a state that is none");
  expect_ok(rnnp_state_save(place.session, one.row, at, bytes), "save");
  expect_refused(rnnp_state_load(nullptr, one.row, at, bytes), "a state into no session");
  expect_refused(rnnp_state_load(place.session, one.row, nullptr, bytes), "no state");
  expect_refused(rnnp_state_load(place.session, one.row, at, bytes - 1), "a part of a state");
  expect_refused(rnnp_state_load(place.session, none, at, bytes), "a state into no row");
  expect_refused(rnnp_state_reset(nullptr, one.row), "a reset of no session");
  expect_refused(rnnp_state_reset(place.session, none), "a reset of no row");
}

}  // namespace rnnp_test
