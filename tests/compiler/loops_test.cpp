// loops_test.cpp -- Loop and Scan over the steps of a sequence: cells become layers, other bodies run at every step.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "loop_models.h"

namespace rnnp::testing_support {
namespace {

TEST(Loops, AGruCellIsALayerHoweverItIsWritten) {
  for (const bool reset_after : {true, false}) {
    for (const bool keep_is_z : {true, false}) {
      SCOPED_TRACE(::testing::Message() << reset_after << keep_is_z);
      OnnxBuilder body;
      gru_body(&body, reset_after, keep_is_z);
      const OnnxBuilder b = with_loop(loop_graph(body));
      EXPECT_EQ(count(b, OpKind::kRecurrent), 1u);
      EXPECT_EQ(count(b, OpKind::kStateRead), 0u);
      check_against_f64(b.proto);
    }
  }
}

TEST(Loops, AnRnnCellIsALayer) {
  OnnxBuilder body;
  rnn_body(&body);
  for (const OnnxBuilder &b : {with_loop(loop_graph(body)), with_scan(scan_graph(body))}) {
    EXPECT_EQ(count(b, OpKind::kRecurrent), 1u);
    check_against_f64(b.proto);
  }
}

TEST(Loops, ABiasOfOneNumberIsForAllUnits) {
  for (const int hidden : {kHidden, 1}) {
    for (const bool by_gemm : {false, true}) {
      for (const size_t rank : {0u, 1u, 2u}) {
        SCOPED_TRACE(::testing::Message() << hidden << by_gemm << rank);
        OnnxBuilder body;
        body.random("W", {kIn, hidden}).random("R", {hidden, hidden});
        body.constant("B", std::vector<int64_t>(rank, 1), {0.75f});
        body.node("MatMul", {"x", "W"}, {"xw"});
        body.node(by_gemm ? "Gemm" : "MatMul",
                  by_gemm ? std::vector<std::string>{"h", "R", "B"} : std::vector<std::string>{"h", "R"}, {"hr"});
        body.node("Add", {"xw", "hr"}, {"sum"});
        body.node("Add", {"sum", "B"}, {"pre"});
        body.node("Tanh", {"pre"}, {"h_next"});
        const OnnxBuilder b = with_scan(scan_graph(body, hidden), hidden);
        EXPECT_EQ(count(b, OpKind::kRecurrent), 1u);
        check_against_f64(b.proto);
      }
    }
  }
}

TEST(Loops, ACellWithAMatrixForEachGateIsALayer) {
  for (const char *kind : {"rnn", "after", "before", "after, x from the last gate"}) {
    SCOPED_TRACE(kind);
    OnnxBuilder body;
    body_by_gates(&body, kind);
    for (const OnnxBuilder &b : {with_loop(loop_graph(body)), with_scan(scan_graph(body))}) {
      EXPECT_EQ(count(b, OpKind::kRecurrent), 1u);
      check_against_f64(b.proto);
    }
  }
}

TEST(Loops, ACellWithOneMatrixForXAndHIsALayer) {
  for (const bool gru : {false, true}) {
    for (const bool x_first : {false, true}) {
      SCOPED_TRACE(::testing::Message() << gru << x_first);
      OnnxBuilder body;
      joint_body(&body, gru, x_first);
      for (const OnnxBuilder &b : {with_loop(loop_graph(body)), with_scan(scan_graph(body))}) {
        EXPECT_EQ(count(b, OpKind::kRecurrent), 1u);
        check_against_f64(b.proto);
      }
    }
  }
}

void go_backwards(onnx::NodeProto *scan) {
  NodeBuilder(scan).with("scan_input_directions", std::vector<int64_t>{1}).with("scan_output_directions", std::vector<int64_t>{1});
}

TEST(Loops, AScanFromTheLastStepIsALayerOfDirectionReverseOrALoopOverTurnedSteps) {
  for (const bool layer : {true, false}) {
    OnnxBuilder body;
    layer ? rnn_body(&body) : decay_body(&body);
    OnnxBuilder b = with_scan(scan_graph(body));
    go_backwards(b.proto.mutable_graph()->mutable_node(b.proto.graph().node_size() - 1));
    EXPECT_EQ(count(b, OpKind::kRecurrent), layer ? 1u : 0u);
    EXPECT_EQ(count(b, OpKind::kTimeReverse), layer ? 0u : 2u);
    for (const int64_t steps : {1, 2, 9}) check_against_f64(b.proto, {steps, 3});
  }
}

// Between layers that look ahead: each loop is as short as its own recurrence, and all else runs over whole sequences.
TEST(Loops, LinearRecurrencesInBothDirectionsLieBetweenBidirectionalLayers) {
  OnnxBuilder b;
  b.input("X", {"T", 3, kIn}).output("Y").output("H0").output("H1").output("G");
  b.constant("start", {3, kHidden}, std::vector<float>(size_t{3} * kHidden, 0.0f));
  b.random("W", {2, 3 * kHidden, kIn}).random("R", {2, 3 * kHidden, kHidden});
  b.random("V", {2, 3 * kHidden, kHidden}).random("Q", {2, 3 * kHidden, kHidden}).random("P", {2 * kHidden, kIn});
  b.constant_ints("flat", {3}, {0, 0, 2 * kHidden}).constant_ints("width", {3}, {0, 0, -1}).constant_ints("time", {}, {0});
  b.node("GRU", {"X", "W", "R"}, {"first", ""}, "gru0").with("hidden_size", kHidden).with("direction", "bidirectional");
  b.node("Transpose", {"first"}, {"sides"}).with("perm", std::vector<int64_t>{0, 2, 1, 3});
  b.node("Reshape", {"sides", "flat"}, {"joined"});
  b.node("MatMul", {"joined", "P"}, {"narrow"});
  OnnxBuilder body;
  decay_body(&body);
  const onnx::GraphProto step = scan_graph(body);
  for (const std::string at : {"0", "1"}) {
    b.node("Scan", {"start", "narrow"}, {"H" + at, "Y" + at}, "scan" + at).with("num_scan_inputs", 1).with("body", step);
    if (at == "1") go_backwards(b.proto.mutable_graph()->mutable_node(b.proto.graph().node_size() - 1));
  }
  b.node("Add", {"Y0", "Y1"}, {"sum"});
  b.node("GRU", {"sum", "V", "Q"}, {"last", "G"}, "gru1").with("hidden_size", kHidden).with("direction", "bidirectional");
  b.node("CumSum", {"last", "time"}, {"Y"}).with("reverse", 1);
  EXPECT_EQ(count(b, OpKind::kRecurrent), 2u);
  EXPECT_EQ(count(b, OpKind::kStateRead), 3u);
  for (const int64_t steps : {1, 2, 9}) check_against_f64(b.proto, {steps, 3});
  const compiler::Graph graph = compiler::compile_model(*compiler::check_model(b.proto), "generic").graph;
  EXPECT_FALSE(graph.causal);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].op != OpKind::kStateRead) continue;
    const uint32_t loop = std::get<compiler::StateRef>(graph.nodes[i].attr).loop_nodes;
    ASSERT_GE(loop, 2u);
    EXPECT_EQ(graph.nodes[i + loop - 1].op, OpKind::kStateWrite);
    for (size_t k = i; k < i + loop; ++k) {
      EXPECT_NE(graph.nodes[k].op, OpKind::kRecurrent);
      EXPECT_NE(graph.nodes[k].op, OpKind::kDense) << "it reads no state, so the loop need not hold it";
    }
  }
}

TEST(Loops, AnyOtherBodyRunsAtEveryStepAndKeepsItsState) {
  OnnxBuilder body;
  decay_body(&body);
  for (const OnnxBuilder &b : {with_loop(loop_graph(body)), with_scan(scan_graph(body))}) {
    EXPECT_EQ(count(b, OpKind::kRecurrent), 0u);
    EXPECT_EQ(count(b, OpKind::kStateRead), 1u);
    check_against_f64(b.proto);
  }
}

// The constant `name` becomes these numbers.
void set_constant(OnnxBuilder *b, const std::string &name, const std::vector<int64_t> &shape, const std::vector<float> &numbers) {
  auto *all = b->proto.mutable_graph()->mutable_initializer();
  all->erase(std::remove_if(all->begin(), all->end(), [&](const onnx::TensorProto &t) { return t.name() == name; }), all->end());
  b->constant(name, shape, numbers);
}

std::vector<float> row_of_state(int64_t rows) {
  std::vector<float> out;
  for (int64_t i = 0; i < rows * kHidden; ++i) out.push_back(0.3f * static_cast<float>(i % kHidden) - 0.7f);
  return out;
}

// A learned start. A state that is kept begins with it after a reset, one of a model that looks ahead in every run.
TEST(Loops, TheStateMayStartFromAConstant) {
  for (const Body write : {decay_body, masked_body, rnn_body}) {
    for (const bool backwards : {false, true}) {
      for (const bool one_number : {false, true}) {
        SCOPED_TRACE(::testing::Message() << (write == rnn_body) << backwards << one_number);
        OnnxBuilder body;
        write(&body);
        OnnxBuilder b = with_loop(loop_graph(body), true, backwards);
        one_number ? set_constant(&b, "nothing", {}, {0.6f}) : set_constant(&b, "nothing", {1, kHidden}, row_of_state(1));
        check_against_f64(b.proto);
      }
    }
    OnnxBuilder body;
    write(&body);
    OnnxBuilder b = with_scan(scan_graph(body));
    set_constant(&b, "start", {3, kHidden}, row_of_state(3));
    for (const int64_t steps : {1, 2, 9}) check_against_f64(b.proto, {steps, 3});
    go_backwards(b.proto.mutable_graph()->mutable_node(b.proto.graph().node_size() - 1));
    for (const int64_t steps : {1, 2, 9}) check_against_f64(b.proto, {steps, 3});
  }
}

TEST(Loops, WhatTheBodyDoesNotReadIsNoState) {
  OnnxBuilder body;
  body.random("W", {kIn, kHidden});
  body.node("MatMul", {"x", "W"}, {"xw"});
  body.node("Softmax", {"xw"}, {"h_next"}).with("axis", -1);
  for (const bool backwards : {false, true}) {
    OnnxBuilder scan = with_scan(scan_graph(body));
    if (backwards) go_backwards(scan.proto.mutable_graph()->mutable_node(0));
    for (const OnnxBuilder &b : {with_loop(loop_graph(body), true, backwards), scan}) {
      EXPECT_EQ(count(b, OpKind::kStateRead), 0u);
      check_against_f64(b.proto);
    }
  }
}

TEST(Loops, OneOverTurnedStepsRunsWholeSequences) {
  for (const Body write : {decay_body, masked_body, rnn_body}) {
    OnnxBuilder body;
    write(&body);
    OnnxBuilder b = with_loop(loop_graph(body), true, true);
    EXPECT_EQ(count(b, OpKind::kStateRead), write == decay_body ? 1u : 0u);
    check_against_f64(b.proto);
    node_named(b.proto.mutable_graph(), "last_t")->set_input(0, "steps");
    auto *steps = b.proto.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(1);
    steps->clear_dim_value();
    steps->set_dim_param("T");
    EXPECT_EQ(count(b, OpKind::kStateRead), write == decay_body ? 1u : 0u);
    for (const int64_t length : {1, 2, 9}) check_against_f64(b.proto, {length, 3});
  }
}

// It begins where a layer ends. Its trips are the size of an axis.
TEST(Loops, ASizeThatLetsOneBeWrittenOutIsProposed) {
  OnnxBuilder body;
  decay_body(&body);
  OnnxBuilder b = with_loop(loop_graph(body), true, true);
  onnx::GraphProto *g = b.proto.mutable_graph();
  b.random("W", {1, 3 * kHidden, kIn}).random("R", {1, 3 * kHidden, kHidden});
  b.constant_ints("direction", {1}, {0});
  b.node("GRU", {"all", "W", "R"}, {"", "end"}, "before").with("hidden_size", kHidden);
  b.node("Squeeze", {"end", "direction"}, {"begin"});
  for (int i = g->node_size() - 1; i > 1; --i) {  // in front of the loop, behind what makes "all"
    if (g->node(i - 1).output(0) == "all") continue;
    if (g->node(i).op_type() == "GRU" || g->node(i).op_type() == "Squeeze") g->mutable_node()->SwapElements(i, i - 1);
  }
  node_named(g, "last_t")->set_input(0, "steps");
  node_named(g, "last_t")->set_input(3, "begin");
  node_named(g, "sizes")->set_input(0, "forwards");
  EXPECT_EQ(count(b, OpKind::kStateRead), 0u);
  check_against_f64(b.proto);
  g->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(1)->set_dim_param("T");
  const std::string text = refusal_of(b.proto);
  EXPECT_NE(text.find("the Loop carries a state that starts from 'begin'"), std::string::npos) << text;
  EXPECT_NE(text.find("try: --dim T=SIZE"), std::string::npos) << text;
}

// Nothing ends a loop that has no condition, whatever its body makes of the one that it is given.
TEST(Loops, OneWithoutAConditionRunsAllItsTrips) {
  OnnxBuilder body;
  gru_body(&body, true, true);
  onnx::GraphProto g = loop_graph(body);
  onnx::NodeProto *same = g.add_node();
  same->set_op_type("Identity");
  same->add_input(g.input(1).name());
  same->add_output("as before");
  g.mutable_output(0)->set_name("as before");
  OnnxBuilder b = with_loop(g);
  node_named(b.proto.mutable_graph(), "last_t")->set_input(1, "");
  EXPECT_EQ(count(b, OpKind::kRecurrent), 1u);
  check_against_f64(b.proto);
}

TEST(Loops, WeightsThatAreCarriedAreTheLayers) {
  OnnxBuilder gates, rnn, gru, decay;
  body_by_gates(&gates, "after");
  gru_body(&gru, true, false);
  decay_body(&decay);
  rnn.random("W", {kIn, kHidden}).random("R", {kHidden, kHidden}).constant("none", {}, {0.0f});
  rnn.node("Gemm", {"x", "W", "none"}, {"xw"}).with("beta", 0.0);
  rnn.node("Gemm", {"h", "R", "none"}, {"hr"}).with("beta", 0.0);
  rnn.node("Add", {"xw", "hr"}, {"sum"});
  rnn.node("Tanh", {"sum"}, {"h_next"});
  for (const OnnxBuilder *body : {&gates, &rnn, &gru, &decay}) {
    const OnnxBuilder b = with_carried(*body);
    EXPECT_EQ(count(b, OpKind::kRecurrent), body == &decay ? 0u : 1u);
    EXPECT_EQ(count(b, OpKind::kStateRead), body == &decay ? 1u : 0u);
    check_against_f64(b.proto);
  }
}

TEST(Loops, ProductsWithVectorsAndWithColumnsAreThoseOfRows) {
  for (const bool vectors : {false, true}) {
    OnnxBuilder body;
    equinox_body(&body, vectors);
    OnnxBuilder b = with_carried(body, vectors);
    for (const bool learned_start : {false, true}) {
      EXPECT_EQ(count(b, OpKind::kRecurrent), 1u) << vectors << learned_start;
      EXPECT_EQ(count(b, OpKind::kCopy), 0u) << vectors << learned_start;
      check_against_f64(b.proto);
      b.random("learned", vectors ? std::vector<int64_t>{kHidden} : std::vector<int64_t>{3, kHidden});
      for (std::string &name : *node_named(b.proto.mutable_graph(), "unused W")->mutable_input()) {
        if (name == "start") name = "learned";
      }
    }
  }
}

// A loop that reads no sequence and computes with the number of the step: three trips, or as many as a condition lets pass, which
// compares `counter` with 4, or with 3.5.
OnnxBuilder loop_of_numbers(const std::string &counter) {
  const bool by_condition = !counter.empty();
  OnnxBuilder body;
  onnx::GraphProto *g = body.proto.mutable_graph();
  for (const char *name : {"i", "go", "k", "v"}) {
    auto *info = g->add_input();
    info->set_name(name);
    info->mutable_type()->mutable_tensor_type()->set_elem_type(name[0] == 'v'   ? onnx::TensorProto::FLOAT
                                                               : name[0] == 'g' ? onnx::TensorProto::BOOL
                                                                                : onnx::TensorProto::INT64);
  }
  body.constant_ints("one", {}, {1}).constant_ints("four", {}, {4}).constant("third", {}, {0.3f});
  body.node("Add", {"k", "one"}, {"k_next"});
  body.constant("three and a half", {}, {3.5f});
  body.node("Cast", {"k_next"}, {"k_real"}).with("to", static_cast<int64_t>(onnx::TensorProto::FLOAT));
  body.node("Less", {by_condition ? counter : "k", counter == "k_real" ? "three and a half" : "four"}, {"below"});
  body.node("Cast", {"k"}, {"number"}).with("to", static_cast<int64_t>(onnx::TensorProto::FLOAT));
  body.node("Mul", {"v", "number"}, {"times"});
  body.node("Add", {"times", "third"}, {"sum"});
  body.node("Tanh", {"sum"}, {"v_next"});
  for (const char *name : {by_condition ? "below" : "go", "k_next", "v_next", "times"}) g->add_output()->set_name(name);
  OnnxBuilder b;
  b.input("X", {"N", "T", kIn}).output("V").output("Counted");
  b.constant_ints("count", {}, {by_condition ? INT64_MAX : 3}).constant_ints("zero", {}, {0}).constant_ints("nine", {}, {9});
  b.node("Less", {"zero", "nine"}, {"begins"});
  b.node("Loop", {"count", "begins", "zero", "X"}, {"K", "V", "Each"}, "the_loop").with("body", *g);
  b.node("Cast", {"K"}, {"trips"}).with("to", static_cast<int64_t>(onnx::TensorProto::FLOAT));
  b.node("Mul", {"V", "trips"}, {"Counted"});
  return b;
}

TEST(Loops, OneThatReadsNoSequenceIsWrittenOut) {
  const std::pair<const char *, size_t> kinds[] = {{"", 3}, {"k_next", 4}, {"k", 5}, {"k_real", 4}};
  for (const auto &[counter, trips] : kinds) {
    OnnxBuilder b = loop_of_numbers(counter);
    EXPECT_EQ(count(b, OpKind::kStateRead), 0u);
    EXPECT_EQ(count(b, OpKind::kUnary), trips);
    check_against_f64(b.proto);
    b.constant_ints("minus", {}, {-1});
    node_named(b.proto.mutable_graph(), "begins")->set_input(1, "minus");
    EXPECT_NE(refusal_of(b.proto).find("'the_loop' (Loop): it is a loop"), std::string::npos) << refusal_of(b.proto);
  }
}

// Layers one behind the other, their weights side by side.
TEST(Loops, OneOverConstantsIsWrittenOut) {
  OnnxBuilder body;
  body.node("MatMul", {"h", "x"}, {"sum"});
  body.node("Tanh", {"sum"}, {"h_next"});
  onnx::GraphProto g = scan_graph(body);
  g.mutable_input(1)->mutable_type()->mutable_tensor_type()->clear_shape();
  g.mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  OnnxBuilder b;
  b.input("X", {"N", "T", kIn}).output("H").random("stack", {4, kIn, kIn});
  b.node("Scan", {"X", "stack"}, {"H", "Y"}, "the_scan").with("num_scan_inputs", 1).with("body", g);
  EXPECT_EQ(count(b, OpKind::kDense), 4u);
  check_against_f64(b.proto);
}

// The steps of a sequence beside constants with a number for each: they are alike no more.
TEST(Loops, OneThatReadsConstantsBesideASequenceIsWrittenOut) {
  OnnxBuilder body;
  decay_body(&body);
  OnnxBuilder more;
  more.node("Gather", {"factors", "i"}, {"factor"});
  more.node("Mul", {"h_next", "factor"}, {"h_scaled"});
  OnnxBuilder b = with_carried(body);
  b.random("factors", {7});
  for (onnx::NodeProto &node : *b.proto.mutable_graph()->mutable_node()) {
    onnx::GraphProto *g = node.mutable_attribute(0)->mutable_g();
    node_named(g, "h cast")->set_input(0, "h_scaled");
    std::vector<onnx::NodeProto> behind(g->node().end() - 2, g->node().end());
    g->mutable_node()->DeleteSubrange(g->node_size() - 2, 2);
    for (const onnx::NodeProto &each : more.proto.graph().node()) *g->add_node() = each;
    for (const onnx::NodeProto &each : behind) *g->add_node() = each;
  }
  EXPECT_EQ(count(b, OpKind::kStateRead), 0u);
  check_against_f64(b.proto);
}

// A layer with another matrix in the place of the candidate's is none.
TEST(Loops, WhatOnlyLooksLikeACellIsNone) {
  OnnxBuilder body;
  gru_body(&body, true, true);
  body.proto.mutable_graph()->mutable_node(body.proto.graph().node_size() - 1)->set_input(1, "n");
  const OnnxBuilder b = with_loop(loop_graph(body));
  EXPECT_EQ(count(b, OpKind::kRecurrent), 0u);
  check_against_f64(b.proto);
}

// As tf2onnx 1.16 writes it: no number of trips, and both conditions compare as float.
TEST(Loops, ALoopWhoseConditionAloneCountsTheStepsIsOneOverThem) {
  for (const bool layer : {true, false}) {
    OnnxBuilder body;
    layer ? rnn_body(&body) : decay_body(&body);
    onnx::GraphProto inside = loop_graph(body);
    onnx::NodeProto *less = node_named(&inside, "go_on");
    onnx::GraphProto before, after;
    OnnxBuilder casts;
    casts.node("Cast", {"t_next"}, {"t_real"}).with("to", static_cast<int64_t>(onnx::TensorProto::FLOAT));
    casts.node("Cast", {"steps32"}, {"steps_real"}).with("to", static_cast<int64_t>(onnx::TensorProto::FLOAT));
    less->set_input(0, "t_real");
    less->set_input(1, "steps_real");
    const onnx::NodeProto last = *less;
    *less = casts.proto.graph().node(0);
    *inside.add_node() = casts.proto.graph().node(1);
    *inside.add_node() = last;
    OnnxBuilder b = with_loop(inside);
    onnx::GraphProto *g = b.proto.mutable_graph();
    onnx::NodeProto *loop = node_named(g, "last_t");
    loop->set_input(0, "");
    loop->set_input(1, "begin");
    const onnx::NodeProto moved = *loop, transposed = g->node(g->node_size() - 1);
    g->mutable_node()->RemoveLast();
    g->mutable_node()->RemoveLast();
    b.node("Less", {"zero32", "steps32"}, {"begin"});
    *g->add_node() = moved;
    *g->add_node() = transposed;
    EXPECT_EQ(count(b, layer ? OpKind::kRecurrent : OpKind::kStateRead), 1u);
    check_against_f64(b.proto);
  }
}

// A number of steps that the file fixes is a constant of the body.
TEST(Loops, TheStepsThatAConditionCountsMayBeAConstantOfTheBody) {
  OnnxBuilder body;
  rnn_body(&body);
  body.constant_ints("seven", {}, {7}, onnx::TensorProto::INT32);
  onnx::GraphProto inside = loop_graph(body);
  node_named(&inside, "go_on")->set_input(1, "seven");
  OnnxBuilder b = with_loop(inside);
  auto *steps = b.proto.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(1);
  EXPECT_NE(refusal_of(b.proto).find("7 trips that is not the number of steps"), std::string::npos) << refusal_of(b.proto);
  steps->clear_dim_param();
  steps->set_dim_value(7);
  EXPECT_EQ(count(b, OpKind::kRecurrent), 1u);
  check_against_f64(b.proto);
}

}  // namespace
}  // namespace rnnp::testing_support
