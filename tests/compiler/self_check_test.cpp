// self_check_test.cpp -- what `compile` finds before it writes: blobs that another graph was compiled to, in values, shapes, time
// and bits; and that it passes what is right. SPDX-License-Identifier: Apache-2.0
#include "compiler/cli/self_check.h"

#include <gtest/gtest.h>

#include <set>

#include "compiler/cli/joint_check.h"
#include "compiler/cli/verify_sizes.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace self_check_test {

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
std::string joints_differ(const OnnxBuilder &file, const OnnxBuilder &compiled_from) {
  const std::unique_ptr<OnnxModel> model = compiler::check_model(file.proto), other = compiler::check_model(compiled_from.proto);
  const Compiled compiled = compiler::compile_model(*other, "generic");
  compiler::Runner runner(compiled.blob);
  const std::vector<compiler::StatePair> no_states;  // kept by reference
  const compiler::BlobCheck check(model.get(), compiled.graph, no_states, &runner);
  const compiler::JointCheck joints(other.get(), no_states, check);
  std::string refused;
  const auto found = joints.at(check.start({}, {1, 1}, {}), true, 1, {}, &refused);
  EXPECT_TRUE(found) << refused;
  EXPECT_GT(found ? found->samples : 0, 5000u);
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
    for (const compiler::Sample &sample : sampled->draw(1e6, 3)) {
      EXPECT_NEAR(sample.value, whole.data[static_cast<size_t>(sample.at)], 1e-9) << node.output(0) << " at " << sample.at;
      seen.insert(sample.at);
    }
    EXPECT_GT(static_cast<int64_t>(seen.size()), std::min<int64_t>(whole.size() / 4, 48)) << node.output(0);
    EXPECT_TRUE(compiler::can_be_sampled(node.op_type()));
  }
}

}  // namespace self_check_test
}  // namespace rnnp::testing_support
