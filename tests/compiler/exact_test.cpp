// exact_test.cpp -- layers of low precision and of blocks beside their evaluation from the blob's own numbers.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <set>

#include "compiler/emit/write_blob.h"
#include "compiler/verify/exact_check.h"
#include "conv_layer_dense.h"
#include "format/model.h"
#include "support/blob_builder.h"

namespace rnnp::testing_support {
namespace exact_test {

compiler::ExactResult exact(const std::vector<uint8_t> &blob, const std::function<void(compiler::SeenRun *)> &spoil = {}) {
  compiler::Runner runner(blob);
  Model model;
  EXPECT_TRUE(read_model(&runner.opened(), &model));
  compiler::SeenRun seen = compiler::watch_run(&runner, data(), compiler::low_precision_nodes(model));
  if (spoil) spoil(&seen);
  return compiler::check_exactly(model, seen);
}

bool can_compare() {
  compiler::Runner runner(compiler::write_blob(graph_of(network(kCells[3]), "int8"), kPanels));
  Model model;
  return read_model(&runner.opened(), &model) && compiler::kernels_fuse(model);
}

// Leaves one block in eight of a recurrent layer's matrix, and one number of each gate. Of height 1: single weights.
void keep_blocks(onnx::ModelProto *proto, const std::string &name, int64_t gates, int64_t height) {
  const int64_t width = height == 1 ? 1 : 4;
  for (auto &tensor : *proto->mutable_graph()->mutable_initializer()) {
    if (tensor.name() != name) continue;
    const int64_t k = tensor.dims(2), rows = tensor.dims(0) * tensor.dims(1);
    for (int64_t at = 0; at < rows * k; ++at) {
      const int64_t unit = at / k % kLayerHidden, block = unit / height * 5 + at % k / width + at / k / kLayerHidden;
      if (block % 8 != 0) tensor.set_float_data(static_cast<int>(at), 0.0f);
    }
    for (int64_t gate = 0; gate < tensor.dims(0) * gates; ++gate)
      tensor.set_float_data(static_cast<int>(gate * kLayerHidden * k), 0.25f);
  }
}

std::vector<uint32_t> index_bytes_of(const std::vector<uint8_t> &blob) {
  compiler::Runner runner(blob);
  Model model;
  EXPECT_TRUE(read_model(&runner.opened(), &model));
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < model.matrices.count; ++i) out.push_back(model.matrix(i).format.index_bytes);
  return out;
}

TEST(Exact, LayersOfLowPrecisionGiveTheBitsOfTheirEvaluation) {
  if (!can_compare()) GTEST_SKIP() << "the kernels here round products before they add them";
  for (const Cell &cell : kCells) {
    for (const char *type : {"int8", "bf16", "f16", "int4", "int4:64", "q8_0", "q4_0"}) {
      SCOPED_TRACE(std::string(cell.op) + " " + cell.direction + " " + type);
      const compiler::ExactResult result = exact(compiler::write_blob(graph_of(network(cell), type), kPanels));
      EXPECT_EQ("", result.difference);
      EXPECT_EQ(3u, result.layers);
      EXPECT_TRUE(result.skipped.empty());
      const int64_t directions = std::string(cell.direction) == "bidirectional" ? 2 : 1;
      EXPECT_EQ(static_cast<size_t>(kSteps * (kLayerInputs + directions * kLayerHidden + kOutputs)), result.numbers);
    }
  }
}

// Blocks of 16 x 4, 8 x 4 and 4 x 4, and single weights: of a height that the matrix's own zeros have.
TEST(Exact, LayersOfBlocksGiveTheBitsOfTheirEvaluation) {
  if (!can_compare()) GTEST_SKIP() << "the kernels here round products before they add them";
  std::set<uint32_t> heights;
  for (const Cell &cell : kCells) {
    for (const int64_t height : {16, 8, 4, 1}) {
      for (const char *type : {"f32", "bf16", "int8"}) {
        if (height == 1 && std::string(type) == "bf16") continue;
        SCOPED_TRACE(std::string(cell.op) + " " + cell.direction + " " + type + " " + std::to_string(height));
        onnx::ModelProto proto = network(cell);
        for (const char *name : {"W", "R"}) keep_blocks(&proto, name, cell.gates, height);
        compiler::CompileOptions options;
        options.weights = type;
        options.sparse = height == 1 ? "pairs" : "blocks";
        const std::vector<uint8_t> blob = compiler::compile_model(*compiler::check_model(proto), options).blob;
        const compiler::ExactResult result = exact(blob);
        EXPECT_EQ("", result.difference);
        EXPECT_TRUE(result.skipped.empty());
        EXPECT_EQ(std::string(type) == "f32" ? 1u : 3u, result.layers);
        for (const uint32_t bytes : index_bytes_of(blob)) heights.insert(bytes);
      }
    }
  }
  EXPECT_EQ((std::set<uint32_t>{0, 2, 4, 8, 32}), heights);
}

// A GRU's gates and its candidate read the same h, as bytes of steps of their own.
TEST(Exact, PartsOfRThatAreQuantisedApartGiveTheBitsOfTheirEvaluation) {
  if (!can_compare()) GTEST_SKIP() << "the kernels here round products before they add them";
  for (const char *type : {"int8", "int4"}) {
    SCOPED_TRACE(type);
    std::vector<uint8_t> blob = compiler::write_blob(graph_of(network(kCells[2]), type), kPanels);
    compiler::Runner runner(blob);
    Model model;
    ASSERT_TRUE(read_model(&runner.opened(), &model));
    for (uint32_t n = 0; n < model.nodes.count; ++n) {
      const AttrRecurrent *layer = model.attr<AttrRecurrent>(model.nodes[n]);
      if (OpKind(model.nodes[n].op) != OpKind::kRecurrent) continue;
      for (uint32_t d = 0; d < layer->direction_count; ++d) {
        const auto *matrix = reinterpret_cast<const uint8_t *>(&model.matrices[layer->direction[d].r_output].lhs_scale);
        const float coarser = 1.0f / 50;
        std::memcpy(blob.data() + (matrix - model.blob), &coarser, sizeof coarser);
      }
    }
    rnnp_test::reseal(&blob);
    EXPECT_EQ("", exact(blob).difference);
  }
}

// A layer over the last step: its operand is a tensor of the run, whose memory holds something else until the last chunk.
TEST(Exact, LayersOfTheLastStepAreSeenInTheChunkThatMakesThem) {
  if (!can_compare()) GTEST_SKIP() << "the kernels here round products before they add them";
  OnnxBuilder b;
  b.input("X", {"T", 1, kLayerInputs})
      .output("Y")
      .weights("", 3, 1, kLayerInputs, kLayerHidden)
      .random("D", {kLayerHidden, kOutputs}, 0.3);
  b.node("GRU", {"X", "W", "R", "B"}, {"all", "last"}).with("hidden_size", kLayerHidden);
  b.node("Relu", {"last"}, {"positive"});
  b.node("MatMul", {"positive", "D"}, {"Y"}, "dense");
  compiler::Arrays x;
  x["X"].shape = {1000, 1, kLayerInputs};
  for (int64_t i = 0; i < 1000 * kLayerInputs; ++i) x["X"].f32.push_back(std::sin(static_cast<float>(i * i % 1013)));
  for (const char *weights : {"bf16", "int8"}) {
    compiler::Runner runner(compiler::write_blob(graph_of(b.proto, weights), kPanels));
    std::string report;
    EXPECT_TRUE(compiler::is_exact(&runner, x, compiler::kAllWork, &report)) << weights << ": " << report;
    EXPECT_NE(report.find("of 2 layers"), std::string::npos) << report;
  }
}

// A layer along features of which only the final state is read has no first output.
TEST(Exact, LayersBehindALayerAlongFeaturesAreSeen) {
  if (!can_compare()) GTEST_SKIP() << "the kernels here round products before they add them";
  constexpr int64_t kPatches = 4;
  OnnxBuilder b;
  b.input("X", {"N", kPatches * kLayerInputs})
      .output("Y")
      .weights("", 3, 1, kLayerInputs, kLayerHidden)
      .random("D", {kLayerHidden, kOutputs}, 0.3);
  b.constant_ints("patches", {3}, {0, kPatches, kLayerInputs}).constant_ints("first", {1}, {0});
  b.node("Reshape", {"X", "patches"}, {"p"});
  b.node("Transpose", {"p"}, {"t"}).with("perm", std::vector<int64_t>{1, 0, 2});
  b.node("GRU", {"t", "W", "R", "B"}, {"", "last"}).with("hidden_size", kLayerHidden).with("linear_before_reset", 1);
  b.node("Squeeze", {"last", "first"}, {"rows"});
  b.node("MatMul", {"rows", "D"}, {"Y"}, "dense");
  compiler::Arrays x;
  x["X"].shape = {2, kPatches * kLayerInputs};
  for (int64_t i = 0; i < 2 * kPatches * kLayerInputs; ++i) x["X"].f32.push_back(std::sin(static_cast<float>(i * i % 1013)));
  compiler::Runner runner(compiler::write_blob(graph_of(b.proto, "int8"), kPanels));
  std::string report;
  EXPECT_TRUE(compiler::is_exact(&runner, x, compiler::kAllWork, &report)) << report;
}

TEST(Exact, OneBitIsNamed) {
  if (!can_compare()) GTEST_SKIP() << "the kernels here round products before they add them";
  const std::vector<uint8_t> blob = compiler::write_blob(graph_of(network(kCells[3]), "int8"), kPanels);
  for (const char *name : {"conv", "layer", "dense"}) {
    compiler::Runner runner(blob);
    Model model;
    ASSERT_TRUE(read_model(&runner.opened(), &model));
    const compiler::ExactResult result = exact(blob, [&](compiler::SeenRun *seen) {
      for (uint32_t n = 0; n < model.nodes.count; ++n) {
        if (model.string(model.nodes[n].name) != std::string(name)) continue;
        float &v = seen->nodes[n].out[0].rows[3];
        v = std::nextafter(v, 10.0f);
      }
    });
    EXPECT_NE(std::string::npos, result.difference.find(std::string("node '") + name + "', step 0, row 0, element 3"))
        << result.difference;
  }
}

}  // namespace exact_test
}  // namespace rnnp::testing_support
