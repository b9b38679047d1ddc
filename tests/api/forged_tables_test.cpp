// forged_tables_test.cpp -- tables that fit in their sections and mean nothing: each rule of docs/BLOB_FORMAT.md about what a
// value, an operand, an output or a state may be is broken alone, and refused. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>

#include "support/blob_tables.h"
#include "support/session_fixture.h"

namespace {

using namespace rnnp_test;
using rnnp::kNone;
using rnnp::OpKind;
using rnnp::ValueKind;

rnnp_status open(const BlobTables &t) {
  const AlignedBytes blob(t.bytes());
  rnnp_model model;
  return rnnp_model_open(&model, blob.data(), blob.size(), RNNP_OPEN_CHECK_WEIGHTS);
}

// Open and make a session; RNNP_OK from a session that also runs, with everything optional left out.
rnnp_status make(const BlobTables &t, uint32_t batch = 2) {
  const AlignedBytes blob(t.bytes());
  rnnp_model model;
  rnnp_status status = rnnp_model_open(&model, blob.data(), blob.size(), 0);
  if (status != RNNP_OK) return status;
  rnnp_session_options o;
  rnnp_session_options_init(&o, sizeof o);
  o.max_batch = batch;
  o.max_steps = 3;
  rnnp_memory need = RNNP_MEMORY_INIT;
  status = rnnp_session_memory(&model, &o, &need);
  if (status != RNNP_OK) return status;
  AlignedBytes memory(need.session_bytes);
  rnnp_session *session = nullptr;
  status = rnnp_session_init(&session, &model, &o, memory.data(), memory.size());
  if (status != RNNP_OK) return status;
  const std::vector<float> x(size_t{3} * batch * 64, 0.25f);
  std::vector<rnnp_buffer> inputs(t.inputs.size()), outputs(t.outputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool required = t.inputs[i].role <= RNNP_ROLE_ROW;
    if (required) inputs[i].data = const_cast<float *>(x.data());
  }
  rnnp_io io = RNNP_IO_INIT;
  io.steps = 3;
  io.batch = batch;
  io.input_count = static_cast<uint32_t>(inputs.size());
  io.output_count = static_cast<uint32_t>(outputs.size());
  io.inputs = inputs.data();
  io.outputs = outputs.data();
  return rnnp_run_io(session, &io);
}

// x -> LSTM with every optional operand -> y, y_h; a row that is a copy of y_h's first step.
struct Sample {
  uint32_t x, h0, c0, lengths, y, y_h;
  BlobTables t;
  Sample() {
    BlobBuilder b(11);
    x = b.add_input(6);
    h0 = b.add_state_input(6, "h0");
    c0 = b.add_state_input(6, "c0");
    lengths = b.add_lengths_input();
    RecurrentOptions lstm;
    lstm.hidden = 6;
    y = b.add_recurrent(x, 6, lstm, &y_h, nullptr, {h0, c0, lengths});
    b.add_output(y);
    t = BlobTables(b.build());
  }
  uint32_t sequence(uint32_t elems = 6) {
    const uint32_t at = t.header.sequence_pool_elems;
    t.header.sequence_pool_elems += (elems + 15) / 16 * 16;
    return t.add_value({uint32_t(ValueKind::kSequence), 0, elems, at, 1, 0});
  }
  uint32_t row(uint32_t elems = 6, bool early = false) {
    const uint32_t at = t.header.row_pool_elems;
    t.header.row_pool_elems += (elems + 15) / 16 * 16;
    return t.add_value({uint32_t(ValueKind::kRow), 0, elems, at, 0, early ? 1u : 0u});
  }
  uint32_t constant(uint32_t elems = 6) {
    const uint32_t at = static_cast<uint32_t>(t.weights.size());
    t.weights.resize(at + (elems * 4 + 63) / 64 * 64);
    return t.add_value({uint32_t(ValueKind::kConst), 0, elems, at, 0, 0});
  }
  void unary(uint32_t in, uint32_t out) {
    t.add_node(OpKind::kUnary, rnnp::AttrUnary{{uint32_t(rnnp::Act::kTanh), 0, 0}}, {in}, {out});
  }
  // out = a + b; b_stride 0: its first element for all.
  void add(uint32_t a, uint32_t b, uint32_t out, uint32_t b_stride = 1) {
    t.add_node(OpKind::kBinary, rnnp::AttrBinary{uint32_t(rnnp::Binary::kAdd), 1, {6}, {1}, {b_stride}}, {a, b}, {out});
  }
  rnnp::BlobValue &value(uint32_t v) { return t.values[v]; }
  uint32_t &arg(size_t node, uint32_t i) { return t.args[t.nodes[node].input_first + i]; }
};

TEST(ForgedTables, TheSampleItselfRuns) {
  EXPECT_EQ(RNNP_OK, make(Sample().t));
}

// --- Inputs that may be left out
// ---------------------------------------------------------------------------------------------------

TEST(ForgedTables, AnOptionalInputIsNoOrdinaryOperand) {
  for (const bool state : {true, false}) {
    Sample s;
    const uint32_t v = state ? s.h0 : s.lengths, y = s.row(s.value(v).row_elems);
    s.unary(v, y);
    s.t.add_output(y);
    EXPECT_EQ(RNNP_E_BLOB_CORRUPT, open(s.t)) << state;
  }
  Sample s;
  const uint32_t y = s.sequence();
  s.add(s.y, s.h0, y);
  s.t.add_output(y);
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, open(s.t));
}

TEST(ForgedTables, AnOptionalInputStandsInItsOwnPlaceAlone) {
  for (uint32_t place = 0; place < 4; ++place) {
    const Sample s;
    for (const uint32_t v : {s.x, s.h0, s.c0, s.lengths}) {
      Sample changed;
      changed.arg(0, place) = v;
      const bool state = (place == 1 || place == 2) && (v == s.h0 || v == s.c0);  // h0 and c0 may stand for one another
      const bool good = state || (place == 0 && v == s.x) || (place == 3 && v == s.lengths);
      EXPECT_EQ(good ? RNNP_OK : RNNP_E_BLOB_CORRUPT, make(changed.t)) << place << " " << v;
      EXPECT_EQ(good || v == s.x, open(changed.t) == RNNP_OK) << place << " " << v;  // the reader alone knows the rule
    }
  }
}

TEST(ForgedTables, LengthsOfAKeptStateAreALengthsInput) {
  const auto blob = [](uint32_t which) {
    BlobBuilder b(3);
    const uint32_t x = b.add_input(4), h0 = b.add_state_input(4, "h0"), lengths = b.add_lengths_input();
    uint32_t state;
    b.add_output(b.add_state_read(4, &state));
    b.add_state_write(state, x);
    BlobTables t(b.build());
    const uint32_t choice[] = {kNone, lengths, h0, x};
    t.args[t.nodes[1].input_first + 1] = choice[which];
    return t;
  };
  EXPECT_EQ(RNNP_OK, make(blob(0)));
  EXPECT_EQ(RNNP_OK, make(blob(1)));
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, open(blob(2)));
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, make(blob(3)));
}

TEST(ForgedTables, LengthsHaveNoLimit) {
  Sample s;
  s.t.inputs[3].limit = 5;
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, open(s.t));
}

TEST(ForgedTables, TheAxesOfATensorMakeItsRow) {
  for (const int32_t dim : {5, 7, 0, -3, INT32_MAX, INT32_MIN}) {
    for (const bool input : {true, false}) {
      Sample s;
      rnnp::BlobIo &io = input ? s.t.inputs[0] : s.t.outputs[0];
      io.dims[2] = dim;
      EXPECT_EQ(RNNP_E_BLOB_CORRUPT, open(s.t)) << dim;
    }
  }
  Sample s;  // the product passes 2^64
  s.t.inputs[0].rank = 8;
  for (int32_t &dim : s.t.inputs[0].dims) dim = 1 << 16;
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, open(s.t));
  s.t.inputs[0].rank = 9;
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, open(s.t));
}

// --- Outputs
// -------------------------------------------------------------------------------------------------------------------------

TEST(ForgedTables, AnOutputIsAValueThatANodeMakes) {
  Sample s;
  for (const uint32_t v : {s.x, s.h0, s.lengths, s.constant()}) {
    Sample forged;
    forged.constant();
    forged.t.add_output(v);
    EXPECT_EQ(RNNP_E_BLOB_CORRUPT, open(forged.t)) << v;
  }
  Sample nobody;
  nobody.t.add_output(nobody.row());
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, make(nobody.t));
}

TEST(ForgedTables, AValueIsOneOutputAtMost) {
  for (const bool sequence : {true, false}) {
    Sample s;
    const uint32_t v = sequence ? s.y : s.y_h;
    if (!sequence) s.t.add_output(v);
    EXPECT_EQ(RNNP_OK, make(s.t));
    s.t.add_output(v);
    EXPECT_EQ(RNNP_E_BLOB_CORRUPT, make(s.t)) << sequence;
  }
}

// --- Lifetimes
// -------------------------------------------------------------------------------------------------------------------------

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

TEST(ForgedTables, MemoryIsSharedOneValueAfterTheOther) {
  EXPECT_EQ(RNNP_OK, chain(0, 16, 32));
  EXPECT_EQ(RNNP_OK, chain(0, 0, 16));  // in place
  EXPECT_EQ(RNNP_OK, chain(0, 16, 16));
  EXPECT_EQ(RNNP_OK, chain(0, 0, 0));
  EXPECT_EQ(RNNP_OK, chain(0, 16, 0));  // a's memory once more
}

TEST(ForgedTables, AValueThatIsStillReadKeepsItsMemory) {
  const auto read_again = [](Sample *s, const uint32_t *v) {
    const uint32_t sum = s->sequence();
    s->add(v[0], v[2], sum);
    s->t.add_output(sum);
  };
  EXPECT_EQ(RNNP_OK, chain(0, 16, 32, read_again));
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, chain(0, 0, 32, read_again));
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, chain(0, 16, 0, read_again));
}

TEST(ForgedTables, AnOutputKeepsItsMemoryToTheEnd) {
  const auto hand_out = [](Sample *s, const uint32_t *v) { s->t.add_output(v[0]); };
  EXPECT_EQ(RNNP_OK, chain(0, 16, 32, hand_out));
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, chain(0, 0, 16, hand_out));
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, chain(0, 16, 0, hand_out));
}

TEST(ForgedTables, ValuesThatLiveTogetherDoNotOverlapByAnElement) {
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
TEST(ForgedTables, ABinaryWritesOverAnOperandThatItReadsInOrder) {
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

TEST(ForgedTables, OtherOperatorsDoNotWorkInPlace) {
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

TEST(ForgedTables, ANodeReadsWhatWasWrittenBeforeAndByOthers) {
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
TEST(ForgedTables, ARowThatStepsReadLivesThroughAllChunks) {
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
TEST(ForgedTables, AnEarlyRowThatIsReadLateLivesThroughTheRun) {
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

// Rows of the first chunk, one made over the other; the last is an output, which the whole run keeps.
TEST(ForgedTables, EarlyRowsAreMadeInPlaceToo) {
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

TEST(ForgedTables, AValueThatWasBegunTakesNoOtherPlace) {
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

TEST(ForgedTables, AnEarlyRowIsMadeFromWhatTheFirstChunkHas) {
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

// --- States
// --------------------------------------------------------------------------------------------------------------------------

BlobTables two_directions(rnnp::Cell cell) {
  BlobBuilder b(5);
  RecurrentOptions o;
  o.cell = cell;
  o.hidden = 6;
  o.bidirectional = true;
  const uint32_t x = b.add_input(4), y = b.add_recurrent(x, 4, o);
  o.bidirectional = false;
  o.reverse = true;
  b.add_output(b.add_recurrent(y, 12, o));
  return BlobTables(b.build());
}

TEST(ForgedTables, NoTwoLayersOrDirectionsShareAState) {
  EXPECT_EQ(RNNP_OK, make(two_directions(rnnp::Cell::kLstm)));
  EXPECT_EQ(RNNP_OK, make(two_directions(rnnp::Cell::kGru)));
  for (uint32_t owner = 0; owner < 6; ++owner) {  // h and c of three directions
    for (uint32_t state = 0; state < 6; ++state) {
      if (state == owner) continue;
      BlobTables t = two_directions(rnnp::Cell::kLstm);
      auto a = t.attr<rnnp::AttrRecurrent>(t.nodes[owner / 4]);
      rnnp::BlobDirection &d = a.direction[owner / 2 % 2];
      (owner % 2 == 0 ? d.state_h : d.state_c) = state;
      t.set_attr(t.nodes[owner / 4], a);
      EXPECT_EQ(RNNP_E_BLOB_CORRUPT, make(t)) << owner << " " << state;
    }
  }
}

// h is read while it is written, c is not: one buffer too few would be a race, one too many is memory for nothing.
TEST(ForgedTables, AStateOfALayerHasTheBuffersItNeeds) {
  const BlobTables good = two_directions(rnnp::Cell::kLstm);
  for (size_t i = 0; i < good.states.size(); ++i) {
    BlobTables t = good;
    EXPECT_EQ(i % 2 == 0 ? 2u : 1u, t.states[i].buffers);  // h and c by turns
    t.states[i].buffers = 3 - t.states[i].buffers;
    EXPECT_EQ(RNNP_E_BLOB_CORRUPT, make(t)) << i;
  }
}

TEST(ForgedTables, AKeptStateIsNoLayersOwn) {
  BlobBuilder b(2);
  const uint32_t x = b.add_input(5);
  const uint32_t own = b.add_kept(5);
  const rnnp::AttrTimeStep last = {1, own};
  b.add_output(b.add_node(OpKind::kTimeStep, &last, sizeof last, {x}, 5, false));
  uint32_t kept;
  b.add_output(b.add_state_read(5, &kept));
  BlobTables t(b.build());
  EXPECT_EQ(RNNP_OK, make(t));
  t.set_attr(t.nodes[1], rnnp::AttrState{own});
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, make(t));
}

// first + stride x (H - 1) passes 2^32 and comes out small.
TEST(ForgedTables, AnInitialStateBeyondTwoToThe32IsRefused) {
  const rnnp::BlobStrided wraps[] = {{0xffffffffu, 1}, {0, 0x33333334u}, {4, 0xccccccccu}, {1, 1}};
  for (const rnnp::BlobStrided &at : wraps) {
    for (const bool h : {true, false}) {
      Sample s;
      auto a = s.t.attr<rnnp::AttrRecurrent>(s.t.nodes[0]);
      (h ? a.direction[0].init_h : a.direction[0].init_c) = at;
      s.t.set_attr(s.t.nodes[0], a);
      EXPECT_EQ(RNNP_E_BLOB_CORRUPT, make(s.t)) << at.first << " " << at.stride;
    }
  }
}

// --- Places and sizes
// ------------------------------------------------------------------------------------------------------------------

TEST(ForgedTables, AConstantLiesInTheWeights) {
  Sample s;
  const uint32_t k = s.constant(), y = s.sequence();
  s.add(s.y, k, y);
  s.t.add_output(y);
  EXPECT_EQ(RNNP_OK, make(s.t));
  const uint32_t good = s.value(k).location, end = static_cast<uint32_t>(s.t.weights.size());
  for (const uint32_t at : {good + 4, good + 32, end, end + 64, 0x80000000u, 0xffffffc0u}) {
    s.value(k).location = at;
    EXPECT_EQ(RNNP_E_BLOB_CORRUPT, open(s.t)) << at;
  }
  s.value(k).location = good;
  for (const uint32_t elems : {17u, 0x40000000u, 0x40000001u, 0xffffffffu}) {  // four bytes each
    s.value(k).row_elems = elems;
    EXPECT_EQ(RNNP_E_BLOB_CORRUPT, open(s.t)) << elems;
  }
}

TEST(ForgedTables, StringsEndWithinTheirSection) {
  Sample s;
  s.t.strings.push_back('x');
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, open(s.t));
  s.t.strings.push_back(0);
  EXPECT_EQ(RNNP_OK, open(s.t));
  const uint32_t end = static_cast<uint32_t>(s.t.strings.size());
  for (const uint32_t at : {end, end + 1, 0xffffffffu}) {
    uint32_t *const names[] = {&s.t.inputs[0].name, &s.t.outputs[0].name, &s.t.states[0].name, &s.t.nodes[0].name};
    for (uint32_t *name : names) {
      const uint32_t kept = *name;
      *name = at;
      EXPECT_EQ(RNNP_E_BLOB_CORRUPT, open(s.t)) << at;
      *name = kept;
    }
  }
  s.t.inputs[0].name = end - 1;
  EXPECT_EQ(RNNP_OK, open(s.t));
  s.t.strings.clear();
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, open(s.t));
}

TEST(ForgedTables, TablesAsLongAsTheirLimitOpenAndLongerOnesDoNot) {
  const auto fill = [](auto member, size_t limit) {
    BlobTables t = Sample().t;
    auto &rows = t.*member;
    rows.resize(limit, rows.back());
    EXPECT_EQ(RNNP_OK, open(t)) << limit;
    rows.push_back(rows.back());
    EXPECT_EQ(RNNP_E_BLOB_CORRUPT, open(t)) << limit;
  };
  fill(&BlobTables::nodes, rnnp::kBlobMaxNodes);
  fill(&BlobTables::values, rnnp::kBlobMaxValues);
  fill(&BlobTables::states, rnnp::kBlobMaxStates);
}

TEST(ForgedTables, ANodeNamesAFewValues) {
  const auto blob = [](uint32_t inputs, uint32_t outputs) {
    Sample s;
    std::vector<uint32_t> in(inputs, kNone), out(outputs, kNone);
    in[0] = s.y;
    out[0] = s.sequence();
    s.t.add_node(OpKind::kUnary, rnnp::AttrUnary{{uint32_t(rnnp::Act::kTanh), 0, 0}}, in, out);
    s.t.add_output(out[0]);
    return s.t;
  };
  EXPECT_EQ(RNNP_OK, make(blob(rnnp::kBlobMaxNodeInputs, rnnp::kBlobMaxNodeOutputs)));
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, open(blob(rnnp::kBlobMaxNodeInputs + 1, 1)));
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, open(blob(1, rnnp::kBlobMaxNodeOutputs + 1)));
}

}  // namespace
