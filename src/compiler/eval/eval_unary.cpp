// eval_unary.cpp -- functions of one element that the device's table of activations does not hold, in double. Contract: eval.h.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "compiler/eval/elementwise.h"
#include "compiler/eval/eval.h"

namespace rnnp::compiler {
namespace {

template <double (*F)(double)>
void plain(EvalCall &call) {
  call.give(map(call.input(0), call.input(0).elem, F));
}

double sign(double x) {
  return x > 0 ? 1 : x < 0 ? -1 : x;
}
double half_to_even(double x) {
  const double below = std::floor(x), rest = x - below;
  if (rest != 0.5) return std::round(x);
  return std::fmod(below, 2) == 0 ? below : below + 1;
}
double mish(double x) {
  return x * std::tanh(x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)));
}

void gelu(EvalCall &call) {
  const std::string kind = call.attributes.text("approximate", "none");
  if (kind != "none" && kind != "tanh") throw Refusal("attribute 'approximate' is " + quote(kind) + "; accepted: none, tanh");
  const double root = std::sqrt(2 / std::acos(-1.0));
  call.give(map(call.input(0), Elem::kFloat, [&](double x) {
    return kind == "none" ? 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)))
                          : 0.5 * x * (1 + std::tanh(root * (x + 0.044715 * x * x * x)));
  }));
}

void celu(EvalCall &call) {
  const double alpha = call.attributes.real("alpha", 1);
  call.give(map(call.input(0), Elem::kFloat, [&](double x) { return x > 0 ? x : alpha * std::expm1(x / alpha); }));
}

void selu(EvalCall &call) {
  const double alpha = call.attributes.real("alpha", 1.67326319217681884765625);
  const double gamma = call.attributes.real("gamma", 1.05070102214813232421875);
  call.give(map(call.input(0), Elem::kFloat, [&](double x) { return gamma * (x > 0 ? x : alpha * std::expm1(x)); }));
}

void shrink(EvalCall &call) {
  const double bias = call.attributes.real("bias", 0), bound = call.attributes.real("lambd", 0.5);
  call.give(map(call.input(0), call.input(0).elem, [&](double x) { return x < -bound ? x + bias : x > bound ? x - bias : 0; }));
}

}  // namespace

const std::vector<EvalRow> kEvalUnary = {
    {"Sign", plain<sign>},
    {"Round", plain<half_to_even>},
    {"Mish", plain<mish>},
    {"Erf", plain<std::erf>},
    {"Sin", plain<std::sin>},
    {"Cos", plain<std::cos>},
    {"Tan", plain<std::tan>},
    {"Asin", plain<std::asin>},
    {"Acos", plain<std::acos>},
    {"Atan", plain<std::atan>},
    {"Sinh", plain<std::sinh>},
    {"Cosh", plain<std::cosh>},
    {"Asinh", plain<std::asinh>},
    {"Acosh", plain<std::acosh>},
    {"Atanh", plain<std::atanh>},
    {"Gelu", gelu},
    {"Celu", celu},
    {"Selu", selu},
    {"Shrink", shrink},
};

}  // namespace rnnp::compiler
