// eval_math.cpp -- activations, arithmetic and softmax in double. Contract: eval.h.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/eval/elementwise.h"
#include "compiler/eval/eval.h"
#include "compiler/onnx/activation.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

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
  const bool whole = call.input(0).elem != Elem::kFloat;
  fold(call, [&](double a, double b) { return whole ? std::trunc(std::pow(a, b)) : std::pow(a, b); });
}
void minimum(EvalCall &call) {
  fold(call, smaller);
}
void maximum(EvalCall &call) {
  fold(call, larger);
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
    {"Clip", clip},
    {"PRelu", prelu},
    {"Softmax", softmax},
    {"LogSoftmax", log_softmax},
};

}  // namespace rnnp::compiler
