// loops_test.cpp -- Loop and Scan over the steps of a sequence: cells become layers, other bodies run at every step.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/compile.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace {

constexpr int kIn = 5, kHidden = 6;
using Names = std::vector<std::string>;

// Operators of one step, h (and c) before to after.
using Body = void (*)(OnnxBuilder *);

void gru_body(OnnxBuilder *b, bool reset_after, bool keep_is_z) {
  b->random("W", {kIn, 3 * kHidden}).random("R", {kHidden, 3 * kHidden}).random("Wb", {3 * kHidden}).random("Rb", {3 * kHidden});
  b->node("MatMul", {"x", "W"}, {"xw"});
  b->node("Add", {"xw", "Wb"}, {"xs"});
  b->node("Split", {"xs"}, {"xz", "xr", "xn"}).with("axis", -1);
  if (reset_after) {
    b->node("MatMul", {"h", "R"}, {"hr"});
    b->node("Add", {"Rb", "hr"}, {"hs"});
    b->node("Split", {"hs"}, {"hz", "hrr", "hn"}).with("axis", -1);
  } else {
    b->random("R2", {kHidden, 2 * kHidden}).random("R1", {kHidden, kHidden});
    b->node("MatMul", {"h", "R2"}, {"hs"});
    b->node("Split", {"hs"}, {"hz", "hrr"}).with("axis", -1);
  }
  b->node("Add", {"xz", "hz"}, {"z_in"});
  b->node("Sigmoid", {"z_in"}, {"z"});
  b->node("Add", {"xr", "hrr"}, {"r_in"});
  b->node("Sigmoid", {"r_in"}, {"r"});
  if (reset_after) {
    b->node("Mul", {"r", "hn"}, {"inner"});
  } else {
    b->node("Mul", {"r", "h"}, {"rh"});
    b->node("MatMul", {"rh", "R1"}, {"inner"});
  }
  b->node("Add", {"xn", "inner"}, {"n_in"});
  b->node("Tanh", {"n_in"}, {"n"});
  b->constant("one", {}, {1.0f});
  b->node("Sub", {"one", "z"}, {"not_z"});
  b->node("Mul", {keep_is_z ? "z" : "not_z", "h"}, {"kept"});
  b->node("Mul", {keep_is_z ? "not_z" : "z", "n"}, {"fresh"});
  b->node("Add", {"kept", "fresh"}, {"h_next"});
}

void rnn_body(OnnxBuilder *b) {
  b->random("W", {kIn, kHidden}).random("R", {kHidden, kHidden}).random("B", {kHidden});
  b->node("MatMul", {"x", "W"}, {"xw"});
  b->node("MatMul", {"h", "R"}, {"hr"});
  b->node("Add", {"xw", "hr"}, {"sum"});
  b->node("Add", {"sum", "B"}, {"pre"});
  b->node("Tanh", {"pre"}, {"h_next"});
}

// A dense layer with a bias for each gate of each operand; `kind`: n for RNN, a GRU that resets after or before the product.
void body_by_gates(OnnxBuilder *b, const std::string &kind) {
  const auto dense = [&](const std::string &x, int inputs, const std::string &to) {
    b->random("M_" + to, {inputs, kHidden}).random("b_" + to, {kHidden});
    b->node("MatMul", {x, "M_" + to}, {"p_" + to});
    b->node("Add", {"b_" + to, "p_" + to}, {to});
  };
  const auto gate = [&](const std::string &name, const char *f, const std::string &of_h = "h") {
    dense("x", kIn, "x" + name);
    dense(of_h, kHidden, "h" + name);
    b->node("Add", {"x" + name, "h" + name}, {name + "_in"});
    b->node(f, {name + "_in"}, {name});
  };
  if (kind == "rnn") {
    dense("x", kIn, "xn");
    dense("h", kHidden, "hn");
    b->node("Add", {"xn", "hn"}, {"sum"});
    b->node("Tanh", {"sum"}, {"h_next"});
    return;
  }
  gate("z", "Sigmoid");
  gate("r", "Sigmoid");
  if (kind == "before") {
    b->node("Mul", {"r", "h"}, {"rh"});
    gate("n", "Tanh", "rh");
  } else {
    dense("x", kIn, "xn");
    dense("h", kHidden, "hn");
    b->node("Mul", {"r", "hn"}, {"inner"});
    b->node("Add", {"xn", "inner"}, {"n_in"});
    b->node("Tanh", {"n_in"}, {"n"});
  }
  b->node("Sub", {"h", "n"}, {"less"});
  b->node("Mul", {"z", "less"}, {"kept"});
  b->node("Add", {"kept", "n"}, {"h_next"});
}

// One matrix for x and h side by side, in either order; GRU: its candidate's reads x beside r*h.
void joint_body(OnnxBuilder *b, bool gru, bool x_first) {
  const auto product = [&](const std::string &h, int gates, const std::string &to) {
    b->random("J_" + to, {gates * kHidden, kIn + kHidden}).random("b_" + to, {gates * kHidden});
    b->node("Concat", {x_first ? "x" : h, x_first ? h : "x"}, {"both_" + to}).with("axis", -1);
    b->node("Gemm", {"both_" + to, "J_" + to, "b_" + to}, {to}).with("transB", 1);
  };
  if (!gru) {
    product("h", 1, "sum");
    b->node("Tanh", {"sum"}, {"h_next"});
    return;
  }
  product("h", 2, "gates");
  b->node("Sigmoid", {"gates"}, {"zr"});
  b->node("Split", {"zr"}, {"z", "r"}).with("axis", -1);
  b->node("Mul", {"r", "h"}, {"rh"});
  product("rh", 1, "n_in");
  b->node("Tanh", {"n_in"}, {"n"});
  b->node("Sub", {"h", "n"}, {"less"});
  b->node("Mul", {"z", "less"}, {"kept"});
  b->node("Add", {"kept", "n"}, {"h_next"});
}

// No layer: the state decays and takes what is left of x behind a norm.
void decay_body(OnnxBuilder *b) {
  b->random("W", {kIn, kHidden});
  b->node("MatMul", {"x", "W"}, {"xw"});
  b->constant("half", {}, {0.5f});
  b->node("Mul", {"h", "half"}, {"old"});
  b->node("Softmax", {"xw"}, {"p"}).with("axis", -1);
  b->node("Add", {"old", "p"}, {"h_next"});
}

void masked_body(OnnxBuilder *b) {
  b->random("W", {kIn, kHidden}).random("R", {kHidden, kHidden});
  b->node("MatMul", {"x", "W"}, {"xw"});
  b->node("MatMul", {"h", "R"}, {"hr"});
  b->node("Add", {"xw", "hr"}, {"sum"});
  b->node("Tanh", {"sum"}, {"fresh"});
  b->constant("zero", {}, {0.0f});
  b->constant_ints("last", {1}, {-1});
  b->node("ReduceMax", {"x"}, {"top"}).with("axes", std::vector<int64_t>{-1}).with("keepdims", 1);
  b->node("Greater", {"top", "zero"}, {"on"});
  b->node("Where", {"on", "fresh", "h"}, {"h_next"});
}

void add_dims(onnx::ValueInfoProto *info, const std::string &name, int type, const std::vector<int64_t> &dims) {
  info->set_name(name);
  info->mutable_type()->mutable_tensor_type()->set_elem_type(type);
  auto *shape = info->mutable_type()->mutable_tensor_type()->mutable_shape();
  for (const int64_t dim : dims) {
    auto *to = shape->add_dim();
    if (dim > 0) to->set_dim_value(dim);
  }
}

// As tf2onnx writes it: the sequence is read at a counter, the condition is computed and never ends the loop early.
onnx::GraphProto loop_graph(OnnxBuilder body) {
  onnx::GraphProto *g = body.proto.mutable_graph();
  add_dims(g->add_input(), "i", onnx::TensorProto::INT64, {});
  add_dims(g->add_input(), "go", onnx::TensorProto::BOOL, {});
  add_dims(g->add_input(), "t", onnx::TensorProto::INT32, {});
  add_dims(g->add_input(), "h", onnx::TensorProto::FLOAT, {-1, kHidden});
  body.constant_ints("tick", {}, {1}, onnx::TensorProto::INT32);
  body.node("Add", {"t", "tick"}, {"t_next"});
  body.node("Less", {"t_next", "steps32"}, {"go_on"});
  body.node("Identity", {"h_next"}, {"h_out"});
  for (const char *name : {"go_on", "t_next", "h_out", "h_next"}) g->add_output()->set_name(name);
  // The read comes first: nodes of a body are in order.
  OnnxBuilder ordered;
  ordered.node("Gather", {"all", "t"}, {"x"});
  for (const onnx::NodeProto &node : g->node()) *ordered.proto.mutable_graph()->add_node() = node;
  *g->mutable_node() = ordered.proto.graph().node();
  return *g;
}

OnnxBuilder with_loop(const onnx::GraphProto &body, bool trips_are_steps = true) {
  OnnxBuilder b;
  b.input("X", {"N", "T", kIn}).output("Y").output("H");
  b.node("Transpose", {"X"}, {"all"}).with("perm", std::vector<int64_t>{1, 0, 2});
  b.node("Shape", {"all"}, {"sizes"});
  b.constant_ints("at0", {}, {0}).constant_ints("at1", {}, {1}).constant_ints("width", {1}, {kHidden});
  b.node("Gather", {"sizes", "at0"}, {"steps"});
  b.node("Cast", {"steps"}, {"steps32"}).with("to", static_cast<int64_t>(onnx::TensorProto::INT32));
  b.constant_ints("front", {1}, {0});
  b.node("Gather", {"sizes", "at1"}, {"rows"});
  b.node("Unsqueeze", {"rows", "front"}, {"rows1"});
  b.node("Concat", {"rows1", "width"}, {"state_shape"}).with("axis", 0);
  b.constant("nothing", {}, {0.0f});
  b.node("Expand", {"nothing", "state_shape"}, {"start"});
  b.constant_ints("zero32", {}, {0}, onnx::TensorProto::INT32).constant_ints("true", {}, {1}, onnx::TensorProto::BOOL);
  b.constant_ints("three", {}, {3});
  b.node("Loop", {trips_are_steps ? "steps" : "three", "true", "zero32", "start"}, {"last_t", "H", "made"}, "the_loop")
      .with("body", body);
  b.node("Transpose", {"made"}, {"Y"}).with("perm", std::vector<int64_t>{1, 0, 2});
  return b;
}

onnx::GraphProto scan_graph(OnnxBuilder body) {
  onnx::GraphProto *g = body.proto.mutable_graph();
  add_dims(g->add_input(), "h", onnx::TensorProto::FLOAT, {-1, kHidden});
  add_dims(g->add_input(), "x", onnx::TensorProto::FLOAT, {-1, kIn});
  body.node("Identity", {"h_next"}, {"y"});
  for (const char *name : {"h_next", "y"}) g->add_output()->set_name(name);
  return *g;
}

OnnxBuilder with_scan(const onnx::GraphProto &body) {
  OnnxBuilder b;
  b.input("X", {"T", 3, kIn}).output("Y").output("H");
  b.constant("start", {3, kHidden}, std::vector<float>(3 * kHidden, 0.0f));
  b.node("Scan", {"start", "X"}, {"H", "Y"}, "the_scan").with("num_scan_inputs", 1).with("body", body);
  return b;
}

size_t count(const OnnxBuilder &b, OpKind op) {
  const compiler::Graph graph = compiler::compile_graph(*compiler::check_model(b.proto), {});
  return static_cast<size_t>(
      std::count_if(graph.nodes.begin(), graph.nodes.end(), [&](const compiler::Node &node) { return node.op == op; }));
}

TEST(Loops, AGruCellIsALayerHoweverItIsWritten) {
  for (const bool reset_after : {true, false}) {
    for (const bool keep_is_z : {true, false}) {
      SCOPED_TRACE(::testing::Message() << reset_after << keep_is_z);
      OnnxBuilder body;
      gru_body(&body, reset_after, keep_is_z);
      const OnnxBuilder b = with_loop(loop_graph(body));
      EXPECT_EQ(count(b, OpKind::kRecurrent), 1u);
      EXPECT_EQ(count(b, OpKind::kStateRead), 0u);
      check_against_f64(b.proto);
    }
  }
}

TEST(Loops, AnRnnCellIsALayer) {
  OnnxBuilder body;
  rnn_body(&body);
  for (const OnnxBuilder &b : {with_loop(loop_graph(body)), with_scan(scan_graph(body))}) {
    EXPECT_EQ(count(b, OpKind::kRecurrent), 1u);
    check_against_f64(b.proto);
  }
}

TEST(Loops, ACellWithAMatrixForEachGateIsALayer) {
  for (const char *kind : {"rnn", "after", "before"}) {
    SCOPED_TRACE(kind);
    OnnxBuilder body;
    body_by_gates(&body, kind);
    for (const OnnxBuilder &b : {with_loop(loop_graph(body)), with_scan(scan_graph(body))}) {
      EXPECT_EQ(count(b, OpKind::kRecurrent), 1u);
      check_against_f64(b.proto);
    }
  }
}

TEST(Loops, ACellWithOneMatrixForXAndHIsALayer) {
  for (const bool gru : {false, true}) {
    for (const bool x_first : {false, true}) {
      SCOPED_TRACE(::testing::Message() << gru << x_first);
      OnnxBuilder body;
      joint_body(&body, gru, x_first);
      for (const OnnxBuilder &b : {with_loop(loop_graph(body)), with_scan(scan_graph(body))}) {
        EXPECT_EQ(count(b, OpKind::kRecurrent), 1u);
        check_against_f64(b.proto);
      }
    }
  }
}

TEST(Loops, AScanFromTheLastStepIsALayerOfDirectionReverse) {
  OnnxBuilder body;
  rnn_body(&body);
  OnnxBuilder b = with_scan(scan_graph(body));
  NodeBuilder scan(b.proto.mutable_graph()->mutable_node(b.proto.graph().node_size() - 1));
  scan.with("scan_input_directions", std::vector<int64_t>{1}).with("scan_output_directions", std::vector<int64_t>{1});
  EXPECT_EQ(count(b, OpKind::kRecurrent), 1u);
  check_against_f64(b.proto);
  OnnxBuilder decay;
  decay_body(&decay);
  b = with_scan(scan_graph(decay));
  NodeBuilder(b.proto.mutable_graph()->mutable_node(b.proto.graph().node_size() - 1))
      .with("scan_input_directions", std::vector<int64_t>{1})
      .with("scan_output_directions", std::vector<int64_t>{1});
  EXPECT_NE(refusal_of(b.proto).find("'the_scan' (Scan)"), std::string::npos) << refusal_of(b.proto);
}

TEST(Loops, AnyOtherBodyRunsAtEveryStepAndKeepsItsState) {
  for (const Body write : {decay_body, masked_body}) {
    OnnxBuilder body;
    write(&body);
    for (const OnnxBuilder &b : {with_loop(loop_graph(body)), with_scan(scan_graph(body))}) {
      EXPECT_EQ(count(b, OpKind::kRecurrent), 0u);
      EXPECT_EQ(count(b, OpKind::kStateRead), 1u);
      check_against_f64(b.proto);
    }
  }
}

// A layer with another matrix in the place of the candidate's is none.
TEST(Loops, WhatOnlyLooksLikeACellIsNone) {
  OnnxBuilder body;
  gru_body(&body, true, true);
  body.proto.mutable_graph()->mutable_node(body.proto.graph().node_size() - 1)->set_input(1, "n");
  const OnnxBuilder b = with_loop(loop_graph(body));
  EXPECT_EQ(count(b, OpKind::kRecurrent), 0u);
  check_against_f64(b.proto);
}

TEST(Loops, OtherTripsThanStepsAreRefused) {
  OnnxBuilder body;
  decay_body(&body);
  const std::string text = refusal_of(with_loop(loop_graph(body), false).proto);
  EXPECT_NE(text.find("'the_loop' (Loop)"), std::string::npos) << text;
  EXPECT_NE(text.find("number of steps"), std::string::npos) << text;
}

onnx::NodeProto *node_named(onnx::GraphProto *g, const std::string &output) {
  for (onnx::NodeProto &node : *g->mutable_node()) {
    if (node.output(0) == output) return &node;
  }
  return nullptr;
}

// As tf2onnx 1.16 writes it: no number of trips, and both conditions compare as float.
TEST(Loops, ALoopWhoseConditionAloneCountsTheStepsIsOneOverThem) {
  for (const bool layer : {true, false}) {
    OnnxBuilder body;
    layer ? rnn_body(&body) : decay_body(&body);
    onnx::GraphProto inside = loop_graph(body);
    onnx::NodeProto *less = node_named(&inside, "go_on");
    onnx::GraphProto before, after;
    OnnxBuilder casts;
    casts.node("Cast", {"t_next"}, {"t_real"}).with("to", static_cast<int64_t>(onnx::TensorProto::FLOAT));
    casts.node("Cast", {"steps32"}, {"steps_real"}).with("to", static_cast<int64_t>(onnx::TensorProto::FLOAT));
    less->set_input(0, "t_real");
    less->set_input(1, "steps_real");
    const onnx::NodeProto last = *less;
    *less = casts.proto.graph().node(0);
    *inside.add_node() = casts.proto.graph().node(1);
    *inside.add_node() = last;
    OnnxBuilder b = with_loop(inside);
    onnx::GraphProto *g = b.proto.mutable_graph();
    onnx::NodeProto *loop = node_named(g, "last_t");
    loop->set_input(0, "");
    loop->set_input(1, "begin");
    const onnx::NodeProto moved = *loop, transposed = g->node(g->node_size() - 1);
    g->mutable_node()->RemoveLast();
    g->mutable_node()->RemoveLast();
    b.node("Less", {"zero32", "steps32"}, {"begin"});
    *g->add_node() = moved;
    *g->add_node() = transposed;
    EXPECT_EQ(count(b, layer ? OpKind::kRecurrent : OpKind::kStateRead), 1u);
    check_against_f64(b.proto);
  }
}

// A number of steps that the file fixes is a constant of the body.
TEST(Loops, TheStepsThatAConditionCountsMayBeAConstantOfTheBody) {
  OnnxBuilder body;
  rnn_body(&body);
  body.constant_ints("seven", {}, {7}, onnx::TensorProto::INT32);
  onnx::GraphProto inside = loop_graph(body);
  node_named(&inside, "go_on")->set_input(1, "seven");
  OnnxBuilder b = with_loop(inside);
  auto *steps = b.proto.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(1);
  EXPECT_NE(refusal_of(b.proto).find("7 trips that is not the number of steps"), std::string::npos) << refusal_of(b.proto);
  steps->clear_dim_param();
  steps->set_dim_value(7);
  EXPECT_EQ(count(b, OpKind::kRecurrent), 1u);
  check_against_f64(b.proto);
}

TEST(Loops, ABodyThatComputesWithTheNumberOfTheStepIsRefused) {
  OnnxBuilder body;
  rnn_body(&body);
  onnx::GraphProto inside = loop_graph(body);
  onnx::NodeProto *sum = node_named(&inside, "sum");
  OnnxBuilder more;
  more.node("Cast", {"i"}, {"number"}).with("to", static_cast<int64_t>(onnx::TensorProto::FLOAT));
  more.node("Add", {"xw", "number"}, {"numbered"});
  const onnx::NodeProto added = *sum;
  *sum = more.proto.graph().node(0);
  for (int i = inside.node_size() - 1; i >= 0; --i) {
    if (inside.node(i).output(0) != "number") continue;
    std::vector<onnx::NodeProto> rest(inside.node().begin() + i + 1, inside.node().end());
    inside.mutable_node()->DeleteSubrange(i + 1, inside.node_size() - i - 1);
    *inside.add_node() = more.proto.graph().node(1);
    *inside.add_node() = added;
    inside.mutable_node(inside.node_size() - 1)->set_input(0, "numbered");
    for (const onnx::NodeProto &node : rest) *inside.add_node() = node;
    break;
  }
  const std::string text = refusal_of(with_loop(inside).proto);
  EXPECT_NE(text.find("'the_loop' (Loop): it is a loop"), std::string::npos) << text;
  EXPECT_NE(text.find("computes with i no further"), std::string::npos) << text;
}

// One that would run fewer steps, or another one, or nothing ends.
TEST(Loops, ALoopThatMayEndBeforeTheLastStepIsRefused) {
  using Change = void (*)(onnx::GraphProto *);
  const std::vector<std::pair<const char *, Change>> changes = {
      {"after three steps", [](onnx::GraphProto *g) { node_named(g, "go_on")->set_input(1, "three"); }},
      {"when h says so",
       [](onnx::GraphProto *g) {
         OnnxBuilder b;
         b.node("ReduceMax", {"h_next"}, {"top"}).with("keepdims", 0);
         b.node("Less", {"top", "nothing"}, {"go_on"});
         *node_named(g, "go_on") = b.proto.graph().node(0);
         *g->add_node() = b.proto.graph().node(1);
       }},
      {"when the counter is above", [](onnx::GraphProto *g) { node_named(g, "go_on")->set_op_type("Greater"); }},
  };
  for (const auto &change : changes) {
    SCOPED_TRACE(change.first);
    OnnxBuilder body;
    rnn_body(&body);
    onnx::GraphProto inside = loop_graph(body);
    change.second(&inside);
    const std::string text = refusal_of(with_loop(inside).proto);
    EXPECT_NE(text.find("'the_loop' (Loop)"), std::string::npos) << text;
  }
  for (const char *with : {"one step more", "a condition before it", "no end"}) {
    SCOPED_TRACE(with);
    OnnxBuilder body;
    rnn_body(&body);
    onnx::GraphProto inside = loop_graph(body);
    if (with[0] == 'n') node_named(&inside, "go_on")->CopyFrom(OnnxBuilder().node("Identity", {"go"}, {"go_on"}).proto());
    if (with[0] == 'o') node_named(&inside, "go_on")->set_input(0, "t");
    OnnxBuilder b = with_loop(inside);
    onnx::NodeProto *loop = node_named(b.proto.mutable_graph(), "last_t");
    if (with[0] == 'a') {
      b.input("Begin", {}, onnx::TensorProto::BOOL);
      loop->set_input(1, "Begin");
    } else {
      loop->set_input(0, "");
    }
    const std::string text = refusal_of(b.proto);
    EXPECT_NE(text.find("'the_loop' (Loop)"), std::string::npos) << text;
  }
}

TEST(Loops, AStateThatStartsElsewhereIsRefusedUnlessALayerHasIt) {
  for (const bool layer : {true, false}) {
    OnnxBuilder body;
    layer ? rnn_body(&body) : decay_body(&body);
    OnnxBuilder b = with_scan(scan_graph(body));
    b.proto.mutable_graph()->clear_initializer();
    b.constant("start", {3, kHidden}, std::vector<float>(3 * kHidden, 0.25f));
    if (layer) {
      check_against_f64(b.proto);
    } else {
      const std::string text = refusal_of(b.proto);
      EXPECT_NE(text.find("'the_scan'"), std::string::npos) << text;
      EXPECT_NE(text.find("starts from 'start'"), std::string::npos) << text;
    }
  }
}

}  // namespace
}  // namespace rnnp::testing_support
