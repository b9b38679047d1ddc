// reverse_sequence_test.cpp -- sequences that are reversed before a layer and its result after it: the layer runs in the other
// direction. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "compiler/onnx/problem.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace reverse_sequence_test {

constexpr int kIn = 5, kHidden = 6;
using Names = std::vector<std::string>;

// As tf2onnx has it: all steps, counted from the shape, one count for each row.
void lengths_of_all(OnnxBuilder *b) {
  b->constant_ints("i0", {}, {0}).constant_ints("i1", {1}, {1});
  b->node("Shape", {"X"}, {"sizes"});
  b->node("Gather", {"sizes", "i0"}, {"steps"});
  b->node("Gather", {"sizes", "i1"}, {"rows"});
  b->node("Expand", {"steps", "rows"}, {"lengths"});
}

struct Reversed {
  const char *layer = "GRU";
  std::string lengths = "all";  // all: computed; input; flip: by Slice; fixed: a constant, X has 6 steps; fixed steps: computed
  bool layer_lengths = false;
  bool back = true;  // the result is reversed again
  const char *direction = "forward";
};

OnnxBuilder reversed(const Reversed &how) {
  const bool fixed = how.lengths == "fixed", fixed_steps = how.lengths == "fixed steps";
  OnnxBuilder b;
  b.input("X", {fixed || fixed_steps ? Dim(6) : Dim("T"), fixed ? Dim(3) : Dim("N"), kIn}).output("Y").output("H");
  if (how.lengths == "all" || fixed_steps) lengths_of_all(&b);
  if (how.lengths == "input" || how.layer_lengths) b.input("lengths", {"N"}, onnx::TensorProto::INT32);
  if (fixed) b.constant_ints("lengths", {3}, {6, 6, 6});
  b.constant_ints("end", {1}, {-1}).constant_ints("start", {1}, {INT64_MIN}).constant_ints("axis", {1}, {0});
  const auto turn = [&](const char *from, const char *to) {
    if (how.lengths == "flip") {
      b.node("Slice", {from, "end", "start", "axis", "end"}, {to});
    } else {
      b.node("ReverseSequence", {from, "lengths"}, {to}).with("time_axis", 0).with("batch_axis", 1);
    }
  };
  turn("X", "reversed");
  const int64_t gates = how.layer[0] == 'L' ? 4 : how.layer[0] == 'G' ? 3 : 1;
  b.weights("", gates, std::string(how.direction) == "bidirectional" ? 2 : 1, kIn, kHidden);
  const bool both = std::string(how.direction) == "bidirectional";
  b.node(how.layer, {"reversed", "W", "R", "B", how.layer_lengths ? "lengths" : ""}, {both ? "Y" : "y4", "H"})
      .with("hidden_size", kHidden)
      .with("direction", how.direction);
  if (both) return b;
  b.constant_ints("one", {1}, {1});
  b.node("Squeeze", {"y4", "one"}, {how.back ? "y" : "Y"});
  if (how.back) turn("y", "Y");
  return b;
}

TEST(Reversed, ALayerRunsInTheOtherDirection) {
  for (const char *layer : {"LSTM", "GRU", "RNN"}) {
    for (const char *by : {"all", "flip", "fixed", "fixed steps"}) {
      for (const char *direction : {"forward", "reverse"}) {
        SCOPED_TRACE(::testing::Message() << layer << by << direction);
        Reversed how;
        how.layer = layer;
        how.lengths = by;
        how.direction = direction;
        check_against_f64(reversed(how).proto, {6, 3});
      }
    }
  }
}

TEST(Reversed, RowsEndAtTheirOwnLengths) {
  for (const char *layer : {"LSTM", "GRU", "RNN"}) {
    Reversed how;
    how.layer = layer;
    how.lengths = "input";
    how.layer_lengths = true;
    check_against_f64(reversed(how).proto, {6, 3}, lengths_of({6, 2, 4}));
  }
}

TEST(Reversed, OtherLengthsThanTheLayersAreReversedBeforeIt) {
  Reversed how;
  how.lengths = "input";
  check_against_f64(reversed(how).proto, {6, 3}, lengths_of({6, 2, 4}));
  how.lengths = "flip";
  how.layer_lengths = true;
  check_against_f64(reversed(how).proto, {6, 3}, lengths_of({6, 2, 4}));
}

TEST(Reversed, StepsThatStayReversedAreAnOutput) {
  for (const char *by : {"all", "flip", "fixed", "fixed steps"}) {
    for (const char *layer : {"LSTM", "GRU", "RNN"}) {
      SCOPED_TRACE(::testing::Message() << layer << by);
      Reversed how;
      how.layer = layer;
      how.lengths = by;
      how.back = false;
      check_against_f64(reversed(how).proto, {6, 3});
    }
  }
}

TEST(Reversed, StepsThatStayReversedEndAtTheirOwnLengths) {
  for (const bool layer_lengths : {true, false}) {
    Reversed how;
    how.lengths = "input";
    how.layer_lengths = layer_lengths;
    how.back = false;
    check_against_f64(reversed(how).proto, {6, 3}, lengths_of({6, 2, 4}));
    check_against_f64(reversed(how).proto, {1, 3}, lengths_of({1, 1, 1}));
  }
}

TEST(Reversed, BothDirectionsReadReversedSteps) {
  Reversed how;
  how.direction = "bidirectional";
  check_against_f64(reversed(how).proto, {6, 3});
}

// The steps that are reversed and the name of what reversed them: pieces of the run have no last step.
TEST(Reversed, ReversedStepsAreWholeSequences) {
  Reversed how;
  how.direction = "reverse";
  how.back = false;
  compiler::CompileOptions options;
  options.stream_steps = 4;
  try {
    compile_model(*compiler::check_model(reversed(how).proto), options);
    ADD_FAILURE() << "it streams";
  } catch (const compiler::ModelError &error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("cannot run as a stream: node 'reversed': it reverses the steps"), std::string::npos) << text;
  }
}

// What adds along time, or step to step, must not take reversed steps for steps in order.
TEST(Reversed, EverythingElseComputesWithReversedSteps) {
  for (const char *op : {"Add", "ReduceSum", "Conv", "MaxPool", "Relu", "Concat", "Pad", "Slice", "MatMul", "Twice"}) {
    SCOPED_TRACE(op);
    OnnxBuilder b;
    b.input("X", {"T", "N", kIn}).output("Y").output("Z");
    b.constant_ints("end", {1}, {-1}).constant_ints("start", {1}, {INT64_MIN}).constant_ints("axis", {1}, {0});
    b.constant_ints("first", {1}, {0})
        .constant_ints("pads", {6}, {2, 0, 0, 0, 0, 0})
        .random("K", {4, kIn, 3})
        .random("M", {kIn, 3});
    b.weights("", 3, 1, kIn, kHidden);
    b.node("GRU", {"X", "W", "R", "B"}, {"Z"}).with("hidden_size", kHidden);
    b.node("Slice", {"X", "end", "start", "axis", "end"}, {"reversed"});
    const std::string name = op;
    if (name == "Add") b.node("Add", {"reversed", "X"}, {"Y"});
    if (name == "Relu") b.node("Relu", {"reversed"}, {"Y"});
    if (name == "Concat") b.node("Concat", {"reversed", "X"}, {"Y"}).with("axis", 2);
    if (name == "ReduceSum") b.node("ReduceMax", {"reversed"}, {"Y"}).with("axes", std::vector<int64_t>{0});
    if (name == "MatMul") b.node("MatMul", {"reversed", "M"}, {"Y"});
    if (name == "Pad") {
      b.constant_ints("minus2", {1}, {-2}).node("Pad", {"reversed", "pads"}, {"p"});
      b.node("Slice", {"p", "first", "minus2", "axis"}, {"Y"});
    }
    if (name == "Slice") b.constant_ints("two", {1}, {2}).node("Slice", {"reversed", "end", "start", "two", "end"}, {"Y"});
    if (name == "Twice") {
      b.node("Relu", {"reversed"}, {"r"});
      b.node("Slice", {"r", "end", "start", "axis", "end"}, {"Y"});
    }
    if (name == "Conv" || name == "MaxPool") {
      b.node("Transpose", {"reversed"}, {"nct"}).with("perm", std::vector<int64_t>{1, 2, 0});
      if (name == "Conv") b.node("Conv", {"nct", "K"}, {"Y"}).with("pads", std::vector<int64_t>{2, 0});
      if (name == "MaxPool")
        b.node("MaxPool", {"nct"}, {"Y"}).with("kernel_shape", std::vector<int64_t>{1}).with("strides", std::vector<int64_t>{1});
    }
    check_against_f64(b.proto, {6, 3});
  }
}

TEST(Reversed, IdsAreReversedBeforeTheyAreLookedUp) {
  for (const bool stays : {false, true}) {
    OnnxBuilder b;
    b.input("ids", {"T", "N"}, onnx::TensorProto::INT64).output("Y");
    b.constant_ints("end", {1}, {-1}).constant_ints("start", {1}, {INT64_MIN}).constant_ints("axis", {1}, {0});
    b.random("table", {7, kIn}).weights("", 3, 1, kIn, kHidden).constant_ints("one", {1}, {1});
    b.node("Slice", {"ids", "end", "start", "axis", "end"}, {"reversed"});
    b.node("Gather", {"table", "reversed"}, {"x"});
    b.node("GRU", {"x", "W", "R", "B"}, {"y4"}).with("hidden_size", kHidden);
    b.node("Squeeze", {"y4", "one"}, {stays ? "Y" : "y"});
    if (!stays) b.node("Slice", {"y", "end", "start", "axis", "end"}, {"Y"});
    check_against_f64(b.proto, {6, 3});
  }
}

// The last of the reversed steps is the first.
TEST(Reversed, OneStepIsTakenFromItsPlace) {
  for (const int64_t place : {0, -1}) {
    OnnxBuilder b;
    b.input("X", {"T", "N", kIn}).output("Y");
    lengths_of_all(&b);
    b.weights("", 3, 1, kIn, kHidden).constant_ints("place", {}, {place}).constant_ints("one", {1}, {1});
    b.node("ReverseSequence", {"X", "lengths"}, {"reversed"}).with("time_axis", 0).with("batch_axis", 1);
    b.node("GRU", {"reversed", "W", "R", "B"}, {"y4"}).with("hidden_size", kHidden);
    b.node("Squeeze", {"y4", "one"}, {"y"});
    b.node("Gather", {"y", "place"}, {"Y"}).with("axis", 0);
    check_against_f64(b.proto);
  }
}

TEST(Reversed, FeaturesAreReversedToo) {
  OnnxBuilder b;
  b.input("X", {"T", 3, kIn}).output("Y");
  b.weights("", 3, 1, kIn, kHidden).constant_ints("one", {1}, {1}).constant_ints("all", {3}, {kHidden, kHidden, kHidden});
  b.node("GRU", {"X", "W", "R", "B"}, {"y4"}).with("hidden_size", kHidden);
  b.node("Squeeze", {"y4", "one"}, {"y"});
  b.node("Transpose", {"y"}, {"units_first"}).with("perm", std::vector<int64_t>{2, 1, 0});
  b.node("ReverseSequence", {"units_first", "all"}, {"reversed"});
  b.node("Transpose", {"reversed"}, {"Y"}).with("perm", std::vector<int64_t>{2, 1, 0});
  check_against_f64(b.proto, {7, 3});
}

TEST(Reversed, TheCountOfStepsIsNothingToComputeWith) {
  OnnxBuilder b;
  b.input("X", {"T", "N", kIn}).output("Y").output("Z");
  lengths_of_all(&b);
  b.weights("", 3, 1, kIn, kHidden);
  b.node("GRU", {"X", "W", "R", "B", "lengths"}, {"Y"}).with("hidden_size", kHidden);
  b.node("Cast", {"lengths"}, {"Z"}).with("to", static_cast<int64_t>(onnx::TensorProto::FLOAT));
  const std::string text = refusal_of(b.proto);
  EXPECT_NE(text.find("it computes with the number of steps"), std::string::npos) << text;
}

}  // namespace reverse_sequence_test
}  // namespace rnnp::testing_support
