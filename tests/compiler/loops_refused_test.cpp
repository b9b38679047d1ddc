// loops_refused_test.cpp -- Loop and Scan that are no run over the steps of a sequence: refused by their name, with what is wrong.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "loop_models.h"

namespace rnnp::testing_support {
namespace {

TEST(Loops, OtherTripsThanStepsAreRefused) {
  OnnxBuilder body;
  decay_body(&body);
  const std::string text = refusal_of(with_loop(loop_graph(body), false).proto);
  EXPECT_NE(text.find("'the_loop' (Loop)"), std::string::npos) << text;
  EXPECT_NE(text.find("number of steps"), std::string::npos) << text;
}

TEST(Loops, ABodyThatComputesWithTheNumberOfTheStepIsRefused) {
  OnnxBuilder body;
  rnn_body(&body);
  onnx::GraphProto inside = loop_graph(body);
  onnx::NodeProto *sum = node_named(&inside, "sum");
  OnnxBuilder more;
  more.node("Cast", {"i"}, {"number"}).with("to", static_cast<int64_t>(onnx::TensorProto::FLOAT));
  more.node("Add", {"xw", "number"}, {"numbered"});
  const onnx::NodeProto added = *sum;
  *sum = more.proto.graph().node(0);
  for (int i = inside.node_size() - 1; i >= 0; --i) {
    if (inside.node(i).output(0) != "number") continue;
    std::vector<onnx::NodeProto> rest(inside.node().begin() + i + 1, inside.node().end());
    inside.mutable_node()->DeleteSubrange(i + 1, inside.node_size() - i - 1);
    *inside.add_node() = more.proto.graph().node(1);
    *inside.add_node() = added;
    inside.mutable_node(inside.node_size() - 1)->set_input(0, "numbered");
    for (const onnx::NodeProto &node : rest) *inside.add_node() = node;
    break;
  }
  const std::string text = refusal_of(with_loop(inside).proto);
  EXPECT_NE(text.find("'the_loop' (Loop): it is a loop"), std::string::npos) << text;
  EXPECT_NE(text.find("computes with i no further"), std::string::npos) << text;
}

// One that would run fewer steps, or another one, or nothing ends.
TEST(Loops, ALoopThatMayEndBeforeTheLastStepIsRefused) {
  using Change = void (*)(onnx::GraphProto *);
  const std::vector<std::pair<const char *, Change>> changes = {
      {"after three steps", [](onnx::GraphProto *g) { node_named(g, "go_on")->set_input(1, "three"); }},
      {"when h says so",
       [](onnx::GraphProto *g) {
         OnnxBuilder b;
         b.node("ReduceMax", {"h_next"}, {"top"}).with("keepdims", 0);
         b.node("Less", {"top", "nothing"}, {"go_on"});
         *node_named(g, "go_on") = b.proto.graph().node(0);
         *g->add_node() = b.proto.graph().node(1);
       }},
      {"when the counter is above", [](onnx::GraphProto *g) { node_named(g, "go_on")->set_op_type("Greater"); }},
  };
  for (const auto &change : changes) {
    SCOPED_TRACE(change.first);
    OnnxBuilder body;
    rnn_body(&body);
    onnx::GraphProto inside = loop_graph(body);
    change.second(&inside);
    const std::string text = refusal_of(with_loop(inside).proto);
    EXPECT_NE(text.find("'the_loop' (Loop)"), std::string::npos) << text;
  }
  for (const char *with : {"one step more", "a condition before it", "no end"}) {
    SCOPED_TRACE(with);
    OnnxBuilder body;
    rnn_body(&body);
    onnx::GraphProto inside = loop_graph(body);
    if (with[0] == 'n') node_named(&inside, "go_on")->CopyFrom(OnnxBuilder().node("Identity", {"go"}, {"go_on"}).proto());
    if (with[0] == 'o') node_named(&inside, "go_on")->set_input(0, "t");
    OnnxBuilder b = with_loop(inside);
    onnx::NodeProto *loop = node_named(b.proto.mutable_graph(), "last_t");
    if (with[0] == 'a') {
      b.input("Begin", {}, onnx::TensorProto::BOOL);
      loop->set_input(1, "Begin");
    } else {
      loop->set_input(0, "");
    }
    const std::string text = refusal_of(b.proto);
    EXPECT_NE(text.find("'the_loop' (Loop)"), std::string::npos) << text;
  }
}

// A counter that is not the number of the step reads other steps of the sequence than the loop's.
TEST(Loops, ACounterThatIsNotTheStepIsRefused) {
  struct Counter {
    int64_t start, tick;
  };
  for (const Counter c : {Counter{1, 1}, Counter{-1, 1}, Counter{0, 2}, Counter{0, -1}, Counter{2, 2}}) {
    SCOPED_TRACE(std::to_string(c.start) + " by " + std::to_string(c.tick));
    OnnxBuilder body;
    rnn_body(&body);
    onnx::GraphProto inside = loop_graph(body);
    for (onnx::TensorProto &tensor : *inside.mutable_initializer()) {
      if (tensor.name() == "tick") tensor.set_int32_data(0, static_cast<int32_t>(c.tick));
    }
    OnnxBuilder b = with_loop(inside);
    for (onnx::TensorProto &tensor : *b.proto.mutable_graph()->mutable_initializer()) {
      if (tensor.name() == "zero32") tensor.set_int32_data(0, static_cast<int32_t>(c.start));
    }
    const std::string text = refusal_of(b.proto);
    EXPECT_NE(text.find("'the_loop' (Loop)"), std::string::npos) << text;
  }
}

TEST(Loops, AStateThatStartsElsewhereInEachRowIsRefusedUnlessALayerHasIt) {
  std::vector<float> rows(3 * kHidden, 0.25f);
  rows.back() = 0.5f;
  for (const bool layer : {true, false}) {
    OnnxBuilder body;
    layer ? rnn_body(&body) : decay_body(&body);
    OnnxBuilder b = with_scan(scan_graph(body));
    b.proto.mutable_graph()->clear_initializer();
    b.constant("start", {3, kHidden}, rows);
    if (layer) {
      check_against_f64(b.proto);
    } else {
      const std::string text = refusal_of(b.proto);
      EXPECT_NE(text.find("'the_scan'"), std::string::npos) << text;
      EXPECT_NE(text.find("starts from 'start'"), std::string::npos) << text;
    }
  }
}

// Keras' Bidirectional of a cell of the user's own, or behind a mask: a loop over reversed steps.
TEST(Loops, ALoopOverReversedStepsThatIsNoLayerRunsOverThem) {
  OnnxBuilder body;
  decay_body(&body);
  OnnxBuilder b = with_scan(scan_graph(body));
  onnx::GraphProto *g = b.proto.mutable_graph();
  const onnx::NodeProto scan = g->node(g->node_size() - 1);
  g->mutable_node()->RemoveLast();
  b.constant_ints("from", {1}, {-1})
      .constant_ints("to", {1}, {INT64_MIN})
      .constant_ints("along", {1}, {0})
      .constant_ints("by", {1}, {-1});
  b.node("Slice", {"X", "from", "to", "along", "by"}, {"reversed"});
  *g->add_node() = scan;
  g->mutable_node(g->node_size() - 1)->set_input(1, "reversed");
  EXPECT_EQ(count(b, OpKind::kTimeReverse), 1u);
  check_against_f64(b.proto);
}

}  // namespace
}  // namespace rnnp::testing_support
