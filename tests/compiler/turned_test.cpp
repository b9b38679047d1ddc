// turned_test.cpp -- sequences that are turned round before a layer and its result after it: the layer runs in the other direction.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace {

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

struct Turned {
  const char *layer = "GRU";
  std::string lengths = "all";  // all: computed; input; flip: by Slice; fixed: a constant, X has 6 steps
  bool layer_lengths = false;
  bool back = true;  // the result is turned round again
  const char *direction = "forward";
};

OnnxBuilder turned(const Turned &how) {
  const bool fixed = how.lengths == "fixed";
  OnnxBuilder b;
  b.input("X", fixed ? std::vector<Dim>{6, 3, kIn} : std::vector<Dim>{"T", "N", kIn}).output("Y").output("H");
  if (how.lengths == "all") lengths_of_all(&b);
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
  turn("X", "turned");
  const int64_t gates = how.layer[0] == 'L' ? 4 : how.layer[0] == 'G' ? 3 : 1;
  b.weights("", gates, std::string(how.direction) == "bidirectional" ? 2 : 1, kIn, kHidden);
  const bool both = std::string(how.direction) == "bidirectional";
  b.node(how.layer, {"turned", "W", "R", "B", how.layer_lengths ? "lengths" : ""}, {both ? "Y" : "y4", "H"})
      .with("hidden_size", kHidden)
      .with("direction", how.direction);
  if (both) return b;
  b.constant_ints("one", {1}, {1});
  b.node("Squeeze", {"y4", "one"}, {how.back ? "y" : "Y"});
  if (how.back) turn("y", "Y");
  return b;
}

compiler::Arrays lengths(const std::vector<int32_t> &values) {
  compiler::Array array;
  array.shape = {static_cast<int64_t>(values.size())};
  array.is_int = true;
  array.i32 = values;
  return {{"lengths", array}};
}

TEST(Turned, ALayerRunsInTheOtherDirection) {
  for (const char *layer : {"LSTM", "GRU", "RNN"}) {
    for (const char *by : {"all", "flip", "fixed"}) {
      for (const char *direction : {"forward", "reverse"}) {
        SCOPED_TRACE(::testing::Message() << layer << by << direction);
        Turned how;
        how.layer = layer;
        how.lengths = by;
        how.direction = direction;
        check_against_f64(turned(how).proto, {6, 3});
      }
    }
  }
}

TEST(Turned, RowsEndAtTheirOwnLengths) {
  for (const char *layer : {"LSTM", "GRU", "RNN"}) {
    Turned how;
    how.layer = layer;
    how.lengths = "input";
    how.layer_lengths = true;
    check_against_f64(turned(how).proto, {6, 3}, lengths({6, 2, 4}));
  }
}

TEST(Turned, OtherLengthsThanTheLayersAreRefused) {
  Turned how;
  how.lengths = "input";
  EXPECT_NE(refusal_of(turned(how).proto).find("its sequence_lens are others"), std::string::npos) << refusal_of(turned(how).proto);
  how.lengths = "flip";
  how.layer_lengths = true;
  EXPECT_NE(refusal_of(turned(how).proto).find("its sequence_lens are others"), std::string::npos) << refusal_of(turned(how).proto);
}

TEST(Turned, StepsThatStayTurnedAreRefusedByTheNodeThatTurnedThem) {
  for (const char *by : {"all", "flip"}) {
    Turned how;
    how.lengths = by;
    how.back = false;
    const std::string text = refusal_of(turned(how).proto);
    EXPECT_NE(text.find("from the last to the first"), std::string::npos) << text;
    EXPECT_NE(text.find("output 'Y'"), std::string::npos) << text;
    EXPECT_NE(text.find("as node 'turned'"), std::string::npos) << text;
  }
}

TEST(Turned, BothDirectionsOfTurnedStepsAreRefused) {
  Turned how;
  how.direction = "bidirectional";
  EXPECT_NE(refusal_of(turned(how).proto).find("in both directions"), std::string::npos) << refusal_of(turned(how).proto);
}

// What adds along time, or step to step, must not take turned steps for steps in order.
TEST(Turned, NothingElseComputesWithTurnedSteps) {
  for (const char *op : {"Add", "CumSum", "ReduceSum", "Conv", "Relu", "Concat"}) {
    OnnxBuilder b;
    b.input("X", {"T", "N", kIn}).output("Y").output("Z");
    b.constant_ints("end", {1}, {-1}).constant_ints("start", {1}, {INT64_MIN}).constant_ints("axis", {1}, {0});
    b.constant_ints("axis0", {}, {0}).random("K", {4, kIn, 3});
    b.weights("", 3, 1, kIn, kHidden);
    b.node("GRU", {"X", "W", "R", "B"}, {"Z"}).with("hidden_size", kHidden);
    b.node("Slice", {"X", "end", "start", "axis", "end"}, {"turned"});
    const std::string name = op;
    if (name == "Add") b.node("Add", {"turned", "X"}, {"Y"});
    if (name == "Relu") b.node("Relu", {"turned"}, {"Y"});
    if (name == "Concat") b.node("Concat", {"turned", "X"}, {"Y"}).with("axis", 2);
    if (name == "CumSum") b.node("CumSum", {"turned", "axis0"}, {"Y"});
    if (name == "ReduceSum") b.node("ReduceSum", {"turned", "axis"}, {"Y"});
    if (name == "Conv") {
      b.node("Transpose", {"turned"}, {"nct"}).with("perm", std::vector<int64_t>{1, 2, 0});
      b.node("Conv", {"nct", "K"}, {"Y"}).with("pads", std::vector<int64_t>{2, 0});
    }
    const std::string text = refusal_of(b.proto);
    EXPECT_NE(text.find("from the last to the first"), std::string::npos) << op << ": " << text;
    EXPECT_NE(text.find("(" + name + ")"), std::string::npos) << op << ": " << text;
  }
}

// The last of the turned steps is the first.
TEST(Turned, OneStepIsTakenFromItsPlace) {
  for (const int64_t place : {0, -1}) {
    OnnxBuilder b;
    b.input("X", {"T", "N", kIn}).output("Y");
    lengths_of_all(&b);
    b.weights("", 3, 1, kIn, kHidden).constant_ints("place", {}, {place}).constant_ints("one", {1}, {1});
    b.node("ReverseSequence", {"X", "lengths"}, {"turned"}).with("time_axis", 0).with("batch_axis", 1);
    b.node("GRU", {"turned", "W", "R", "B"}, {"y4"}).with("hidden_size", kHidden);
    b.node("Squeeze", {"y4", "one"}, {"y"});
    b.node("Gather", {"y", "place"}, {"Y"}).with("axis", 0);
    check_against_f64(b.proto);
  }
}

TEST(Turned, FeaturesAreTurnedToo) {
  OnnxBuilder b;
  b.input("X", {"T", 3, kIn}).output("Y");
  b.weights("", 3, 1, kIn, kHidden).constant_ints("one", {1}, {1}).constant_ints("all", {3}, {kHidden, kHidden, kHidden});
  b.node("GRU", {"X", "W", "R", "B"}, {"y4"}).with("hidden_size", kHidden);
  b.node("Squeeze", {"y4", "one"}, {"y"});
  b.node("Transpose", {"y"}, {"units_first"}).with("perm", std::vector<int64_t>{2, 1, 0});
  b.node("ReverseSequence", {"units_first", "all"}, {"turned"});
  b.node("Transpose", {"turned"}, {"Y"}).with("perm", std::vector<int64_t>{2, 1, 0});
  check_against_f64(b.proto, {7, 3});
}

TEST(Turned, TheCountOfStepsIsNothingToComputeWith) {
  OnnxBuilder b;
  b.input("X", {"T", "N", kIn}).output("Y").output("Z");
  lengths_of_all(&b);
  b.weights("", 3, 1, kIn, kHidden);
  b.node("GRU", {"X", "W", "R", "B", "lengths"}, {"Y"}).with("hidden_size", kHidden);
  b.node("Cast", {"lengths"}, {"Z"}).with("to", static_cast<int64_t>(onnx::TensorProto::FLOAT));
  const std::string text = refusal_of(b.proto);
  EXPECT_NE(text.find("it computes with the number of steps"), std::string::npos) << text;
}

}  // namespace
}  // namespace rnnp::testing_support
