// feature_storage_test.cpp -- what the weights of layers over a feature axis are stored as: as the file has them, or as asked for;
// and that they run as their exact evaluation. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>

#include "compiler/calibrate/calibration.h"
#include "compiler/emit/write_blob.h"
#include "compiler/verify/exact_check.h"
#include "quantized_lstm.h"

namespace rnnp::testing_support {
namespace feature_storage_test {

constexpr int64_t kBands = 7;
const PanelFormat kPanels = compiler::dense_panels(DType::kI8, 16);

struct Kind {
  const char *op;
  int64_t gates, linear;
  const char *direction;
};
const Kind kKinds[] = {{"LSTM", 4, 0, "forward"},
                       {"LSTM", 4, 0, "bidirectional"},
                       {"GRU", 3, 0, "reverse"},
                       {"GRU", 3, 1, "bidirectional"},
                       {"RNN", 1, 0, "forward"}};

// Every row of x [N, 7 * 8] begins anew a layer along its 7 bands, whose weights the caller makes.
NodeBuilder add_layer(OnnxBuilder *b, const Kind &kind, const std::string &op, const std::vector<std::string> &weights,
                      bool with_y = true) {
  using Ints = std::vector<int64_t>;
  b->input("x", {"N", kBands * kInputs}).constant_ints("bands", {3}, {0, kBands, kInputs});
  b->node("Reshape", {"x", "bands"}, {"rows"});
  b->node("Transpose", {"rows"}, {"steps"}).with("perm", Ints{1, 0, 2});
  if (with_y) b->node("Transpose", {"all"}, {"y"}).with("perm", Ints{2, 0, 1, 3});
  b->node("Transpose", {"last"}, {"h"}).with("perm", Ints{1, 0, 2});
  std::vector<std::string> in = {"steps"};
  in.insert(in.end(), weights.begin(), weights.end());
  NodeBuilder node = b->node(op, in, {with_y ? "all" : "", "last"}, "layer");
  auto *nodes = b->proto.mutable_graph()->mutable_node();
  std::rotate(nodes->pointer_begin() + (nodes->size() - (with_y ? 3 : 2)), nodes->pointer_begin() + (nodes->size() - 1),
              nodes->pointer_end());
  node.with("hidden_size", kHidden).with("direction", kind.direction);
  if (kind.linear != 0) node.with("linear_before_reset", 1);
  if (with_y) b->output("y");
  b->output("h");
  return node;
}

OnnxBuilder floats(const Kind &kind, bool with_y = true) {
  OnnxBuilder b;
  b.weights("", kind.gates, std::string(kind.direction) == "bidirectional" ? 2 : 1, kInputs, kHidden);
  add_layer(&b, kind, kind.op, {"W", "R", "B"}, with_y);
  return b;
}

compiler::Arrays frames(size_t count) {
  compiler::Arrays arrays;
  arrays["x"].shape = {static_cast<int64_t>(count), kBands * kInputs};
  for (size_t i = 0; i < count * kBands * kInputs; ++i) arrays["x"].f32.push_back(std::sin(static_cast<float>(i * i % 1013)));
  return arrays;
}

// Its one layer with weights runs as it is evaluated; `spoil` may change what was seen.
compiler::ExactResult exactly(const std::vector<uint8_t> &blob, const std::function<void(compiler::SeenNode *)> &spoil = {}) {
  compiler::Runner runner(blob);
  Model model;
  EXPECT_TRUE(read_model(&runner.opened(), &model));
  const std::vector<bool> wanted = compiler::low_precision_nodes(model);
  compiler::SeenRun seen = compiler::watch_run(&runner, frames(5), wanted);
  for (size_t n = 0; n < wanted.size() && spoil; ++n) {
    if (wanted[n]) spoil(&seen.nodes[n]);
  }
  return compiler::check_exactly(model, seen);
}

void expect_exact(const std::vector<uint8_t> &blob, size_t numbers) {
  if (!compiler::kernels_fuse(Blob(blob).model)) return;
  const compiler::ExactResult result = exactly(blob);
  EXPECT_EQ("", result.difference);
  EXPECT_EQ(1u, result.layers);
  EXPECT_EQ(numbers, result.numbers);
}

size_t numbers_of(const Kind &kind, size_t rows = 5) {
  return rows * (kBands + 1) * kHidden * (std::string(kind.direction) == "bidirectional" ? 2 : 1);
}

TEST(FeatureStorage, IntegersAndScalesOfTheFileAreThoseOfThePanels) {
  OnnxBuilder b(21);
  const std::vector<int64_t> w = integers(kRows * kInputs, 120, 1), r = integers(kRows * kHidden, 127, 5);
  b.random("B", {1, 2 * kRows}, 0.1);
  add_quantized(&b, "W", kInputs, w, scales(kRows), {kRows});
  add_quantized(&b, "R", kHidden, r, scales(kRows), {kRows});
  for (const std::string name : {"W", "R"}) b.node("DequantizeLinear", {name + "_q", name + "_s"}, {name}).with("axis", 1);
  add_layer(&b, kKinds[0], "LSTM", {"W", "R", "B"});
  const compiler::Compiled made = compiled(b.proto);
  const Blob blob(made.blob);
  expect_integers(blob, 0, w, scales(kRows));
  expect_integers(blob, 1, r, scales(kRows));
  ASSERT_EQ(1u, made.graph.notes.size());
  EXPECT_NE(std::string::npos, made.graph.notes[0].find("int8 weights and their scales are kept")) << made.graph.notes[0];
  EXPECT_LT(30, sqnr_against_f64(b.proto, made.blob));
  expect_exact(made.blob, numbers_of(kKinds[0]));
  EXPECT_EQ(DType::kF32, Blob(compiled(b.proto, "f32").blob).matrix(0).format.weight);
}

TEST(FeatureStorage, DynamicallyQuantizedLayersStayInBytes) {
  for (const int64_t directions : {1, 2}) {
    OnnxBuilder b(17);
    b.random("B", {directions, 2 * kRows}, 0.1);
    for (const auto &matrix : {std::make_pair(std::string("W"), kInputs), std::make_pair(std::string("R"), kHidden)}) {
      const std::string &name = matrix.first;
      b.constant_ints(name, {directions, matrix.second, kRows}, integers(directions * matrix.second * kRows, 50, 3),
                      onnx::TensorProto::INT8);
      b.constant(name + "s", {directions}, std::vector<float>(static_cast<size_t>(directions), 0.004f));
      b.constant_ints(name + "z", {directions}, std::vector<int64_t>(static_cast<size_t>(directions), 0), onnx::TensorProto::INT8);
    }
    const Kind &kind = kKinds[directions - 1];
    add_layer(&b, kind, "DynamicQuantizeLSTM", {"W", "R", "B", "", "", "", "", "Ws", "Wz", "Rs", "Rz"})
        .proto()
        .set_domain("com.microsoft");
    const compiler::Compiled made = compiled(b.proto);
    const Blob blob(made.blob);
    for (uint32_t i = 0; i < blob.model.matrices.count; ++i) EXPECT_EQ(DType::kI8, blob.matrix(i).format.weight) << i;
    EXPECT_LT(30, sqnr_against_f64(b.proto, made.blob));
    expect_exact(made.blob, numbers_of(kind));
  }
}

TEST(FeatureStorage, AnyTypeThatIsAskedForRunsAsItsEvaluation) {
  for (const Kind &kind : kKinds) {
    const OnnxBuilder b = floats(kind);
    for (const char *type : {"int8", "bf16", "f16", "int4", "q8_0"}) {
      SCOPED_TRACE(std::string(kind.op) + " " + kind.direction + " " + type);
      const std::vector<uint8_t> blob = compiled(b.proto, type).blob;
      EXPECT_LT(std::string(type) == "int4" ? 8 : 30, sqnr_against_f64(b.proto, blob));
      expect_exact(blob, numbers_of(kind));
    }
  }
}

TEST(FeatureStorage, EachMatrixHasTheTypeThatIsAskedForIt) {
  for (const Kind &kind : kKinds) {
    SCOPED_TRACE(std::string(kind.op) + " " + kind.direction);
    const OnnxBuilder b = floats(kind);
    compiler::CompileOptions options;
    options.weights = "int8";
    options.recurrent_weights = "f32";
    const compiler::Compiled bytes_of_w = compiler::compile_model(*compiler::check_model(b.proto), options);
    EXPECT_EQ(DType::kI8, Blob(bytes_of_w.blob).matrix(0).format.weight);
    EXPECT_EQ(DType::kF32, Blob(bytes_of_w.blob).matrix(1).format.weight);
    expect_exact(bytes_of_w.blob, numbers_of(kind));
    options.keep_float = {"layer"};
    const compiler::Compiled kept = compiler::compile_model(*compiler::check_model(b.proto), options);
    EXPECT_EQ(DType::kF32, Blob(kept.blob).matrix(0).format.weight);
  }
}

// Steps and final states, of every direction.
TEST(FeatureStorage, OneBitIsNamed) {
  const std::vector<uint8_t> blob = compiled(floats(kKinds[1]).proto, "int8").blob;
  if (!compiler::kernels_fuse(Blob(blob).model)) GTEST_SKIP() << "the kernels here round products before they add them";
  for (const size_t out : {0, 1}) {
    for (const size_t element : {size_t{0}, size_t{2 * kHidden - 1}}) {
      const compiler::ExactResult result = exactly(blob, [&](compiler::SeenNode *seen) {
        compiler::SeenRows &rows = seen->out[out];
        float &v = rows.rows[3 * rows.elems + element];
        v = std::nextafter(v, 10.0f);
      });
      const std::string place = "node 'layer', step 0, row 3, element " + std::to_string(element) + ":";
      EXPECT_NE(std::string::npos, result.difference.find(place)) << result.difference;
    }
  }
}

// R is multiplied by what each step starts from, anew in every frame; y is seen where only the final state is wanted.
TEST(FeatureStorage, RowsOfRAreThoseThatStepsStartFrom) {
  const Kind &kind = kKinds[1];
  compiler::Graph graph = compiled(floats(kind, false).proto, "int8").graph;
  const compiler::Reference reference(graph, kPanels, 3, 1, {});
  size_t checked = 0;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const auto matrices = compiler::matrices_of(&graph.nodes[n]);
    const compiler::SeenNode &seen = reference.seen().nodes[n];
    for (size_t i = 0; i < matrices.size(); ++i) {
      if (!matrices[i].recurrent) continue;
      const auto direction = static_cast<uint32_t>(i / 2);
      std::vector<std::vector<float>> got, want;
      compiler::visit_rows(graph.nodes[n], seen, matrices[i], direction,
                           [&](const float *row, size_t k) { got.emplace_back(row, row + k); });
      for (size_t frame = 0; frame < 3; ++frame) {
        for (int64_t band = direction; band < kBands - 1 + direction; ++band) {
          const float *row = seen.out[0].row(frame) + (2 * band + direction) * kHidden;
          want.emplace_back(row, row + kHidden);
        }
      }
      EXPECT_EQ(want, got) << direction;
    }
    checked += matrices.size();
  }
  EXPECT_EQ(4u, checked);
}

}  // namespace feature_storage_test
}  // namespace rnnp::testing_support
