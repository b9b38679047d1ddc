// strided_time_test.cpp -- strides and pools along time before a recurrent layer: several elements of the axis make one step of the
// blob, in whole runs and in pieces. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace strided_time_test {

using Ints = std::vector<int64_t>;
constexpr int kHidden = 5;

// [batch, channels, steps] -> GRU along what is left of the steps.
void layer_behind(OnnxBuilder *b, const std::string &x, int channels, const char *direction = "forward") {
  const bool both = std::string(direction) == "bidirectional";
  b->weights("", 3, both ? 2 : 1, channels, kHidden);
  b->node("Transpose", {x}, {x + "_t"}).with("perm", Ints{2, 0, 1});
  b->node("GRU", {x + "_t", "W", "R", "B"}, {"Y", "H"}).with("hidden_size", kHidden).with("direction", direction);
  b->output("Y").output("H");
}

compiler::Graph graph_of(const OnnxBuilder &b) {
  return compiler::compile_graph(*compiler::check_model(b.proto), {});
}

struct Window {
  int kernel, stride, dilation, before, after, groups;
};

// As many elements as the stride has make a step: padding and dilation move what is read, not how much is given.
TEST(StridedTime, ConvolutionsOfEveryFormGiveAStepForEachStride) {
  const Window windows[] = {{3, 2, 1, 1, 1, 1}, {2, 2, 1, 0, 0, 1}, {4, 2, 1, 2, 0, 1}, {4, 2, 1, 1, 1, 6},
                            {3, 3, 1, 0, 0, 1}, {5, 3, 1, 1, 1, 2}, {3, 2, 2, 2, 2, 1}, {3, 2, 2, 4, 0, 3},
                            {7, 4, 1, 3, 3, 1}, {1, 2, 1, 0, 0, 1}, {2, 4, 3, 0, 0, 1}, {10, 5, 1, 5, 0, 1}};
  for (const Window &w : windows) {
    for (const char *direction : {"forward", "bidirectional"}) {
      SCOPED_TRACE(std::to_string(w.kernel) + "/" + std::to_string(w.stride) + " " + direction);
      OnnxBuilder b;
      b.input("X", {"N", 6, "time"}).random("K", {6, 6 / w.groups, w.kernel}).random("bias", {6});
      b.node("Conv", {"X", "K", "bias"}, {"c"})
          .with("strides", Ints{w.stride})
          .with("dilations", Ints{w.dilation})
          .with("pads", Ints{w.before, w.after})
          .with("group", w.groups);
      layer_behind(&b, "c", 6, direction);
      check_against_f64(b.proto);
      EXPECT_EQ(graph_of(b).inputs[0].dims, (std::vector<int32_t>{RNNP_DIM_BATCH, 6, RNNP_DIM_STEPS, w.stride}));
    }
  }
}

// Padding in front alone: a stream of every s-th step.
TEST(StridedTime, AStreamIsCutBetweenSteps) {
  OnnxBuilder b;
  b.input("X", {"N", 6, "time"}).random("K", {6, 6, 3}).random("K2", {6, 6, 4});
  b.node("Conv", {"X", "K"}, {"a"}).with("pads", Ints{2, 0});
  b.node("Relu", {"a"}, {"r"});
  b.node("Conv", {"r", "K2"}, {"c"}).with("strides", Ints{2}).with("pads", Ints{2, 0});
  b.node("MaxPool", {"c"}, {"p"}).with("kernel_shape", Ints{2}).with("strides", Ints{2});
  layer_behind(&b, "p", 6);
  check_against_f64(b.proto);
  const compiler::Graph graph = graph_of(b);
  EXPECT_TRUE(graph.causal) << graph.looks_ahead;
  EXPECT_EQ(graph.inputs[0].dims.back(), 4);
  ASSERT_EQ(graph.notes.size(), 1u);
  EXPECT_EQ(graph.notes[0], "input 'X': 4 elements of axis 2 ('time') make one step, so its size is a multiple of 4");
}

TEST(StridedTime, PoolsAsLongAsTheirStrideStayWithinAStep) {
  for (const char *pool : {"MaxPool", "AveragePool"}) {
    for (const int kernel : {2, 3}) {
      OnnxBuilder b;
      b.input("X", {"N", 4, "time"}).random("K", {4, 4, 3});
      b.node("Conv", {"X", "K"}, {"c"}).with("pads", Ints{1, 1});
      b.node(pool, {"c"}, {"p"}).with("kernel_shape", Ints{kernel}).with("strides", Ints{3});
      layer_behind(&b, "p", 4);
      check_against_f64(b.proto);
    }
  }
}

// Into the step before and the next one, or into the next one alone.
TEST(StridedTime, PoolsThatOverlapAreRefused) {
  for (const Ints &pads : {Ints{1, 1}, Ints{0, 1}}) {
    OnnxBuilder b;
    b.input("X", {"N", 4, "time"});
    b.node("MaxPool", {"X"}, {"p"}).with("kernel_shape", Ints{3}).with("strides", Ints{2}).with("pads", pads);
    layer_behind(&b, "p", 4);
    EXPECT_NE(refusal_of(b.proto).find("in windows that overlap or begin before it; accepted: as long as its stride"),
              std::string::npos)
        << refusal_of(b.proto);
  }
}

// A text reader: what pools leave of the columns are the steps; the width stays open.
TEST(StridedTime, ReadersOfImagesTakeAnyWidth) {
  OnnxBuilder b;
  b.input("X", {"N", 1, 8, "width"}).random("K", {4, 1, 3, 3}).random("K2", {6, 4, 3, 3}).constant_ints("at2", {1}, {2});
  b.node("Conv", {"X", "K"}, {"c"}).with("pads", Ints{1, 1, 1, 1});
  b.node("MaxPool", {"c"}, {"p"}).with("kernel_shape", Ints{2, 2}).with("strides", Ints{2, 2});
  b.node("Conv", {"p", "K2"}, {"d"}).with("pads", Ints{1, 1, 1, 1});
  b.node("Relu", {"d"}, {"r"});
  b.node("MaxPool", {"r"}, {"q"}).with("kernel_shape", Ints{4, 2}).with("strides", Ints{4, 2});
  b.node("Squeeze", {"q", "at2"}, {"s"});
  layer_behind(&b, "s", 6, "bidirectional");
  check_against_f64(b.proto);
  EXPECT_EQ(graph_of(b).inputs[0].dims, (std::vector<int32_t>{RNNP_DIM_BATCH, 1, 8, RNNP_DIM_STEPS, 4}));
}

// The rate of the input again behind the layer, beside what came in.
TEST(StridedTime, TransposedConvolutionsGoBackToTheRateOfTheInput) {
  for (const Window &w : {Window{2, 2, 1, 0, 0, 1}, Window{4, 2, 1, 1, 1, 1}, Window{3, 3, 1, 0, 0, 1}, Window{5, 3, 1, 2, 0, 5}}) {
    OnnxBuilder b;
    b.input("X", {"N", kHidden, "time"})
        .random("K", {kHidden, kHidden, w.kernel})
        .random("U", {kHidden, kHidden / w.groups, w.kernel});
    b.node("Conv", {"X", "K"}, {"c"}).with("strides", Ints{w.stride}).with("pads", Ints{w.before, w.after});
    layer_behind(&b, "c", kHidden);
    b.constant_ints("at1", {1}, {1});
    b.node("Squeeze", {"Y", "at1"}, {"y"});
    b.node("Transpose", {"y"}, {"z"}).with("perm", Ints{1, 2, 0});
    b.node("ConvTranspose", {"z", "U"}, {"u"})
        .with("strides", Ints{w.stride})
        .with("pads", Ints{w.before, w.after})
        .with("group", w.groups);
    b.node("Add", {"u", "X"}, {"out"});
    b.output("out");
    check_against_f64(b.proto);
  }
}

TEST(StridedTime, IdsAreLookedUpForEveryElementOfAStep) {
  OnnxBuilder b;
  b.input("X", {"N", "time"}, onnx::TensorProto::INT64).random("table", {9, 4}).random("K", {6, 4, 3});
  b.node("Gather", {"table", "X"}, {"e"});
  b.node("Transpose", {"e"}, {"x"}).with("perm", Ints{0, 2, 1});
  b.node("Conv", {"x", "K"}, {"c"}).with("strides", Ints{2}).with("pads", Ints{1, 0});
  layer_behind(&b, "c", 6);
  check_against_f64(b.proto);
}

// Reductions see every element.
TEST(StridedTime, MeansAreOverAllElements) {
  OnnxBuilder b;
  b.input("X", {"N", 4, "time"}).random("K", {4, 4, 2});
  b.node("ReduceMean", {"X"}, {"mean"}).with("axes", Ints{2}).with("keepdims", 0);
  b.node("ReduceMax", {"X"}, {"most"}).with("axes", Ints{1, 2}).with("keepdims", 0);
  b.node("Conv", {"X", "K"}, {"c"}).with("strides", Ints{2});
  layer_behind(&b, "c", 4);
  b.output("mean").output("most");
  check_against_f64(b.proto);
}

// A file that fixes the number of frames stays as it is: one call of it is one step.
TEST(StridedTime, AFixedNumberOfElementsStays) {
  OnnxBuilder b;
  b.input("X", {"N", 4, 9}).random("K", {4, 4, 3});
  b.node("Conv", {"X", "K"}, {"c"}).with("strides", Ints{2}).with("pads", Ints{1, 1});
  layer_behind(&b, "c", 4);
  check_against_f64(b.proto);
  EXPECT_EQ(graph_of(b).inputs[0].dims, (std::vector<int32_t>{RNNP_DIM_BATCH, 4, 9}));
}

// A layer at the rate of the input beside one behind a stride has several of its steps in one.
TEST(StridedTime, LayersOfTwoRatesAreRefused) {
  OnnxBuilder b;
  b.input("X", {"N", kHidden, "time"}).random("K", {kHidden, kHidden, 2}).weights("a", 3, 1, kHidden, kHidden);
  b.node("Transpose", {"X"}, {"x"}).with("perm", Ints{2, 0, 1});
  b.node("GRU", {"x", "aW", "aR", "aB"}, {"A"}).with("hidden_size", kHidden);
  b.output("A");
  b.node("Conv", {"X", "K"}, {"c"}).with("strides", Ints{2});
  layer_behind(&b, "c", kHidden);
  EXPECT_NE(refusal_of(b.proto).find("X has axes [steps*2, batch, 5]"), std::string::npos) << refusal_of(b.proto);
}

}  // namespace strided_time_test
}  // namespace rnnp::testing_support
