// graphs_test.cpp -- what exporters put around recurrent layers, end to end against the f64 evaluation.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "onnx_builder.h"
#include "rnnpack/rnnpack.h"

namespace rnnp::testing_support {
namespace graphs_test {

using Ints = std::vector<int64_t>;

constexpr int kHidden = 6;

// X [T, N, 5] -> GRU -> "H" [T, N, 6].
OnnxBuilder gru(int64_t opset = 17) {
  OnnxBuilder b(opset);
  b.input("X", {"T", "N", 5}).weights("", 3, 1, 5, kHidden);
  b.node("GRU", {"X", "W", "R", "B"}, {"Y", "Y_h"}, "gru").with("hidden_size", kHidden);
  if (opset < 13) {
    b.node("Squeeze", {"Y"}, {"H"}).with("axes", Ints{1});
  } else {
    b.constant_ints("one", {1}, {1});
    b.node("Squeeze", {"Y", "one"}, {"H"});
  }
  return b;
}

const compiler::Node &only_node(const compiler::Graph &graph, OpKind op) {
  for (const compiler::Node &node : graph.nodes) {
    if (node.op == op) return node;
  }
  throw std::runtime_error("no such node");
}

compiler::Graph graph_of(const OnnxBuilder &b) {
  return compiler::compile_model(*compiler::check_model(b.proto), "generic").graph;
}

TEST(Graphs, MatMulAddAndActivationAreOneNode) {
  OnnxBuilder b = gru();
  b.random("M", {kHidden, 4}).random("c", {4}).output("P");
  b.node("MatMul", {"H", "M"}, {"m"});
  b.node("Add", {"c", "m"}, {"a"});
  b.node("Sigmoid", {"a"}, {"P"});
  const compiler::Graph graph = graph_of(b);
  EXPECT_EQ(graph.nodes.size(), 2u);
  const auto &dense = std::get<compiler::Dense>(only_node(graph, OpKind::kDense).attr);
  EXPECT_EQ(dense.act.act, static_cast<uint32_t>(Act::kSigmoid));
  EXPECT_EQ(dense.bias.size(), 4u);
  check_against_f64(b.proto);
}

TEST(Graphs, ASharedSumIsNotFused) {
  OnnxBuilder b = gru();
  b.random("M", {kHidden, 4}).random("c", {4}).output("P").output("m");
  b.node("MatMul", {"H", "M"}, {"m"});
  b.node("Add", {"m", "c"}, {"P"});
  EXPECT_EQ(graph_of(b).nodes.size(), 3u);
  check_against_f64(b.proto);
}

TEST(Graphs, GemmInEveryForm) {
  for (int bits = 0; bits < 8; ++bits) {
    SCOPED_TRACE(bits);
    OnnxBuilder b;
    b.input("X", {"N", 5}).output("Y");
    b.random("B", bits & 1 ? Ints{4, 5} : Ints{5, 4}).random("C", bits & 2 ? Ints{1} : Ints{1, 4});
    NodeBuilder node =
        b.node("Gemm", bits & 4 ? std::vector<std::string>{"X", "B"} : std::vector<std::string>{"X", "B", "C"}, {"Y"});
    node.with("transB", bits & 1).with("alpha", 0.5).with("beta", 2.0);
    check_against_f64(b.proto);
  }
}

TEST(Graphs, ReshapeMergesStepsAndBatchForADenseLayer) {
  OnnxBuilder b = gru(11);
  b.constant_ints("flat", {2}, {-1, kHidden}).random("M", {kHidden, 4}).output("Z");
  b.node("Reshape", {"H", "flat"}, {"h2"});
  b.node("MatMul", {"h2", "M"}, {"m"});
  b.node("Shape", {"X"}, {"shape"});
  b.constant_ints("zero", {1}, {0}).constant_ints("two", {1}, {2}).constant_ints("four", {1}, {4}).constant_ints("axis", {1}, {0});
  b.node("Slice", {"shape", "zero", "two", "axis"}, {"head"});
  b.node("Concat", {"head", "four"}, {"target"}).with("axis", 0);
  b.node("Reshape", {"m", "target"}, {"Z"});
  EXPECT_EQ(graph_of(b).nodes.size(), 2u);
  check_against_f64(b.proto);
}

TEST(Graphs, InitialStateExpandedToTheBatch) {
  OnnxBuilder b;
  b.input("X", {"T", "N", 5}).weights("", 3, 1, 5, kHidden).random("h0", {1, 1, kHidden}).output("Y").output("Z");
  b.constant_ints("i1", {}, {1})
      .constant_ints("ones", {1}, {1})
      .constant_ints("hidden", {1}, {kHidden})
      .constant_ints("zero", {1}, {0});
  b.node("Shape", {"X"}, {"shape"});
  b.node("Gather", {"shape", "i1"}, {"n"}).with("axis", 0);
  b.node("Unsqueeze", {"n", "zero"}, {"n1"});
  b.node("Concat", {"ones", "n1", "hidden"}, {"target"}).with("axis", 0);
  b.node("Expand", {"h0", "target"}, {"H0"});
  b.node("ConstantOfShape", {"target"}, {"Z0"});
  b.node("GRU", {"X", "W", "R", "B", "", "H0"}, {"Y"}).with("hidden_size", kHidden);
  b.node("GRU", {"X", "W", "R", "B", "", "Z0"}, {"Z"}).with("hidden_size", kHidden);
  EXPECT_EQ(graph_of(b).fixed_batch, 0u);
  check_against_f64(b.proto);
}

// One input [N, 2, H, 2] holds h and c of two layers, next to each other element by element.
TEST(Graphs, InitialStatesAreReadWhereTheyLie) {
  OnnxBuilder b;
  b.input("X", {"T", "N", 5}).input("S", {"N", 2, kHidden, 2}).weights("a", 4, 1, 5, kHidden).weights("b", 4, 1, kHidden, kHidden);
  b.constant_ints("axes", {2}, {1, 3}).constant_ints("zero", {1}, {0}).constant_ints("one", {1}, {1}).output("Y");
  for (int layer = 0; layer < 2; ++layer) {
    for (int part = 0; part < 2; ++part) {
      const std::string name = std::to_string(layer) + std::to_string(part);
      b.constant_ints("first" + name, {2}, {layer, part}).constant_ints("end" + name, {2}, {layer + 1, part + 1});
      b.node("Slice", {"S", "first" + name, "end" + name, "axes"}, {"s" + name});
      b.node("Squeeze", {"s" + name, "axes"}, {"q" + name});
      b.node("Unsqueeze", {"q" + name, "zero"}, {"i" + name});
    }
  }
  b.node("LSTM", {"X", "aW", "aR", "aB", "", "i00", "i01"}, {"y0", "h0", "c0"}).with("hidden_size", kHidden);
  b.node("Squeeze", {"y0", "one"}, {"x1"});
  b.node("LSTM", {"x1", "bW", "bR", "bB", "", "i10", "i11"}, {"Y", "h1", "c1"}).with("hidden_size", kHidden);
  const compiler::Graph graph = graph_of(b);
  EXPECT_EQ(graph.nodes.size(), 2u);
  EXPECT_TRUE(graph.causal);
  EXPECT_EQ(graph.inputs[1].role, static_cast<uint32_t>(RNNP_ROLE_STATE));
  check_against_f64(b.proto);
}

TEST(Graphs, InitialStatesOfBothDirectionsFromOneTransposedInput) {
  OnnxBuilder b;
  b.input("X", {"T", "N", 5}).input("S", {"N", kHidden, 2}).weights("", 3, 2, 5, kHidden).output("Y").output("Y_h");
  b.node("Transpose", {"S"}, {"s"}).with("perm", Ints{2, 0, 1});
  b.node("GRU", {"X", "W", "R", "B", "", "s"}, {"Y", "Y_h"}).with("hidden_size", kHidden).with("direction", "bidirectional");
  EXPECT_EQ(graph_of(b).nodes.size(), 1u);
  check_against_f64(b.proto);
}

TEST(Graphs, InitialStateReversedAroundIsCopied) {
  OnnxBuilder b;
  b.input("X", {"T", "N", 5}).input("S", {1, "N", kHidden}).weights("", 3, 1, 5, kHidden).output("Y");
  b.constant_ints("first", {1}, {-1}).constant_ints("end", {1}, {INT64_MIN}).constant_ints("axis", {1}, {2});
  b.constant_ints("back", {1}, {-1});
  b.node("Slice", {"S", "first", "end", "axis", "back"}, {"s"});
  b.node("GRU", {"X", "W", "R", "B", "", "s"}, {"Y"}).with("hidden_size", kHidden);
  EXPECT_EQ(graph_of(b).nodes.size(), 2u);
  check_against_f64(b.proto);
}

TEST(Graphs, LastAndFirstStep) {
  OnnxBuilder b = gru();
  b.constant_ints("last", {}, {-1}).constant_ints("first", {}, {0}).output("L").output("F").output("S");
  b.node("Gather", {"H", "last"}, {"L"}).with("axis", 0);
  b.node("Gather", {"H", "first"}, {"F"}).with("axis", 0);
  b.constant_ints("start", {1}, {-1}).constant_ints("end", {1}, {INT64_MAX}).constant_ints("axis", {1}, {0});
  b.node("Slice", {"H", "start", "end", "axis"}, {"S"});
  check_against_f64(b.proto);
}

TEST(Graphs, FeaturesSlicedSplitJoinedAndGathered) {
  OnnxBuilder b = gru();
  b.constant_ints("s", {1}, {5}).constant_ints("e", {1}, {-8}).constant_ints("a", {1}, {2}).constant_ints("st", {1}, {-2});
  b.node("Slice", {"H", "s", "e", "a", "st"}, {"sliced"});  // 5 3 1
  b.constant_ints("sizes", {2}, {2, 4});
  b.node("Split", {"H", "sizes"}, {"p0", "p1"}).with("axis", -1);
  b.constant_ints("index", {4}, {0, 5, 2, 2});
  b.node("Gather", {"H", "index"}, {"g"}).with("axis", 2);
  b.node("Concat", {"p1", "sliced", "p0", "X", "g"}, {"joined"}).with("axis", 2);
  b.output("joined").output("p0");
  check_against_f64(b.proto);
}

TEST(Graphs, TransposedFeatureAxes) {
  OnnxBuilder b = gru();
  b.constant_ints("four", {4}, {0, 0, 2, 3}).random("bias", {3, 1}).random("M", {2, 5}).output("Z").output("Q");
  b.node("Reshape", {"H", "four"}, {"h4"});
  b.node("Transpose", {"h4"}, {"t"}).with("perm", Ints{1, 3, 0, 2});  // [N, 3, T, 2]
  b.node("MatMul", {"t", "M"}, {"m"});
  b.node("Transpose", {"m"}, {"Z"}).with("perm", Ints{2, 0, 1, 3});
  b.node("Transpose", {"h4"}, {"u"}).with("perm", Ints{0, 1, 3, 2});
  b.node("Add", {"u", "bias"}, {"ub"});
  b.node("Relu", {"ub"}, {"Q"});
  check_against_f64(b.proto);
}

TEST(Graphs, ConstantTimesFeatures) {
  OnnxBuilder b = gru();
  b.constant_ints("four", {4}, {0, 0, 2, 3}).random("A", {5, 2}).output("Z");
  b.node("Reshape", {"H", "four"}, {"h4"});
  b.node("MatMul", {"A", "h4"}, {"Z"});
  check_against_f64(b.proto);
}

TEST(Graphs, ArithmeticWithBroadcasting) {
  for (const char *op : {"Add", "Sub", "Mul", "Div", "Min", "Max", "Pow"}) {
    SCOPED_TRACE(op);
    OnnxBuilder b;
    b.input("X", {"N", 2, 3, 4}).output("Y").output("Z");
    b.constant("c", {3, 1}, {1.0f, 2.0f, 3.0f}).constant("two", {}, {2.0f});
    b.node("Abs", {"X"}, {"P"});
    b.node(op, {"P", "c"}, {"Y"});
    b.node(op, {"two", "Y"}, {"Z"});
    check_against_f64(b.proto, {}, {}, 2e-5);
  }
}

TEST(Graphs, RowsMeetSequences) {
  OnnxBuilder b = gru();
  b.output("Z");
  b.node("Add", {"H", "Y_h"}, {"Z"});
  EXPECT_FALSE(graph_of(b).causal);
  check_against_f64(b.proto);
}

// An embedding of the speaker, computed once per run and added to every step: made in the first chunk, so the model may be cut.
TEST(Graphs, RowsMadeFromRowInputsMeetSequencesInPieces) {
  OnnxBuilder b = gru();
  b.input("S", {"N", 4}).random("M", {4, kHidden}).random("M2", {kHidden, 3}).output("A").output("E").output("L");
  b.node("MatMul", {"S", "M"}, {"m"});
  b.node("Tanh", {"m"}, {"E"});
  b.node("Add", {"H", "E"}, {"A"});
  b.node("Squeeze", {"Y_h", "zero"}, {"last"});
  b.constant_ints("zero", {1}, {0});
  b.node("Mul", {"last", "E"}, {"p"});
  b.node("MatMul", {"p", "M2"}, {"L"});
  const compiler::Graph graph = graph_of(b);
  EXPECT_TRUE(graph.causal);
  check_against_f64(b.proto);
}

// C only goes through a convolution, whose sums tell nothing of its batch axis; its time axis has X's name.
TEST(Graphs, TheBatchStandsBesideANamedTimeAxis) {
  OnnxBuilder b;
  b.input("X", {1, "T", 5}).input("C", {1, 3, "T", 3}).random("K", {2, 3, 1, 1}).weights("", 3, 1, 5, kHidden).output("Z");
  b.constant_ints("shape", {3}, {0, 0, kHidden}).constant_ints("two", {1}, {2});
  b.node("GRU", {"X", "W", "R"}, {"Y"}).with("hidden_size", kHidden).with("layout", 1);
  b.node("Squeeze", {"Y", "two"}, {"H"});
  b.node("Conv", {"C", "K"}, {"c"});
  b.node("Transpose", {"c"}, {"t"}).with("perm", Ints{0, 2, 1, 3});
  b.node("Reshape", {"t", "shape"}, {"flat"});
  b.node("Add", {"flat", "H"}, {"Z"});
  const compiler::Graph graph = graph_of(b);
  ASSERT_EQ(graph.inputs.size(), 2u);
  EXPECT_EQ(graph.inputs[1].dims, (std::vector<int32_t>{RNNP_DIM_BATCH, 3, RNNP_DIM_STEPS, 3}));
  check_against_f64(b.proto, {5, 1});
}

TEST(Graphs, AddingZeroIsNoNode) {
  OnnxBuilder b = gru();
  b.constant("zero", {}, {0.0f}).constant("zeros", {1, 1, 1, 1}, {0.0f}).output("P").output("Q");
  b.node("Add", {"zero", "H"}, {"p"});
  b.node("Relu", {"p"}, {"P"});
  b.node("Add", {"H", "zeros"}, {"Q"});
  EXPECT_EQ(graph_of(b).nodes.size(), 3u);
  check_against_f64(b.proto);
}

// Words in, one embedding per step; in two forms: one index a step, and several.
TEST(Graphs, EmbeddingsOfIndices) {
  for (const bool several : {false, true}) {
    OnnxBuilder b;
    if (several) {
      b.input("I", {"T", "N", 3}, onnx::TensorProto::INT64).constant_ints("merged", {3}, {0, 0, 15});
    } else {
      b.input("I", {"T", "N"}, onnx::TensorProto::INT64).constant_ints("merged", {3}, {0, 0, 5});
    }
    b.random("table", {11, 5}).weights("", 3, 1, several ? 15 : 5, kHidden).output("Y").output("E");
    b.node("Gather", {"table", "I"}, {"E"});
    b.node("Reshape", {"E", "merged"}, {"X"});
    b.node("GRU", {"X", "W", "R", "B"}, {"Y"}).with("hidden_size", kHidden);
    EXPECT_TRUE(graph_of(b).causal);
    check_against_f64(b.proto);
  }
}

TEST(Graphs, EmbeddingsThatAreRefused) {
  OnnxBuilder inner;
  inner.input("I", {"T", "N"}, onnx::TensorProto::INT64).random("table", {5, 11}).weights("", 3, 1, 5, kHidden).output("Y");
  inner.node("Gather", {"table", "I"}, {"X"}, "words").with("axis", 1);
  inner.node("GRU", {"X", "W", "R", "B"}, {"Y"}).with("hidden_size", kHidden);
  EXPECT_NE(refusal_of(inner.proto).find("axis 0"), std::string::npos) << refusal_of(inner.proto);
  OnnxBuilder rows = gru();
  rows.input("S", {"N"}, onnx::TensorProto::INT64).random("table", {7, kHidden}).output("A");
  rows.node("Gather", {"table", "S"}, {"e"}, "speaker");
  rows.node("Add", {"H", "e"}, {"A"});
  EXPECT_NE(refusal_of(rows.proto).find("same for all steps"), std::string::npos) << refusal_of(rows.proto);
}

TEST(Graphs, SoftmaxByOpset) {
  for (int64_t opset : {11, 13}) {
    OnnxBuilder b = gru(opset);
    b.constant_ints("four", {4}, {0, 0, 2, 3}).output("S").output("L");
    b.node("Reshape", {"H", "four"}, {"h4"});
    b.node("Softmax", {"h4"}, {"S"}).with("axis", 2);
    b.node("LogSoftmax", {"h4"}, {"L"}).with("axis", -1);
    check_against_f64(b.proto);
  }
}

TEST(Graphs, EveryElementwiseOperator) {
  for (const char *op : {"Relu", "Tanh", "Sigmoid", "LeakyRelu", "ThresholdedRelu", "HardSigmoid", "Elu", "Softsign", "Softplus",
                         "Exp", "Abs", "Neg", "HardSwish", "Floor", "Ceil"}) {
    SCOPED_TRACE(op);
    OnnxBuilder b;
    b.input("X", {"N", 40}).output("Y");
    b.node(op, {"X"}, {"Y"});
    check_against_f64(b.proto);
  }
  for (const char *op : {"Log", "Sqrt", "Reciprocal"}) {
    OnnxBuilder b;
    b.input("X", {"N", 40}).constant("half", {}, {0.5f}).output("Y");
    b.node("Abs", {"X"}, {"a"});
    b.node("Add", {"a", "half"}, {"p"});
    b.node(op, {"p"}, {"Y"});
    check_against_f64(b.proto);
  }
}

TEST(Graphs, SequenceWithoutABatchAxis) {
  OnnxBuilder b;
  b.input("X", {"T", 5})
      .weights("", 3, 1, 5, kHidden)
      .constant_ints("one", {1}, {1})
      .constant_ints("both", {2}, {1, 2})
      .output("Z");
  b.node("Unsqueeze", {"X", "one"}, {"x3"});
  b.node("GRU", {"x3", "W", "R", "B"}, {"Y"}).with("hidden_size", kHidden);
  b.node("Squeeze", {"Y", "both"}, {"Z"});
  check_against_f64(b.proto, {7, 1});
}

TEST(Graphs, PerStepConstantsThatAreFoldedFromChains) {
  OnnxBuilder b;
  b.input("X", {"T", "N", 5}).output("Y");
  b.random("raw", {6 + 6 * 3, 5}).random("rec", {18, 6});
  b.constant_ints("s", {1}, {6}).constant_ints("e", {1}, {24}).constant_ints("zero", {1}, {0});
  b.node("Slice", {"raw", "s", "e", "zero"}, {"w2"});
  b.node("Unsqueeze", {"w2", "zero"}, {"W"});
  b.node("Transpose", {"rec"}, {"rt"});
  b.node("Transpose", {"rt"}, {"r2"});
  b.node("Unsqueeze", {"r2", "zero"}, {"R"});
  b.node("GRU", {"X", "W", "R"}, {"Y"}).with("hidden_size", kHidden);
  EXPECT_EQ(graph_of(b).nodes.size(), 1u);
  check_against_f64(b.proto);
}

TEST(Graphs, InputsAndConstantsAsOutputs) {
  OnnxBuilder b = gru();
  b.random("c", {1, 3}).output("X").output("c").output("H").output("H2");
  b.node("Identity", {"H"}, {"H2"});
  const auto model = compiler::check_model(b.proto);
  EXPECT_EQ(compiler::compile_model(*model, "generic").graph.outputs.size(), 4u);
}

}  // namespace graphs_test
}  // namespace rnnp::testing_support
