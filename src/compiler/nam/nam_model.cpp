// nam_model.cpp -- Contract: nam_model.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/nam/nam_model.h"

#include <algorithm>
#include <cstdio>

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

NamValue add_linear(NamGraph *graph, const std::string &name, const JsonValue &json, const NamValue &input) {
  const JsonValue config = json.at("config");
  NamWeights weights(json.at("weights"));
  NamConv conv;
  conv.taps = config.at("receptive_field").integer(1, 1 << 20);
  if (input.channels() != 1) config.refuse("one channel is expected");
  conv.weights = weights.take(conv.taps);
  std::reverse(conv.weights.begin(), conv.weights.end());
  if (config.at("bias").boolean()) conv.bias = weights.take(1);
  weights.finish();
  return graph->conv(name, input, conv, false);
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

NamValue add_nam_network(NamGraph *graph, const std::string &name, const JsonValue &json, const NamValue &input) {
  const std::string architecture = json.at("architecture").text();
  if (architecture == "WaveNet") return add_nam_wavenet(graph, name, json, input);
  if (architecture == "LSTM") return add_nam_lstm(graph, name, json, input);
  if (architecture == "Linear") return add_linear(graph, name, json, input);
  json.at("architecture").refuse(quote(architecture) + " is not supported; accepted: WaveNet, LSTM, Linear, SlimmableContainer");
}

bool is_nam(const JsonValue &file) {
  return file.find("architecture") && file.find("config");
}

std::unique_ptr<OnnxModel> read_nam(const JsonValue &file, const ReadOptions &options) {
  check_version(file.at("version"));
  const JsonValue network = chosen(file, options);
  nam_sample_rate(network);
  const auto in_channels = network.at("config").find("in_channels");
  const int64_t channels = in_channels ? in_channels->integer(1, kNamMostChannels) : 1;
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
  return builder.take();
}

}  // namespace rnnp::compiler
