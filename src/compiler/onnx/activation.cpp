// activation.cpp -- Contract: activation.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/activation.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

struct ActivationRow {
  const char *name;
  Act act;
  bool in_recurrent;  // one of the eleven that RNN, GRU and LSTM accept
  bool takes_alpha, takes_beta;
  double alpha, beta;  // defaults
};

constexpr ActivationRow kActivationRows[] = {
    {"Identity", Act::kIdentity, false, false, false, 0, 0},
    {"Relu", Act::kRelu, true, false, false, 0, 0},
    {"Tanh", Act::kTanh, true, false, false, 0, 0},
    {"Sigmoid", Act::kSigmoid, true, false, false, 0, 0},
    {"Affine", Act::kAffine, true, true, true, 1, 0},
    {"LeakyRelu", Act::kLeakyRelu, true, true, false, 0.01, 0},
    {"ThresholdedRelu", Act::kThresholdedRelu, true, true, false, 1, 0},
    {"ScaledTanh", Act::kScaledTanh, true, true, true, 1, 1},
    {"HardSigmoid", Act::kHardSigmoid, true, true, true, 0.2, 0.5},
    {"Elu", Act::kElu, true, true, false, 1, 0},
    {"Softsign", Act::kSoftsign, true, false, false, 0, 0},
    {"Softplus", Act::kSoftplus, true, false, false, 0, 0},
    {"Exp", Act::kExp, false, false, false, 0, 0},
    {"Log", Act::kLog, false, false, false, 0, 0},
    {"Sqrt", Act::kSqrt, false, false, false, 0, 0},
    {"Abs", Act::kAbs, false, false, false, 0, 0},
    {"Neg", Act::kNeg, false, false, false, 0, 0},
    {"Reciprocal", Act::kReciprocal, false, false, false, 0, 0},
    {"Clip", Act::kClip, false, true, true, 0, 0},
    {"HardSwish", Act::kHardSwish, false, false, false, 0, 0},
    {"Floor", Act::kFloor, false, false, false, 0, 0},
    {"Ceil", Act::kCeil, false, false, false, 0, 0},
    {"Sign", Act::kSign, false, false, false, 0, 0},
    {"Round", Act::kRound, false, false, false, 0, 0},
    {"Erf", Act::kErf, false, false, false, 0, 0},
    {"Gelu", Act::kGelu, false, false, false, 0, 0},
    {"GeluTanh", Act::kGeluTanh, false, false, false, 0, 0},
    {"Sin", Act::kSin, false, false, false, 0, 0},
    {"Cos", Act::kCos, false, false, false, 0, 0},
};

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

const ActivationRow *recurrent_row(const std::string &name) {
  for (const ActivationRow &row : kActivationRows) {
    if (row.in_recurrent && lower_case(row.name) == lower_case(name)) return &row;
  }
  return nullptr;
}

std::string recurrent_names() {
  std::string list;
  for (const ActivationRow &row : kActivationRows) {
    if (row.in_recurrent) list += (list.empty() ? "" : ", ") + std::string(row.name);
  }
  return list;
}

}  // namespace

const char *activation_name(Act act) {
  for (const ActivationRow &row : kActivationRows) {
    if (row.act == act) return row.name;
  }
  return "?";
}

double activate(const Activation &f, double x) {
  switch (f.act) {
    case Act::kIdentity:
      return x;
    case Act::kRelu:
      return x > 0 || std::isnan(x) ? x : 0;
    case Act::kTanh:
      return std::tanh(x);
    case Act::kSigmoid:
      return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
    case Act::kAffine:
      return f.alpha * x + f.beta;
    case Act::kLeakyRelu:
      return x >= 0 ? x : f.alpha * x;
    case Act::kThresholdedRelu:
      return x > f.alpha || std::isnan(x) ? x : 0;
    case Act::kScaledTanh:
      return f.alpha * std::tanh(f.beta * x);
    case Act::kHardSigmoid: {
      const double v = f.alpha * x + f.beta;
      return std::isnan(v) ? v : std::min(std::max(v, 0.0), 1.0);
    }
    case Act::kElu:
      return x >= 0 ? x : f.alpha * std::expm1(x);
    case Act::kSoftsign:
      return std::isinf(x) ? std::copysign(1.0, x) : x / (1 + std::fabs(x));
    case Act::kSoftplus:
      return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
    case Act::kExp:
      return std::exp(x);
    case Act::kLog:
      return std::log(x);
    case Act::kSqrt:
      return std::sqrt(x);
    case Act::kAbs:
      return std::fabs(x);
    case Act::kNeg:
      return -x;
    case Act::kReciprocal:
      return 1 / x;
    case Act::kClip:
      return std::isnan(x) ? x : std::min(std::max(x, f.alpha), f.beta);
    case Act::kHardSwish:
      return x * std::min(std::max(x / 6 + 0.5, 0.0), 1.0);
    case Act::kFloor:
      return std::floor(x);
    case Act::kCeil:
      return std::ceil(x);
    case Act::kSign:
      return x > 0 ? 1 : x < 0 ? -1 : x;
    case Act::kRound:
      return std::nearbyint(x);
    case Act::kErf:
      return std::erf(x);
    case Act::kGelu:
      return 0.5 * x * (1 + std::erf(x * std::sqrt(0.5)));
    case Act::kGeluTanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
    case Act::kSin:
      return std::sin(x);
    case Act::kCos:
      return std::cos(x);
  }
  return x;
}

bool activation_of_node(const std::string &op_type, const Attributes &attributes, Activation *out) {
  // These are more than an element-wise function of one input, or have forms.
  if (op_type == "Identity" || op_type == "Clip" || op_type == "Gelu" || op_type == "GeluTanh") return false;
  for (const ActivationRow &row : kActivationRows) {
    if (op_type != row.name) continue;
    *out = {row.act, row.alpha, row.beta};
    if (row.takes_alpha) out->alpha = attributes.real("alpha", row.alpha);
    if (row.takes_beta) out->beta = attributes.real("beta", row.beta);
    return true;
  }
  return false;
}

std::vector<Activation> recurrent_activations(const Attributes &attributes, const std::vector<Act> &defaults, size_t directions) {
  std::vector<std::string> names = attributes.texts("activations");
  const size_t count = defaults.size() * directions;
  if (names.empty()) {
    for (size_t i = 0; i < count; ++i) names.emplace_back(activation_name(defaults[i % defaults.size()]));
  }
  if (names.size() != count) {
    throw Refusal("attribute 'activations' has " + std::to_string(names.size()) + " names; accepted: " + std::to_string(count));
  }
  const std::vector<double> alphas = attributes.reals("activation_alpha");
  const std::vector<double> betas = attributes.reals("activation_beta");
  size_t alpha = 0, beta = 0;
  std::vector<Activation> out;
  for (const std::string &name : names) {
    const ActivationRow *row = recurrent_row(name);
    if (!row) throw Refusal("attribute 'activations' has " + quote(name) + "; accepted: " + recurrent_names());
    Activation f{row->act, row->alpha, row->beta};
    if (row->takes_alpha && alpha < alphas.size()) f.alpha = alphas[alpha++];
    if (row->takes_beta && beta < betas.size()) f.beta = betas[beta++];
    out.push_back(f);
  }
  return out;
}

}  // namespace rnnp::compiler
