// integer_layers_test.cpp -- recurrent integer-only layers alone: their evaluation by docs/KERNELS.md, the invariants, what is
// refused. SPDX-License-Identifier: Apache-2.0
#include "compiler/calibrate/integer_layers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "compiler/calibrate/error_report.h"
#include "compiler/compile.h"
#include "compiler/emit/panel_choice.h"
#include "compiler/emit/write_blob.h"
#include "compiler/onnx/problem.h"
#include "compiler/verify/comparison.h"
#include "compiler/verify/exact_check.h"
#include "format/model.h"
#include "onnx_builder.h"
#include "pack/pack.h"
#include "support/blob_tables.h"
#include "support/session_fixture.h"
#include "temporary_file.h"

namespace rnnp::testing_support {
namespace integer_layers_test {

using compiler::Graph;
using compiler::Reference;
using rnnp_test::BlobTables;
using Session = rnnp_test::Runner;

constexpr int64_t kInputs = 13, kHidden = 21, kSteps = 24;

struct Layer {
  const char *op, *direction;
  int64_t gates, linear;
};
const Layer kLayers[] = {{"LSTM", "forward", 4, 0},     {"LSTM", "bidirectional", 4, 0}, {"GRU", "forward", 3, 1},
                         {"GRU", "reverse", 3, 0},      {"GRU", "forward", 3, 0},        {"RNN", "forward", 1, 0},
                         {"RNN", "bidirectional", 1, 0}};

// x [T, N, kInputs] through a layer, to all that it makes. `clip`: 0 for none.
onnx::ModelProto network(const Layer &layer, float clip = 0) {
  const bool lstm = std::string(layer.op) == "LSTM";
  OnnxBuilder b;
  b.input("X", {"T", "N", kInputs}).output("Y").output("H");
  if (lstm) b.output("C");
  b.weights("", layer.gates, std::string(layer.direction) == "bidirectional" ? 2 : 1, kInputs, kHidden);
  std::vector<std::string> out = {"Y", "H"};
  if (lstm) out.push_back("C");
  NodeBuilder node = b.node(layer.op, {"X", "W", "R", "B"}, out, "layer");
  node.with("hidden_size", kHidden).with("direction", layer.direction);
  if (layer.linear != 0) node.with("linear_before_reset", 1);
  if (clip != 0) node.with("clip", clip);
  return b.proto;
}

compiler::Arrays data(int64_t steps, int64_t batch) {
  compiler::Arrays arrays;
  compiler::Array &x = arrays["X"];
  x.shape = {steps, batch, kInputs};
  x.f32.resize(static_cast<size_t>(steps * batch * kInputs));
  for (size_t i = 0; i < x.f32.size(); ++i) x.f32[i] = 1.5f * std::sin(static_cast<float>(i * i % 1013));
  return arrays;
}

class InIntegers {
 public:
  explicit InIntegers(const Layer &layer) : InIntegers(network(layer)) {}
  explicit InIntegers(const onnx::ModelProto &proto) : file_("integers.npy", compiler::format_npy(data(kSteps, 2).at("X"))) {
    graph_ = compiler::compile_graph(*compiler::check_model(proto), {});
    plain_ = compiler::write_blob(graph_, compiler::dense_panels(DType::kF32, 16));
    reference_ =
        std::make_unique<Reference>(graph_, compiler::dense_panels(DType::kF32, 16), std::vector<std::string>{file_.path()});
    compiler::choose_integers(&graph_, *reference_, {});
  }
  InIntegers(const InIntegers &) = delete;
  InIntegers &operator=(const InIntegers &) = delete;

  std::vector<uint8_t> blob(uint32_t nr = 16) const {
    return compiler::write_blob(graph_, compiler::dense_panels(DType::kF32, nr));
  }
  const std::vector<uint8_t> &plain() const { return plain_; }
  const Reference &reference() const { return *reference_; }
  const Graph &graph() const { return graph_; }

 private:
  TemporaryFile file_;
  Graph graph_;
  std::vector<uint8_t> plain_;
  std::unique_ptr<Reference> reference_;
};

compiler::ExactResult exact(const std::vector<uint8_t> &blob, const compiler::Arrays &inputs) {
  compiler::Runner runner(blob);
  Model model;
  EXPECT_TRUE(read_model(&runner.opened(), &model));
  return compiler::check_exactly(model, compiler::watch_run(&runner, inputs, compiler::low_precision_nodes(model)));
}

// Whatever the panels' width; the layer's own data, louder data, which is cut off, and what is no number.
TEST(IntegerLayers, GiveTheBitsOfTheirEvaluation) {
  for (const Layer &layer : kLayers) {
    SCOPED_TRACE(std::string(layer.op) + " " + layer.direction + (layer.linear != 0 ? " linear" : ""));
    const InIntegers made(layer);
    for (const uint32_t nr : {16u, 8u, 4u}) {
      compiler::Arrays inputs = data(kSteps, 3);
      std::vector<float> &x = inputs.at("X").f32;
      for (size_t i = 0; i < x.size(); i += 5) x[i] *= 40;
      x[3] = std::nanf(""), x[4] = HUGE_VALF, x[5] = -HUGE_VALF, x[6] = 1e-40f, x[7] = -0.0f, x[8] = -3e38f;
      const compiler::ExactResult result = exact(made.blob(nr), inputs);
      EXPECT_EQ("", result.difference);
      EXPECT_EQ(1u, result.layers);
      EXPECT_TRUE(result.skipped.empty());
      EXPECT_LT(size_t{kSteps * 3 * kHidden}, result.numbers);
    }
  }
}

TEST(IntegerLayers, AreNearTheF32Network) {
  for (const Layer &layer : kLayers) {
    const InIntegers made(layer);
    compiler::Runner runner(made.blob());
    EXPECT_LT(30, compiler::least_sqnr(runner.run(made.reference().inputs(), {}), made.reference().seen().outputs)) << layer.op;
  }
}

// What h adds to a gate may be as much as 16, in either direction, before the reset gate takes its share of it.
TEST(IntegerLayers, LargeRecurrentSumsAreNotCutOff) {
  for (const float size : {9.0f, -11.0f, 14.0f}) {
    onnx::ModelProto proto = network(kLayers[2]);
    for (onnx::TensorProto &tensor : *proto.mutable_graph()->mutable_initializer()) {
      if (tensor.name() != "B") continue;
      for (int unit = 0; unit < kHidden; ++unit) {
        tensor.set_float_data(1 * kHidden + unit, 6.0f);   // the reset gate is open
        tensor.set_float_data(2 * kHidden + unit, -size);  // of x, of h: they meet near 0
        tensor.set_float_data(5 * kHidden + unit, size);
      }
    }
    const InIntegers made(proto);
    compiler::Runner runner(made.blob());
    EXPECT_LT(25, compiler::least_sqnr(runner.run(made.reference().inputs(), {}), made.reference().seen().outputs)) << size;
  }
}

// Panels of another width are other bytes and the same numbers.
TEST(IntegerLayers, GiveTheSameBitsOnPanelsOfEveryWidth) {
  for (const Layer &layer : kLayers) {
    const InIntegers made(layer);
    const compiler::Arrays inputs = data(kSteps, 2);
    const compiler::Arrays wide = compiler::Runner(made.blob(16)).run(inputs, {});
    for (const uint32_t nr : {8u, 4u}) {
      for (const auto &out : compiler::Runner(made.blob(nr)).run(inputs, {}))
        EXPECT_EQ(wide.at(out.first).f32, out.second.f32) << layer.op << " " << nr;
    }
  }
}

TEST(IntegerLayers, GiveTheSameBitsHoweverARunIsCutAndShared) {
  for (const Layer &layer : kLayers) {
    SCOPED_TRACE(std::string(layer.op) + " " + layer.direction);
    const std::vector<uint8_t> blob = InIntegers(layer).blob();
    rnnp_test::Options whole;
    whole.batch = 3;
    whole.max_steps = kSteps;
    const std::vector<float> x = data(kSteps, 3).at("X").f32, want = Session(blob, whole).run(x);
    for (const uint32_t threads : {1u, 3u}) {
      for (const uint32_t chunk : {1u, 5u, 24u}) {
        rnnp_test::Options o = whole;
        o.threads = threads;
        o.chunk = chunk;
        EXPECT_EQ(want, Session(blob, o).run(x)) << threads << " threads, chunks of " << chunk;
        if (std::string(layer.direction) != "forward") continue;
        for (const size_t cut : {size_t{1}, size_t{7}}) EXPECT_EQ(want, Session(blob, o).run(x, cut)) << threads << " " << cut;
      }
    }
    if (std::string(layer.direction) != "forward") continue;
    rnnp_test::Options alone;
    std::vector<float> row, of_row;
    for (size_t t = 0; t < kSteps; ++t) {
      row.insert(row.end(), x.begin() + static_cast<std::ptrdiff_t>((t * 3 + 1) * kInputs),
                 x.begin() + static_cast<std::ptrdiff_t>((t * 3 + 2) * kInputs));
      of_row.insert(of_row.end(), want.begin() + static_cast<std::ptrdiff_t>((t * 3 + 1) * kHidden),
                    want.begin() + static_cast<std::ptrdiff_t>((t * 3 + 2) * kHidden));
    }
    for (const size_t cut : {size_t{0}, size_t{1}}) EXPECT_EQ(of_row, Session(blob, alone).run(row, cut));
  }
}

// An rnn's: its bias in 2^-12, and the mean of what the shifts of both products drop.
TEST(IntegerLayers, BiasesGiveBackWhatShiftsDrop) {
  const InIntegers made(kLayers[5]);
  const auto &layer = std::get<compiler::Recurrent>(made.graph().nodes[0].attr);
  compiler::Runner runner(made.blob());
  Model model;
  ASSERT_TRUE(read_model(&runner.opened(), &model));
  const BlobDirection &d = model.attr<AttrRecurrent>(model.nodes[0])->direction[0];
  const auto word = [](const float *words, size_t i) {
    uint32_t out;
    std::memcpy(&out, words + i, sizeof out);
    return out;
  };
  for (size_t unit = 0; unit < kHidden; ++unit) {
    const double lost = fixed_loss(word(model.matrix(d.w).scales, unit)) + fixed_loss(word(model.matrix(d.r).scales, unit));
    EXPECT_LT(0.5, lost);
    EXPECT_EQ(static_cast<int32_t>(std::nearbyint(double{layer.directions[0].bias[unit]} * 4096 + lost)),
              static_cast<int32_t>(word(model.weights(d.bias), unit)));
  }
}

// h and c are floats in saved states: a float session goes on from them, and the other way round.
TEST(IntegerLayers, StatesMoveToAndFromFloatSessions) {
  for (const Layer &layer : {kLayers[0], kLayers[2]}) {
    const InIntegers made(layer);
    const std::vector<float> x = data(kSteps, 1).at("X").f32;
    Session integers(made.blob()), wide(made.blob(4)), floats(made.plain());
    integers.run(x), floats.run(x);
    wide.load(0, integers.save(0));
    const std::vector<float> want = integers.run(x);
    EXPECT_EQ(want, wide.run(x));
    const std::vector<float> from_floats = floats.run(x);
    integers.load(0, floats.save(0));
    const std::vector<uint8_t> moved = integers.save(0);
    floats.load(0, moved);
    for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(want[i], from_floats[i], 0.05f);
  }
}

TEST(IntegerLayers, WhatCannotBeInIntegersSaysWhy) {
  const std::unique_ptr<compiler::OnnxModel> model = compiler::check_model(network(kLayers[0], 3.0f));
  Graph graph = compiler::compile_graph(*model, {});
  const Reference reference(graph, compiler::dense_panels(DType::kF32, 16), 5, 1, {});
  try {
    compiler::choose_integers(&graph, reference, {});
    FAIL() << "a layer that clips";
  } catch (const compiler::UsageError &e) {
    EXPECT_NE(std::string::npos, std::string(e.what()).find("'layer' is not: it clips")) << e.what();
  }
}

// Data decide c's range: what grows by more than it has room for is cut off, not wrapped.
TEST(IntegerLayers, CHasTheRangeOfTheData) {
  for (const auto &[most, bits] : {std::pair<double, uint32_t>{0.5, 15}, {1.5, 14}, {1.9, 13}, {9.0, 11}, {500.0, 8}}) {
    EXPECT_EQ(bits, compiler::bits_for_c(most)) << most;
    EXPECT_TRUE(bits == kLeastCBits || std::ldexp(most, static_cast<int>(bits)) < 32767);
  }
  const InIntegers made(kLayers[0]);
  const auto &layer = std::get<compiler::Recurrent>(made.graph().nodes[0].attr);
  EXPECT_LE(12u, layer.directions[0].c_bits);
}

TEST(IntegerLayers, ACBeyondItsRangeIsCutOff) {
  Graph graph = InIntegers(kLayers[0]).graph();
  std::get<compiler::Recurrent>(graph.nodes[0].attr).directions[0].c_bits = 15;  // within 1
  const std::vector<uint8_t> blob = compiler::write_blob(graph, compiler::dense_panels(DType::kF32, 16));
  compiler::Arrays inputs = data(kSteps, 8);
  std::vector<float> &x = inputs.at("X").f32;
  for (size_t i = 0; i < x.size(); ++i) x[i] = i / kInputs % 2 == 0 ? 10.0f : -10.0f;  // the same for a row at every step
  EXPECT_EQ("", exact(blob, inputs).difference);
  float most = 0;
  const compiler::Arrays outputs = compiler::Runner(blob).run(inputs, {});
  for (const float c : outputs.at("C").f32) most = std::max(most, std::fabs(c));
  EXPECT_EQ(32767.0f / 32768.0f, most);
}

rnnp_status plan(const BlobTables &t) {
  const rnnp_test::AlignedBytes blob(t.bytes());
  rnnp_model model;
  const rnnp_status status = rnnp_model_open(&model, blob.data(), blob.size(), 0);
  if (status != RNNP_OK) return status;
  rnnp_session_options o = RNNP_SESSION_OPTIONS_INIT;
  rnnp_memory need = RNNP_MEMORY_INIT;
  return rnnp_session_memory(&model, &o, &need);
}

TEST(IntegerLayers, MalformedOnesAreRefused) {
  const BlobTables good{InIntegers(kLayers[0]).blob()};
  ASSERT_EQ(RNNP_OK, plan(good));
  const auto changed = [&](const std::function<void(BlobTables *, AttrIntegerRecurrent *)> &change) {
    BlobTables t = good;
    auto a = t.attr<AttrIntegerRecurrent>(t.nodes[0]);
    change(&t, &a);
    t.set_attr(t.nodes[0], a);
    return plan(t);
  };
  for (const uint32_t bits : {0u, 7u, 16u, 0xffffffffu})
    EXPECT_EQ(RNNP_E_BLOB_CORRUPT, changed([&](BlobTables *, AttrIntegerRecurrent *a) { a->c_bits[0] = bits; })) << bits;
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT,
            changed([](BlobTables *t, AttrIntegerRecurrent *) { t->nodes[0].attr_bytes = sizeof(AttrRecurrent); }));
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, changed([](BlobTables *, AttrIntegerRecurrent *a) { a->layer.clip = 1; }));
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, changed([](BlobTables *, AttrIntegerRecurrent *a) { a->layer.flags = kInputForget; }));
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, changed([](BlobTables *, AttrIntegerRecurrent *a) {
              a->layer.direction[0].act[2].act = static_cast<uint32_t>(Act::kRelu);
            }));
  for (const uint32_t matrix : {0u, 1u}) {  // W, R as int8 of float layers: one of the two alone
    EXPECT_EQ(RNNP_E_LAYOUT, changed([&](BlobTables *t, AttrIntegerRecurrent *) {
                t->matrices[matrix].format = 11;
                t->matrices[matrix].unit_sums = t->matrices[matrix].scales;
                t->weights.resize(t->weights.size() + 65536);
              }))
        << matrix;
  }
  for (const float factor : {0.0f, -1.0f, 1e-35f, 1e35f, std::nanf("")})
    EXPECT_EQ(RNNP_E_BLOB_CORRUPT, changed([&](BlobTables *t, AttrIntegerRecurrent *) { t->matrices[1].lhs_scale = factor; }))
        << factor;
}

// A dense node has no integers to give.
TEST(IntegerLayers, PanelsOfIntegersAreForLayersAlone) {
  OnnxBuilder b;
  b.input("X", {"T", "N", kInputs}).output("Y").random("M", {kInputs, kHidden});
  b.node("MatMul", {"X", "M"}, {"Y"}, "dense");
  compiler::CompileOptions options;
  options.weights = "int8";
  BlobTables t(compiler::compile_model(*compiler::check_model(b.proto), options).blob);
  ASSERT_EQ(RNNP_OK, plan(t));
  t.matrices[0].format = 23;
  t.matrices[0].unit_sums = kNone;
  t.matrices[0].lhs_scale = 128;
  EXPECT_EQ(RNNP_E_LAYOUT, plan(t));
}

// Weights that nobody quantised: every word of the multipliers and biases means something, and nothing is undefined.
TEST(IntegerLayers, AnyNumbersRun) {
  for (const Layer &layer : kLayers) {
    BlobTables t{InIntegers(layer).blob()};
    for (size_t i = 0; i < t.weights.size(); ++i) t.weights[i] = static_cast<uint8_t>(i * 167 + i / 251 * 31);
    rnnp_test::Options o;
    o.max_steps = kSteps;
    Session session(t.bytes(), o);
    for (const float v : session.run(data(kSteps, 1).at("X").f32)) EXPECT_LE(std::fabs(v), 1.0f);
  }
}

}  // namespace integer_layers_test
}  // namespace rnnp::testing_support
