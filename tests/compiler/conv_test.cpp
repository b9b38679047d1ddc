// conv_test.cpp -- convolutions, end to end against the f64 evaluation: shapes, time axes, what they are fused with.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>

#include "compiler/compile.h"
#include "compiler/run/runner.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace conv_test {

using Ints = std::vector<int64_t>;

compiler::Graph graph_of(const OnnxBuilder &b) {
  return compiler::compile_model(*compiler::check_model(b.proto), "generic").graph;
}

size_t count_of(const compiler::Graph &graph, OpKind op) {
  size_t count = 0;
  for (const compiler::Node &node : graph.nodes) count += node.op == op;
  return count;
}

// X [N, 6, T] -> Conv over time -> "Y".
OnnxBuilder over_time(Ints weights, Ints pads, int64_t dilation = 1, int64_t group = 1) {
  OnnxBuilder b;
  b.input("X", {"N", 6, "T"}).random("W", weights).random("B", {weights[0]}).output("Y");
  b.node("Conv", {"X", "W", "B"}, {"Y"}, "conv").with("pads", pads).with("dilations", Ints{dilation}).with("group", group);
  return b;
}

TEST(Conv, CausalOverTime) {
  for (const int64_t kernel : {1, 2, 5}) {
    for (const int64_t dilation : {1, 3}) {
      for (const int64_t group : {1, 2, 3, 6}) {
        SCOPED_TRACE(std::to_string(kernel) + " taps " + std::to_string(dilation) + " apart, groups " + std::to_string(group));
        const OnnxBuilder b = over_time({12, 6 / group, kernel}, {(kernel - 1) * dilation, 0}, dilation, group);
        EXPECT_TRUE(graph_of(b).causal);
        check_against_f64(b.proto);
        check_against_f64(b.proto, {20, 1});
      }
    }
  }
}

TEST(Conv, DepthwiseOverTime) {
  const OnnxBuilder b = over_time({6, 1, 3}, {4, 0}, 2, 6);
  const compiler::Graph graph = graph_of(b);
  EXPECT_TRUE(graph.causal);
  EXPECT_TRUE(std::get<compiler::Conv>(graph.nodes[0].attr).is_depthwise());
  check_against_f64(b.proto);
}

TEST(Conv, LookAheadRunsWhole) {
  const OnnxBuilder b = over_time({4, 6, 3}, {1, 1});
  const compiler::Graph graph = graph_of(b);
  EXPECT_FALSE(graph.causal);
  EXPECT_NE(graph.looks_ahead.find("conv"), std::string::npos) << graph.looks_ahead;
  check_against_f64(b.proto);
  check_against_f64(over_time({6, 1, 3}, {0, 2}, 1, 6).proto);
}

// Stride 2 under one tap: every other position is reached by none, so what x holds is nothing to it.
TEST(ConvTranspose, APositionThatNoTapReachesIsTheBiasWhateverXHolds) {
  OnnxBuilder b;
  b.input("X", {"N", 1, 3}).random("W", {1, 2, 1}).random("B", {2}).output("Y");
  b.node("ConvTranspose", {"X", "W", "B"}, {"Y"}).with("strides", Ints{2});
  compiler::Runner runner(compiler::compile_model(*compiler::check_model(b.proto), "generic").blob);
  compiler::Array x;
  x.shape = {1, 1, 3};
  x.f32 = {1.0f, 1.0f, 1.0f};
  const std::vector<float> finite = runner.run({{"X", x}}, {}).at("Y").f32;
  constexpr float kInf = std::numeric_limits<float>::infinity();
  x.f32 = {kInf, -kInf, std::numeric_limits<float>::quiet_NaN()};
  const std::vector<float> other = runner.run({{"X", x}}, {}).at("Y").f32;
  ASSERT_EQ(10u, other.size());
  for (const size_t between : {1u, 3u, 6u, 8u}) EXPECT_EQ(finite[between], other[between]) << between;
}

TEST(Conv, SameOverTime) {
  for (const char *mode : {"SAME_UPPER", "SAME_LOWER"}) {
    OnnxBuilder b;
    b.input("X", {"N", 6, "T"}).random("W", {4, 6, 4}).output("Y");
    b.node("Conv", {"X", "W"}, {"Y"}).with("auto_pad", mode);
    check_against_f64(b.proto);
  }
}

TEST(Conv, PaddedBefore) {
  OnnxBuilder b;
  b.input("X", {"N", 6, "T"}).random("W", {4, 6, 3}).output("Y").constant_ints("pads", {6}, {0, 0, 4, 0, 0, 0});
  b.node("Pad", {"X", "pads"}, {"p"});
  b.node("Conv", {"p", "W"}, {"Y"}).with("dilations", Ints{2});
  EXPECT_TRUE(graph_of(b).causal);
  check_against_f64(b.proto);
}

TEST(Conv, ADelay) {
  OnnxBuilder b;
  b.input("X", {"N", 6, "T"}).output("Y").output("Z");
  b.constant_ints("pads", {6}, {0, 0, 3, 0, 0, 0}).constant_ints("one", {6}, {0, 0, 1, 0, 0, 0});
  b.constant_ints("s", {1}, {0}).constant_ints("e", {1}, {-3}).constant_ints("l", {1}, {-1}).constant_ints("a", {1}, {2});
  b.node("Pad", {"X", "pads"}, {"p"});
  b.node("Slice", {"p", "s", "e", "a"}, {"Y"});
  b.node("Slice", {"X", "s", "l", "a"}, {"c"});
  b.node("Pad", {"c", "one"}, {"d"});
  b.node("Sub", {"X", "d"}, {"Z"});
  EXPECT_TRUE(graph_of(b).causal);
  check_against_f64(b.proto);
}

// As models with a look-ahead shift their features: the first steps out, zeros behind.
TEST(Conv, AnAdvance) {
  for (const int64_t channels : {1, 3}) {
    OnnxBuilder b;
    b.input("X", {"N", channels, "T", 4}).random("W", {2, channels, 3, 1}).output("Y").output("Z");
    b.constant_ints("ahead", {8}, {0, 0, -2, 0, 0, 0, 2, 0}).constant_ints("before", {8}, {0, 0, 2, 0, 0, 0, 0, 0});
    b.node("Pad", {"X", "ahead"}, {"Y"});
    b.node("Pad", {"Y", "before"}, {"p"});
    b.node("Conv", {"p", "W"}, {"Z"});
    EXPECT_FALSE(graph_of(b).causal);
    check_against_f64(b.proto);
    check_against_f64(b.proto, {2, 1});
  }
}

// Lines of x are the lines of y: nothing is transposed, constants per channel and activations go in, stacks stay so.
TEST(Conv, WideLinesOfManyChannelsStayLines) {
  OnnxBuilder b;
  b.input("X", {"N", 9, 10, 16})
      .random("W", {12, 9, 3, 3})
      .random("B", {12})
      .random("V", {10, 12, 2, 3})
      .random("S", {12, 1, 1})
      .output("Y");
  b.node("Conv", {"X", "W", "B"}, {"c"}).with("pads", Ints{1, 1, 1, 1});
  b.node("Mul", {"c", "S"}, {"m"});
  b.node("Relu", {"m"}, {"r"});
  b.node("Conv", {"r", "V"}, {"Y"}).with("pads", Ints{0, 2, 0, 0}).with("dilations", Ints{1, 2}).with("strides", Ints{2, 1});
  const compiler::Graph graph = graph_of(b);
  ASSERT_EQ(2u, graph.nodes.size());
  EXPECT_EQ(160u, std::get<compiler::Conv>(graph.nodes[0].attr).shape.y_plane);
  EXPECT_EQ(70u, std::get<compiler::Conv>(graph.nodes[1].attr).shape.y_plane);
  check_against_f64(b.proto);
}

// Kernels of lines read f32 alone.
TEST(Conv, LinesOfWeightsOfLowPrecisionHaveTheirChannelsTogether) {
  OnnxBuilder b;
  b.input("X", {"N", 9, 8, 16}).random("W", {12, 9, 3, 3}).output("Y");
  b.node("Conv", {"X", "W"}, {"Y"});
  for (const char *weights : {"", "f32", "f16", "int8"}) {
    compiler::CompileOptions options;
    options.weights = weights;
    const compiler::Graph graph = compiler::compile_model(*compiler::check_model(b.proto), options).graph;
    size_t lines = 0;
    for (const compiler::Node &node : graph.nodes) {
      if (node.op == OpKind::kConv) lines += std::get<compiler::Conv>(node.attr).shape.y_plane != 0;
    }
    EXPECT_EQ(*weights == 0 || weights == std::string("f32") ? 1u : 0u, lines) << weights;
  }
}

// Gates over the same surplus steps, which are cut off behind them.
TEST(Conv, GatedAndCutOff) {
  OnnxBuilder b;
  b.input("X", {1, 4, "T"}).random("W", {8, 4, 2}).random("V", {4, 4, 1}).output("Y");
  b.constant_ints("s", {1}, {0}).constant_ints("e", {1}, {-4}).constant_ints("a", {1}, {2}).constant_ints("halves", {2}, {4, 4});
  b.node("Conv", {"X", "W"}, {"c"}).with("dilations", Ints{4}).with("pads", Ints{4, 4});
  b.node("Split", {"c", "halves"}, {"f", "g"}).with("axis", 1);
  b.node("Tanh", {"f"}, {"ft"});
  b.node("Sigmoid", {"g"}, {"gs"});
  b.node("Mul", {"ft", "gs"}, {"m"});
  b.node("Slice", {"m", "s", "e", "a"}, {"cut"});
  b.node("Conv", {"cut", "V"}, {"v"});
  b.node("Add", {"v", "X"}, {"Y"});
  EXPECT_TRUE(graph_of(b).causal);
  check_against_f64(b.proto, {20, 1});
}

TEST(Conv, SurplusStepsCutOff) {
  OnnxBuilder b;
  b.input("X", {"N", 6, "T"}).random("W", {4, 6, 3}).random("V", {4, 4, 3}).output("Y");
  b.constant_ints("s", {1}, {0}).constant_ints("e", {1}, {-4}).constant_ints("a", {1}, {2});
  b.node("Conv", {"X", "W"}, {"c"}).with("dilations", Ints{2}).with("pads", Ints{4, 4});
  b.node("Relu", {"c"}, {"r"});
  b.node("Slice", {"r", "s", "e", "a"}, {"d"});
  b.node("Conv", {"d", "V"}, {"f"}).with("dilations", Ints{2}).with("pads", Ints{4, 4});
  b.node("Slice", {"f", "s", "e", "a"}, {"Y"});
  EXPECT_TRUE(graph_of(b).causal);
  check_against_f64(b.proto);
}

TEST(Conv, FirstStepsCutOff) {
  OnnxBuilder b;
  b.input("X", {"N", 6, "T"}).random("W", {4, 6, 3}).output("Y");
  b.constant_ints("s", {1}, {2}).constant_ints("e", {1}, {INT64_MAX}).constant_ints("a", {1}, {2});
  b.node("Conv", {"X", "W"}, {"c"}).with("pads", Ints{2, 2});
  b.node("Slice", {"c", "s", "e", "a"}, {"Y"});
  EXPECT_FALSE(graph_of(b).causal);
  check_against_f64(b.proto);
}

TEST(Conv, AnotherNumberOfStepsIsRefused) {
  const OnnxBuilder b = over_time({4, 6, 3}, {0, 0});
  EXPECT_NE(refusal_of(b.proto).find("'conv' (Conv) gives another number of steps"), std::string::npos) << refusal_of(b.proto);
  OnnxBuilder strided;
  strided.input("X", {"N", 6, "T"}).random("W", {4, 6, 3}).weights("", 3, 1, 4, 5).output("Y");
  strided.node("Conv", {"X", "W"}, {"c"}, "conv").with("pads", Ints{2, 0}).with("strides", Ints{2});
  strided.node("Transpose", {"c"}, {"t"}).with("perm", Ints{2, 0, 1});
  strided.node("GRU", {"t", "W", "R", "B"}, {"Y"}).with("hidden_size", 5);
  EXPECT_NE(refusal_of(strided.proto), "");
}

TEST(Conv, OverFeatures) {
  struct Case {
    Ints weights, pads, strides, dilations;
    int64_t group;
  };
  const Case cases[] = {
      {{5, 4, 1, 1}, {0, 0, 0, 0}, {1, 1}, {1, 1}, 1}, {{5, 4, 3, 3}, {1, 1, 1, 1}, {1, 1}, {1, 1}, 1},
      {{6, 2, 2, 3}, {0, 1, 2, 0}, {2, 1}, {1, 2}, 2}, {{4, 1, 3, 2}, {2, 0, 0, 1}, {1, 2}, {2, 1}, 4},
      {{8, 1, 3, 3}, {1, 1, 1, 1}, {2, 2}, {1, 1}, 4}, {{3, 4, 5, 7}, {0, 0, 0, 0}, {1, 1}, {1, 1}, 1},
  };
  for (const Case &c : cases) {
    SCOPED_TRACE(::testing::PrintToString(c.weights));
    OnnxBuilder b;
    b.input("X", {"N", 4, 5, 7}).random("W", c.weights).output("Y");
    b.node("Conv", {"X", "W"}, {"Y"})
        .with("pads", c.pads)
        .with("strides", c.strides)
        .with("dilations", c.dilations)
        .with("group", c.group);
    check_against_f64(b.proto);
  }
}

TEST(Conv, OverTimeAndFeatures) {
  for (const int64_t group : {1, 2, 4}) {
    for (const int64_t stride : {1, 2}) {
      SCOPED_TRACE(std::to_string(group) + " groups, stride " + std::to_string(stride));
      OnnxBuilder b;
      b.input("X", {"N", 4, "T", 9}).random("W", {4, 4 / group, 3, 3}).random("B", {4}).random("P", {6, 4, 1, 1}).output("Y");
      b.node("Conv", {"X", "W", "B"}, {"c"}).with("pads", Ints{2, 1, 0, 1}).with("strides", Ints{1, stride}).with("group", group);
      b.node("Conv", {"c", "P"}, {"p"});
      b.node("Relu", {"p"}, {"Y"});
      EXPECT_TRUE(graph_of(b).causal);
      check_against_f64(b.proto);
    }
  }
}

TEST(Conv, TransposedOverFeatures) {
  struct Case {
    Ints weights, pads, strides, dilations, more;
    int64_t group;
  };
  const Case cases[] = {
      {{4, 3, 3}, {1, 1}, {2}, {1}, {1}, 1}, {{4, 1, 3}, {1, 1}, {2}, {1}, {1}, 4}, {{4, 2, 2}, {0, 0}, {3}, {1}, {0}, 2},
      {{4, 3, 4}, {0, 2}, {2}, {3}, {0}, 1}, {{4, 3, 5}, {2, 2}, {1}, {1}, {0}, 1}, {{4, 3, 3}, {0, 0}, {4}, {2}, {3}, 1},
  };
  for (const Case &c : cases) {
    SCOPED_TRACE(::testing::PrintToString(c.weights) + ::testing::PrintToString(c.strides));
    OnnxBuilder b;
    b.input("X", {"N", 4, 5}).random("W", c.weights).random("B", {c.weights[1] * c.group}).output("Y");
    b.node("ConvTranspose", {"X", "W", "B"}, {"t"})
        .with("pads", c.pads)
        .with("strides", c.strides)
        .with("dilations", c.dilations)
        .with("output_padding", c.more)
        .with("group", c.group);
    b.node("Tanh", {"t"}, {"Y"});
    EXPECT_EQ(count_of(graph_of(b), OpKind::kUnary), 0u);
    check_against_f64(b.proto);
  }
}

TEST(Conv, TransposedOverTime) {
  OnnxBuilder b;
  b.input("X", {"N", 4, "T", 5}).random("W", {4, 3, 3, 3}).output("Y");
  b.constant_ints("s", {1}, {0}).constant_ints("e", {1}, {-2}).constant_ints("a", {1}, {2});
  b.node("ConvTranspose", {"X", "W"}, {"t"}).with("pads", Ints{0, 1, 0, 1}).with("strides", Ints{1, 2});
  b.node("Slice", {"t", "s", "e", "a"}, {"Y"});
  EXPECT_TRUE(graph_of(b).causal);
  check_against_f64(b.proto);
}

TEST(Conv, FramesAsBatchRows) {
  OnnxBuilder b;
  b.input("X", {"T", "N", 12}).random("V", {3, 1, 3}).weights("", 3, 1, 12, 5).output("Y");
  b.constant_ints("frames", {3}, {-1, 1, 12}).constant_ints("back", {3}, {0, 0, 12});
  b.node("Shape", {"X"}, {"shape"});
  b.constant_ints("zero", {1}, {0}).constant_ints("two", {1}, {2}).constant_ints("size", {1}, {12});
  b.node("Slice", {"shape", "zero", "two", "zero"}, {"head"});
  b.node("Concat", {"head", "size"}, {"target"}).with("axis", 0);
  b.node("Reshape", {"X", "frames"}, {"f"});
  b.node("Conv", {"f", "V"}, {"c"}).with("pads", Ints{1, 1}).with("strides", Ints{3});
  b.node("Reshape", {"c", "target"}, {"r"});
  b.node("GRU", {"r", "W", "R", "B"}, {"Y"}).with("hidden_size", 5);
  check_against_f64(b.proto);
}

TEST(Conv, FollowedByAGru) {
  OnnxBuilder b;
  b.input("X", {"N", 6, "T"}).random("V", {4, 6, 3}).weights("", 3, 1, 4, 5).output("Y");
  b.node("Conv", {"X", "V"}, {"c"}).with("pads", Ints{2, 0});
  b.node("Transpose", {"c"}, {"t"}).with("perm", Ints{2, 0, 1});
  b.node("GRU", {"t", "W", "R", "B"}, {"Y"}).with("hidden_size", 5);
  EXPECT_EQ(graph_of(b).nodes.size(), 2u);
  check_against_f64(b.proto);
}

TEST(Conv, ConstantsAndActivationGoIn) {
  OnnxBuilder b;
  b.input("X", {"N", 4, "T", 6}).random("W", {5, 4, 1, 3}).random("k", {5, 1, 1}).random("c", {1, 5, 1, 1}).output("Y");
  b.constant("scale", {5}, {1, 2, -1, 0.5f, 3})
      .random("shift", {5})
      .random("mean", {5})
      .constant("var", {5}, {1, 2, 3, 0.5f, 0.25f});
  b.node("Conv", {"X", "W"}, {"y"}).with("pads", Ints{0, 1, 0, 1});
  b.node("BatchNormalization", {"y", "scale", "shift", "mean", "var"}, {"n"});
  b.node("Mul", {"k", "n"}, {"m"});
  b.node("Sub", {"m", "c"}, {"s"});
  b.node("Div", {"s", "scale_0"}, {"d"});
  b.constant("scale_0", {}, {2});
  b.node("Tanh", {"d"}, {"Y"});
  const compiler::Graph graph = graph_of(b);
  EXPECT_EQ(count_of(graph, OpKind::kConv), 1u);
  EXPECT_EQ(count_of(graph, OpKind::kBinary) + count_of(graph, OpKind::kUnary), 0u);
  check_against_f64(b.proto);
}

TEST(Conv, NormalizationAlone) {
  OnnxBuilder b;
  b.input("X", {"N", 3, "T", 6}).output("Y");
  b.random("scale", {3}).random("shift", {3}).random("mean", {3}).constant("var", {3}, {1, 2, 3});
  b.node("BatchNormalization", {"X", "scale", "shift", "mean", "var"}, {"Y"}).with("epsilon", 0.1);
  check_against_f64(b.proto);
}

// The channels-last rows of a convolution are read as they lie by what follows.
TEST(Conv, ResidualBlockMovesNothing) {
  OnnxBuilder b;
  b.input("X", {"N", 4, "T", 6}).random("W", {4, 4, 2, 3}).random("V", {4, 1, 1, 3}).random("U", {4, 4, 1, 1}).output("Y");
  b.node("Conv", {"X", "W"}, {"c"}).with("pads", Ints{1, 1, 0, 1});
  b.node("Conv", {"c", "V"}, {"d"}).with("pads", Ints{0, 1, 0, 1}).with("group", 4);
  b.node("Conv", {"d", "U"}, {"e"});
  b.node("Add", {"c", "e"}, {"f"});
  b.node("Relu", {"f"}, {"Y"});
  EXPECT_EQ(count_of(graph_of(b), OpKind::kCopy), 1u);  // the output's order
  check_against_f64(b.proto);
}

// Rows read backwards, every second channel, one element for many: as they lie, or copied.
TEST(Conv, SlicedReversedAndRepeatedInputs) {
  OnnxBuilder b;
  b.input("X", {"N", 6, "T", 9})
      .random("W", {4, 3, 2, 3})
      .random("P", {5, 3, 1, 1})
      .random("D", {3, 1, 1, 3})
      .random("V", {2, 6, 1, 3});
  b.constant_ints("s", {2}, {4, 8}).constant_ints("e", {2}, {INT64_MIN, INT64_MIN}).constant_ints("a", {2}, {1, 3});
  b.constant_ints("st", {2}, {-2, -1})
      .constant_ints("zero", {1}, {0})
      .constant_ints("one", {1}, {1})
      .constant_ints("three", {1}, {3});
  b.output("A").output("B").output("C").output("E");
  b.node("Slice", {"X", "s", "e", "a", "st"}, {"r"});  // [N, 3, T, 9]
  b.node("Conv", {"r", "W"}, {"A"}).with("pads", Ints{1, 0, 0, 0}).with("strides", Ints{1, 2});
  b.node("Conv", {"r", "P"}, {"B"});
  b.node("Conv", {"r", "D"}, {"C"}).with("group", 3).with("pads", Ints{0, 2, 0, 0});
  b.node("Slice", {"X", "zero", "one", "three"}, {"f"});  // [N, 6, T, 1]
  b.constant_ints("target", {4}, {1, 1, 1, 5});
  b.node("Expand", {"f", "target"}, {"wide"});
  b.node("Conv", {"wide", "V"}, {"E"}).with("pads", Ints{0, 1, 0, 1});
  check_against_f64(b.proto);
}

// As in a U-Net: what was set aside is joined to what came up again, channels-last both.
TEST(Conv, JoinedChannelsStayInOrder) {
  OnnxBuilder b;
  b.input("X", {"N", 2, "T", 8}).random("W", {4, 2, 1, 3}).random("V", {4, 4, 1, 3}).random("U", {4, 4, 1, 2}).output("Y");
  b.random("Z", {3, 8, 1, 3});
  b.node("Conv", {"X", "W"}, {"c"}).with("pads", Ints{0, 1, 0, 1});
  b.node("Conv", {"c", "V"}, {"d"}).with("pads", Ints{0, 1, 0, 1}).with("strides", Ints{1, 2});
  b.node("ConvTranspose", {"d", "U"}, {"u"}).with("strides", Ints{1, 2});
  b.node("Concat", {"c", "u"}, {"j"}).with("axis", 1);
  b.node("Conv", {"j", "Z"}, {"Y"}).with("pads", Ints{0, 1, 0, 1});
  EXPECT_EQ(count_of(graph_of(b), OpKind::kCopy), 3u);  // the parts, and the output's order
  check_against_f64(b.proto);
}

}  // namespace conv_test
}  // namespace rnnp::testing_support
