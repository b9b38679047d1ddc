// self_check_test.cpp -- what `compile` finds before it writes: blobs that another graph was compiled to, in values, shapes, time
// and bits; and that it passes what is right. SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/self_check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "compiler/onnx/errors.h"
#include "compiler/verify/check_blob.h"
#include "compiler/verify/joint_check.h"
#include "compiler/verify/verify_sizes.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace self_check_test {

using compiler::check_compiled;
using compiler::Compiled;
using compiler::CompileOptions;
using compiler::OnnxModel;
using compiler::SelfCheck;
using Ints = std::vector<int64_t>;

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
  compiler::Compiled compiled = compiler::compile_model(*other, how);
  return check_compiled(model.get(), &compiled, how, false);
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

// A slice of one step, of which shorter runs have none: what goes on with nothing is refused by the slice's name.
TEST(SelfCheck, RefusesToGoOnWithoutAStep) {
  const auto model = [](const char *op) {
    OnnxBuilder b;
    b.input("x", {"T", "N", kInputs}).output("y").weights("g", 3, 1, kInputs, kHidden);
    b.constant_ints("zero", {1}, {0}).constant_ints("before", {1}, {-1}).constant_ints("last", {1}, {INT32_MAX});
    b.node("GRU", {"x", "gW", "gR", "gB"}, {"Y"}).with("hidden_size", kHidden);
    b.node("Slice", {"Y", "zero", "before", "zero"}, {"all_but_one"}, "shorter");
    if (op == std::string("Gather")) {
      b.node("Gather", {"all_but_one", "before"}, {"y"}, "one");
      return b;
    }
    b.node("Slice", {"all_but_one", "before", "last", "zero"}, {"step"}, "one");
    op == std::string("Squeeze") ? b.node("Squeeze", {"step", "zero"}, {"y"}) : b.node(op, {"step"}, {"y"});
    return b;
  };
  EXPECT_EQ(check(model("Gather")).failure, "");
  EXPECT_EQ(check(model("Squeeze")).failure, "");
  try {
    check(model("Relu"));
    ADD_FAILURE() << "not refused";
  } catch (const compiler::ModelError &refused) {
    const std::string text = refused.what();
    EXPECT_EQ(text.find("node 'one' (Slice): it takes one step of "), 0u) << text;
    EXPECT_NE(text.find("has fewer than 2 steps; accepted: "), std::string::npos) << text;
  }
}

// One step of its own, from a state that the file has as a constant: nothing is carried from call to call.
TEST(SelfCheck, StartsOneStepAnewFromConstants) {
  const auto model = [](const std::vector<float> &rows) {
    OnnxBuilder b;
    b.input("x", {2, 5, kInputs}).output("y").weights("g", 3, 1, kInputs, kHidden).constant_ints("last", {1}, {-1});
    b.constant("h", {1, 2, kHidden}, rows);
    b.node("Gather", {"x", "last"}, {"row"}).with("axis", 1);
    b.node("Transpose", {"row"}, {"step"}).with("perm", std::vector<int64_t>{1, 0, 2});
    b.node("GRU", {"step", "gW", "gR", "gB", "", "h"}, {"y"}).with("hidden_size", kHidden);
    return b;
  };
  std::vector<float> rows(2 * kHidden);
  for (const float start : {0.0f, 0.5f}) {
    std::fill(rows.begin(), rows.end(), start);
    const SelfCheck found = check(model(rows));
    EXPECT_EQ(found.failure, "") << start;
    EXPECT_EQ(found.note, "") << start;
  }
  rows[0] = 1;
  EXPECT_THROW(check(model(rows)), compiler::ModelError);
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
// A cell without bounds, 1e4 times as large after each step: float32 ends at the 11th, f64 does not.
OnnxBuilder growing(float factor) {
  OnnxBuilder b;
  b.input("x", {"T", "N", kInputs}).output("y").constant("factor", {}, {factor});
  b.constant("W", {1, 1, kInputs}, std::vector<float>(kInputs, 1.0f)).constant("R", {1, 1, 1}, {1e4f});
  b.node("RNN", {"x", "W", "R"}, {"Y"}, "cell").with("hidden_size", 1).with("activations", std::vector<std::string>{"Relu"});
  b.node("Mul", {"Y", "factor"}, {"y"});
  return b;
}

TEST(SelfCheck, WhatLeavesTheRangeOfFloatsIsNoFault) {
  const SelfCheck found = check(growing(1e-8f));
  EXPECT_EQ(found.failure, "");
  EXPECT_NE(found.note.find("not checked at 12 steps, batch 2"), std::string::npos) << found.note;
  EXPECT_NE(found.note.find("leave the range of float32, first at node 'cell' (RNN)"), std::string::npos) << found.note;
  EXPECT_NE(check(growing(1e-8f), growing(1.5e-8f)).failure.find("at 3 steps, batch 2: output 'y'"), std::string::npos);
}

constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

// The library multiplies what lies beyond x as zeros.
TEST(SelfCheck, RefusesZerosOfPaddingTimesInfinity) {
  struct Form {
    const char *op;
    std::vector<Dim> x;
    Ints pads;
    bool is_refused;
  };
  const Form forms[] = {
      {"Conv", {"N", 2, 9}, {1, 0}, true},
      {"Conv", {"N", 2, 9}, {0, 2}, true},
      {"Conv", {"N", 2, 9}, {0, 0}, false},
      {"Conv", {"N", 2, "T"}, {2, 0}, true},
      {"Conv", {"N", 2, "T"}, {0, 2}, true},
      {"Conv", {"N", 2, "T"}, {1, 1}, true},
      {"ConvTranspose", {"N", 2, "T"}, {0, 2}, true},
      {"ConvTranspose", {"N", 2, 9}, {2, 2}, false},
  };
  for (const Form &form : forms) {
    for (const float v : {kNan, -kInf}) {
      OnnxBuilder b;
      b.input("x", form.x).output("y").constant("w", {2, 2, 3}, {1, 2, 3, 4, v, 6, 7, 8, 9, 10, 11, 12});
      b.node(form.op, {"x", "w"}, {"y"}, "slide").with("pads", form.pads);
      SCOPED_TRACE(std::string(form.op) + " over " + (form.x[2].value != 0 ? "features" : "time"));
      const std::string refusal = refusal_of(b.proto);
      const std::string wanted =
          std::string("node 'slide' (") + form.op + "): W has " + (std::isnan(v) ? "nan" : "-inf") + " at [0, 1, 1]";
      EXPECT_EQ(refusal.find(wanted) != std::string::npos, form.is_refused) << refusal;
      if (form.is_refused) continue;
      EXPECT_EQ(check(b).failure, "");
    }
  }
}

// Numbers that would make a weight infinite are multiplied behind the product, where its sum has one sign.
TEST(SelfCheck, InfiniteFactorsStayBehindTheSum) {
  for (const char *op : {"Mul", "Div", "Add"}) {
    OnnxBuilder b;
    b.input("x", {"T", "N", 8}).output("y").random("w", {8, 4}).constant("by", {4}, {2, -kInf, *op == 'D' ? 0.0f : kInf, 1e-30f});
    b.node("MatMul", {"x", "w"}, {"product"});
    b.node(op, {"product", "by"}, {"y"});
    EXPECT_EQ(check(b).failure, "") << op;
  }
}

TEST(SelfCheck, SoftsignOfInfinityIsItsLimit) {
  OnnxBuilder b;
  b.input("x", {"T", "N", kInputs}).output("y").output("z").constant("ends", {kInputs}, {kInf, -kInf, 0});
  b.node("Add", {"x", "ends"}, {"far"});
  b.node("Softsign", {"far"}, {"y"});
  b.weights("r", 1, 1, kInputs, kInputs, false).constant("B", {1, 2 * kInputs}, {kInf, -kInf, 0, 0, 0, 0});
  b.node("RNN", {"x", "rW", "rR", "B"}, {"z"})
      .with("hidden_size", kInputs)
      .with("activations", std::vector<std::string>{"Softsign"});
  EXPECT_EQ(check(b).failure, "");
}

// A gate that closes leaves 1e-13 of a cell; what infinity makes of it is another thing than of 0.
TEST(SelfCheck, RefusesInfiniteRecurrentWeights) {
  for (const float v : {kInf, -kInf, kNan}) {
    OnnxBuilder b;
    b.input("x", {"T", "N", 1}).output("y").constant("W", {1, 4, 1}, {0, 0, 0, 0}).constant("R", {1, 4, 1}, {0, v, 0, 0});
    b.constant("B", {1, 8}, {0, 0, 0, 1, 0, 0, 0, 0});
    b.node("LSTM", {"x", "W", "R", "B"}, {"y"}, "cell").with("hidden_size", 1);
    const std::string wanted = std::string("node 'cell' (LSTM): R has ") + (v < 0 ? "-inf" : "inf") + " at [0, 1, 0]";
    EXPECT_EQ(refusal_of(b.proto).find(wanted) != std::string::npos, !std::isnan(v)) << refusal_of(b.proto);
    if (!std::isnan(v)) continue;
    EXPECT_EQ(check(b).failure, "");
  }
}

// What Celu leaves as it is has the bits of x, whatever alpha is.
TEST(SelfCheck, CeluIsExactAboveZero) {
  for (const double alpha : {0.88, 1.0, -0.7}) {
    OnnxBuilder b;
    b.input("x", {"T", "N", 40}).output("y").output("z").constant("zero", {}, {0});
    b.node("Celu", {"x"}, {"y"}).with("alpha", alpha);
    b.node("Relu", {"x"}, {"positive"});
    b.node("Celu", {"positive"}, {"same"}).with("alpha", alpha);
    b.node("Sub", {"same", "positive"}, {"apart"});
    b.node("Sign", {"apart"}, {"z"});
    EXPECT_EQ(check(b).failure, "") << alpha;
  }
}

// Rows of a layer start from states of their own; what is made from no row has none.
TEST(SelfCheck, OutputsOfNoRowStayBesideRowsThatStartApart) {
  OnnxBuilder b;
  b.input("x", {"T", 2, kInputs}).input("r", {2, 4}).output("y").output("z");
  b.weights("r", 1, 1, kInputs, kHidden).random("h", {1, 2, kHidden});
  b.node("RNN", {"x", "rW", "rR", "rB", "", "h"}, {"y"}).with("hidden_size", kHidden);
  b.node("Tanh", {"r"}, {"z"});
  EXPECT_EQ(check(b).failure, "");
}

// Two inputs that move alike cancel: one disturbance that moves nothing says nothing.
TEST(SelfCheck, AllowsWhatSomeDisturbanceMoves) {
  OnnxBuilder b;
  b.input("x", {"N", 2}).output("y").constant("w", {2, 1}, {1000, -1000});
  b.node("MatMul", {"x", "w"}, {"y"});
  const std::unique_ptr<OnnxModel> model = compiler::check_model(b.proto);
  compiler::Compiled compiled = compiler::compile_model(*model, CompileOptions());
  compiler::Runner runner(compiled.blob);
  const std::vector<compiler::StatePair> none;
  const compiler::BlobCheck blob(model.get(), compiled.graph, none, &runner);
  compiler::Array ones;
  ones.shape = {1, 2};
  ones.f32 = {1, 1};
  std::string refused;
  const std::optional<compiler::BothRuns> runs = blob.run({{"x", ones}}, {1, 1}, {}, {}, &refused);
  ASSERT_TRUE(runs.has_value()) << refused;
  compiler::Comparison apart = blob.compare_output(*runs, "y");
  apart.worst_relative = 1e-4;
  for (uint32_t seed = 1; seed <= 10; ++seed) {
    const compiler::Allowance allowance = compiler::Allowances(blob, *runs, seed).of("y", apart);
    EXPECT_TRUE(allowance.says_something && apart.agrees(allowance.bound)) << seed << ": " << allowance.bound;
  }
}

// Tanh is nearly 1, so weights and inputs that move a little move nothing: its own rounding is what the layer behind it enlarges.
TEST(SelfCheck, AllowsForRoundingsInsideTheGraph) {
  OnnxBuilder b;
  b.input("x", {"N", 2, 16}).output("y").constant("far", {}, {7.5f}).constant("scale", {2}, {3, 3}).constant("bias", {2}, {0, 0});
  b.node("Add", {"x", "far"}, {"moved"});
  b.node("Tanh", {"moved"}, {"level"});
  b.node("InstanceNormalization", {"level", "scale", "bias"}, {"y"});
  const SelfCheck found = check(b);
  EXPECT_EQ(found.failure, "");
  EXPECT_EQ(found.note, "");
}

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

// Two convolutions and a product, too much work to be evaluated whole.
OnnxBuilder large(float factor, int64_t pad = 1) {
  OnnxBuilder b;
  b.input("x", {1, 32, 100, 200}).output("y").random("w", {64, 32, 3, 3}).random("v", {64, 64, 3, 3}).random("d", {64, 5});
  b.constant("factor", {}, {factor}).constant_ints("axes", {2}, {2, 3});
  b.node("Conv", {"x", "w"}, {"a"}, "first").with("pads", std::vector<int64_t>{pad, 1, 2 - pad, 1});
  b.node("Mul", {"a", "factor"}, {"scaled"});
  b.node("Relu", {"scaled"}, {"r"});
  b.node("Conv", {"r", "v"}, {"c"}, "second").with("pads", std::vector<int64_t>{1, 1, 1, 1});
  b.node("Transpose", {"c"}, {"t"}).with("perm", std::vector<int64_t>{0, 2, 3, 1});
  b.node("MatMul", {"t", "d"}, {"y"});
  return b;
}

// What `compiled_from` makes of every graph, held against that of `file` by joints alone.
std::string joints_differ(const OnnxBuilder &file, const OnnxBuilder &compiled_from, const compiler::RunSizes &sizes = {1, 1}) {
  const std::unique_ptr<OnnxModel> model = compiler::check_model(file.proto), other = compiler::check_model(compiled_from.proto);
  const Compiled compiled = compiler::compile_model(*other, "generic");
  compiler::Runner runner(compiled.blob);
  const std::vector<compiler::StatePair> no_states;  // kept by reference
  const compiler::BlobCheck check(model.get(), compiled.graph, no_states, &runner);
  const compiler::JointCheck joints(other.get(), no_states, check);
  std::string refused;
  const compiler::BothRuns runs = check.start({}, sizes, {});
  const auto found = joints.at(runs, &runs, 1, {}, &refused);
  EXPECT_TRUE(found) << refused;
  EXPECT_GT(found ? found->samples : 0, 2000u);
  return found ? found->failure : refused;
}

// Work is counted, not timed.
TEST(SelfCheck, ChecksLargeNetworksBySamples) {
  for (const char *weights : {"", "int8"}) {
    CompileOptions how;
    how.weights = weights;
    const SelfCheck found = check(large(1), how);
    EXPECT_EQ(found.failure, "") << weights;
    EXPECT_EQ(found.note, "") << weights;
  }
  EXPECT_NE(check(large(1), large(1.01f)).failure.find("of samples: output 'y'"), std::string::npos);
}

// A fault of the compiler is in the blob with joints as in the other.
TEST(SelfCheck, FindsFaultsAtTheJoints) {
  EXPECT_EQ(joints_differ(large(1), large(1)), "");
  EXPECT_NE(joints_differ(large(1, 1), large(1, 2)).find("node 'first' (Conv), element ["), std::string::npos);
  EXPECT_NE(joints_differ(large(1), large(1.01f)).find("node 'second' (Conv), element ["), std::string::npos);
}

// A layer of a fixed number of steps, too much work to be evaluated whole. `fault` is added to one number of a tensor of weights.
struct LargeLayer {
  std::string op = "LSTM", direction = "forward", wanted = "Y";
  int64_t linear_before_reset = 0, steps = 40, hidden = 128;
  bool peepholes = false;
};
OnnxBuilder large_layer(const LargeLayer &of, const std::string &faulty = "", size_t at = 0, float fault = 0) {
  const int64_t gates = of.op == "LSTM" ? 4 : of.op == "GRU" ? 3 : 1, directions = of.direction == "bidirectional" ? 2 : 1;
  const int64_t inputs = 200, rows = gates * of.hidden;
  OnnxBuilder b;
  b.input("x", {of.steps, "N", inputs}).output("y");
  std::mt19937 random(3);
  const auto add = [&](const std::string &name, const std::vector<int64_t> &shape, float scale) {
    std::vector<float> numbers(static_cast<size_t>(compiler::element_count(shape)));
    for (float &v : numbers) v = scale * (static_cast<float>(random() % 2001) / 1000 - 1);
    if (name == faulty) numbers[at] += fault;
    b.constant(name, shape, numbers);
  };
  add("W", {directions, rows, inputs}, 0.1f);
  add("R", {directions, rows, of.hidden}, 0.08f);
  add("B", {directions, 2 * rows}, 0.2f);
  if (of.peepholes) add("P", {directions, 3 * of.hidden}, 0.3f);
  std::vector<std::string> in = {"x", "W", "R", "B"}, out = {of.wanted == "Y" ? "Y" : ""};
  if (of.peepholes) in.insert(in.end(), {"", "", "", "P"});
  if (of.wanted != "Y") out.push_back(of.wanted == "Y_h" ? "Y" : "");
  if (of.wanted == "Y_c") out.push_back("Y");
  NodeBuilder node = b.node(of.op, in, out, "layer").with("hidden_size", of.hidden).with("direction", of.direction.c_str());
  if (of.op == "GRU") node.with("linear_before_reset", of.linear_before_reset);
  b.node("Neg", {"Y"}, {"y"});
  return b;
}

const LargeLayer kLargeLayers[] = {{},
                                   {"LSTM", "reverse", "Y_h"},
                                   {"LSTM", "bidirectional", "Y_c"},
                                   {"LSTM", "forward", "Y", 0, 40, 128, true},
                                   {"GRU", "bidirectional", "Y", 0},
                                   {"GRU", "reverse", "Y_h", 1, 60},
                                   {"RNN", "forward", "Y", 0, 60, 320}};

TEST(SelfCheck, SamplesLargeRecurrentLayers) {
  for (const LargeLayer &of : kLargeLayers) {
    SCOPED_TRACE(of.op + " " + of.direction + " " + of.wanted);
    EXPECT_EQ(joints_differ(large_layer(of), large_layer(of), {of.steps, 2}), "");
    // One bias of the last unit's first gate, and a weight of its last one from h.
    const size_t gates = of.op == "LSTM"  ? 4
                         : of.op == "GRU" ? 3
                                          : 1,
                 last = gates * static_cast<size_t>(of.hidden * of.hidden) - 1;
    const std::string title = "node 'layer' (" + of.op + "), element [";
    const std::string bias =
        joints_differ(large_layer(of), large_layer(of, "B", static_cast<size_t>(of.hidden) - 1, 0.02f), {of.steps, 2});
    EXPECT_NE(bias.find(title), std::string::npos) << bias;
    const std::string weight = joints_differ(large_layer(of), large_layer(of, "R", last, 0.3f), {of.steps, 2});
    EXPECT_NE(weight.find(title), std::string::npos) << weight;
  }
}

// As `compile` calls it, of work that is counted.
TEST(SelfCheck, ChecksLargeLayersBySamples) {
  for (const char *weights : {"", "int8"}) {
    CompileOptions how;
    how.weights = weights;
    const SelfCheck found = check(large_layer({"LSTM", "forward", "Y", 0, 700, 320}), how);
    EXPECT_EQ(found.failure, "") << weights;
    EXPECT_EQ(found.note, "") << weights;
  }
}

// Each sample of a layer is the element that the whole evaluation has there, of every row up to its length and behind it.
TEST(SelfCheck, SamplesOfLayersAreElementsOfTheWhole) {
  for (const char *op : {"LSTM", "GRU", "RNN"}) {
    for (int variant = 0; variant < 8; ++variant) {
      const int64_t gates = std::string(op) == "LSTM" ? 4 : std::string(op) == "GRU" ? 3 : 1, steps = 90, batch = 3, hidden = 5;
      const bool layout = variant & 1, both = variant & 2, states = variant & 4;
      const int64_t directions = both ? 2 : 1;
      OnnxBuilder b;
      b.random("x", layout ? std::vector<int64_t>{batch, steps, 4} : std::vector<int64_t>{steps, batch, 4});
      b.random("w", {directions, gates * hidden, 4}).random("r", {directions, gates * hidden, hidden});
      b.random("b", {directions, 2 * gates * hidden}).constant_ints("lens", {batch}, {steps, 0, 70}, onnx::TensorProto::INT32);
      const std::vector<int64_t> state =
          layout ? std::vector<int64_t>{batch, directions, hidden} : std::vector<int64_t>{directions, batch, hidden};
      b.random("h", state).random("c", state).random("p", {directions, 3 * hidden});
      std::vector<std::string> in = {"x", "w", "r", "b", "lens", states ? "h" : ""};
      if (gates == 4) in.insert(in.end(), {states ? "c" : "", states ? "p" : ""});
      std::vector<std::string> out = {"Y", "Yh"};
      if (gates == 4) out.push_back("Yc");
      auto made_of = b.node(op, in, out).with("hidden_size", hidden).with("layout", int64_t{layout});
      made_of.with("direction", both ? "bidirectional" : states ? "reverse" : "forward");
      if (gates == 3) made_of.with("linear_before_reset", int64_t{states});
      if (gates == 4) made_of.with("input_forget", int64_t{layout}).with("clip", 2.0);
      b.output("Y");
      const std::unique_ptr<OnnxModel> model = compiler::check_model(b.proto);
      const compiler::OnnxNode &node = *model->nodes[0];
      std::vector<const compiler::Tensor *> given;
      for (const std::string &name : node.input()) given.push_back(name.empty() ? nullptr : model->constants.at(name).get());
      const std::vector<compiler::Tensor> whole = compiler::eval_node(node, 14, given);
      compiler::EvalCall call{node, compiler::Attributes(node), 14, given, {whole[0], {}, {}}};
      const auto sampled = compiler::sampled_node(call);
      SCOPED_TRACE(std::string(op) + std::to_string(variant));
      std::set<std::pair<size_t, int64_t>> seen;
      const std::vector<compiler::Sample> samples = sampled->draw(3e5, 3, whole[0]);
      size_t close = 0;
      for (const compiler::Sample &sample : samples) {
        const double want = whole[sample.output].data[static_cast<size_t>(sample.at)];
        EXPECT_NEAR(sample.value, want, 1e-9 + compiler::kRounding * sample.magnitude) << sample.output << " at " << sample.at;
        close += std::fabs(sample.value - want) < 1e-9 ? 1 : 0;
        seen.insert({sample.output, sample.at});
      }
      EXPECT_GT(seen.size(), 300u);
      EXPECT_GT(close, samples.size() / 2);  // all but those of long runs from within a row
      EXPECT_EQ(gates == 4, seen.upper_bound({1, 0}) != seen.end());
      sampled->follow(&call);
      EXPECT_EQ(call.out[1].data, whole[1].data);
    }
  }
}

// Every operator that is sampled gives what it gives whole.
TEST(SelfCheck, SamplesAreElementsOfTheWhole) {
  OnnxBuilder b;
  b.random("x", {2, 4, 9, 7}).random("w", {6, 2, 3, 2}).random("b", {6}).random("u", {4, 3, 3, 2}).random("m", {2, 1, 7, 5});
  b.random("p", {7, 6}).random("q", {5, 7}).random("c", {5});
  b.node("Conv", {"x", "w", "b"}, {"1"}).with("group", int64_t{2}).with("strides", std::vector<int64_t>{2, 1});
  b.node("Conv", {"x", "w"}, {"2"}).with("group", int64_t{2}).with("auto_pad", "SAME_UPPER");
  b.node("ConvTranspose", {"x", "u"}, {"3"}).with("group", int64_t{2}).with("strides", std::vector<int64_t>{2, 3});
  b.node("ConvTranspose", {"x", "u", "b"}, {"4"}).with("group", int64_t{2}).with("pads", std::vector<int64_t>{1, 0, 2, 1});
  b.node("MatMul", {"x", "m"}, {"5"});
  b.node("Gemm", {"p", "q", "c"}, {"6"}).with("transA", int64_t{1}).with("transB", int64_t{1}).with("alpha", 0.5).with("beta", 3.0);
  b.output("1");
  const std::unique_ptr<OnnxModel> model = compiler::check_model(b.proto);
  for (const compiler::OnnxNode &node : model->graph.node()) {
    std::vector<const compiler::Tensor *> in;
    for (const std::string &name : node.input()) in.push_back(model->constants.at(name).get());
    const compiler::EvalCall call{node, compiler::Attributes(node), 13, in, {}};
    const auto sampled = compiler::sampled_node(call);
    const compiler::Tensor whole = compiler::eval_node(node, 13, in)[0];
    EXPECT_EQ(sampled->shape(), whole.shape) << node.output(0);
    std::set<int64_t> seen;
    for (const compiler::Sample &sample : sampled->draw(1e6, 3, {})) {
      EXPECT_NEAR(sample.value, whole.data[static_cast<size_t>(sample.at)], 1e-9) << node.output(0) << " at " << sample.at;
      seen.insert(sample.at);
    }
    EXPECT_GT(static_cast<int64_t>(seen.size()), std::min<int64_t>(whole.size() / 4, 48)) << node.output(0);
    EXPECT_TRUE(compiler::can_be_sampled(node.op_type()));
  }
}

}  // namespace self_check_test
}  // namespace rnnp::testing_support
