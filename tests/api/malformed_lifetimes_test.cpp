// malformed_lifetimes_test.cpp -- values whose memory is given away too early, or twice: refused.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>

#include "malformed_sample.h"

namespace {

using namespace rnnp_test;

// y -> a -> b -> c, c is an output. Where the places of a, b and c are, and whether that is legal.
rnnp_status chain(uint32_t a_at, uint32_t b_at, uint32_t c_at, const std::function<void(Sample *, const uint32_t *)> &change = {}) {
  Sample s;
  const uint32_t v[3] = {s.sequence(), s.sequence(), s.sequence()};
  const uint32_t base = s.value(v[0]).location, at[3] = {a_at, b_at, c_at};
  s.unary(s.y, v[0]);
  s.unary(v[0], v[1]);
  s.unary(v[1], v[2]);
  s.t.add_output(v[2]);
  for (int i = 0; i < 3; ++i) s.value(v[i]).location = base + at[i];
  if (change) change(&s, v);
  return make(s.t);
}

TEST(MalformedTables, MemoryIsSharedOneValueAfterTheOther) {
  EXPECT_EQ(RNNP_OK, chain(0, 16, 32));
  EXPECT_EQ(RNNP_OK, chain(0, 0, 16));  // in place
  EXPECT_EQ(RNNP_OK, chain(0, 16, 16));
  EXPECT_EQ(RNNP_OK, chain(0, 0, 0));
  EXPECT_EQ(RNNP_OK, chain(0, 16, 0));  // a's memory once more
}

TEST(MalformedTables, AValueThatIsStillReadKeepsItsMemory) {
  const auto read_again = [](Sample *s, const uint32_t *v) {
    const uint32_t sum = s->sequence();
    s->add(v[0], v[2], sum);
    s->t.add_output(sum);
  };
  EXPECT_EQ(RNNP_OK, chain(0, 16, 32, read_again));
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, chain(0, 0, 32, read_again));
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, chain(0, 16, 0, read_again));
}

TEST(MalformedTables, AnOutputKeepsItsMemoryToTheEnd) {
  const auto hand_out = [](Sample *s, const uint32_t *v) { s->t.add_output(v[0]); };
  EXPECT_EQ(RNNP_OK, chain(0, 16, 32, hand_out));
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, chain(0, 0, 16, hand_out));
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, chain(0, 16, 0, hand_out));
}

TEST(MalformedTables, ValuesThatLiveTogetherDoNotOverlapByAnElement) {
  for (const uint32_t elems : {15u, 16u, 17u, 33u}) {
    for (const bool upper_first : {true, false}) {
      Sample s;
      const uint32_t lower = s.sequence(elems), upper = s.sequence(6);
      s.t.header.sequence_pool_elems += 64;
      s.value(upper).location = s.value(lower).location + 32;
      const rnnp::AttrCopy copy = {1, {6}, {1}, {1}, 0, 0};
      s.t.add_node(OpKind::kCopy, copy, {s.y}, {upper_first ? upper : lower});
      s.t.add_node(OpKind::kCopy, copy, {s.y}, {upper_first ? lower : upper});
      s.t.add_output(lower);
      s.t.add_output(upper);
      EXPECT_EQ(elems <= 32 ? RNNP_OK : RNNP_E_BLOB_CORRUPT, make(s.t)) << elems << upper_first;
    }
  }
}

// A sum over the first operand: allowed where every element is read before it is written.
TEST(MalformedTables, ABinaryWritesOverAnOperandThatItReadsInOrder) {
  const auto sum = [](uint32_t which, uint32_t b_stride) {
    Sample s;
    const uint32_t a = s.sequence(), b = s.sequence(), y = s.sequence();
    s.unary(s.y, a);
    s.unary(s.y, b);
    s.add(a, b, y, b_stride);
    s.t.add_output(y);
    s.value(y).location = s.value(which == 0 ? a : b).location;
    return make(s.t);
  };
  EXPECT_EQ(RNNP_OK, sum(0, 1));
  EXPECT_EQ(RNNP_OK, sum(1, 1));
  EXPECT_EQ(RNNP_OK, sum(0, 0));
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, sum(1, 0));
}

TEST(MalformedTables, OtherOperatorsDoNotWorkInPlace) {
  for (const bool same_place : {false, true}) {
    Sample s;
    const uint32_t a = s.sequence(), y = s.sequence();
    s.unary(s.y, a);
    s.t.add_node(OpKind::kCopy, rnnp::AttrCopy{1, {6}, {-1}, {1}, 5, 0}, {a}, {y});
    s.t.add_output(y);
    if (same_place) s.value(y).location = s.value(a).location;
    EXPECT_EQ(same_place ? RNNP_E_BLOB_CORRUPT : RNNP_OK, make(s.t));
  }
}

TEST(MalformedTables, ANodeReadsWhatWasWrittenBeforeAndByOthers) {
  Sample later;  // read before it is written
  const uint32_t a = later.sequence(), b = later.sequence();
  later.unary(a, b);
  later.unary(later.y, a);
  later.t.add_output(b);
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, make(later.t));
  Sample own;  // its own result
  const uint32_t c = own.sequence();
  own.unary(own.y, c);
  own.unary(c, c);
  own.t.add_output(c);
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, make(own.t));
  Sample twice;  // one value as both final states
  twice.t.args[twice.t.nodes[0].output_first + 2] = twice.y_h;
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, make(twice.t));
}

// A row of the last chunk beside the steps of all chunks.
TEST(MalformedTables, ARowThatStepsReadLivesThroughAllChunks) {
  const auto blob = [](bool early, bool overlap) {
    Sample s;
    const uint32_t first = s.row(6, early), second = s.row(6, early), y = s.sequence();
    const uint32_t k = s.constant();
    s.t.add_node(OpKind::kCopy, rnnp::AttrCopy{1, {6}, {1}, {1}, 0, 0}, {k}, {first});
    s.add(s.y, first, y);
    s.t.add_node(OpKind::kCopy, rnnp::AttrCopy{1, {6}, {1}, {1}, 0, 0}, {k}, {second});  // after its last reader
    s.t.add_output(y);
    s.t.add_output(second);
    if (overlap) s.value(second).location = s.value(first).location;
    return make(s.t);
  };
  EXPECT_EQ(RNNP_OK, blob(true, false));
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, blob(true, true));
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, blob(false, false));  // made in the last chunk, read in the first
}

// An early row that a row of the last chunk is made from: what else the first chunk makes lies elsewhere.
TEST(MalformedTables, AnFirstChunkRowThatIsReadLateLivesThroughTheRun) {
  for (const bool overlap : {false, true}) {
    Sample s;
    const uint32_t k = s.constant(), e = s.row(6, true), late = s.row(), f = s.row(6, true), g = s.row(6, true);
    const rnnp::AttrCopy copy = {1, {6}, {1}, {1}, 0, 0};
    s.t.add_node(OpKind::kCopy, copy, {k}, {e});
    s.add(s.y_h, e, late);
    s.t.add_node(OpKind::kCopy, copy, {k}, {f});
    s.unary(f, g);
    s.t.add_output(late);
    s.t.add_output(g);
    if (overlap) s.value(f).location = s.value(e).location;
    EXPECT_EQ(overlap ? RNNP_E_BLOB_CORRUPT : RNNP_OK, make(s.t));
  }
}

// An early row that is given out, made after a row of the last chunk in the same memory: the last chunk writes over it.
TEST(MalformedTables, AnFirstChunkRowThatIsAnOutputLivesThroughTheRun) {
  for (const bool overlap : {false, true}) {
    Sample s;
    const uint32_t k = s.constant(), late = s.row(), sum = s.row(), e = s.row(6, true);
    s.unary(s.y_h, late);
    s.add(s.y_h, late, sum);
    s.t.add_node(OpKind::kCopy, rnnp::AttrCopy{1, {6}, {1}, {1}, 0, 0}, {k}, {e});
    s.t.add_output(sum);
    s.t.add_output(e);
    if (overlap) s.value(e).location = s.value(late).location;
    EXPECT_EQ(overlap ? RNNP_E_BLOB_CORRUPT : RNNP_OK, make(s.t));
  }
}

// Rows of the first chunk, one made over the other; the last is an output, which the whole run keeps.
TEST(MalformedTables, FirstChunkRowsAreMadeInPlaceToo) {
  for (const bool still_read : {false, true}) {
    Sample s;
    const uint32_t k = s.constant(), a = s.row(6, true), b = s.row(6, true), c = s.row(6, true);
    s.t.add_node(OpKind::kCopy, rnnp::AttrCopy{1, {6}, {1}, {1}, 0, 0}, {k}, {a});
    s.unary(a, b);
    if (still_read)
      s.add(a, b, c);
    else
      s.unary(b, c);
    s.t.add_output(c);
    s.value(b).location = s.value(c).location = s.value(a).location;
    EXPECT_EQ(still_read ? RNNP_E_BLOB_CORRUPT : RNNP_OK, make(s.t));
  }
}

TEST(MalformedTables, AValueThatWasBegunTakesNoOtherPlace) {
  for (const bool same_place : {false, true}) {
    Sample s;
    const uint32_t a = s.sequence(), y = s.sequence();
    s.unary(s.y, a);
    s.unary(s.y, y);  // y lives before a ends
    s.unary(a, y);
    s.t.add_output(y);
    if (same_place) s.value(y).location = s.value(a).location;
    EXPECT_EQ(same_place ? RNNP_E_BLOB_CORRUPT : RNNP_OK, make(s.t));
  }
}

TEST(MalformedTables, AnFirstChunkRowIsMadeFromWhatTheFirstChunkHas) {
  for (const bool early : {false, true}) {
    Sample s;
    const uint32_t y = s.row(6, early);
    s.unary(s.y_h, y);  // y_h comes with the last chunk
    s.t.add_output(y);
    EXPECT_EQ(early ? RNNP_E_BLOB_CORRUPT : RNNP_OK, make(s.t));
    Sample final_state;
    final_state.value(final_state.y_h).early = early;
    EXPECT_EQ(early ? RNNP_E_BLOB_CORRUPT : RNNP_OK, make(final_state.t));
  }
}

}  // namespace
