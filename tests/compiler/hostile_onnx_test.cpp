// hostile_onnx_test.cpp -- damaged ONNX files give an error (or still compile), and never crash or allocate absurdly.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>

#include "compiler/compile.h"
#include "compiler/onnx/problem.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace {

std::string model_bytes() {
  OnnxBuilder b;
  b.input("X", {"T", "N", 3})
      .input("L", {"N"}, onnx::TensorProto::INT32)
      .weights("", 4, 2, 3, 4)
      .random("M", {8, 2})
      .random("c", {2})
      .output("P")
      .output("Y_h");
  b.constant_ints("shape", {3}, {0, 0, -1}).constant_ints("i", {}, {-1});
  b.node("LSTM", {"X", "W", "R", "B", "L"}, {"Y", "Y_h"}, "lstm")
      .with("hidden_size", 4)
      .with("direction", "bidirectional")
      .with("clip", 3.0)
      .with("activations", std::vector<std::string>{"Sigmoid", "Tanh", "Tanh", "Sigmoid", "Elu", "Tanh"});
  b.node("Transpose", {"Y"}, {"t"}).with("perm", std::vector<int64_t>{0, 2, 1, 3});
  b.node("Reshape", {"t", "shape"}, {"r"});
  b.node("MatMul", {"r", "M"}, {"m"});
  b.node("Add", {"m", "c"}, {"a"});
  b.node("Softmax", {"a"}, {"s"}).with("axis", -1);
  b.node("Gather", {"s", "i"}, {"P"}).with("axis", 0);
  std::string bytes;
  b.proto.SerializeToString(&bytes);
  return bytes;
}

// True when it compiled.
bool try_bytes(const std::string &bytes) {
  try {
    compiler::compile_model(*compiler::parse_model(bytes.data(), bytes.size()), "generic");
    return true;
  } catch (const compiler::ModelError &) {
    return false;
  }
}

TEST(HostileOnnx, TheModelItselfCompiles) {
  EXPECT_TRUE(try_bytes(model_bytes()));
}

TEST(HostileOnnx, Truncated) {
  const std::string bytes = model_bytes();
  for (size_t n = 0; n < bytes.size(); n += n < 300 ? 1 : 7) try_bytes(bytes.substr(0, n));
}

TEST(HostileOnnx, FlippedBits) {
  const std::string bytes = model_bytes();
  std::mt19937 random(11);
  for (int round = 0; round < 6000; ++round) {
    std::string damaged = bytes;
    const int flips = 1 + static_cast<int>(random() % 3);
    for (int i = 0; i < flips; ++i) damaged[random() % damaged.size()] ^= static_cast<char>(1u << random() % 8);
    try_bytes(damaged);
  }
}

TEST(HostileOnnx, Noise) {
  std::mt19937 random(5);
  for (int round = 0; round < 500; ++round) {
    std::string bytes(random() % 200, 0);
    for (char &c : bytes) c = static_cast<char>(random());
    try_bytes(bytes);
  }
}

TEST(HostileOnnx, SizesThatMultiplyBeyondAllMemory) {
  for (int64_t size : {int64_t{1} << 20, int64_t{1} << 30, INT64_MAX, int64_t{-1}}) {
    OnnxBuilder b;
    b.input("X", {"N", 3}).output("Y").constant_ints("shape", {3}, {size, size, size});
    b.node("ConstantOfShape", {"shape"}, {"c"});
    b.node("Expand", {"X", "shape"}, {"e"});
    b.node("Add", {"e", "c"}, {"Y"});
    EXPECT_NE(refusal_of(b.proto), "");
  }
}

// UBSan sees a product that leaves 64 bits before the empty axis is met.
TEST(HostileOnnx, AxesBesideAnEmptyOneMayBeOfAnySize) {
  OnnxBuilder b;
  b.input("X", {"N", 3}).output("Y").constant("c", {int64_t{1} << 40, int64_t{1} << 40, 0}, {});
  b.node("ReduceMean", {"c"}, {"m"}).with("keepdims", 0);
  b.node("Add", {"X", "m"}, {"Y"});
  refusal_of(b.proto);
}

TEST(HostileOnnx, DeepNestingIsCutOff) {
  onnx::GraphProto graph;
  for (int i = 0; i < 200; ++i) {
    onnx::GraphProto outer;
    onnx::AttributeProto *attribute = outer.add_node()->add_attribute();
    attribute->set_type(onnx::AttributeProto::GRAPH);
    attribute->mutable_g()->Swap(&graph);
    outer.Swap(&graph);
  }
  onnx::ModelProto model;
  model.mutable_graph()->Swap(&graph);
  std::string bytes;
  model.SerializeToString(&bytes);
  EXPECT_FALSE(try_bytes(bytes));
}

}  // namespace
}  // namespace rnnp::testing_support
