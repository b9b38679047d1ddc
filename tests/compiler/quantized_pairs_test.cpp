// quantized_pairs_test.cpp -- QuantizeLinear and DequantizeLinear on activations: the blob cuts off what the integers cannot hold,
// and is nowhere further from the file than half a step of the grid.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/compile.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace quantized_pairs_test {

using onnx::TensorProto;
constexpr float kStep = 0.01f;
constexpr double kHalf = 0.00501;

struct Kind {
  int type;
  int64_t zero;
  float scale;
};
// Zero points at both ends and in between. Normal numbers lie beyond all of these ranges.
const Kind kKinds[] = {{TensorProto::UINT8, 0, kStep}, {TensorProto::UINT8, 255, kStep},    {TensorProto::UINT8, 128, kStep},
                       {TensorProto::INT8, 0, kStep},  {TensorProto::INT8, -128, kStep},    {TensorProto::INT8, 127, kStep},
                       {TensorProto::INT8, 3, kStep},  {TensorProto::UINT16, 0, 3e-5f},     {TensorProto::UINT16, 65535, 3e-5f},
                       {TensorProto::INT16, 0, 3e-5f}, {TensorProto::INT16, -32768, 3e-5f}, {22, 0, 0.1f}};

void add_pair(OnnxBuilder *b, const std::string &from, const std::string &to, const Kind &kind) {
  const std::string p = from + "." + to;
  b->constant(p + "s", {}, {kind.scale});
  if (kind.type == 22) {
    TensorProto *zero = b->proto.mutable_graph()->add_initializer();
    zero->set_name(p + "z");
    zero->set_data_type(22);
    zero->set_raw_data(std::string(1, '\0'));
  } else {
    b->constant_ints(p + "z", {}, {kind.zero}, kind.type);
  }
  b->node("QuantizeLinear", {from, p + "s", p + "z"}, {p + "q"}, p + "quantize");
  b->node("DequantizeLinear", {p + "q", p + "s", p + "z"}, {to});
}

compiler::Graph graph_of(const OnnxBuilder &b) {
  return compiler::compile_graph(*compiler::check_model(b.proto), {});
}
size_t clips(const compiler::Graph &graph) {
  return static_cast<size_t>(std::count_if(graph.nodes.begin(), graph.nodes.end(), [](const compiler::Node &node) {
    const auto *unary = std::get_if<AttrUnary>(&node.attr);
    return unary != nullptr && unary->act.act == static_cast<uint32_t>(Act::kClip);
  }));
}

TEST(QuantizedPairs, CutOffWhatTheIntegersCannotHold) {
  for (const Kind &kind : kKinds) {
    SCOPED_TRACE(std::to_string(kind.type) + " around " + std::to_string(kind.zero));
    OnnxBuilder b(21);
    b.input("x", {"T", 1, 40}).output("y");
    add_pair(&b, "x", "y", kind);
    EXPECT_EQ(1u, clips(graph_of(b)));
    check_against_f64(b.proto, {}, {}, double{kind.scale} / 2 + 1e-5);
  }
}

TEST(QuantizedPairs, CutOffXOfALayer) {
  for (const Kind &kind : kKinds) {
    SCOPED_TRACE(std::to_string(kind.type) + " around " + std::to_string(kind.zero));
    OnnxBuilder b(21);
    b.input("x", {"T", "N", 6}).output("y").weights("", 3, 1, 6, 5);
    add_pair(&b, "x", "d", kind);
    b.node("GRU", {"d", "W", "R", "B"}, {"y"}).with("hidden_size", 5).with("linear_before_reset", 1);
    check_against_f64(b.proto, {}, {}, double{kind.scale});
  }
}

// As onnxruntime's static quantizer writes it: the pair is the Relu.
TEST(QuantizedPairs, InThePlaceOfARelu) {
  OnnxBuilder b;
  b.input("x", {1, 4, "T"}).output("y").random("K", {6, 4, 3}).weights("", 3, 1, 6, 5);
  const Kind kind = {TensorProto::UINT8, 0, 0.02f};
  b.node("Conv", {"x", "K"}, {"c"}).with("pads", std::vector<int64_t>{2, 0});
  add_pair(&b, "c", "r", kind);
  b.node("Transpose", {"r"}, {"t"}).with("perm", std::vector<int64_t>{2, 0, 1});
  b.node("GRU", {"t", "W", "R", "B"}, {"y"}).with("hidden_size", 5);
  EXPECT_EQ(0u, clips(graph_of(b)));  // the convolution's activation
  check_against_f64(b.proto, {}, {}, 0.02);
}

// A value between the pair is moved, also where that takes a copy.
TEST(QuantizedPairs, StayAPairAroundMoves) {
  OnnxBuilder b;
  b.input("x", {"T", 1, 3, 4}).output("y").constant("s", {}, {kStep}).constant_ints("z", {}, {5}, TensorProto::INT8);
  b.constant_ints("shape", {3}, {-1, 1, 12});
  b.node("QuantizeLinear", {"x", "s", "z"}, {"q"});
  b.node("Transpose", {"q"}, {"t"}).with("perm", std::vector<int64_t>{0, 1, 3, 2});
  b.node("Reshape", {"t", "shape"}, {"r"});
  b.node("DequantizeLinear", {"r", "s", "z"}, {"d"});
  b.weights("", 4, 1, 12, 5);
  b.node("LSTM", {"d", "W", "R", "B"}, {"y"}).with("hidden_size", 5);
  check_against_f64(b.proto, {}, {}, 0.02);
}

TEST(QuantizedPairs, ChainsOfDifferentGridsCutOffWhatEachCannotHold) {
  OnnxBuilder b;
  b.input("x", {"T", 1, 40}).output("y").output("z");
  add_pair(&b, "x", "a", {TensorProto::UINT8, 100, kStep});
  add_pair(&b, "a", "y", {TensorProto::INT8, -100, kStep / 2});
  add_pair(&b, "y", "z", {TensorProto::UINT8, 0, kStep / 4});
  check_against_f64(b.proto, {}, {}, kHalf + 0.00375);
}

// Another grid on the way out: stretched and moved.
TEST(QuantizedPairs, OfTwoGridsStretchAndShiftWhatWasCutOff) {
  OnnxBuilder b;
  b.input("x", {"T", 1, 40}).output("y").constant("s", {}, {kStep}).constant("t", {}, {2 * kStep});
  b.constant_ints("z", {}, {3}, TensorProto::INT8).constant_ints("u", {}, {-5}, TensorProto::INT8);
  b.node("QuantizeLinear", {"x", "s", "z"}, {"q"});
  b.node("DequantizeLinear", {"q", "t", "u"}, {"y"});
  check_against_f64(b.proto, {}, {}, 2 * kHalf);
}

TEST(QuantizedPairs, WithAScaleForEachChannel) {
  for (const bool same : {true, false}) {
    OnnxBuilder b;
    b.input("x", {"T", 4, 7}).output("y").constant("s", {4}, {0.01f, 0.004f, 0.008f, 0.002f});
    b.constant("t", {4}, {0.01f, 0.004f, 0.008f, 0.003f}).constant_ints("z", {4}, {0, -128, 127, 7}, TensorProto::INT8);
    b.node("QuantizeLinear", {"x", "s", "z"}, {"q"}).with("axis", 1);
    b.node("DequantizeLinear", {"q", same ? "s" : "t", "z"}, {"d"}, "out").with("axis", 1);
    b.node("Neg", {"d"}, {"y"});
    if (same) {
      check_against_f64(b.proto, {}, {}, kHalf);
    } else {
      EXPECT_NE(std::string::npos, refusal_of(b.proto).find("'out' (DequantizeLinear): its scales are not those of QuantizeLinear"))
          << refusal_of(b.proto);
    }
  }
}

// Results of tanh lie within the first grid, not within the second; h of an LSTM within neither side of a grid of one sign.
TEST(QuantizedPairs, CostNothingWhereTheRangeIsProven) {
  const auto after = [](const std::string &op, const Kind &kind) {
    OnnxBuilder b;
    b.input("x", {"T", 1, 6}).output("y");
    if (op == "LSTM") {
      b.weights("", 4, 1, 6, 5);
      b.node("LSTM", {"x", "W", "R", "B"}, {"a"}).with("hidden_size", 5);
    } else {
      b.node(op, {"x"}, {"a"});
    }
    add_pair(&b, "a", "d", kind);
    b.node("Neg", {"d"}, {"y"});
    check_against_f64(b.proto, {}, {}, kHalf);
    return clips(graph_of(b));
  };
  const Kind around = {TensorProto::INT8, 0, 1.0f / 127}, above = {TensorProto::UINT8, 0, 1.0f / 255};
  EXPECT_EQ(0u, after("Tanh", around));
  EXPECT_EQ(1u, after("Tanh", above));
  EXPECT_EQ(0u, after("Sigmoid", above));
  EXPECT_EQ(1u, after("Sigmoid", {TensorProto::UINT8, 0, 1.0f / 300}));
  EXPECT_EQ(0u, after("LSTM", around));
  EXPECT_EQ(1u, after("LSTM", above));
  EXPECT_EQ(1u, after("Relu", above));  // one node for both
}

// What nobody can move is refused where it stands between the two.
TEST(QuantizedPairs, OperatorsInBetweenAreRefused) {
  OnnxBuilder b;
  b.input("x", {"T", 1, 6}).output("y").constant("s", {}, {kStep}).constant_ints("z", {}, {0}, TensorProto::INT8);
  b.node("QuantizeLinear", {"x", "s", "z"}, {"q"});
  b.node("Abs", {"q"}, {"a"}, "between");
  b.node("DequantizeLinear", {"a", "s", "z"}, {"y"});
  EXPECT_NE(std::string::npos, refusal_of(b.proto).find("'between' (Abs)")) << refusal_of(b.proto);
}

}  // namespace quantized_pairs_test
}  // namespace rnnp::testing_support
