// eval_logic.cpp -- comparisons, logic and choice between two. Contract: eval.h.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <functional>

#include "compiler/eval/elementwise.h"
#include "compiler/eval/eval.h"

namespace rnnp::compiler {
namespace {

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
void exclusive(EvalCall &call) {
  compare(call, [](double a, double b) { return (a != 0) != (b != 0); });
}
void is_nan(EvalCall &call) {
  call.give(map(call.input(0), Elem::kBool, [](double x) { return std::isnan(x) ? 1.0 : 0.0; }));
}
void is_inf(EvalCall &call) {
  const bool above = call.attributes.integer("detect_positive", 1) != 0, below = call.attributes.integer("detect_negative", 1) != 0;
  call.give(map(call.input(0), Elem::kBool, [&](double x) { return std::isinf(x) && (x > 0 ? above : below) ? 1.0 : 0.0; }));
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

}  // namespace

const std::vector<EvalRow> kEvalLogic = {
    {"Equal", equal},  {"Greater", greater},        {"GreaterOrEqual", greater_equal},
    {"Less", less},    {"LessOrEqual", less_equal}, {"And", both},
    {"Or", either},    {"Xor", exclusive},          {"Not", invert},
    {"IsNaN", is_nan}, {"IsInf", is_inf},           {"Where", where},
};

}  // namespace rnnp::compiler
