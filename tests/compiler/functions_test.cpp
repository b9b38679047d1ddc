// functions_test.cpp -- models with functions of their own: what compiles gives what the same nodes in the graph give.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/compile.h"
#include "compiler/ir/passes.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace {

onnx::NodeProto *body_node(onnx::FunctionProto *function, const char *op, const std::vector<std::string> &in,
                           const std::vector<std::string> &out) {
  onnx::NodeProto *node = function->add_node();
  node->set_op_type(op);
  for (const std::string &name : in) node->add_input(name);
  for (const std::string &name : out) node->add_output(name);
  return node;
}

onnx::FunctionProto *function(OnnxBuilder *b, const char *name, const std::vector<std::string> &in,
                              const std::vector<std::string> &out, int64_t opset = 17) {
  onnx::FunctionProto *made = b->proto.add_functions();
  made->set_domain("local");
  made->set_name(name);
  made->add_opset_import()->set_version(opset);
  for (const std::string &input : in) made->add_input(input);
  for (const std::string &output : out) made->add_output(output);
  return made;
}

NodeBuilder call(OnnxBuilder *b, const char *name, const std::vector<std::string> &in, const std::vector<std::string> &out) {
  NodeBuilder node = b->node(name, in, out, "here");
  node.proto().set_domain("local");
  return node;
}

void refer(onnx::NodeProto *node, const char *name, const char *of, onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto *attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_ref_attr_name(of);
  attribute->set_type(type);
}

// The same layer twice, by two calls of one name: its inner names must not meet.
TEST(Functions, ALayerAndWhatStandsBehindItAreCalledTwice) {
  OnnxBuilder b;
  b.input("X", {"T", "N", 6}).output("Y").output("h").weights("", 3, 1, 6, 6);
  onnx::FunctionProto *layer = function(&b, "layer", {"x", "w", "r", "bias"}, {"y", "last"});
  refer(body_node(layer, "GRU", {"x", "w", "r", "bias"}, {"all", "last"}), "hidden_size", "units", onnx::AttributeProto::INT);
  onnx::NodeProto *axes = body_node(layer, "Constant", {}, {"axes"});
  NodeBuilder(axes).with("value_ints", std::vector<int64_t>{1});
  body_node(layer, "Squeeze", {"all", "axes"}, {"y"});
  call(&b, "layer", {"X", "W", "R", "B"}, {"m", "all"}).with("units", 6);
  call(&b, "layer", {"m", "W", "R"}, {"Y", "h"}).with("units", 6);
  EXPECT_EQ(refusal_of(b.proto), "");
  check_against_f64(b.proto);
  const compiler::Graph graph = compiler::compile_graph(*compiler::check_model(b.proto), {});
  EXPECT_EQ(std::count_if(graph.nodes.begin(), graph.nodes.end(), [](const auto &n) { return n.op == OpKind::kRecurrent; }), 2);
}

TEST(Functions, CallOneAnotherAndGiveInputsOutAsTheyAre) {
  OnnxBuilder b;
  b.input("X", {"N", "T", 4}).output("Y").output("Z");
  body_node(function(&b, "twice", {"a"}, {"b"}), "Add", {"a", "a"}, {"b"});
  onnx::FunctionProto *both = function(&b, "both", {"p", "unused"}, {"q", "p"});
  body_node(both, "twice", {"p"}, {"s"})->set_domain("local");
  body_node(both, "twice", {"s"}, {"q"})->set_domain("local");
  call(&b, "both", {"X"}, {"Y", "same"});
  b.node("Tanh", {"same"}, {"Z"});
  EXPECT_EQ(refusal_of(b.proto), "");
  check_against_f64(b.proto);
}

// What a call leaves out has the function's default; a branch of an If sees the call's names.
TEST(Functions, DefaultsAndBranches) {
  for (const bool given : {true, false}) {
    OnnxBuilder b;
    b.input("X", {"N", "T", 4}).output("Y").constant_ints("yes", {}, {1}, onnx::TensorProto::BOOL);
    onnx::FunctionProto *leaky = function(&b, "leaky", {"x", "which"}, {"y"});
    onnx::AttributeProto slope;
    slope.set_name("slope");
    slope.set_type(onnx::AttributeProto::FLOAT);
    slope.set_f(0.3f);
    const std::string bytes = slope.SerializeAsString();
    onnx::FunctionProto with_default;
    ASSERT_TRUE(with_default.ParseFromString("\x5a" + std::string(1, static_cast<char>(bytes.size())) + bytes));
    leaky->MergeFrom(with_default);
    onnx::GraphProto branch;
    branch.set_name("branch");
    branch.add_output()->set_name("inner");
    onnx::NodeProto *node = branch.add_node();
    node->set_op_type("LeakyRelu");
    node->add_input("x");
    node->add_output("inner");
    refer(node, "alpha", "slope", onnx::AttributeProto::FLOAT);
    NodeBuilder(body_node(leaky, "If", {"which"}, {"y"})).with("then_branch", branch).with("else_branch", branch);
    NodeBuilder made = call(&b, "leaky", {"X", "yes"}, {"Y"});
    if (given) made.with("slope", 0.7);
    EXPECT_EQ(refusal_of(b.proto), "");
    OnnxBuilder plain;
    plain.input("X", {"N", "T", 4}).output("Y").node("LeakyRelu", {"X"}, {"Y"}, "here/").with("alpha", given ? 0.7 : 0.3);
    const auto blob = [](const onnx::ModelProto &proto) {
      return compiler::compile_model(*compiler::check_model(proto), "generic").graph;
    };
    EXPECT_EQ(compiler::model_id(blob(b.proto)), compiler::model_id(blob(plain.proto)));
  }
}

TEST(Functions, WhatCannotBePutInItsPlaceIsRefusedByTheCallsName) {
  const auto refused = [](const auto &fill) {
    OnnxBuilder b;
    b.input("X", {"N", "T", 4}).output("Y");
    fill(&b);
    call(&b, "f", {"X"}, {"Y"});
    return refusal_of(b.proto);
  };
  const std::string circle = refused([](OnnxBuilder *b) {
    onnx::FunctionProto *f = function(b, "f", {"a"}, {"b"});
    body_node(f, "f", {"a"}, {"b"})->set_domain("local");
  });
  EXPECT_NE(circle.find("node 'here' (f): the model's functions call one another"), std::string::npos) << circle;
  // 2^30 nodes of a few hundred bytes.
  const std::string many = refused([](OnnxBuilder *b) {
    std::string inner = "f";
    for (int i = 0; i < 30; ++i) {
      onnx::FunctionProto *f = function(b, inner.c_str(), {"a"}, {"b"});
      inner = "f" + std::to_string(i);
      body_node(f, inner.c_str(), {"a"}, {"m"})->set_domain("local");
      body_node(f, inner.c_str(), {"m"}, {"b"})->set_domain("local");
    }
    body_node(function(b, inner.c_str(), {"a"}, {"b"}), "Relu", {"a"}, {"b"});
  });
  EXPECT_NE(many.find("its graph becomes too large"), std::string::npos) << many;
  const std::string old = refused([](OnnxBuilder *b) { body_node(function(b, "f", {"a"}, {"b"}, 11), "Relu", {"a"}, {"b"}); });
  EXPECT_NE(old.find("of opset 11, the model of 17"), std::string::npos) << old;
  const std::string twice = refused([](OnnxBuilder *b) {
    for (const char *op : {"Relu", "Tanh"}) body_node(function(b, "f", {"a"}, {"b"}), op, {"a"}, {"b"});
  });
  EXPECT_NE(twice.find("several functions of this name"), std::string::npos) << twice;
  const std::string wide = refused([](OnnxBuilder *b) { body_node(function(b, "f", {}, {"b"}), "Relu", {"b"}, {"b"}); });
  EXPECT_NE(wide.find("the node has more"), std::string::npos) << wide;
}

}  // namespace
}  // namespace rnnp::testing_support
