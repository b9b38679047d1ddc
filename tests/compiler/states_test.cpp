// states_test.cpp -- states that the library keeps (--state): dropped where they are a recurrent layer's own, else read and written
// every step; against one f64 evaluation of the graph per step.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "compiler/import/import.h"
#include "compiler/ir/state_names.h"
#include "compiler/onnx/problem.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace states_test {

using compiler::StatePair;
using Ints = std::vector<int64_t>;

constexpr int kHidden = 6;

// Two LSTM layers whose states are one tensor [2, N, 2 H] in and out: h and c of a layer side by side.
OnnxBuilder stacked_lstm() {
  OnnxBuilder b;
  b.input("X", {"T", "N", 5}).input("S", {2, "N", 2 * kHidden}).output("Y").output("S_out");
  b.weights("a", 4, 1, 5, kHidden)
      .weights("b", 4, 1, kHidden, kHidden)
      .constant_ints("one", {1}, {1})
      .constant_ints("halves", {2}, {kHidden, kHidden});
  b.node("Split", {"S"}, {"s0", "s1"}).with("axis", 0);
  b.node("Split", {"s0", "halves"}, {"h0", "c0"}).with("axis", 2);
  b.node("Split", {"s1", "halves"}, {"h1", "c1"}).with("axis", 2);
  b.node("LSTM", {"X", "aW", "aR", "aB", "", "h0", "c0"}, {"y0", "h0n", "c0n"}).with("hidden_size", kHidden);
  b.node("Squeeze", {"y0", "one"}, {"x1"});
  b.node("LSTM", {"x1", "bW", "bR", "bB", "", "h1", "c1"}, {"Y", "h1n", "c1n"}).with("hidden_size", kHidden);
  b.node("Concat", {"h0n", "c0n"}, {"s0n"}).with("axis", 2);
  b.node("Concat", {"h1n", "c1n"}, {"s1n"}).with("axis", 2);
  b.node("Concat", {"s0n", "s1n"}, {"S_out"}).with("axis", 0);
  return b;
}

// A cache of the last two steps in front of a dense layer, the way a causal convolution is exported for streaming, then a leaky
// average kept in "avg", and a GRU whose steps are implied.
OnnxBuilder cached() {
  OnnxBuilder b;
  b.input("X", {"N", 4, 1}).input("cache", {"N", 4, 2}).input("avg", {"N", 3}).input("h", {1, "N", kHidden});
  b.output("Y").output("cache_out").output("avg_out").output("hn");
  b.random("M", {12, 3}).weights("", 3, 1, 3, kHidden).constant("old", {}, {0.75f}).constant("new", {}, {0.25f});
  b.constant_ints("first", {1}, {1}).constant_ints("end", {1}, {3}).constant_ints("time", {1}, {2}).constant_ints("zero", {1}, {0});
  b.node("Concat", {"cache", "X"}, {"window"}).with("axis", 2);
  b.node("Slice", {"window", "first", "end", "time"}, {"cache_out"});
  b.node("Flatten", {"window"}, {"flat"});
  b.node("MatMul", {"flat", "M"}, {"m"});
  b.node("Mul", {"avg", "old"}, {"a"});
  b.node("Mul", {"m", "new"}, {"c"});
  b.node("Add", {"a", "c"}, {"avg_out"});
  b.node("Unsqueeze", {"avg_out", "zero"}, {"x3"});
  b.node("GRU", {"x3", "W", "R", "B", "", "h"}, {"y", "hn"}).with("hidden_size", kHidden);
  b.node("Squeeze", {"y", "zero"}, {"y3"});
  b.node("Tanh", {"y3"}, {"Y"});
  return b;
}

const std::vector<StatePair> kCached = {{"cache", "cache_out"}, {"avg", "avg_out"}, {"h", "hn"}};

// An LSTM step in primitive operators, the way TensorFlow exports it: gates in the order of `order`, the state [1, 2, H, 2] in one
// tensor, h the first of the last axis. `swap` turns every sum and product around.
OnnxBuilder written_out(const std::string &order, bool swap, int64_t opset, bool gemm = false) {
  OnnxBuilder b(opset);
  b.input("X", {"N", 5}).input("S", {"N", 2, kHidden, 2}).output("Y").output("S_out");
  const auto two = [&](const char *op, const std::string &a, const std::string &c, const std::string &out) {
    b.node(op, swap ? std::vector<std::string>{c, a} : std::vector<std::string>{a, c}, {out});
  };
  const auto reshaping = [&](const char *op, const std::string &from, const std::string &to, const Ints &axes) {
    if (opset < 13) {
      b.node(op, {from}, {to}).with("axes", axes);
    } else {
      b.constant_ints(to + "_axes", {static_cast<int64_t>(axes.size())}, axes).node(op, {from, to + "_axes"}, {to});
    }
  };
  std::string x = "X";
  b.constant_ints("both", {2}, {1, 3});
  for (const std::string layer : {"0", "1"}) {
    const int64_t inputs = layer == "0" ? 5 : kHidden, at = layer == "0" ? 0 : 1;
    b.random("W" + layer, {inputs, 4 * kHidden}).random("R" + layer, {kHidden, 4 * kHidden}).random("B" + layer, {4 * kHidden});
    for (int64_t part = 0; part < 2; ++part) {
      const std::string name = (part ? "c" : "h") + layer;
      b.constant_ints(name + "_first", {2}, {at, part}).constant_ints(name + "_end", {2}, {at + 1, part + 1});
      b.node("Slice", {"S", name + "_first", name + "_end", "both"}, {name + "_part"});
      reshaping("Squeeze", name + "_part", name, {1, 3});
    }
    if (gemm) {  // as PyTorch exports its cells
      b.random("V" + layer, {4 * kHidden, inputs}).random("D" + layer, {4 * kHidden});
      b.node("Gemm", {x, "V" + layer, "D" + layer}, {"xw" + layer}).with("transB", 1);
      b.node("Gemm", {"h" + layer, "R" + layer}, {"hr" + layer});
    } else {
      b.node("MatMul", {x, "W" + layer}, {"xw" + layer});
      b.node("MatMul", {"h" + layer, "R" + layer}, {"hr" + layer});
    }
    two("Add", "xw" + layer, "hr" + layer, "sum" + layer);
    two("Add", "sum" + layer, "B" + layer, "pre" + layer);
    std::vector<std::string> gates;
    for (const char gate : order) gates.push_back(std::string(1, gate) + "_in" + layer);
    b.node("Split", {"pre" + layer}, gates).with("axis", 1);
    for (const std::string gate : {"i", "o", "f"}) b.node("Sigmoid", {gate + "_in" + layer}, {gate + layer});
    b.node("Tanh", {"c_in" + layer}, {"g" + layer});
    two("Mul", "f" + layer, "c" + layer, "keep" + layer);
    two("Mul", "i" + layer, "g" + layer, "write" + layer);
    two("Add", "keep" + layer, "write" + layer, "cn" + layer);
    b.node("Tanh", {"cn" + layer}, {"t" + layer});
    two("Mul", "o" + layer, "t" + layer, "hn" + layer);
    reshaping("Unsqueeze", "hn" + layer, "hu" + layer, {1, 3});
    reshaping("Unsqueeze", "cn" + layer, "cu" + layer, {1, 3});
    b.node("Concat", {"hu" + layer, "cu" + layer}, {"s" + layer}).with("axis", 3);
    x = "hn" + layer;
  }
  b.node("Concat", {"s0", "s1"}, {"S_out"}).with("axis", 1);
  b.node("Neg", {x}, {"Y"});
  return b;
}

compiler::Graph graph_of(const onnx::ModelProto &proto, const std::vector<StatePair> &states) {
  return compiler::compile_graph(*compiler::check_model(proto), {"generic", states});
}

TEST(States, ARecurrentLayersOwnStateIsDropped) {
  const compiler::Graph graph = graph_of(stacked_lstm().proto, {{"S", "S_out"}});
  EXPECT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(graph.inputs.size(), 1u);
  EXPECT_EQ(graph.outputs.size(), 1u);
  EXPECT_TRUE(graph.states.empty());
  check_persistent_states(stacked_lstm().proto, {{"S", "S_out"}});
}

// What the layer's c begins with is the h of the step before: no state of the layer's own, in either pairing.
TEST(States, TheOtherStateOfALayerIsNotItsOwn) {
  for (const bool crossed : {false, true}) {
    OnnxBuilder b;
    b.input("X", {1, "N", 5}).input("h0", {1, "N", kHidden}).input("c0", {1, "N", kHidden}).output("Y").output("hn").output("cn");
    b.weights("", 4, 1, 5, kHidden);
    b.node("LSTM", {"X", "W", "R", "B", "", "h0", "c0"}, {"Y", "hn", "cn"}).with("hidden_size", kHidden);
    const std::vector<StatePair> pairs = {{"h0", crossed ? "cn" : "hn"}, {"c0", crossed ? "hn" : "cn"}};
    check_persistent_states(b.proto, pairs);
  }
}

TEST(States, OthersAreReadAndWrittenEveryStep) {
  const compiler::Graph graph = graph_of(cached().proto, kCached);
  ASSERT_EQ(graph.states.size(), 2u);
  EXPECT_EQ(graph.states[0].elems, 8u);
  EXPECT_EQ(graph.inputs.size(), 1u);
  check_persistent_states(cached().proto, kCached);
  check_persistent_states(cached().proto, kCached, {5, 1});
}

TEST(States, SomeMayStayInputsAndOutputs) {
  const compiler::Graph graph = graph_of(cached().proto, {{"avg", "avg_out"}});
  EXPECT_EQ(graph.inputs.size(), 3u);
  EXPECT_EQ(graph.outputs.size(), 3u);
  EXPECT_EQ(graph.inputs[2].role, static_cast<uint32_t>(RNNP_ROLE_STATE));
}

TEST(States, WithATimeAxisOfTheFile) {
  OnnxBuilder b;
  b.input("X", {"T", "N", 4})
      .input("avg", {1, "N", 4})
      .input("h", {1, "N", kHidden})
      .weights("", 3, 1, 4, kHidden)
      .constant("half", {}, {0.5f});
  b.output("Y").output("avg_out").output("hn");
  b.node("Add", {"X", "avg"}, {"s"});
  b.node("Mul", {"s", "half"}, {"avg_out"});
  b.node("GRU", {"avg_out", "W", "R", "B", "", "h"}, {"Y", "hn"}).with("hidden_size", kHidden);
  check_persistent_states(b.proto, {{"avg", "avg_out"}, {"h", "hn"}});
}

// Exported for streaming: the layer reads one step of a time axis, which is then an ordinary one that a cache is joined along.
TEST(States, AJoinAlongTimeMakesItAnOrdinaryAxis) {
  OnnxBuilder b;
  b.input("X", {"N", 1, 4})
      .input("h", {"N", 1, kHidden})
      .input("cache", {"N", 2, kHidden})
      .output("Y")
      .output("hn")
      .output("cache_out");
  b.weights("", 3, 1, 4, kHidden).constant_ints("two", {1}, {2}).random("M", {3 * kHidden, 2});
  b.constant_ints("first", {1}, {1}).constant_ints("end", {1}, {3}).constant_ints("time", {1}, {1});
  b.node("GRU", {"X", "W", "R", "B", "", "h"}, {"y", "hn"}).with("hidden_size", kHidden).with("layout", 1);
  b.node("Squeeze", {"y", "two"}, {"y3"});
  b.node("Concat", {"cache", "y3"}, {"window"}).with("axis", 1);
  b.node("Slice", {"window", "first", "end", "time"}, {"cache_out"});
  b.node("Flatten", {"window"}, {"flat"});
  b.node("MatMul", {"flat", "M"}, {"Y"});
  check_persistent_states(b.proto, {{"h", "hn"}, {"cache", "cache_out"}});
  check_persistent_states(b.proto, {{"cache", "cache_out"}, {"h", "hn"}}, {4, 1});
}

TEST(States, CellsWrittenOutBecomeLayers) {
  for (const char *order : {"icfo", "ifco", "iofc"}) {
    for (const bool swap : {false, true}) {
      for (const int64_t opset : {12, 13}) {
        SCOPED_TRACE(std::string(order) + (swap ? " swapped, opset " : ", opset ") + std::to_string(opset));
        const onnx::ModelProto proto = written_out(order, swap, opset).proto;
        const compiler::Graph graph = graph_of(proto, {{"S", "S_out"}});
        EXPECT_TRUE(graph.states.empty());
        ASSERT_EQ(graph.nodes.size(), 3u);
        EXPECT_EQ(graph.nodes[0].op, OpKind::kRecurrent);
        EXPECT_EQ(graph.nodes[1].op, OpKind::kRecurrent);
        check_persistent_states(proto, {{"S", "S_out"}});
        check_against_f64(proto, {1, 3});
      }
    }
  }
}

TEST(States, CellsOfGemmsBecomeLayers) {
  const onnx::ModelProto proto = written_out("ifco", false, 13, true).proto;
  EXPECT_EQ(graph_of(proto, {{"S", "S_out"}}).nodes.size(), 3u);
  check_persistent_states(proto, {{"S", "S_out"}});
}

// What is no cell stays as it is: another activation, a gate used elsewhere in the same sum.
TEST(States, WhatIsNearlyACellStaysAsItIs) {
  onnx::ModelProto other = written_out("icfo", false, 13).proto;
  for (onnx::NodeProto &node : *other.mutable_graph()->mutable_node()) {
    if (node.output(0) == "t0" || node.output(0) == "t1") node.set_op_type("Softsign");
  }
  EXPECT_FALSE(graph_of(other, {{"S", "S_out"}}).states.empty());
  check_persistent_states(other, {{"S", "S_out"}});
  OnnxBuilder read = written_out("icfo", false, 13);
  read.output("Z").node("Exp", {"cn0"}, {"Z"});
  EXPECT_FALSE(graph_of(read.proto, {{"S", "S_out"}}).states.empty());
  check_persistent_states(read.proto, {{"S", "S_out"}});
}

// However much of a graph has to be found out: cells, states that look like some, what cannot be tied.
TEST(States, EveryCompileImportsOneGraph) {
  OnnxBuilder near = written_out("icfo", false, 13);
  near.output("Z").node("Exp", {"cn0"}, {"Z"});
  OnnxBuilder ahead;
  ahead.input("X", {"T", "N", 5}).input("H0", {1, "N", kHidden}).output("Y").output("Y_h").weights("", 3, 1, 5, kHidden);
  ahead.node("GRU", {"X", "W", "R", "B", "", "H0"}, {"Y", "Y_h"}).with("hidden_size", kHidden).with("direction", "reverse");
  const std::vector<compiler::StatePair> none, tied = {{"S", "S_out"}};
  for (const auto &each : {std::pair(written_out("icfo", false, 13).proto, none),
                           std::pair(written_out("icfo", false, 13).proto, tied), std::pair(near.proto, tied),
                           std::pair(near.proto, none), std::pair(stacked_lstm().proto, none), std::pair(ahead.proto, none)}) {
    compiler::imports_counted();
    compiler::CompileOptions options;
    options.states = each.second;
    EXPECT_FALSE(compiler::compile_model(*compiler::check_model(each.first), options).blob.empty());
    EXPECT_EQ(compiler::imports_counted(), 1);
  }
}

// A refusal too, with all that it proposes.
TEST(States, EveryRefusalImportsOneGraph) {
  for (const bool beyond_help : {false, true}) {
    OnnxBuilder b;
    b.input("X", {"T", "N", 5}).output("Z").weights("", 3, 1, 5, kHidden);
    b.node("GRU", {"X", "W", "R", "B"}, {"Y"}).with("hidden_size", kHidden);
    b.constant_ints("one", {1}, {1});
    b.node("Squeeze", {"Y", "one"}, {"S"});
    b.node("Transpose", {"S"}, {"Q"}).with("perm", std::vector<int64_t>{1, 0, 2});
    b.node("Transpose", {"S"}, {"K"}).with("perm", std::vector<int64_t>{1, 2, 0});
    b.node("MatMul", {"Q", "K"}, {"A"});
    b.node(beyond_help ? "Det" : "Identity", {"A"}, {"Z"});
    if (beyond_help) b.output("D").node("Det", {"Y"}, {"D"});
    compiler::imports_counted();
    try {
      compiler::compile_model(*compiler::check_model(b.proto), compiler::CompileOptions());
      ADD_FAILURE() << "compiled";
    } catch (const compiler::ModelError &error) {
      EXPECT_EQ(std::string(error.what()).find("\ntry: --dim T=SIZE") == std::string::npos, beyond_help) << error.what();
    }
    EXPECT_EQ(compiler::imports_counted(), 1);
  }
}

TEST(Streams, RefusedWithTheNodeThatLooksAhead) {
  OnnxBuilder b;
  b.input("X", {"T", "N", 5}).output("Y").weights("", 3, 1, 5, kHidden);
  b.node("GRU", {"X", "W", "R", "B"}, {"Y"}, "backwards").with("hidden_size", kHidden).with("direction", "reverse");
  const auto model = compiler::check_model(b.proto);
  compiler::CompileOptions options;
  options.stream_steps = 4;
  try {
    compiler::compile_model(*model, options);
    ADD_FAILURE() << "compiled";
  } catch (const compiler::ModelError &error) {
    EXPECT_NE(std::string(error.what()).find("'backwards'"), std::string::npos) << error.what();
  }
}

// Memory is planned for the steps of a call; longer calls go through it in pieces.
TEST(Streams, SessionsAreSizedForTheirSteps) {
  const auto model = compiler::check_model(stacked_lstm().proto);
  const auto bytes = [&](uint32_t steps) {
    compiler::CompileOptions options;
    options.states = {{"S", "S_out"}};
    options.stream_steps = steps;
    const std::vector<uint8_t> blob = compiler::compile_model(*model, options).blob;
    compiler::AlignedBytes at(blob.size(), 64);
    std::copy(blob.begin(), blob.end(), at.data());
    rnnp_model opened;
    rnnp_memory memory = RNNP_MEMORY_INIT;
    EXPECT_EQ(rnnp_model_open(&opened, at.data(), blob.size(), 0), RNNP_OK);
    EXPECT_EQ(rnnp_session_memory(&opened, nullptr, &memory), RNNP_OK);
    return memory.session_bytes;
  };
  EXPECT_LT(bytes(1), bytes(8));
  EXPECT_LT(bytes(8), bytes(0));
}

// Of cached(), whose GRU keeps h itself: what reads and writes the cache and the average.
TEST(Streams, StatesOfTheCallerAreLoopsWhereACallHasManySteps) {
  for (const uint32_t steps : {0u, 1u, 8u}) {
    compiler::CompileOptions options;
    options.states = kCached;
    options.stream_steps = steps;
    const compiler::Graph graph = compiler::compile_graph(*compiler::check_model(cached().proto), options);
    std::vector<uint32_t> loops;
    size_t end = 0;
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const auto *state = std::get_if<compiler::StateRef>(&graph.nodes[i].attr);
      if (state != nullptr && state->loop_nodes != 0) {
        loops.push_back(state->loop_nodes);
        end = i + state->loop_nodes;
      }
      const bool has_weights = graph.nodes[i].op == OpKind::kRecurrent || graph.nodes[i].op == OpKind::kDense;
      EXPECT_TRUE(!has_weights || i >= end) << "a loop holds " << graph.nodes[i].name;
    }
    EXPECT_EQ(loops.size(), steps == 8 ? 2u : 0u) << steps;
  }
}

// The decoder reads the final state, which is the layer's output where one call is one step; the state tensor takes it too.
TEST(States, FinalStatesAreOutputsOfEachStep) {
  OnnxBuilder b;
  b.input("X", {"N", 4}).input("S", {2, "N", kHidden}).output("P").output("H").output("Y").output("S_out");
  b.weights("", 4, 1, 4, kHidden).random("M", {kHidden, 3}).constant_ints("zero", {1}, {0}).constant_ints("two", {2}, {0, 1});
  b.node("Unsqueeze", {"X", "zero"}, {"x3"});
  b.node("Split", {"S"}, {"h", "c"}).with("axis", 0);
  b.node("LSTM", {"x3", "W", "R", "B", "", "h", "c"}, {"y", "hn", "cn"}).with("hidden_size", kHidden);
  b.node("Squeeze", {"hn", "zero"}, {"H"});
  b.node("Squeeze", {"y", "two"}, {"Y"});
  b.node("MatMul", {"H", "M"}, {"P"});
  b.node("Concat", {"hn", "cn"}, {"S_out"}).with("axis", 0);
  b.proto.mutable_opset_import(0)->set_version(17);
  const compiler::Graph graph = graph_of(b.proto, {});
  EXPECT_TRUE(graph.causal);
  for (size_t i = 0; i < 4; ++i)
    EXPECT_EQ(graph.outputs[i].role, static_cast<uint32_t>(i == 3 ? RNNP_ROLE_PER_RUN : RNNP_ROLE_SEQUENCE)) << i;
  check_persistent_states(b.proto, {{"S", "S_out"}});
  check_against_f64(b.proto, {1, 3});
}

TEST(States, EvidentOnesAreNoted) {
  const auto notes = [](const onnx::ModelProto &proto) {
    std::string text;
    for (const std::string &note : graph_of(proto, {}).notes) text += note + "\n";
    return text;
  };
  EXPECT_NE(notes(stacked_lstm().proto).find("--state S=S_out"), std::string::npos);
  for (const StatePair &pair : kCached)
    EXPECT_NE(notes(cached().proto).find("--state " + pair.input + "=" + pair.output), std::string::npos) << notes(cached().proto);
}

std::string error_of(const onnx::ModelProto &proto, const std::vector<StatePair> &states) {
  try {
    graph_of(proto, states);
  } catch (const std::runtime_error &error) {
    return error.what();
  }
  return "";
}

TEST(States, NamesOfWhatComesBeforeAndAfter) {
  for (const auto &[output, input] :
       {std::pair{"h_out", "h_in"}, {"S_next", "S"}, {"new_cache", "cache_"}, {"hn", "h0"}, {"cN", "c0"}, {"h_1", "h_0"}})
    EXPECT_TRUE(compiler::carries_on(output, input)) << output << " of " << input;
  for (const auto &[output, input] : {std::pair{"cn", "h0"}, {"logits", "state"}, {"hidden", "h0"}, {"probabilities", "x0"}})
    EXPECT_FALSE(compiler::carries_on(output, input)) << output << " of " << input;
}

TEST(States, WhatDoesNotFitIsRefused) {
  const onnx::ModelProto proto = cached().proto;
  EXPECT_NE(error_of(proto, {{"nosuch", "Y"}}).find("it has: 'X', 'cache'"), std::string::npos);
  EXPECT_NE(error_of(proto, {{"avg", "nosuch"}}).find("it has: 'Y'"), std::string::npos);
  EXPECT_NE(error_of(proto, {{"avg", "cache_out"}}).find("shapes differ"), std::string::npos);
  EXPECT_NE(error_of(proto, {{"avg", "avg_out"}, {"avg", "hn"}}).find("twice"), std::string::npos);
}

// A tensor that layers start from and that is not their final state: they start anew at every step.
TEST(States, LayersStartFromWhatTheStepBeforeMade) {
  check_persistent_states(cached().proto, {{"cache", "cache_out"}, {"avg", "avg_out"}, {"h", "Y"}});
  OnnxBuilder swapped = stacked_lstm();
  for (onnx::NodeProto &node : *swapped.proto.mutable_graph()->mutable_node()) {
    if (node.output(0) == "s0n") node.mutable_input()->SwapElements(0, 1);
  }
  EXPECT_EQ(graph_of(swapped.proto, {{"S", "S_out"}}).states.size(), 1u);
  check_persistent_states(swapped.proto, {{"S", "S_out"}});
}

}  // namespace states_test
}  // namespace rnnp::testing_support
