// joined_states_test.cpp -- initial states that are no graph input themselves: picked from a tensor that holds the states of
// several layers and of convolutions, one for each frequency, or multiplied by a mask of the step. Against one f64 evaluation per
// step. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/compile.h"
#include "compiler/ir/bind_states.h"
#include "compiler/onnx/problem.h"
#include "onnx_builder.h"
#include "rnnpack/rnnpack.h"

namespace rnnp::testing_support {
namespace {

using compiler::StatePair;
using Ints = std::vector<int64_t>;
using Names = std::vector<std::string>;

constexpr int64_t kChannels = 4, kFrequencies = 3, kLead = 2;

compiler::Graph graph_with(const onnx::ModelProto &proto, const std::vector<StatePair> &states) {
  return compiler::compile_graph(*compiler::check_model(proto), {"generic", states});
}

// A frame [1, channels, 1, frequencies] through blocks of a causal convolution whose cache is joined along time, a layer along time
// that weighs the channels, and a layer along time for each frequency. Each kind has its states in one tensor.
class Enhancer {
 public:
  enum class Form { kConcat, kScatter, kFlat };

  explicit Enhancer(Form form) : form_(form) {
    b_.input("X", {1, kChannels, 1, kFrequencies});
    if (form == Form::kFlat) {
      b_.input("conv", {1, 2 * kChannels * kLead * kFrequencies}).input("att", {1, 2 * kChannels});
      b_.input("inter", {1, 2 * kFrequencies * kChannels});
    } else {
      b_.input("conv", {2, 1, kChannels, kLead, kFrequencies}).input("att", {2, 1, 1, kChannels});
      b_.input("inter", {2, 1, kFrequencies, kChannels});
    }
    b_.constant_ints("zero", {1}, {0})
        .constant_ints("one", {1}, {1})
        .constant_ints("two", {1}, {2})
        .constant_ints("three", {1}, {3});
    b_.constant_ints("end", {1}, {kLead + 1});
    std::string x = "X";
    for (int64_t i = 0; i < 2; ++i) x = block(i, x);
    b_.node("Tanh", {x}, {"Y"});
    b_.output("Y");
    write("conv", {2, 1, kChannels, kLead, kFrequencies});
    write("att", {2, 1, 1, kChannels});
    write("inter", {2, 1, kFrequencies, kChannels});
  }

  onnx::ModelProto proto() const { return b_.proto; }
  static std::vector<StatePair> states() { return {{"conv", "conv_out"}, {"att", "att_out"}, {"inter", "inter_out"}}; }

 private:
  static int64_t count(const Ints &shape) {
    int64_t n = 1;
    for (const int64_t dim : shape) n *= dim;
    return n;
  }

  // State i of a kind, of this shape.
  std::string pick(const std::string &kind, int64_t i, const Ints &shape) {
    const std::string at = kind + std::to_string(i);
    if (form_ == Form::kFlat) {
      b_.constant_ints(at + "_from", {1}, {i * count(shape)}).constant_ints(at + "_to", {1}, {(i + 1) * count(shape)});
      b_.node("Slice", {kind, at + "_from", at + "_to", "one"}, {at + "_part"});
    } else {
      b_.constant_ints(at + "_index", {}, {i}).node("Gather", {kind, at + "_index"}, {at + "_part"}).with("axis", 0);
    }
    b_.constant_ints(at + "_shape", {static_cast<int64_t>(shape.size())}, shape);
    b_.node("Reshape", {at + "_part", at + "_shape"}, {at});
    return at;
  }

  // What the blocks made, in one tensor again.
  void write(const std::string &kind, const Ints &shape) {
    const std::string out = kind + "_out", a = kind + "0_next", c = kind + "1_next";
    b_.output(out);
    if (form_ == Form::kScatter) {
      b_.constant_ints(kind + "_at0", {1, 1}, {0}).constant_ints(kind + "_at1", {1, 1}, {1});
    }
    Ints part = shape;
    part.erase(part.begin());
    if (form_ == Form::kFlat) part = {1, count(part)};
    b_.constant_ints(kind + "_part_shape", {static_cast<int64_t>(part.size())}, part);
    b_.node("Reshape", {a, kind + "_part_shape"}, {a + "_p"});
    b_.node("Reshape", {c, kind + "_part_shape"}, {c + "_p"});
    if (form_ == Form::kFlat) {
      b_.node("Concat", {a + "_p", c + "_p"}, {out}).with("axis", 1);
      return;
    }
    b_.node("Unsqueeze", {a + "_p", "zero"}, {a + "_u"});
    b_.node("Unsqueeze", {c + "_p", "zero"}, {c + "_u"});
    if (form_ == Form::kConcat) {
      b_.node("Concat", {a + "_u", c + "_u"}, {out}).with("axis", 0);
    } else {
      b_.node("ScatterND", {kind, kind + "_at0", a + "_u"}, {kind + "_half"});
      b_.node("ScatterND", {kind + "_half", kind + "_at1", c + "_u"}, {out});
    }
  }

  std::string block(int64_t i, const std::string &x) {
    const std::string n = std::to_string(i), conv = pick("conv", i, {1, kChannels, kLead, kFrequencies});
    b_.random("K" + n, {kChannels, kChannels, kLead + 1, 3});
    b_.node("Concat", {conv, x}, {"window" + n}).with("axis", 2);
    b_.node("Slice", {"window" + n, "one", "end", "two"}, {"conv" + n + "_next"});
    b_.node("Conv", {"window" + n, "K" + n}, {"c" + n}).with("pads", Ints{0, 1, 0, 1});
    const std::string weighed = attention(n, i, "c" + n);
    return along_time(n, i, weighed);
  }

  // [1, C, 1, F] -> a GRU over [T, 1, C], times x.
  std::string attention(const std::string &n, int64_t i, const std::string &x) {
    const std::string h = pick("att", i, {1, 1, kChannels});
    b_.weights("a" + n, 3, 1, kChannels, kChannels);
    b_.node("ReduceMean", {x}, {"m" + n}).with("axes", Ints{3}).with("keepdims", 0);
    b_.node("Transpose", {"m" + n}, {"mt" + n}).with("perm", Ints{2, 0, 1});
    b_.node("GRU", {"mt" + n, "a" + n + "W", "a" + n + "R", "a" + n + "B", "", h}, {"ay" + n, "att" + n + "_next"})
        .with("hidden_size", kChannels);
    b_.node("Squeeze", {"ay" + n, "one"}, {"as" + n});
    b_.node("Transpose", {"as" + n}, {"at" + n}).with("perm", Ints{1, 2, 0});
    b_.node("Unsqueeze", {"at" + n, "three"}, {"au" + n});
    b_.node("Mul", {x, "au" + n}, {"w" + n});
    return "w" + n;
  }

  // [1, C, 1, F] -> a GRU over [T, F, C], beside x.
  std::string along_time(const std::string &n, int64_t i, const std::string &x) {
    const std::string h = pick("inter", i, {1, kFrequencies, kChannels});
    b_.weights("i" + n, 3, 1, kChannels, kChannels);
    b_.constant_ints("rows" + n, {3}, {kFrequencies, 1, kChannels}).constant_ints("back" + n, {4}, {1, kFrequencies, 1, kChannels});
    b_.node("Transpose", {x}, {"it" + n}).with("perm", Ints{0, 3, 2, 1});
    b_.node("Reshape", {"it" + n, "rows" + n}, {"ir" + n});
    b_.node("Transpose", {"ir" + n}, {"ix" + n}).with("perm", Ints{1, 0, 2});
    b_.node("GRU", {"ix" + n, "i" + n + "W", "i" + n + "R", "i" + n + "B", "", h}, {"iy" + n, "inter" + n + "_next"})
        .with("hidden_size", kChannels);
    b_.node("Transpose", {"iy" + n}, {"iz" + n}).with("perm", Ints{2, 0, 1, 3});
    b_.node("Reshape", {"iz" + n, "back" + n}, {"ib" + n});
    b_.node("Transpose", {"ib" + n}, {"ic" + n}).with("perm", Ints{0, 3, 2, 1});
    b_.node("Add", {x, "ic" + n}, {"o" + n});
    return "o" + n;
  }

  Form form_;
  OnnxBuilder b_;
};

class JoinedStates : public ::testing::TestWithParam<Enhancer::Form> {};

TEST_P(JoinedStates, AreKept) {
  const onnx::ModelProto proto = Enhancer(GetParam()).proto();
  const compiler::Graph graph = graph_with(proto, Enhancer::states());
  EXPECT_TRUE(graph.causal) << graph.looks_ahead;
  EXPECT_EQ(graph.inputs.size(), 1u);
  EXPECT_EQ(graph.outputs.size(), 1u);
  check_persistent_states(proto, Enhancer::states(), {7, 1});
}

INSTANTIATE_TEST_SUITE_P(Forms, JoinedStates,
                         ::testing::Values(Enhancer::Form::kConcat, Enhancer::Form::kScatter, Enhancer::Form::kFlat));

TEST(StatesOfTheCaller, AreProposedTogether) {
  std::string notes;
  for (const std::string &note : graph_with(Enhancer(Enhancer::Form::kFlat).proto(), {}).notes) notes += note + "\n";
  for (const StatePair &pair : Enhancer::states())
    EXPECT_NE(notes.find("--state " + pair.input + "=" + pair.output), std::string::npos) << notes;
}

// That is no stream of the library's, and where a tensor has no batch axis, rows are not apart.
TEST(StatesOfTheCaller, AreOneStepAndOneRow) {
  const onnx::ModelProto proto = Enhancer(Enhancer::Form::kFlat).proto();
  const compiler::Graph graph = graph_with(proto, {});
  EXPECT_FALSE(compiler::states_of_the_caller(graph).empty());
  const bool all_have_rows = std::all_of(graph.outputs.begin(), graph.outputs.end(), [](const compiler::Io &io) {
    return std::find(io.dims.begin(), io.dims.end(), RNNP_DIM_BATCH) != io.dims.end();
  });
  EXPECT_FALSE(all_have_rows);
  EXPECT_EQ(graph.fixed_batch, 1u);
  check_against_f64(proto, {1, 1});
}

// h * (1 - done) before the layer, as recurrent policies have it.
OnnxBuilder policy(const char *op, const std::vector<Dim> &x, const std::vector<bool> &masked) {
  constexpr int kHidden = 5;
  const bool lstm = std::string(op) == "LSTM";
  OnnxBuilder b;
  b.input("X", x).input("done", {"N"}).output("Y");
  b.weights("", lstm ? 4 : 3, 1, 4, kHidden).constant_ints("outer", {2}, {0, 2}).constant_ints("zero", {1}, {0});
  b.constant_ints("both", {2}, {0, 1}).constant_ints("one", {1}, {1}).constant("1", {}, {1.0f});
  b.node("Sub", {"1", "done"}, {"goes_on"});
  b.node("Unsqueeze", {"goes_on", "outer"}, {"mask"});
  Names in = {"x3", "W", "R", "B", ""}, out = {"y"};
  for (size_t i = 0; i < masked.size(); ++i) {
    const std::string state = i == 0 ? "h" : "c";
    b.input(state, {1, "N", kHidden});
    if (masked[i]) b.node("Mul", {state, "mask"}, {state + "_masked"});
    in.push_back(masked[i] ? state + "_masked" : state);
    out.push_back(state + "_out");
  }
  if (x.size() == 2) b.node("Unsqueeze", {"X", "zero"}, {"x3"});
  if (x.size() == 3) b.node("Identity", {"X"}, {"x3"});
  b.node(op, in, out).with("hidden_size", kHidden);
  b.node("Squeeze", {"y", "one"}, {"y3"});
  b.node("Tanh", {"y3"}, {"Y"});
  for (size_t i = 0; i < masked.size(); ++i) b.output(i == 0 ? "h_out" : "c_out");
  return b;
}

TEST(MaskedStates, OfOneStepACallAreKept) {
  for (const std::vector<Dim> &x : {std::vector<Dim>{"N", 4}, std::vector<Dim>{1, "N", 4}}) {
    check_persistent_states(policy("GRU", x, {true}).proto, {{"h", "h_out"}});
    check_persistent_states(policy("LSTM", x, {true, true}).proto, {{"h", "h_out"}, {"c", "c_out"}});
    // The layer would keep c itself, were h not computed anew at every step.
    check_persistent_states(policy("LSTM", x, {true, false}).proto, {{"h", "h_out"}, {"c", "c_out"}});
    check_persistent_states(policy("LSTM", x, {false, true}).proto, {{"c", "c_out"}, {"h", "h_out"}});
  }
}

TEST(MaskedStates, GivenByTheCallerRunOneStep) {
  check_against_f64(policy("GRU", {"N", 4}, {true}).proto, {1, 3});
}

// A mask for a call of many steps says nothing of the steps in between.
TEST(MaskedStates, OfCallsOfManyStepsAreRefused) {
  const onnx::ModelProto proto = policy("GRU", {"T", "N", 4}, {true}).proto;
  try {
    graph_with(proto, {{"h", "h_out"}});
    ADD_FAILURE() << "compiled";
  } catch (const compiler::ModelError &error) {
    EXPECT_NE(std::string(error.what()).find("'done'"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("try: --dim T=1"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace rnnp::testing_support
