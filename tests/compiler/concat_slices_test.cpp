// concat_slices_test.cpp -- inputs that start a layer and are read elsewhere too, axes of one step, and constants of one size: what
// is compiled does not depend on how the sequence is cut, or says that it does (not causal), or is refused. Invariant 2.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "compiler/onnx/problem.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace concat_slices_test {

using compiler::StatePair;
using Ints = std::vector<int64_t>;

constexpr int kHidden = 6;

enum class Also { kOutput, kDifference, kQuery, kNothing };

// A GRU whose initial_h is read elsewhere: given out as it is, taken off the final state, added to every step's input.
OnnxBuilder h0_read(Also also) {
  OnnxBuilder b;
  b.input("X", {"T", "N", 4}).input("h0", {1, "N", kHidden}).output("Y").output("hn").weights("", 3, 1, 4, kHidden);
  std::string x = "X";
  if (also == Also::kOutput) b.output("h0_out").node("Identity", {"h0"}, {"h0_out"});
  if (also == Also::kQuery) {
    b.random("M", {kHidden, 4}).node("MatMul", {"h0", "M"}, {"query"});
    b.node("Add", {"X", "query"}, {"asked"});
    x = "asked";
  }
  b.node("GRU", {x, "W", "R", "B", "", "h0"}, {"Y", "hn"}, "layer").with("hidden_size", kHidden);
  if (also == Also::kDifference) b.output("d").node("Sub", {"hn", "h0"}, {"d"});
  return b;
}

std::string error_of(const onnx::ModelProto &proto, const compiler::CompileOptions &options) {
  try {
    compiler::compile_model(*compiler::check_model(proto), options);
  } catch (const std::runtime_error &error) {
    return error.what();
  }
  return "";
}

compiler::Graph graph_of(const onnx::ModelProto &proto, const std::vector<StatePair> &states = {}) {
  return compiler::compile_graph(*compiler::check_model(proto), {"generic", states});
}

std::string notes_of(const compiler::Graph &graph) {
  std::string text;
  for (const std::string &note : graph.notes) text += note + "\n";
  return text;
}

TEST(InPieces, AnInitialStateThatIsReadElsewhereIsGivenOnce) {
  for (const Also also : {Also::kOutput, Also::kDifference, Also::kQuery}) {
    SCOPED_TRACE(static_cast<int>(also));
    const onnx::ModelProto proto = h0_read(also).proto;
    check_against_f64(proto);
    const compiler::Graph graph = graph_of(proto);
    EXPECT_FALSE(graph.causal);
    EXPECT_NE(graph.looks_ahead.find("'layer': its initial state is an input that is read elsewhere"), std::string::npos);
    compiler::CompileOptions stream;
    stream.stream_steps = 1;
    EXPECT_NE(error_of(proto, stream).find("cannot run as a stream"), std::string::npos);
  }
  EXPECT_TRUE(graph_of(h0_read(Also::kNothing).proto).causal);
}

TEST(InPieces, KeptItIsTheLayersOwnStateAndThatOfItsOtherReaders) {
  const onnx::ModelProto proto = h0_read(Also::kQuery).proto;
  const compiler::Graph graph = graph_of(proto, {{"h0", "hn"}});
  EXPECT_TRUE(graph.causal);
  EXPECT_EQ(graph.states.size(), 1u);
  check_persistent_states(proto, {{"h0", "hn"}});
  check_persistent_states(proto, {{"h0", "hn"}}, {5, 1});
  check_persistent_states(h0_read(Also::kOutput).proto, {{"h0", "hn"}});
}

// Half of the kept tensor starts one layer, half another; both halves are a query too.
TEST(InPieces, PartsOfAKeptTensorStartSeveralLayers) {
  for (const bool swapped : {false, true}) {
    OnnxBuilder b;
    b.input("X", {"T", "N", 4}).input("S", {2, "N", kHidden}).output("Y").output("S_out");
    b.weights("a", 3, 1, 4, kHidden).weights("b", 1, 1, kHidden, kHidden).constant_ints("one", {1}, {1}).random("M", {kHidden, 4});
    b.constant_ints("first", {1}, {0}).node("ReduceSum", {"S", "first"}, {"sum"}).with("keepdims", 1);
    b.node("MatMul", {"sum", "M"}, {"query"});
    b.node("Add", {"X", "query"}, {"x"});
    b.node("Split", {"S"}, {"h0", "h1"}).with("axis", 0);
    b.node("GRU", {"x", "aW", "aR", "aB", "", "h0"}, {"y0", "n0"}).with("hidden_size", kHidden);
    b.node("Squeeze", {"y0", "one"}, {"x1"});
    b.node("RNN", {"x1", "bW", "bR", "bB", "", "h1"}, {"Y", "n1"}).with("hidden_size", kHidden);
    b.node("Concat", swapped ? std::vector<std::string>{"n1", "n0"} : std::vector<std::string>{"n0", "n1"}, {"S_out"})
        .with("axis", 0);
    check_persistent_states(b.proto, {{"S", "S_out"}});
  }
}

// c is known at the end of a run only.
TEST(InPieces, AKeptCellStateThatIsReadElsewhereIsRefused) {
  OnnxBuilder b;
  b.input("X", {"T", "N", kHidden})
      .input("h", {1, "N", kHidden})
      .input("c", {1, "N", kHidden})
      .output("Y")
      .output("hn")
      .output("cn");
  b.weights("", 4, 1, kHidden, kHidden).node("Add", {"X", "c"}, {"x"});
  b.node("LSTM", {"x", "W", "R", "B", "", "h", "c"}, {"Y", "hn", "cn"}).with("hidden_size", kHidden);
  EXPECT_NE(error_of(b.proto, {"generic", {{"h", "hn"}, {"c", "cn"}}}).find("at the end of a run only"), std::string::npos);
  EXPECT_FALSE(graph_of(b.proto).causal);
  check_against_f64(b.proto);
}

// One step of an attention decoder: the query is the state before the step. The file's own axis of one step does not fit more.
OnnxBuilder decoder_step(const Dim &batch) {
  OnnxBuilder b;
  b.input("y", {batch, 1, 4}).input("h", {1, batch, kHidden}).input("enc", {batch, 5, kHidden}).output("logits").output("hn");
  b.weights("", 3, 1, 4 + kHidden, kHidden).random("M", {kHidden, 3}).constant_ints("one", {1}, {1}).constant_ints("zero", {}, {0});
  b.node("Gather", {"h", "zero"}, {"q"}).with("axis", 0);
  b.node("Unsqueeze", {"q", "one"}, {"query"});
  b.node("Transpose", {"enc"}, {"keys"}).with("perm", Ints{0, 2, 1});
  b.node("MatMul", {"query", "keys"}, {"scores"});
  b.node("Softmax", {"scores"}, {"attn"}).with("axis", -1);
  b.node("MatMul", {"attn", "enc"}, {"context"});
  b.node("Concat", {"y", "context"}, {"both"}).with("axis", -1);
  b.node("Transpose", {"both"}, {"x"}).with("perm", Ints{1, 0, 2});
  b.node("GRU", {"x", "W", "R", "B", "", "h"}, {"out", "hn"}).with("hidden_size", kHidden);
  b.node("Squeeze", {"out", "one"}, {"out3"});
  b.node("MatMul", {"out3", "M"}, {"logits"});
  return b;
}

TEST(InPieces, ADecoderStepHasItsStateKeptOrGiven) {
  for (const Dim &batch : {Dim(1), Dim("N")}) {
    const onnx::ModelProto proto = decoder_step(batch).proto;
    std::string notes;
    for (const std::string &note : graph_of(proto).notes) notes += note + "\n";
    EXPECT_NE(notes.find("--state h=hn"), std::string::npos) << notes;
    check_persistent_states(proto, {{"h", "hn"}}, {4, batch.value ? batch.value : 3});
    check_against_f64(proto, {1, batch.value ? batch.value : 3});
  }
}

TEST(InPieces, AStartThatIsComputedFromAPersistentStateIsComputedAtEveryStep) {
  OnnxBuilder b;
  b.input("X", {1, "N", 4}).input("h", {1, "N", 3}).output("Y").output("next").weights("", 3, 1, 4, kHidden);
  b.random("M", {3, kHidden}).random("P", {kHidden, 3}).node("MatMul", {"h", "M"}, {"start"});
  b.node("GRU", {"X", "W", "R", "B", "", "start"}, {"Y", "hn"}).with("hidden_size", kHidden);
  b.node("MatMul", {"hn", "P"}, {"next"});
  check_persistent_states(b.proto, {{"h", "next"}});
  check_against_f64(b.proto);
}

// What torch's exporter writes of proj_size: c is wider than hidden_size.
TEST(InPieces, AnLstmThatWasExportedWithoutItsProjectionIsRefusedWithWhatHelps) {
  OnnxBuilder b;
  b.input("X", {"T", "N", 4})
      .output("Y")
      .weights("", 4, 1, 4, kHidden)
      .random("h", {1, 1, kHidden})
      .random("c", {1, 1, 2 * kHidden});
  b.node("LSTM", {"X", "W", "R", "B", "", "h", "c"}, {"Y"}).with("hidden_size", kHidden);
  const std::string refused = refusal_of(b.proto);
  EXPECT_NE(refused.find("proj_size"), std::string::npos) << refused;
  EXPECT_NE(refused.find("rnnpack.torch_without_projection(module)"), std::string::npos) << refused;
}

// What is joined has as many steps: both are opened, or neither.
TEST(InPieces, AxesOfOneStepThatAreJoinedAreOpenedTogether) {
  OnnxBuilder b;
  b.input("X", {1, 1, 4}).input("ctx", {1, 1, 4}).output("Y").weights("", 3, 1, 8, kHidden);
  b.node("Concat", {"X", "ctx"}, {"both"}).with("axis", 2);
  b.node("GRU", {"both", "W", "R", "B"}, {"Y", "hn"}).with("hidden_size", kHidden);
  for (const compiler::Io &input : graph_of(b.proto).inputs) {
    EXPECT_EQ(input.role, static_cast<uint32_t>(RNNP_ROLE_SEQUENCE)) << input.name;
    EXPECT_EQ(input.dims[0], RNNP_DIM_STEPS) << input.name;
    EXPECT_EQ(input.dims[1], RNNP_DIM_BATCH) << input.name;
  }
  check_against_f64(b.proto, {1, 1});
  OnnxBuilder open;
  open.input("X", {1, 1, 4}).output("Y").weights("", 3, 1, 4, kHidden);
  open.node("GRU", {"X", "W", "R", "B"}, {"Y", "hn"}).with("hidden_size", kHidden);
  EXPECT_EQ(graph_of(open.proto).inputs[0].dims[0], RNNP_DIM_STEPS);
}

// Batch and steps in one axis, as dual-path networks have them, are not one input's and another's.
TEST(InPieces, PartsOfBatchTimesStepsAreJoined) {
  OnnxBuilder b;
  b.input("X", {"N", "T", 2, 4}).output("Y").weights("", 3, 1, 16, kHidden);
  b.constant_ints("i0", {1}, {0}).constant_ints("i1", {1}, {1}).constant_ints("rest", {2}, {2, 4}).constant_ints("all", {1}, {-1});
  b.node("Shape", {"X"}, {"sizes"});
  b.node("Gather", {"sizes", "i0"}, {"n"});
  b.node("Gather", {"sizes", "i1"}, {"t"});
  b.node("Mul", {"n", "t"}, {"rows"});
  b.node("Concat", {"rows", "rest"}, {"merged"}).with("axis", 0);
  b.node("Concat", {"n", "t", "all"}, {"apart"}).with("axis", 0);
  b.node("Reshape", {"X", "merged"}, {"x"});
  b.node("Relu", {"x"}, {"a"});
  b.node("Tanh", {"x"}, {"b"});
  b.node("Concat", {"a", "b"}, {"ab"}).with("axis", -1);
  b.node("Reshape", {"ab", "apart"}, {"flat"});
  b.node("Transpose", {"flat"}, {"turned"}).with("perm", Ints{1, 0, 2});
  b.node("GRU", {"turned", "W", "R", "B"}, {"Y"}).with("hidden_size", kHidden);
  check_against_f64(b.proto, {6, 3});
}

TEST(InPieces, AFileForItsOwnNumberOfStepsSaysSo) {
  OnnxBuilder b;
  b.input("X", {7, 2, 4}).output("Y").weights("", 3, 1, 4, kHidden).constant_ints("shape", {3}, {7, 2, kHidden});
  b.node("GRU", {"X", "W", "R", "B"}, {"y", "hn"}).with("hidden_size", kHidden);
  b.node("Reshape", {"y", "shape"}, {"Y"});
  EXPECT_NE(notes_of(graph_of(b.proto)).find("the file is for 7 steps alone"), std::string::npos) << notes_of(graph_of(b.proto));
  check_against_f64(b.proto, {7, 2});
}

// What the note says to do works.
TEST(InPieces, ProposedStatesAreAccepted) {
  const auto proposed = [](const onnx::ModelProto &proto) {
    return notes_of(graph_of(proto)).find("--state") != std::string::npos;
  };
  EXPECT_TRUE(proposed(h0_read(Also::kQuery).proto));
  check_persistent_states(h0_read(Also::kQuery).proto, {{"h0", "hn"}});
  OnnxBuilder last;  // what looks like a next value by its name is known at the end only
  last.input("X", {"T", "N", 4}).input("m", {"N", 4}).output("m_next").constant_ints("end", {}, {-1}).constant("half", {}, {0.5f});
  last.output("Y").weights("", 3, 1, 4, kHidden);
  last.node("Add", {"X", "m"}, {"s"});
  last.node("Gather", {"s", "end"}, {"m_next"}).with("axis", 0);
  last.node("GRU", {"s", "W", "R", "B"}, {"Y"}).with("hidden_size", kHidden);
  if (proposed(last.proto)) {
    check_persistent_states(last.proto, {{"m", "m_next"}});
  } else {
    EXPECT_NE(error_of(last.proto, {"generic", {{"m", "m_next"}}}), "");
  }
}

}  // namespace concat_slices_test
}  // namespace rnnp::testing_support
