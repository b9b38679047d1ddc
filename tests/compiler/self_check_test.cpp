// self_check_test.cpp -- what `compile` finds before it writes: blobs that another graph was compiled to, in values, shapes, time
// and bits; and that it passes what is right. SPDX-License-Identifier: Apache-2.0
#include "compiler/cli/self_check.h"

#include <gtest/gtest.h>

#include "compiler/cli/verify_sizes.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace {

using compiler::check_compiled;
using compiler::Compiled;
using compiler::CompileOptions;
using compiler::OnnxModel;
using compiler::SelfCheck;

constexpr int kInputs = 3, kHidden = 6;

// A GRU of [T, N, 3] with sequence lengths and an initial state, its result multiplied by `factor` and moved `late` steps.
OnnxBuilder gru(float factor, int late = 0, const std::vector<Dim> &dims = {"T", "N", kInputs}) {
  OnnxBuilder b;
  b.input("x", dims).output("y").weights("g", 3, 1, kInputs, kHidden).constant("factor", {}, {factor});
  b.node("GRU", {"x", "gW", "gR", "gB"}, {"Y"}).with("hidden_size", kHidden);
  b.constant_ints("one", {1}, {1}).node("Squeeze", {"Y", "one"}, {"h"});
  b.node("Mul", {"h", "factor"}, {"scaled"});
  if (late == 0) {
    b.node("Identity", {"scaled"}, {"y"});
    return b;
  }
  b.constant_ints("pads", {6}, {late, 0, 0, -late, 0, 0}).node("Pad", {"scaled", "pads"}, {"y"});
  return b;
}

SelfCheck check(const OnnxBuilder &file, const OnnxBuilder &compiled_from, const CompileOptions &how = {}) {
  const std::unique_ptr<OnnxModel> model = compiler::check_model(file.proto), other = compiler::check_model(compiled_from.proto);
  return check_compiled(model.get(), compiler::compile_model(*other, how), how, false);
}

SelfCheck check(const OnnxBuilder &file, const CompileOptions &how = {}) {
  return check(file, file, how);
}

TEST(SelfCheck, PassesWhatIsRight) {
  for (const char *weights : {"", "bf16", "int8", "int4", "q8_0", "q4_0"}) {
    for (const char *target : {"generic", "cortex-m4"}) {
      CompileOptions how;
      how.weights = weights;
      how.target = target;
      const SelfCheck found = check(gru(1), how);
      EXPECT_EQ(found.failure, "") << weights << " " << target;
      EXPECT_EQ(found.note, "") << weights << " " << target;
    }
  }
}

TEST(SelfCheck, NamesOutputSizeAndWorstElement) {
  const SelfCheck found = check(gru(1), gru(1.01f));
  EXPECT_NE(found.failure.find("at 12 steps, batch 2: output 'y' of shape [12, 2, 6], element ["), std::string::npos)
      << found.failure;
  EXPECT_NE(found.failure.find("where the graph gives"), std::string::npos) << found.failure;
}

TEST(SelfCheck, FindsOneStepTooLate) {
  EXPECT_EQ(check(gru(1, 1)).failure, "");
  EXPECT_NE(check(gru(1, 1), gru(1)).failure, "");
}

// The file adds 1 where the run has one step; the blob does not.
TEST(SelfCheck, FindsWhatIsWrongForOneStepAlone) {
  const auto model = [](float more) {
    OnnxBuilder b;
    b.input("x", {"T", "N", kInputs}).output("y").weights("g", 3, 1, kInputs, kHidden).constant("more", {}, {more});
    b.constant_ints("first", {}, {0}).constant_ints("one", {}, {1});
    b.node("GRU", {"x", "gW", "gR", "gB"}, {"Y"}).with("hidden_size", kHidden);
    b.node("Shape", {"x"}, {"sizes"});
    b.node("Gather", {"sizes", "first"}, {"steps"});
    b.node("Equal", {"steps", "one"}, {"is_one"});
    b.node("Cast", {"is_one"}, {"as_number"}).with("to", int64_t{1});
    b.node("Mul", {"as_number", "more"}, {"added"});
    b.node("Add", {"Y", "added"}, {"y"});
    return b;
  };
  OnnxBuilder without;
  without.input("x", {"T", "N", kInputs}).output("y").weights("g", 3, 1, kInputs, kHidden);
  without.node("GRU", {"x", "gW", "gR", "gB"}, {"y"}).with("hidden_size", kHidden);
  EXPECT_EQ(check(model(0), without).failure, "");
  EXPECT_NE(check(model(1), without).failure.find("at 1 step, batch 2: output 'y'"), std::string::npos);
}

// The file fixes its sizes: other ones are no sizes of its graph.
TEST(SelfCheck, ChecksFixedSizesAtThem) {
  const std::vector<Dim> fixed = {5, 1, kInputs};
  EXPECT_EQ(check(gru(1, 0, fixed)).failure, "");
  EXPECT_NE(check(gru(1, 0, fixed), gru(1.01f, 0, fixed)).failure.find("at 5 steps, batch 1: "), std::string::npos);
}

// [T, N, 6] flattened per row: elements, their order and their number are right, the shape is not.
TEST(SelfCheck, ComparesShapes) {
  const auto model = [](const std::vector<int64_t> &shape) {
    OnnxBuilder b = gru(1);
    b.proto.mutable_graph()->mutable_output(0)->set_name("z");
    b.constant_ints("shape", {static_cast<int64_t>(shape.size())}, shape);
    b.node("Reshape", {"y", "shape"}, {"z"});
    return b;
  };
  EXPECT_EQ(check(model({0, 0, 2, 3})).failure, "");
  const SelfCheck found = check(model({0, 0, 2, 3}), model({0, 0, 3, 2}));
  EXPECT_NE(found.failure.find("'z' of shape [12, 2, 3, 2], where the graph gives [12, 2, 2, 3]"), std::string::npos)
      << found.failure;
}

// Only rows of shorter lengths differ: the lengths of the file's graph are given to the layer, those of the other one are not.
TEST(SelfCheck, GivesLengthsAndStates) {
  const auto model = [](bool lengths, bool state) {
    OnnxBuilder b;
    b.input("x", {"T", "N", kInputs}).input("lens", {"N"}, onnx::TensorProto::INT32).input("h0", {1, "N", kHidden});
    b.output("y").output("z").weights("g", 3, 1, kInputs, kHidden).weights("f", 3, 1, kInputs, kHidden);
    b.node("GRU", {"x", "gW", "gR", "gB", "lens", "h0"}, {"y"}).with("hidden_size", kHidden);
    b.node("GRU", {"x", "fW", "fR", "fB", lengths ? "lens" : "", state ? "h0" : ""}, {"z"}).with("hidden_size", kHidden);
    return b;
  };
  EXPECT_EQ(check(model(true, true)).failure, "");
  EXPECT_NE(check(model(true, true), model(true, false)).failure, "");
}

// Floor jumps, and 0.1 * 30 may be on either side of 3: one element that falls to the other side is no fault.
// TorchScript's exporter names an output twice where a module returns a tensor twice.
TEST(SelfCheck, TakesAnOutputThatIsNamedTwiceOnce) {
  OnnxBuilder b;
  b.input("x", {"N", kInputs}).input("h", {"N", kInputs}).output("y").output("y").output("next").constant("half", {}, {0.5f});
  b.node("Add", {"x", "h"}, {"sum"});
  b.node("Tanh", {"sum"}, {"y"});
  b.node("Mul", {"y", "half"}, {"next"});
  CompileOptions how;
  EXPECT_EQ(check(b, how).failure, "");
  how.states.push_back({"h", "next"});
  EXPECT_EQ(check(b, how).failure, "");
}

TEST(SelfCheck, TellsJumpsFromFaults) {
  const auto model = [](float factor) {
    OnnxBuilder b = gru(factor);
    b.proto.mutable_graph()->mutable_output(0)->set_name("z");
    b.constant("many", {}, {1e6f}).node("Mul", {"y", "many"}, {"large"});
    b.node("Floor", {"large"}, {"z"});
    return b;
  };
  EXPECT_NE(check(model(1), model(1.01f)).failure, "");
}

TEST(SelfCheck, NanOnBothSidesIsNoFaultButASign) {
  OnnxBuilder b = gru(1);
  b.proto.mutable_graph()->mutable_output(0)->set_name("z");
  b.constant("two", {}, {2}).node("Sub", {"y", "two"}, {"below"});
  b.node("Sqrt", {"below"}, {"z"});
  const SelfCheck found = check(b);
  EXPECT_EQ(found.failure, "");
  EXPECT_NE(found.note.find("not finite"), std::string::npos) << found.note;
}

// A graph that takes one row only, by a constant, is checked at that.
TEST(SelfCheck, TriesOtherSizesWhereTheGraphRefusesOne) {
  const auto model = [](float factor) {
    OnnxBuilder b;
    b.input("x", {"T", "N", kInputs}).output("y").weights("g", 3, 1, kInputs, kHidden);
    b.constant("h0", {1, 1, kHidden}, std::vector<float>(kHidden, 0.25f)).constant("factor", {}, {factor});
    b.node("GRU", {"x", "gW", "gR", "gB", "", "h0"}, {"Y"}).with("hidden_size", kHidden);
    b.node("Mul", {"Y", "factor"}, {"y"});
    return b;
  };
  EXPECT_EQ(check(model(1)).note, "");
  EXPECT_NE(check(model(1), model(1.01f)).failure.find("at 12 steps, batch 1: "), std::string::npos);
}

TEST(SelfCheck, VerifyTakesFewerStepsOfLargeNetworks) {
  EXPECT_EQ(compiler::usual_steps(1e3), 20);
  EXPECT_EQ(compiler::usual_steps(1e9), 4);
  EXPECT_EQ(compiler::usual_steps(1e12), 2);
}

// Work is counted, not timed: a call of more than the bound is left to `verify`, and the note says so.
TEST(SelfCheck, LeavesHugeCallsToVerify) {
  OnnxBuilder b;
  b.input("x", {1, 64, 200, 400}).output("y").random("w", {64, 64, 3, 3});
  b.node("Conv", {"x", "w"}, {"y"}).with("pads", std::vector<int64_t>{1, 1, 1, 1});
  const SelfCheck found = check(b);
  EXPECT_EQ(found.failure, "");
  EXPECT_NE(found.note.find("rnnpack verify"), std::string::npos) << found.note;
}

}  // namespace
}  // namespace rnnp::testing_support
