// eval_norm.cpp -- normalisations in double: by stored statistics, by layer, instance and group. Contract: eval.h.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "compiler/eval/eval.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

constexpr double kEpsilon = 1e-5;  // the default of every operator here

// Elements per channel and batch row; axis 1 is the channels.
int64_t plane_of(const Tensor &x) {
  if (x.rank() < 2) throw Refusal("its input has rank " + std::to_string(x.rank()) + "; accepted: 2 and more");
  return element_count(Shape(x.shape.begin() + 2, x.shape.end()));
}

const Tensor &per_channel(const EvalCall &call, size_t i, int64_t count) {
  const Tensor &out = call.input(i);
  if (out.size() != count) {
    throw Refusal("input " + std::to_string(i) + " has " + std::to_string(out.size()) +
                  " elements; accepted: " + std::to_string(count));
  }
  return out;
}

void batch_norm(EvalCall &call) {
  Tensor out = call.input(0);
  if (call.attributes.integer("training_mode", 0) != 0) throw Refusal("attribute 'training_mode' is set; accepted: inference");
  if (call.attributes.integer("spatial", 1) == 0) throw Refusal("attribute 'spatial' is 0; accepted: 1");
  const int64_t plane = plane_of(out), channels = out.shape[1];
  const Tensor &scale = per_channel(call, 1, channels), &bias = per_channel(call, 2, channels);
  const Tensor &mean = per_channel(call, 3, channels), &variance = per_channel(call, 4, channels);
  const double epsilon = call.attributes.real("epsilon", kEpsilon);
  double *y = out.data.data();
  for (int64_t i = 0; i < out.size(); ++i) {
    const int64_t c = i / plane % channels;
    y[i] = (y[i] - mean.data[c]) / std::sqrt(variance.data[c] + epsilon) * scale.data[c] + bias.data[c];
  }
  call.give(std::move(out));
}

struct Moments {
  double mean, inverse;  // inverse: of the deviation
};

// Brings `count` elements to mean 0 and deviation 1.
Moments normalise(double *x, int64_t count, double epsilon) {
  double mean = 0, variance = 0;
  for (int64_t i = 0; i < count; ++i) mean += x[i];
  mean /= static_cast<double>(count);
  for (int64_t i = 0; i < count; ++i) variance += (x[i] - mean) * (x[i] - mean);
  const double inverse = 1 / std::sqrt(variance / static_cast<double>(count) + epsilon);
  for (int64_t i = 0; i < count; ++i) x[i] = (x[i] - mean) * inverse;
  return {mean, inverse};
}

void layer_norm(EvalCall &call) {
  Tensor out = call.input(0);
  const size_t axis = normal_axis(call.attributes.integer("axis", -1), out.rank());
  Shape outer = out.shape;
  for (size_t i = axis; i < outer.size(); ++i) outer[i] = 1;
  Tensor mean(Elem::kFloat, outer), inverse(Elem::kFloat, outer);
  const int64_t count = mean.size() ? out.size() / mean.size() : 0;
  for (int64_t i = 0; i < mean.size(); ++i) {
    const Moments moments = normalise(out.data.data() + i * count, count, call.attributes.real("epsilon", kEpsilon));
    mean.data[i] = moments.mean;
    inverse.data[i] = moments.inverse;
  }
  const auto apply = [&](size_t input, auto f) {
    if (!call.has(input)) return;
    const Tensor &other = *call.in[input];
    if (broadcast_shape(other.shape, out.shape) != out.shape)
      throw Refusal("input " + std::to_string(input) + " of shape " + shape_text(other.shape) + " does not broadcast to " +
                    shape_text(out.shape));
    double *y = out.data.data();
    for_each_index(out.shape, broadcast_strides(other.shape, out.shape), 0,
                   [&](int64_t i, int64_t at) { y[i] = f(y[i], other.data[at]); });
  };
  call.input(1);
  apply(1, [](double a, double b) { return a * b; });
  apply(2, [](double a, double b) { return a + b; });
  call.give(0, std::move(out));
  call.give(1, std::move(mean));
  call.give(2, std::move(inverse));
}

// `groups` runs of channels per batch row, each brought to mean 0 and deviation 1; then scale and bias, one of each per channel or,
// where there are only as many as groups, per group.
void by_group(EvalCall &call, int64_t groups) {
  Tensor out = call.input(0);
  const int64_t plane = plane_of(out), channels = out.shape[1];
  if (groups < 1 || channels % groups != 0)
    throw Refusal("attribute 'num_groups' is " + std::to_string(groups) + "; accepted: divisors of " + std::to_string(channels));
  const int64_t parts = call.node.op_type() == "GroupNormalization" && call.opset < 21 ? groups : channels;
  const Tensor &scale = per_channel(call, 1, parts), &bias = per_channel(call, 2, parts);
  const double epsilon = call.attributes.real("epsilon", kEpsilon);
  const int64_t count = channels / groups * plane;
  for (int64_t i = 0; count > 0 && i < out.size() / count; ++i) normalise(out.data.data() + i * count, count, epsilon);
  for (int64_t i = 0; i < out.size(); ++i) {
    const int64_t part = i / plane % channels / (channels / parts);
    out.data[i] = out.data[i] * scale.data[part] + bias.data[part];
  }
  call.give(std::move(out));
}

void instance_norm(EvalCall &call) {
  plane_of(call.input(0));
  by_group(call, std::max<int64_t>(call.input(0).shape[1], 1));
}

void group_norm(EvalCall &call) {
  by_group(call, call.attributes.integer("num_groups", 0));
}

// Over the last axis unless told otherwise.
void lp_norm(EvalCall &call) {
  Tensor out = call.input(0);
  const size_t axis = normal_axis(call.attributes.integer("axis", -1), out.rank());
  const int64_t p = call.attributes.integer("p", 2);
  if (p != 1 && p != 2) throw Refusal("attribute 'p' is " + std::to_string(p) + "; accepted: 1, 2");
  Shape kept = out.shape;
  kept[axis] = 1;
  Tensor sum(Elem::kFloat, kept);
  const Shape strides = broadcast_strides(kept, out.shape);
  for_each_index(out.shape, strides, 0, [&](int64_t i, int64_t at) {
    const double v = out.data[i];
    sum.data[at] += p == 1 ? std::fabs(v) : v * v;
  });
  for_each_index(out.shape, strides, 0, [&](int64_t i, int64_t at) {
    const double norm = p == 1 ? sum.data[at] : std::sqrt(sum.data[at]);
    out.data[i] = norm == 0 ? 0 : out.data[i] / norm;
  });
  call.give(std::move(out));
}

}  // namespace

const std::vector<EvalRow> kEvalNorm = {
    {"BatchNormalization", batch_norm}, {"LayerNormalization", layer_norm}, {"InstanceNormalization", instance_norm},
    {"GroupNormalization", group_norm}, {"LpNormalization", lp_norm},
};

}  // namespace rnnp::compiler
