// defaults_test.cpp -- every default of every attribute by numbers from the ONNX text, not by the code that importer and evaluator
// share: once as the evaluation sees it, once compiled and run.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "compiler/compile.h"
#include "compiler/eval/eval.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace defaults_test {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;

// One node "y = op(x, others)" with no attribute but those that have no default.
struct Case {
  const char *op;
  Ints shape;
  Floats x;
  Floats y;
  int64_t opset = 17;
  std::function<void(OnnxBuilder &)> constants = {};
  std::vector<std::string> others = {};
  std::function<void(NodeBuilder &)> required = {};
  bool runs = true;  // else it is for constants only, or gives no float
  Ints y_shape = {};
};

constexpr float kInf = std::numeric_limits<float>::infinity();

OnnxBuilder graph_of(const Case &c) {
  OnnxBuilder b(c.opset);
  std::vector<Dim> dims;
  for (int64_t dim : c.shape) dims.emplace_back(dim);
  b.input("x", dims).output("y");
  if (c.constants) c.constants(b);
  std::vector<std::string> in = {"x"};
  in.insert(in.end(), c.others.begin(), c.others.end());
  NodeBuilder node = b.node(c.op, in, {"y"});
  if (c.required) c.required(node);
  return b;
}

void expect_near(const Case &c, const char *by, const std::vector<double> &got) {
  ASSERT_EQ(got.size(), c.y.size()) << by;
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], static_cast<double>(c.y[i]), 1e-5 * std::max(1.0f, std::fabs(c.y[i]))) << by << i;
}

void check(const Case &c) {
  SCOPED_TRACE(std::string(c.op) + " of opset " + std::to_string(c.opset));
  const auto model = compiler::check_model(graph_of(c).proto);
  compiler::Tensor x(compiler::Elem::kFloat, c.shape);
  std::copy(c.x.begin(), c.x.end(), x.data.begin());
  const compiler::Tensor y = compiler::eval_graph(*model, {{"x", x}}).at("y");
  expect_near(c, "evaluated ", y.data.copied());
  if (!c.y_shape.empty()) {
    EXPECT_EQ(y.shape, c.y_shape);
  }
  if (!c.runs) return;
  compiler::Runner runner(compiler::compile_model(*model, "generic").blob);
  compiler::Array input;
  input.shape = c.shape;
  input.f32 = c.x;
  const compiler::Array output = runner.run({{"x", input}}, {}).at("y");
  expect_near(c, "run ", {output.f32.begin(), output.f32.end()});
}

TEST(Defaults, OfActivations) {
  check({"LeakyRelu", {1, 2}, {-1, 2}, {-0.01f, 2}});
  check({"Elu", {1, 2}, {-1, 2}, {-0.632121f, 2}});
  check({"Celu", {1, 2}, {-1, 2}, {-0.632121f, 2}});
  check({"Selu", {1, 2}, {-1, 1}, {-1.111331f, 1.050701f}});
  check({"HardSigmoid", {1, 4}, {-3, 0, 1, 3}, {0, 0.5f, 0.7f, 1}});
  check({"ThresholdedRelu", {1, 3}, {0.5f, 1, 1.5f}, {0, 0, 1.5f}});
  check({"Gelu", {1, 2}, {1, -1}, {0.841345f, -0.158655f}, 20});
  check({"Shrink", {1, 3}, {0.4f, 0.6f, -0.6f}, {0, 0.6f, -0.6f}, 17, nullptr, {}, nullptr, false});
  check({"Clip", {1, 2}, {-3e38f, 3e38f}, {-3e38f, 3e38f}, 10});
  check({"Clip", {1, 2}, {-3e38f, 3e38f}, {-3e38f, 3e38f}, 11});
}

TEST(Defaults, OfSoftmaxFollowTheOpset) {
  const Floats logs = {0, std::log(2.0f), std::log(3.0f), std::log(4.0f)};
  for (const int64_t opset : {7, 11, 12}) check({"Softmax", {1, 2, 2}, logs, {0.1f, 0.2f, 0.3f, 0.4f}, opset});
  for (const int64_t opset : {13, 22}) check({"Softmax", {1, 2, 2}, logs, {1 / 3.0f, 2 / 3.0f, 3 / 7.0f, 4 / 7.0f}, opset});
  check({"LogSoftmax", {1, 2, 2}, logs, {-2.302585f, -1.609438f, -1.203973f, -0.916291f}, 12});
  check({"LogSoftmax", {1, 2, 2}, logs, {-1.098612f, -0.405465f, -0.847298f, -0.559616f}, 13});
}

TEST(Defaults, OfNormalisations) {
  const auto two = [](OnnxBuilder &b) { b.constant("one", {2}, {1, 1}).constant("zero", {2}, {0, 0}); };
  const auto single = [](OnnxBuilder &b) { b.constant("one", {1}, {1}).constant("zero", {1}, {0}); };
  // Deviations of 0.001 beside an epsilon of 1e-5.
  const float y = 0.301511f;
  check({"LayerNormalization", {1, 2, 2}, {0, 0.002f, 0.002f, 0}, {-y, y, y, -y}, 17, two, {"one", "zero"}});
  check({"InstanceNormalization", {1, 1, 2}, {0, 0.002f}, {-y, y}, 17, single, {"one", "zero"}});
  check({"GroupNormalization", {1, 1, 2}, {0, 0.002f}, {-y, y}, 21, single, {"one", "zero"}, [](NodeBuilder &n) {
           n.with("num_groups", 1);
         }});
  check({"BatchNormalization", {1, 1, 2}, {1, -1}, {316.22777f, -316.22777f}, 15, single, {"one", "zero", "zero", "zero"}});
  check({"LpNormalization", {1, 2, 2}, {3, 4, -6, 8}, {0.6f, 0.8f, -0.6f, 0.8f}, 17, nullptr, {}, nullptr, false});
}

TEST(Defaults, OfProductsAndWindows) {
  check({"Gemm",
         {1, 2},
         {1, 2},
         {17, 30},
         17,
         [](OnnxBuilder &b) {
           b.constant("m", {2, 2}, {1, 2, 3, 4}).constant("c", {2}, {10, 20});
         },
         {"m", "c"}});
  const auto taps = [](OnnxBuilder &b) { b.constant("w", {1, 1, 2}, {1, 10}); };
  check({"Conv", {1, 1, 3}, {1, 2, 3}, {21, 32}, 17, taps, {"w"}});
  check({"ConvTranspose", {1, 1, 2}, {1, 2}, {1, 12, 20}, 17, taps, {"w"}});
  const auto kernel = [](NodeBuilder &n) { n.with("kernel_shape", Ints{2}); };
  const auto padded = [](NodeBuilder &n) { n.with("kernel_shape", Ints{2}).with("pads", Ints{1, 0}); };
  check({"MaxPool", {1, 1, 3}, {2, 6, 4}, {6, 6}, 17, nullptr, {}, kernel});
  check({"AveragePool", {1, 1, 3}, {2, 4, 6}, {3, 5}, 17, nullptr, {}, kernel});
  check({"AveragePool", {1, 1, 3}, {2, 4, 6}, {2, 3, 5}, 17, nullptr, {}, padded});
  // ceil_mode 0: the window that hangs over is left out.
  check({"MaxPool", {1, 1, 3}, {2, 6, 4}, {6}, 17, nullptr, {}, [](NodeBuilder &n) {
           n.with("kernel_shape", Ints{2}).with("strides", Ints{2});
         }});
  check({"LpPool", {1, 1, 2}, {3, 4}, {5}, 17, nullptr, {}, kernel, false});
  check({"GlobalLpPool", {1, 1, 2}, {3, 4}, {5}, 17, nullptr, {}, nullptr, false});
}

TEST(Defaults, OfReductionsAreAllAxesWhichStay) {
  const std::vector<std::pair<const char *, float>> kinds = {{"ReduceL1", 10},
                                                             {"ReduceL2", 5.477226f},
                                                             {"ReduceLogSum", 2.302585f},
                                                             {"ReduceLogSumExp", 4.440190f},
                                                             {"ReduceMax", 4},
                                                             {"ReduceMean", 2.5f},
                                                             {"ReduceMin", 1},
                                                             {"ReduceProd", 24},
                                                             {"ReduceSum", 10},
                                                             {"ReduceSumSquare", 30}};
  for (const auto &kind : kinds) {
    for (const int64_t opset : {11, 13, 18})
      check({kind.first, {2, 2}, {1, 2, 3, 4}, {kind.second}, opset, nullptr, {}, nullptr, false, {1, 1}});
  }
  // Each row of the batch by itself, axes given: they stay.
  check({"ReduceSum",
         {1, 2, 2},
         {1, 2, 3, 4},
         {4, 6},
         13,
         [](OnnxBuilder &b) { b.constant_ints("axes", {1}, {1}); },
         {"axes"},
         nullptr,
         true,
         {1, 1, 2}});
  check({"ArgMax", {2, 2}, {1, 7, 5, 7}, {1, 0}, 17, nullptr, {}, nullptr, false, {1, 2}});
  check({"ArgMin", {2, 2}, {1, 7, 5, 7}, {0, 0}, 17, nullptr, {}, nullptr, false, {1, 2}});
  check({"CumSum",
         {1, 3},
         {1, 2, 3},
         {1, 3, 6},
         17,
         [](OnnxBuilder &b) { b.constant_ints("axis", {}, {1}); },
         {"axis"},
         nullptr,
         false});
}

TEST(Defaults, OfMoves) {
  check({"Flatten", {1, 2, 2}, {1, 2, 3, 4}, {1, 2, 3, 4}, 17, nullptr, {}, nullptr, true, {1, 4}});
  check({"Transpose", {2, 2}, {1, 2, 3, 4}, {1, 3, 2, 4}, 17, nullptr, {}, nullptr, false});
  check({"Gather",
         {2, 2},
         {1, 2, 3, 4},
         {3, 4},
         17,
         [](OnnxBuilder &b) { b.constant_ints("i", {}, {1}); },
         {"i"},
         nullptr,
         false,
         {2}});
  check({"GatherElements",
         {2, 2},
         {1, 2, 3, 4},
         {3, 2},
         17,
         [](OnnxBuilder &b) {
           b.constant_ints("i", {1, 2}, {1, 0});
         },
         {"i"},
         nullptr,
         false});
  check({"Pad", {1, 2}, {1, 2}, {0, 1, 2, 0}, 17, [](OnnxBuilder &b) { b.constant_ints("pads", {4}, {0, 1, 0, 1}); }, {"pads"}});
  check({"Reshape",
         {1, 2, 2},
         {1, 2, 3, 4},
         {1, 2, 3, 4},
         17,
         [](OnnxBuilder &b) {
           b.constant_ints("to", {2}, {0, -1});
         },
         {"to"},
         nullptr,
         true,
         {1, 4}});
  check({"Split", {1, 2}, {1, 2}, {1, 2}, 17, nullptr, {}, nullptr, false, {1, 2}});
  check({"Squeeze", {1, 2, 1}, {1, 2}, {1, 2}, 17, nullptr, {}, nullptr, false, {2}});
  check({"DepthToSpace",
         {1, 8, 1, 1},
         {0, 1, 2, 3, 4, 5, 6, 7},
         {0, 2, 4, 6, 1, 3, 5, 7},
         17,
         nullptr,
         {},
         [](NodeBuilder &n) { n.with("blocksize", 2); },
         false});
  check({"Trilu", {2, 2}, {1, 2, 3, 4}, {1, 2, 0, 4}, 17, nullptr, {}, nullptr, false});
  check({"Shape", {1, 2, 2}, {1, 2, 3, 4}, {1, 2, 2}, 17, nullptr, {}, nullptr, false});
  check({"IsInf", {1, 3}, {kInf, -kInf, 1}, {1, 1, 0}, 17, nullptr, {}, nullptr, false});
}

TEST(Defaults, OfTensorsMadeOfNothing) {
  OnnxBuilder b;
  b.output("y").constant_ints("shape", {1}, {2}).node("ConstantOfShape", {"shape"}, {"y"});
  EXPECT_EQ(compiler::eval_graph(*compiler::check_model(b.proto), {}).at("y").data, (std::vector<double>{0, 0}));
  OnnxBuilder mod;
  mod.output("y").constant_ints("a", {2}, {-4, 4}).constant_ints("b", {2}, {3, -3}).node("Mod", {"a", "b"}, {"y"});
  EXPECT_EQ(compiler::eval_graph(*compiler::check_model(mod.proto), {}).at("y").data, (std::vector<double>{2, -2}));
}

// One unit with weights of 1, so that the state after the only step is f(x): the numbers that an activation takes where none are
// given. Those of ScaledTanh and Affine the ONNX text leaves open; ours are those that change nothing.
TEST(Defaults, OfActivationsInLayers) {
  const std::vector<std::tuple<const char *, float, float>> kinds = {
      {"Relu", -0.75f, 0.0f},          {"Tanh", -0.75f, -0.635149f},       {"Sigmoid", -0.75f, 0.320821f},
      {"Affine", -0.75f, -0.75f},      {"LeakyRelu", -0.75f, -0.0075f},    {"ThresholdedRelu", 0.8f, 0.0f},
      {"ThresholdedRelu", 1.5f, 1.5f}, {"ScaledTanh", -0.75f, -0.635149f}, {"HardSigmoid", -0.75f, 0.35f},
      {"HardSigmoid", 1.5f, 0.8f},     {"Elu", -0.75f, -0.527633f},        {"Softsign", -0.75f, -0.428571f},
      {"Softplus", -0.75f, 0.386871f}};
  for (const auto &kind : kinds) {
    Case c{"RNN", {1, 1, 1}, {std::get<1>(kind)}, {std::get<2>(kind)}};
    c.constants = [](OnnxBuilder &b) { b.constant("w", {1, 1, 1}, {1}).constant("r", {1, 1, 1}, {0}); };
    c.others = {"w", "r"};
    c.required = [&](NodeBuilder &n) { n.with("hidden_size", 1).with("activations", std::vector<std::string>{std::get<0>(kind)}); };
    SCOPED_TRACE(std::get<0>(kind));
    check(c);
  }
}

// Two steps of one unit: activations, direction, layout, clip, input_forget and linear_before_reset are left out.
TEST(Defaults, OfLayers) {
  const auto weights = [](int64_t gates, float w, float r) {
    return [=](OnnxBuilder &b) {
      b.constant("w", {1, gates, 1}, Floats(static_cast<size_t>(gates), w))
          .constant("r", {1, gates, 1}, Floats(static_cast<size_t>(gates), r));
      Floats bias(static_cast<size_t>(2 * gates), 0.0f);
      bias.back() = gates == 3 ? 1.0f : 0.0f;
      b.constant("b", {1, 2 * gates}, bias);
    };
  };
  const auto size = [](NodeBuilder &n) { n.with("hidden_size", 1); };
  check({"RNN", {2, 1, 1}, {1, -0.5f}, {0.761594f, -0.118642f}, 17, weights(1, 1, 0.5f), {"w", "r"}, size});
  check({"LSTM", {2, 1, 1}, {1, -0.5f}, {0.369606f, 0.044608f}, 17, weights(4, 1, 0.5f), {"w", "r"}, size});
  // The candidate's own bias of R stands outside of the reset gate: 1 - z times tanh(1 + 1) from a state of 0.
  check({"GRU", {1, 1, 1}, {1}, {0.259267f}, 17, weights(3, 1, 1), {"w", "r", "b"}, size});
}

}  // namespace defaults_test
}  // namespace rnnp::testing_support
