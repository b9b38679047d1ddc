// nam_lstm.cpp -- LSTM networks of Neural Amp Modeler. Their state begins as the file says and hears half a second of silence, as
// its programs do before they play. Contract: nam_model.h. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "compiler/graph_builder/built_layers.h"
#include "compiler/nam/nam_model.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

// Weights [4 H, I + H] with gates i f g o, and a state.
struct NamLstmLayer {
  size_t inputs, hidden;
  std::vector<float> weights, bias;
  std::vector<double> h, c;

  void step(const std::vector<double> &x) {
    std::vector<double> gates(4 * hidden);
    for (size_t row = 0; row < gates.size(); ++row) {
      const float *w = &weights[row * (inputs + hidden)];
      double sum = static_cast<double>(bias[row]);
      for (size_t i = 0; i < inputs; ++i) sum += static_cast<double>(w[i]) * x[i];
      for (size_t i = 0; i < hidden; ++i) sum += static_cast<double>(w[inputs + i]) * h[i];
      gates[row] = sum;
    }
    const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
    for (size_t i = 0; i < hidden; ++i) {
      c[i] = sigmoid(gates[hidden + i]) * c[i] + sigmoid(gates[i]) * std::tanh(gates[2 * hidden + i]);
      h[i] = sigmoid(gates[3 * hidden + i]) * std::tanh(c[i]);
    }
  }

  Weights columns(size_t begin, size_t count) const {
    Weights out{{static_cast<int64_t>(4 * hidden), static_cast<int64_t>(count)}, {}};
    for (size_t row = 0; row < 4 * hidden; ++row) {
      const auto first = weights.begin() + static_cast<std::ptrdiff_t>(row * (inputs + hidden) + begin);
      out.data.insert(out.data.end(), first, first + static_cast<std::ptrdiff_t>(count));
    }
    return out;
  }
};

std::vector<double> as_doubles(const std::vector<float> &values) {
  return {values.begin(), values.end()};
}

// Until half a second is over, or nothing changes any more.
void hear_silence(const JsonValue &json, const std::vector<double> &silence, std::vector<NamLstmLayer> *layers) {
  constexpr double kStill = 1e-13, kMostWork = 4e9;
  const double steps = std::max(std::floor(nam_sample_rate(json) / 2), 1.0);
  double work = 0;
  for (const NamLstmLayer &layer : *layers) work += static_cast<double>(layer.weights.size());
  for (double step = 0; step < steps; ++step) {
    if (step * work > kMostWork) json.refuse("its state does not settle in silence: too much work");
    double moved = 0;
    std::vector<double> x = silence;
    for (NamLstmLayer &layer : *layers) {
      const std::vector<double> before = layer.c, shown = layer.h;
      layer.step(x);
      for (size_t i = 0; i < layer.hidden; ++i)
        moved = std::max({moved, std::fabs(layer.c[i] - before[i]), std::fabs(layer.h[i] - shown[i])});
      x = layer.h;
    }
    if (moved < kStill) return;
  }
}

std::vector<NamLstmLayer> lstm_layers(const JsonValue &config, NamWeights *weights) {
  const int64_t hidden = config.at("hidden_size").integer(1, kNamMostChannels);
  const int64_t count = config.at("num_layers").integer(1, 64);
  std::vector<NamLstmLayer> layers;
  int64_t inputs = config.at("input_size").integer(1, kNamMostChannels);
  for (int64_t i = 0; i < count; ++i) {
    NamLstmLayer layer{static_cast<size_t>(inputs), static_cast<size_t>(hidden), {}, {}, {}, {}};
    layer.weights = weights->take(4 * hidden * (inputs + hidden));
    layer.bias = weights->take(4 * hidden);
    layer.h = as_doubles(weights->take(hidden));
    layer.c = as_doubles(weights->take(hidden));
    layers.push_back(std::move(layer));
    inputs = hidden;
  }
  return layers;
}

}  // namespace

NamValue add_nam_lstm(NamGraph *graph, const std::string &name, const JsonValue &json, const NamValue &input) {
  const JsonValue config = json.at("config");
  config.expect_members({"input_size", "hidden_size", "num_layers", "in_channels", "out_channels"});
  NamWeights weights(json.at("weights"));
  std::vector<NamLstmLayer> layers = lstm_layers(config, &weights);
  const auto channels = config.find("out_channels");
  const int64_t out = channels ? channels->integer(1, kNamMostChannels) : 1, hidden = static_cast<int64_t>(layers[0].hidden);
  const Weights head{{out, hidden}, weights.take(out * hidden)};
  const std::vector<float> bias = weights.take(out);
  weights.finish();
  if (static_cast<int64_t>(layers[0].inputs) != input.channels())
    config.at("input_size").refuse("the network is given " + std::to_string(input.channels()) + " channels");
  hear_silence(json, input.steady, &layers);
  GraphBuilder &builder = graph->builder();
  const BuiltNode rows = builder.node("Transpose", {graph->plain(input).tensor}, name + "rows");
  BuiltNode(rows).with("perm", {0, 2, 1});
  BuiltLayers built(&builder, rows, input.channels());
  for (size_t i = 0; i < layers.size(); ++i) {
    const NamLstmLayer &layer = layers[i];
    const std::string title = name + "lstm" + std::to_string(i);
    const Weights own{{4 * hidden}, layer.bias}, none{{4 * hidden}, std::vector<float>(4 * layer.hidden)};
    RecurrentWeights recurrent =
        of_torch(title, Recurrence::kLstm, layer.columns(0, layer.inputs), layer.columns(layer.inputs, layer.hidden), own, none);
    recurrent.initial_h.assign(layer.h.begin(), layer.h.end());
    recurrent.initial_c.assign(layer.c.begin(), layer.c.end());
    built.recurrent(title, recurrent);
  }
  built.dense(name + "head", transposed(head), bias);
  NamValue y;
  y.tensor = builder.node("Transpose", {built.value()}, name + "by_channel").with("perm", {0, 2, 1});
  for (size_t o = 0; o < static_cast<size_t>(out); ++o) {
    double sum = static_cast<double>(bias[o]);
    for (size_t i = 0; i < layers.back().hidden; ++i)
      sum += static_cast<double>(head.data[o * layers[0].hidden + i]) * layers.back().h[i];
    y.steady.push_back(sum);
  }
  y.offset.assign(y.steady.size(), 0.0);
  return y;
}

}  // namespace rnnp::compiler
