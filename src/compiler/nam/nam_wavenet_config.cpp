// nam_wavenet_config.cpp -- Contract: nam_wavenet_config.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/nam/nam_wavenet_config.h"

#include "compiler/nam/nam_model.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

constexpr int64_t kMostTaps = 1 << 16;

int64_t size_or(const JsonValue &json, const char *key, int64_t otherwise) {
  const auto found = json.find(key);
  return found ? found->integer(1, kNamMostChannels) : otherwise;
}

NamFilm film_of(const JsonValue &json, const char *key) {
  NamFilm film;
  const auto found = json.find(key);
  if (!found || found->is_false()) return film;
  film.active = !found->find("active") || found->at("active").boolean();
  film.shift = !found->find("shift") || found->at("shift").boolean();
  film.groups = size_or(*found, "groups", 1);
  return film;
}

NamOneByOne head_of_layer(const JsonValue &json, int64_t out) {
  NamOneByOne conv{false, out, 1};
  const auto found = json.find("head1x1");
  if (!found) return conv;
  conv.active = found->at("active").boolean();
  conv.out = size_or(*found, "out_channels", out);
  conv.groups = size_or(*found, "groups", 1);
  return conv;
}

// The element of a list as long as there are layers, or what stands for all of them.
JsonValue of_layer(const JsonValue &json, size_t layer, size_t layers) {
  if (!json.is_array()) return json;
  if (json.size() != layers)
    json.refuse("it has " + std::to_string(json.size()) + " elements for " + std::to_string(layers) + " layers");
  return json[layer];
}

NamGating gating_of(const JsonValue &json, size_t layer, size_t layers) {
  const auto mode = json.find("gating_mode"), gated = json.find("gated");
  if (!mode) return gated && gated->boolean() ? NamGating::kGated : NamGating::kNone;
  const JsonValue one = of_layer(*mode, layer, layers);
  const std::string text = one.text();
  if (text == "none") return NamGating::kNone;
  if (text == "gated") return NamGating::kGated;
  if (text == "blended") return NamGating::kBlended;
  one.refuse(quote(text) + " is not supported; accepted: none, gated, blended");
}

NamLayerKind layer_of(const JsonValue &json, size_t i, size_t count) {
  NamLayerKind layer;
  const auto sizes = json.find("kernel_sizes");
  if (sizes && json.find("kernel_size")) sizes->refuse("there is a 'kernel_size' too");
  layer.taps = sizes ? of_layer(*sizes, i, count).integer(1, kMostTaps) : json.at("kernel_size").integer(1, kMostTaps);
  layer.dilation = json.at("dilations")[i].integer(1, kNamMostDilation);
  layer.activation = nam_activation(of_layer(json.at("activation"), i, count));
  layer.gating = gating_of(json, i, count);
  layer.secondary.type = "Sigmoid";
  const auto secondary = json.find("secondary_activation");
  if (layer.gating != NamGating::kNone && secondary && json.find("gating_mode"))
    layer.secondary = nam_activation(of_layer(*secondary, i, count));
  return layer;
}

}  // namespace

NamActivation nam_activation(const JsonValue &json) {
  NamActivation out;
  out.type = json.is_text() ? json.text() : json.at("type").text();
  if (out.type == "LeakyHardTanh") out.type = "LeakyHardtanh";
  if (!json.is_object()) return out;
  const auto number = [&](const char *key, double *to) {
    if (const auto found = json.find(key)) *to = found->number();
  };
  if (out.type == "LeakyReLU") {
    json.expect_members({"type", "negative_slope"});
    number("negative_slope", &out.slope);
  } else if (out.type == "PReLU") {
    json.expect_members({"type", "negative_slope", "negative_slopes"});
    if (const auto slope = json.find("negative_slope")) out.slopes = {slope->number()};
    if (const auto slopes = json.find("negative_slopes")) {
      const std::vector<float> values = slopes->numbers();
      out.slopes.assign(values.begin(), values.end());
    }
  } else if (out.type == "Hardtanh" || out.type == "LeakyHardtanh") {
    json.expect_members({"type", "min_val", "max_val", "min_slope", "max_slope"});
    number("min_val", &out.least);
    number("max_val", &out.most);
    number("min_slope", &out.slope_below);
    number("max_slope", &out.slope_above);
    if (!(out.least <= out.most)) json.refuse("its min_val is above its max_val");
    if (out.type == "Hardtanh" && (out.least != -1 || out.most != 1))
      json.refuse("the player limits Hardtanh to -1 and 1 whatever the file says: retrain with LeakyHardtanh");
  } else {
    json.expect_members({"type"});
  }
  return out;
}

NamLayerArray nam_layer_array(const JsonValue &json) {
  json.expect_members({"input_size",
                       "condition_size",
                       "head_size",
                       "head_bias",
                       "head",
                       "channels",
                       "bottleneck",
                       "kernel_size",
                       "kernel_sizes",
                       "dilations",
                       "activation",
                       "gated",
                       "gating_mode",
                       "secondary_activation",
                       "groups_input",
                       "groups_input_mixin",
                       "layer1x1",
                       "head1x1",
                       "conv_pre_film",
                       "conv_post_film",
                       "input_mixin_pre_film",
                       "input_mixin_post_film",
                       "activation_pre_film",
                       "activation_post_film",
                       "layer1x1_post_film",
                       "head1x1_post_film",
                       "slimmable"});
  NamLayerArray array;
  const auto size = [&](const char *key) { return json.at(key).integer(1, kNamMostChannels); };
  array.inputs = size("input_size");
  array.condition = size("condition_size");
  array.channels = size("channels");
  array.bottleneck = size_or(json, "bottleneck", array.channels);
  array.input_groups = size_or(json, "groups_input", 1);
  array.mixin_groups = size_or(json, "groups_input_mixin", 1);
  if (const auto head = json.find("head")) {
    array.head_out = head->at("out_channels").integer(1, kNamMostChannels);
    array.head_taps = head->at("kernel_size").integer(1, kMostTaps);
    array.head_bias = head->at("bias").boolean();
  } else {
    array.head_out = size("head_size");
    array.head_bias = json.at("head_bias").boolean();
  }
  if (const auto next = json.find("layer1x1")) {
    if (!next->at("active").boolean())
      next->refuse("without it the player gives a layer's input to the next one, the trainer adds the layer's result");
    array.next_groups = size_or(*next, "groups", 1);
  }
  array.head = head_of_layer(json, array.channels);
  array.conv_pre = film_of(json, "conv_pre_film");
  array.conv_post = film_of(json, "conv_post_film");
  array.mixin_pre = film_of(json, "input_mixin_pre_film");
  array.mixin_post = film_of(json, "input_mixin_post_film");
  array.activation_pre = film_of(json, "activation_pre_film");
  array.activation_post = film_of(json, "activation_post_film");
  array.next_post = film_of(json, "layer1x1_post_film");
  array.head_post = film_of(json, "head1x1_post_film");
  const size_t count = json.at("dilations").size();
  if (count == 0) json.at("dilations").refuse("it is empty");
  for (size_t i = 0; i < count; ++i) {
    array.layers.push_back(layer_of(json, i, count));
    // The player applies this one behind blended layers alone, the trainer behind all.
    if (array.next_post.active && array.layers.back().gating != NamGating::kBlended)
      json.at("layer1x1_post_film").refuse("it is supported where gating_mode is blended");
  }
  return array;
}

}  // namespace rnnp::compiler
