// constant_nodes_test.cpp -- a constant is the same to the compiler whether the file has it as an initializer or as a node.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>

#include "compiler/compile.h"
#include "compiler/onnx/model_file.h"
#include "loop_models.h"
#include "random_models.h"

namespace rnnp::testing_support {
namespace {

// The blob, or why there is none.
std::vector<uint8_t> made_of(const onnx::ModelProto &model) {
  const std::string refusal = refusal_of(model);
  if (!refusal.empty()) return {refusal.begin(), refusal.end()};
  return compiler::compile_model(*compiler::check_model(model), "generic").blob;
}

TEST(ConstantNodes, GiveTheBytesOfInitializers) {
  for (uint32_t number = 0; number < kRandomModels; ++number) {
    const onnx::ModelProto model = random_onnx(number);
    EXPECT_EQ(made_of(with_constant_nodes(model)), made_of(model)) << number;
  }
  for (const Body body : {&rnn_body, &decay_body, &masked_body}) {
    OnnxBuilder step;
    body(&step);
    for (const OnnxBuilder &b : {with_scan(scan_graph(step)), with_loop(loop_graph(step))})
      EXPECT_EQ(made_of(with_constant_nodes(b.proto)), made_of(b.proto)) << b.proto.graph().node(0).op_type();
  }
}

// y = x + the constant of that attribute.
std::string refusal_of_constant(const std::function<void(NodeBuilder)> &set, int64_t opset = 17) {
  OnnxBuilder b(opset);
  b.input("x", {"T", "N", 2}).output("y");
  set(b.node("Constant", {}, {"k"}));
  b.node("Add", {"x", "k"}, {"y"});
  const std::string refusal = refusal_of(b.proto);
  if (refusal.empty()) check_against_f64(b.proto);
  return refusal;
}

TEST(ConstantNodes, HoldNumbersInFiveWays) {
  EXPECT_EQ(refusal_of_constant([](NodeBuilder n) { n.with("value_float", 0.5); }), "");
  EXPECT_EQ(refusal_of_constant([](NodeBuilder n) { n.with("value_floats", std::vector<float>{0.5f, 2}); }), "");
  const auto cast = [](const char *name, const auto &value, int64_t opset) {
    OnnxBuilder b(opset);
    b.input("x", {"T", "N", 2}).output("y");
    b.node("Constant", {}, {"k"}).with(name, value);
    b.node("Cast", {"k"}, {"kf"}).with("to", static_cast<int64_t>(onnx::TensorProto::FLOAT));
    b.node("Add", {"x", "kf"}, {"y"});
    const std::string refusal = refusal_of(b.proto);
    if (refusal.empty()) check_against_f64(b.proto);
    return refusal;
  };
  EXPECT_EQ(cast("value_int", int64_t{3}, 17), "");
  EXPECT_EQ(cast("value_ints", std::vector<int64_t>{3, -1}, 17), "");
  EXPECT_NE(cast("value_int", int64_t{3}, 11).find("is of opset 12 and later"), std::string::npos);
}

TEST(ConstantNodes, WithoutNumbersAreRefusedByName) {
  const auto expect = [](const std::string &refusal, const char *part) {
    EXPECT_NE(refusal.find("node 'k' (Constant)"), std::string::npos) << refusal;
    EXPECT_NE(refusal.find(part), std::string::npos) << refusal;
  };
  expect(refusal_of_constant([](NodeBuilder) {}), "it has no value");
  expect(refusal_of_constant([](NodeBuilder n) { n.with("value_string", "a"); }), "'value_string' is not known");
  expect(refusal_of_constant([](NodeBuilder n) { n.with("value_float", 1.0).with("value_int", 1); }),
         "it has no value; accepted: one of");
  expect(refusal_of_constant([](NodeBuilder n) { n.with("value_float", 1); }), "wrong type; accepted: a float");
}

// A name with two sources has them still.
TEST(ConstantNodes, HideNoOtherSource) {
  OnnxBuilder b;
  b.input("x", {"T", "N", 2}).output("y");
  b.node("Constant", {}, {"x"}).with("value_float", 0.5);
  b.node("Relu", {"x"}, {"y"});
  EXPECT_NE(refusal_of(b.proto).find("its output 'x' has another source too"), std::string::npos) << refusal_of(b.proto);
}

}  // namespace
}  // namespace rnnp::testing_support
