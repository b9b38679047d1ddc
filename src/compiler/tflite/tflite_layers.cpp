// tflite_layers.cpp -- dense layers, convolutions and pools of TensorFlow Lite. Between integers a layer sums integers: each sum is
// exact, and one factor a channel makes it real. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "compiler/tflite/tflite_graph.h"

namespace rnnp::compiler {
namespace {

// What a layer multiplies: x and weights, both integers where the file has both so, and what their products are multiplied by.
struct Operands {
  std::string x, weights, bias;  // weights as the file has their axes
  std::vector<double> factors = {1};
  bool are_integers = false;
};

bool sums_integers(TfCall &call, size_t x, size_t w) {
  return !call.graph().context().keeps_int8 && call.x(x).is_quantized() && call.x(w).is_quantized() && call.x(w).is_constant();
}

Operands operands_of(TfCall &call, size_t x, size_t w, size_t b) {
  Operands out;
  const bool has_bias = call.has(b) && call.x(b).elements() != 0;
  if (!sums_integers(call, x, w)) {
    out.x = call.on_grid(x);
    out.weights = call.real(w);
    if (has_bias) out.bias = call.floats_constant({call.x(b).elements()}, reals_of(call.x(b)), "_bias");
    return out;
  }
  out.x = call.graph().steps(call.in(x));
  out.weights = call.floats_constant(call.x(w).shape, integers_of(call.x(w)), "_weights");
  if (has_bias) out.bias = call.floats_constant({call.x(b).elements()}, elements_of(call.x(b)), "_bias");
  const double scale = grid_of(call.x(x)).scale;
  out.factors.clear();
  out.are_integers = true;
  for (const float of_channel : call.x(w).scales) out.factors.push_back(scale * of_channel);
  return out;
}

void give_layer(TfCall &call, const std::string &y, const Operands &operands, int activation, bool is_twice) {
  if (operands.are_integers) return call.give_sums(y, operands.factors, activation, is_twice);
  call.give(y, operands.factors, activation);
}

// A weight's axis of output channels is where its scales are.
void check_scales(const TfCall &call, size_t w, size_t axis) {
  if (call.x(w).scales.size() > 1 && call.x(w).axis != axis)
    throw Refusal("its weights have scales along axis " + std::to_string(call.x(w).axis) +
                  "; accepted: along that of the output channels");
}

void check_bias(const TfCall &call, size_t b, int64_t channels) {
  if (call.has(b) && call.x(b).elements() != 0 && call.x(b).elements() != channels)
    throw Refusal("its bias has " + std::to_string(call.x(b).elements()) + " numbers for " + std::to_string(channels) +
                  " channels");
}

void check_rank(const TfCall &call, size_t i, size_t rank, const char *what) {
  if (call.rank(i) != rank)
    throw Refusal(std::string(what) + " has shape " + shape_text(call.x(i).shape) + "; accepted: " + std::to_string(rank) +
                  " axes");
}

void fully_connected(TfCall &call) {
  check_rank(call, 1, 2, "its weight");
  check_scales(call, 1, 0);
  const int64_t depth = call.x(1).shape[1];
  if (call.options().number<int8_t>(1, 0) != 0) throw Refusal("its weights are shuffled; accepted: rows of output channels");
  check_bias(call, 2, call.x(1).shape[0]);
  Operands operands = operands_of(call, 0, 1, 2);
  const size_t rank = call.rank(0);
  if (rank == 0) throw Refusal("its input is a number");
  if (call.x(0).shape[rank - 1] != depth || call.y().shape.size() != rank)
    operands.x = call.node("Reshape", {operands.x, call.ints_constant({-1, depth})});
  std::string y = call.node("MatMul", {operands.x, call.transposed(operands.weights, {1, 0})});
  if (!operands.bias.empty()) y = call.node("Add", {y, operands.bias});
  give_layer(call, y, operands, call.options().number<int8_t>(0, 0), false);
}

void batch_matmul(TfCall &call) {
  std::string a = call.real(0), b = call.real(1);
  const auto adjoint = [&](const std::string &name, size_t rank) {
    if (rank < 2) throw Refusal("an operand has fewer than two axes");
    std::vector<int64_t> axes;
    for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
    std::swap(axes[rank - 1], axes[rank - 2]);
    return call.transposed(name, axes);
  };
  if (call.options().flag(0)) a = adjoint(a, call.rank(0));
  if (call.options().flag(1)) b = adjoint(b, call.rank(1));
  call.give(call.node("MatMul", {a, b}));
}

struct Window {
  int64_t kernel[2], stride[2], dilation[2] = {1, 1};
};

void check_window(const Window &w) {
  for (int i = 0; i < 2; ++i) {
    for (const int64_t size : {w.kernel[i], w.stride[i], w.dilation[i]}) {
      if (size < 1 || size > 1 << 20)
        throw Refusal("a size of its window or stride is " + std::to_string(size) + "; accepted: 1 to 1048576");
    }
  }
}

// What convolutions and pools have as their first option: VALID or SAME.
bool is_valid(const TfCall &call) {
  return call.options().number<int8_t>(0, 0) == 1;
}

// SAME pads so that the result has an element for each stride, the odd one at the end; VALID not at all. Open sizes are left to
// ONNX.
void pad_window(BuiltNode *node, const Window &w, const std::vector<int64_t> &nhwc, bool adds_none) {
  if (adds_none) return;
  std::vector<int64_t> pads(4, 0);
  for (size_t i = 0; i < 2; ++i) {
    const int64_t size = nhwc[i + 1];
    if (size < 0) {
      node->with("auto_pad", "SAME_UPPER");
      return;
    }
    const int64_t out = (size + w.stride[i] - 1) / w.stride[i], reach = (w.kernel[i] - 1) * w.dilation[i] + 1;
    const int64_t total = std::max<int64_t>((out - 1) * w.stride[i] + reach - size, 0);
    pads[i] = total / 2;
    pads[i + 2] = total - total / 2;
  }
  node->with("pads", pads);
}

void set_window(BuiltNode *node, const Window &w, bool has_dilation) {
  node->with("kernel_shape", std::vector<int64_t>{w.kernel[0], w.kernel[1]})
      .with("strides", std::vector<int64_t>{w.stride[0], w.stride[1]});
  if (has_dilation) node->with("dilations", std::vector<int64_t>{w.dilation[0], w.dilation[1]});
}

std::string as_nchw(TfCall &call, const std::string &x) {
  return call.transposed(x, {0, 3, 1, 2});
}
std::string as_nhwc(TfCall &call, const std::string &y) {
  return call.transposed(y, {0, 2, 3, 1});
}

// The convolution of elements that were dealt out to rows.
void dilate(TfCall &call, const TfDealt &how, Window *window) {
  const size_t axis = how.axis - 1;
  if (axis > 1 || !is_valid(call) || window->stride[axis] != 1 || window->dilation[axis] != 1)
    throw Refusal(std::string(kAmongDealt) + "no padding, a stride of 1");
  window->dilation[axis] = how.block;
  call.graph().set_dealt(call.out(), how);
}

void convolve(TfCall &call, Window window, int64_t groups, int64_t channels, const std::vector<int64_t> &axes, int activation) {
  check_bias(call, 2, channels);
  check_window(window);
  if (const TfDealt *how = call.graph().dealt(call.in(0))) dilate(call, *how, &window);
  const Operands operands = operands_of(call, 0, 1, 2);
  std::vector<std::string> inputs = {as_nchw(call, operands.x), call.transposed(operands.weights, axes)};
  if (!operands.bias.empty()) inputs.push_back(operands.bias);
  BuiltNode node = call.open_node("Conv", inputs);
  set_window(&node, window, true);
  pad_window(&node, window, call.x(0).shape, is_valid(call));
  if (groups != 1) node.with("group", groups);
  give_layer(call, as_nhwc(call, node), operands, activation, true);
}

// Of weights whose axis `channels` is that of the output channels; `dilations`: where the options have them, the width's first.
// 0: they have none.
Window window_of(TfCall &call, size_t x, size_t channels, int dilations) {
  check_rank(call, x, 4, "its input");
  check_rank(call, 1, 4, "its weight");
  check_scales(call, 1, channels);
  const FlatTable &options = call.options();
  const std::vector<int64_t> &w = call.x(1).shape;
  Window window = {{w[1], w[2]}, {options.number<int32_t>(2, 0), options.number<int32_t>(1, 0)}};
  for (int i = 0; i < 2 && dilations != 0; ++i) window.dilation[i] = options.number<int32_t>(dilations + 1 - i, 1);
  return window;
}

void conv_2d(TfCall &call) {
  const Window window = window_of(call, 0, 0, 4);
  const std::vector<int64_t> &w = call.x(1).shape;
  const int64_t depth = call.x(0).shape[3];
  if (w[3] < 1 || depth < 1 || depth % w[3] != 0)
    throw Refusal("its weight of shape " + shape_text(w) + " does not fit " + std::to_string(depth) + " input channels");
  convolve(call, window, depth / w[3], w[0], {0, 3, 1, 2}, call.options().number<int8_t>(3, 0));
}

void depthwise_conv_2d(TfCall &call) {
  const Window window = window_of(call, 0, 3, 5);
  const std::vector<int64_t> &w = call.x(1).shape;
  const int64_t depth = call.x(0).shape[3];
  if (w[0] != 1 || depth < 1 || w[3] % depth != 0)
    throw Refusal("its weight of shape " + shape_text(w) + " does not fit " + std::to_string(depth) + " input channels");
  convolve(call, window, depth, w[3], {3, 0, 1, 2}, call.options().number<int8_t>(4, 0));
}

// Of operands (the result's shape, weights, x, bias).
void transpose_conv(TfCall &call) {
  const Window window = window_of(call, 2, 0, 0);
  const std::vector<int64_t> &w = call.x(1).shape, &x = call.x(2).shape, y = call.ints(0, "the shape of its result");
  check_window(window);
  check_bias(call, 3, w[0]);
  if (y.size() != 4 || w[3] != x[3])
    throw Refusal("its weight of shape " + shape_text(w) + " does not fit an input of shape " + shape_text(x));
  const Operands operands = operands_of(call, 2, 1, 3);
  std::vector<int64_t> pads(4), more(2);
  for (size_t i = 0; i < 2; ++i) {
    if (x[i + 1] < 1) throw Refusal("its input has an open size");
    const int64_t full = (x[i + 1] - 1) * window.stride[i] + window.kernel[i], extra = full - y[i + 1];
    pads[i] = is_valid(call) ? 0 : std::max<int64_t>(extra, 0) / 2;
    pads[i + 2] = std::max<int64_t>(extra, 0) - pads[i];
    more[i] = std::max<int64_t>(-extra, 0);
  }
  std::vector<std::string> inputs = {as_nchw(call, operands.x), call.transposed(operands.weights, {3, 0, 1, 2})};
  if (!operands.bias.empty()) inputs.push_back(operands.bias);
  BuiltNode node = call.open_node("ConvTranspose", inputs);
  set_window(&node, window, false);
  node.with("pads", pads);
  if (more[0] != 0 || more[1] != 0) node.with("output_padding", more);
  give_layer(call, as_nhwc(call, node), operands, call.options().number<int8_t>(3, 0), true);
}

std::string pooled(TfCall &call, const char *onnx, const std::string &x) {
  check_rank(call, 0, 4, "its input");
  const FlatTable &options = call.options();
  const Window window = {{options.number<int32_t>(4, 0), options.number<int32_t>(3, 0)},
                         {options.number<int32_t>(2, 0), options.number<int32_t>(1, 0)}};
  check_window(window);
  BuiltNode node = call.open_node(onnx, {as_nchw(call, x)});
  set_window(&node, window, false);
  pad_window(&node, window, call.x(0).shape, is_valid(call));
  return as_nhwc(call, node);
}

double unit_of(const TfCall &call) {
  return call.moves_steps(0) ? grid_of(call.x(0)).scale : 1;
}

void max_pool_2d(TfCall &call) {
  const std::string y = pooled(call, "MaxPool", call.moved(0));
  const int activation = call.options().number<int8_t>(5, 0);
  if (activation == 0) return call.give_moved(0, y);
  call.give(y, {unit_of(call)}, activation);
}

// The interpreter divides sums of the file's integers and rounds halves away from 0. A mean of up to 256 integers that is not
// halfway between two is farther from there than what it is moved by.
void average_pool_2d(TfCall &call) {
  std::string y = pooled(call, "AveragePool", call.moved(0));
  if (call.moves_steps(0)) {
    constexpr double kOutwards = 1.0 / 65536;
    const double zero = grid_of(call.x(0)).zero;
    y = call.node("Mul", {y, call.graph().number(1 + kOutwards)});
    if (zero != 0) y = call.node("Add", {y, call.graph().number(zero * kOutwards)});
  }
  call.give(y, {unit_of(call)}, call.options().number<int8_t>(5, 0));
}

void resize(TfCall &call, const char *mode, int aligned, int half_pixel) {
  check_rank(call, 0, 4, "its input");
  const std::vector<int64_t> size = call.ints(1, "its size");
  if (size.size() != 2) throw Refusal("its size has " + std::to_string(size.size()) + " numbers; accepted: 2");
  const std::vector<int64_t> &x = call.x(0).shape;
  const char *form = call.options().flag(aligned) ? "align_corners" : call.options().flag(half_pixel) ? "half_pixel" : "asymmetric";
  const std::string sizes = call.ints_constant({std::max<int64_t>(x[0], 1), x[3], size[0], size[1]});
  BuiltNode node = call.open_node("Resize", {as_nchw(call, call.moved(0)), "", "", sizes});
  node.with("mode", mode).with("coordinate_transformation_mode", form);
  if (std::string(mode) == "nearest") node.with("nearest_mode", std::string(form) == "asymmetric" ? "floor" : "round_prefer_ceil");
  const std::string y = as_nhwc(call, node);
  if (std::string(mode) == "nearest") return call.give_moved(0, y);
  call.give(y, {unit_of(call)});
}
void resize_nearest(TfCall &call) {
  resize(call, "nearest", 0, 1);
}
void resize_bilinear(TfCall &call) {
  resize(call, "linear", 2, 3);
}

}  // namespace

const std::vector<TfRow> kTfLayers = {
    {"AVERAGE_POOL_2D", average_pool_2d, 6}, {"BATCH_MATMUL", batch_matmul, 3},
    {"CONV_2D", conv_2d, 7, true},           {"DEPTHWISE_CONV_2D", depthwise_conv_2d, 7, true},
    {"FULLY_CONNECTED", fully_connected, 5}, {"MAX_POOL_2D", max_pool_2d, 6},
    {"RESIZE_BILINEAR", resize_bilinear, 4}, {"RESIZE_NEAREST_NEIGHBOR", resize_nearest, 2},
    {"TRANSPOSE_CONV", transpose_conv, 5},
};

}  // namespace rnnp::compiler
