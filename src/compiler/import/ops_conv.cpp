// ops_conv.cpp -- convolutions, plain and transposed, and BatchNormalization. Contract: builder.h.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "compiler/import/conv_import.h"
#include "compiler/onnx/tensor_text.h"

namespace rnnp::compiler {
namespace {

struct Kernel {
  const Tensor &w;
  int64_t groups, in, out;  // channels of one group
  bool transposed;
  Shape spatial;
  float x_step = 0;

  // Element of output channel o of all, input channel i of its group.
  float at(int64_t o, int64_t i, const std::vector<int64_t> &tap) const {
    int64_t place = transposed ? (o / out * in + i) * out + o % out : o * in + i;
    for (size_t axis = 0; axis < spatial.size(); ++axis) {
      if (tap[axis] < 0) return 0;
      place = place * spatial[axis] + tap[axis];
    }
    return static_cast<float>(w.data[static_cast<size_t>(place)]);
  }
};

std::vector<float> gathered(const Kernel &kernel, const Sliding &sliding, const Phase &t, const Phase &h, const Phase &w) {
  std::vector<float> out;
  out.reserve(static_cast<size_t>(kernel.groups * kernel.out * t.steps * h.kernel * w.kernel * kernel.in));
  std::vector<int64_t> tap(kernel.spatial.size(), 0);
  const auto set = [&](int axis, int64_t k) {
    if (axis >= 0) tap[static_cast<size_t>(axis)] = k;
  };
  for (int64_t o = 0; o < kernel.groups * kernel.out; ++o) {
    for (int64_t step = 0; step < t.steps; ++step) {
      if (!sliding.time().within_rows) set(sliding.time().axis, t.tap(step, 0));
      for (int64_t kh = 0; kh < h.kernel; ++kh) {
        set(sliding.slide(0).from, h.tap(step, kh));
        for (int64_t kw = 0; kw < w.kernel; ++kw) {
          set(sliding.slide(1).from, w.tap(step, kw));
          for (int64_t i = 0; i < kernel.in; ++i) out.push_back(kernel.at(o, i, tap));
        }
      }
    }
  }
  return out;
}

std::vector<float> bias_of(OpCall &call, int64_t outputs) {
  std::vector<float> bias;
  if (!call.has(2)) return bias;
  const Tensor &given = call.constant(2, "B");
  if (given.size() != outputs || given.is_dynamic())
    throw Refusal("B has " + std::to_string(given.size()) + " elements; accepted: " + std::to_string(outputs));
  for (double v : given.data) bias.push_back(static_cast<float>(v));
  return bias;
}

Kernel kernel_of(OpCall &call, const View &x, bool transposed) {
  const Tensor &w = call.constant(1, "W");
  if (w.elem != Elem::kFloat || w.is_dynamic() || w.size() == 0) throw Refusal("its weights are not constant floats");
  if (w.rank() != x.axes.size() || w.rank() < 3)
    throw Refusal("W has shape " + shape_text(w.shape) + ", which does not fit " + view_text(x));
  const int64_t groups = call.attributes.integer("group", 1), channels = axis_size(x.axes[1]);
  const int64_t first = w.shape[0], second = w.shape[1];
  if (groups < 1 || (transposed ? first : channels) % groups != 0 || (!transposed && first % groups != 0))
    throw Refusal("attribute 'group' is " + std::to_string(groups) + "; accepted: divisors of the channels");
  Kernel kernel{
      w, groups, transposed ? first / groups : second, transposed ? second : first / groups, transposed, spatial_of(w.shape), 0};
  kernel.x_step = x.known_step();
  if (kernel.in * groups != channels)
    throw Refusal("W is for " + std::to_string(kernel.in * groups) + " channels, x has " + std::to_string(channels));
  return kernel;
}

void push_conv(Sliding *sliding, const std::string &name, const Kernel &kernel, const std::vector<float> &bias, const Phase &h,
               const Phase &w) {
  Conv conv;
  AttrConv &a = conv.shape;
  const Phase &t = sliding->time_phase(h, w);
  a.window = sliding->window(h, w);
  a.time_taps = static_cast<uint32_t>(t.steps);
  a.time_dilation = size_number(t.step_dilation, "dilation");
  a.lead = static_cast<int32_t>(t.lead);
  a.groups = size_number(kernel.groups, "group");
  a.in_channels = size_number(kernel.in, "channels");
  a.out_channels = size_number(kernel.out, "channels");
  a.y_plane = sliding->plane();
  conv.w = gathered(kernel, *sliding, t, h, w);
  const DType type = stored_type(kernel.w);
  std::vector<float> steps;
  if (!kernel.w.steps.empty()) {
    const Tensor step_of = steps_tensor(kernel.w);
    steps = gathered({step_of, kernel.groups, kernel.in, kernel.out, kernel.transposed, kernel.spatial, 0}, *sliding, t, h, w);
  }
  if (!conv.w.empty()) conv.storage = storage_of_file(type, conv.w, steps, conv.depth());
  conv.storage.lhs_scale = kernel.x_step;
  conv.bias = bias;
  sliding->push({OpKind::kConv, name, {}, {}, std::move(conv)});
}

// One group whose weights are, and stay, f32.
bool stays_float(const OpCall &call, const Kernel &kernel) {
  return call.b.float_weights && kernel.groups == 1 && kernel.x_step == 0 && stored_type(kernel.w) == DType::kF32;
}

// The library multiplies what lies beyond x as zeros, the graph leaves it out.
void refuse_zeros_times_infinity(const Sliding &sliding, const Tensor &w) {
  if (!sliding.reads_beyond()) return;
  const std::string what = not_finite_text(w);
  if (!what.empty())
    throw Refusal("W has " + what + ", and times the zeros of padding or of steps before the first that is NaN; accepted: finite " +
                  "weights, or no padding");
}

void convolve(OpCall &call, bool transposed) {
  const View x = call.any_view(0);
  if (call.b.graph.values[x.value].dtype != DType::kF32) throw Refusal("input 0 is an integer tensor; accepted: float");
  const Kernel kernel = kernel_of(call, x, transposed);
  const Shape spatial = spatial_of(view_shape(x));
  const Window window = transposed ? conv_transpose_window(call.attributes, spatial, kernel.spatial)
                                   : conv_window(call.attributes, spatial, kernel.spatial);
  for (const WindowAxis &axis : window) {
    if (axis.out < 1) throw Refusal("its output is empty");
  }
  const int64_t outputs = kernel.groups * kernel.out;
  const std::vector<float> bias = bias_of(call, outputs);
  Sliding sliding(call, x, window, transposed ? Sort::kTransposed : Sort::kConv);
  if (call.b.discovering) {
    call.give(0, sliding.discovered(OpKind::kConv, outputs));
    return;
  }
  sliding.place(outputs);
  refuse_zeros_times_infinity(sliding, kernel.w);
  if (sliding.slide(0).phases.size() * sliding.slide(1).phases.size() > kMostPhases)
    throw Refusal("its strides make more than 1024 phases");
  const bool by_planes = stays_float(call, kernel) && call.b.winograd;
  if (by_planes && !sliding.can_be_nchw(kernel.in, kernel.out) && sliding.wants_planes(kernel.in, kernel.out))
    sliding.bring_planes();
  if (stays_float(call, kernel) && sliding.can_be_nchw(kernel.in, kernel.out)) {
    sliding.make_nchw();
  } else if (sliding.wants_channels_together(kernel.groups, kernel.in, kernel.out)) {
    sliding.bring_channels_together();
  }
  for (const Phase &h : sliding.slide(0).phases) {
    for (const Phase &w : sliding.slide(1).phases) push_conv(&sliding, call.name, kernel, bias, h, w);
  }
  call.give(0, sliding.output());
}

void conv(OpCall &call) {
  convolve(call, false);
}
void conv_transpose(OpCall &call) {
  convolve(call, true);
}

// --- BatchNormalization ------------------------------------------------------------------------------------------------------

// A number per channel, as a constant that broadcasts over x.
View channel_constant(OpCall &call, const View &x, const std::vector<double> &numbers) {
  Tensor tensor(Elem::kFloat, Shape(x.axes.size() - 1, 1));
  tensor.shape[0] = static_cast<int64_t>(numbers.size());
  tensor.data = numbers;
  return call.b.const_view(tensor);
}

// With a mean and variance that the graph computes: Keras LayerNormalization, whose rows are the channels.
void normalise_channels(OpCall &call, const View &x) {
  Builder &b = call.b;
  const float epsilon = static_cast<float>(call.attributes.real("epsilon", 1e-5));
  View y = b.binary(Binary::kSub, x, call.per_channel(3, x), call.name);
  View inverse = b.unary(call.per_channel(4, x), {static_cast<uint32_t>(Act::kAffine), 1.0f, epsilon}, call.name);
  for (const Act act : {Act::kSqrt, Act::kReciprocal}) inverse = b.unary(inverse, {static_cast<uint32_t>(act), 0, 0}, call.name);
  y = b.binary(Binary::kMul, y, inverse, call.name);
  y = b.binary(Binary::kMul, y, call.per_channel(1, x), call.name);
  call.give(0, b.binary(Binary::kAdd, y, call.per_channel(2, x), call.name));
}

// Inference: a factor and a summand per channel, which a convolution before it takes in.
void batch_normalization(OpCall &call) {
  if (call.attributes.integer("training_mode", 0) != 0) throw Refusal("training_mode is set; accepted: inference");
  if (call.attributes.integer("spatial", 1) == 0) throw Refusal("attribute 'spatial' is 0; accepted: 1");
  if (call.wants(1)) throw Refusal("its outputs for training are not supported");
  const View x = call.pointwise_view(0);
  if (x.axes.size() < 2) throw Refusal("its input has rank " + std::to_string(x.axes.size()) + "; accepted: 2 and more");
  for (size_t i = 1; i < 5; ++i) {
    if (!call.is_const(i)) return normalise_channels(call, x);
  }
  const char *kNames[] = {"scale", "B", "mean", "var"};
  const int64_t channels = axis_size(x.axes[1]);
  const Tensor *in[4];
  for (size_t i = 0; i < 4; ++i) {
    in[i] = &call.constant(i + 1, kNames[i]);
    if (in[i]->size() != channels || in[i]->is_dynamic())
      throw Refusal(std::string(kNames[i]) + " has " + std::to_string(in[i]->size()) +
                    " elements; accepted: " + std::to_string(channels));
  }
  const double epsilon = call.attributes.real("epsilon", 1e-5);
  std::vector<double> factor, summand;
  for (size_t c = 0; c < static_cast<size_t>(channels); ++c) {
    factor.push_back(in[0]->data[c] / std::sqrt(in[3]->data[c] + epsilon));
    summand.push_back(in[1]->data[c] - in[2]->data[c] * factor.back());
  }
  const View scaled = call.b.binary(Binary::kMul, x, channel_constant(call, x, factor), call.name);
  call.give(0, call.b.binary(Binary::kAdd, scaled, channel_constant(call, x, summand), call.name));
}

constexpr const char *kConvLimits =
    "constant weights; up to two feature axes and time, where a stride needs a recurrent layer behind it; any groups, dilations "
    "and padding";

}  // namespace

const std::vector<ImportRow> kImportConv = {
    {"Conv", conv, kConvLimits},
    {"ConvTranspose", conv_transpose, kConvLimits},
    {"BatchNormalization", batch_normalization,
     "inference; folded into a convolution or dense layer before it where its parameters are constants"},
};

}  // namespace rnnp::compiler
