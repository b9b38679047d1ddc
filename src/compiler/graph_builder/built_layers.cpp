// built_layers.cpp -- Contract: built_layers.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/graph_builder/built_layers.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include "compiler/onnx/problem.h"

namespace rnnp::compiler {

void BuiltLayers::use(std::string value, int64_t features) {
  value_ = std::move(value);
  features_ = features;
}

void BuiltLayers::check_size(const std::string &what, const std::vector<float> &values, int64_t wanted) const {
  if (static_cast<int64_t>(values.size()) == wanted) return;
  throw ModelError(what + " has " + std::to_string(values.size()) + " elements; expected: " + std::to_string(wanted));
}

void BuiltLayers::dense(const std::string &name, const Weights &kernel, const std::vector<float> &bias) {
  if (kernel.shape.size() != 2)
    throw ModelError(name + ": its kernel has shape " + shape_text(kernel.shape) + "; expected: [in, out]");
  check_shape(name + ": its kernel", kernel, {features_, kernel.shape[1]});
  features_ = kernel.shape[1];
  const std::string matrix = graph_->constant(name + ".kernel", kernel.shape, kernel.data);
  value_ = graph_->node("MatMul", {value_, matrix}, name);
  if (bias.empty()) return;
  check_size(name + ": its bias", bias, features_);
  value_ = graph_->node("Add", {value_, graph_->constant(name + ".bias", {features_}, bias)}, name + ".biased");
}

void BuiltLayers::conv(const std::string &name, const Weights &weights, const std::vector<float> &bias, const ConvSizes &sizes) {
  if (weights.shape.size() != 3 || weights.shape[2] < 1)
    throw ModelError(name + ": its kernel has shape " + shape_text(weights.shape) + "; expected: [out, in, taps]");
  const int64_t out = weights.shape[0], taps = weights.shape[2];
  if (sizes.groups < 1 || features_ % sizes.groups != 0 || out % sizes.groups != 0)
    throw ModelError(name + ": " + std::to_string(sizes.groups) + " groups do not divide " + std::to_string(features_) + " and " +
                     std::to_string(out) + " channels");
  check_shape(name + ": its kernel", weights, {out, features_ / sizes.groups, taps});
  std::vector<std::string> inputs = {graph_->node("Transpose", {value_}, name + ".channels").with("perm", {0, 2, 1}),
                                     graph_->constant(name + ".kernel", weights.shape, weights.data)};
  if (!bias.empty()) {
    check_size(name + ": its bias", bias, out);
    inputs.push_back(graph_->constant(name + ".bias", {out}, bias));
  }
  BuiltNode node = graph_->node("Conv", inputs, name);
  node.with("dilations", std::vector<int64_t>{sizes.dilation}).with("strides", std::vector<int64_t>{sizes.stride});
  node.with("group", sizes.groups).with("pads", std::vector<int64_t>{(taps - 1) * sizes.dilation, 0});
  value_ = graph_->node("Transpose", {node}, name + ".steps").with("perm", {0, 2, 1});
  features_ = out;
}

// The same state for every row: [1, batch, features].
std::string BuiltLayers::rows_of_batch(const std::string &name, const std::string &like, const std::vector<float> &state) {
  const int64_t size = static_cast<int64_t>(state.size());
  const BuiltNode batch = graph_->node("Shape", {like}, name + ".batch").with("start", 0).with("end", 1);
  const std::string first = graph_->constant_ints(name + ".first", {1}, {1}),
                    last = graph_->constant_ints(name + ".last", {1}, {size});
  const BuiltNode shape = graph_->node("Concat", {first, batch, last}, name + ".shape").with("axis", 0);
  return graph_->node("Expand", {graph_->constant(name, {1, 1, size}, state), shape}, name + ".rows");
}

void BuiltLayers::recurrent(const std::string &name, const RecurrentWeights &weights) {
  const int64_t gates = gates_of(weights.kind);
  const int64_t hidden = weights.r.shape.size() == 2 ? weights.r.shape[1] : 0;
  if (hidden < 1) throw ModelError(name + ": its recurrent weights have shape " + shape_text(weights.r.shape));
  check_shape(name + ": its input weights", weights.w, {gates * hidden, features_});
  check_shape(name + ": its recurrent weights", weights.r, {gates * hidden, hidden});
  std::vector<std::string> inputs = {graph_->node("Transpose", {value_}, name + ".by_step").with("perm", {1, 0, 2}),
                                     graph_->constant(name + ".W", {1, gates * hidden, features_}, weights.w.data),
                                     graph_->constant(name + ".R", {1, gates * hidden, hidden}, weights.r.data), ""};
  std::vector<float> bias = weights.input_bias;
  bias.insert(bias.end(), weights.recurrent_bias.begin(), weights.recurrent_bias.end());
  if (!bias.empty()) {
    check_size(name + ": its biases", bias, 2 * gates * hidden);
    inputs.back() = graph_->constant(name + ".B", {1, 2 * gates * hidden}, bias);
  }
  const std::string before = value_;
  const auto initial = [&](const std::string &what, const std::vector<float> &state) {
    if (state.empty()) return std::string();
    check_size(name + ": its " + what, state, hidden);
    return rows_of_batch(name + "." + what, before, state);
  };
  inputs.insert(inputs.end(), {"", initial("initial_h", weights.initial_h)});
  if (weights.kind == Recurrence::kLstm) inputs.push_back(initial("initial_c", weights.initial_c));
  while (inputs.back().empty()) inputs.pop_back();
  constexpr const char *kOperators[] = {"RNN", "GRU", "LSTM"};
  BuiltNode node = graph_->node(kOperators[static_cast<int>(weights.kind)], inputs, name);
  node.with("hidden_size", hidden);
  if (weights.kind == Recurrence::kGru) node.with("linear_before_reset", weights.reset_after ? 1 : 0);
  const std::string one = graph_->constant_ints(name + ".direction", {1}, {1});
  const BuiltNode squeezed = graph_->node("Squeeze", {node, one}, name + ".squeezed");
  value_ = graph_->node("Transpose", {squeezed}, name + ".by_row").with("perm", {1, 0, 2});
  features_ = hidden;
}

void BuiltLayers::scale_shift(const std::string &name, const std::vector<float> &scale, const std::vector<float> &shift) {
  check_size(name + ": its scale", scale, features_);
  check_size(name + ": its shift", shift, features_);
  const BuiltNode scaled = graph_->node("Mul", {value_, graph_->constant(name + ".scale", {features_}, scale)}, name);
  value_ = graph_->node("Add", {scaled, graph_->constant(name + ".shift", {features_}, shift)}, name + ".shifted");
}

void BuiltLayers::batch_norm(const std::string &name, std::vector<float> gamma, std::vector<float> beta,
                             const std::vector<float> &mean, const std::vector<float> &variance, double epsilon) {
  const size_t size = static_cast<size_t>(features_);
  if (gamma.empty()) gamma.assign(size, 1.0f);
  if (beta.empty()) beta.assign(size, 0.0f);
  check_size(name + ": its scale", gamma, features_);
  check_size(name + ": its shift", beta, features_);
  check_size(name + ": its mean", mean, features_);
  check_size(name + ": its variance", variance, features_);
  for (size_t i = 0; i < size; ++i) {
    const double spread = static_cast<double>(variance[i]) + epsilon;
    if (!(spread > 0)) throw ModelError(name + ": its variance of feature " + std::to_string(i) + " is not above 0");
    const double scale = static_cast<double>(gamma[i]) / std::sqrt(spread);
    gamma[i] = static_cast<float>(scale);
    beta[i] = static_cast<float>(static_cast<double>(beta[i]) - scale * static_cast<double>(mean[i]));
  }
  scale_shift(name, gamma, beta);
}

void BuiltLayers::prelu(const std::string &name, const std::vector<float> &slopes) {
  if (slopes.size() != 1) check_size(name + ": its slopes", slopes, features_);
  const std::vector<int64_t> shape = {static_cast<int64_t>(slopes.size())};
  value_ = graph_->node("PRelu", {value_, graph_->constant(name + ".slopes", shape, slopes)}, name);
}

bool BuiltLayers::activation(const std::string &name, const std::string &kind) {
  // Those that a name alone tells: a slope, as LeakyReLU and HardSigmoid have, is none of them.
  static const std::map<std::string, const char *> kOperators = {
      {"tanh", "Tanh"},         {"relu", "Relu"},         {"sigmoid", "Sigmoid"}, {"elu", "Elu"},   {"softmax", "Softmax"},
      {"softplus", "Softplus"}, {"softsign", "Softsign"}, {"selu", "Selu"},       {"gelu", "Gelu"}, {"exponential", "Exp"}};
  std::string lower = kind;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (lower.empty() || lower == "linear") return true;
  if (lower == "swish" || lower == "silu") {
    value_ = graph_->node("Mul", {value_, graph_->node("Sigmoid", {value_}, name + ".gate")}, name);
    return true;
  }
  const auto found = kOperators.find(lower);
  if (found == kOperators.end()) return false;
  value_ = graph_->node(found->second, {value_}, name);
  return true;
}

}  // namespace rnnp::compiler
