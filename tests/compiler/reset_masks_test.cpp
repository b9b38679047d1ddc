// reset_masks_test.cpp -- loops over steps whose states are cleared by an input of every step, as policies of reinforcement
// learning have them (h * (1 - done)): the cell is a layer of one step, and a run may bring the state that it starts from.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "compiler/onnx/model_file.h"
#include "compiler/onnx/problem.h"
#include "loop_models.h"

namespace rnnp::testing_support {
namespace {

// Where a step's mask stands: before the cell, before it by choice, or behind it.
enum class Mask : uint8_t { kBefore, kWhere, kAfter };

void add_mask(OnnxBuilder *b, Mask mask, const std::string &from, const std::string &to) {
  if (mask == Mask::kWhere)
    b->node("Where", {"ended", "nothing", from}, {to});
  else
    b->node("Mul", {from, "keep"}, {to});
}

// 'the_scan' over the steps of X and D (1 where an episode ended); its states start at zero, or from inputs.
OnnxBuilder masked_scan(const std::string &kind, Mask mask, bool given, bool reverse = false) {
  const std::vector<std::string> states = kind == "lstm" ? std::vector<std::string>{"h", "c"} : std::vector<std::string>{"h"};
  OnnxBuilder body;
  body.constant("all", {}, {1.0f}).constant("nothing", {}, {0.0f}).constant("half", {}, {0.5f});
  body.node("Sub", {"all", "d"}, {"keep"});
  body.node("Greater", {"d", "half"}, {"ended"});
  for (const std::string &state : states) {
    if (mask != Mask::kAfter) add_mask(&body, mask, state + "_in", state);
  }
  if (kind == "lstm") lstm_body(&body);
  if (kind == "gru") gru_body(&body, true, true);
  if (kind == "rnn") rnn_body(&body);
  onnx::GraphProto *g = body.proto.mutable_graph();
  for (const std::string &state : states) {
    if (mask == Mask::kAfter) add_mask(&body, mask, state + "_next", state + "_left");
    add_dims(g->add_input(), state + (mask == Mask::kAfter ? "" : "_in"), onnx::TensorProto::FLOAT, {-1, kHidden});
    g->add_output()->set_name(state + (mask == Mask::kAfter ? "_left" : "_next"));
  }
  add_dims(g->add_input(), "x", onnx::TensorProto::FLOAT, {-1, kIn});
  add_dims(g->add_input(), "d", onnx::TensorProto::FLOAT, {-1, 1});
  body.node("Identity", {"h_next"}, {"y"});
  g->add_output()->set_name("y");
  OnnxBuilder b;
  const Dim rows = given ? Dim("N") : Dim(3);
  b.input("X", {"T", rows, kIn}).input("D", {"T", rows, 1}).output("Y");
  std::vector<std::string> in, out;
  for (const std::string &state : states) {
    if (given) b.input(state + "0", {rows, kHidden});
    if (!given) b.constant(state + "0", {3, kHidden}, std::vector<float>(3 * kHidden, 0.0f));
    in.push_back(state + "0");
    out.push_back(state + "N");
    b.output(state + "N");
  }
  in.insert(in.end(), {"X", "D"});
  out.emplace_back("Y");
  NodeBuilder scan = b.node("Scan", in, out, "the_scan").with("num_scan_inputs", 2).with("body", *g);
  if (reverse)
    scan.with("scan_input_directions", std::vector<int64_t>{1, 1}).with("scan_output_directions", std::vector<int64_t>{1});
  return b;
}

// 1 in some steps of some rows, of which the first and the last are.
compiler::Arrays ends(int64_t steps, int64_t batch) {
  compiler::Array d;
  d.shape = {steps, batch, 1};
  for (int64_t i = 0; i < steps * batch; ++i) d.f32.push_back(i % 3 == 0 || i == steps * batch - 1 ? 1.0f : 0.0f);
  return {{"D", d}};
}

// What a loop's attributes lack is told with the loop's name, not only what is behind it.
TEST(ResetMasks, AnAttributeOfAWrongTypeIsRefusedByTheLoopsName) {
  OnnxBuilder b = masked_scan("rnn", Mask::kBefore, false);
  for (onnx::NodeProto &node : *b.proto.mutable_graph()->mutable_node()) {
    if (node.op_type() != "Scan") continue;
    onnx::AttributeProto *directions = node.add_attribute();
    directions->set_name("scan_input_directions");
    directions->set_type(onnx::AttributeProto::INT);
  }
  try {
    compiler::compile_model(*compiler::check_model(b.proto), "generic");
    FAIL() << "compiled";
  } catch (const compiler::ModelError &error) {
    EXPECT_NE(std::string(error.what()).find("the_scan"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("'scan_input_directions' has the wrong type"), std::string::npos) << error.what();
  }
}

TEST(ResetMasks, AMaskedCellIsALayerOfOneStep) {
  for (const char *kind : {"rnn", "gru", "lstm"}) {
    for (const Mask mask : {Mask::kBefore, Mask::kWhere, Mask::kAfter}) {
      for (const bool given : {false, true}) {
        SCOPED_TRACE(::testing::Message() << kind << int(mask) << given);
        const OnnxBuilder b = masked_scan(kind, mask, given);
        EXPECT_EQ(count(b, OpKind::kFeatureRecurrent), 1u);
        EXPECT_EQ(count(b, OpKind::kDense), 0u);
        for (const int64_t steps : {1, 7, 20}) {
          if (steps == 7 || (given && mask == Mask::kBefore)) check_against_f64(b.proto, {steps, 3}, ends(steps, 3));
        }
      }
    }
  }
}

TEST(ResetMasks, ARunMayBringTheStateOrGoOn) {
  const OnnxBuilder b = masked_scan("lstm", Mask::kBefore, true);
  compiler::Runner runner(compiler::compile_model(*compiler::check_model(b.proto), "generic").blob);
  for (const rnnp_tensor_info &input : runner.inputs()) {
    const std::string name = input.name;
    EXPECT_EQ(input.role, uint32_t(name == "h0" || name == "c0" ? RNNP_ROLE_STATE : RNNP_ROLE_SEQUENCE)) << name;
  }
}

// A cell that keeps its state itself, beside a state that is no cell's: both start from what a run brings.
TEST(ResetMasks, ACellBesideAnotherStateStartsFromItsInput) {
  OnnxBuilder body;
  gru_body(&body, true, true);
  body.constant("half", {}, {0.5f}).random("D", {kIn, kHidden});
  body.node("Mul", {"e", "half"}, {"old"});
  body.node("MatMul", {"x", "D"}, {"new"});
  body.node("Add", {"old", "new"}, {"e_next"});
  body.node("Add", {"h_next", "e_next"}, {"y"});
  onnx::GraphProto *g = body.proto.mutable_graph();
  for (const char *state : {"h", "e"}) {
    add_dims(g->add_input(), state, onnx::TensorProto::FLOAT, {-1, kHidden});
    g->add_output()->set_name(std::string(state) + "_next");
  }
  add_dims(g->add_input(), "x", onnx::TensorProto::FLOAT, {-1, kIn});
  g->add_output()->set_name("y");
  OnnxBuilder b;
  b.input("X", {"T", "N", kIn}).input("h0", {"N", kHidden}).input("e0", {"N", kHidden}).output("Y").output("hN").output("eN");
  b.node("Scan", {"h0", "e0", "X"}, {"hN", "eN", "Y"}, "the_scan").with("num_scan_inputs", 1).with("body", *g);
  EXPECT_EQ(count(b, OpKind::kRecurrent), 1u);
  EXPECT_EQ(count(b, OpKind::kStateRead), 1u);
  for (const int64_t steps : {1, 7, 20}) check_against_f64(b.proto, {steps, 3});
}

TEST(ResetMasks, OneThatGoesBackwardsIsALoopOverTurnedSteps) {
  for (const bool given : {false, true}) {
    const OnnxBuilder b = masked_scan("gru", Mask::kBefore, given, true);
    for (const int64_t steps : {1, 7}) check_against_f64(b.proto, {steps, 3}, ends(steps, 3));
  }
}

TEST(ResetMasks, WhatIsNoneIsRefusedByName) {
  // A part of a larger input.
  OnnxBuilder part = masked_scan("rnn", Mask::kBefore, true);
  onnx::GraphProto *g = part.proto.mutable_graph();
  g->mutable_input(2)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(1)->set_dim_value(2 * kHidden);
  part.constant_ints("from", {1}, {0}).constant_ints("to", {1}, {kHidden}).constant_ints("along", {1}, {1});
  const onnx::NodeProto scan = g->node(0);
  g->mutable_node()->RemoveLast();
  part.node("Slice", {"h0", "from", "to", "along"}, {"half0"});
  *g->add_node() = scan;
  g->mutable_node(1)->set_input(0, "half0");
  const std::string why = refusal_of(part.proto);
  EXPECT_NE(why.find("neither a constant, the same for all rows, nor an input as it is"), std::string::npos) << why;
  // Something else reads the state that the loop starts from.
  OnnxBuilder shared = masked_scan("rnn", Mask::kBefore, true);
  shared.output("twice").node("Add", {"h0", "h0"}, {"twice"});
  EXPECT_NE(refusal_of(shared.proto).find("something else reads it"), std::string::npos) << refusal_of(shared.proto);
}

// A state that is masked twice, or by itself, is none of a layer's, but right.
TEST(ResetMasks, OtherMasksRunAsTheyAreWritten) {
  OnnxBuilder b = masked_scan("rnn", Mask::kBefore, true);
  node_named(loop_body(&b, "the_scan"), "h")->set_input(1, "h_in");  // h * h
  EXPECT_EQ(count(b, OpKind::kFeatureRecurrent), 0u);
  check_against_f64(b.proto, {7, 3}, ends(7, 3));
}

}  // namespace
}  // namespace rnnp::testing_support
