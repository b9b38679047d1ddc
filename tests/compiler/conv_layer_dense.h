// conv_layer_dense.h -- a network of every kind of node that has weights, for tests of low precision; data for it.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_COMPILER_CONV_LAYER_DENSE_H_
#define RNNPACK_TESTS_COMPILER_CONV_LAYER_DENSE_H_

#include <cmath>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "compiler/emit/panel_choice.h"
#include "compiler/run/runner.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {

constexpr int64_t kLayerInputs = 19, kLayerHidden = 37, kOutputs = 11, kSteps = 40;

struct Cell {
  const char *op;
  int64_t gates, linear;
  const char *direction;
};
inline const Cell kCells[] = {
    {"RNN", 1, 0, "forward"}, {"GRU", 3, 0, "reverse"}, {"GRU", 3, 1, "bidirectional"}, {"LSTM", 4, 0, "forward"}};

// A convolution along time, a layer, a dense node with an activation.
inline onnx::ModelProto network(const Cell &cell) {
  const int64_t directions = std::string(cell.direction) == "bidirectional" ? 2 : 1;
  OnnxBuilder b;
  b.input("X", {1, kLayerInputs, "T"}).output("Y");
  b.random("K", {kLayerInputs, kLayerInputs, 3}, 0.3)
      .random("D", {kLayerHidden * directions, kOutputs}, 0.3)
      .random("d", {kOutputs}, 0.3);
  b.weights("", cell.gates, directions, kLayerInputs, kLayerHidden).constant_ints("shape", {3}, {0, 1, -1});
  b.node("Conv", {"X", "K"}, {"c"}, "conv").with("pads", std::vector<int64_t>{2, 0});
  b.node("Relu", {"c"}, {"c0"});
  b.node("Transpose", {"c0"}, {"c1"}).with("perm", std::vector<int64_t>{2, 0, 1});
  NodeBuilder node = b.node(cell.op, {"c1", "W", "R", "B"}, {"y4"}, "layer");
  node.with("hidden_size", kLayerHidden).with("direction", cell.direction);
  if (cell.linear != 0) node.with("linear_before_reset", 1);
  b.node("Transpose", {"y4"}, {"y5"}).with("perm", std::vector<int64_t>{0, 2, 1, 3});
  b.node("Reshape", {"y5", "shape"}, {"y"});
  b.node("MatMul", {"y", "D"}, {"m"}, "dense");
  b.node("Add", {"m", "d"}, {"a"});
  b.node("Tanh", {"a"}, {"Y"});
  return b.proto;
}

inline compiler::Arrays data(float size = 1.0f) {
  compiler::Arrays arrays;
  compiler::Array &x = arrays["X"];
  x.shape = {1, kLayerInputs, kSteps};
  x.f32.resize(static_cast<size_t>(kLayerInputs * kSteps));
  for (size_t i = 0; i < x.f32.size(); ++i) x.f32[i] = size * std::sin(static_cast<float>(i * i % 1013));
  return arrays;
}

inline compiler::Graph graph_of(const onnx::ModelProto &proto, const std::string &weights) {
  compiler::CompileOptions options;
  options.weights = weights;
  return compiler::compile_model(*compiler::check_model(proto), options).graph;
}

inline const PanelFormat kPanels = compiler::dense_panels(DType::kI8, 16);

}  // namespace rnnp::testing_support
#endif  // RNNPACK_TESTS_COMPILER_CONV_LAYER_DENSE_H_
