// time_axis_test.cpp -- steps picked from tensors whose number of steps was changed, layers that are fed one step, and sizes
// computed from open dimensions: each is right for every number of steps, or refused by name. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "compiler/onnx/dim.h"
#include "compiler/onnx/problem.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace time_axis_test {

constexpr int kIn = 3, kHidden = 4, kFixedSteps = 6;
constexpr int64_t kEnd = int64_t{1} << 40;
using Names = std::vector<std::string>;

std::vector<Dim> x_dims(bool open) {
  return open ? std::vector<Dim>{"T", "N", kIn} : std::vector<Dim>{kFixedSteps, 3, kIn};
}

// X [steps, batch, in] through a GRU: y [steps, batch, hidden], yt [batch, hidden, steps] and H.
OnnxBuilder layer(bool open) {
  OnnxBuilder b;
  b.input("X", x_dims(open)).weights("", 3, 1, kIn, kHidden).constant_ints("zero", {1}, {0}).constant_ints("one", {1}, {1});
  b.node("GRU", {"X", "W", "R", "B"}, {"y4", "H"}).with("hidden_size", kHidden).with("linear_before_reset", 1);
  b.node("Squeeze", {"y4", "one"}, {"y"});
  b.node("Transpose", {"y"}, {"yt"}).with("perm", std::vector<int64_t>{1, 2, 0});
  return b;
}

void slice(OnnxBuilder *b, const std::string &from, const std::string &to, int64_t axis, int64_t first, int64_t last) {
  b->constant_ints(to + ":a", {1}, {axis}).constant_ints(to + ":f", {1}, {first}).constant_ints(to + ":l", {1}, {last});
  b->node("Slice", {from, to + ":f", to + ":l", to + ":a"}, {to});
}

// Right for these numbers of steps, of which the file takes no fewer than `least`.
void expect_right(const OnnxBuilder &b, bool open, int64_t least = 1) {
  if (!open) return check_against_f64(b.proto, {kFixedSteps, 3});
  for (const int64_t steps : {1, 2, 3, 5, 12}) {
    if (steps < least) continue;
    for (const int64_t batch : {1, 3}) check_against_f64(b.proto, {steps, batch});
  }
}

void expect_refused(const OnnxBuilder &b, const std::string &part) {
  const std::string refusal = refusal_of(b.proto);
  EXPECT_NE(refusal.find(part), std::string::npos) << (refusal.empty() ? "it compiles" : refusal);
  EXPECT_EQ(refusal.find("41943"), std::string::npos) << refusal;
}

// --- Steps picked from what is longer or shorter than the run

struct Change {
  const char *name;
  int64_t least;        // steps that the file needs
  const char *refused;  // of an open number of steps; nullptr: right
};

// c [batch, hidden, other steps]
void change(OnnxBuilder *b, const std::string &how) {
  if (how == "chomp") return slice(b, "yt", "c", 2, 0, -1);
  if (how == "drop") return slice(b, "yt", "c", 2, 1, kEnd);
  if (how == "both ends") return slice(b, "yt", "c", 2, 2, -1);
  if (how == "last three") return slice(b, "yt", "c", 2, -3, kEnd);
  if (how == "first three") return slice(b, "yt", "c", 2, 0, 3);
  if (how == "zeros") {
    b->constant_ints("pads", {6}, {0, 0, 2, 0, 0, 1});
    b->node("Pad", {"yt", "pads"}, {"c"});
    return;
  }
  b->random("K", {kHidden, kHidden, 3});
  const bool relu = how == "convolution, relu";
  auto conv = b->node("Conv", {how == "chomp, convolution" ? "s" : "yt", "K"}, {relu ? "v" : "c"});
  if (how == "padded convolution") conv.with("pads", std::vector<int64_t>{4, 3});
  if (how == "chomp, convolution") conv.with("pads", std::vector<int64_t>{3, 0});
  if (relu) b->node("Relu", {"v"}, {"c"});
}

const Change kChanges[] = {{"chomp", 2, nullptr},
                           {"drop", 2, nullptr},
                           {"both ends", 4, nullptr},
                           {"convolution", 3, nullptr},
                           {"convolution, relu", 3, nullptr},
                           {"padded convolution", 1, nullptr},
                           {"zeros", 1, nullptr},
                           {"last three", 3, "of which a shorter run has fewer"},
                           {"first three", 3, "of which a shorter run has fewer"}};

TEST(TimeAxisTest, StepPickedFromAChangedNumberOfSteps) {
  for (const Change &how : kChanges) {
    for (const int64_t place : {0, 1, -1, -2}) {
      for (const bool open : {true, false}) {
        SCOPED_TRACE(std::string(how.name) + (open ? " open " : " fixed ") + std::to_string(place));
        OnnxBuilder b = layer(open);
        change(&b, how.name);
        b.constant_ints("place", {}, {place}).output("Y");
        b.node("Gather", {"c", "place"}, {"Y"}).with("axis", 2);
        if (open && how.refused)
          expect_refused(b, how.refused);
        else
          expect_right(b, open, how.least + (place == 1 || place == -2 ? 1 : 0));
      }
    }
  }
}

TEST(TimeAxisTest, PickedStepMeetsAllSteps) {
  for (const bool open : {true, false}) {
    OnnxBuilder b = layer(open);
    slice(&b, "y", "s", 0, 1, kEnd);
    b.constant_ints("first", {}, {0}).output("Y");
    b.node("Gather", {"s", "first"}, {"g"}).with("axis", 0);
    b.node("Unsqueeze", {"g", "zero"}, {"u"});
    b.node("Sub", {"y", "u"}, {"Y"});
    expect_right(b, open, 2);
  }
}

TEST(TimeAxisTest, StepBeyondTheRunThatIsComputedFurtherIsRefused) {
  OnnxBuilder b = layer(true);
  b.random("K", {kHidden, kHidden, 3}).constant_ints("place", {}, {-1}).output("Y");
  b.node("Conv", {"yt", "K"}, {"v"}).with("pads", std::vector<int64_t>{3, 3});
  b.node("Relu", {"v"}, {"c"});
  b.node("Gather", {"c", "place"}, {"Y"}, "pick").with("axis", 2);
  expect_refused(b, "node 'pick' (Gather): it takes a step of");
}

TEST(TimeAxisTest, ConvolutionOfAShorterSequenceIsNotMadeLonger) {
  OnnxBuilder b = layer(true);
  slice(&b, "yt", "s", 2, 0, -1);
  change(&b, "chomp, convolution");
  b.constant_ints("place", {}, {-1}).output("Y");
  b.node("Gather", {"c", "place"}, {"Y"}).with("axis", 2);
  const std::string refusal = refusal_of(b.proto);
  if (refusal.empty()) expect_right(b, true, 2);
}

// Zeros before one row that stands for all steps.
TEST(TimeAxisTest, RepeatedRowIsShifted) {
  OnnxBuilder b = layer(true);
  b.constant_ints("pads", {6}, {1, 0, 0, 0, 0, 0}).output("Y");
  b.node("Shape", {"y"}, {"shape"});
  b.node("Expand", {"H", "shape"}, {"e"});
  b.node("Pad", {"e", "pads"}, {"p"});
  b.constant_ints("last", {1}, {-1});
  b.node("Slice", {"p", "zero", "last", "zero"}, {"Y"});
  expect_right(b, true);
}

TEST(TimeAxisTest, DifferenceOfNeighbouringStepsOfWhatIsLongerSaysWhichStepsMeet) {
  OnnxBuilder b = layer(true);
  b.random("K", {kHidden, kHidden, 3});
  b.node("Conv", {"yt", "K"}, {"c"}).with("pads", std::vector<int64_t>{0, 4});
  slice(&b, "c", "later", 2, 1, kEnd);
  slice(&b, "c", "sooner", 2, 0, -1);
  b.output("Y").node("Sub", {"later", "sooner"}, {"Y"}, "it");
  expect_refused(b, "the first begins with step 1 of the run, the second with step 0");
}

// --- Layers that are fed one step

// s [1, batch, hidden]
void one_step(OnnxBuilder *b, const std::string &from, bool open) {
  if (from == "last") slice(b, "y", "s", 0, -1, kEnd);
  if (from == "first") slice(b, "y", "s", 0, 0, 1);
  if (from == "final state") b->node("Identity", {"H"}, {"s"});
  if (from == "input of one step") {
    b->input("Z", {1, open ? Dim("N") : Dim(3), kHidden});
    b->node("Identity", {"Z"}, {"s"});
  }
}

TEST(TimeAxisTest, LayerThatIsFedOneStep) {
  for (const std::string from : {"last", "first", "final state", "input of one step"}) {
    for (const std::string op : {"GRU", "LSTM", "RNN"}) {
      for (const bool state : {false, true}) {
        for (const bool open : {true, false}) {
          SCOPED_TRACE(from + " " + op + (state ? " state" : "") + (open ? " open" : " fixed"));
          OnnxBuilder b = layer(open);
          one_step(&b, from, open);
          b.weights("d", op == "LSTM" ? 4 : op == "GRU" ? 3 : 1, 1, kHidden, kHidden).output("Y").output("last");
          b.node(op, {"s", "dW", "dR", "dB", "", state ? "H" : ""}, {"Y", "last"}, "decoder").with("hidden_size", kHidden);
          expect_right(b, open);
        }
      }
    }
  }
}

TEST(TimeAxisTest, BothDirectionsOfOneStep) {
  for (const bool open : {true, false}) {
    OnnxBuilder b = layer(open);
    b.weights("d", 3, 2, kHidden, kHidden).output("Y");
    b.node("GRU", {"H", "dW", "dR", "dB"}, {"Y"}).with("hidden_size", kHidden).with("direction", "bidirectional");
    expect_right(b, open);
  }
}

// --- Sizes computed from open dimensions

// T and N as tensors of one element.
OnnxBuilder with_sizes() {
  OnnxBuilder b = layer(true);
  b.node("Shape", {"X"}, {"sizes"});
  b.node("Gather", {"sizes", "zero"}, {"T"}).with("axis", 0);
  b.node("Gather", {"sizes", "one"}, {"N"}).with("axis", 0);
  return b.output("Y"), b;
}

TEST(TimeAxisTest, TileByTheNumberOfSteps) {
  OnnxBuilder b = with_sizes();
  b.node("Concat", {"T", "one", "one"}, {"repeats"}).with("axis", 0);
  b.node("Tile", {"H", "repeats"}, {"t"});
  b.weights("d", 3, 1, kHidden, kHidden);
  b.node("GRU", {"t", "dW", "dR", "dB"}, {"Y"}).with("hidden_size", kHidden);
  expect_right(b, true);
}

TEST(TimeAxisTest, TileByTheBatch) {
  OnnxBuilder b = with_sizes();
  b.random("row", {1, kHidden});
  b.node("Concat", {"N", "one"}, {"repeats"}).with("axis", 0);
  b.node("Tile", {"row", "repeats"}, {"t"});
  b.node("Squeeze", {"H", "zero"}, {"h"});
  b.node("Add", {"t", "h"}, {"Y"});
  expect_right(b, true);
}

// [batch, steps * hidden] and back, as Keras' RepeatVector has it.
TEST(TimeAxisTest, TileOfFeaturesThatReshapeParts) {
  OnnxBuilder b = with_sizes();
  b.node("Squeeze", {"H", "zero"}, {"h"});
  b.node("Concat", {"one", "T"}, {"repeats"}).with("axis", 0);
  b.node("Tile", {"h", "repeats"}, {"t"});
  b.constant_ints("units", {1}, {kHidden});
  b.node("Concat", {"N", "T", "units"}, {"shape"}).with("axis", 0);
  b.node("Reshape", {"t", "shape"}, {"Y"});
  expect_right(b, true);
}

// As torch has expand: Where(shape == -1, 1, shape).
TEST(TimeAxisTest, ExpandByAShapeThatIsComparedFirst) {
  OnnxBuilder b = with_sizes();
  b.constant_ints("ones", {3}, {1, 1, 1}).constant_ints("any", {3}, {-1, -1, -1}).constant_ints("two", {1}, {2});
  b.node("Concat", {"T", "N", "one"}, {"wanted"}).with("axis", 0);
  b.node("Equal", {"wanted", "any"}, {"is_any"});
  b.node("Where", {"is_any", "ones", "wanted"}, {"shape"});
  b.node("Expand", {"H", "shape"}, {"e"});
  b.node("Mul", {"e", "y"}, {"Y"});
  expect_right(b, true);
}

// Places and bounds that are computed, but count from an end of the axis.
TEST(TimeAxisTest, ComputedPlacesFromTheEnd) {
  for (const bool gather : {true, false}) {
    OnnxBuilder b = with_sizes();
    b.constant_ints("two", {1}, {2});
    b.node("Sub", {"T", gather ? "one" : "two"}, {"place"});
    if (gather) {
      b.node("Gather", {"y", "place"}, {"Y"}).with("axis", 0);
    } else {
      b.node("Sub", {"T", "one"}, {"past"});
      b.node("Slice", {"y", "place", "past", "zero"}, {"p"});
      b.node("Squeeze", {"p", "zero"}, {"Y"});
    }
    expect_right(b, true, gather ? 1 : 2);
  }
}

TEST(TimeAxisTest, LengthsThatAreAllSteps) {
  OnnxBuilder b = with_sizes();
  b.constant_ints("three", {1}, {3});
  b.node("Mul", {"T", "three"}, {"t3"});
  b.node("Div", {"t3", "three"}, {"steps"});
  b.node("Cast", {"steps"}, {"steps32"}).with("to", onnx::TensorProto::INT32);
  b.node("Expand", {"steps32", "N"}, {"lengths"});
  b.weights("d", 3, 1, kHidden, kHidden);
  b.node("GRU", {"y", "dW", "dR", "dB", "lengths"}, {"Y"}).with("hidden_size", kHidden);
  expect_right(b, true);
}

struct Refused {
  const char *op;
  Names numbers;  // of "half": T / 2; "less": T - 1
  const char *part;
};

TEST(TimeAxisTest, OpenSizesThatNoAxisHasAreRefused) {
  const Refused cases[] = {
      {"Pad", {"zero", "zero", "zero", "zero", "zero", "T"}, "pads has the element steps"},
      {"Slice", {"T"}, "it cuts an axis of 4 elements"},
      {"Slice of steps", {"half"}, "at floor((steps) / 2)"},
      {"Tile", {"less", "one", "one"}, "it makes an axis of steps - 1 elements"},
      {"Tile", {"half", "one", "one"}, "it makes an axis of floor((steps) / 2) elements"},
      {"Expand", {"T", "N", "T"}, "elements does not broadcast to"},
      {"Gather", {"half"}, "it takes element floor((steps) / 2)"},
  };
  for (const Refused &c : cases) {
    SCOPED_TRACE(c.op + (" " + c.numbers[0]));
    OnnxBuilder b = with_sizes();
    b.constant_ints("two", {1}, {2});
    b.node("Div", {"T", "two"}, {"half"});
    b.node("Sub", {"T", "one"}, {"less"});
    b.node("Concat", c.numbers, {"numbers"}).with("axis", 0);
    const std::string op = c.op;
    if (op == "Slice" || op == "Slice of steps")
      b.node("Slice", {"y", "zero", "numbers", op == "Slice" ? "two" : "zero"}, {"Y"}, "it");
    else
      b.node(op, {op == "Pad" || op == "Gather" ? "y" : "H", "numbers"}, {"Y"}, "it");
    expect_refused(b, c.part);
    expect_refused(b, "node 'it'");
  }
}

TEST(TimeAxisTest, StepsAlongTwoAxesAreRefused) {
  OnnxBuilder b = with_sizes();
  b.node("Concat", {"T", "T", "N", "one"}, {"shape"}).with("axis", 0);
  b.node("Unsqueeze", {"y", "one"}, {"u"});
  b.node("Expand", {"u", "shape"}, {"Y"}, "it");
  expect_refused(b, "has the steps along two axes");
}

// --- A loop next to rows of shorter lengths

// A Scan goes over all steps, whatever lengths a layer before it has.
TEST(TimeAxisTest, LoopBesideLengthsOfAnotherLayer) {
  OnnxBuilder body;
  body.input("s", {"N", kHidden}).input("v", {"N", kHidden}).output("after").output("z");
  body.constant("half", {}, {0.5f});
  body.node("Mul", {"s", "half"}, {"less"});
  body.node("Add", {"less", "v"}, {"after"});
  body.node("Tanh", {"after"}, {"z"});
  OnnxBuilder b;
  b.input("X", {"T", "N", kIn}).input("n", {"N"}, onnx::TensorProto::INT32).output("Y");
  b.weights("", 1, 1, kIn, kHidden).constant_ints("one", {1}, {1}).constant_ints("units", {1}, {kHidden});
  b.node("RNN", {"X", "W", "R", "B", "n"}, {"y4"}).with("hidden_size", kHidden);
  b.node("Squeeze", {"y4", "one"}, {"y"});
  b.node("Shape", {"y"}, {"sizes"});
  b.node("Gather", {"sizes", "one"}, {"N"}).with("axis", 0);
  b.node("Concat", {"N", "units"}, {"shape"}).with("axis", 0);
  b.node("ConstantOfShape", {"shape"}, {"start"});
  b.node("Scan", {"start", "y"}, {"", "Y"}).with("num_scan_inputs", 1).with("body", body.proto.graph());
  expect_right(b, true);
}

// --- Names

TEST(TimeAxisTest, AxisNamedBatchIsTheBatchWhereverItStands) {
  OnnxBuilder b;
  b.input("x", {"batch", kIn}).input("state", {2, "batch", kHidden}).output("Y").output("next");
  b.constant_ints("first", {}, {0}).constant_ints("second", {}, {1}).constant_ints("zero", {1}, {0});
  b.random("w", {kIn, kHidden});
  b.node("Gather", {"state", "first"}, {"h"}).with("axis", 0);
  b.node("Gather", {"state", "second"}, {"c"}).with("axis", 0);
  b.node("MatMul", {"x", "w"}, {"m"});
  b.node("Add", {"m", "h"}, {"s"});
  b.node("Tanh", {"s"}, {"Y"});
  b.node("Mul", {"Y", "c"}, {"g"});
  b.node("Unsqueeze", {"Y", "zero"}, {"y1"});
  b.node("Unsqueeze", {"g", "zero"}, {"g1"});
  b.node("Concat", {"y1", "g1"}, {"next"}).with("axis", 0);
  for (const int64_t batch : {1, 3}) check_against_f64(b.proto, {1, batch});
}

// c starts the layer anew at every step as h does: an input that the library could leave out would be no state of its own.
TEST(LayersOverOneStepTest, RequireAStateThatStartsEveryStepAnew) {
  OnnxBuilder b;
  b.input("row", {"N", kIn}).input("h0", {1, "N", kHidden}).output("y").weights("", 4, 1, kIn, kHidden);
  b.constant_ints("zero", {1}, {0}).random("P", {kIn, kHidden});
  b.node("Unsqueeze", {"row", "zero"}, {"x"});
  b.node("MatMul", {"x", "P"}, {"c"});
  b.node("LSTM", {"x", "W", "R", "B", "", "h0", "c"}, {"y"}).with("hidden_size", kHidden);
  for (const int64_t batch : {1, 3}) check_against_f64(b.proto, {1, batch});
}

// ONNX does not broadcast states: the file has one row for each of the layer's, and the blob would take one for all.
TEST(LayersOverOneStepTest, RefuseAStateOfFewerRowsThanTheLayer) {
  OnnxBuilder b;
  b.input("X", {"T", 1, 2 * kIn}).input("h0", {1, "rows", kHidden}).output("y").weights("", 3, 1, kIn, kHidden);
  b.input("g0", {1, 1, 2 * kIn}).weights("g", 3, 1, 2 * kIn, 2 * kIn).constant_ints("shape", {3}, {1, 2, kIn});
  b.node("GRU", {"X", "gW", "gR", "gB", "", "g0"}, {"all", "last"}).with("hidden_size", 2 * kIn);
  b.node("Reshape", {"last", "shape"}, {"x"});
  b.node("GRU", {"x", "W", "R", "B", "", "h0"}, {"y"}).with("hidden_size", kHidden);
  expect_refused(b, "two batch axes, an open one ('rows') and one of size 1");
}

// Layers along the open axis and across it: one state has a fixed row, which says nothing about the size of the other axis.
TEST(LayersOverOneStepTest, AnOpenAxisIsNotOneRowBecauseAStateIs) {
  OnnxBuilder b;
  b.input("X", {1, kIn, "T"}).input("c0", {1, "T", kHidden}).input("c1", {1, 1, 2}).output("y");
  b.weights("a", 4, 1, kIn, kHidden).weights("b", 4, 1, kHidden, kHidden).weights("d", 4, 1, kHidden, 2);
  b.constant_ints("one", {1}, {1});
  b.node("Transpose", {"X"}, {"x"}).with("perm", std::vector<int64_t>{2, 0, 1});
  b.node("LSTM", {"x", "aW", "aR", "aB"}, {"p4"}).with("hidden_size", kHidden);
  b.node("Squeeze", {"p4", "one"}, {"p"});
  b.node("Transpose", {"p"}, {"across"}).with("perm", std::vector<int64_t>{1, 0, 2});
  b.node("LSTM", {"across", "bW", "bR", "bB", "", "", "c0"}, {"q4"}).with("hidden_size", kHidden);
  b.node("Squeeze", {"q4", "one"}, {"q"});
  b.node("Transpose", {"q"}, {"along"}).with("perm", std::vector<int64_t>{1, 0, 2});
  b.node("LSTM", {"along", "dW", "dR", "dB", "", "", "c1"}, {"y"}).with("hidden_size", 2);
  expect_refused(b, "two batch axes, an open one ('T') and one of size 1");
}

// The first layer has T rows, the second one row: the first of them, which is not the whole.
TEST(LayersOverOneStepTest, OneRowOfAnOpenBatchIsNotAllOfThem) {
  for (const bool open : {true, false}) {
    OnnxBuilder b;
    b.input("X", {1, 1, open ? Dim("T") : Dim(1)}).input("h0", {1, 1, kHidden}).output("y");
    b.weights("a", 3, 1, 1, kHidden).weights("b", 1, 1, kHidden, kHidden).constant_ints("shape", {3}, {0, 0, kHidden});
    b.constant_ints("zero", {1}, {0}).constant_ints("one", {1}, {1}).constant_ints("two", {1}, {2});
    b.node("Transpose", {"X"}, {"x"}).with("perm", std::vector<int64_t>{0, 2, 1});
    b.node("GRU", {"x", "aW", "aR", "aB"}, {"p"}).with("hidden_size", kHidden);
    b.node("Transpose", {"p"}, {"q"}).with("perm", std::vector<int64_t>{0, 2, 1, 3});
    b.node("Reshape", {"q", "shape"}, {"rows"});
    b.node("Transpose", {"rows"}, {"last"}).with("perm", std::vector<int64_t>{0, 2, 1});
    b.node("Slice", {"last", "zero", "one", "two"}, {"first"});
    b.node("Transpose", {"first"}, {"z"}).with("perm", std::vector<int64_t>{2, 0, 1});
    b.node("RNN", {"z", "bW", "bR", "bB", "", "h0"}, {"y"}).with("hidden_size", kHidden);
    if (open)
      expect_refused(b, "two batch axes, an open one ('T') and one of size 1");
    else
      check_against_f64(b.proto, {1, 1});
  }
}

// The sum of a sequence without its first steps leaves them out too: it is not the run's own sum.
TEST(ChangedStepsTest, RunningSumsOfThemAreRefused) {
  for (const bool by_layer : {true, false}) {
    OnnxBuilder b = layer(true);
    b.output("y5").constant_ints("axis", {}, {0}).constant_ints("far", {1}, {kEnd});
    b.node("Slice", {by_layer ? "y" : "X", "one", "far", "zero"}, {"later"});
    b.node("CumSum", {"later", "axis"}, {"y5"});
    slice(&b, "y5", "last", 0, -1, kEnd);
    b.node("Identity", {"last"}, {"out"});
    b.output("out");
    expect_refused(b, "(CumSum): it works on [steps-1, batch, ");
  }
}

// Without a layer the first axes are taken for the batch, which the name of X's last axis makes it as well.
TEST(GuessedAxesTest, TwoAxesOfAnInputAreNotBothTheBatch) {
  OnnxBuilder b;
  b.input("X", {1, 1, "T"}).input("X2", {"T", 1, 1}).output("y").node("Sub", {"X", "X2"}, {"y"});
  expect_refused(b, "input 'X': its axes 0 and 2 are both taken for the batch");
}

// Of a longer sequence: a run of one step has results behind its own, and step 1 is one of them.
TEST(ChangedStepsTest, StepsThatShortRunsLackArePickedOfAConvolutionAlone) {
  for (const bool from_end : {false, true}) {
    for (const bool relu : {false, true}) {
      SCOPED_TRACE(std::to_string(from_end) + std::to_string(relu));
      OnnxBuilder b = layer(true);
      b.output("z").random("K", {kHidden, kHidden, 2}).constant_ints("place", {}, {from_end ? -2 : 1});
      b.node("Conv", {"yt", "K"}, {"long"}).with("pads", std::vector<int64_t>{1, 1});
      b.node(relu ? "Relu" : "Identity", {"long"}, {"longer"});
      b.node("Gather", {"longer", "place"}, {"z"}).with("axis", 2);
      if (relu && !from_end)
        expect_refused(b, "which a run of few steps has not");
      else
        expect_right(b, true);
    }
  }
}

// --- Dim

using Size = compiler::Dim;

// A convolution without padding over eight steps, beside a product of its results, in front of a layer: steps are features then.
TEST(ChangedStepsTest, MergesOfFixedStepsBehindAConvolutionRun) {
  for (const char *op : {"Add", "Mul", "Min", "Sub"}) {
    for (const bool swapped : {false, true}) {
      SCOPED_TRACE(op + std::string(swapped ? " swapped" : ""));
      OnnxBuilder b;
      b.input("X", {"N", kIn, 8}).output("y").random("K", {kIn, kIn, 3}).random("M", {kIn, kIn}).weights("", 4, 1, kIn, kHidden);
      b.node("Conv", {"X", "K"}, {"c"});
      b.node("Transpose", {"c"}, {"by_step"}).with("perm", std::vector<int64_t>{0, 2, 1});
      b.node("MatMul", {"by_step", "M"}, {"product"});
      b.node(op, {swapped ? "product" : "by_step", swapped ? "by_step" : "product"}, {"merged"});
      b.node("Transpose", {"merged"}, {"x"}).with("perm", std::vector<int64_t>{1, 0, 2});
      b.node("LSTM", {"x", "W", "R", "B"}, {"", "y"}).with("hidden_size", kHidden);
      check_against_f64(b.proto, {1, 3});
    }
  }
}

// As a state of the example's batch times a matrix: a constant whose rows are the same is one of any batch.
TEST(RowsOfConstantsTest, ThatAreTheSameAreOneOfAllRows) {
  for (const bool same : {true, false}) {
    OnnxBuilder b;
    b.input("X", {"T", 3, kIn}).output("y").weights("", 3, 1, kIn, kHidden).constant_ints("one", {1}, {1});
    std::vector<float> rows;
    for (int row = 0; row < 3; ++row) {
      for (int unit = 0; unit < kHidden; ++unit) rows.push_back(0.25f * static_cast<float>(unit + (same ? 0 : row)));
    }
    b.constant("C", {3, kHidden}, rows);
    b.node("GRU", {"X", "W", "R", "B"}, {"Y"}).with("hidden_size", kHidden);
    b.node("Squeeze", {"Y", "one"}, {"rows"});
    b.node("Sub", {"C", "rows"}, {"y"});
    if (same)
      check_against_f64(b.proto, {4, 3});
    else
      expect_refused(b, "do not broadcast");
  }
}

// jnp.zeros_like of the example is written as a constant of its size.
TEST(RowsOfConstantsTest, ThatAreTheSameInAllStepsAreOfAnyNumberOfSteps) {
  for (const bool steps_first : {true, false}) {
    for (const bool same : {true, false}) {
      OnnxBuilder b;
      const std::vector<Dim> sizes = steps_first ? std::vector<Dim>{7, 3, kIn} : std::vector<Dim>{3, 7, kIn};
      b.input("X", sizes).output("Y").output("sum").weights("", 3, 1, kIn, kHidden).constant_ints("one", {1}, {1});
      b.constant("zero", {}, {0.0f});
      std::vector<float> numbers;
      for (int64_t place = 0; place < int64_t{7} * 3; ++place) {
        for (int unit = 0; unit < kHidden; ++unit) numbers.push_back(0.25f * static_cast<float>(unit + (same ? 0 : place)));
      }
      b.constant("C", {sizes[0].value, sizes[1].value, kHidden}, numbers);
      if (!steps_first) b.node("Transpose", {"X"}, {"x"}).with("perm", std::vector<int64_t>{1, 0, 2});
      b.node("GRU", {steps_first ? "X" : "x", "W", "R", "B"}, {"h"}).with("hidden_size", kHidden);
      b.node("Squeeze", {"h", "one"}, {"steps"});
      if (!steps_first) b.node("Transpose", {"steps"}, {"rows"}).with("perm", std::vector<int64_t>{1, 0, 2});
      const std::string y = steps_first ? "steps" : "rows";
      b.node("Greater", {y, "zero"}, {"above"});
      b.node("Where", {"above", y, "C"}, {"Y"});
      b.node("Add", {"C", "Y"}, {"sum"});
      if (!same) {
        EXPECT_NE(refusal_of(b.proto).find("do not broadcast"), std::string::npos) << refusal_of(b.proto);
        continue;
      }
      const compiler::Graph graph = compiler::compile_graph(*compiler::check_model(b.proto), {"generic", {}});
      for (const compiler::Io &output : graph.outputs) {
        EXPECT_EQ(output.dims[steps_first ? 0 : 1], RNNP_DIM_STEPS);
        EXPECT_EQ(output.dims[steps_first ? 1 : 0], RNNP_DIM_BATCH);
      }
      check_against_f64(b.proto, {7, 3});
    }
  }
}

TEST(DimTest, EqualityIsAlgebra) {
  const Size t = Size::symbol("steps", 101), n = Size::symbol("batch", 103);
  EXPECT_EQ((t + 3) - 3, t);
  EXPECT_EQ((t + n) * (t - n), t * t - n * n);
  EXPECT_EQ((t * 6).floor_div(3), t * 2);
  EXPECT_EQ((t * 2 + 7).floor_div(2), t + 3);
  EXPECT_EQ((t + 4).floor_div(2), t.floor_div(2) + 2);
  EXPECT_NE(t.floor_div(2) * 2, t);
  EXPECT_NE(Size(101), t);  // its stand-in is no value
  EXPECT_EQ((t * n).exact_div(n), std::optional<Size>(t));
  EXPECT_FALSE((t * 3).exact_div(Size(2)));
  EXPECT_NE(Size::unknown("a", 5), Size::unknown("b", 5));
  EXPECT_EQ((t - t).number(), 0);
  EXPECT_EQ((t.floor_div(2) + n * 3).stand_in(), 50 + 309);
}

TEST(DimTest, ComparisonsHoldForAllSizesOrAreOpen) {
  const Size t = Size::symbol("steps", 101), n = Size::symbol("batch", 103);
  EXPECT_EQ(t.is_less(t + 1), std::optional<bool>(true));
  EXPECT_EQ(t.is_less(Size(1)), std::optional<bool>(false));
  EXPECT_EQ(t.is_equal(Size(-1)), std::optional<bool>(false));
  EXPECT_EQ(t.is_equal(t), std::optional<bool>(true));
  EXPECT_FALSE(t.is_equal(Size(5)));
  EXPECT_FALSE(t.is_less(Size(5)));
  EXPECT_FALSE(t.is_less(n));
  EXPECT_EQ((t - 1).is_less(Size(0)), std::optional<bool>(false));
  EXPECT_FALSE((t - 2).is_less(Size(0)));
  EXPECT_FALSE(Size::unknown("a", 5).is_less(Size(0)));
}

}  // namespace time_axis_test
}  // namespace rnnp::testing_support
