// malformed_tables_test.cpp -- tables that fit in their sections and mean nothing: each rule of docs/BLOB_FORMAT.md about what a
// value, an operand, an output or a state may be is broken alone, and refused. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "malformed_sample.h"

namespace malformed_tables_test {

using namespace rnnp_test;

rnnp_status open(const BlobTables &t) {
  const AlignedBytes blob(t.bytes());
  rnnp_model model;
  return rnnp_model_open(&model, blob.data(), blob.size(), RNNP_OPEN_CHECK_WEIGHTS);
}

TEST(MalformedTables, TheSampleItselfRuns) {
  EXPECT_EQ(RNNP_OK, make(Sample().t));
}

// --- Inputs that may be left out
// ---------------------------------------------------------------------------------------------------

TEST(MalformedTables, AnOptionalInputIsNoOrdinaryOperand) {
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

TEST(MalformedTables, AnOptionalInputStandsInItsOwnPlaceAlone) {
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

TEST(MalformedTables, LengthsOfAPersistentStateAreALengthsInput) {
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

TEST(MalformedTables, LengthsHaveNoLimit) {
  Sample s;
  s.t.inputs[3].limit = 5;
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, open(s.t));
}

TEST(MalformedTables, TheAxesOfATensorMakeItsRow) {
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

// --- States
// --------------------------------------------------------------------------------------------------------------------------

// Of a model of one batch size a state may begin with other numbers in each row: all of them lie in the weights.
TEST(MalformedTables, InitialStatesOfEachRowLieInTheWeights) {
  constexpr uint32_t kBatch = 4;
  for (const size_t rows : {size_t{0}, size_t{1}, size_t{kBatch - 1}, size_t{kBatch}}) {
    for (const uint32_t per_row : {0u, 1u}) {
      Sample s;
      s.t.header.fixed_batch = kBatch;
      rnnp::BlobState &state = s.t.states[0];
      state.elems = 16;  // a row is a line of the weights
      state.init = static_cast<uint32_t>(s.t.weights.size());
      s.t.weights.resize(s.t.weights.size() + rows * state.elems * sizeof(float));
      state.per_row = per_row;
      EXPECT_EQ(rows >= (per_row ? kBatch : 1), open(s.t) == RNNP_OK) << rows << ' ' << per_row;
    }
  }
  Sample any;  // any batch size has no such rows
  any.t.states[0].init = 0;
  any.t.states[0].per_row = 1;
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, open(any.t));
}

TEST(MalformedTables, WordsOfAStateLeaveRoomForANumber) {
  for (const uint32_t fewer : {0u, 1u}) {
    Sample s;
    s.t.states[0].words = s.t.states[0].elems - fewer;
    EXPECT_EQ(fewer == 0 ? RNNP_E_BLOB_CORRUPT : RNNP_OK, open(s.t)) << fewer;
  }
}

// --- Outputs
// -------------------------------------------------------------------------------------------------------------------------

TEST(MalformedTables, AnOutputIsAValueThatANodeMakes) {
  Sample s;
  for (const uint32_t v : {s.x, s.h0, s.lengths, s.constant()}) {
    Sample malformed;
    malformed.constant();
    malformed.t.add_output(v);
    EXPECT_EQ(RNNP_E_BLOB_CORRUPT, open(malformed.t)) << v;
  }
  Sample nobody;
  nobody.t.add_output(nobody.row());
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, make(nobody.t));
}

TEST(MalformedTables, AValueIsOneOutputAtMost) {
  for (const bool sequence : {true, false}) {
    Sample s;
    const uint32_t v = sequence ? s.y : s.y_h;
    if (!sequence) s.t.add_output(v);
    EXPECT_EQ(RNNP_OK, make(s.t));
    s.t.add_output(v);
    EXPECT_EQ(RNNP_E_BLOB_CORRUPT, make(s.t)) << sequence;
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

TEST(MalformedTables, NoTwoLayersOrDirectionsShareAState) {
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
TEST(MalformedTables, AStateOfALayerHasTheBuffersItNeeds) {
  const BlobTables good = two_directions(rnnp::Cell::kLstm);
  for (size_t i = 0; i < good.states.size(); ++i) {
    BlobTables t = good;
    EXPECT_EQ(i % 2 == 0 ? 2u : 1u, t.states[i].buffers);  // h and c by turns
    t.states[i].buffers = 3 - t.states[i].buffers;
    EXPECT_EQ(RNNP_E_BLOB_CORRUPT, make(t)) << i;
  }
}

TEST(MalformedTables, APersistentStateIsNoLayersOwn) {
  BlobBuilder b(2);
  const uint32_t x = b.add_input(5);
  const uint32_t own = b.add_persistent(5);
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
TEST(MalformedTables, AnInitialStateBeyondTwoToThe32IsRefused) {
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

TEST(MalformedTables, AConstantLiesInTheWeights) {
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

TEST(MalformedTables, StringsEndWithinTheirSection) {
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

TEST(MalformedTables, TablesAsLongAsTheirLimitOpenAndLongerOnesDoNot) {
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

TEST(MalformedTables, ANodeNamesAFewValues) {
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

}  // namespace malformed_tables_test
