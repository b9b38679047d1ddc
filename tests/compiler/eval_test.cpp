// eval_test.cpp -- the f64 evaluation on cases small enough to see through, where ONNX's own node cases leave gaps.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compiler/eval/einsum.h"
#include "compiler/eval/eval.h"
#include "compiler/onnx/problem.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace {

using Ints = std::vector<int64_t>;
using Reals = std::vector<double>;

// The one output "y" of a graph of constants.
compiler::Tensor value_of(const OnnxBuilder &b) {
  OnnxBuilder whole = b;
  whole.output("y");
  return compiler::eval_graph(*compiler::check_model(whole.proto), {}).at("y");
}

std::string refusal_of_value(const OnnxBuilder &b) {
  try {
    value_of(b);
  } catch (const compiler::ModelError &error) {
    return error.what();
  }
  return "";
}

TEST(Eval, ACastToFloatRoundsIntegersAlone) {
  OnnxBuilder b;
  b.constant("x", {2}, {0.1f, 3}).constant("third", {1}, {3}).constant_ints("n", {1}, {16777217});
  b.node("Div", {"x", "third"}, {"real"});
  b.node("Cast", {"real"}, {"cast"}).with("to", int64_t{1});
  b.node("Cast", {"n"}, {"whole"}).with("to", int64_t{1});
  b.node("Sub", {"real", "cast"}, {"left"});
  b.node("Concat", {"left", "whole"}, {"y"}).with("axis", int64_t{0});
  EXPECT_EQ(value_of(b).data, (Reals{0, 0, 16777216}));
}

TEST(Eval, ConvolutionReachesBackThroughItsPadding) {
  OnnxBuilder b;
  b.constant("x", {1, 1, 4}, {1, 2, 3, 4}).constant("w", {1, 1, 2}, {1, 10});
  b.node("Conv", {"x", "w"}, {"y"}).with("dilations", Ints{2}).with("pads", Ints{2, 0});
  EXPECT_EQ(value_of(b).data, (Reals{10, 20, 31, 42}));
}

TEST(Eval, GroupsOfAConvolutionSeeTheirOwnChannels) {
  OnnxBuilder b;
  b.constant("x", {1, 2, 2}, {1, 2, 3, 4}).constant("w", {4, 1, 1}, {1, 10, 100, 1000}).constant("c", {4}, {0, 0, 0, 7});
  b.node("Conv", {"x", "w", "c"}, {"y"}).with("group", 2);
  EXPECT_EQ(value_of(b).data, (Reals{1, 2, 10, 20, 300, 400, 3007, 4007}));
}

TEST(Eval, AutomaticPaddingPutsTheOddElementWhereItSays) {
  for (const char *mode : {"SAME_UPPER", "SAME_LOWER"}) {
    OnnxBuilder b;
    b.constant("x", {1, 1, 3}, {1, 2, 3}).constant("w", {1, 1, 2}, {1, 10});
    b.node("Conv", {"x", "w"}, {"y"}).with("auto_pad", mode);
    EXPECT_EQ(value_of(b).data, std::string(mode) == "SAME_UPPER" ? (Reals{21, 32, 3}) : (Reals{10, 21, 32}));
  }
}

TEST(Eval, TransposedConvolutionSpreadsItsInput) {
  OnnxBuilder b;
  b.constant("x", {1, 2, 2}, {1, 2, 3, 4}).constant("w", {2, 1, 3}, {1, 10, 100, 1, 1, 1});
  b.node("ConvTranspose", {"x", "w"}, {"y"}).with("strides", Ints{2}).with("group", 2).with("output_padding", Ints{1});
  const compiler::Tensor y = value_of(b);
  EXPECT_EQ(y.shape, (Ints{1, 2, 6}));
  EXPECT_EQ(y.data, (Reals{1, 10, 102, 20, 200, 0, 3, 3, 7, 4, 4, 0}));
}

TEST(Eval, WindowsThatHangOverTheEnd) {
  const auto pooled = [](const char *op, int64_t include) {
    OnnxBuilder b(19);
    b.constant("x", {1, 1, 5}, {1, 2, 3, 4, 5});
    NodeBuilder node = b.node(op, {"x"}, {"y"});
    node.with("kernel_shape", Ints{3}).with("strides", Ints{2}).with("pads", Ints{1, 0}).with("ceil_mode", 1);
    if (std::string(op) == "AveragePool") node.with("count_include_pad", include);
    return value_of(b).data;
  };
  EXPECT_EQ(pooled("MaxPool", 0), (Reals{2, 4, 5}));
  EXPECT_EQ(pooled("AveragePool", 0), (Reals{1.5, 3, 4.5}));
  EXPECT_EQ(pooled("AveragePool", 1), (Reals{1, 3, 4.5}));
}

TEST(Eval, PaddingOfEveryKind) {
  const auto padded = [](const char *mode, const Ints &pads) {
    OnnxBuilder b(19);
    b.constant("x", {3}, {1, 2, 3}).constant_ints("pads", {2}, pads).constant("c", {}, {9});
    b.node("Pad", {"x", "pads", "c"}, {"y"}).with("mode", mode);
    return value_of(b).data;
  };
  EXPECT_EQ(padded("constant", {1, 2}), (Reals{9, 1, 2, 3, 9, 9}));
  EXPECT_EQ(padded("constant", {-1, 1}), (Reals{2, 3, 9}));
  EXPECT_EQ(padded("reflect", {2, 2}), (Reals{3, 2, 1, 2, 3, 2, 1}));
  EXPECT_EQ(padded("edge", {2, 1}), (Reals{1, 1, 1, 2, 3, 3}));
  EXPECT_EQ(padded("wrap", {4, 1}), (Reals{3, 1, 2, 3, 1, 2, 3, 1}));
}

TEST(Eval, ReductionOverNoAxisStillSquares) {
  OnnxBuilder b(18);
  b.constant("x", {2}, {-3, 2});
  b.node("ReduceSumSquare", {"x"}, {"y"}).with("noop_with_empty_axes", 1);
  EXPECT_EQ(value_of(b).data, (Reals{9, 4}));
}

TEST(Eval, GroupNormalizationScalesGroupsThenChannels) {
  for (int64_t opset : {18, 21}) {
    OnnxBuilder b(opset);
    b.constant("x", {1, 4, 1}, {-1, 1, -1, 1})
        .constant("s", {opset == 18 ? 2 : 4}, opset == 18 ? std::vector<float>{2, 3} : std::vector<float>{2, 3, 4, 5});
    b.constant("c", {opset == 18 ? 2 : 4}, std::vector<float>(opset == 18 ? 2 : 4, 0));
    b.node("GroupNormalization", {"x", "s", "c"}, {"y"}).with("num_groups", 2).with("epsilon", 0.0);
    EXPECT_EQ(value_of(b).data, opset == 18 ? (Reals{-2, 2, -3, 3}) : (Reals{-2, 3, -4, 5}));
  }
}

TEST(Eval, EinsumReadsItsEquation) {
  OnnxBuilder b;
  b.constant("x", {2, 2}, {1, 2, 3, 4}).constant("z", {2}, {1, 10});
  b.node("Einsum", {"x", "z"}, {"y"}).with("equation", "ij, j");
  EXPECT_EQ(value_of(b).data, (Reals{21, 43}));
  EXPECT_EQ(compiler::einsum_spec("...ij->...ji", {4}).out.size(), 4u);
  for (const char *bad : {"ij->k", "ij->ii", "i1", "ij,jk", "i......j", "ijk"}) {
    EXPECT_THROW(compiler::einsum_spec(bad, {2}), compiler::Refusal) << bad;
  }
}

TEST(Eval, NumbersBeyondAllTensorsAreRefusedByName) {
  const auto conv = [](const char *attribute, const Ints &values) {
    OnnxBuilder b;
    b.constant("x", {1, 1, 4}, {1, 2, 3, 4}).constant("w", {1, 1, 2}, {1, 10});
    b.node("Conv", {"x", "w"}, {"y"}, "the_node").with(attribute, values);
    return refusal_of_value(b);
  };
  for (int64_t value : {INT64_MIN, int64_t{-1}, INT64_MAX}) {
    for (const char *attribute : {"strides", "dilations"}) {
      EXPECT_NE(conv(attribute, {value}).find(attribute), std::string::npos) << attribute;
      EXPECT_NE(conv(attribute, {value}).find("the_node"), std::string::npos) << attribute;
    }
    EXPECT_NE(conv("pads", {value, 0}).find("pads"), std::string::npos);
  }
  EXPECT_NE(conv("strides", {0}).find("strides"), std::string::npos);
  EXPECT_NE(conv("strides", {1, 1}).find("strides"), std::string::npos);
  EXPECT_NE(conv("kernel_shape", {3}).find("kernel_shape"), std::string::npos);
  EXPECT_NE(conv("dilations", {5}), "") << "the window does not fit";
}

TEST(Eval, AxesThatAreNamedTwiceAreRefused) {
  OnnxBuilder transposed;
  transposed.constant("x", {2, 3}, {1, 2, 3, 4, 5, 6});
  transposed.node("Transpose", {"x"}, {"y"}).with("perm", Ints{1, 1});
  EXPECT_NE(refusal_of_value(transposed), "");
  OnnxBuilder cut;
  cut.constant("x", {4}, {1, 2, 3, 4})
      .constant_ints("two", {2}, {2, 2})
      .constant_ints("four", {2}, {4, 4})
      .constant_ints("zero", {2}, {0, 0});
  cut.node("Slice", {"x", "two", "four", "zero"}, {"y"});
  EXPECT_NE(refusal_of_value(cut), "");
}

TEST(Eval, AnOutputThatTheEvaluatorDoesNotMakeIsRefused) {
  OnnxBuilder b;
  b.constant("x", {1, 1, 2}, {1, 2});
  b.node("MaxPool", {"x"}, {"t", "u"}).with("kernel_shape", std::vector<int64_t>{2});
  b.node("Mul", {"u", "t"}, {"y"});
  EXPECT_NE(refusal_of_value(b).find("is not supported"), std::string::npos) << refusal_of_value(b);
}

}  // namespace
}  // namespace rnnp::testing_support
