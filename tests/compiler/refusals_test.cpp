// refusals_test.cpp -- what is not supported is refused by node, attribute and what would be accepted; all of it at once.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>

#include "compiler/compile.h"
#include "compiler/import/axis_inference.h"
#include "compiler/onnx/problem.h"
#include "onnx_builder.h"
#include "rnnpack/rnnpack.h"

namespace rnnp::testing_support {
namespace refusals_test {

using Edit = std::function<void(OnnxBuilder &, NodeBuilder &)>;

constexpr int kHidden = 4;

std::string refused(const std::string &op, const Edit &edit, std::vector<std::string> inputs = {"X", "W", "R", "B"}) {
  OnnxBuilder b;
  b.input("X", {"T", "N", 3}).weights("", op == "LSTM" ? 4 : op == "GRU" ? 3 : 1, 1, 3, kHidden).output("Y");
  NodeBuilder node = b.node(op, inputs, {"Y"}, "the_layer").with("hidden_size", kHidden);
  edit(b, node);
  return refusal_of(b.proto);
}

void expect_all(const std::string &text, const std::vector<std::string> &parts) {
  for (const std::string &part : parts) EXPECT_NE(text.find(part), std::string::npos) << "no \"" << part << "\" in: " << text;
}

TEST(Refusals, AttributesByName) {
  expect_all(refused("LSTM", [](OnnxBuilder &, NodeBuilder &n) { n.with("direction", "sideways"); }),
             {"'the_layer' (LSTM)", "'direction'", "'sideways'", "forward, reverse, bidirectional"});
  expect_all(refused("LSTM", [](OnnxBuilder &, NodeBuilder &n) { n.with("layout", 2); }), {"'layout' is 2", "accepted: 0 or 1"});
  expect_all(refused("GRU", [](OnnxBuilder &, NodeBuilder &n) { n.with("linear_before_reset", 3); }),
             {"'linear_before_reset' is 3"});
  expect_all(refused("GRU", [](OnnxBuilder &, NodeBuilder &n) { n.with("input_forget", 1); }),
             {"'input_forget' is not known", "linear_before_reset"});
  expect_all(refused("RNN", [](OnnxBuilder &, NodeBuilder &n) { n.with("activations", std::vector<std::string>{"Swish"}); }),
             {"'activations' has 'Swish'", "Softplus"});
  expect_all(refused("LSTM", [](OnnxBuilder &, NodeBuilder &n) { n.with("activations", std::vector<std::string>{"Tanh"}); }),
             {"'activations' has 1 names", "accepted: 3"});
  expect_all(refused("LSTM", [](OnnxBuilder &, NodeBuilder &n) { n.with("clip", "x"); }), {"'clip' has the wrong type"});
}

TEST(Refusals, WeightsThatAreInputs) {
  const auto text = refused("GRU", [](OnnxBuilder &b, NodeBuilder &n) {
    b.input("W_in", {1, 12, 3});
    n.proto().set_input(1, "W_in");
  });
  expect_all(text, {"W ('W_in') is a graph input", "an initializer", "--set W_in=W_in.npy"});
}

TEST(Refusals, WeightsThatAreAllInputsAreNamedTogether) {
  const auto text = refused("GRU", [](OnnxBuilder &b, NodeBuilder &n) {
    b.input("W_in", {1, 12, 3}).input("R_in", {1, 12, 4}).input("B_in", {1, 24});
    for (int i = 1; i <= 3; ++i) n.proto().set_input(i, std::string(1, "WRB"[i - 1]) + "_in");
  });
  expect_all(
      text, {"W ('W_in'), R ('R_in'), B ('B_in') are graph inputs", "--set W_in=W_in.npy --set R_in=R_in.npy --set B_in=B_in.npy"});
}

// One cause is one line, and what stands in for open dimensions is shown by their names.
TEST(Refusals, SayACauseOnceAndAxesByTheirNames) {
  OnnxBuilder b;
  b.input("X", {"frames", "rows", 3}).weights("", 3, 1, 3, kHidden).output("Y").constant_ints("shape", {2}, {7, 5});
  b.node("GRU", {"X", "W", "R", "B"}, {"Y"}).with("hidden_size", kHidden);
  for (const std::string name : {"a", "b", "c"}) {
    b.node("Reshape", {"X", "shape"}, {"cut_" + name}, name);
    b.output("cut_" + name);
  }
  const std::string text = refusal_of(b.proto);
  expect_all(text, {"'a' (Reshape)", "frames", "rows", "(and so 2 more nodes)"});
  EXPECT_EQ(text.find("'b' (Reshape)"), std::string::npos) << text;
  EXPECT_EQ(text.find("41943"), std::string::npos) << text;
}

TEST(Refusals, WhatStridesLeaveOfAnOpenSizeHasItsName) {
  compiler::OnnxModel model;
  model.inputs = {{"x", 1, {{0, "S", compiler::DimRole::kUnknown}, {0, "", compiler::DimRole::kUnknown}}}};
  const compiler::Origins axes(model);
  const std::string of_s = std::to_string((axes.size(0) + 2 - 3) / 4 + 1),
                    of_the_other = std::to_string((axes.size(1) - 5) / 8 + 1);
  EXPECT_EQ("[batch, S/4+1, 64] and ?/8 of 131072 or 262144, S",
            axes.named("[batch, " + of_s + ", 64] and " + of_the_other + " of 131072 or 262144, " + std::to_string(axes.size(0))));
}

TEST(Refusals, SizesThatDifferAreNamedApart) {
  compiler::OnnxModel model;
  model.inputs = {{"x", 1, {{0, "S", compiler::DimRole::kUnknown}, {0, "N", compiler::DimRole::kUnknown}}}};
  const compiler::Origins axes(model);
  const int64_t s = axes.size(0), n = axes.size(1);
  const auto named = [&](int64_t number) { return axes.named("[" + std::to_string(number) + "]"); };
  EXPECT_EQ(named(s / 2), "[S/2]");
  EXPECT_EQ(named(s / 2 + 1), "[S/2+1]");
  EXPECT_EQ(named(n - 3), "[N-3]");
  EXPECT_EQ(named(s * s * 3), "[3*S*S]");
  EXPECT_EQ(named((s + 2) * n), "[(S+2)*N]");
}

// However many there are: one of them is never another with some elements more.
TEST(Refusals, OpenSizesAreFarApart) {
  compiler::OnnxModel model;
  model.inputs = {{"x", 1, std::vector<compiler::DeclaredDim>(20)}};
  for (const int which : {0, 1}) {
    model.stand_ins = which;
    const compiler::Origins axes(model);
    for (int a = 0; a < 20; ++a) {
      for (int b = 0; b < a; ++b) EXPECT_GT(std::abs(axes.size(a) - axes.size(b)), 10000) << a << " " << b;
    }
  }
}

// Steps padded by ten and added to what has one row for each batch row: the sizes met, and the two axes became one.
TEST(Refusals, AnAxisPaddedByTenIsNoOther) {
  OnnxBuilder b;
  b.input("X", {"T", "N", 3}).input("Z", {"M", 1, 3}).output("Y").constant_ints("pads", {6}, {0, 0, 0, 10, 0, 0});
  b.weights("", 3, 1, 3, kHidden);
  b.node("Pad", {"X", "pads"}, {"padded"});
  b.node("Add", {"padded", "Z"}, {"sum"});
  b.node("GRU", {"sum", "W", "R", "B"}, {"Y"}).with("hidden_size", kHidden);
  for (const int which : {0, 1}) {
    const auto model = compiler::check_model(b.proto);
    model->stand_ins = which;
    std::string text;
    try {
      compiler::compile_model(*model, "generic");
    } catch (const compiler::ModelError &error) {
      text = error.what();
    }
    EXPECT_NE(text.find("shapes [T+10, N, 3] and [M, 1, 3] do not broadcast"), std::string::npos) << text;
  }
}

TEST(Refusals, EqualShapesThatDoNotBroadcastSayWhy) {
  OnnxBuilder b;
  b.input("X", {6, "N", 3}).output("Y").weights("", 3, 1, 3, kHidden).random("six", {6, 1, 1});
  b.input("lengths", {"N"}, onnx::TensorProto::INT32);  // so that the steps are no features
  b.node("GRU", {"X", "W", "R", "B", "lengths"}, {"Y"}).with("hidden_size", kHidden);
  b.node("Add", {"X", "six"}, {"sum"});
  b.output("sum");
  expect_all(refusal_of(b.proto), {"do not broadcast: as many elements at the sizes in the file, but one of the two changes"});
}

TEST(Refusals, WhatRunsAlongTheBatchIsNamed) {
  for (const bool sum : {true, false}) {
    OnnxBuilder b;
    b.input("X", {"T", "N", 3}).output("Y").output("Z").weights("", 3, 1, 3, kHidden);
    b.constant_ints("axis", {}, {1}).constant_ints("two", {1}, {2});
    b.node("GRU", {"X", "W", "R", "B"}, {"Y"}).with("hidden_size", kHidden);
    if (sum)
      b.node("CumSum", {"X", "axis"}, {"Z"}, "along");
    else
      b.node("TopK", {"X", "two"}, {"Z", "places"}, "along").with("axis", 1);
    expect_all(refusal_of(b.proto),
               {sum ? "'along' (CumSum): it adds along" : "'along' (TopK): it looks along the time or batch axis of"});
  }
}

// h0 is of one row, so the second layer has one. X may have several, of which the Slice takes the first.
TEST(Refusals, OneRowOfABatchThatAnotherInputFixesAtOneIsNamed) {
  for (const bool open : {true, false}) {
    OnnxBuilder b;
    b.input("X", {"T", open ? Dim("N") : Dim(1), 3}).input("h0", {1, 1, kHidden}).output("Z");
    b.weights("", 3, 1, 3, kHidden).weights("2", 3, 1, kHidden, kHidden);
    b.constant_ints("one", {1}, {1}).constant_ints("zero", {1}, {0});
    b.node("GRU", {"X", "W", "R", "B"}, {"y4"}).with("hidden_size", kHidden);
    b.node("Squeeze", {"y4", "one"}, {"y"});
    b.node("Slice", {"y", "zero", "one", "one"}, {"first"}, "row");
    b.node("GRU", {"first", "2W", "2R", "2B", "", "h0"}, {"Z"}).with("hidden_size", kHidden);
    if (open)
      expect_all(refusal_of(b.proto), {"'row' (Slice): it takes one row of the batch"});
    else
      EXPECT_EQ("", refusal_of(b.proto));
  }
}

TEST(Refusals, AxesAreWhatTheUserSays) {
  OnnxBuilder b;
  b.input("X", {"p", "q", 3}).output("Y");
  b.node("Relu", {"X"}, {"Y"});
  for (const bool time_first : {true, false}) {
    const auto model = compiler::check_model(b.proto);
    compiler::Specialisation wanted;
    const std::vector<std::string> axes = {"time", "batch", "features"}, swapped = {"batch", "time", "features"};
    wanted.axes["X"] = time_first ? axes : swapped;
    specialise(model.get(), wanted);
    const compiler::Graph graph = compiler::compile_graph(*model, {});
    EXPECT_EQ(graph.inputs[0].dims[0], time_first ? RNNP_DIM_STEPS : RNNP_DIM_BATCH);
    EXPECT_EQ(graph.inputs[0].dims[1], time_first ? RNNP_DIM_BATCH : RNNP_DIM_STEPS);
  }
}

TEST(Refusals, ShapesThatDoNotFit) {
  expect_all(refused("GRU",
                     [](OnnxBuilder &b, NodeBuilder &n) {
                       b.random("W2", {1, 12, 7});
                       n.proto().set_input(1, "W2");
                     }),
             {"W has shape [1, 12, 7]", "accepted: [1, 12, 3]"});
  expect_all(refused("GRU",
                     [](OnnxBuilder &b, NodeBuilder &) {
                       b.random("H", {1, 2, 5});
                     },
                     {"X", "W", "R", "B", "", "H"}),
             {"initial_h has shape [1, 2, 5]", "accepted: [1, 2, 4]"});
  expect_all(refused("GRU",
                     [](OnnxBuilder &, NodeBuilder &n) {
                       n.proto().clear_attribute();
                       n.with("hidden_size", -1);
                     }),
             {"'hidden_size' is -1"});
}

TEST(Refusals, EveryProblemAtOnce) {
  OnnxBuilder b;
  b.input("X", {"T", "N", 3}).output("Y").random("W", {1, 1, 3});
  b.node("Foo", {"X"}, {"a"}, "n1");
  b.node("Det", {"X"}, {"b"}, "n2");
  b.node("Conv", {"X", "W"}, {"c"}, "n3");
  b.node("Concat", {"a", "b"}, {"Y"}, "n4").with("axis", 0);
  expect_all(refusal_of(b.proto), {"'n1' (Foo)", "'n2' (Det)", "'n3' (Conv)"});
}

TEST(Refusals, OperatorsOfOtherDomains) {
  OnnxBuilder b;
  b.input("X", {"N", 3}).output("Y");
  b.node("Relu", {"X"}, {"Y"}, "n").proto().set_domain("com.example");
  expect_all(refusal_of(b.proto), {"'com.example'", "standard ONNX operators"});
}

TEST(Refusals, Opsets) {
  for (int64_t opset : {6, 26}) {
    OnnxBuilder b(opset);
    b.input("X", {"N", 3}).output("Y");
    b.node("Relu", {"X"}, {"Y"});
    expect_all(refusal_of(b.proto), {"opset " + std::to_string(opset), "accepted: 7 to 25"});
  }
}

TEST(Refusals, PartsOfTheTimeAxis) {
  OnnxBuilder b;
  b.input("X", {"T", "N", 3}).weights("", 3, 1, 3, kHidden).output("Z");
  b.constant_ints("s", {1}, {1}).constant_ints("e", {1}, {INT64_MAX}).constant_ints("a", {1}, {0});
  b.node("GRU", {"X", "W", "R", "B"}, {"Y"}).with("hidden_size", kHidden);
  b.node("Slice", {"Y", "s", "e", "a"}, {"Z"}, "tail");
  expect_all(refusal_of(b.proto), {"'tail' (Slice)", "part of the time axis", "first or the last step"});
}

TEST(Refusals, ArithmeticOnTheNumberOfSteps) {
  OnnxBuilder b;
  b.input("X", {"T", "N", 3}).weights("", 3, 1, 3, kHidden).output("Z").constant_ints("zero", {}, {0});
  b.node("GRU", {"X", "W", "R", "B"}, {"Y"}).with("hidden_size", kHidden);
  b.node("Shape", {"X"}, {"shape"});
  b.node("Gather", {"shape", "zero"}, {"t"});
  b.node("Cast", {"t"}, {"tf"}).with("to", 1);
  b.node("Div", {"Y", "tf"}, {"Z"}, "mean");
  expect_all(refusal_of(b.proto), {"'mean' (Div)", "number of steps"});
}

// What an exporter left of the example's length is the only one that fits.
TEST(Refusals, ProposesTheLengthThatAConstantHas) {
  OnnxBuilder b;
  b.input("X", {"T", "N", 3}).weights("", 3, 1, 3, kHidden).output("Z").random("places", {9, 1, 1, kHidden});
  b.node("GRU", {"X", "W", "R", "B"}, {"Y"}).with("hidden_size", kHidden);
  b.node("Add", {"Y", "places"}, {"Z"}, "add");
  expect_all(refusal_of(b.proto), {"'add' (Add)", "do not broadcast", "try: --dim T=9 "});
}

TEST(Refusals, OpenAxesThatAreNeitherTimeNorBatch) {
  OnnxBuilder b;
  b.input("X", {"T", "N", "F"}).weights("", 3, 1, 3, kHidden).output("Y");
  b.node("GRU", {"X", "W", "R", "B"}, {"Y"}).with("hidden_size", kHidden);
  expect_all(refusal_of(b.proto), {"feature axis of X is dynamic"});

  OnnxBuilder other;
  other.input("X", {"T", "N", 3}).input("Z", {"T", "N", "F"}).weights("", 3, 1, 3, kHidden).output("Y").output("Q");
  other.node("GRU", {"X", "W", "R", "B"}, {"Y"}).with("hidden_size", kHidden);
  other.node("Relu", {"Z"}, {"Q"});
  expect_all(refusal_of(other.proto), {"input 'Z'", "axis 2 ('F') is open", "try: --dim F=SIZE"});
}

// Before opset 13 it covers all later axes too.
TEST(Refusals, SoftmaxOverTimeAndWhatFollows) {
  OnnxBuilder b(12);
  b.input("X", {"T", "N", 3}).weights("", 3, 1, 3, kHidden).output("Z");
  b.node("GRU", {"X", "W", "R", "B"}, {"Y"}).with("hidden_size", kHidden);
  b.node("Softmax", {"Y"}, {"Z"}, "over_time").with("axis", 0);
  expect_all(refusal_of(b.proto), {"'over_time' (Softmax)", "'axis'"});
}

TEST(Refusals, LengthsOfAnotherBatch) {
  OnnxBuilder b;
  b.input("X", {3, 2, 3}).input("L", {1}, onnx::TensorProto::INT32).weights("", 3, 1, 3, kHidden).output("Y");
  b.node("GRU", {"X", "W", "R", "B", "L"}, {"Y"}).with("hidden_size", kHidden);
  expect_all(refusal_of(b.proto), {"sizes 2 and 1"});
}

TEST(Refusals, GraphsThatAreNoGraphs) {
  OnnxBuilder cycle;
  cycle.input("X", {"N", 3}).output("a");
  cycle.node("Add", {"X", "b"}, {"a"});
  cycle.node("Relu", {"a"}, {"b"});
  expect_all(refusal_of(cycle.proto), {"cycle"});

  OnnxBuilder missing;
  missing.input("X", {"N", 3}).output("Y");
  missing.node("Add", {"X", "nothing"}, {"Y"}, "n");
  expect_all(refusal_of(missing.proto), {"'n' (Add)", "'nothing' is made by nothing"});

  OnnxBuilder twice;
  twice.input("X", {"N", 3}).output("Y");
  twice.node("Relu", {"X"}, {"Y"});
  twice.node("Tanh", {"X"}, {"Y"});
  expect_all(refusal_of(twice.proto), {"another source"});
}

TEST(Refusals, DamagedInitializers) {
  const auto with = [](const std::function<void(onnx::TensorProto *)> &edit) {
    OnnxBuilder b;
    b.input("X", {"N", 3}).output("Y").random("c", {3});
    b.node("Add", {"X", "c"}, {"Y"});
    edit(b.proto.mutable_graph()->mutable_initializer(0));
    return refusal_of(b.proto);
  };
  expect_all(with([](onnx::TensorProto *t) { t->set_dims(0, -3); }), {"initializer 'c'", "negative dimension -3"});
  expect_all(with([](onnx::TensorProto *t) { t->set_dims(0, int64_t{1} << 60); }), {"too large"});
  expect_all(with([](onnx::TensorProto *t) { t->clear_float_data(); }), {"holds 0 elements"});
  expect_all(with([](onnx::TensorProto *t) { t->set_raw_data("abc"); }), {"holds 3 bytes"});
  expect_all(with([](onnx::TensorProto *t) { t->set_data_location(onnx::TensorProto::EXTERNAL); }), {"another file"});
  expect_all(with([](onnx::TensorProto *t) { t->set_data_type(onnx::TensorProto::STRING); }), {"element type 8"});
  expect_all(with([](onnx::TensorProto *t) {
               for (int i = 0; i < 30; ++i) t->add_dims(int64_t{1} << 40);
             }),
             {"too large"});
}

TEST(Refusals, ARangeOverTheStepsNamesKerasWrapperWhereItIsOne) {
  for (const bool keras : {false, true}) {
    OnnxBuilder b;
    b.input("X", {"T", "N", 4}).weights("", 3, 1, 4, 8).output("out").output("Y");
    b.constant_ints("first", {}, {0}).constant_ints("one", {}, {1});
    b.node("GRU", {"X", "W", "R", "B"}, {"Y"}).with("hidden_size", 8);
    b.node("Shape", {"X"}, {"shape"});
    b.node("Gather", {"shape", "first"}, {"steps"});
    b.node("Range", {"first", "steps", "one"}, {"out"}, keras ? "model/time_distributed_1/range" : "range");
    const std::string refused = refusal_of(b.proto);
    EXPECT_NE(refused.find("its size depends on the number of steps"), std::string::npos) << refused;
    EXPECT_EQ(refused.find("Keras' TimeDistributed: export the layer without it") != std::string::npos, keras) << refused;
  }
}

}  // namespace refusals_test
}  // namespace rnnp::testing_support
