// eval_pool.cpp -- average, maximum and p-norm over windows and over all spatial axes, in double. Contract: eval.h.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "compiler/eval/elementwise.h"
#include "compiler/eval/eval.h"
#include "compiler/eval/eval_window.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

// The part of one window along one axis: taps [first, last), and how many of all taps lie on the axis or its padding.
struct TapSpan {
  int64_t first, last, padded;
};
TapSpan span_of(const WindowAxis &axis, int64_t out) {
  const int64_t start = out * axis.stride - axis.before;
  const auto taps_until = [&](int64_t end) {
    const int64_t room = end - start;
    return room <= 0 ? 0 : std::min(axis.kernel, (room + axis.dilation - 1) / axis.dilation);
  };
  return {taps_until(0), taps_until(axis.size), taps_until(axis.size + axis.after)};
}

// Folds the elements of every window: step(sum, x), then finish(sum, elements inside, elements with padding).
template <typename Step, typename Finish>
void pool(EvalCall &call, double start, Step step, Finish finish) {
  const Tensor &x = call.input(0);
  const Shape spatial = spatial_of(x.shape), strides = dense_strides(spatial);
  const Window window = pool_window(call.attributes, spatial);
  Shape dims{x.shape[0], x.shape[1]}, outs;
  int64_t taps = 1;
  for (const WindowAxis &axis : window) {
    outs.push_back(axis.out);
    dims.push_back(axis.out);
    taps = element_count({taps, axis.kernel});
  }
  Tensor out(x.elem, dims);
  check_work(out.size(), taps, 1, 1);
  const int64_t plane = element_count(spatial), plane_out = element_count(outs);
  Shape index(outs.size(), 0);
  for (int64_t n = 0; n < plane_out; ++n) {
    Shape inside, steps;
    int64_t first = 0, padded = 1;
    for (size_t i = 0; i < window.size(); ++i) {
      const TapSpan span = span_of(window[i], index[i]);
      first += (index[i] * window[i].stride - window[i].before + span.first * window[i].dilation) * strides[i];
      inside.push_back(std::max<int64_t>(span.last - span.first, 0));
      steps.push_back(window[i].dilation * strides[i]);
      padded *= span.padded;
    }
    for (int64_t map = 0; map < x.shape[0] * x.shape[1]; ++map) {
      double sum = start;
      for_each_index(inside, steps, map * plane + first, [&](int64_t, int64_t at) { sum = step(sum, x.data[at]); });
      out.data[map * plane_out + n] = finish(sum, element_count(inside), padded);
    }
    for (size_t i = outs.size(); i-- > 0 && ++index[i] == outs[i];) index[i] = 0;
  }
  call.give(std::move(out));
}

void average_pool(EvalCall &call) {
  const bool padding = call.attributes.integer("count_include_pad", 0) != 0;
  pool(
      call, 0, [](double sum, double v) { return sum + v; },
      [&](double sum, int64_t inside, int64_t padded) { return sum / static_cast<double>(padding ? padded : inside); });
}

void max_pool(EvalCall &call) {
  if (call.wants(1)) throw Refusal("output 'Indices' is not supported; accepted: output 'Y' alone");
  pool(call, -std::numeric_limits<double>::infinity(), larger, [](double top, int64_t, int64_t) { return top; });
}

void lp_pool(EvalCall &call) {
  const double p = static_cast<double>(call.attributes.integer("p", 2));
  pool(
      call, 0, [&](double sum, double v) { return sum + std::pow(std::fabs(v), p); },
      [&](double sum, int64_t, int64_t) { return std::pow(sum, 1 / p); });
}

template <typename Step, typename Finish>
void global_pool(EvalCall &call, double start, Step step, Finish finish) {
  const Tensor &x = call.input(0);
  Shape dims{x.shape};
  const int64_t plane = element_count(spatial_of(x.shape));
  std::fill(dims.begin() + 2, dims.end(), 1);
  Tensor out(x.elem, dims);
  for (int64_t map = 0; map < out.size(); ++map) {
    double sum = start;
    for (int64_t i = 0; i < plane; ++i) sum = step(sum, x.data[map * plane + i]);
    out.data[map] = finish(sum, static_cast<double>(plane));
  }
  call.give(std::move(out));
}

void global_average_pool(EvalCall &call) {
  global_pool(
      call, 0, [](double sum, double v) { return sum + v; }, [](double sum, double count) { return sum / count; });
}

void global_max_pool(EvalCall &call) {
  global_pool(call, -std::numeric_limits<double>::infinity(), larger, [](double top, double) { return top; });
}

void global_lp_pool(EvalCall &call) {
  const double p = static_cast<double>(call.attributes.integer("p", 2));
  global_pool(
      call, 0, [&](double sum, double v) { return sum + std::pow(std::fabs(v), p); },
      [&](double sum, double) { return std::pow(sum, 1 / p); });
}

}  // namespace

const std::vector<EvalRow> kEvalPool = {
    {"AveragePool", average_pool},
    {"MaxPool", max_pool},
    {"LpPool", lp_pool},
    {"GlobalAveragePool", global_average_pool},
    {"GlobalMaxPool", global_max_pool},
    {"GlobalLpPool", global_lp_pool},
};

}  // namespace rnnp::compiler
