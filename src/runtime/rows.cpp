// rows.cpp -- which of the session's rows lie in which slots. Operators run slots 0 .. batch - 1; a call that names its rows has
// their states swapped into these first, so rows that are idle cost nothing and a set of rows that stays is not moved again.
// Touches the row map and the states. SPDX-License-Identifier: Apache-2.0
#include "runtime/session.h"

namespace rnnp {
namespace {

// As words: some of a state's elements are no floats.
void swap_elems(float *a, float *b, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t kept = read_word(a + i);
    write_word(a + i, read_word(b + i));
    write_word(b + i, kept);
  }
}

uint32_t *seen_of(const Session &s) {
  return s.rows.slot_of + size_t{2} * s.max_batch;
}

void swap_slots(Session *s, uint32_t a, uint32_t b) {
  for (uint32_t i = 0; i < s->model.states.count; ++i) {
    const StateSlot &state = s->states[i];
    float *base = state.buffer[state.live];
    swap_elems(base + size_t{a} * state.row_elems, base + size_t{b} * state.row_elems, state.row_elems);
  }
  uint32_t *slot_of = s->rows.slot_of, *row_at = slot_of + s->max_batch;
  const uint32_t row = row_at[a];
  row_at[a] = row_at[b];
  row_at[b] = row;
  slot_of[row_at[a]] = a;
  slot_of[row] = b;
}

}  // namespace

bool rows_fit(Session *s, const uint32_t *rows, uint32_t count) {
  RowMap &map = s->rows;
  uint32_t *seen = seen_of(*s);
  if (s->model.header->fixed_batch != 0) return false;
  if (++map.stamp == 0) {
    for (uint32_t i = 0; i < s->max_batch; ++i) seen[i] = 0;
    map.stamp = 1;
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (rows[i] >= s->max_batch || seen[rows[i]] == map.stamp) return false;
    seen[rows[i]] = map.stamp;
  }
  return true;
}

void arrange_rows(Session *s, const uint32_t *rows, uint32_t count) {
  RowMap &map = s->rows;
  if (rows == nullptr && !(s->detours & kRowsMoved)) return;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t from = map.slot_of[rows != nullptr ? rows[i] : i];
    if (from == i) continue;
    swap_slots(s, i, from);
    s->detours |= kRowsMoved;
  }
  if (rows == nullptr && count == s->max_batch) s->detours = static_cast<uint8_t>(s->detours & ~kRowsMoved);
}

}  // namespace rnnp
