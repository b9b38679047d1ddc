// masked_loops_test.cpp -- loops over steps some of which a mask passes over, as Keras writes Masking: the states stay as they are.
// A cell behind such a mask is a layer that takes it, in either direction. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "compiler/onnx/model_file.h"
#include "loop_models.h"

namespace rnnp::testing_support {
namespace {

// Where(mask, fresh, state), Where(not mask, state, fresh), or the sum of both times 0 or 1.
enum class Form : uint8_t { kWhere, kHeld, kSum };
// What a step gives: h; what the mask leaves of it; a state of its own that holds h as well, or that starts elsewhere; what the
// mask leaves, kept as a state that nobody reads.
enum class Given : uint8_t { kState, kZeros, kOwnState, kOtherStart, kUnreadState };
// Which way the loop goes.
enum class Way : uint8_t { kForwards, kScanBack, kTurned, kOnlyXTurned };
// The mask: an input, made of one before the loop or by each step of it, or the same for all rows.
enum class From : uint8_t { kInput, kOutside, kInside, kOfAllRows };

struct Masked {
  std::string cell = "rnn";
  Form form = Form::kWhere;
  Given given = Given::kState;
  Way way = Way::kForwards;
  From from = From::kOutside;
  bool starts = false;  // from inputs

  std::vector<std::string> states() const {
    return cell == "lstm" ? std::vector<std::string>{"h", "c"} : std::vector<std::string>{"h"};
  }
};

void choose(OnnxBuilder *b, Form form, const std::string &fresh, const std::string &kept, const std::string &to) {
  if (form == Form::kWhere) b->node("Where", {"on", fresh, kept}, {to});
  if (form == Form::kHeld) b->node("Where", {"off", kept, fresh}, {to});
  if (form != Form::kSum) return;
  b->node("Mul", {"on as float", fresh}, {to + " fresh"});
  b->node("Mul", {kept, "off as float"}, {to + " kept"});
  b->node("Add", {to + " kept", to + " fresh"}, {to});
}

onnx::GraphProto body_of(const Masked &m) {
  OnnxBuilder body;
  const auto real = static_cast<int64_t>(onnx::TensorProto::FLOAT);
  onnx::GraphProto *g = body.proto.mutable_graph();
  for (const std::string &state : m.states()) add_dims(g->add_input(), state, onnx::TensorProto::FLOAT, {-1, kHidden});
  const bool own = m.given != Given::kState && m.given != Given::kZeros;
  if (own) add_dims(g->add_input(), "kept y", onnx::TensorProto::FLOAT, {-1, kHidden});
  add_dims(g->add_input(), "x", onnx::TensorProto::FLOAT, {-1, kIn});
  const bool inside = m.from == From::kInside;
  add_dims(g->add_input(), inside ? "m" : "on", inside ? onnx::TensorProto::FLOAT : onnx::TensorProto::BOOL,
           m.from == From::kOfAllRows ? std::vector<int64_t>{} : std::vector<int64_t>{-1, 1});
  body.constant("zero", {}, {0.0f});
  if (inside) body.node("Greater", {"m", "zero"}, {"on"});
  body.node("Not", {"on"}, {"off"});
  body.node("Cast", {"on"}, {"on as float"}).with("to", real);
  body.node("Cast", {"off"}, {"off as float"}).with("to", real);
  if (m.cell == "rnn") rnn_body(&body);
  if (m.cell == "gru") gru_body(&body, true, true);
  if (m.cell == "lstm") lstm_body(&body);
  for (const std::string &state : m.states()) {
    choose(&body, m.form, state + "_next", state, state + " after");
    g->add_output()->set_name(state + " after");
  }
  body.constant("zeros", {kHidden}, std::vector<float>(kHidden, 0.0f));
  if (m.given == Given::kZeros || m.given == Given::kUnreadState) choose(&body, m.form, "h_next", "zeros", "left");
  if (m.given == Given::kOwnState || m.given == Given::kOtherStart) choose(&body, m.form, "h_next", "kept y", "y after");
  if (own) g->add_output()->set_name(m.given == Given::kUnreadState ? "left" : "y after");
  const char *y = m.given == Given::kState                                       ? "h after"
                  : m.given == Given::kOwnState || m.given == Given::kOtherStart ? "y after"
                                                                                 : "left";
  body.node("Identity", {y}, {"y"});
  g->add_output()->set_name("y");
  return *g;
}

// 'the_scan' over the steps of X and M; a step runs where M is above 0.
OnnxBuilder masked_scan(const Masked &m) {
  OnnxBuilder b;
  const int64_t rows = 3;
  const bool bool_input = m.from == From::kInput;
  b.input("X", {"T", rows, kIn}).output("Y");
  b.input("M", m.from == From::kOfAllRows ? std::vector<Dim>{"T"} : std::vector<Dim>{"T", rows, 1},
          bool_input ? onnx::TensorProto::BOOL : onnx::TensorProto::FLOAT);
  b.constant("zero outside", {}, {0.0f});
  std::string x = "X", mask = "M";
  if (!bool_input && m.from != From::kInside) b.node("Greater", {"M", "zero outside"}, {"Mask"});
  if (!bool_input && m.from != From::kInside) mask = "Mask";
  b.constant_ints("last", {1}, {-1}).constant_ints("before all", {1}, {INT64_MIN}).constant_ints("first axis", {1}, {0});
  const auto turn = [&](std::string *name) {
    b.node("Slice", {*name, "last", "before all", "first axis", "last"}, {*name + " turned"});
    *name += " turned";
  };
  if (m.way == Way::kTurned || m.way == Way::kOnlyXTurned) turn(&x);
  if (m.way == Way::kTurned) turn(&mask);
  std::vector<std::string> in, out;
  for (const std::string &state : m.states()) {
    if (m.starts) b.input(state + "0", {rows, kHidden});
    if (!m.starts) b.constant(state + "0", {rows, kHidden}, std::vector<float>(rows * kHidden, 0.0f));
    in.push_back(state + "0");
    out.push_back(state + "N");
    b.output(state + "N");
  }
  if (m.given != Given::kState && m.given != Given::kZeros) {
    b.constant("y0", {rows, kHidden}, std::vector<float>(rows * kHidden, m.given == Given::kOtherStart ? 0.25f : 0.0f));
    in.emplace_back("y0");
    out.emplace_back("yN");
    b.output("yN");
  }
  in.insert(in.end(), {x, mask});
  std::string y = "Y";
  if (m.way == Way::kTurned || m.way == Way::kOnlyXTurned) y = "Y turned";
  out.push_back(y);
  NodeBuilder scan = b.node("Scan", in, out, "the_scan").with("num_scan_inputs", 2).with("body", body_of(m));
  if (m.way == Way::kScanBack)
    scan.with("scan_input_directions", std::vector<int64_t>{1, 1}).with("scan_output_directions", std::vector<int64_t>{1});
  if (y != "Y") b.node("Slice", {y, "last", "before all", "first axis", "last"}, {"Y"});
  return b;
}

// All rows run some steps and pass over others; one row passes over all of them.
compiler::Arrays masks(const Masked &m, int64_t steps = 7) {
  compiler::Array a;
  const int64_t rows = m.from == From::kOfAllRows ? 1 : 3;
  a.shape = m.from == From::kOfAllRows ? std::vector<int64_t>{steps} : std::vector<int64_t>{steps, rows, 1};
  for (int64_t t = 0; t < steps; ++t) {
    for (int64_t row = 0; row < rows; ++row) a.f32.push_back(row != 1 && (t * 5 + row) % 3 != 0 ? 1.0f : 0.0f);
  }
  return {{"M", a}};
}

void expect_layer(const Masked &m) {
  const OnnxBuilder b = masked_scan(m);
  const compiler::Graph graph = compiler::compile_graph(*compiler::check_model(b.proto), {});
  size_t layers = 0;
  for (const compiler::Node &node : graph.nodes) {
    EXPECT_NE(node.op, OpKind::kStateRead);
    if (node.op != OpKind::kRecurrent) continue;
    EXPECT_TRUE(std::get<compiler::Recurrent>(node.attr).masked);
    EXPECT_EQ(std::get<compiler::Recurrent>(node.attr).directions[0].reverse, m.way != Way::kForwards);
    ++layers;
  }
  EXPECT_EQ(layers, 1u);
  check_against_f64(b.proto, {}, masks(m));
}

TEST(MaskedLoops, ACellBehindAMaskIsALayer) {
  for (const char *cell : {"rnn", "gru", "lstm"}) {
    for (const Form form : {Form::kWhere, Form::kHeld, Form::kSum}) {
      for (const Given given : {Given::kState, Given::kZeros, Given::kOwnState, Given::kUnreadState}) {
        SCOPED_TRACE(::testing::Message() << cell << " " << int(form) << " " << int(given));
        Masked m;
        m.cell = cell;
        m.form = form;
        m.given = given;
        expect_layer(m);
      }
    }
  }
}

TEST(MaskedLoops, InEitherDirection) {
  for (const char *cell : {"rnn", "lstm"}) {
    for (const Way way : {Way::kScanBack, Way::kTurned, Way::kOnlyXTurned}) {
      for (const From from : {From::kInput, From::kOutside, From::kInside}) {
        for (const Given given : {Given::kState, Given::kZeros, Given::kOwnState}) {
          SCOPED_TRACE(::testing::Message() << cell << " " << int(way) << " " << int(from) << " " << int(given));
          Masked m;
          m.cell = cell;
          m.way = way;
          m.from = from;
          m.given = given;
          expect_layer(m);
        }
      }
    }
  }
}

TEST(MaskedLoops, FromStatesThatARunBrings) {
  for (const char *cell : {"gru", "lstm"}) {
    for (const From from : {From::kInput, From::kOutside, From::kInside, From::kOfAllRows}) {
      SCOPED_TRACE(::testing::Message() << cell << " " << int(from));
      Masked m;
      m.cell = cell;
      m.from = from;
      m.starts = true;
      m.given = Given::kZeros;
      expect_layer(m);
    }
  }
}

// Such a state differs from h until the first step that runs.
TEST(MaskedLoops, AnOutputThatStartsElsewhereIsNoCopyOfH) {
  Masked m;
  m.given = Given::kOtherStart;
  const OnnxBuilder b = masked_scan(m);
  EXPECT_GE(count(b, OpKind::kStateRead), 1u);
  for (const int64_t steps : {1, 2, 9}) check_against_f64(b.proto, {steps, 3});
}

// The fresh h of a step that the mask passes over is none that a layer gives.
TEST(MaskedLoops, WhoseFreshStateIsReadElsewhereRunStepByStep) {
  for (const char *reader : {"the output", "a Mul", "the other branch", "a choice by another mask"}) {
    SCOPED_TRACE(reader);
    const std::string kind = reader;
    OnnxBuilder b = masked_scan({});
    onnx::GraphProto *g = loop_body(&b, "the_scan");
    onnx::NodeProto *y = node_named(g, "y");
    if (kind == "the output") y->set_input(0, "h_next");
    if (kind == "a Mul") {
      y->set_op_type("Mul");
      y->set_input(0, "h_next");
      y->add_input("zero");
    }
    if (kind == "the other branch" || kind == "a choice by another mask") {
      y->set_op_type("Where");
      y->set_input(0, kind == "the other branch" ? "off" : "wide");
      y->add_input("h_next");
      y->add_input("zero");
    }
    if (kind == "a choice by another mask") {
      onnx::NodeProto wide = *y;
      wide.set_op_type("Greater");
      wide.clear_input();
      wide.add_input("h after");
      wide.add_input("zero");
      wide.set_output(0, "wide");
      const onnx::NodeProto last = *y;
      *y = wide;
      *g->add_node() = last;
    }
    EXPECT_EQ(count(b, OpKind::kRecurrent), 0u);
    EXPECT_EQ(count(b, OpKind::kStateRead), 1u);
    check_against_f64(b.proto, {}, masks({}));
  }
}

// One mask for h and another for c: no layer has two.
TEST(MaskedLoops, WithTwoMasksRunStepByStep) {
  Masked m;
  m.cell = "lstm";
  OnnxBuilder b = masked_scan(m);
  node_named(loop_body(&b, "the_scan"), "c after")->set_input(0, "off");
  EXPECT_EQ(count(b, OpKind::kRecurrent), 0u);
  EXPECT_EQ(count(b, OpKind::kStateRead), 2u);
  check_against_f64(b.proto, {}, masks(m));
}

TEST(MaskedLoops, WithAValueForEachUnitAreRefused) {
  Masked m;
  m.from = From::kInside;
  OnnxBuilder b = masked_scan(m);
  b.proto.mutable_graph()->mutable_input(1)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(2)->set_dim_value(
      kHidden);
  const std::string text = refusal_of(b.proto);
  EXPECT_NE(text.find("a value for each unit; accepted: one for each row of a step"), std::string::npos) << text;
}

}  // namespace
}  // namespace rnnp::testing_support
