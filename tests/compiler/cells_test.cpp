// cells_test.cpp -- which operand of a written-out LSTM cell is its h: the graph tells, never the width alone.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/compile.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace cells_test {

using compiler::StatePair;
using Ints = std::vector<int64_t>;

constexpr int kHidden = 6;

struct Written {
  int inputs = 5, state = kHidden;  // widths of x and h
  bool x_first = true;
  bool shapes = true;     // outputs are declared with shapes
  bool keep_h = true;     // the next h is an output
  bool computed = false;  // h goes through an operator first
  bool give_h = false;    // h' before its projection is an output as well
  bool bounded = false;   // gates are those of tf.keras' hard_sigmoid, by Min and Max, and the Split has a piece of 0 elements
};

void declare(OnnxBuilder *b, const std::string &name, const Ints &shape, bool with_shape) {
  b->output(name);
  if (!with_shape) return;
  auto *type = b->proto.mutable_graph()->mutable_output(b->proto.graph().output_size() - 1)->mutable_type()->mutable_tensor_type();
  type->set_elem_type(onnx::TensorProto::FLOAT);
  for (int64_t dim : shape) type->mutable_shape()->add_dim()->set_dim_value(dim);
}

// One step of an LSTM in primitive operators, x, h and c inputs of their own; h is projected where it is not as wide as c.
OnnxBuilder cell(const Written &how) {
  OnnxBuilder b;
  b.input("x", {2, how.inputs}).input("h", {2, how.state}).input("c", {2, kHidden});
  declare(&b, "Y", {2, 3}, how.shapes);
  if (how.keep_h) declare(&b, "h_next", {2, how.state}, how.shapes);
  declare(&b, "c_next", {2, kHidden}, how.shapes);
  b.random("W", {how.inputs, 4 * kHidden})
      .random("R", {how.state, 4 * kHidden})
      .random("B", {4 * kHidden})
      .random("M", {how.state, 3});
  b.node("MatMul", {"x", "W"}, {"xw"});
  if (how.computed) b.node("Neg", {"h"}, {"h_minus"});
  b.node("MatMul", {how.computed ? "h_minus" : "h", "R"}, {"hr"});
  b.node("Add", how.x_first ? std::vector<std::string>{"xw", "hr"} : std::vector<std::string>{"hr", "xw"}, {"sum"});
  b.node("Add", {"sum", "B"}, {"gates"});
  const std::vector<std::string> parts = {"i_in", "f_in", "g_in", "o_in"};
  if (!how.bounded) {
    b.node("Split", {"gates"}, parts).with("axis", 1);
    for (const std::string gate : {"i", "f", "o"}) b.node("Sigmoid", {gate + "_in"}, {gate});
  } else {
    b.constant_ints("sizes", {5}, {kHidden, kHidden, kHidden, kHidden, 0});
    b.node("Split", {"gates", "sizes"}, {parts[0], parts[1], parts[2], parts[3], "nothing"}).with("axis", 1);
    b.constant("a", {}, {0.2f}).constant("half", {}, {0.5f}).constant("one", {}, {1.0f}).constant("zero", {}, {0.0f});
    for (const std::string gate : {"i", "f", "o"}) {
      b.node("Mul", {gate + "_in", "a"}, {gate + "_part"});
      b.node("Add", {gate + "_part", "half"}, {gate + "_sum"});
      b.node("Min", {gate + "_sum", "one"}, {gate + "_below"});
      b.node("Max", {"zero", gate + "_below"}, {gate});
    }
  }
  b.node("Tanh", {"g_in"}, {"g"});
  b.node("Mul", {"f", "c"}, {"keep"});
  b.node("Mul", {"i", "g"}, {"write"});
  b.node("Add", {"keep", "write"}, {"c_next"});
  b.node("Tanh", {"c_next"}, {"t"});
  const bool projected = how.state != kHidden;
  b.node("Mul", {"o", "t"}, {projected ? "h_full" : "h_next"});
  if (projected) b.random("P", {kHidden, how.state}).node("MatMul", {"h_full", "P"}, {"h_next"});
  if (how.give_h) {
    declare(&b, "h_out", {2, kHidden}, how.shapes);
    b.node("Identity", {projected ? "h_full" : "h_next"}, {"h_out"});
  }
  b.node("MatMul", {"h_next", "M"}, {"Y"});
  return b;
}

const std::vector<StatePair> kStates = {{"h", "h_next"}, {"c", "c_next"}};

size_t layers(const OnnxBuilder &b, const std::vector<StatePair> &states) {
  const compiler::Graph graph = compiler::compile_graph(*compiler::check_model(b.proto), {"generic", states});
  return static_cast<size_t>(std::count_if(graph.nodes.begin(), graph.nodes.end(),
                                           [](const compiler::Node &node) { return node.op == OpKind::kRecurrent; }));
}

uint32_t role_of(const OnnxBuilder &b, const std::string &name) {
  const compiler::Graph graph = compiler::compile_graph(*compiler::check_model(b.proto), {"generic", {}});
  for (const compiler::Io &input : graph.inputs) {
    if (input.name == name) return input.role;
  }
  return 99;
}

TEST(Cells, HIsWhatComesBackInEitherOrder) {
  for (const bool x_first : {true, false}) {
    Written how;
    how.x_first = x_first;
    EXPECT_EQ(layers(cell(how), {}), 1u);
    EXPECT_EQ(layers(cell(how), kStates), 1u);
    EXPECT_EQ(role_of(cell(how), "x"), static_cast<uint32_t>(RNNP_ROLE_SEQUENCE));
    EXPECT_EQ(role_of(cell(how), "h"), static_cast<uint32_t>(RNNP_ROLE_STATE));
    check_persistent_states(cell(how).proto, kStates, {5, 2});
    check_against_f64(cell(how).proto, {1, 2});
  }
}

TEST(Cells, GatesMayBeBoundedByMinAndMax) {
  Written how;
  how.bounded = true;
  EXPECT_EQ(layers(cell(how), kStates), 1u);
  check_persistent_states(cell(how).proto, kStates, {5, 2});
}

// What is not there is not read.
TEST(Cells, APieceOfNothingIsRefusedWhereItIsRead) {
  Written how;
  how.bounded = true;
  for (const bool as_output : {false, true}) {
    OnnxBuilder b = cell(how);
    if (!as_output) b.node("Relu", {"nothing"}, {"Z"});
    b.output(as_output ? "nothing" : "Z");
    EXPECT_NE(refusal_of(b.proto).find("has no elements"), std::string::npos) << refusal_of(b.proto);
  }
}

// As TorchScript's exporter writes a step.
TEST(Cells, WeightsMayBeConstantNodes) {
  OnnxBuilder b;
  b.proto = with_constant_nodes(cell({}).proto);
  EXPECT_EQ(layers(b, {}), 1u);
  EXPECT_EQ(layers(b, kStates), 1u);
}

// x as wide as c, h projected to less: x is read at every step, and must be given.
TEST(Cells, XIsNoStateWhereTheStateIsProjected) {
  for (const bool x_first : {true, false}) {
    for (const bool give_h : {false, true}) {
      for (const bool shapes : {false, true}) {
        SCOPED_TRACE(::testing::Message() << x_first << give_h << shapes);
        Written how;
        how.inputs = kHidden;
        how.state = 4;
        how.x_first = x_first;
        how.give_h = give_h;
        how.shapes = shapes;
        EXPECT_EQ(layers(cell(how), {}), 0u);
        EXPECT_EQ(layers(cell(how), kStates), 0u);
        EXPECT_EQ(role_of(cell(how), "x"), static_cast<uint32_t>(RNNP_ROLE_SEQUENCE));
        check_persistent_states(cell(how).proto, kStates, {5, 2});
      }
    }
  }
}

// x and h alike: only what the user says is kept tells them apart.
TEST(Cells, OfTwoAsWideTheKeptOneIsH) {
  for (const bool x_first : {true, false}) {
    Written how;
    how.inputs = kHidden;
    how.x_first = x_first;
    EXPECT_EQ(layers(cell(how), {}), 0u);
    EXPECT_EQ(layers(cell(how), kStates), 1u);
    check_persistent_states(cell(how).proto, kStates, {5, 2});
    check_against_f64(cell(how).proto, {1, 2});
  }
}

TEST(Cells, WhatNothingComesBackToIsNoState) {
  for (const bool computed : {true, false}) {
    for (const bool give_h : {true, false}) {
      Written how;
      how.inputs = kHidden;
      how.state = 4;
      how.keep_h = computed;
      how.computed = computed;
      how.give_h = computed && give_h;
      EXPECT_EQ(layers(cell(how), {}), 0u) << computed << give_h;
      EXPECT_EQ(role_of(cell(how), "x"), static_cast<uint32_t>(RNNP_ROLE_SEQUENCE));
    }
  }
}

TEST(Cells, WithoutShapesOfOutputsTheCellStaysAsItIs) {
  Written how;
  how.shapes = false;
  EXPECT_EQ(layers(cell(how), {}), 0u);
  EXPECT_EQ(layers(cell(how), kStates), 1u);
  check_persistent_states(cell(how).proto, kStates, {5, 2});
}

// A GRU with a matrix for each gate behind a state of its own that is no cell's; y is h', or computed from it.
OnnxBuilder gru_behind_a_mean(bool give_h) {
  OnnxBuilder b;
  b.input("x", {2, 5}).input("m", {2, 5}).input("h", {2, kHidden});
  for (const char *output : {"Y", "h_next", "m_next"}) b.output(output);
  b.constant("slow", {}, {0.9f}).constant("rest", {}, {0.1f}).constant("one", {}, {1.0f}).random("M", {kHidden, 3});
  b.node("Mul", {"m", "slow"}, {"m_kept"});
  b.node("Mul", {"x", "rest"}, {"m_fresh"});
  b.node("Add", {"m_kept", "m_fresh"}, {"m_next"});
  b.node("Sub", {"x", "m"}, {"u"});
  for (const std::string gate : {"z", "r", "n"}) {
    b.random("W" + gate, {5, kHidden}).random("R" + gate, {kHidden, kHidden}).random("B" + gate, {kHidden});
    b.node("Gemm", {"u", "W" + gate, "B" + gate}, {"x" + gate});
    b.node("MatMul", {"h", "R" + gate}, {"h" + gate});
  }
  for (const std::string gate : {"z", "r"}) {
    b.node("Add", {"x" + gate, "h" + gate}, {gate + "_in"});
    b.node("Sigmoid", {gate + "_in"}, {gate});
  }
  b.node("Mul", {"r", "hn"}, {"rh"});
  b.node("Add", {"rh", "xn"}, {"n_in"});
  b.node("Tanh", {"n_in"}, {"n"});
  b.node("Sub", {"one", "z"}, {"not_z"});
  b.node("Mul", {"not_z", "n"}, {"fresh"});
  b.node("Mul", {"z", "h"}, {"kept"});
  b.node("Add", {"fresh", "kept"}, {"h_next"});
  give_h ? b.node("Identity", {"h_next"}, {"Y"}) : b.node("MatMul", {"h_next", "M"}, {"Y"});
  return b;
}

TEST(PersistentCells, AGruIsALayerHoweverItIsWrittenBesideOtherStates) {
  for (const bool give_h : {false, true}) {
    SCOPED_TRACE(give_h);
    const OnnxBuilder b = gru_behind_a_mean(give_h);
    const std::vector<StatePair> both = {{"h", "h_next"}, {"m", "m_next"}};
    EXPECT_EQ(layers(b, both), 1u);
    const compiler::Graph graph = compiler::compile_graph(*compiler::check_model(b.proto), {"generic", both});
    ASSERT_EQ(graph.outputs.size(), 1u);
    EXPECT_EQ(graph.outputs[0].role, static_cast<uint32_t>(RNNP_ROLE_SEQUENCE));  // also where it is h'
    check_persistent_states(b.proto, both, {5, 2});
    EXPECT_EQ(layers(b, {}), 0u);
    check_against_f64(b.proto, {1, 2});
  }
}

}  // namespace cells_test
}  // namespace rnnp::testing_support
