// specialise_test.cpp -- If with a condition that folds, inputs made constants, dimensions given sizes.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "compiler/onnx/problem.h"
#include "compiler/onnx/specialise.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace specialise_test {

using compiler::Specialisation;

constexpr int kHidden = 6;

compiler::Tensor number(double v) {
  compiler::Tensor t;
  t.data = {v};
  return t;
}

// One output "r", made from names of the outer graph.
OnnxBuilder branch(const std::string &op, const std::vector<std::string> &in, const std::string &result = "r") {
  OnnxBuilder b;
  b.node(op, in, {result});
  b.output(result);
  return b;
}

// X [N, 5] -> If(sr == 16) Tanh(X) else a branch with an If and an LSTM of its own.
OnnxBuilder by_rate() {
  OnnxBuilder b;
  b.input("X", {"N", 5}).input("sr", {}, onnx::TensorProto::INT64).output("Y");
  b.constant_ints("sixteen", {}, {16}).constant_ints("zero", {1}, {0}).constant_ints("two", {}, {2});
  b.node("Equal", {"sr", "sixteen"}, {"is16"});
  OnnxBuilder other;
  other.weights("", 4, 1, 5, kHidden);
  other.node("Shape", {"X"}, {"s"});
  other.node("Size", {"s"}, {"rank"});
  other.node("Equal", {"rank", "two"}, {"flat"});
  other.node("If", {"flat"}, {"x3"})
      .with("then_branch", branch("Unsqueeze", {"X", "zero"}).proto.graph())
      .with("else_branch", branch("Identity", {"X"}).proto.graph());
  other.node("LSTM", {"x3", "W", "R", "B"}, {"y", "r"}).with("hidden_size", kHidden);
  other.node("Squeeze", {"r", "zero"}, {"h"});
  other.output("h");
  b.node("If", {"is16"}, {"Y"}, "rate")
      .with("then_branch", branch("Tanh", {"X"}).proto.graph())
      .with("else_branch", other.proto.graph());
  return b;
}

TEST(Specialise, IfTakesTheBranchOfASetInput) {
  for (const double rate : {16.0, 8.0}) {
    SCOPED_TRACE(rate);
    Specialisation wanted;
    wanted.values["sr"] = number(rate);
    check_against_f64(by_rate().proto, {}, {}, 1e-5, wanted);
    const auto model = compiler::check_model(by_rate().proto);
    specialise(model.get(), wanted);
    EXPECT_EQ(compile_model(*model, "generic").graph.outputs[0].dims.back(), rate == 16.0 ? 5 : kHidden);
  }
}

// Of three results: a layer or the input itself, a constant or a number of the branch's own, and one that nobody reads.
OnnxBuilder by_size() {
  OnnxBuilder b;
  b.input("X", {"T", "N", kHidden}).input("gain", {1}).constant("one", {}, {1.0f}).output("Y").output("Z");
  b.node("Greater", {"gain", "one"}, {"is_loud"});
  OnnxBuilder layer, other;
  layer.weights("", 4, 1, kHidden, kHidden).constant_ints("axis", {1}, {1}).constant("two", {1}, {2.0f});
  layer.node("LSTM", {"X", "W", "R", "B"}, {"all"}).with("hidden_size", kHidden);
  layer.node("Squeeze", {"all", "axis"}, {"r"});
  layer.node("Identity", {"X"}, {"unread"});
  layer.output("r").output("two").output("unread");
  other.node("Mul", {"X", "gain"}, {"r"});
  other.node("Neg", {"gain"}, {"n"});
  other.node("Identity", {"X"}, {"unread"});
  other.output("r").output("n").output("unread");
  b.node("If", {"is_loud"}, {"r", "Z", ""}, "choice")
      .with("then_branch", layer.proto.graph())
      .with("else_branch", other.proto.graph());
  b.node("Tanh", {"r"}, {"Y"});
  return b;
}

TEST(Specialise, IfAtRunTimeChoosesBetweenTheResultsOfBothBranches) {
  for (const float gain : {0.5f, 1.0f, 1.5f, -3.0f}) {
    SCOPED_TRACE(gain);
    compiler::Array given;
    given.shape = {1};
    given.f32 = {gain};
    check_against_f64(by_size().proto, {5, 2}, {{"gain", given}});
  }
}

TEST(Specialise, IfAtRunTimeInsideAnotherChoosesToo) {
  const auto choice = [](const char *condition, const OnnxBuilder &then, const OnnxBuilder &otherwise) {
    OnnxBuilder b;
    b.node("If", {condition}, {"r"}).with("then_branch", then.proto.graph()).with("else_branch", otherwise.proto.graph());
    b.output("r");
    return b;
  };
  OnnxBuilder b;
  b.input("X", {"N", 5}).input("p", {}, onnx::TensorProto::BOOL).input("q", {}, onnx::TensorProto::BOOL).output("Y");
  const OnnxBuilder inner = choice("q", branch("Tanh", {"X"}), branch("Neg", {"X"}));
  b.node("If", {"p"}, {"Y"}).with("then_branch", inner.proto.graph()).with("else_branch", branch("Abs", {"X"}).proto.graph());
  check_against_f64(b.proto, {24, 2});  // random conditions at each step
}

TEST(Specialise, IfAtRunTimeIsRefusedByName) {
  EXPECT_NE(refusal_of(by_rate().proto).find("--set sr=VALUE"), std::string::npos) << refusal_of(by_rate().proto);
  const auto with = [](const char *condition, const OnnxBuilder &then, const OnnxBuilder &otherwise) {
    OnnxBuilder b;
    b.input("X", {"N", 5}).input("on", {}, onnx::TensorProto::INT64).input("yes", {}, onnx::TensorProto::BOOL).output("Y");
    b.constant_ints("rows", {2}, {0, 1}).constant("zero", {}, {0.0f});
    b.node("Greater", {"X", "zero"}, {"each"});
    b.node("If", {condition}, {"Y"}, "choice").with("then_branch", then.proto.graph()).with("else_branch", otherwise.proto.graph());
    return refusal_of(b.proto);
  };
  const OnnxBuilder tanh = branch("Tanh", {"X"}), minus = branch("Neg", {"X"});
  EXPECT_EQ(with("yes", tanh, minus), "");
  // An integer, five conditions, branches of which one is not read, results of other shapes or types.
  for (const std::string &refusal :
       {with("on", tanh, minus), with("each", tanh, minus), with("yes", tanh, branch("Det", {"X"})),
        with("yes", tanh, branch("ReduceSum", {"X", "rows"})), with("yes", tanh, branch("Greater", {"X", "zero"}))})
    EXPECT_NE(refusal.find("'choice' (If)"), std::string::npos) << refusal;
}

TEST(Specialise, NamesInsideABranchHideThoseOutside) {
  OnnxBuilder b;
  b.input("X", {"N", 4}).output("Y").output("Z");
  b.constant_ints("yes", {}, {1}, onnx::TensorProto::BOOL).constant("c", {}, {2.0f});
  OnnxBuilder inner;
  inner.constant("c", {}, {3.0f});
  inner.node("Mul", {"X", "c"}, {"m"});
  inner.output("m");
  b.node("If", {"yes"}, {"Y"}).with("then_branch", inner.proto.graph()).with("else_branch", branch("Neg", {"X"}).proto.graph());
  b.node("Mul", {"X", "c"}, {"Z"});
  check_against_f64(b.proto);
}

TEST(Specialise, HostileBranchesAreRefused) {
  const auto with = [](const onnx::GraphProto &graph) {
    OnnxBuilder b;
    b.input("X", {"N", 4}).output("Y").constant_ints("yes", {}, {1}, onnx::TensorProto::BOOL);
    b.node("If", {"yes"}, {"Y"}, "choice").with("then_branch", graph);
    return refusal_of(b.proto);
  };
  EXPECT_NE(with(branch("Neg", {"nowhere"}).proto.graph()).find("nowhere"), std::string::npos);
  OnnxBuilder late;
  late.node("Neg", {"m"}, {"r"});
  late.node("Neg", {"X"}, {"m"});
  late.output("r");
  EXPECT_NE(with(late.proto.graph()).find("made by nothing"), std::string::npos);
  EXPECT_NE(with(onnx::GraphProto()).find("0 outputs"), std::string::npos);
  OnnxBuilder unmade;
  unmade.output("r");
  EXPECT_NE(with(unmade.proto.graph()).find("made by nothing"), std::string::npos);
}

TEST(Specialise, DimensionsGetSizes) {
  OnnxBuilder b;
  b.input("X", {"B", "F"}).random("M", {7, 3}).output("Y");
  b.node("MatMul", {"X", "M"}, {"Y"});
  Specialisation wanted;
  wanted.dims["F"] = 7;
  check_against_f64(b.proto, {}, {}, 1e-5, wanted);
  wanted = {};
  wanted.shapes["X"] = {-1, 7};
  check_against_f64(b.proto, {}, {}, 1e-5, wanted);
}

std::string usage_error(const Specialisation &wanted) {
  OnnxBuilder b;
  b.input("X", {"B", "F"}).input("n", {2}, onnx::TensorProto::INT64).output("Y");
  b.node("Neg", {"X"}, {"Y"});
  const auto model = compiler::check_model(b.proto);
  try {
    specialise(model.get(), wanted);
  } catch (const compiler::UsageError &error) {
    return error.what();
  }
  return "";
}

TEST(Specialise, WhatDoesNotExistOrFitIsNamed) {
  Specialisation wanted;
  wanted.values["sr"] = number(1);
  EXPECT_EQ(usage_error(wanted), "the model has no input 'sr'; it has: 'X', 'n'");
  wanted = {};
  wanted.dims["T"] = 4;
  EXPECT_EQ(usage_error(wanted), "no input has a dimension 'T'; there are: 'B', 'F'");
  wanted = {};
  wanted.dims["F"] = 0;
  EXPECT_NE(usage_error(wanted), "");
  wanted = {};
  wanted.shapes["X"] = {1};
  EXPECT_EQ(usage_error(wanted), "shape [1] does not fit input 'X' ['B', 'F']");
  wanted = {};
  wanted.shapes["X"] = {0, 1};
  EXPECT_NE(usage_error(wanted), "");
  wanted = {};
  wanted.values["n"] = number(1.5);
  EXPECT_NE(usage_error(wanted).find("integers"), std::string::npos);
  wanted.values["n"] = number(3);
  EXPECT_EQ(usage_error(wanted), "");
  wanted.values["n"].shape = {1};
  EXPECT_NE(usage_error(wanted), "");
}

}  // namespace specialise_test
}  // namespace rnnp::testing_support
