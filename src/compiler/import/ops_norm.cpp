// ops_norm.cpp -- LayerNormalization, InstanceNormalization and GroupNormalization over feature axes. Contract: builder.h.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compiler/import/builder.h"

namespace rnnp::compiler {
namespace {

// The parameter as `count` floats, or empty when it is none of that size.
std::vector<float> parameter(const OpCall &call, size_t i, int64_t count) {
  if (!call.is_const(i)) return {};
  const Tensor &given = call.constant(i, "the parameter");
  if (given.is_dynamic() || given.elem != Elem::kFloat || given.size() != count) return {};
  return std::vector<float>(given.data.begin(), given.data.end());
}

// x is whole and in order; its features are [outer][elems].
View normalised(OpCall &call, const View &x, Norm norm) {
  View out = x;
  norm.epsilon = static_cast<float>(call.attributes.real("epsilon", 1e-5));
  out.value = call.b.new_row(feature_count(x), call.b.is_sequence(x));
  call.b.graph.nodes.push_back({OpKind::kNorm, call.name, {x.value}, {out.value}, std::move(norm)});
  return out;
}

uint32_t feature_size(const View &x, size_t begin, size_t end) {
  int64_t size = 1;
  for (size_t i = begin; i < end; ++i) {
    for (const Atom &atom : x.axes[i]) size = times(size, atom.is_feature() ? atom.size : 1);
  }
  return static_cast<uint32_t>(size);
}

void expect_features(const View &x, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    for (const Atom &atom : x.axes[i]) {
      if (atom.is_feature()) continue;
      if (atom.kind == Atom::Kind::kTime)
        throw Refusal("it looks at the whole sequence: it normalises over the time axis of " + view_text(x) +
                      "; accepted: feature axes");
      throw Refusal("it normalises over the batch axis of " + view_text(x) + "; accepted: feature axes");
    }
  }
}

// The mean, and 1 / sqrt(variance + epsilon): for training, and rarely asked for.
void give_moments(OpCall &call, const View &x, size_t axis) {
  if (!call.wants(1) && !call.wants(2)) return;
  Builder &b = call.b;
  std::vector<bool> over(x.axes.size(), false);
  std::fill(over.begin() + static_cast<std::ptrdiff_t>(axis), over.end(), true);
  const View mean = b.reduced(x, over, Reduce::kMean, true, call.name);
  const View off = b.binary(Binary::kSub, x, mean, call.name);
  const View square = b.binary(Binary::kMul, off, off, call.name);
  const View variance = b.reduced(square, over, Reduce::kMean, true, call.name);
  const float epsilon = static_cast<float>(call.attributes.real("epsilon", 1e-5));
  View inverse = b.unary(variance, {static_cast<uint32_t>(Act::kAffine), 1.0f, epsilon}, call.name);
  for (const Act act : {Act::kSqrt, Act::kReciprocal}) inverse = b.unary(inverse, {static_cast<uint32_t>(act), 0, 0}, call.name);
  call.give(1, mean);
  call.give(2, inverse);
}

void layer_normalization(OpCall &call) {
  const View x = call.b.dense(call.b.as_row(call.real_view(0), call.name), call.name);
  const size_t rank = x.axes.size(), axis = normal_axis(call.attributes.integer("axis", -1), rank);
  expect_features(x, axis, rank);
  Norm norm;
  norm.outer = feature_size(x, 0, axis);
  norm.elems = feature_size(x, axis, rank);
  norm.scale = parameter(call, 1, norm.elems);
  const bool scaled = !norm.scale.empty();
  if (scaled && call.has(2)) norm.bias = parameter(call, 2, norm.elems);
  const bool biased = !norm.bias.empty();
  View y = normalised(call, x, std::move(norm));
  if (!scaled) y = call.b.binary(Binary::kMul, y, call.real_view(1), call.name);
  if (call.has(2) && !biased) y = call.b.binary(Binary::kAdd, y, call.real_view(2), call.name);
  call.give(0, y);
  give_moments(call, x, axis);
}

std::vector<float> repeated(const std::vector<float> &v, uint32_t times) {
  std::vector<float> out;
  for (uint32_t i = 0; i < times; ++i) out.insert(out.end(), v.begin(), v.end());
  return out;
}

// Groups of channels, each normalised with all its positions; then one scale and bias per group, or per channel.
void normalise_groups(OpCall &call, const View &x, int64_t groups, bool per_group) {
  const size_t rank = x.axes.size();
  expect_features(x, 1, rank);
  const int64_t channels = axis_size(x.axes[1]);
  if (groups < 1 || channels % groups != 0)
    throw Refusal("its " + std::to_string(groups) + " groups do not divide " + std::to_string(channels) + " channels");
  const uint32_t batch = feature_size(x, 0, 1);  // 1, but where the batch is a feature axis
  Norm norm;
  norm.outer = batch * static_cast<uint32_t>(groups);
  norm.elems = feature_size(x, 1, rank) / static_cast<uint32_t>(groups);
  norm.per_outer = true;
  const std::vector<float> scale = parameter(call, 1, groups), bias = parameter(call, 2, groups);
  const bool inside = per_group && !scale.empty() && !bias.empty();
  if (!inside && per_group && groups != channels) throw Refusal("its scale and bias must be constants, one number per group");
  if (inside && !call.b.discovering) {  // the sizes are stand-ins while axes are looked for
    norm.scale = repeated(scale, batch);
    norm.bias = repeated(bias, batch);
  }
  View y = normalised(call, x, std::move(norm));
  if (!inside) {
    y = call.b.binary(Binary::kMul, y, call.per_channel(1, x), call.name);
    y = call.b.binary(Binary::kAdd, y, call.per_channel(2, x), call.name);
  }
  call.give(0, y);
}

View channels_first(OpCall &call) {
  const View x = call.real_view(0);
  if (x.axes.size() < 2) throw Refusal("its input has rank " + std::to_string(x.axes.size()) + "; accepted: 2 and more");
  return call.b.dense(call.b.as_row(x, call.name), call.name);
}

void instance_normalization(OpCall &call) {
  const View x = channels_first(call);
  normalise_groups(call, x, axis_size(x.axes[1]), true);
}

// Before opset 21 scale and bias have one number per group.
void group_normalization(OpCall &call) {
  normalise_groups(call, channels_first(call), call.attributes.integer("num_groups", 1), call.opset < 21);
}

}  // namespace

const std::vector<ImportRow> kImportNorm = {
    {"LayerNormalization", layer_normalization, "feature axes", 17},
    {"InstanceNormalization", instance_normalization, "positions that are feature axes"},
    {"GroupNormalization", group_normalization, "channels and positions that are feature axes", 18},
};

}  // namespace rnnp::compiler
