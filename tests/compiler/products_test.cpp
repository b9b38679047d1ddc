// products_test.cpp -- MatMul, Gemm and Einsum with one constant factor and with none, against the f64 evaluation.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace products_test {

using Ints = std::vector<int64_t>;

compiler::Graph graph_of(const OnnxBuilder &b) {
  return compiler::compile_model(*compiler::check_model(b.proto), "generic").graph;
}

// X [N, T, 24] -> GRU -> "H" [N, T, 24]: the time axis is the second, as in batch_first exports.
OnnxBuilder batch_first() {
  OnnxBuilder b(17);
  b.input("X", {"N", "T", 24}).weights("", 3, 1, 24, 24).constant_ints("one", {1}, {1});
  b.node("Transpose", {"X"}, {"x"}).with("perm", Ints{1, 0, 2});
  b.node("GRU", {"x", "W", "R", "B"}, {"Y"}).with("hidden_size", 24);
  b.node("Squeeze", {"Y", "one"}, {"y"});
  b.node("Transpose", {"y"}, {"H"}).with("perm", Ints{1, 0, 2});
  return b;
}

TEST(Products, GroupedLinearIsOneDenseNode) {
  OnnxBuilder b = batch_first();
  b.constant_ints("split", {4}, {0, 0, 4, 6}).constant_ints("flat", {3}, {0, 0, -1}).random("w", {4, 6, 5}).random("bias", {20});
  b.output("Z");
  b.node("Reshape", {"H", "split"}, {"h4"});
  b.node("Einsum", {"h4", "w"}, {"e"}).with("equation", "btgi,gih->btgh");
  b.node("Reshape", {"e", "flat"}, {"f"});
  b.node("Add", {"f", "bias"}, {"s"});
  b.node("Relu", {"s"}, {"Z"});
  const compiler::Graph graph = graph_of(b);
  EXPECT_EQ(graph.nodes.size(), 2u);
  const auto &dense = std::get<compiler::Dense>(graph.nodes.back().attr);
  EXPECT_EQ(dense.matrices, 4u);
  EXPECT_EQ(dense.groups, 4u);
  EXPECT_EQ(dense.bias.size(), 20u);
  check_against_f64(b.proto);
}

TEST(Products, EinsumWithAConstant) {
  const struct {
    const char *equation;
    Ints weights;
  } cases[] = {{"abc,cd->abd", {6, 5}},     {"abc,dc->abd", {5, 6}}, {"abc,bcd->abd", {4, 6, 5}},
               {"abc,bcd->adb", {4, 6, 5}}, {"abc,bd->acd", {4, 5}}, {"abc,bcde->aed", {4, 6, 2, 3}},
               {"abc,c->abc", {6}},         {"abc,bc->ab", {4, 6}},  {"abc,bdc->acbd", {4, 5, 6}},
               {"...c,cd->...d", {6, 5}},   {"abc,d->abcd", {3}},    {"abc,cd", {6, 5}},
               {"abc,cbd->ad", {6, 4, 5}}};
  for (const auto &c : cases) {
    SCOPED_TRACE(c.equation);
    OnnxBuilder b;
    b.input("X", {"N", 4, 6}).random("w", c.weights).output("Y").output("Z");
    b.node("Einsum", {"X", "w"}, {"Y"}).with("equation", c.equation);
    std::string flipped = c.equation;
    const size_t comma = flipped.find(','), arrow = std::min(flipped.find("->"), flipped.size());
    flipped = flipped.substr(comma + 1, arrow - comma - 1) + "," + flipped.substr(0, comma) + flipped.substr(arrow);
    b.node("Einsum", {"w", "X"}, {"Z"}).with("equation", flipped.c_str());
    check_against_f64(b.proto);
  }
}

TEST(Products, EinsumOfOneOperand) {
  for (const char *equation : {"abc->acb", "abc->a", "abc->ab", "abc->ca", "abc"}) {
    SCOPED_TRACE(equation);
    OnnxBuilder b;
    b.input("X", {"N", 4, 6}).output("Y");
    b.node("Einsum", {"X"}, {"Y"}).with("equation", equation);
    check_against_f64(b.proto);
  }
}

TEST(Products, EinsumOfTwoAtRunTime) {
  for (const char *equation : {"abc,abd->acd", "abc,abc->ab", "abc,abc->abc", "abc,abd->abcd", "abc,abd->ad", "abc,abd->adc",
                               "abc,aed->abced", "abc,abd->a"}) {
    SCOPED_TRACE(equation);
    OnnxBuilder b;
    b.input("X", {"N", 4, 6}).input("V", {"N", 4, 5}).output("Y");
    const bool same = std::string(equation).substr(4, 3) == "abc";
    b.node("Einsum", {"X", same ? "X" : "V"}, {"Y"}).with("equation", equation);
    check_against_f64(b.proto, {}, {}, 3e-5);
  }
}

TEST(Products, StacksOfMatrices) {
  OnnxBuilder b;
  b.input("X", {"N", 3, 4, 6})
      .random("w", {3, 6, 5})
      .random("v", {3, 2, 4})
      .random("u", {1, 1, 6, 7})
      .output("A")
      .output("B")
      .output("C");
  b.node("MatMul", {"X", "w"}, {"A"});
  b.node("MatMul", {"v", "X"}, {"B"});
  b.node("MatMul", {"X", "u"}, {"C"});
  check_against_f64(b.proto);
}

TEST(Products, TwoAtRunTime) {
  const struct {
    std::vector<Dim> a, b;
  } cases[] = {{{"N", 4, 6}, {"N", 6, 5}},    {{"N", 2, 4, 6}, {"N", 2, 6, 33}},      {{"N", 2, 4, 6}, {"N", 1, 6, 5}},
               {{"N", 1, 40}, {"N", 40, 17}}, {{"N", 3, 2, 1, 6}, {"N", 1, 2, 6, 1}}, {{"N", 3, 1, 3, 4}, {"N", 1, 2, 4, 2}}};
  for (const auto &c : cases) {
    OnnxBuilder b;
    b.input("A", c.a).input("B", c.b).output("Y");
    b.node("MatMul", {"A", "B"}, {"Y"});
    check_against_f64(b.proto, {}, {}, 3e-5);
  }
}

// Heads of one step attend to each other: scores, softmax, mix; the second factor is a transposed view.
// Gather and Expand give an element again without having it again: more products than the row has elements.
TEST(Products, SumsOverRepeatedElements) {
  OnnxBuilder b;
  b.input("X", {"T", "N", 3, 1}).constant_ints("again", {4}, {0, 0, 0, 0}).output("Y").output("Z");
  b.node("Gather", {"X", "again"}, {"wide"}).with("axis", int64_t{3});
  b.node("Transpose", {"wide"}, {"transposed"}).with("perm", Ints{0, 1, 3, 2});
  b.node("MatMul", {"wide", "transposed"}, {"Y"});
  b.constant_ints("fifty", {4}, {1, 1, 3, 50});
  b.node("Expand", {"X", "fifty"}, {"expanded"});
  b.node("Einsum", {"expanded", "expanded"}, {"Z"}).with("equation", "abcd,abed->abce");
  check_against_f64(b.proto);
}

TEST(Products, AttentionWithinAStep) {
  OnnxBuilder b = batch_first();
  b.constant_ints("heads", {4}, {0, 0, 4, 6}).random("q", {24, 24}).random("k", {24, 24}).output("Z");
  b.node("MatMul", {"H", "q"}, {"hq"});
  b.node("MatMul", {"H", "k"}, {"hk"});
  b.node("Reshape", {"hq", "heads"}, {"Q"});
  b.node("Reshape", {"hk", "heads"}, {"K"});
  b.node("Reshape", {"H", "heads"}, {"V"});
  b.node("Transpose", {"K"}, {"Kt"}).with("perm", Ints{0, 1, 3, 2});
  b.node("MatMul", {"Q", "Kt"}, {"s"});
  b.node("Softmax", {"s"}, {"p"}).with("axis", -1);
  b.node("MatMul", {"p", "V"}, {"Z"});
  check_against_f64(b.proto, {}, {}, 3e-5);
}

TEST(Products, GemmOfTwo) {
  for (int bits = 0; bits < 2; ++bits) {
    OnnxBuilder b;
    b.input("X", {3, 8}).input("B", {bits ? 5 : 8, bits ? 8 : 5}).random("C", {5}).output("Y");
    b.node("Gemm", {"X", "B", "C"}, {"Y"}).with("transB", bits).with("alpha", 0.5).with("beta", 2.0);
    check_against_f64(b.proto, {1, 1}, {}, 3e-5);
  }
}

TEST(Products, AcrossStepsAreRefused) {
  OnnxBuilder b = batch_first();
  b.output("Z");
  b.node("Transpose", {"H"}, {"t"}).with("perm", Ints{0, 2, 1});
  b.node("MatMul", {"H", "t"}, {"Z"}, "scores");
  EXPECT_NE(refusal_of(b.proto).find("every step with every other"), std::string::npos) << refusal_of(b.proto);
  OnnxBuilder c = batch_first();
  c.output("Z");
  c.node("Transpose", {"H"}, {"t"}).with("perm", Ints{0, 2, 1});
  c.node("MatMul", {"t", "H"}, {"Z"}, "mix");
  EXPECT_NE(refusal_of(c.proto).find("sums over the time or batch axis"), std::string::npos) << refusal_of(c.proto);
}

TEST(Products, EquationsThatAreRefused) {
  const struct {
    const char *equation, *text;
  } cases[] = {{"abb->ab", "diagonal"}, {"abc->abd", "no operand has"}, {"ab->a", "does not fit"}, {"abc,cd->abd", "operands"}};
  for (const auto &c : cases) {
    OnnxBuilder b;
    b.input("X", {"N", 4, 4}).output("Y");
    b.node("Einsum", {"X"}, {"Y"}).with("equation", c.equation);
    EXPECT_NE(refusal_of(b.proto).find(c.text), std::string::npos) << refusal_of(b.proto);
  }
}

}  // namespace products_test
}  // namespace rnnp::testing_support
