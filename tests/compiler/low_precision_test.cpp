// low_precision_test.cpp -- low-precision weights than f32, from the ONNX file to the results. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "compiler/compile.h"
#include "compiler/emit/panel_choice.h"
#include "compiler/emit/write_blob.h"
#include "compiler/eval/eval.h"
#include "compiler/onnx/problem.h"
#include "compiler/quantize/choose_storage.h"
#include "compiler/quantize/prune.h"
#include "compiler/verify/comparison.h"
#include "onnx_builder.h"
#include "pack/pack.h"

namespace rnnp::testing_support {
namespace low_precision_test {

constexpr int64_t kInputs = 19, kHidden = 37, kOutputs = 11, kSteps = 9, kBatch = 3;

struct Cell {
  const char *op;
  int64_t gates, linear;
};
const Cell kCells[] = {{"RNN", 1, 0}, {"GRU", 3, 0}, {"GRU", 3, 1}, {"LSTM", 4, 0}};

// A layer of each kind and a dense one. `given`: the initial state is an input.
onnx::ModelProto network(const Cell &cell, bool given = false) {
  OnnxBuilder b;
  b.input("X", {"T", "N", kInputs}).output("Y").output("H");
  if (given) b.input("S", {1, "N", kHidden});
  b.weights("", cell.gates, 1, kInputs, kHidden).random("M", {kHidden, kOutputs}).constant_ints("axes", {1}, {1});
  std::vector<std::string> in = {"X", "W", "R", "B"};
  if (given) in.insert(in.end(), {"", "S"});
  NodeBuilder node = b.node(cell.op, in, {"y4", "H"}, "layer");
  node.with("hidden_size", kHidden);
  if (cell.linear != 0) node.with("linear_before_reset", 1);
  b.node("Squeeze", {"y4", "axes"}, {"y"});
  b.node("MatMul", {"y", "M"}, {"Y"});
  return b.proto;
}

std::vector<uint8_t> blob_of(const onnx::ModelProto &proto, const std::string &weights, const std::string &recurrent = "",
                             bool bf16_products = false) {
  compiler::CompileOptions options;
  options.bf16_products = bf16_products;
  options.weights = weights;
  options.recurrent_weights = recurrent;
  return compiler::compile_model(*compiler::check_model(proto), options).blob;
}

compiler::Arrays inputs(bool given) {
  compiler::Arrays arrays;
  const auto fill = [&](const std::string &name, std::vector<int64_t> shape, float size) {
    compiler::Array &a = arrays[name];
    a.shape = shape;
    a.f32.resize(static_cast<size_t>(shape[0] * shape[1] * shape[2]));
    for (size_t i = 0; i < a.f32.size(); ++i) a.f32[i] = size * std::sin(static_cast<float>(i * i % 1013));
  };
  fill("X", {kSteps, kBatch, kInputs}, 1.0f);
  if (given) fill("S", {1, kBatch, kHidden}, 3.0f);
  return arrays;
}

compiler::Arrays run(const std::vector<uint8_t> &blob, bool given = false) {
  return compiler::Runner(blob).run(inputs(given), {});
}

float stored(const std::string &type, float w) {
  uint32_t bits = uint32_t{nearest_bf16(w)} << 16;
  if (type == "bf16") {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  int exponent;
  std::frexp(w, &exponent);
  const int step = std::max(exponent - 11, -24);
  return std::ldexp(std::nearbyint(std::ldexp(w, -step)), step);
}

TEST(LowPrecision, SixteenBitsGiveTheBitsOfTheRoundedWeights) {
  for (const Cell &cell : kCells) {
    for (const std::string type : {"f16", "bf16"}) {
      SCOPED_TRACE(std::string(cell.op) + " " + std::to_string(cell.linear) + " " + type);
      const onnx::ModelProto proto = network(cell);
      onnx::ModelProto rounded = proto;
      for (auto &tensor : *rounded.mutable_graph()->mutable_initializer()) {
        if (tensor.name() == "B") continue;
        for (float &w : *tensor.mutable_float_data()) w = stored(type, w);
        ASSERT_TRUE(tensor.float_data_size() != 0 || tensor.data_type() != onnx::TensorProto::FLOAT);
      }
      const compiler::Arrays got = run(blob_of(proto, type)), want = run(blob_of(rounded, "f32"));
      for (const auto &output : want) {
        ASSERT_EQ(0, std::memcmp(output.second.f32.data(), got.at(output.first).f32.data(), output.second.f32.size() * 4));
      }
      EXPECT_NE(0, std::memcmp(got.at("Y").f32.data(), run(blob_of(proto, "f32")).at("Y").f32.data(), got.at("Y").f32.size() * 4));
    }
  }
}

double sqnr(const compiler::Array &got, const compiler::Array &want) {
  double signal = 0, noise = 0;
  for (size_t i = 0; i < want.f32.size(); ++i) {
    const double error = double{got.f32[i]} - double{want.f32[i]};
    signal += double{want.f32[i]} * want.f32[i];
    noise += error * error;
  }
  return 10 * std::log10(signal / noise);
}

// x and h rounded to bf16 cost about what its weights do.
TEST(LowPrecision, ProductsOfBf16CostNoMoreThanTheirRounding) {
  for (const Cell &cell : kCells) {
    for (const char *recurrent : {"", "f32", "int8"}) {
      SCOPED_TRACE(std::string(cell.op) + " " + std::to_string(cell.linear) + " R " + recurrent);
      const onnx::ModelProto proto = network(cell);
      const std::vector<uint8_t> weights = blob_of(proto, "bf16", recurrent), products = blob_of(proto, "bf16", recurrent, true);
      EXPECT_EQ(weights.size(), products.size());
      const compiler::Arrays of_weights = run(weights), got = run(products), want = run(blob_of(proto, "f32"));
      EXPECT_LT(sqnr(of_weights.at("Y"), want.at("Y")) - 8, sqnr(got.at("Y"), want.at("Y")));
      EXPECT_NE(0, std::memcmp(got.at("Y").f32.data(), of_weights.at("Y").f32.data(), got.at("Y").f32.size() * 4));
    }
  }
}

// Bytes of a scale each, x and h in bytes as well: near 40 dB. A given state beyond 1 has a scale of its own.
TEST(LowPrecision, BytesCostNoMoreThanTheirRounding) {
  for (const Cell &cell : kCells) {
    for (const bool given : {false, true}) {
      const onnx::ModelProto proto = network(cell, given);
      const std::vector<uint8_t> f32 = blob_of(proto, "f32"), bytes = blob_of(proto, "int8");
      EXPECT_LT(bytes.size(), f32.size() / 2);
      for (const char *recurrent : {"int8", "f32", "bf16"}) {
        SCOPED_TRACE(std::string(cell.op) + " " + std::to_string(cell.linear) + " R " + recurrent);
        const compiler::Arrays got = run(blob_of(proto, "int8", recurrent), given), want = run(f32, given);
        EXPECT_LT(30, sqnr(got.at("Y"), want.at("Y")));
        EXPECT_GT(70, sqnr(got.at("Y"), want.at("Y")));
        EXPECT_LT(30, sqnr(got.at("H"), want.at("H")));
      }
    }
  }
}

// Bytes that differ tell: the layer alone, the dense node alone, both.
// What small CPUs have orders of bytes of their own for: the bits of the plain order, in kernels that are plain here.
TEST(LowPrecision, OrdersOfBytesGiveTheSameBits) {
  for (const Cell &cell : kCells) {
    compiler::CompileOptions options;
    options.weights = "int8";
    const auto model = compiler::check_model(network(cell));
    std::vector<std::vector<uint8_t>> blobs;
    for (const char *target : {"cortex-m", "cortex-m4", "cortex-m55"}) {
      options.target = target;
      blobs.push_back(compiler::compile_model(*model, options).blob);
    }
    const compiler::Arrays plain = run(blobs[0]), smlad = run(blobs[1]), runs = run(blobs[2]);
    EXPECT_NE(blobs[0], blobs[1]);
    EXPECT_NE(blobs[0], blobs[2]);
    for (const auto &[name, array] : plain) {
      EXPECT_EQ(array.f32, smlad.at(name).f32) << cell.op << ' ' << name;
      EXPECT_EQ(array.f32, runs.at(name).f32) << cell.op << ' ' << name;
    }
  }
}

TEST(LowPrecision, ANodeThatIsNamedKeepsItsFloats) {
  const onnx::ModelProto proto = network(kCells[3]);
  const auto bytes = [&](const std::vector<std::string> &keep) {
    compiler::CompileOptions options;
    options.weights = "int8";
    options.keep_float = keep;
    return compiler::compile_model(*compiler::check_model(proto), options).blob;
  };
  EXPECT_EQ(blob_of(proto, "int8"), bytes({}));
  EXPECT_LT(bytes({}).size() + 3 * 4 * kHidden * (kInputs + kHidden) - 8192, bytes({"layer"}).size());
  EXPECT_LT(bytes({"layer"}).size(), bytes({"layer", "Y"}).size());
  try {
    bytes({"lager"});
    ADD_FAILURE();
  } catch (const compiler::UsageError &error) {
    EXPECT_STREQ("no node 'lager' has weights that could be stored otherwise; accepted: 'layer', 'Y'", error.what());
  }
}

// Half a byte each and a scale for 32 or 64 k: fewer bytes still, and an error ten times that of bytes or so.
TEST(LowPrecision, Int4CostTheirRounding) {
  for (const Cell &cell : kCells) {
    const onnx::ModelProto proto = network(cell);
    const std::vector<uint8_t> f32 = blob_of(proto, "f32"), small = blob_of(proto, "int4");
    EXPECT_LT(small.size(), blob_of(proto, "int8").size());
    for (const char *recurrent : {"int4", "int4:64", "int8"}) {
      SCOPED_TRACE(std::string(cell.op) + " " + std::to_string(cell.linear) + " R " + recurrent);
      const compiler::Arrays got = run(blob_of(proto, "int4", recurrent)), want = run(f32);
      EXPECT_LT(10, sqnr(got.at("Y"), want.at("Y")));
      EXPECT_GT(50, sqnr(got.at("Y"), want.at("Y")));
    }
  }
}

// A scale for every 32 inputs: the error of int8 and int4 is less.
TEST(LowPrecision, ScalesOfGroupsCostLess) {
  for (const Cell &cell : kCells) {
    const onnx::ModelProto proto = network(cell);
    const compiler::Arrays want = run(blob_of(proto, "f32"));
    const auto of = [&](const char *type) { return sqnr(run(blob_of(proto, type)).at("Y"), want.at("Y")); };
    SCOPED_TRACE(std::string(cell.op) + " " + std::to_string(cell.linear));
    EXPECT_LT(of("int8") - 1, of("q8_0"));
    EXPECT_LT(of("int4") - 3, of("q4_0"));
  }
}

// The integers that a group of GGUF's Q4_0 has, -8 to 7 with -8 among them, times a scale of either sign, are found again.
TEST(LowPrecision, Q40KeepsTheIntegersOfAFile) {
  constexpr uint32_t kUnits = 5, kDepth = 80, kGroups = 3;
  compiler::Dense dense;
  dense.input_size = kDepth;
  dense.output_size = kUnits;
  std::vector<float> scales;
  for (uint32_t i = 0; i < kUnits * kGroups; ++i)
    scales.push_back(static_cast<float>(i * 7 + 1) * (i % 2 == 0 ? 0x1p-12f : -0x1p-12f));
  for (uint32_t i = 0; i < kUnits * kDepth; ++i) {
    const int q = i % kDepth % 32 == 3 ? -8 : static_cast<int>(i * 5 % 15) - 7;
    dense.w.push_back(static_cast<float>(q) * scales[i / kDepth * kGroups + i % kDepth / 32]);
  }
  compiler::Graph graph;
  graph.values.resize(2);
  graph.nodes.push_back({OpKind::kDense, "fc", {0}, {1}, dense});
  compiler::StorageRequest request;
  request.weights = compiler::weight_type("q4_0");
  compiler::choose_storage(&graph, request);
  const compiler::Storage &storage = std::get<compiler::Dense>(graph.nodes[0].attr).storage;
  EXPECT_EQ(DType::kI4, storage.type);
  EXPECT_EQ(scales, storage.scales);
  const PanelFormat format = compiler::dense_panels(DType::kI4, 16);
  const MatrixSource source = {dense.w.data(), kUnits, kDepth, 0, 1, storage.group_k, storage.scales.data()};
  const PackedMatrix packed = pack_matrix(format, source);
  for (uint32_t i = 0; i < kUnits * kDepth; ++i) {
    const size_t place = place_in_panels(format, source, 0, i / kDepth, i % kDepth);
    const uint8_t byte = packed.panels[place / 8 * 4 + place % 4];
    const int q = (place % 8 < 4 ? byte & 15 : byte >> 4) - 8;
    ASSERT_EQ(dense.w[i], static_cast<float>(q) * scales[i / kDepth * kGroups + i % kDepth / 32]) << i;
  }
}

// R and W of blocks of 8 x 4, or of single weights, one in ten of them there.
onnx::ModelProto sparse_network(const Cell &cell, int64_t height = 8, int64_t width = 4) {
  onnx::ModelProto proto = network(cell);
  std::mt19937 rng(7);
  for (auto &tensor : *proto.mutable_graph()->mutable_initializer()) {
    if (tensor.name() != "R" && tensor.name() != "W") continue;
    const int64_t k = tensor.dims(2), rows = tensor.dims(1);
    for (int64_t unit = 0; unit < rows; unit += height) {
      for (int64_t first = 0; first < k; first += width) {
        if (rng() % 10 == 0) continue;
        for (int64_t row = unit; row < std::min(unit + height, rows); ++row)
          for (int64_t i = first; i < std::min(first + width, k); ++i) tensor.set_float_data(static_cast<int>(row * k + i), 0.0f);
      }
    }
    for (int64_t gate = 0; gate < cell.gates; ++gate) tensor.set_float_data(static_cast<int>(gate * kHidden * k), 0.25f);
  }
  return proto;
}

std::vector<uint8_t> sparse_blob(const onnx::ModelProto &proto, const std::string &weights, const std::string &sparse) {
  compiler::CompileOptions options;
  options.weights = weights;
  options.sparse = sparse;
  return compiler::compile_model(*compiler::check_model(proto), options).blob;
}

// Of bytes the bits are those of all of the matrix; of floats the sums have another order.
TEST(LowPrecision, BlocksGiveWhatAllOfTheMatrixGives) {
  for (const Cell &cell : kCells) {
    const onnx::ModelProto proto = sparse_network(cell);
    for (const std::string type : {"f32", "bf16", "int8"}) {
      SCOPED_TRACE(std::string(cell.op) + " " + std::to_string(cell.linear) + " " + type);
      const std::vector<uint8_t> dense = sparse_blob(proto, type, "off"), blocks = sparse_blob(proto, type, "blocks");
      EXPECT_LT(blocks.size(), dense.size());
      const compiler::Arrays got = run(blocks), want = run(dense);
      for (const auto &output : want) {
        const std::vector<float> &a = output.second.f32, &b = got.at(output.first).f32;
        ASSERT_EQ(a.size(), b.size());
        for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], type == "int8" ? 0.0 : 2e-6) << i;
      }
    }
  }
  EXPECT_EQ(sparse_blob(network(kCells[3]), "int8", "off"), sparse_blob(network(kCells[3]), "int8", ""));
  EXPECT_THROW(sparse_blob(network(kCells[3]), "int8", "some"), compiler::UsageError);
}

TEST(LowPrecision, SingleWeightsGiveWhatAllOfTheMatrixGives) {
  for (const Cell &cell : kCells) {
    const onnx::ModelProto proto = sparse_network(cell, 1, 1);
    for (const std::string type : {"f32", "int8"}) {
      SCOPED_TRACE(std::string(cell.op) + " " + std::to_string(cell.linear) + " " + type);
      const std::vector<uint8_t> dense = sparse_blob(proto, type, "off"), pairs = sparse_blob(proto, type, "pairs");
      EXPECT_LT(pairs.size(), dense.size());
      const compiler::Arrays got = run(pairs), want = run(dense);
      for (const auto &output : want) {
        const std::vector<float> &a = output.second.f32, &b = got.at(output.first).f32;
        ASSERT_EQ(a.size(), b.size());
        for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], type == "int8" ? 0.0 : 2e-6) << i;
      }
    }
  }
}

// A form that is asked for by its name and cannot be is said to be left out.
TEST(LowPrecision, WhatCannotBeSingleWeightsIsSaid) {
  const auto notes_of = [](const std::string &weights, const std::string &target, double kept) {
    compiler::CompileOptions options;
    options.weights = weights;
    options.target = target;
    options.sparse = "pairs";
    std::string all;
    const onnx::ModelProto proto = kept < 1 ? sparse_network(kCells[3], 1, 1) : network(kCells[3]);
    for (const std::string &note : compiler::compile_model(*compiler::check_model(proto), options).graph.notes) all += note + '\n';
    return all;
  };
  const std::string refusal = "R is stored in full: pairs are of f32 or int8, and in panels of 16 units";
  for (const char *type : {"bf16", "f16", "int4"}) {
    const std::string notes = notes_of(type, "generic", 0.1);
    EXPECT_NE(std::string::npos, notes.find("warning: node 'layer': " + refusal)) << type << ": " << notes;
  }
  EXPECT_NE(std::string::npos, notes_of("f32", "cortex-m", 0.1).find(refusal));
  EXPECT_NE(std::string::npos, notes_of("f32", "generic", 0.1).find("R is stored as pairs of index and weight"));
  const std::string dense = notes_of("f32", "generic", 1);
  EXPECT_NE(std::string::npos, dense.find("R is stored in full: pairs would be ")) << dense;
  EXPECT_EQ(std::string::npos, dense.find("warning")) << dense;
}

// Whole blocks of a gate's units, those whose every weight is below the size; nothing else changes.
TEST(LowPrecision, PruningLeavesOutBlocksOfSmallWeightsAndNoOthers) {
  for (const uint32_t height : {16u, 8u, 4u, 1u}) {
    const size_t width = height == 1 ? 1 : 4;
    compiler::Graph graph = compiler::compile_model(*compiler::check_model(network(kCells[3])), compiler::CompileOptions()).graph;
    const compiler::Graph before = graph;
    float size = 0;
    for (const compiler::Node &node : graph.nodes) {
      const auto *layer = std::get_if<compiler::Recurrent>(&node.attr);
      for (size_t i = 0; layer != nullptr && i < layer->directions[0].r.size(); ++i)
        size = std::max(size, 0.85f * std::fabs(layer->directions[0].r[i]));
    }
    compiler::prune(&graph, {size, height});
    size_t left_out = 0, notes = 0;
    for (const std::string &note : graph.notes) notes += note.find("warning: node") != std::string::npos;
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      const auto *layer = std::get_if<compiler::Recurrent>(&graph.nodes[n].attr);
      if (layer == nullptr) continue;
      const std::vector<float> &now = layer->directions[0].r,
                               &was = std::get<compiler::Recurrent>(before.nodes[n].attr).directions[0].r;
      for (size_t i = 0; i < was.size(); ++i) {
        const size_t row = i / kHidden, gate = row / kHidden * kHidden, strip = row % kHidden / height * height,
                     column = i % kHidden / width * width;
        float largest = 0;
        for (size_t unit = strip; unit < std::min<size_t>(strip + height, kHidden); ++unit)
          for (size_t k = column; k < std::min<size_t>(column + width, kHidden); ++k)
            largest = std::max(largest, std::fabs(was[(gate + unit) * kHidden + k]));
        ASSERT_EQ(largest < size ? 0.0f : was[i], now[i]) << i;
        left_out += now[i] != was[i];
      }
    }
    EXPECT_LT(height == 4 ? 100u : 0u, left_out);
    EXPECT_LT(0u, notes);
  }
  for (const char *text : {"", "0", "-1", "x", "0.1:", "0.1:5", "0.1:16x", "nan", "inf", "1e60"})
    EXPECT_THROW(compiler::pruning_named(text), compiler::UsageError) << text;
  EXPECT_EQ(8u, compiler::pruning_named("0.5:8").height);
  EXPECT_EQ(16u, compiler::pruning_named("0.5").height);
}

std::string refusal(const onnx::ModelProto &proto, const std::string &weights) {
  try {
    blob_of(proto, weights);
  } catch (const std::exception &error) {
    return error.what();
  }
  return "";
}

TEST(LowPrecision, WhatCannotBeStoredIsNamed) {
  onnx::ModelProto proto = network(kCells[3]);
  EXPECT_EQ("unknown type of weights 'int9'; accepted: f32, f16, bf16, int8, int4, q8_0, q4_0", refusal(proto, "int9"));
  for (const char *odd : {"int4:", "int4:33", "int4:x", "int4:0", "int4:99999999", "int4:-32"})
    EXPECT_NE(std::string::npos, refusal(proto, odd).find("a multiple of 32")) << odd;
  EXPECT_NE(std::string::npos, refusal(proto, "int8:32").find("with int4 only"));
  for (auto &tensor : *proto.mutable_graph()->mutable_initializer()) {
    if (tensor.name() == "R") tensor.set_float_data(7, std::nanf(""));
  }
  EXPECT_EQ("", refusal(proto, "bf16"));
  const std::string text = refusal(proto, "int8");
  EXPECT_NE(std::string::npos, text.find("'layer'")) << text;
  EXPECT_NE(std::string::npos, text.find("--weights f32")) << text;
}

// h beyond 1: a byte of it is worth more than 1/127, whichever activation lets it out.
TEST(LowPrecision, StatesOfUnboundedActivationsAreNotCutOff) {
  struct Case {
    const char *op;
    int64_t gates;
    std::vector<std::string> activations;
  };
  const Case cases[] = {{"RNN", 1, {"Relu"}},
                        {"GRU", 3, {"Sigmoid", "Relu"}},
                        {"LSTM", 4, {"Sigmoid", "Tanh", "Relu"}},
                        {"LSTM", 4, {"Relu", "Tanh", "Tanh"}},
                        {"LSTM", 4, {"Sigmoid", "Relu", "Relu"}}};
  for (const Case &c : cases) {
    OnnxBuilder b;
    b.input("X", {"T", "N", kInputs}).output("Y").random("W", {1, c.gates * kHidden, kInputs}, 0.2);
    b.random("R", {1, c.gates * kHidden, kHidden}, 0.05).constant("B", {1, 2 * c.gates * kHidden}, [&] {
      std::vector<float> bias(static_cast<size_t>(2 * c.gates * kHidden), 0.0f);
      std::fill(bias.begin(), bias.begin() + c.gates * kHidden, 2.5f);  // of x: h grows beyond 1
      if (std::string(c.op) == "GRU") std::fill(bias.begin(), bias.begin() + kHidden, -2.5f);
      return bias;
    }());
    b.node(c.op, {"X", "W", "R", "B"}, {"Y"}, "layer").with("hidden_size", kHidden).with("activations", c.activations);
    const compiler::Array want = run(blob_of(b.proto, "f32")).at("Y"), got = run(blob_of(b.proto, "int8")).at("Y");
    EXPECT_GT(*std::max_element(want.f32.begin(), want.f32.end()), 1.5f) << c.op << c.activations.back();
    EXPECT_GT(sqnr(got, want), 28) << c.op << ' ' << c.activations.front() << ' ' << c.activations.back();
  }
}

// Every group of a convolution has its own part of the scales.
TEST(LowPrecision, GroupsOfAConvolutionHaveTheirOwnScales) {
  constexpr int64_t kGroups = 2, kChannels = 32, kOut = 3;
  OnnxBuilder b;
  b.input("X", {"N", kGroups * kChannels, 4}).output("Y").random("K", {kGroups * kOut, kChannels, 1});
  b.node("Conv", {"X", "K"}, {"Y"}, "conv").with("group", kGroups);
  compiler::Graph graph = compiler::compile_graph(*compiler::check_model(b.proto), {});
  const auto found =
      std::find_if(graph.nodes.begin(), graph.nodes.end(), [](const compiler::Node &node) { return node.op == OpKind::kConv; });
  ASSERT_NE(graph.nodes.end(), found);
  compiler::Conv &conv = std::get<compiler::Conv>(found->attr);
  conv.storage.type = DType::kI4;
  conv.storage.group_k = static_cast<uint32_t>(kChannels);
  for (int64_t row = 0; row < kGroups * kOut; ++row) {
    const float scale = row < kOut ? 0.25f : 8.0f + static_cast<float>(row);
    conv.storage.scales.push_back(scale);
    for (int64_t k = 0; k < kChannels; ++k)
      conv.w[static_cast<size_t>(row * kChannels + k)] = scale * static_cast<float>((row * 5 + k * 3) % 15 - 7);
  }
  const std::vector<uint8_t> bytes = compiler::write_blob(graph, compiler::dense_panels(DType::kF32, 16));
  conv.storage = compiler::Storage();
  const std::vector<uint8_t> floats = compiler::write_blob(graph, compiler::dense_panels(DType::kF32, 16));
  compiler::Arrays x;
  x["X"].shape = {2, kGroups * kChannels, 4};
  for (int i = 0; i < 2 * kGroups * kChannels * 4; ++i) x["X"].f32.push_back(std::sin(static_cast<float>(i * i % 1013)));
  EXPECT_GT(sqnr(compiler::Runner(bytes).run(x, {}).at("Y"), compiler::Runner(floats).run(x, {}).at("Y")), 30);
}

}  // namespace low_precision_test
}  // namespace rnnp::testing_support
