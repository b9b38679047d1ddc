// eval_conv.cpp -- convolutions and transposed convolutions over any number of spatial axes, in double. Contract: eval.h.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compiler/eval/eval.h"
#include "compiler/eval/eval_window.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

// What a tap joins: large = small * stride + tap * dilation - before on every axis. The small side is a convolution's output and a
// transposed one's input. Both sides are walked in lines along the last axis, so that inner loops have no index but their own.
class Taps {
 public:
  Taps(Window window, Shape small, Shape large) {
    drop_single_places(&window, &small, &large);
    last_ = window.back();
    small_line_ = small.back();
    large_line_ = large.back();
    small.pop_back();
    large.pop_back();
    window.pop_back();
    Shape kernel;
    for (const WindowAxis &axis : window) kernel.push_back(axis.kernel);
    lines_ = element_count(small);
    taps_ = element_count(kernel);
    check_work(taps_, lines_, static_cast<int64_t>(kernel.size()) + 1, 1);
    first_.reserve(static_cast<size_t>(taps_ * lines_));
    const Shape strides = dense_strides(large);
    for_each(kernel, [&](const Shape &tap) {
      for_each(small, [&](const Shape &at) { first_.push_back(line_under(window, strides, large, tap, at)); });
    });
  }

  int64_t lines() const { return lines_; }            // of the small side
  int64_t small_line() const { return small_line_; }  // places in one
  // Calls visit(tap of the whole kernel, first small place in its line, first large place in its plane, places) for what lies
  // inside.
  template <typename Visit>
  void for_each_run(int64_t line, Visit visit) const {
    for (int64_t t = 0; t < taps_; ++t) {
      const int64_t large = first_[static_cast<size_t>(t * lines_ + line)];
      if (large < 0) continue;
      for (int64_t k = 0; k < last_.kernel; ++k) {
        const int64_t shift = k * last_.dilation - last_.before;
        const int64_t first = shift >= 0 ? 0 : (-shift + last_.stride - 1) / last_.stride;
        const int64_t past = shift >= large_line_ ? 0 : std::min(small_line_, (large_line_ - 1 - shift) / last_.stride + 1);
        if (first < past) visit(t * last_.kernel + k, first, large + first * last_.stride + shift, past - first);
      }
    }
  }
  int64_t stride() const { return last_.stride; }

 private:
  // Axes of one place behind others would make lines of one place.
  static void drop_single_places(Window *window, Shape *small, Shape *large) {
    while (window->size() > 1 && window->back().kernel == 1 && small->back() == 1 && large->back() == 1 &&
           window->back().before == 0) {
      window->pop_back();
      small->pop_back();
      large->pop_back();
    }
  }

  template <typename Visit>
  static void for_each(const Shape &dims, Visit visit) {
    const int64_t count = element_count(dims);
    Shape index(dims.size(), 0);
    for (int64_t n = 0; n < count; ++n) {
      visit(index);
      for (size_t i = dims.size(); i-- > 0 && ++index[i] == dims[i];) index[i] = 0;
    }
  }

  // -1: outside.
  int64_t line_under(const Window &window, const Shape &strides, const Shape &large, const Shape &tap, const Shape &at) const {
    int64_t line = 0;
    for (size_t i = 0; i < window.size(); ++i) {
      const int64_t place = at[i] * window[i].stride + tap[i] * window[i].dilation - window[i].before;
      if (place < 0 || place >= large[i]) return -1;
      line += place * strides[i];
    }
    return line * large_line_;
  }

  WindowAxis last_;
  int64_t small_line_ = 0, large_line_ = 0, lines_ = 0, taps_ = 0;
  std::vector<int64_t> first_;  // [tap of the other axes][line of the small side]: its line's first place in the large plane
};

// Lines of several maps at once: what is read of x serves them all.
constexpr int64_t kMapsAtOnce = 4;
void add_line(int64_t maps, double *y, int64_t y_apart, NumberPointer w, int64_t w_apart, const double *x, int64_t stride,
              int64_t count) {
  if (maps == kMapsAtOnce && stride == 1) {
    double *y0 = y, *y1 = y + y_apart, *y2 = y + 2 * y_apart, *y3 = y + 3 * y_apart;
    const double w0 = w[0], w1 = w[w_apart], w2 = w[2 * w_apart], w3 = w[3 * w_apart];
    for (int64_t i = 0; i < count; ++i) {
      const double v = x[i];
      y0[i] += w0 * v;
      y1[i] += w1 * v;
      y2[i] += w2 * v;
      y3[i] += w3 * v;
    }
    return;
  }
  for (int64_t m = 0; m < maps; ++m) {
    const double weight = w[m * w_apart];
    for (int64_t i = 0; i < count; ++i) y[m * y_apart + i] += weight * x[i * stride];
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
  double *to = out.data.data();
  for (int64_t i = 0; i < out.size(); i += plane) {
    const double bias = call.in[2]->data[i / plane % maps];
    for (int64_t k = 0; k < plane; ++k) *to++ = bias;
  }
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
  const Taps all(window, outs, spatial);
  const int64_t maps_per_group = maps / group;
  const AsDoubles maps_in(x.data);
  const NumberPointer weights = w.data.numbers();
  const auto add_maps = [&](const double *from, int64_t m, int64_t count, double *to) {
    for (int64_t line = 0; line < all.lines(); ++line) {
      for (int64_t c = 0; c < per_group; ++c) {
        all.for_each_run(line, [&](int64_t k, int64_t at, int64_t place, int64_t places) {
          add_line(count, to + line * all.small_line() + at, plane_out, weights + ((m * per_group + c) * taps + k),
                   per_group * taps, from + c * plane + place, all.stride(), places);
        });
      }
    }
  };
  for (int64_t row = 0; row < x.shape[0] * group; ++row) {
    const int64_t first = row % group * maps_per_group;
    for (int64_t m = 0; m < maps_per_group; m += kMapsAtOnce) {
      add_maps(maps_in.data() + row * per_group * plane, first + m, std::min(kMapsAtOnce, maps_per_group - m),
               out.data.data() + (row * maps_per_group + m) * plane_out);
    }
  }
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
  const Taps all(window, spatial, outs);
  const AsDoubles maps_in(x.data);
  for (int64_t row = 0; row < x.shape[0] * channels; ++row) {
    const int64_t c = row % channels, first = row / channels * maps + c / (channels / group) * per_group;
    for (int64_t line = 0; line < all.lines(); ++line) {
      const double *in = maps_in.data() + row * plane + line * all.small_line();
      for (int64_t m = 0; m < per_group; ++m) {
        const NumberPointer weights = w.data.numbers() + (c * per_group + m) * taps;
        double *y = out.data.data() + (first + m) * plane_out;
        all.for_each_run(line, [&](int64_t k, int64_t at, int64_t to, int64_t count) {
          const double weight = weights[k];
          for (int64_t i = 0; i < count; ++i) y[to + i * all.stride()] += weight * in[at + i];
        });
      }
    }
  }
  call.give(std::move(out));
}

}  // namespace

const std::vector<EvalRow> kEvalConv = {{"Conv", conv}, {"ConvTranspose", conv_transpose}};

}  // namespace rnnp::compiler
