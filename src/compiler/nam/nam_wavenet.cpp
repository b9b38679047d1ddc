// nam_wavenet.cpp -- WaveNet networks of Neural Amp Modeler, first (A1) and second (A2) form. Contract: nam_model.h.
// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "compiler/nam/nam_model.h"
#include "compiler/nam/nam_wavenet_config.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

// One array of layers: weights are taken in the order of the file.
class NamArray {
 public:
  NamArray(NamGraph *graph, std::string name, const JsonValue &json, NamWeights *weights)
      : graph_(graph), name_(std::move(name)), json_(json), has_(nam_layer_array(json)), weights_(weights) {}

  const NamLayerArray &sizes() const { return has_; }

  // `head`: what the arrays before have for the head; then what this one has. `scale`: of its result.
  NamValue add(const NamValue &input, const NamValue &condition, std::optional<NamValue> *head) {
    expect(has_.inputs, input.channels(), "input_size");
    expect(has_.condition, condition.channels(), "condition_size");
    if (*head) expect(has_.head_channels(), (*head)->channels(), "channels");
    const NamConv rechannel = conv(has_.channels, has_.inputs, 1, 1, 1, false);
    NamValue x = graph_->conv(name_ + "rechannel", input, rechannel, true);
    for (size_t i = 0; i < has_.layers.size(); ++i) x = layer(i, x, condition, head);
    head_ = conv(has_.head_out, has_.head_channels(), has_.head_taps, 1, 1, has_.head_bias);
    return x;
  }

  NamValue head(const NamValue &sum, double scale) {
    for (float &w : head_.weights) w = static_cast<float>(static_cast<double>(w) * scale);
    for (float &b : head_.bias) b = static_cast<float>(static_cast<double>(b) * scale);
    return graph_->conv(name_ + "head", sum, head_, false);
  }

 private:
  void expect(int64_t wanted, int64_t got, const char *key) const {
    if (wanted != got)
      json_.refuse(std::string("by its ") + key + " it takes " + std::to_string(wanted) + " channels, and is given " +
                   std::to_string(got));
  }

  NamConv conv(int64_t out, int64_t in, int64_t taps, int64_t dilation, int64_t groups, bool bias) const {
    if (in % groups != 0 || out % groups != 0)
      json_.refuse(std::to_string(groups) + " groups do not divide " + std::to_string(in) + " and " + std::to_string(out) +
                   " channels");
    NamConv made{out, in, taps, dilation, groups, {}, {}};
    made.weights = weights_->take(out * (in / groups) * taps);
    if (bias) made.bias = weights_->take(out);
    return made;
  }

  struct Film {
    NamFilm kind;
    NamConv conv;
  };
  Film film(const NamFilm &kind, int64_t size) const {
    if (!kind.active) return {kind, {}};
    return {kind, conv((kind.shift ? 2 : 1) * size, has_.condition, 1, 1, kind.groups, true)};
  }
  NamValue modulated(const char *name, const NamValue &x, const NamValue &condition, const Film &by) const {
    if (!by.kind.active) return x;
    return graph_->film(title_ + name, x, condition, by.conv, by.kind.shift);
  }

  NamValue gated(const NamLayerKind &kind, const NamValue &z) const {
    if (kind.gating == NamGating::kNone) return graph_->activation(title_ + "activation", z, kind.activation);
    const NamValue first = graph_->plain(graph_->channels(title_ + "first", z, 0, has_.bottleneck));
    const NamValue second = graph_->channels(title_ + "second", z, has_.bottleneck, 2 * has_.bottleneck);
    const NamValue value = graph_->activation(title_ + "activation", first, kind.activation);
    const NamValue gate = graph_->activation(title_ + "gate", second, kind.secondary);
    if (kind.gating == NamGating::kGated) return graph_->multiply(title_ + "gated", value, gate);
    // gate * value + (1 - gate) * first
    NamValue difference = value;
    difference.tensor = graph_->builder().node("Sub", {value.tensor, first.tensor}, title_ + "difference");
    for (size_t i = 0; i < difference.steady.size(); ++i) difference.steady[i] -= first.steady[i];
    return graph_->add(title_ + "blended", graph_->multiply(title_ + "gated", difference, gate), first);
  }

  NamValue layer(size_t index, const NamValue &x, const NamValue &condition, std::optional<NamValue> *head) {
    const NamLayerKind &kind = has_.layers[index];
    title_ = name_ + "layer" + std::to_string(index) + ".";
    const int64_t wide = kind.gating == NamGating::kNone ? has_.bottleneck : 2 * has_.bottleneck;
    const NamConv main = conv(wide, has_.channels, kind.taps, kind.dilation, has_.input_groups, true);
    const NamConv mixin = conv(wide, has_.condition, 1, 1, has_.mixin_groups, false);
    const NamConv next = conv(has_.channels, has_.bottleneck, 1, 1, has_.next_groups, true);
    const NamConv to_head = has_.head.active ? conv(has_.head.out, has_.bottleneck, 1, 1, has_.head.groups, true) : NamConv();
    const Film conv_pre = film(has_.conv_pre, has_.channels), conv_post = film(has_.conv_post, wide),
               mixin_pre = film(has_.mixin_pre, has_.condition), mixin_post = film(has_.mixin_post, wide),
               activation_pre = film(has_.activation_pre, wide), activation_post = film(has_.activation_post, has_.bottleneck),
               next_post = film(has_.next_post, has_.channels), head_post = film(has_.head_post, has_.head.out);
    NamValue z = graph_->conv(title_ + "conv", modulated("conv_pre", x, condition, conv_pre), main, false);
    z = modulated("conv_post", z, condition, conv_post);
    NamValue m = graph_->conv(title_ + "mixin", modulated("mixin_pre", condition, condition, mixin_pre), mixin, false);
    m = modulated("mixin_post", m, condition, mixin_post);
    z = modulated("activation_pre", graph_->add(title_ + "sum", z, m), condition, activation_pre);
    z = modulated("activation_post", gated(kind, z), condition, activation_post);
    NamValue skip = z;
    if (has_.head.active) skip = modulated("head_post", graph_->conv(title_ + "to_head", z, to_head, false), condition, head_post);
    *head = *head ? graph_->add(title_ + "skips", **head, skip) : skip;
    const NamValue residual = graph_->conv(title_ + "next", z, next, !has_.next_post.active);
    return graph_->add(title_ + "residual", x, modulated("next_post", residual, condition, next_post));
  }

  NamGraph *graph_;
  std::string name_, title_;
  JsonValue json_;
  NamLayerArray has_;
  NamWeights *weights_;
  NamConv head_;
};

// Activation and convolution by turns, behind all arrays.
NamValue add_post_head(NamGraph *graph, const std::string &name, const JsonValue &json, NamValue x, NamWeights *weights) {
  const NamActivation activation = nam_activation(json.at("activation"));
  const JsonValue sizes = json.at("kernel_sizes");
  const int64_t channels = json.at("channels").integer(1, kNamMostChannels),
                last = json.at("out_channels").integer(1, kNamMostChannels);
  const auto inputs = json.find("in_channels");
  if (inputs && inputs->integer(1, kNamMostChannels) != x.channels())
    inputs->refuse("the layers before make " + std::to_string(x.channels()));
  if (sizes.size() == 0) sizes.refuse("it is empty");
  for (size_t i = 0; i < sizes.size(); ++i) {
    const std::string title = name + "post" + std::to_string(i);
    constexpr int64_t kMostTaps = 1 << 16;
    NamConv conv{i + 1 == sizes.size() ? last : channels, x.channels(), sizes[i].integer(1, kMostTaps), 1, 1, {}, {}};
    conv.weights = weights->take(conv.out * conv.in * conv.taps);
    conv.bias = weights->take(conv.out);
    x = graph->conv(title, graph->activation(title + ".activation", x, activation), conv, false);
  }
  return x;
}

// Linear in everything that comes before the last head's convolution, so the scale goes into that.
float head_scale_of(const JsonValue &json) {
  const JsonValue list = json.at("weights");
  return list.size() == 0 ? 0.0f : static_cast<float>(list[list.size() - 1].number());
}

}  // namespace

NamValue add_nam_wavenet(NamGraph *graph, const std::string &name, const JsonValue &json, const NamValue &input) {
  const JsonValue config = json.at("config"), list = config.at("layers");
  config.expect_members({"layers", "head", "head_scale", "condition_dsp", "in_channels"});
  NamWeights weights(json.at("weights"));
  if (list.size() == 0) list.refuse("it is empty");
  NamValue condition = input;
  if (const auto dsp = config.find("condition_dsp")) {
    expect_sample_rate(json, *dsp);
    condition = graph->plain(add_nam_network(graph, name + "condition.", *dsp, input));
  }
  const double scale = static_cast<double>(head_scale_of(json));
  NamValue x = input;
  std::optional<NamValue> head;
  for (size_t i = 0; i < list.size(); ++i) {
    NamArray array(graph, name + "array" + std::to_string(i) + ".", list[i], &weights);
    x = array.add(x, condition, &head);
    head = array.head(*head, i + 1 == list.size() ? scale : 1.0);
  }
  if (const auto post = config.find("head")) head = add_post_head(graph, name, *post, *head, &weights);
  weights.take(1);  // head_scale, the last one
  weights.finish();
  return graph->plain(*head);
}

}  // namespace rnnp::compiler
