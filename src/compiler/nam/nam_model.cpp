// nam_model.cpp -- Contract: nam_model.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/nam/nam_model.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "compiler/nam/nam_wavenet_config.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

void check_version(const JsonValue &version) {
  int major = 0, minor = 0;
  const std::string text = version.text();
  constexpr int kOldest = 5, kNewest = 7;
  if (std::sscanf(text.c_str(), "%d.%d", &major, &minor) != 2) version.refuse(quote(text) + " is no version");
  if (major == 0 && minor >= kOldest && minor <= kNewest) return;
  const bool newer = major > 0 || minor > kNewest;
  version.refuse(quote(text) + " is " + (newer ? "newer" : "older") + " than what is read; accepted: 0.5 to 0.7");
}

// The network of a container that is meant, or the file itself.
JsonValue chosen(const JsonValue &file, const ReadOptions &options) {
  if (file.at("architecture").text() != "SlimmableContainer") {
    if (options.quality)
      throw UsageError("--quality is of files that hold several networks; this one holds one " + file.at("architecture").text());
    return file;
  }
  const double quality = options.quality.value_or(1);
  if (!(quality >= 0 && quality <= 1)) throw UsageError("--quality is from 0 to 1");
  const JsonValue list = file.at("config").at("submodels");
  if (list.size() == 0) list.refuse("it is empty");
  size_t use = list.size() - 1;
  for (size_t i = list.size(); i-- > 0;) {
    if (i > 0 && list[i].at("max_value").number() <= list[i - 1].at("max_value").number())
      list[i].at("max_value").refuse("it is not above the one before");
    if (quality < list[i].at("max_value").number()) use = i;
  }
  JsonValue model = list[use].at("model");
  check_version(model.at("version"));
  return model;
}

void add_facts(const JsonValue &file, const JsonValue &network, GraphBuilder *graph) {
  for (const JsonValue &source : {file, network}) {
    const auto rate = source.find("sample_rate");
    if (rate) graph->metadata("sample_rate", rate->json().dump());
    const auto metadata = source.find("metadata");
    if (!metadata || !metadata->is_object()) continue;
    for (const auto &member : metadata->json().items()) {
      const auto &value = member.value();
      if (value.is_string()) graph->metadata(member.key(), value.get<std::string>());
      if (value.is_number()) graph->metadata(member.key(), value.dump());
    }
  }
}

void expect_mono(const JsonValue &config, const NamValue &input) {
  for (const char *key : {"in_channels", "out_channels"}) {
    if (const auto channels = config.find(key)) channels->integer(1, 1);
  }
  if (input.channels() != 1) config.refuse("one channel is expected");
}

NamValue add_linear(NamGraph *graph, const std::string &name, const JsonValue &json, const NamValue &input) {
  const JsonValue config = json.at("config");
  config.expect_members({"receptive_field", "bias", "in_channels", "out_channels", "implementation"});
  expect_mono(config, input);
  NamWeights weights(json.at("weights"));
  NamConv conv;
  conv.taps = config.at("receptive_field").integer(1, 1 << 20);
  conv.weights = weights.take(conv.taps);
  std::reverse(conv.weights.begin(), conv.weights.end());
  if (config.at("bias").boolean()) conv.bias = weights.take(1);
  weights.finish();
  if (conv.taps > 1)
    graph->notes().insert(
        "weights of Linear are read as the player reads them, the newest sample's first; its trainer wrote them the other way "
        "round at least until 0.13");
  return graph->conv(name, input, conv, false);
}

// Batch normalization goes into the convolution before it.
void normalize(NamWeights *weights, NamConv *conv) {
  const std::vector<float> mean = weights->take(conv->out), variance = weights->take(conv->out), gamma = weights->take(conv->out),
                           beta = weights->take(conv->out);
  const double epsilon = static_cast<double>(weights->take(1)[0]);
  const size_t row = conv->weights.size() / mean.size();
  for (size_t o = 0; o < mean.size(); ++o) {
    const double scale = static_cast<double>(gamma[o]) / std::sqrt(static_cast<double>(variance[o]) + epsilon);
    for (size_t i = 0; i < row; ++i) {
      float &w = conv->weights[o * row + i];
      w = static_cast<float>(static_cast<double>(w) * scale);
    }
    conv->bias.push_back(static_cast<float>(static_cast<double>(beta[o]) - scale * static_cast<double>(mean[o])));
  }
}

// Convolutions over two samples, each with its activation, and a sum of their channels.
NamValue add_convnet(NamGraph *graph, const std::string &name, const JsonValue &json, const NamValue &input) {
  const JsonValue config = json.at("config"), dilations = config.at("dilations");
  config.expect_members({"channels", "dilations", "batchnorm", "activation", "in_channels", "out_channels"});
  expect_mono(config, input);
  NamWeights weights(json.at("weights"));
  const int64_t channels = config.at("channels").integer(1, kNamMostChannels);
  const bool normalized = config.at("batchnorm").boolean();
  const NamActivation activation = nam_activation(config.at("activation"));
  if (dilations.size() == 0) dilations.refuse("it is empty");
  NamValue x = input;
  for (size_t i = 0; i < dilations.size(); ++i) {
    const std::string title = name + "block" + std::to_string(i);
    NamConv conv{channels, x.channels(), 2, dilations[i].integer(1, kNamMostDilation), 1, {}, {}};
    conv.weights = weights.take(conv.out * conv.in * conv.taps);
    if (normalized) {
      normalize(&weights, &conv);
    } else {
      conv.bias = weights.take(conv.out);
    }
    x = graph->activation(title + ".activation", graph->conv(title + ".conv", x, conv, false), activation);
  }
  NamConv head{1, channels, 1, 1, 1, weights.take(channels), weights.take(1)};
  weights.finish();
  return graph->conv(name + "head", x, head, false);
}

// Whole networks, one behind the other.
NamValue add_sequential(NamGraph *graph, const std::string &name, const JsonValue &json, const NamValue &input) {
  const JsonValue config = json.at("config"), models = config.at("models");
  config.expect_members({"models", "weights_version"});
  if (json.at("weights").size() != 0)
    json.at("weights").refuse(
        "none are expected: each network has its own; the first form of Sequential does not say whose is which");
  if (models.size() == 0) models.refuse("it is empty");
  NamValue x = input;
  for (size_t i = 0; i < models.size(); ++i) {
    check_version(models[i].at("version"));
    expect_sample_rate(json, models[i]);
    x = add_nam_network(graph, name + "model" + std::to_string(i) + ".", models[i], x);
  }
  return x;
}

// Of what a network is given.
int64_t input_channels(const JsonValue &network) {
  const JsonValue config = network.at("config");
  if (network.at("architecture").text() == "Sequential") return input_channels(config.at("models")[0]);
  const auto channels = config.find("in_channels");
  return channels ? channels->integer(1, kNamMostChannels) : 1;
}

}  // namespace

std::vector<float> NamWeights::take(int64_t count) {
  if (count < 0 || static_cast<uint64_t>(count) > all_.size() - next_)
    json_.refuse("they are " + std::to_string(all_.size()) +
                 ", and the layers need more: the file is not whole, or of a newer kind");
  const auto begin = all_.begin() + static_cast<std::ptrdiff_t>(next_);
  next_ += static_cast<size_t>(count);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

void NamWeights::finish() const {
  if (next_ != all_.size())
    json_.refuse("they are " + std::to_string(all_.size()) + ", and the layers take " + std::to_string(next_) +
                 ": the layers are not those of the weights");
}

double nam_sample_rate(const JsonValue &json) {
  const auto rate = json.find("sample_rate");
  constexpr double kMost = 1e6;
  if (!rate || rate->number() <= 0) return 0;
  if (rate->number() > kMost) rate->refuse("it is above 1000000");
  return rate->number();
}

void expect_sample_rate(const JsonValue &whole, const JsonValue &part) {
  const double own = nam_sample_rate(whole), its = nam_sample_rate(part);
  if (own > 0 && its > 0 && own != its) part.at("sample_rate").refuse("it is not that of the network");
}

NamValue add_nam_network(NamGraph *graph, const std::string &name, const JsonValue &json, const NamValue &input) {
  const std::string architecture = json.at("architecture").text();
  if (architecture == "WaveNet") return add_nam_wavenet(graph, name, json, input);
  if (architecture == "LSTM") return add_nam_lstm(graph, name, json, input);
  if (architecture == "Linear") return add_linear(graph, name, json, input);
  if (architecture == "ConvNet") return add_convnet(graph, name, json, input);
  if (architecture == "Sequential") return add_sequential(graph, name, json, input);
  json.at("architecture")
      .refuse(quote(architecture) + " is not supported; accepted: WaveNet, LSTM, ConvNet, Linear, Sequential, SlimmableContainer");
}

bool is_nam(const JsonValue &file) {
  return file.find("architecture") && file.find("config");
}

std::unique_ptr<OnnxModel> read_nam(const JsonValue &file, const ReadOptions &options) {
  check_version(file.at("version"));
  const JsonValue network = chosen(file, options);
  nam_sample_rate(network);
  const int64_t channels = input_channels(network);
  GraphBuilder builder("nam");
  NamGraph graph(&builder);
  const std::string input = builder.input("input", {"batch", "steps", channels});
  NamValue x;
  x.tensor = builder.node("Transpose", {input}, "channels").with("perm", {0, 2, 1});
  x.steady.assign(static_cast<size_t>(channels), 0.0);
  x.offset = x.steady;
  const NamValue y = add_nam_network(&graph, "", network, x);
  builder.output(builder.node("Transpose", {y.tensor}, "output").with("perm", {0, 2, 1}));
  add_facts(file, network, &builder);
  std::unique_ptr<OnnxModel> model = builder.take();
  model->notes.assign(graph.notes().begin(), graph.notes().end());
  return model;
}

}  // namespace rnnp::compiler
