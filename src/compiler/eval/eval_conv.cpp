// eval_conv.cpp -- convolutions and transposed convolutions over any number of spatial axes, in double. Contract: eval.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/eval/eval.h"
#include "compiler/eval/eval_window.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

// One pair of an input and an output place that a tap joins: large = small * stride + tap * dilation - before on every axis. The
// small side is a convolution's output and a transposed one's input.
struct Pair {
  int64_t small, large;
};

void pairs_of(const Window &window, const Shape &tap, const Shape &small, const Shape &large, std::vector<Pair> *pairs) {
  pairs->clear();
  const Shape strides = dense_strides(large);
  const int64_t count = element_count(small);
  Shape index(small.size(), 0);
  for (int64_t n = 0; n < count; ++n) {
    int64_t at = 0;
    bool inside = true;
    for (size_t i = 0; i < window.size(); ++i) {
      const int64_t place = index[i] * window[i].stride + tap[i] * window[i].dilation - window[i].before;
      inside = inside && place >= 0 && place < large[i];
      if (inside) at += place * strides[i];
    }
    if (inside) pairs->push_back({n, at});
    for (size_t i = small.size(); i-- > 0 && ++index[i] == small[i];) index[i] = 0;
  }
}

// Calls visit(tap, pairs) for every tap of the kernel in order.
template <typename Visit>
void for_each_tap(const Window &window, const Shape &small, const Shape &large, Visit visit) {
  Shape kernel;
  for (const WindowAxis &axis : window) kernel.push_back(axis.kernel);
  const int64_t count = element_count(kernel);
  check_work(count, element_count(small), static_cast<int64_t>(kernel.size()), 1);
  Shape tap(kernel.size(), 0);
  std::vector<Pair> pairs;
  for (int64_t k = 0; k < count; ++k) {
    pairs_of(window, tap, small, large, &pairs);
    visit(k, pairs);
    for (size_t i = kernel.size(); i-- > 0 && ++tap[i] == kernel[i];) tap[i] = 0;
  }
}

Shape outs_of(const Window &window) {
  Shape outs;
  for (const WindowAxis &axis : window) outs.push_back(axis.out);
  return outs;
}

int64_t group_of(const EvalCall &call, int64_t channels) {
  const int64_t group = call.attributes.integer("group", 1);
  if (group < 1 || channels % group != 0) {
    throw Refusal("attribute 'group' is " + std::to_string(group) + "; accepted: divisors of " + std::to_string(channels));
  }
  return group;
}

// The bias or zeros.
Tensor start_of(const EvalCall &call, int64_t batch, int64_t maps, const Shape &outs) {
  Shape dims{batch, maps};
  dims.insert(dims.end(), outs.begin(), outs.end());
  Tensor out(call.in[0]->elem, dims);
  if (!call.has(2)) return out;
  if (call.in[2]->size() != maps)
    throw Refusal("B has " + std::to_string(call.in[2]->size()) + " elements, not " + std::to_string(maps));
  const int64_t plane = element_count(outs);
  for (int64_t i = 0; i < out.size(); ++i) out.data[i] = call.in[2]->data[i / plane % maps];
  return out;
}

void conv(EvalCall &call) {
  const Tensor &x = call.input(0), &w = call.input(1);
  const Shape spatial = spatial_of(x.shape), kernel = spatial_of(w.shape);
  const int64_t channels = x.shape[1], maps = w.shape[0], group = group_of(call, channels), per_group = channels / group;
  if (maps % group != 0 || w.shape[1] != per_group)
    throw Refusal("W of shape " + shape_text(w.shape) + " does not fit " + std::to_string(channels) + " channels");
  const Window window = conv_window(call.attributes, spatial, kernel);
  const Shape outs = outs_of(window);
  Tensor out = start_of(call, x.shape[0], maps, outs);
  const int64_t plane = element_count(spatial), plane_out = element_count(outs), taps = element_count(kernel);
  check_work(x.shape[0], w.size(), plane_out, 1);
  for_each_tap(window, outs, spatial, [&](int64_t k, const std::vector<Pair> &pairs) {
    for (int64_t row = 0; row < x.shape[0] * maps; ++row) {
      const int64_t m = row % maps, first = row / maps * channels + m / (maps / group) * per_group;
      double *y = out.data.data() + row * plane_out;
      for (int64_t c = 0; c < per_group; ++c) {
        const double *in = x.data.data() + (first + c) * plane, weight = w.data[(m * per_group + c) * taps + k];
        for (const Pair &pair : pairs) y[pair.small] += weight * in[pair.large];
      }
    }
  });
  call.give(std::move(out));
}

void conv_transpose(EvalCall &call) {
  const Tensor &x = call.input(0), &w = call.input(1);
  const Shape spatial = spatial_of(x.shape), kernel = spatial_of(w.shape);
  const int64_t channels = x.shape[1], group = group_of(call, channels), per_group = w.shape[1];
  if (w.shape[0] != channels)
    throw Refusal("W of shape " + shape_text(w.shape) + " does not fit " + std::to_string(channels) + " channels");
  const int64_t maps = element_count({per_group, group});
  const Window window = conv_transpose_window(call.attributes, spatial, kernel);
  const Shape outs = outs_of(window);
  Tensor out = start_of(call, x.shape[0], maps, outs);
  const int64_t plane = element_count(spatial), plane_out = element_count(outs), taps = element_count(kernel);
  check_work(x.shape[0], w.size(), plane, 1);
  for_each_tap(window, spatial, outs, [&](int64_t k, const std::vector<Pair> &pairs) {
    for (int64_t row = 0; row < x.shape[0] * channels; ++row) {
      const int64_t c = row % channels, first = row / channels * maps + c / (channels / group) * per_group;
      const double *in = x.data.data() + row * plane;
      for (int64_t m = 0; m < per_group; ++m) {
        const double weight = w.data[(c * per_group + m) * taps + k];
        double *y = out.data.data() + (first + m) * plane_out;
        for (const Pair &pair : pairs) y[pair.large] += weight * in[pair.small];
      }
    }
  });
  call.give(std::move(out));
}

}  // namespace

const std::vector<EvalRow> kEvalConv = {{"Conv", conv}, {"ConvTranspose", conv_transpose}};

}  // namespace rnnp::compiler
