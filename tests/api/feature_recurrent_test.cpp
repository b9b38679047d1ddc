// feature_recurrent_test.cpp -- layers along an axis of a row: the numbers of a layer along time with the same weights, however
// many lie side by side, however a run is cut and dealt to threads; and tables that mean nothing.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "malformed_sample.h"
#include "support/feature_blobs.h"

namespace feature_recurrent_test {

using namespace rnnp_test;
using rnnp::AttrFeatureRecurrent;
using rnnp::AttrRecurrent;
using rnnp::Cell;

constexpr uint32_t kIn = kFeatureIn, kHidden = kFeatureHidden;

const Cell kCells[] = {Cell::kRnn, Cell::kLstm, Cell::kGru, Cell::kGruLinear};

// All that cells can multiply by, and all that products of their own do, together and apart.
using rnnp::DType;
const FeatureWeights kStored[] = {{DType::kF32, DType::kF32},
                                  {DType::kI8, DType::kI8},
                                  {DType::kI8, DType::kI8, true},
                                  {DType::kI8, DType::kF32},
                                  {DType::kF32, DType::kI8},
                                  {DType::kI4, DType::kI4},
                                  {DType::kF16, DType::kBf16},
                                  {DType::kF32, DType::kF32, false, 4},
                                  {DType::kI8, DType::kI8, false, 1},
                                  {DType::kF32, DType::kF32, false, 0, true},
                                  {DType::kI8, DType::kI8, true, 0, true}};

std::string name_of(const FeatureWeights &w) {
  return "weights " + std::to_string(int(w.w)) + " " + std::to_string(int(w.r)) + " blocks of " + std::to_string(w.block_units) +
         (w.masked ? ", a mask" : "");
}

// x of one batch row of one step -> y of it.
std::vector<float> one_row(Runner *r, const std::vector<float> &x, std::vector<float> *final_h, size_t finals) {
  std::vector<float> y(r->out());
  final_h->assign(finals, -77.0f);
  const rnnp_const_buffer in = {x.data(), 0, 0};
  const rnnp_buffer out[] = {{y.data(), 0, 0}, {final_h->data(), 0, 0}};
  rnnp_io io = RNNP_IO_INIT;
  io.steps = io.batch = io.input_count = 1;
  io.output_count = 2;
  io.inputs = &in;
  io.outputs = out;
  expect_ok(rnnp_run_io(r->session(), &io), "run_io");
  return y;
}

void expect_bits_along_time(Cell cell, bool bidirectional, uint32_t rows, const FeatureWeights &stored) {
  constexpr uint32_t kSteps = 7;
  const uint32_t width = bidirectional ? 2 * kHidden : kHidden;
  const std::vector<float> x = feature_rows(stored, size_t{kSteps} * rows, 3);
  Runner time(along_time(cell, bidirectional, stored).bytes(), {rows, kSteps});
  Runner row(along_the_row(cell, bidirectional, kSteps, rows, stored).bytes());
  const std::vector<float> want = time.run(x);
  std::vector<float> final_h;
  EXPECT_EQ(want, one_row(&row, x, &final_h, size_t{rows} * width)) << int(cell) << " rows " << rows;
  for (uint32_t d = 0; d < width / kHidden; ++d) {  // [directions][rows][H]
    const uint32_t last = d == 0 ? kSteps - 1 : 0;
    for (uint32_t r = 0; r < rows; ++r) {
      for (uint32_t k = 0; k < kHidden; ++k)
        ASSERT_EQ(want[(size_t{last} * rows + r) * width + d * kHidden + k], final_h[(size_t{d} * rows + r) * kHidden + k]);
    }
  }
}

TEST(FeatureRecurrent, GivesTheBitsOfALayerAlongTime) {
  for (const FeatureWeights &stored : kStored) {
    SCOPED_TRACE(name_of(stored));
    for (const Cell cell : kCells) {
      for (const bool bidirectional : {false, true}) {
        for (const uint32_t rows : {1u, 2u, 32u, 37u}) expect_bits_along_time(cell, bidirectional, rows, stored);
      }
    }
  }
}

// Of low precision one chunk and number of threads: who deals them out does not look at weights.
void expect_same_bits_by_pieces(Cell cell, uint32_t rows, const FeatureWeights &stored) {
  constexpr uint32_t kSteps = 11, kBatch = 3;
  const std::vector<uint8_t> blob = along_the_row(cell, true, 4, rows, stored).bytes();
  const std::vector<float> x = feature_rows(stored, size_t{kSteps} * kBatch * 4 * rows, 4);
  Runner plain(blob, {kBatch, 0, 64});
  const std::vector<float> want = plain.run(x);
  const bool all = stored.r == DType::kF32;
  for (const uint32_t chunk : {3u, 1u, 64u}) {
    for (const uint32_t threads : {2u, 1u, 5u}) {
      if (!all && (chunk != 3 || threads != 2)) continue;
      for (const size_t cut : {size_t{0}, size_t{1}, size_t{4}}) {
        Runner r(blob, {kBatch, 0, chunk, 0, threads});
        ASSERT_EQ(want, r.run(x, cut)) << int(cell) << ": chunks of " << chunk << ", calls of " << cut << ", threads " << threads;
      }
    }
  }
}

TEST(FeatureRecurrent, GivesTheSameBitsHoweverTheRunIsCutAndDealtOut) {
  for (const FeatureWeights &stored : kStored) {
    SCOPED_TRACE(name_of(stored));
    for (const Cell cell : kCells) {
      for (const uint32_t rows : {1u, 3u}) expect_same_bits_by_pieces(cell, rows, stored);
    }
  }
}

// What one row holds stays its own, though it runs beside others in one block of the kernels.
TEST(FeatureRecurrent, KeepsNanInItsOwnRow) {
  constexpr uint32_t kSteps = 3, kBatch = 5;
  for (const Cell cell : kCells) {
    const std::vector<uint8_t> blob = along_the_row(cell, false, 4, 1).bytes();
    std::vector<float> x = random_floats(size_t{kSteps} * kBatch * 4 * kIn, 5);
    Runner clean(blob, {kBatch}), odd(blob, {kBatch});
    const std::vector<float> want = clean.run(x);
    const size_t row = size_t{1} * kBatch + 2, wide = 4 * kHidden;
    x[row * 4 * kIn + 2 * kIn] = std::numeric_limits<float>::quiet_NaN();  // at its third inner step
    const std::vector<float> y = odd.run(x);
    for (size_t i = 0; i < y.size(); ++i) {
      const bool after = i / wide == row && i % wide >= 2 * kHidden;
      if (after)
        EXPECT_TRUE(std::isnan(y[i])) << int(cell) << " " << i;
      else
        EXPECT_EQ(want[i], y[i]) << int(cell) << " " << i;
    }
  }
}

TEST(FeatureRecurrent, MalformedTablesAreRefused) {
  const BlobTables good = along_the_row(Cell::kLstm, true, 4, 3);
  ASSERT_EQ(RNNP_OK, make(good));
  using Change = void (*)(AttrFeatureRecurrent *);
  const Change changes[] = {
      [](AttrFeatureRecurrent *a) { a->steps = 0; },
      [](AttrFeatureRecurrent *a) { a->rows = 0; },
      [](AttrFeatureRecurrent *a) { a->steps = 5; },
      [](AttrFeatureRecurrent *a) { a->rows = 1u << 29; },
      [](AttrFeatureRecurrent *a) { a->steps = a->rows = 1u << 16; },  // their product is 2^32
      [](AttrFeatureRecurrent *a) { std::swap(a->steps, a->rows), a->rows = 0xffffffffu; },
      [](AttrFeatureRecurrent *a) { a->layer.direction_count = 1; },
      [](AttrFeatureRecurrent *a) { a->layer.direction_count = 3; },
      [](AttrFeatureRecurrent *a) { a->layer.hidden_size = kHidden - 1; },
      [](AttrFeatureRecurrent *a) { a->layer.input_size = kIn + 1; },
      [](AttrFeatureRecurrent *a) { a->layer.cell = 7; },
      [](AttrFeatureRecurrent *a) { a->layer.direction[1].w = 1u << 20; },
      [](AttrFeatureRecurrent *a) { a->layer.direction[1].bias = 0xfffffff0u; },
      [](AttrFeatureRecurrent *a) { a->layer.direction[0].reverse = 2; },
  };
  for (size_t i = 0; i < std::size(changes); ++i) {
    BlobTables t = good;
    AttrFeatureRecurrent a = t.attr<AttrFeatureRecurrent>(t.nodes[0]);
    changes[i](&a);
    t.set_attr(t.nodes[0], a);
    EXPECT_EQ(RNNP_E_BLOB_CORRUPT, make(t)) << i;
  }
}

TEST(FeatureRecurrent, MalformedOperandsAreRefused) {
  for (const Cell cell : {Cell::kLstm, Cell::kGru}) {
    const BlobTables good = along_the_row(cell, false, 4, 3);
    const auto made_with = [&](size_t place, uint32_t elems) {
      BlobTables t = good;
      const uint32_t at = static_cast<uint32_t>(t.weights.size());
      t.weights.resize(at + size_t{64} * ((elems * 4 + 63) / 64));
      t.args[t.nodes[0].input_first + place] = t.add_value({uint32_t(ValueKind::kConst), 0, elems, at, 0, 0});
      return make(t);
    };
    const bool lstm = cell == Cell::kLstm;
    EXPECT_EQ(RNNP_OK, made_with(1, 3 * kHidden));
    EXPECT_EQ(RNNP_E_BLOB_CORRUPT, made_with(1, 3 * kHidden - 1));
    EXPECT_EQ(lstm ? RNNP_OK : RNNP_E_BLOB_CORRUPT, made_with(2, 3 * kHidden));  // a GRU has no c
    EXPECT_EQ(RNNP_E_BLOB_CORRUPT, made_with(2, 6 * kHidden));
    BlobTables silent = good;  // a node that gives nothing
    for (uint32_t i = 0; i < 3; ++i) silent.args[silent.nodes[0].output_first + i] = kNone;
    EXPECT_EQ(RNNP_E_BLOB_CORRUPT, make(silent));
    BlobTables once = good;  // results once a run, of steps
    once.values[once.outputs[1].value].sequence = 0;
    EXPECT_EQ(RNNP_E_BLOB_CORRUPT, make(once));
  }
}

}  // namespace feature_recurrent_test
