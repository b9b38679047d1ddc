// eval_math.cpp -- element-wise operators, softmax and reductions in double. Contract: eval.h.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "compiler/eval/eval.h"
#include "compiler/onnx/activation.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

template <typename F>
Tensor zip(const Tensor &a, const Tensor &b, Elem elem, F f) {
  Tensor out(elem, broadcast_shape(a.shape, b.shape));
  const Shape sa = broadcast_strides(a.shape, out.shape), sb = broadcast_strides(b.shape, out.shape);
  for_each_index(out.shape, sa, 0, [&](int64_t i, int64_t at) { out.data[i] = a.data[at]; });
  for_each_index(out.shape, sb, 0, [&](int64_t i, int64_t at) { out.data[i] = f(out.data[i], b.data[at]); });
  return out;
}

template <typename F>
Tensor map(const Tensor &x, Elem elem, F f) {
  Tensor out(elem, x.shape);
  std::transform(x.data.begin(), x.data.end(), out.data.begin(), f);
  return out;
}

void unary(EvalCall &call) {
  Activation f;
  if (!activation_of_node(call.node.op_type(), call.attributes, &f)) throw Refusal("the operator is not supported");
  call.give(map(call.input(0), call.input(0).elem, [&](double x) { return activate(f, x); }));
}

// The listed operator folded over two or more inputs.
template <typename F>
void fold(EvalCall &call, F f) {
  Tensor sum = call.input(0);
  for (size_t i = 1; i < call.in.size(); ++i) sum = zip(sum, call.input(i), sum.elem, f);
  call.give(std::move(sum));
}

double divide(double a, double b) {
  return a / b;
}

void add(EvalCall &call) {
  fold(call, [](double a, double b) { return a + b; });
}
void sub(EvalCall &call) {
  fold(call, [](double a, double b) { return a - b; });
}
void mul(EvalCall &call) {
  fold(call, [](double a, double b) { return a * b; });
}
void power(EvalCall &call) {
  fold(call, [](double a, double b) { return std::pow(a, b); });
}
void minimum(EvalCall &call) {
  fold(call, [](double a, double b) { return std::isnan(a) || a < b ? a : b; });
}
void maximum(EvalCall &call) {
  fold(call, [](double a, double b) { return std::isnan(a) || a > b ? a : b; });
}
void mean(EvalCall &call) {
  add(call);
  for (double &v : call.out[0].data) v /= static_cast<double>(call.in.size());
}
void div(EvalCall &call) {
  if (call.input(0).elem == Elem::kFloat) return fold(call, divide);
  fold(call, [](double a, double b) {
    if (b == 0) throw Refusal("an integer is divided by zero");
    return std::trunc(a / b);
  });
}
void mod(EvalCall &call) {
  const bool c_style = call.attributes.integer("fmod", 0) != 0;
  fold(call, [&](double a, double b) {
    const double r = std::fmod(a, b);
    return !c_style && r != 0 && (r < 0) != (b < 0) ? r + b : r;
  });
}

template <typename F>
void compare(EvalCall &call, F f) {
  call.give(zip(call.input(0), call.input(1), Elem::kBool, [&](double a, double b) { return f(a, b) ? 1.0 : 0.0; }));
}
void equal(EvalCall &call) {
  compare(call, std::equal_to<double>());
}
void greater(EvalCall &call) {
  compare(call, std::greater<double>());
}
void greater_equal(EvalCall &call) {
  compare(call, std::greater_equal<double>());
}
void less(EvalCall &call) {
  compare(call, std::less<double>());
}
void less_equal(EvalCall &call) {
  compare(call, std::less_equal<double>());
}
void both(EvalCall &call) {
  compare(call, std::logical_and<double>());
}
void either(EvalCall &call) {
  compare(call, std::logical_or<double>());
}
void invert(EvalCall &call) {
  call.give(map(call.input(0), Elem::kBool, [](double x) { return x == 0 ? 1.0 : 0.0; }));
}
void where(EvalCall &call) {
  const Tensor &condition = call.input(0);
  const Tensor yes = zip(condition, call.input(1), call.input(1).elem, [](double, double v) { return v; });
  Tensor no = zip(condition, call.input(2), call.input(2).elem, [](double, double v) { return v; });
  Tensor out = zip(yes, no, yes.elem, [](double v, double) { return v; });
  no = zip(yes, no, yes.elem, [](double, double v) { return v; });
  const Shape strides = broadcast_strides(condition.shape, out.shape);
  for_each_index(out.shape, strides, 0, [&](int64_t i, int64_t at) {
    if (condition.data[at] == 0) out.data[i] = no.data[i];
  });
  call.give(std::move(out));
}

void clip(EvalCall &call) {
  double low = -std::numeric_limits<double>::infinity(), high = -low;
  if (call.opset < 11) {
    low = call.attributes.real("min", low);
    high = call.attributes.real("max", high);
  } else {
    if (call.has(1) && call.in[1]->size() == 1) low = call.in[1]->data[0];
    if (call.has(2) && call.in[2]->size() == 1) high = call.in[2]->data[0];
  }
  const Activation f{Act::kClip, low, high};
  call.give(map(call.input(0), call.input(0).elem, [&](double x) { return activate(f, x); }));
}

void prelu(EvalCall &call) {
  call.give(zip(call.input(0), call.input(1), Elem::kFloat, [](double x, double slope) { return x < 0 ? slope * x : x; }));
}

// [outer][axis][inner] of a shape; before opset 13 softmax flattens everything from the axis on.
struct Lanes {
  int64_t outer = 1, axis = 1, inner = 1;
};
Lanes softmax_lanes(const Shape &shape, int64_t axis, bool flatten) {
  Lanes lanes;
  const size_t at = flatten && shape.empty() ? 0 : normal_axis(axis, shape.size());
  for (size_t i = 0; i < at; ++i) lanes.outer *= shape[i];
  for (size_t i = at; i < shape.size(); ++i) (i == at || flatten ? lanes.axis : lanes.inner) *= shape[i];
  return lanes;
}

void softmax_of(EvalCall &call, bool log) {
  Tensor out = call.input(0);
  const bool flatten = call.opset < 13;
  const Lanes lanes = softmax_lanes(out.shape, call.attributes.integer("axis", flatten ? 1 : -1), flatten);
  for (int64_t o = 0; o < lanes.outer; ++o) {
    for (int64_t i = 0; i < lanes.inner; ++i) {
      double *lane = out.data.data() + o * lanes.axis * lanes.inner + i;
      double top = -std::numeric_limits<double>::infinity(), sum = 0;
      for (int64_t k = 0; k < lanes.axis; ++k) top = std::max(top, lane[k * lanes.inner]);
      for (int64_t k = 0; k < lanes.axis; ++k) sum += std::exp(lane[k * lanes.inner] - top);
      for (int64_t k = 0; k < lanes.axis; ++k) {
        const double x = lane[k * lanes.inner] - top;
        lane[k * lanes.inner] = log ? x - std::log(sum) : std::exp(x) / sum;
      }
    }
  }
  call.give(std::move(out));
}
void softmax(EvalCall &call) {
  softmax_of(call, false);
}
void log_softmax(EvalCall &call) {
  softmax_of(call, true);
}

// axes: attribute or second input; keepdims. `start` and `step` accumulate, `finish` sees the count.
template <typename Step, typename Finish>
void reduce(EvalCall &call, double start, Step step, Finish finish) {
  const Tensor &x = call.input(0);
  std::vector<int64_t> axes = call.has(1) ? to_ints(*call.in[1]) : call.attributes.integers("axes");
  if (axes.empty() && call.attributes.integer("noop_with_empty_axes", 0)) return call.give(x);
  std::vector<bool> gone(x.rank(), axes.empty());
  for (int64_t axis : axes) gone[normal_axis(axis, x.rank())] = true;
  Shape kept = x.shape, squeezed;
  for (size_t i = 0; i < x.rank(); ++i) {
    if (gone[i])
      kept[i] = 1;
    else
      squeezed.push_back(x.shape[i]);
  }
  Tensor out(x.elem, kept);
  std::fill(out.data.begin(), out.data.end(), start);
  for_each_index(x.shape, broadcast_strides(kept, x.shape), 0,
                 [&](int64_t i, int64_t at) { out.data[at] = step(out.data[at], x.data[i]); });
  const double count = out.data.empty() ? 0 : static_cast<double>(x.size()) / static_cast<double>(out.size());
  for (double &v : out.data) v = finish(v, count);
  if (!call.attributes.integer("keepdims", 1)) out.shape = squeezed;
  call.give(std::move(out));
}
constexpr double kInf = std::numeric_limits<double>::infinity();
double same(double v, double) {
  return v;
}
double plus(double a, double b) {
  return a + b;
}
void reduce_sum(EvalCall &call) {
  reduce(call, 0, plus, same);
}
void reduce_mean(EvalCall &call) {
  reduce(call, 0, plus, divide);
}
void reduce_prod(EvalCall &call) {
  reduce(
      call, 1, [](double a, double b) { return a * b; }, same);
}
void reduce_max(EvalCall &call) {
  reduce(
      call, -kInf, [](double a, double b) { return std::max(a, b); }, same);
}
void reduce_min(EvalCall &call) {
  reduce(
      call, kInf, [](double a, double b) { return std::min(a, b); }, same);
}
void reduce_l2(EvalCall &call) {
  reduce(
      call, 0, [](double a, double b) { return a + b * b; }, [](double v, double) { return std::sqrt(v); });
}

}  // namespace

const std::vector<EvalRow> kEvalMath = {
    {"Relu", unary},
    {"Tanh", unary},
    {"Sigmoid", unary},
    {"LeakyRelu", unary},
    {"ThresholdedRelu", unary},
    {"HardSigmoid", unary},
    {"Elu", unary},
    {"Softsign", unary},
    {"Softplus", unary},
    {"Exp", unary},
    {"Log", unary},
    {"Sqrt", unary},
    {"Abs", unary},
    {"Neg", unary},
    {"Reciprocal", unary},
    {"HardSwish", unary},
    {"Floor", unary},
    {"Ceil", unary},
    {"Add", add},
    {"Sub", sub},
    {"Mul", mul},
    {"Div", div},
    {"Pow", power},
    {"Mod", mod},
    {"Min", minimum},
    {"Max", maximum},
    {"Sum", add},
    {"Mean", mean},
    {"Equal", equal},
    {"Greater", greater},
    {"Less", less},
    {"And", both},
    {"Or", either},
    {"GreaterOrEqual", greater_equal},
    {"LessOrEqual", less_equal},
    {"Not", invert},
    {"Where", where},
    {"Clip", clip},
    {"PRelu", prelu},
    {"Softmax", softmax},
    {"LogSoftmax", log_softmax},
    {"ReduceSum", reduce_sum},
    {"ReduceMean", reduce_mean},
    {"ReduceProd", reduce_prod},
    {"ReduceMax", reduce_max},
    {"ReduceMin", reduce_min},
    {"ReduceL2", reduce_l2},
};

}  // namespace rnnp::compiler
