// eval_reduce.cpp -- reductions, running sums and places of extremes, in double. Contract: eval.h.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "compiler/eval/elementwise.h"
#include "compiler/eval/eval.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {

std::vector<bool> reduced_axes(const Attributes &attributes, const std::vector<const Tensor *> &in, size_t rank) {
  const std::vector<int64_t> axes = in.size() > 1 && in[1] ? to_ints(*in[1]) : attributes.integers("axes");
  std::vector<bool> gone(rank, axes.empty() && attributes.integer("noop_with_empty_axes", 0) == 0);
  for (int64_t axis : axes) gone[normal_axis(axis, rank)] = true;
  return gone;
}

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// Where each element of the input goes, and the two shapes of the result.
struct Reduction {
  Shape kept, squeezed, strides;  // strides: of the result, read along the input
  double count = 1;               // elements per result
  explicit Reduction(const EvalCall &call) {
    const Shape &shape = call.input(0).shape;
    const std::vector<bool> gone = reduced_axes(call.attributes, call.in, shape.size());
    for (size_t i = 0; i < shape.size(); ++i) {
      kept.push_back(gone[i] ? 1 : shape[i]);
      if (gone[i]) count *= static_cast<double>(shape[i]);
      if (!gone[i]) squeezed.push_back(shape[i]);
    }
    strides = broadcast_strides(kept, shape);
    if (call.attributes.integer("keepdims", 1) != 0) squeezed = kept;
  }
};

// step(sum, x, index of the result) over all elements.
template <typename Step>
Tensor reduced(const Tensor &x, const Reduction &to, double start, Step step) {
  Tensor out(x.elem, to.kept);
  std::fill(out.data.begin(), out.data.end(), start);
  double *sums = out.data.data();
  for_each_index(x.shape, to.strides, 0, [&](int64_t i, int64_t at) { sums[at] = step(sums[at], x.data[i], at); });
  return out;
}

template <typename Step, typename Finish>
void reduce(EvalCall &call, double start, Step step, Finish finish) {
  const Reduction to(call);
  Tensor out = reduced(call.input(0), to, start, [&](double sum, double v, int64_t) { return step(sum, v); });
  for (double &v : out.data) v = finish(v, to.count);
  out.shape = to.squeezed;
  call.give(std::move(out));
}

double same(double v, double) {
  return v;
}
double root(double v, double) {
  return std::sqrt(v);
}
double logarithm(double v, double) {
  return std::log(v);
}
double plus(double a, double b) {
  return a + b;
}
double plus_square(double a, double b) {
  return a + b * b;
}
double plus_absolute(double a, double b) {
  return a + std::fabs(b);
}
double times_of(double a, double b) {
  return a * b;
}
void reduce_sum(EvalCall &call) {
  reduce(call, 0, plus, same);
}
void reduce_mean(EvalCall &call) {
  const bool whole = call.input(0).elem != Elem::kFloat;
  reduce(call, 0, plus, [&](double sum, double count) { return whole ? std::trunc(sum / count) : sum / count; });
}
void reduce_prod(EvalCall &call) {
  reduce(call, 1, times_of, same);
}
void reduce_max(EvalCall &call) {
  reduce(call, -kInf, larger, same);
}
void reduce_min(EvalCall &call) {
  reduce(call, kInf, smaller, same);
}
void reduce_l1(EvalCall &call) {
  reduce(call, 0, plus_absolute, same);
}
void reduce_l2(EvalCall &call) {
  reduce(call, 0, plus_square, root);
}
void reduce_sum_square(EvalCall &call) {
  reduce(call, 0, plus_square, same);
}
void reduce_log_sum(EvalCall &call) {
  reduce(call, 0, plus, logarithm);
}
void reduce_log_sum_exp(EvalCall &call) {
  const Tensor &x = call.input(0);
  const Reduction to(call);
  Tensor top = reduced(x, to, -kInf, [](double a, double b, int64_t) { return larger(a, b); });
  for (double &v : top.data) v = std::isinf(v) ? 0 : v;
  Tensor out = reduced(x, to, 0, [&](double sum, double v, int64_t at) { return sum + std::exp(v - top.data[at]); });
  for (size_t i = 0; i < out.data.size(); ++i) out.data[i] = top.data[i] + std::log(out.data[i]);
  out.shape = to.squeezed;
  call.give(std::move(out));
}

// One line along `axis` at a time: visit(first element, elements apart, length).
template <typename Visit>
void for_each_lane(const Shape &shape, size_t axis, Visit visit) {
  const int64_t inner = dense_strides(shape)[axis], length = shape[axis], total = element_count(shape);
  for (int64_t i = 0; length > 0 && i < total / length; ++i) visit(i / inner * inner * length + i % inner, inner, length);
}

// NaN is best, as in NumPy.
template <typename Better>
void place_of(EvalCall &call, Better better) {
  const Tensor &x = call.input(0);
  const size_t axis = normal_axis(call.attributes.integer("axis", 0), x.rank());
  const bool last = call.attributes.integer("select_last_index", 0) != 0;
  if (x.shape[axis] == 0) throw Refusal("its axis is empty");
  Shape dims = x.shape;
  dims[axis] = 1;
  Tensor out(Elem::kInt, dims);
  size_t next = 0;
  for_each_lane(x.shape, axis, [&](int64_t first, int64_t step, int64_t length) {
    int64_t best = 0;
    for (int64_t k = 1; k < length; ++k) {
      const double v = x.data[first + k * step], top = x.data[first + best * step];
      const bool nan = std::isnan(v), same = nan ? std::isnan(top) : v == top;
      if ((nan && !std::isnan(top)) || better(v, top) || (last && same)) best = k;
    }
    out.data[next++] = static_cast<double>(best);
  });
  if (call.attributes.integer("keepdims", 1) == 0) out.shape.erase(out.shape.begin() + static_cast<std::ptrdiff_t>(axis));
  call.give(std::move(out));
}

void arg_max(EvalCall &call) {
  place_of(call, [](double a, double b) { return a > b; });
}
void arg_min(EvalCall &call) {
  place_of(call, [](double a, double b) { return a < b; });
}

void cum_sum(EvalCall &call) {
  const Tensor &x = call.input(0);
  if (call.input(1).size() != 1) throw Refusal("input 'axis' must be one number");
  const size_t axis = normal_axis(to_int(call.in[1]->data[0]), x.rank());
  const bool exclusive = call.attributes.integer("exclusive", 0) != 0, reverse = call.attributes.integer("reverse", 0) != 0;
  Tensor out(x.elem, x.shape);
  for_each_lane(x.shape, axis, [&](int64_t first, int64_t step, int64_t length) {
    double sum = 0;
    for (int64_t k = 0; k < length; ++k) {
      const int64_t at = first + (reverse ? length - 1 - k : k) * step;
      out.data[at] = exclusive ? sum : sum + x.data[at];
      sum += x.data[at];
    }
  });
  call.give(std::move(out));
}

}  // namespace

const std::vector<EvalRow> kEvalReduce = {
    {"ReduceSum", reduce_sum},
    {"ReduceMean", reduce_mean},
    {"ReduceProd", reduce_prod},
    {"ReduceMax", reduce_max},
    {"ReduceMin", reduce_min},
    {"ReduceL1", reduce_l1},
    {"ReduceL2", reduce_l2},
    {"ReduceSumSquare", reduce_sum_square},
    {"ReduceLogSum", reduce_log_sum},
    {"ReduceLogSumExp", reduce_log_sum_exp},
    {"ArgMax", arg_max},
    {"ArgMin", arg_min},
    {"CumSum", cum_sum},
};

}  // namespace rnnp::compiler
