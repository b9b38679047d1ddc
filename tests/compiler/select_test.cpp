// select_test.cpp -- comparisons, masks, Where, PRelu, Gather, Pad and Tile, against the f64 evaluation.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace {

using Ints = std::vector<int64_t>;

TEST(Select, ComparisonsAsFloats) {
  for (const char *op : {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"}) {
    SCOPED_TRACE(op);
    OnnxBuilder b;
    b.input("X", {"N", 3, 8}).random("c", {3, 1}).output("Y").output("Z").output("E");
    b.node("Floor", {"X"}, {"whole"});
    b.node(op, {"whole", "c"}, {"m"});
    b.node(op, {"c", "X"}, {"n"});
    b.node(op, {"whole", "X"}, {"e"});
    b.node("Cast", {"m"}, {"Y"}).with("to", onnx::TensorProto::FLOAT);
    b.node("Cast", {"n"}, {"Z"}).with("to", onnx::TensorProto::FLOAT);
    b.node("Cast", {"e"}, {"E"}).with("to", onnx::TensorProto::FLOAT);
    check_against_f64(b.proto);
  }
}

TEST(Select, LogicOnMasks) {
  OnnxBuilder b;
  b.input("X", {"N", 3, 8}).input("V", {"N", 1, 8}).constant("zero", {}, {0.0f});
  b.node("Greater", {"X", "zero"}, {"p"});
  b.node("Less", {"V", "zero"}, {"q"});
  b.node("And", {"p", "q"}, {"r0"});
  b.node("Or", {"p", "q"}, {"r1"});
  b.node("Xor", {"p", "q"}, {"r2"});
  b.node("Not", {"p"}, {"r3"});
  b.node("Equal", {"p", "q"}, {"r4"});
  b.node("Relu", {"X"}, {"positive"});
  b.node("Cast", {"positive"}, {"r5"}).with("to", onnx::TensorProto::BOOL);
  for (int i = 0; i < 6; ++i) {
    const std::string n = std::to_string(i);
    b.node("Cast", {"r" + n}, {"Y" + n}).with("to", onnx::TensorProto::FLOAT);
    b.output("Y" + n);
  }
  check_against_f64(b.proto);
}

TEST(Select, WhereBroadcastsAllThree) {
  OnnxBuilder b;
  b.input("X", {"T", "N", 2, 3, 5}).random("c", {3, 1}).random("d", {2, 1, 1}).constant("zero", {}, {0.0f}).weights("", 3, 1, 5, 4);
  b.constant_ints("i0", {}, {0}).output("Y").output("P").output("Q").output("C").output("D");
  b.node("Gather", {"X", "i0"}, {"x3"}).with("axis", 2);
  b.node("Gather", {"x3", "i0"}, {"x2"}).with("axis", 2);
  b.node("GRU", {"x2", "W", "R", "B"}, {"Y"}).with("hidden_size", 4);
  b.node("Greater", {"X", "zero"}, {"m"});
  b.node("Where", {"m", "X", "zero"}, {"P"});
  b.node("Where", {"m", "c", "d"}, {"Q"});
  b.node("Gather", {"m", "i0"}, {"m0"}).with("axis", 4);
  b.node("Unsqueeze", {"m0", "last"}, {"m1"});
  b.constant_ints("last", {1}, {4});
  b.node("Where", {"m1", "X", "c"}, {"C"});
  b.node("Transpose", {"X"}, {"t"}).with("perm", Ints{0, 1, 2, 4, 3});
  b.node("Transpose", {"m"}, {"mt"}).with("perm", Ints{0, 1, 2, 4, 3});
  b.node("Where", {"mt", "t", "zero"}, {"D"});
  check_against_f64(b.proto, {4, 2});
}

TEST(Select, OpenAxesOfAllThreeAreOne) {
  OnnxBuilder b;
  b.input("X", {"T", "N", 5}).input("V", {"T", "M", 5}).constant("zero", {}, {0.0f}).weights("", 3, 1, 5, 4).output("Y");
  b.node("Greater", {"X", "zero"}, {"m"});
  b.node("Where", {"m", "X", "V"}, {"x"});
  b.node("GRU", {"x", "W", "R", "B"}, {"Y"}).with("hidden_size", 4);
  check_against_f64(b.proto, {4, 2});
}

TEST(Select, BoolOutputsAreZeroAndOne) {
  OnnxBuilder b;
  b.input("X", {"N", 3}).constant("zero", {}, {0.0f}).output("Y");
  b.node("Greater", {"X", "zero"}, {"Y"});
  check_against_f64(b.proto);
  OnnxBuilder c;
  c.input("X", {"N", 3}).constant("zero", {}, {0.0f}).output("Y");
  c.node("Greater", {"X", "zero"}, {"m"});
  c.node("Add", {"m", "X"}, {"Y"});
  EXPECT_NE(refusal_of(c.proto).find("bool tensor"), std::string::npos) << refusal_of(c.proto);
}

TEST(Select, PRelu) {
  for (const Ints &shape : {Ints{1}, Ints{3, 1}, Ints{8}, Ints{3, 8}}) {
    OnnxBuilder b;
    b.input("X", {"N", 3, 8}).random("slope", shape).output("Y");
    b.node("PRelu", {"X", "slope"}, {"Y"});
    check_against_f64(b.proto);
  }
}

TEST(Select, ElementwiseOperatorsWithoutKernels) {
  OnnxBuilder b(20);
  b.input("X", {"N", 400}).constant("three", {}, {3.0f}).constant("minus", {}, {-1.0f}).constant("half", {}, {0.5f});
  b.node("Mul", {"X", "three"}, {"x"});
  b.node("Abs", {"X"}, {"abs"});
  b.node("Add", {"abs", "half"}, {"positive"});
  for (const char *op : {"Sign", "Round", "Erf", "Gelu", "Selu", "Celu", "Mish"}) {
    b.node(op, {"x"}, {op});
    b.output(op);
  }
  b.node("Celu", {"x"}, {"Celu2"}).with("alpha", 2.0);
  b.node("Gelu", {"x"}, {"Tanh"}).with("approximate", "tanh");
  b.node("Mean", {"x", "X", "half"}, {"Mean"});
  b.node("Pow", {"x", "two"}, {"Square"});
  b.node("Pow", {"positive", "half"}, {"Root"});
  b.node("Pow", {"positive", "minus"}, {"Inverse"});
  b.constant("two", {}, {2.0f});
  b.output("Celu2").output("Tanh").output("Mean").output("Square").output("Root").output("Inverse");
  check_against_f64(b.proto);
}

TEST(Select, RoundTakesHalvesToEven) {
  OnnxBuilder b;
  b.input("X", {1, 6}).output("Y");
  b.node("Round", {"X"}, {"Y"});
  compiler::Array x;
  x.shape = {1, 6};
  x.f32 = {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 8388609.0f};
  check_against_f64(b.proto, {1, 1}, {{"X", x}}, 0);
}

TEST(Pieces, GatherOfAnyRank) {
  const struct {
    Ints shape, indices;
    int axis;
  } cases[] = {{{}, {-1}, 2},         {{2, 3}, {0, 1, 2, 3, 4, 5}, 2}, {{2, 2}, {5, 0, 0, 2}, 2},
               {{1}, {3}, 1},         {{2, 2}, {3, 2, 1, 0}, 1},       {{6}, {5, 5, 5, 5, 5, 5}, 2},
               {{4}, {0, 2, 4, 1}, 2}};
  for (const auto &c : cases) {
    OnnxBuilder b;
    b.input("X", {"N", 4, 6}).constant_ints("i", c.shape, c.indices).output("Y");
    b.node("Gather", {"X", "i"}, {"Y"}).with("axis", c.axis);
    check_against_f64(b.proto);
  }
}

TEST(Pieces, PadInEveryMode) {
  for (const char *mode : {"constant", "reflect", "edge", "wrap"}) {
    SCOPED_TRACE(mode);
    OnnxBuilder b(19);
    b.input("X", {"N", 4, 6}).constant("value", {}, {1.5f}).output("A").output("B").output("C").output("D");
    const bool wraps = std::string(mode) == "wrap";  // does not go with cuts
    b.constant_ints("p0", {6}, {0, 2, 3, 0, 1, 0}).constant_ints("p2", {2}, {0, 5});
    b.constant_ints("p1", {6}, wraps ? Ints{0, 1, 2, 0, 3, 3} : Ints{0, -1, 2, 0, 3, -3});
    b.constant_ints("p3", {2}, {9, 8}).constant_ints("axis", {1}, {-1});
    const bool constant = std::string(mode) == "constant";
    b.node("Pad", {"X", "p0", constant ? "value" : ""}, {"A"}).with("mode", mode);
    b.node("Pad", {"X", "p1"}, {"B"}).with("mode", mode);
    b.node("Pad", {"X", "p2", "", "axis"}, {"C"}).with("mode", mode);
    b.node("Transpose", {"X"}, {"t"}).with("perm", Ints{0, 2, 1});
    b.node("Pad", {"t", "p3", "", "axis"}, {"D"}).with("mode", mode);
    check_against_f64(b.proto);
  }
}

TEST(Pieces, PadOfOldOpsetsAndOfNothing) {
  OnnxBuilder b(10);
  b.input("X", {"N", 4}).output("Y").output("Z");
  b.node("Pad", {"X"}, {"Y"}).with("pads", Ints{0, 1, 0, 2}).with("value", 3.0);
  b.node("Pad", {"X"}, {"Z"}).with("pads", Ints{0, 0, 0, 0});
  check_against_f64(b.proto);
}

TEST(Pieces, PadOfTimeIsRefused) {
  OnnxBuilder b;
  b.input("X", {"T", "N", 3}).weights("", 3, 1, 3, 4).constant_ints("pads", {6}, {1, 0, 0, 0, 0, 0}).output("Y");
  b.node("Pad", {"X", "pads"}, {"x"}).with("mode", "reflect");
  b.node("GRU", {"x", "W", "R", "B"}, {"Y"}).with("hidden_size", 4);
  EXPECT_NE(refusal_of(b.proto), "");
}

TEST(Pieces, Tile) {
  OnnxBuilder b;
  b.input("X", {"N", 4, 1, 3})
      .constant_ints("r", {4}, {1, 2, 5, 3})
      .constant_ints("one", {4}, {1, 1, 1, 1})
      .output("Y")
      .output("Z");
  b.node("Tile", {"X", "r"}, {"Y"});
  b.node("Tile", {"X", "one"}, {"Z"});
  check_against_f64(b.proto);
}

}  // namespace
}  // namespace rnnp::testing_support
