// state.cpp -- reset, save and load the state of one batch row.
// Saved bytes are portable: a header, then every state's valid elements in the blob's order, little-endian f32
// (docs/BLOB_FORMAT.md). SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"
#include "format/crc32.h"
#include "runtime/session.h"

namespace rnnp {
namespace {

constexpr uint32_t kStateMagic = 0x53504e52u;  // the bytes "RNPS"
constexpr uint32_t kStateVersion = 2;

struct StateHeader {
  uint32_t magic;
  uint32_t version;
  uint64_t model_id;
  uint32_t bytes;  // of header and elements
  uint32_t crc;    // CRC-32 of the elements
};

float *state_row(const Session &s, uint32_t state, uint32_t row) {
  const StateSlot &slot = s.states[state];
  return slot.buffer[slot.live] + size_t{s.rows.slot_of[row]} * slot.row_elems;
}

}  // namespace

size_t saved_state_bytes(const Model &m) {
  size_t bytes = sizeof(StateHeader);
  for (uint32_t i = 0; i < m.states.count; ++i) bytes = add_sat(bytes, mul_sat(m.states[i].elems, sizeof(float)));
  return bytes;
}

void reset_state(const Session &s, uint32_t state, uint32_t row) {
  const BlobState &b = s.model.states[state];
  float *to = state_row(s, state, row);
  const size_t bytes = b.elems * sizeof(float);
  if (b.init == kNone) return zero_data(s.memory, to, bytes);
  const bool elsewhere = kDataElsewhere && s.memory != nullptr;
  const float *from = elsewhere ? s.memory->initial(s.memory, state) : s.model.weights(b.init);
  copy_data(s.memory, to, from + (b.per_row ? size_t{row} * b.elems : 0), bytes);
}

rnnp_status reset_rows(const Session &s, uint32_t row) {
  if (row != RNNP_ALL_ROWS && row >= s.max_batch) return RNNP_E_SHAPE;
  const uint32_t begin = row == RNNP_ALL_ROWS ? 0 : row;
  const uint32_t end = row == RNNP_ALL_ROWS ? s.max_batch : row + 1;
  for (uint32_t i = 0; i < s.model.states.count; ++i) {
    for (uint32_t r = begin; r < end; ++r) reset_state(s, i, r);
  }
  return RNNP_OK;
}

rnnp_status save_row(const Session &s, uint32_t row, void *dst, size_t bytes) {
  if (dst == nullptr) return RNNP_E_ARG;
  if (row >= s.max_batch) return RNNP_E_SHAPE;
  const Model &m = s.model;
  const size_t total = saved_state_bytes(m);
  if (bytes < total) return RNNP_E_SMALL_MEMORY;
  if (kManyThreads && (s.detours & kHandOver)) bring_states_up(s);
  uint8_t *to = static_cast<uint8_t *>(dst) + sizeof(StateHeader);
  for (uint32_t i = 0; i < m.states.count; ++i) {
    const size_t part = size_t{m.states[i].elems} * sizeof(float);
    read_data(s.memory, to, state_row(s, i, row), part);
    to += part;
  }
  const uint8_t *elems = static_cast<uint8_t *>(dst) + sizeof(StateHeader);
  const StateHeader h = {kStateMagic, kStateVersion, m.header->model_id, static_cast<uint32_t>(total),
                         crc32(0, elems, total - sizeof(StateHeader))};
  copy_bytes(dst, &h, sizeof h);
  return RNNP_OK;
}

rnnp_status load_row(const Session &s, uint32_t row, const void *src, size_t bytes) {
  if (src == nullptr) return RNNP_E_ARG;
  if (row >= s.max_batch) return RNNP_E_SHAPE;
  const Model &m = s.model;
  const size_t total = saved_state_bytes(m);
  if (bytes < total) return RNNP_E_SMALL_MEMORY;
  StateHeader h;
  copy_bytes(&h, src, sizeof h);
  const uint8_t *from = static_cast<const uint8_t *>(src) + sizeof h;
  if (h.magic != kStateMagic || h.version != kStateVersion || h.model_id != m.header->model_id || h.bytes != total ||
      h.crc != crc32(0, from, total - sizeof h)) {
    return RNNP_E_STATE_MISMATCH;
  }
  for (uint32_t i = 0; i < m.states.count; ++i) {
    const size_t part = size_t{m.states[i].elems} * sizeof(float);
    write_data(s.memory, state_row(s, i, row), from, part);
    from += part;
  }
  return RNNP_OK;
}

}  // namespace rnnp

rnnp_status rnnp_state_reset(rnnp_session *session, uint32_t row) {
  if (!rnnp::is_session(session)) return RNNP_E_ARG;
  const rnnp_status status = rnnp::reset_rows(*session, row);
  if (status == RNNP_OK) rnnp::states_written(session, rnnp::Held::kInitial);
  return status;
}

rnnp_status rnnp_state_save(const rnnp_session *session, uint32_t row, void *dst, size_t bytes) {
  return rnnp::is_session(session) ? rnnp::save_row(*session, row, dst, bytes) : RNNP_E_ARG;
}

rnnp_status rnnp_state_load(rnnp_session *session, uint32_t row, const void *src, size_t bytes) {
  if (!rnnp::is_session(session)) return RNNP_E_ARG;
  const rnnp_status status = rnnp::load_row(*session, row, src, bytes);
  if (status == RNNP_OK) rnnp::states_written(session, rnnp::Held::kOthers);
  return status;
}
