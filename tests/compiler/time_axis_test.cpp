// time_axis_test.cpp -- steps picked from tensors whose number of steps was changed, and layers that are fed one step: each is
// right for every number of steps, or refused by name. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "compiler/onnx/problem.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace {

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
// ----------------------------------------------------------------------

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

// --- Layers that are fed one step
// --------------------------------------------------------------------------------------------------

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

// --- A loop beside rows that end
// -----------------------------------------------------------------------------------------------------

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

}  // namespace
}  // namespace rnnp::testing_support
