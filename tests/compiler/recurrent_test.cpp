// recurrent_test.cpp -- RNN, GRU and LSTM with what published cases leave out, end to end against the f64 evaluation.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace recurrent_test {

constexpr int kInputs = 5, kHidden = 6;

int64_t gates_of(const std::string &op) {
  return op == "LSTM" ? 4 : op == "GRU" ? 3 : 1;
}

std::vector<std::string> outputs_of(const std::string &op) {
  return op == "LSTM" ? std::vector<std::string>{"Y", "Y_h", "Y_c"} : std::vector<std::string>{"Y", "Y_h"};
}

// One recurrent node with all its optional inputs as asked for.
struct Layer {
  std::string op = "LSTM";
  std::string direction = "forward";
  bool batch_first = false, lengths = false, initial = false, peephole = false, fixed = false;
  int64_t hidden = kHidden;

  int64_t directions() const { return direction == "bidirectional" ? 2 : 1; }

  OnnxBuilder build(NodeBuilder *node, std::vector<std::string> inputs = {}) const {
    OnnxBuilder b;
    const Dim t = fixed ? Dim(4) : Dim("T"), n = fixed ? Dim(3) : Dim("N");
    const std::vector<Dim> state =
        batch_first ? std::vector<Dim>{n, directions(), hidden} : std::vector<Dim>{directions(), n, hidden};
    b.input("X", batch_first ? std::vector<Dim>{n, t, kInputs} : std::vector<Dim>{t, n, kInputs});
    b.weights("", gates_of(op), directions(), kInputs, hidden);
    if (lengths) b.input("L", {n}, onnx::TensorProto::INT32);
    if (initial) b.input("H0", state);
    if (initial && op == "LSTM") b.input("C0", state);
    if (peephole) b.random("P", {directions(), 3 * hidden});
    std::vector<std::string> names = {"X", "W", "R", "B", lengths ? "L" : "", initial ? "H0" : ""};
    if (op == "LSTM") names.insert(names.end(), {initial ? "C0" : "", peephole ? "P" : ""});
    for (const std::string &name : outputs_of(op)) b.output(name);
    *node = b.node(op, inputs.empty() ? names : inputs, outputs_of(op), "layer");
    node->with("direction", direction.c_str()).with("hidden_size", hidden).with("layout", batch_first ? 1 : 0);
    return b;
  }
};

// Node pointers move with the builder, so attributes are set through this.
template <typename Set>
void check(const Layer &layer, Set set, double tolerance = 1e-5) {
  NodeBuilder node(nullptr);
  OnnxBuilder b = layer.build(&node);
  NodeBuilder moved(b.proto.mutable_graph()->mutable_node(0));
  set(moved);
  check_against_f64(b.proto, layer.fixed ? Sizes{4, 3} : Sizes{}, {}, tolerance);
}
void check(const Layer &layer) {
  check(layer, [](NodeBuilder &) {});
}

TEST(Recurrent, EveryDirectionLayoutAndOptionalInput) {
  for (const char *op : {"RNN", "GRU", "LSTM"}) {
    for (const char *direction : {"forward", "reverse", "bidirectional"}) {
      for (int bits = 0; bits < 16; ++bits) {
        SCOPED_TRACE(std::string(op) + " " + direction + " " + std::to_string(bits));
        Layer layer;
        layer.op = op;
        layer.direction = direction;
        layer.batch_first = bits & 1;
        layer.lengths = bits & 2;
        layer.initial = bits & 4;
        layer.peephole = (bits & 8) && layer.op == "LSTM";
        layer.fixed = (bits & 8) && layer.op != "LSTM";
        check(layer);
      }
    }
  }
}

TEST(Recurrent, OddSizes) {
  for (int64_t hidden : {1, 3, 4, 15, 16, 17, 33}) {
    for (const char *op : {"RNN", "GRU", "LSTM"}) {
      SCOPED_TRACE(std::string(op) + " " + std::to_string(hidden));
      Layer layer;
      layer.op = op;
      layer.hidden = hidden;
      check(layer);
    }
  }
}

TEST(Recurrent, ClipBoundsPreActivations) {
  for (const char *op : {"RNN", "GRU", "LSTM"}) {
    SCOPED_TRACE(op);
    Layer layer;
    layer.op = op;
    layer.direction = "bidirectional";
    layer.peephole = layer.op == "LSTM";
    check(layer, [](NodeBuilder &node) { node.with("clip", 0.4); });
  }
}

TEST(Recurrent, InputForgetCouplesTheGates) {
  Layer layer;
  layer.peephole = true;
  check(layer, [](NodeBuilder &node) { node.with("input_forget", 1); });
}

TEST(Recurrent, BothFormsOfGruWithBothBiases) {
  for (const char *direction : {"forward", "bidirectional"}) {
    for (int form : {0, 1}) {
      Layer layer;
      layer.op = "GRU";
      layer.direction = direction;
      layer.initial = true;
      check(layer, [&](NodeBuilder &node) { node.with("linear_before_reset", form); });
    }
  }
}

TEST(Recurrent, EveryActivation) {
  const std::vector<std::string> names = {"Relu",       "Tanh",        "Sigmoid", "Affine",   "LeakyRelu", "ThresholdedRelu",
                                          "ScaledTanh", "HardSigmoid", "Elu",     "Softsign", "Softplus"};
  for (const std::string &name : names) {
    SCOPED_TRACE(name);
    Layer rnn;
    rnn.op = "RNN";
    check(rnn, [&](NodeBuilder &node) { node.with("activations", std::vector<std::string>{name}); });
    check(rnn, [&](NodeBuilder &node) {
      node.with("activations", std::vector<std::string>{name})
          .with("activation_alpha", std::vector<float>{0.3f})
          .with("activation_beta", std::vector<float>{0.6f});
    });
    Layer gru;
    gru.op = "GRU";
    check(gru, [&](NodeBuilder &node) { node.with("activations", std::vector<std::string>{"Sigmoid", name}).with("clip", 2.0); });
    Layer lstm;
    check(lstm, [&](NodeBuilder &node) {
      node.with("activations", std::vector<std::string>{"HardSigmoid", name, "Softsign"}).with("clip", 1.0);
    });
    check(lstm, [&](NodeBuilder &node) { node.with("activations", std::vector<std::string>{"Sigmoid", "Tanh", name}); });
  }
}

TEST(Recurrent, AlphasGoToThoseThatTakeThemInOrder) {
  Layer layer;
  layer.direction = "bidirectional";
  check(layer, [](NodeBuilder &node) {
    node.with("activations", std::vector<std::string>{"HardSigmoid", "Tanh", "Affine", "sigmoid", "ScaledTanh", "LEAKYRELU"})
        .with("activation_alpha", std::vector<float>{0.25f, 0.5f, 0.9f, 0.1f})
        .with("activation_beta", std::vector<float>{0.4f, 0.1f, 0.7f});
  });
}

TEST(Recurrent, ZeroLengthRowsKeepANonZeroInitialState) {
  for (const char *op : {"RNN", "GRU", "LSTM"}) {
    for (const char *direction : {"forward", "reverse", "bidirectional"}) {
      Layer layer;
      layer.op = op;
      layer.direction = direction;
      layer.lengths = layer.initial = true;
      NodeBuilder node(nullptr);
      const OnnxBuilder b = layer.build(&node);
      compiler::Arrays given;
      given["L"].shape = {3};
      given["L"].is_int = true;
      given["L"].i32 = {0, 7, 2};
      check_against_f64(b.proto, {7, 3}, given);
    }
  }
}

TEST(Recurrent, ConstantStatesAndLengths) {
  for (bool same_rows : {true, false}) {
    OnnxBuilder b;
    b.input("X", {"T", 3, kInputs}).weights("", 4, 2, kInputs, kHidden).output("Y").output("Y_h").output("Y_c");
    if (same_rows) {
      std::vector<float> rows;
      for (int d = 0; d < 2; ++d) {
        for (int n = 0; n < 3; ++n) {
          for (int u = 0; u < kHidden; ++u) rows.push_back(0.1f * static_cast<float>(u + d));
        }
      }
      b.constant("H0", {2, 3, kHidden}, rows).constant("C0", {2, 3, kHidden}, rows);
    } else {
      b.random("H0", {2, 3, kHidden}).random("C0", {2, 3, kHidden}).constant_ints("L", {3}, {2, 5, 0}, onnx::TensorProto::INT32);
    }
    b.node("LSTM", {"X", "W", "R", "B", same_rows ? "" : "L", "H0", "C0"}, {"Y", "Y_h", "Y_c"})
        .with("hidden_size", kHidden)
        .with("direction", "bidirectional");
    check_against_f64(b.proto, {5, 3});
  }
}

TEST(Recurrent, StackOfTwoBidirectionalLayers) {
  OnnxBuilder b;
  b.input("X", {"T", "N", kInputs})
      .weights("a", 4, 2, kInputs, kHidden)
      .weights("b", 4, 2, 2 * kHidden, kHidden)
      .output("Z")
      .output("Y_h");
  b.constant_ints("shape", {3}, {0, 0, -1});
  b.node("LSTM", {"X", "aW", "aR", "aB"}, {"Y1", "Y_h"}, "first").with("hidden_size", kHidden).with("direction", "bidirectional");
  b.node("Transpose", {"Y1"}, {"Y1t"}).with("perm", std::vector<int64_t>{0, 2, 1, 3});
  b.node("Reshape", {"Y1t", "shape"}, {"X2"});
  b.node("LSTM", {"X2", "bW", "bR", "bB"}, {"Y2"}, "second").with("hidden_size", kHidden).with("direction", "bidirectional");
  b.node("Transpose", {"Y2"}, {"Y2t"}).with("perm", std::vector<int64_t>{0, 2, 1, 3});
  b.node("Reshape", {"Y2t", "shape"}, {"Z"});
  check_against_f64(b.proto);
}

TEST(Recurrent, EncoderGivesTheDecoderItsState) {
  OnnxBuilder b;
  b.input("X", {"T", "N", kInputs})
      .input("D", {"T", "N", 4})
      .weights("a", 3, 1, kInputs, kHidden)
      .weights("b", 3, 1, 4, kHidden)
      .output("Y");
  b.node("GRU", {"X", "aW", "aR", "aB"}, {"", "H"}, "encoder").with("hidden_size", kHidden);
  b.node("GRU", {"D", "bW", "bR", "bB", "", "H"}, {"Y"}, "decoder").with("hidden_size", kHidden);
  check_against_f64(b.proto);
}

TEST(Recurrent, StatesOfAStackInOneTensor) {
  OnnxBuilder b;
  b.input("X", {"T", "N", kInputs}).input("H", {2, "N", kHidden});
  b.weights("a", 3, 1, kInputs, kHidden).weights("b", 3, 1, kHidden, kHidden).output("Z").output("HN");
  b.constant_ints("one", {1}, {1}).constant_ints("pieces", {2}, {1, 1});
  b.node("Split", {"H", "pieces"}, {"h0", "h1"}).with("axis", 0);
  b.node("GRU", {"X", "aW", "aR", "aB", "", "h0"}, {"Y", "n0"}).with("hidden_size", kHidden);
  b.node("Squeeze", {"Y", "one"}, {"X2"});
  b.node("GRU", {"X2", "bW", "bR", "bB", "", "h1"}, {"Z", "n1"}).with("hidden_size", kHidden);
  b.node("Concat", {"n0", "n1"}, {"HN"}).with("axis", 0);
  check_against_f64(b.proto);
}

TEST(Recurrent, LongSequences) {
  for (const char *op : {"RNN", "GRU", "LSTM"}) {
    Layer layer;
    layer.op = op;
    layer.initial = true;
    NodeBuilder node(nullptr);
    check_against_f64(layer.build(&node).proto, {1000, 2});
  }
}

TEST(Recurrent, OutputsInAnyCombination) {
  for (int bits = 1; bits < 8; ++bits) {
    OnnxBuilder b;
    b.input("X", {"T", "N", kInputs}).weights("", 4, 1, kInputs, kHidden);
    std::vector<std::string> names = {bits & 1 ? "Y" : "", bits & 2 ? "Y_h" : "", bits & 4 ? "Y_c" : ""};
    b.node("LSTM", {"X", "W", "R", "B"}, names).with("hidden_size", kHidden);
    for (const std::string &name : names) {
      if (!name.empty()) b.output(name);
    }
    check_against_f64(b.proto);
  }
}

}  // namespace recurrent_test
}  // namespace rnnp::testing_support
