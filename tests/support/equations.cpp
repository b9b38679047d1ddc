// equations.cpp -- see equations.h.
// SPDX-License-Identifier: Apache-2.0
#include "support/equations.h"

#include <cmath>

namespace rnnp_test {
namespace {

using rnnp::Act;

// Drops no NaN, as std::max would.
double clip(double x, double low, double high) {
  return x < low ? low : x > high ? high : x;
}

double softplus(double x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

double softsign(double x) {
  return std::isinf(x) ? std::copysign(1.0, x) : x / (1 + std::fabs(x));
}

double gelu_tanh(double x) {
  return x / 2 * (1 + std::tanh(std::sqrt(2 / 3.14159265358979324) * (x + 0.044715 * x * x * x)));
}

// Those without parameters that kernels of their own do not have.
double apply_without_kernel(Act act, double x) {
  switch (act) {
    case Act::kSign:
      return x > 0 ? 1 : x < 0 ? -1 : x;
    case Act::kRound:
      return std::nearbyint(x);
    case Act::kErf:
      return std::erf(x);
    case Act::kGelu:
      return x / 2 * (1 + std::erf(x * std::sqrt(0.5)));
    case Act::kGeluTanh:
      return gelu_tanh(x);
    case Act::kSin:
      return std::sin(x);
    case Act::kCos:
      return std::cos(x);
    default:
      return NAN;
  }
}

double apply_math(Act act, double x) {
  switch (act) {
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
    case Act::kHardSwish:
      return x * clip(x / 6 + 0.5, 0, 1);
    case Act::kFloor:
      return std::floor(x);
    case Act::kCeil:
      return std::ceil(x);
    default:
      return apply_without_kernel(act, x);
  }
}

}  // namespace

double apply_act(const rnnp::BlobActivation &a, double x) {
  const double alpha = a.alpha, beta = a.beta;
  switch (Act(a.act)) {
    case Act::kIdentity:
      return x;
    case Act::kRelu:
      return x < 0 ? 0 : x;
    case Act::kTanh:
      return std::tanh(x);
    case Act::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Act::kAffine:
      return alpha * x + beta;
    case Act::kLeakyRelu:
      return x < 0 ? alpha * x : x;
    case Act::kThresholdedRelu:
      return x <= alpha ? 0 : x;
    case Act::kScaledTanh:
      return alpha * std::tanh(beta * x);
    case Act::kHardSigmoid:
      return clip(alpha * x + beta, 0, 1);
    case Act::kElu:
      return x < 0 ? alpha * std::expm1(x) : x;
    case Act::kSoftsign:
      return softsign(x);
    case Act::kSoftplus:
      return softplus(x);
    case Act::kClip:
      return clip(x, alpha, beta);
    default:
      return apply_math(Act(a.act), x);
  }
}

double CellRules::clipped(int which, double sum) const {
  return apply_act(act[which], clip > 0 ? rnnp_test::clip(sum, -clip, clip) : sum);
}

LstmUnit lstm_unit(const CellRules &rules, const double (&sums)[4], const double (&peepholes)[3], double c) {
  const double i = rules.f(sums[0] + peepholes[0] * c);
  const double f = rules.input_forget ? 1 - i : rules.f(sums[2] + peepholes[2] * c);
  const double next = f * c + i * rules.g(sums[3]);
  return {rules.f(sums[1] + peepholes[1] * next) * rules.h(next), next};
}

double gru_unit(const CellRules &rules, double z, double candidate, double h) {
  return (1 - z) * rules.g(candidate) + z * h;
}

}  // namespace rnnp_test
