// reductions_test.cpp -- reductions and normalisations, written as operators and written out, against the f64 evaluation.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace reductions_test {

using Ints = std::vector<int64_t>;

compiler::Graph graph_of(const OnnxBuilder &b) {
  return compiler::compile_model(*compiler::check_model(b.proto), "generic").graph;
}

size_t count_of(const compiler::Graph &graph, OpKind op) {
  size_t count = 0;
  for (const compiler::Node &node : graph.nodes) count += node.op == op;
  return count;
}

// X [T, N, 3, 20, 5], positive where an operator needs it.
OnnxBuilder sequence(int64_t opset, bool positive) {
  OnnxBuilder b(opset);
  b.input("X", {"T", "N", 3, 20, 5}).constant("small", {}, {0.1f}).weights("", 3, 1, 5, 4);
  // The recurrent node says which axes are time and batch.
  b.constant_ints("i0", {}, {0});
  b.node("Gather", {"X", "i0"}, {"x3"}).with("axis", 2);
  b.node("Gather", {"x3", "i0"}, {"x2"}).with("axis", 2);
  b.node("GRU", {"x2", "W", "R", "B"}, {"Y"}).with("hidden_size", 4);
  b.output("Y");
  b.node("Abs", {"X"}, {"abs"});
  b.node("Add", {"abs", "small"}, {"positive"});
  b.node("Identity", {positive ? "positive" : "X"}, {"x"});
  return b;
}

TEST(Reductions, EveryOperatorOverEveryAxis) {
  for (const char *op : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
                         "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp"}) {
    const std::vector<Ints> cases = {{2}, {3}, {4}, {2, 3}, {-1, 2}, {3, 4}, {2, 3, 4}};
    OnnxBuilder b = sequence(18, std::string(op) == "ReduceLogSum");
    for (size_t i = 0; i < cases.size(); ++i) {
      const std::string n = std::to_string(i);
      b.constant_ints("axes" + n, {static_cast<int64_t>(cases[i].size())}, cases[i]);
      b.node(op, {"x", "axes" + n}, {"Z" + n}).with("keepdims", static_cast<int64_t>(i % 2));
      b.output("Z" + n);
    }
    SCOPED_TRACE(op);
    check_against_f64(b.proto, {3, 2}, {}, 1e-4);
  }
}

// Sums one after the other lose 1e-3 of such a mean.
TEST(Reductions, OfManyRowsOfOneSignKeepTheirAccuracy) {
  constexpr int64_t kRows = 100000, kColumns = 3;
  OnnxBuilder b(18);
  b.input("X", {"N", kRows, kColumns}).constant_ints("rows", {1}, {1});
  compiler::Array x;
  x.shape = {1, kRows, kColumns};
  for (int64_t i = 0; i < kRows * kColumns; ++i) x.f32.push_back(1.1f - 0.35f * static_cast<float>(i % kColumns));
  for (const char *op : {"ReduceSum", "ReduceMean", "ReduceL2", "ReduceL1", "ReduceMax"}) {
    b.node(op, {"X", "rows"}, {op}).with("keepdims", 0);
    b.output(op);
  }
  check_against_f64(b.proto, {1, 1}, {{"X", x}}, 1e-5);
}

TEST(Reductions, OfTransposedAndSlicedViews) {
  OnnxBuilder b = sequence(17, false);
  b.constant_ints("s", {1}, {17}).constant_ints("e", {1}, {1}).constant_ints("a", {1}, {3}).constant_ints("st", {1}, {-2});
  b.node("Slice", {"x", "s", "e", "a", "st"}, {"part"});
  b.node("Transpose", {"part"}, {"t"}).with("perm", Ints{1, 4, 0, 3, 2});
  for (int axis : {1, 3, 4}) {
    b.node("ReduceMean", {"t"}, {"Z" + std::to_string(axis)}).with("axes", Ints{axis}).with("keepdims", axis == 3);
    b.node("ReduceMax", {"t"}, {"M" + std::to_string(axis)}).with("axes", Ints{axis});
    b.output("Z" + std::to_string(axis)).output("M" + std::to_string(axis));
  }
  check_against_f64(b.proto, {3, 2});
}

TEST(Reductions, WithoutAxes) {
  OnnxBuilder b(18);
  b.input("X", {1, 6, 7}).constant_ints("none", {0}, {}).output("A").output("B").output("C");
  b.node("ReduceSum", {"X", "none"}, {"A"}).with("noop_with_empty_axes", 1);
  b.node("ReduceSumSquare", {"X", "none"}, {"B"}).with("noop_with_empty_axes", 1);
  b.node("ReduceMean", {"X"}, {"C"});
  check_against_f64(b.proto, {1, 1});
}

TEST(Reductions, LargeSumsAreNormedAndLogSumExpDoesNotOverflow) {
  OnnxBuilder b(17);
  b.input("X", {"N", 1000}).constant("big", {}, {300.0f}).output("A").output("B");
  b.node("Mul", {"X", "big"}, {"large"});
  b.node("ReduceLogSumExp", {"large"}, {"A"}).with("axes", Ints{1});
  b.node("ReduceMean", {"large"}, {"B"}).with("axes", Ints{1});
  check_against_f64(b.proto, {}, {}, 1e-4);
}

TEST(Reductions, OverTimeAndFeatures) {
  for (const char *op : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
                         "ReduceSumSquare", "ReduceLogSum"}) {
    SCOPED_TRACE(op);
    OnnxBuilder b = sequence(18, std::string(op) == "ReduceLogSum");
    const std::vector<Ints> cases = {{0}, {0, 3}, {0, 2, 3, 4}};
    for (size_t i = 0; i < cases.size(); ++i) {
      const std::string n = std::to_string(i);
      b.constant_ints("axes" + n, {static_cast<int64_t>(cases[i].size())}, cases[i]);
      b.node(op, {"x", "axes" + n}, {"Z" + n}).with("keepdims", static_cast<int64_t>(i % 2));
      b.output("Z" + n);
    }
    check_against_f64(b.proto, {9, 2}, {}, 1e-4);
  }
}

// As keyword spotters have it: a recurrent layer, its mean over time, a dense layer. It runs in pieces: the mean is of all steps so
// far.
TEST(Reductions, MeanOverTimeOfALayer) {
  OnnxBuilder b;
  b.input("X", {"T", "N", 4}).weights("", 3, 1, 4, 6).random("M", {6, 3}).constant_ints("one", {1}, {1}).output("Z");
  b.node("GRU", {"X", "W", "R", "B"}, {"Y"}).with("hidden_size", 6);
  b.node("Squeeze", {"Y", "one"}, {"H"});
  b.node("ReduceMean", {"H"}, {"mean"}).with("axes", Ints{0}).with("keepdims", 0);
  b.node("MatMul", {"mean", "M"}, {"Z"});
  EXPECT_TRUE(graph_of(b).causal);
  check_against_f64(b.proto, {300, 3});
}

TEST(Reductions, GlobalPoolsOverTime) {
  OnnxBuilder b;
  b.input("X", {"T", "N", 4}).weights("", 3, 1, 4, 6).constant_ints("one", {1}, {1}).output("A").output("M");
  b.node("GRU", {"X", "W", "R", "B"}, {"Y"}).with("hidden_size", 6);
  b.node("Squeeze", {"Y", "one"}, {"H"});
  b.node("Transpose", {"H"}, {"t"}).with("perm", Ints{1, 2, 0});
  b.node("GlobalAveragePool", {"t"}, {"A"});
  b.node("GlobalMaxPool", {"t"}, {"M"});
  EXPECT_TRUE(graph_of(b).causal);
  check_against_f64(b.proto, {20, 3});
}

// What every step is measured by the whole sequence looks ahead.
TEST(Reductions, MeanOverTimeTakenOffEveryStep) {
  OnnxBuilder b;
  b.input("X", {"T", "N", 4}).weights("", 3, 1, 4, 6).output("Z");
  b.node("GRU", {"X", "W", "R", "B"}, {"Y"}).with("hidden_size", 6);
  b.node("ReduceMean", {"Y"}, {"mean"}).with("axes", Ints{0});
  b.node("Sub", {"Y", "mean"}, {"Z"});
  EXPECT_FALSE(graph_of(b).causal);
  check_against_f64(b.proto);
}

TEST(Reductions, OverTheBatchAreRefused) {
  OnnxBuilder b = sequence(17, false);
  b.output("Z");
  b.node("ReduceMean", {"x"}, {"Z"}, "mean").with("axes", Ints{1});
  const std::string text = refusal_of(b.proto);
  EXPECT_NE(text.find("over the batch axis"), std::string::npos) << text;
}

TEST(Norms, Layer) {
  for (int axis : {-1, 2, 3}) {
    SCOPED_TRACE(axis);
    OnnxBuilder b = sequence(17, false);
    const Ints shape = axis == -1 ? Ints{5} : axis == 3 ? Ints{20, 5} : Ints{3, 20, 5};
    b.random("scale", shape).random("bias", shape).random("wide", {20, 1}).output("P").output("Q").output("S");
    b.node("LayerNormalization", {"x", "scale", "bias"}, {"P"}).with("axis", axis).with("epsilon", 1e-3);
    b.node("LayerNormalization", {"x", "scale"}, {"Q"}).with("axis", axis);
    b.node("LayerNormalization", {"x", axis == -1 ? "scale" : "wide", "bias"}, {"S"}).with("axis", axis);
    check_against_f64(b.proto, {3, 2}, {}, 3e-5);
  }
}

TEST(Norms, InstanceAndGroup) {
  for (int64_t opset : {18, 21}) {
    OnnxBuilder b(opset);
    b.input("X", {"N", 6, 4, 5}).random("s6", {6}).random("b6", {6}).random("s3", {3}).random("b3", {3}).output("I").output("G");
    b.node("InstanceNormalization", {"X", "s6", "b6"}, {"I"});
    const bool per_group = opset < 21;
    b.node("GroupNormalization", {"X", per_group ? "s3" : "s6", per_group ? "b3" : "b6"}, {"G"}).with("num_groups", 3);
    check_against_f64(b.proto, {}, {}, 3e-5);
  }
}

// Keras LayerNormalization as tf2onnx writes it: rows are the channels of a BatchNormalization of computed numbers.
TEST(Norms, RowsAsChannelsOfABatchNormalization) {
  OnnxBuilder b(15);
  b.input("X", {"N", "T", 6}).output("Y").weights("", 3, 1, 6, 4).random("gamma", {6}).random("beta", {6});
  b.constant("zero", {}, {0}).constant("one", {}, {1}).constant_ints("rows_shape", {4}, {1, -1, 6, 1});
  b.constant_ints("at0", {1}, {0}).constant_ints("at2", {1}, {2}).constant_ints("around", {3}, {0, 2, 3});
  b.node("Shape", {"X"}, {"sizes"});
  b.node("Slice", {"sizes", "at0", "at2", "at0"}, {"two"});
  b.node("ReduceProd", {"two"}, {"rows"}).with("keepdims", 1);
  b.node("Expand", {"zero", "rows"}, {"zeros"});
  b.node("Expand", {"one", "rows"}, {"ones"});
  b.node("Reshape", {"X", "rows_shape"}, {"x"});
  b.node("ReduceMean", {"x"}, {"m"}).with("axes", Ints{0, 2, 3}).with("keepdims", 1);
  b.node("Sub", {"x", "m"}, {"off"});
  b.node("ReduceSumSquare", {"off"}, {"ss"}).with("axes", Ints{0, 2, 3}).with("keepdims", 0);
  b.node("Squeeze", {"m", "around"}, {"mean"});
  b.constant("six", {}, {6});
  b.node("Div", {"ss", "six"}, {"var"});
  b.node("BatchNormalization", {"x", "ones", "zeros", "mean", "var"}, {"n"}).with("epsilon", 1e-3);
  b.node("Reshape", {"n", "sizes"}, {"back"});
  b.node("Mul", {"back", "gamma"}, {"scaled"});
  b.node("Add", {"scaled", "beta"}, {"normed"});
  b.node("Transpose", {"normed"}, {"steps"}).with("perm", Ints{1, 0, 2});
  b.node("GRU", {"steps", "W", "R", "B"}, {"Y"}).with("hidden_size", 4);
  check_against_f64(b.proto);
}

TEST(Norms, OverTimeAreRefused) {
  OnnxBuilder b;
  b.input("X", {"T", "N", 4}).weights("", 3, 1, 4, 6).random("s", {6}).output("Z");
  b.node("GRU", {"X", "W", "R", "B"}, {"Y"}).with("hidden_size", 6);
  b.constant_ints("one", {1}, {1});
  b.node("Squeeze", {"Y", "one"}, {"H"});
  b.node("Transpose", {"H"}, {"t"}).with("perm", Ints{1, 2, 0});
  b.node("InstanceNormalization", {"t", "s", "s"}, {"Z"});
  const std::string text = refusal_of(b.proto);
  EXPECT_NE(text.find("looks at the whole sequence"), std::string::npos) << text;
}

// As exporters write it: mean, difference (once or twice), square, mean, epsilon, root, quotient, scale, bias.
void write_out(OnnxBuilder *b, const std::string &x, const std::string &y, bool twice, bool reciprocal, bool power) {
  b->node("ReduceMean", {x}, {"m"}).with("axes", Ints{-1}).with("keepdims", 1);
  b->node("Sub", {x, "m"}, {"d"});
  if (twice) b->node("Sub", {x, "m"}, {"d2"});
  if (power)
    b->node("Pow", {"d", "two"}, {"q"});
  else
    b->node("Mul", {"d", "d"}, {"q"});
  b->node("ReduceMean", {"q"}, {"v"}).with("axes", Ints{-1}).with("keepdims", 1);
  b->node("Add", {"v", "eps"}, {"ve"});
  b->node("Sqrt", {"ve"}, {"root"});
  const std::string top = twice ? "d2" : "d";
  if (reciprocal) {
    b->node("Reciprocal", {"root"}, {"inverse"});
    b->node("Mul", {"inverse", top}, {"n"});
  } else {
    b->node("Div", {top, "root"}, {"n"});
  }
  b->node("Mul", {"n", "scale"}, {"ns"});
  b->node("Add", {"bias", "ns"}, {y});
}

TEST(Norms, WrittenOutIsOneNode) {
  for (int bits = 0; bits < 8; ++bits) {
    SCOPED_TRACE(bits);
    OnnxBuilder b;
    b.constant("eps", {}, {1e-5f}).constant("two", {}, {2.0f}).output("Z");
    const bool outer = (bits & 4) != 0;
    b.random("scale", {7}).random("bias", outer ? Ints{3, 1} : Ints{7});
    b.input("X", outer ? std::vector<Dim>{"N", 3, 7} : std::vector<Dim>{"N", 7});
    write_out(&b, "X", "Z", (bits & 1) != 0, (bits & 2) != 0, (bits & 1) == 0);
    const compiler::Graph graph = graph_of(b);
    EXPECT_EQ(count_of(graph, OpKind::kNorm), 1u);
    EXPECT_EQ(count_of(graph, OpKind::kReduce), 0u);
    EXPECT_EQ(graph.nodes.size(), outer ? 2u : 1u);  // a bias per outer index does not go with a scale per element
    check_against_f64(b.proto, {}, {}, 3e-5);
  }
}

// As jax2onnx writes Flax' LayerNorm: the variance is a difference of moments, which is cut off below 0.
void write_out_moments(OnnxBuilder *b, const std::string &subtracted, bool cut) {
  b->node("ReduceMean", {"X"}, {"m"}).with("axes", Ints{-1}).with("keepdims", 1);
  b->node("Sub", {"X", "m"}, {"d"});
  b->node("Mul", {"X", "X"}, {"q"});
  b->node("ReduceMean", {"q"}, {"moment"}).with("axes", Ints{-1}).with("keepdims", 1);
  b->node("Mul", {subtracted, "m"}, {"mm"});
  b->node("Sub", {"moment", "mm"}, {"difference"});
  b->node("Max", {"difference", "zero"}, {"cut"});
  b->node("Add", {cut ? "cut" : "difference", "eps"}, {"ve"});
  b->node("Sqrt", {"ve"}, {"root"});
  b->node("Div", {"d", "root"}, {"n"});
  b->node("Mul", {"n", "scale"}, {"ns"});
  b->node("Add", {"bias", "ns"}, {"Z"});
}

TEST(Norms, DifferencesOfMomentsAreOneNode) {
  for (const bool outer : {false, true}) {
    for (const bool cut : {false, true}) {
      for (const char *subtracted : {"m", "other"}) {
        OnnxBuilder b;
        b.constant("eps", {}, {1e-5f}).constant("zero", {}, {0.0f}).random("scale", {7}).random("bias", {7}).output("Z");
        b.constant("other", {}, {0.01f});
        b.input("X", outer ? std::vector<Dim>{"N", 3, 7} : std::vector<Dim>{"N", 7});
        write_out_moments(&b, subtracted, cut);
        EXPECT_EQ(graph_of(b).nodes.size() == 1, std::string(subtracted) == "m") << outer << cut;
        check_against_f64(b.proto, {}, {}, 3e-5);
      }
    }
  }
}

TEST(Norms, RootMeanSquareWrittenOut) {
  OnnxBuilder b;
  b.input("X", {"N", 4, 9}).constant("eps", {}, {1e-6f}).random("scale", {9}).output("Z");
  b.node("Mul", {"X", "X"}, {"q"});
  b.node("ReduceMean", {"q"}, {"v"}).with("axes", Ints{-1}).with("keepdims", 1);
  b.node("Add", {"v", "eps"}, {"ve"});
  b.node("Sqrt", {"ve"}, {"root"});
  b.node("Div", {"X", "root"}, {"n"});
  b.node("Mul", {"scale", "n"}, {"Z"});
  EXPECT_EQ(graph_of(b).nodes.size(), 1u);
  check_against_f64(b.proto, {}, {}, 3e-5);
}

TEST(Norms, OfOtherAxesStayAsWritten) {
  OnnxBuilder b;
  b.input("X", {"N", 4, 9}).constant("eps", {}, {1e-5f}).output("Z");
  b.node("ReduceMean", {"X"}, {"m"}).with("axes", Ints{1}).with("keepdims", 1);
  b.node("Sub", {"X", "m"}, {"d"});
  b.node("Mul", {"d", "d"}, {"q"});
  b.node("ReduceMean", {"q"}, {"v"}).with("axes", Ints{2}).with("keepdims", 1);
  b.node("Add", {"v", "eps"}, {"ve"});
  b.node("Sqrt", {"ve"}, {"root"});
  b.node("Div", {"d", "root"}, {"Z"});
  const compiler::Graph graph = graph_of(b);
  ASSERT_EQ(count_of(graph, OpKind::kNorm), 1u);  // of d, without a mean of its own
  for (const compiler::Node &node : graph.nodes) {
    if (node.op != OpKind::kNorm) continue;
    EXPECT_FALSE(std::get<compiler::Norm>(node.attr).centred);
  }
  check_against_f64(b.proto, {}, {}, 3e-5);
}

}  // namespace reductions_test
}  // namespace rnnp::testing_support
