// feature_layers_test.cpp -- recurrent layers over a feature axis: columns of an image, frequencies of a frame, a fixed number
// of steps that something else needs whole. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/compile.h"
#include "loop_models.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace feature_layers_test {

using Ints = std::vector<int64_t>;
constexpr int kHidden = 5;

int gates(const std::string &op) {
  return op == "LSTM" ? 4 : op == "GRU" ? 3 : 1;
}

struct Case {
  const char *op, *direction;
  int linear;
};
const Case kCases[] = {{"LSTM", "forward", 0},      {"LSTM", "bidirectional", 0}, {"GRU", "reverse", 1},
                       {"GRU", "bidirectional", 0}, {"GRU", "forward", 1},        {"RNN", "bidirectional", 0}};

NodeBuilder layer(OnnxBuilder *b, const Case &c, const std::string &x, int inputs, const std::string &prefix,
                  const std::vector<std::string> &out) {
  b->weights(prefix, gates(c.op), std::string(c.direction) == "bidirectional" ? 2 : 1, inputs, kHidden);
  NodeBuilder node = b->node(c.op, {x, prefix + "W", prefix + "R", prefix + "B"}, out, prefix + "layer");
  node.with("hidden_size", kHidden).with("direction", c.direction);
  if (std::string(c.op) == "GRU") node.with("linear_before_reset", c.linear);
  return node;
}

// [batch, 1, height, width]: what the convolution leaves of the width are the layer's steps.
TEST(FeatureLayers, ReadTheColumnsOfAnImage) {
  for (const Case &c : kCases) {
    SCOPED_TRACE(c.op + std::string(c.direction));
    OnnxBuilder b;
    b.input("X", {"N", 1, 6, 17}).random("K", {3, 1, 6, 2});
    b.node("Conv", {"X", "K"}, {"cols"}).with("strides", Ints{1, 2});
    b.constant_ints("at2", {1}, {2});
    b.node("Squeeze", {"cols", "at2"}, {"flat"});
    b.node("Transpose", {"flat"}, {"x"}).with("perm", Ints{2, 0, 1});
    layer(&b, c, "x", 3, "", {"Y", "H"});
    b.output("Y").output("H");
    EXPECT_EQ(count(b, OpKind::kFeatureRecurrent), 1u);
    check_against_f64(b.proto);
  }
}

// Batch first: so are its final states, of both directions.
TEST(FeatureLayers, BatchFirstWithFinalStates) {
  for (const Case &c : kCases) {
    SCOPED_TRACE(c.op + std::string(c.direction));
    OnnxBuilder b;
    b.input("X", {"N", 1, 6, 17}).random("K", {3, 1, 6, 2});
    b.node("Conv", {"X", "K"}, {"cols"}).with("strides", Ints{1, 2});
    b.constant_ints("at2", {1}, {2});
    b.node("Squeeze", {"cols", "at2"}, {"flat"});
    b.node("Transpose", {"flat"}, {"x"}).with("perm", Ints{0, 2, 1});
    std::vector<std::string> out = {"Y", "H"};
    if (std::string(c.op) == "LSTM") out.push_back("C");
    layer(&b, c, "x", 3, "", out).with("layout", 1);
    for (const std::string &name : out) b.output(name);
    EXPECT_EQ(count(b, OpKind::kFeatureRecurrent), 1u);
    check_against_f64(b.proto);
  }
}

// Along the frequencies within a frame, then along the frames for every frequency, in one stream.
TEST(FeatureLayers, GoAlongFrequenciesAndForEachFrequencyAlongTime) {
  for (const Case &c : kCases) {
    SCOPED_TRACE(c.op + std::string(c.direction));
    const int width = std::string(c.direction) == "bidirectional" ? 2 * kHidden : kHidden;
    OnnxBuilder b;
    b.input("X", {"T", 1, 7, 3});
    b.constant_ints("frames", {3}, {-1, 7, 3})
        .constant_ints("rows", {4}, {-1, 1, 7, width})
        .constant_ints("bands", {3}, {-1, 7, width});
    b.node("Reshape", {"X", "frames"}, {"f0"});
    b.node("Transpose", {"f0"}, {"f1"}).with("perm", Ints{1, 0, 2});
    layer(&b, c, "f1", 3, "a", {"A"});
    b.node("Transpose", {"A"}, {"f2"}).with("perm", Ints{2, 0, 1, 3});
    b.node("Reshape", {"f2", "bands"}, {"f3"});
    const Case along = {c.op, "forward", c.linear};
    layer(&b, along, "f3", width, "b", {"Y", "H"});
    b.output("Y").output("H");
    EXPECT_EQ(count(b, OpKind::kFeatureRecurrent), 2u);
    EXPECT_EQ(count(b, OpKind::kStateRead), std::string(c.op) == "LSTM" ? 2u : 1u);
    check_against_f64(b.proto, {6, 1});
  }
}

// Attention needs all steps at once: with a fixed number of them, one call of the graph is one step of the blob.
TEST(FeatureLayers, KeepAFixedNumberOfStepsWhereAllAreNeededAtOnce) {
  OnnxBuilder b;
  b.input("X", {6, "N", 3});
  layer(&b, {"LSTM", "bidirectional", 0}, "X", 3, "", {"y4", "", "C"});
  b.constant_ints("shape", {3}, {6, -1, 2 * kHidden});
  b.node("Transpose", {"y4"}, {"y3"}).with("perm", Ints{0, 2, 1, 3});
  b.node("Reshape", {"y3", "shape"}, {"y"});
  b.random("score", {2 * kHidden, 1});
  b.node("MatMul", {"y", "score"}, {"s"});
  b.node("Softmax", {"s"}, {"p"}).with("axis", 0);
  b.node("Mul", {"p", "y"}, {"weighted"});
  b.constant_ints("steps", {1}, {0});
  b.node("ReduceSum", {"weighted", "steps"}, {"Y"}).with("keepdims", 0);
  b.output("Y").output("C");
  check_against_f64(b.proto);
}

// The state that an encoder leaves starts the layer.
TEST(FeatureLayers, StartFromWhatIsGiven) {
  for (const char *op : {"LSTM", "GRU"}) {
    OnnxBuilder b;
    b.input("X", {4, "N", 3}).input("Z", {6, "N", 3});
    const Case c = {op, "forward", 1};
    const bool lstm = std::string(op) == "LSTM";
    layer(&b, c, "X", 3, "a", lstm ? std::vector<std::string>{"", "h", "c"} : std::vector<std::string>{"", "h"});
    layer(&b, c, "Z", 3, "b", {"Y"});
    onnx::NodeProto *node = b.proto.mutable_graph()->mutable_node(1);
    for (const char *name : {"", "h"}) node->add_input(name);
    if (lstm) node->add_input("c");
    b.output("Y");
    EXPECT_EQ(count(b, OpKind::kFeatureRecurrent), 1u);  // the shorter sequence gives the run its steps
    check_against_f64(b.proto);
  }
}

// More steps and inputs than one product of the input takes, for few rows and for more than lie side by side.
TEST(FeatureLayers, ProjectTheInputOfManyStepsAtOnce) {
  for (const Case &c : kCases) {
    SCOPED_TRACE(c.op + std::string(c.direction));
    const int64_t directions = std::string(c.direction) == "bidirectional" ? 2 : 1, rows = gates(c.op) * kHidden, inputs = 70;
    OnnxBuilder b;
    b.input("X", {"N", 1, 6, 90}).random("K", {inputs, 1, 6, 2}, 0.1).constant_ints("at2", {1}, {2});
    b.node("Conv", {"X", "K"}, {"cols"}).with("strides", Ints{1, 2});
    b.node("Squeeze", {"cols", "at2"}, {"flat"});
    b.node("Transpose", {"flat"}, {"x"}).with("perm", Ints{2, 0, 1});
    b.random("W", {directions, rows, inputs}, 0.05).random("R", {directions, rows, kHidden}, 0.1);
    b.random("B", {directions, 2 * rows}, 0.1);
    NodeBuilder node = b.node(c.op, {"x", "W", "R", "B"}, {"Y", "H"}, "layer");
    node.with("hidden_size", kHidden).with("direction", c.direction);
    if (std::string(c.op) == "GRU") node.with("linear_before_reset", c.linear);
    b.output("Y").output("H");
    EXPECT_EQ(count(b, OpKind::kFeatureRecurrent), 1u);
    check_against_f64(b.proto);
    check_against_f64(b.proto, {7, 40});
  }
}

TEST(FeatureLayers, StatesOfTheWrongShapeAreRefused) {
  OnnxBuilder b;
  b.input("X", {"N", 1, 6, 17}).random("K", {3, 1, 6, 2}).weights("", 3, 1, 3, kHidden);
  b.constant("zeros", {1, 1, kHidden + 1}, std::vector<float>(kHidden + 1, 0.0f)).constant_ints("at2", {1}, {2});
  b.node("Conv", {"X", "K"}, {"cols"});
  b.node("Squeeze", {"cols", "at2"}, {"flat"});
  b.node("Transpose", {"flat"}, {"x"}).with("perm", Ints{2, 0, 1});
  b.node("GRU", {"x", "W", "R", "B", "", "zeros"}, {"Y"}).with("hidden_size", kHidden);
  b.output("Y");
  EXPECT_NE(refusal_of(b.proto).find("initial_h has shape [1, 1, 6]"), std::string::npos) << refusal_of(b.proto);
}

}  // namespace feature_layers_test
}  // namespace rnnp::testing_support
