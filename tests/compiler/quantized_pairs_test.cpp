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

// [1, 4, T] with two steps put in front of what the pair makes, by Pad before, within or behind it.
OnnxBuilder padded_pair(size_t place, const Kind &kind, float value) {
  OnnxBuilder b(21);
  b.input("x", {1, 4, "T"}).output("y").random("K", {6, 4, 3}).constant_ints("pads", {6}, {0, 0, 2, 0, 0, 0});
  b.constant("s", {}, {kind.scale}).constant_ints("z", {}, {kind.zero}, kind.type).constant("v", {}, {value});
  const char *const operators[] = {"QuantizeLinear", "DequantizeLinear"};
  std::string last = "x";
  for (size_t i = 0; i < 3; ++i) {
    if (i == place) b.node("Pad", {last, "pads", i == 1 ? "z" : "v"}, {"p"}, "pad");
    if (i == place) last = "p";
    if (i == 2) break;
    b.node(operators[i], {last, "s", "z"}, {operators[i]});
    last = operators[i];
  }
  b.node("Conv", {last, "K"}, {"y"});
  return b;
}

// 0 is the zero point of every grid, whichever it is, so that steps of zeros stay so through the pair.
TEST(QuantizedPairs, BehindAPaddedTimeAxis) {
  for (const Kind &kind : {Kind{TensorProto::UINT16, 0, 3e-5f}, Kind{TensorProto::UINT16, 65535, 3e-5f},
                           Kind{TensorProto::UINT16, 30001, 3e-5f}, Kind{TensorProto::INT16, -4000, 3e-5f}}) {
    for (size_t place = 0; place < 3; ++place) {
      SCOPED_TRACE(std::to_string(kind.zero) + ", Pad in place " + std::to_string(place));
      const OnnxBuilder b = padded_pair(place, kind, 0);
      EXPECT_TRUE(graph_of(b).causal);
      check_against_f64(b.proto, {}, {}, 3e-4);
    }
  }
}

// Numbers that are no zero point are known for a fixed number of steps, and refused for others.
TEST(QuantizedPairs, BehindATimeAxisPaddedWithAnotherNumber) {
  for (const float value : {0.5f, 1e-5f, 3.0f}) {  // on the grid, between its numbers, beyond them
    OnnxBuilder b = padded_pair(0, {TensorProto::UINT16, 30000, 1e-4f / 4}, value);
    const std::string refusal = refusal_of(b.proto);
    EXPECT_EQ("node 'pad' (Pad): it pads the time axis; accepted: feature axes", refusal.substr(0, refusal.find('\n'))) << value;
    compiler::Specialisation fixed;
    fixed.dims["T"] = 7;
    check_against_f64(b.proto, {}, {}, 3e-4, fixed);
  }
}

// Between the pair the number is an integer: 0 stands for another number than the zero point.
TEST(QuantizedPairs, PaddedWithAnIntegerInBetween) {
  OnnxBuilder b;
  b.input("x", {"T", 1, 6}).output("y").constant("s", {}, {kStep}).constant("t", {}, {2 * kStep});
  b.constant_ints("z", {}, {-7}, TensorProto::INT8).constant_ints("u", {}, {5}, TensorProto::INT8);
  b.constant_ints("pads", {6}, {0, 0, 1, 0, 0, 2});
  b.node("QuantizeLinear", {"x", "s", "z"}, {"q"});
  b.node("Pad", {"q", "pads"}, {"p"});
  b.node("DequantizeLinear", {"p", "t", "u"}, {"y"});
  check_against_f64(b.proto, {}, {}, 2 * kHalf);

  OnnxBuilder steps = padded_pair(1, {TensorProto::UINT16, 30000, 3e-5f}, 0);
  steps.constant_ints("other", {}, {0}, TensorProto::UINT16);
  steps.proto.mutable_graph()->mutable_node(1)->set_input(2, "other");
  EXPECT_NE(std::string::npos, refusal_of(steps.proto).find("node 'pad' (Pad): it pads the time axis")) << refusal_of(steps.proto);
}

// Zeros that the second grid does not have as zero are no zeros behind it.
TEST(QuantizedPairs, OfTwoZeroPointsTakeNoPaddedSteps) {
  OnnxBuilder b = padded_pair(0, {TensorProto::UINT16, 30000, 3e-5f}, 0);
  b.constant_ints("u", {}, {29000}, TensorProto::UINT16);
  b.proto.mutable_graph()->mutable_node(2)->set_input(2, "u");
  EXPECT_NE(std::string::npos, refusal_of(b.proto).find("where node 'pad' (Pad) pads the time axis")) << refusal_of(b.proto);
}

TEST(QuantizedPairs, OfManyScalesBehindAPaddedTimeAxis) {
  for (const int64_t other : {0, 9}) {  // a zero point for each channel is no one number to pad with
    for (const bool within : {false, true}) {
      OnnxBuilder b(21);
      b.input("x", {1, 3, "T"}).output("y").random("K", {6, 3, 3}).constant_ints("pads", {6}, {0, 0, 2, 0, 0, 0});
      b.constant("s", {3}, {3e-5f, 2e-5f, 4e-5f}).constant_ints("z", {3}, {0, other, 0}, TensorProto::INT16);
      b.constant_ints("v", {}, {0}, TensorProto::INT16);
      if (!within) b.node("Pad", {"x", "pads"}, {"p"}, "pad");
      b.node("QuantizeLinear", {within ? "x" : "p", "s", "z"}, {"q"});
      if (within) b.node("Pad", {"q", "pads", "v"}, {"pq"}, "pad");
      b.node("DequantizeLinear", {within ? "pq" : "q", "s", "z"}, {"d"});
      b.node("Conv", {"d", "K"}, {"y"});
      if (within && other != 0) {
        EXPECT_NE(std::string::npos, refusal_of(b.proto).find("(Pad): it pads integers of several scales with another number"));
      } else {
        check_against_f64(b.proto, {}, {}, 3e-4);
      }
    }
  }
}

// So for all that makes 0 of 0 on each element alone, and for nothing else.
TEST(QuantizedPairs, ActivationsBehindAPaddedTimeAxis) {
  for (const std::string op : {"Relu", "Tanh", "LeakyRelu", "Abs", "Softsign", "Clip", "Sigmoid", "Exp", "Cos", "ClipAbove"}) {
    OnnxBuilder b;
    b.input("x", {1, 4, "T"}).output("y").random("K", {6, 4, 3}).constant_ints("pads", {6}, {0, 0, 2, 0, 0, 0});
    b.constant("low", {}, {op == "Clip" ? -0.5f : 0.25f}).constant("high", {}, {0.75f});
    b.node("Pad", {"x", "pads"}, {"p"}, "pad");
    if (op.substr(0, 4) == "Clip") {
      b.node("Clip", {"p", "low", "high"}, {"a"});
    } else {
      b.node(op, {"p"}, {"a"});
    }
    b.node("Conv", {"a", "K"}, {"y"});
    if (op == "Sigmoid" || op == "Exp" || op == "Cos" || op == "ClipAbove") {
      EXPECT_NE(std::string::npos, refusal_of(b.proto).find("where node 'pad' (Pad) pads the time axis")) << op;
    } else {
      SCOPED_TRACE(op);
      check_against_f64(b.proto);
    }
  }
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
