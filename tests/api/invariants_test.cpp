// invariants_test.cpp -- the invariants as properties: results do not depend on cuts, batch neighbours, threads, chunk or scratch
// content, state moves between sessions, and everything is near the f64 reference. Every cell, direction and instruction set of
// this CPU. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "support/reference_layers.h"
#include "support/session_fixture.h"

namespace invariants_test {

using namespace rnnp_test;
using rnnp::Act;
using rnnp::Cell;

struct Case {
  const char *name;
  RecurrentOptions options;
  uint32_t input;

  uint32_t width() const { return input + (options.masked ? 1 : 0); }
};

RecurrentOptions make(Cell cell, uint32_t hidden) {
  RecurrentOptions o;
  o.cell = cell;
  o.hidden = hidden;
  return o;
}

std::vector<Case> cases() {
  std::vector<Case> v;
  const Cell cells[] = {Cell::kRnn, Cell::kLstm, Cell::kGru, Cell::kGruLinear};
  const char *names[4][3] = {{"rnn1", "rnn17", "rnn64"},
                             {"lstm1", "lstm17", "lstm64"},
                             {"gru1", "gru17", "gru64"},
                             {"grulinear1", "grulinear17", "grulinear64"}};
  const uint32_t hidden[] = {1, 17, 64};
  for (int c = 0; c < 4; ++c)
    for (int h = 0; h < 3; ++h) v.push_back({names[c][h], make(cells[c], hidden[h]), c == 0 ? 5u : 33u});
  Case relu = {"rnn_relu", make(Cell::kRnn, 40), 8};
  relu.options.acts = {Act::kRelu};
  v.push_back(relu);
  Case full = {"lstm_everything", make(Cell::kLstm, 21), 7};
  full.options.peephole = full.options.input_forget = full.options.initial_state = true;
  full.options.clip = 0.4;
  full.options.acts = {Act::kHardSigmoid, Act::kSoftsign, Act::kElu};
  v.push_back(full);
  Case gru_clip = {"gru_clip", make(Cell::kGru, 35), 7};
  gru_clip.options.clip = 0.3;
  gru_clip.options.initial_state = true;
  v.push_back(gru_clip);
  Case linear_affine = {"grulinear_affine", make(Cell::kGruLinear, 18), 7};
  linear_affine.options.acts = {Act::kHardSigmoid, Act::kScaledTanh};
  v.push_back(linear_affine);
  for (const uint32_t units : {3u, 17u, 64u}) {
    Case norm = {units == 3 ? "lstm_norm3" : units == 17 ? "lstm_norm17" : "lstm_norm64", make(Cell::kLstmNorm, units), 33};
    norm.options.keeps_c = units == 17;
    v.push_back(norm);
  }
  Case by_gate = {"lstm_norm_by_gate", make(Cell::kLstmNorm, 21), 7};
  by_gate.options.by_gate = by_gate.options.joint = by_gate.options.initial_state = true;
  v.push_back(by_gate);
  for (const auto &[name, cell] : {std::pair{"rnn_masked", Cell::kRnn},
                                   {"lstm_masked", Cell::kLstm},
                                   {"gru_masked", Cell::kGru},
                                   {"grulinear_masked", Cell::kGruLinear},
                                   {"lstm_norm_masked", Cell::kLstmNorm}}) {
    Case masked = {name, make(cell, 21), cell == Cell::kLstm ? 2u : 7u};
    masked.options.masked = masked.options.initial_state = true;
    v.push_back(masked);
  }
  return v;
}

class Invariants : public testing::TestWithParam<Case> {
 protected:
  // The layer, a dense layer with sigmoid behind it.
  void SetUp() override { blob_ = build(GetParam().options); }

  std::vector<uint8_t> build(const RecurrentOptions &o) {
    builder_ = std::make_unique<BlobBuilder>(7);
    const uint32_t x = builder_->add_input(GetParam().width());
    const uint32_t h = builder_->add_recurrent(x, GetParam().input, o);
    builder_->add_output(builder_->add_dense(h, o.hidden * (o.bidirectional ? 2 : 1), 9, Act::kSigmoid));
    return builder_->build();
  }

  std::vector<float> input(size_t steps, size_t batch, uint32_t seed = 3) {
    const size_t width = GetParam().width();
    std::vector<float> x = random_floats(steps * batch * width, seed);
    // Of half of the steps the mask is 0; what it is in the others does not matter.
    for (size_t i = width - 1; GetParam().options.masked && i < x.size(); i += width) x[i] = std::max(x[i], 0.0f);
    return x;
  }

  std::unique_ptr<BlobBuilder> builder_;
  std::vector<uint8_t> blob_;
};

const size_t kSteps = 23;

TEST_P(Invariants, StreamingEqualsOfflineAtAnyCut) {
  const std::vector<float> x = input(kSteps, 3);
  const std::vector<float> whole = Runner(blob_, {3}).run(x);
  for (size_t cut : {1, 2, 3, 7, 22}) {
    EXPECT_EQ(whole, Runner(blob_, {3}).run(x, cut)) << "cut " << cut;
  }
}

TEST_P(Invariants, ChunkStepsDoNotMatter) {
  const std::vector<float> x = input(kSteps, 2);
  const std::vector<float> whole = Runner(blob_, {2}).run(x);
  for (uint32_t chunk : {1u, 2u, 5u, 64u}) EXPECT_EQ(whole, Runner(blob_, {2, 0, chunk}).run(x)) << "chunk " << chunk;
}

TEST_P(Invariants, BatchRowsAreIndependent) {
  const size_t in = GetParam().width();
  for (uint32_t batch : {2u, 5u, 13u}) {
    const std::vector<float> x = input(kSteps, batch);
    const std::vector<float> all = Runner(blob_, {batch}).run(x);
    for (uint32_t row = 0; row < batch; ++row) {
      std::vector<float> alone;
      for (size_t t = 0; t < kSteps; ++t)
        alone.insert(alone.end(), x.begin() + (t * batch + row) * in, x.begin() + (t * batch + row + 1) * in);
      const std::vector<float> y = Runner(blob_, {1}).run(alone);
      for (size_t t = 0; t < kSteps; ++t)
        for (size_t o = 0; o < 9; ++o)
          ASSERT_EQ(all[(t * batch + row) * 9 + o], y[t * 9 + o]) << "batch " << batch << " row " << row << " step " << t;
    }
  }
}

TEST_P(Invariants, ThreadCountDoesNotMatter) {
  const std::vector<float> x = input(kSteps, 2);
  const std::vector<float> one = Runner(blob_, {2}).run(x);
  for (uint32_t threads : {2u, 3u, 5u}) EXPECT_EQ(one, Runner(blob_, {2, 0, 0, 0, threads}).run(x, 9)) << threads << " threads";
}

// Of weights that no cache holds, every other step goes over the tiles backwards.
TEST_P(Invariants, CachesDoNotMatter) {
  const std::vector<float> x = input(kSteps, 2);
  const std::vector<float> whole = Runner(blob_, {2}).run(x);
  for (const uint32_t threads : {1u, 2u}) {
    Options small = {2, 0, 0, 0, threads};
    small.near_bytes = 256;
    for (const size_t cut : {0, 1, 4}) EXPECT_EQ(whole, Runner(blob_, small).run(x, cut)) << threads << " threads, cut " << cut;
  }
}

TEST_P(Invariants, SavedStateContinuesInAnotherSession) {
  const std::vector<float> x = input(kSteps, 2);
  const size_t half = 11 * 2 * GetParam().width();
  const std::vector<float> whole = Runner(blob_, {2}).run(x);
  Runner first(blob_, {2}), second(blob_, {2});
  first.run({x.begin(), x.begin() + half});
  second.load(0, first.save(0));
  second.load(1, first.save(1));
  const std::vector<float> rest = second.run({x.begin() + half, x.end()});
  EXPECT_EQ(std::vector<float>(whole.begin() + 11 * 2 * 9, whole.end()), rest);
}

TEST_P(Invariants, ResetEqualsFreshSession) {
  const std::vector<float> x = input(kSteps, 2);
  Runner r(blob_, {2});
  const std::vector<float> fresh = r.run(x);
  ASSERT_EQ(RNNP_OK, rnnp_state_reset(r.session(), RNNP_ALL_ROWS));
  EXPECT_EQ(fresh, r.run(x));
}

TEST_P(Invariants, NoStepsChangeNothing) {
  const std::vector<float> x = input(4, 1);
  Runner r(blob_);
  r.run(x);
  const std::vector<uint8_t> before = r.save(0);
  float y = 5;
  ASSERT_EQ(RNNP_OK, rnnp_run(r.session(), 0, x.data(), &y));
  EXPECT_EQ(before, r.save(0));
  EXPECT_EQ(5, y);
}

// One accumulator per output: |error| <= (K + few) * eps * sum|terms| <= about 2e-6 per pre-activation here; stable layers do not
// amplify it.
TEST_P(Invariants, NearTheDoubleReferenceOnEveryIsa) {
  const size_t batch = 3;
  const std::vector<float> x = input(kSteps, batch);
  const RecurrentLayer &layer = builder_->recurrent[0];
  const RecurrentResult mid = run_recurrent(layer, {x.begin(), x.end()}, kSteps, batch);
  const std::vector<double> want = run_dense(builder_->dense[0], mid.y);
  for (uint32_t isa : {uint32_t{RNNP_ISA_REFERENCE_ONLY}, uint32_t{RNNP_ISA_AVX2}, 0u}) {
    const std::vector<float> got = Runner(blob_, {uint32_t(batch), 0, 0, isa}).run(x);
    for (size_t i = 0; i < want.size(); ++i)
      ASSERT_NEAR(want[i], got[i], 1e-5 * std::max(1.0, std::fabs(want[i]))) << "isa " << isa << " at " << i;
  }
}

TEST_P(Invariants, BidirectionalMatchesTheReferenceRagged) {
  RecurrentOptions o = GetParam().options;
  o.bidirectional = true;
  builder_ = std::make_unique<BlobBuilder>(11);
  const uint32_t in = GetParam().input, batch = 4;
  const uint32_t x = builder_->add_input(GetParam().width());
  uint32_t y_h = 0;
  const uint32_t y = builder_->add_recurrent(x, in, o, &y_h);
  builder_->add_output(y);
  builder_->add_output(y_h, "y_h");
  const std::vector<uint8_t> blob = builder_->build();
  const std::vector<float> data = input(kSteps, batch);
  const std::vector<int32_t> lengths = {int32_t(kSteps), 0, 7, 22};
  const RecurrentResult want = run_recurrent(builder_->recurrent[0], {data.begin(), data.end()}, kSteps, batch, lengths);
  std::vector<float> first;
  for (uint32_t threads : {1u, 2u, 4u}) {
    Runner r(blob, {batch, kSteps, threads == 4 ? 3u : 0u, 0, threads});
    std::vector<float> got_y(want.y.size(), 9), got_h(want.y_h.size(), 9);
    const rnnp_const_buffer inputs[] = {{data.data(), 0, 0}};
    const rnnp_buffer outputs[] = {{got_y.data(), 0, 0}, {got_h.data(), 0, 0}};
    const rnnp_io io = {sizeof(rnnp_io), sizeof(rnnp_buffer), 0, batch, kSteps, 1, 2, lengths.data(), inputs, outputs, nullptr};
    ASSERT_EQ(RNNP_OK, rnnp_run_io(r.session(), &io));
    for (size_t i = 0; i < want.y.size(); ++i) ASSERT_NEAR(want.y[i], got_y[i], 1e-5) << threads << " threads at " << i;
    for (size_t i = 0; i < want.y_h.size(); ++i) ASSERT_NEAR(want.y_h[i], got_h[i], 1e-5) << threads << " threads at " << i;
    if (first.empty()) first = got_y;
    EXPECT_EQ(first, got_y);
  }
}

INSTANTIATE_TEST_SUITE_P(Cells, Invariants, testing::ValuesIn(cases()), [](const auto &c) { return std::string(c.param.name); });

std::vector<uint8_t> layer_of(rnnp::DType type, const RecurrentOptions &options, uint32_t inputs) {
  BlobBuilder builder(11);
  builder.one_recurrent_step = true;
  builder.weights = builder.recurrent_weights = type;
  builder.add_output(builder.add_recurrent(builder.add_input(inputs), inputs - (options.masked ? 1 : 0), options));
  return builder.build();
}

std::vector<uint8_t> layer_of(rnnp::DType type, Cell cell, uint32_t inputs, uint32_t hidden) {
  return layer_of(type, make(cell, hidden), inputs);
}

TEST(InvariantsOfLowPrecision, MaskedRowsAreIndependent) {
  constexpr uint32_t kBatch = 20, kInput = 6, kHidden = 19, kFewSteps = 5;
  std::vector<float> in = random_floats(size_t{kFewSteps} * kBatch * kInput, 4);
  for (size_t i = kInput - 1; i < in.size(); i += kInput) in[i] = std::max(in[i], 0.0f);
  for (const Cell cell : {Cell::kRnn, Cell::kLstm, Cell::kGruLinear, Cell::kGru, Cell::kLstmNorm}) {
    for (const rnnp::DType type : {rnnp::DType::kF16, rnnp::DType::kBf16, rnnp::DType::kI8, rnnp::DType::kI4}) {
      RecurrentOptions options = make(cell, kHidden);
      options.masked = true;
      const std::vector<uint8_t> blob = layer_of(type, options, kInput);
      const std::vector<float> all = Runner(blob, {kBatch}).run(in);
      for (uint32_t row = 0; row < kBatch; ++row) {
        std::vector<float> alone;
        for (size_t t = 0; t < kFewSteps; ++t)
          alone.insert(alone.end(), in.begin() + (t * kBatch + row) * kInput, in.begin() + (t * kBatch + row + 1) * kInput);
        const std::vector<float> y = Runner(blob, {1, 0, 0, 0, row % 2 + 1}).run(alone, row % 3);
        for (size_t i = 0; i < y.size(); ++i)
          ASSERT_EQ(all[(i / kHidden * kBatch + row) * kHidden + i % kHidden], y[i]) << int(cell) << " row " << row;
        // What a masked step gives is what the one before it gave.
        for (size_t t = 1; t < kFewSteps; ++t)
          for (size_t u = 0; u < kHidden && alone[t * kInput + kInput - 1] == 0; ++u)
            ASSERT_EQ(y[(t - 1) * kHidden + u], y[t * kHidden + u]) << int(cell) << " row " << row << " step " << t;
      }
    }
  }
}

// Rows are quantized to int8 some at a time, and what a call leaves of them the next may find.
TEST(InvariantsOfLowPrecision, MoreRowsThanAreQuantisedAtATimeAreIndependent) {
  constexpr uint32_t kBatch = 40, kInput = 5, kHidden = 19;
  for (const Cell cell : {Cell::kGruLinear, Cell::kLstm, Cell::kGru}) {
    for (const rnnp::DType type : {rnnp::DType::kI8, rnnp::DType::kI4}) {
      const std::vector<uint8_t> blob = layer_of(type, cell, kInput, kHidden);
      for (const size_t cut : {0, 1}) {
        const std::vector<float> in = random_floats(size_t{3} * kBatch * kInput, 4), all = Runner(blob, {kBatch}).run(in, cut);
        for (uint32_t row = 0; row < kBatch; ++row) {
          std::vector<float> alone;
          for (size_t t = 0; t < 3; ++t)
            alone.insert(alone.end(), in.begin() + (t * kBatch + row) * kInput, in.begin() + (t * kBatch + row + 1) * kInput);
          const std::vector<float> y = Runner(blob, {1}).run(alone, cut);
          for (size_t i = 0; i < y.size(); ++i)
            ASSERT_EQ(all[(i / kHidden * kBatch + row) * kHidden + i % kHidden], y[i]) << "row " << row << ", cut " << cut;
        }
      }
    }
  }
}

// A layer and a dense one, in products of bf16.
std::vector<uint8_t> bf16_layers(Cell cell, uint32_t inputs, uint32_t hidden, uint32_t outputs) {
  BlobBuilder builder(11);
  builder.rounds_lhs = true;
  builder.weights = builder.recurrent_weights = rnnp::DType::kBf16;
  const uint32_t h = builder.add_recurrent(builder.add_input(inputs), inputs, make(cell, hidden));
  builder.add_output(builder.add_dense(h, hidden, outputs, Act::kIdentity));
  return builder.build();
}

// Sets with fused multiply-add that this CPU has beside its best one.
std::vector<uint32_t> narrower_sets() {
  std::vector<uint32_t> sets;
#if defined(__x86_64__) && defined(__GNUC__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) sets.push_back(RNNP_ISA_AVX2);
  if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")) sets.push_back(RNNP_ISA_AVX512);
#endif
  return sets;
}

// Few rows and many have kernels of their own, and so have instruction sets: the sums of all have one order.
TEST(InvariantsOfLowPrecision, ProductsOfBf16DependNeitherOnRowsNorOnInstructionSets) {
  constexpr uint32_t kBatch = 40, kInput = 21, kHidden = 83, kOut = 35, kFewSteps = 4;
  for (const Cell cell : {Cell::kRnn, Cell::kLstm, Cell::kGruLinear, Cell::kGru, Cell::kLstmNorm}) {
    const std::vector<uint8_t> blob = bf16_layers(cell, kInput, kHidden, kOut);
    const std::vector<float> in = random_floats(size_t{kFewSteps} * kBatch * kInput, 4), all = Runner(blob, {kBatch}).run(in);
    for (const uint32_t isa : narrower_sets()) EXPECT_EQ(all, Runner(blob, {kBatch, 0, 0, isa}).run(in)) << int(cell) << " " << isa;
    for (const uint32_t threads : {2u, 3u}) EXPECT_EQ(all, Runner(blob, {kBatch, 0, 0, 0, threads}).run(in, 1)) << int(cell);
    for (const uint32_t rows : {1u, 7u, 9u}) {
      std::vector<float> some, want;
      for (size_t t = 0; t < kFewSteps; ++t) {
        some.insert(some.end(), in.begin() + t * kBatch * kInput, in.begin() + (t * kBatch + rows) * kInput);
        want.insert(want.end(), all.begin() + t * kBatch * kOut, all.begin() + (t * kBatch + rows) * kOut);
      }
      for (const uint32_t chunk : {1u, 3u}) EXPECT_EQ(want, Runner(blob, {rows, 0, chunk}).run(some)) << int(cell) << ", " << rows;
    }
  }
}

TEST(InvariantsOfLowPrecision, CachesDoNotMatter) {
  constexpr uint32_t kInput = 5, kHidden = 83, kFewSteps = 6;
  for (const Cell cell : {Cell::kRnn, Cell::kLstm, Cell::kGruLinear, Cell::kGru, Cell::kLstmNorm}) {
    for (const rnnp::DType type : {rnnp::DType::kF16, rnnp::DType::kBf16, rnnp::DType::kI8, rnnp::DType::kI4}) {
      const std::vector<uint8_t> blob = layer_of(type, cell, kInput, kHidden);
      for (const uint32_t batch : {1u, 3u, 40u}) {
        const std::vector<float> in = random_floats(size_t{kFewSteps} * batch * kInput, 4), whole = Runner(blob, {batch}).run(in);
        for (const uint32_t near_bytes : {256u, 16384u}) {
          for (const uint32_t threads : {1u, 2u}) {
            Options small = {batch, 0, 0, 0, threads};
            small.near_bytes = near_bytes;
            for (const size_t cut : {0, 1})
              ASSERT_EQ(whole, Runner(blob, small).run(in, cut))
                  << int(cell) << " of type " << int(type) << ", " << batch << " rows";
          }
        }
      }
    }
  }
}

}  // namespace invariants_test
