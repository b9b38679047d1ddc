// activation_body.h -- every ONNX activation as one function of a vector, and the switch that finds it.
// Room: kernels; included once per *_<isa>.cpp after math_body.h. Pure.
// Contract: format/blob.h enum Act gives the formulas.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_ACTIVATION_BODY_H_
#define RNNPACK_KERNELS_ACTIVATION_BODY_H_

#include "format/blob.h"
#include "kernels/math_body.h"

namespace rnnp::RNNPACK_SET {
namespace {

RNNPACK_INLINE F piecewise(Act act, F x, F alpha, F beta) {
  const F zero = Vec::set1(0.0f), one = Vec::set1(1.0f);
  switch (act) {
    case Act::kRelu:
      return Vec::max(zero, x);
    case Act::kAffine:
      return Vec::fma(alpha, x, beta);
    case Act::kLeakyRelu:
      return Vec::select(Vec::lt(x, zero), Vec::mul(alpha, x), x);
    case Act::kThresholdedRelu:
      return Vec::select(Vec::gt(x, alpha), x, Vec::select(Vec::is_nan(x), x, zero));
    case Act::kHardSigmoid:
      return clamp(Vec::fma(alpha, x, beta), zero, one);
    case Act::kHardSwish:
      return Vec::mul(x, clamp(Vec::fma(x, Vec::set1(1.0f / 6.0f), Vec::set1(0.5f)), zero, one));
    case Act::kClip:
      return clamp(x, alpha, beta);
    case Act::kAbs:
      return Vec::abs(x);
    case Act::kNeg:
      return Vec::neg(x);
    case Act::kReciprocal:
      return Vec::div(one, x);
    case Act::kFloor:
      return Vec::floor(x);
    case Act::kCeil:
      return Vec::ceil(x);
    case Act::kSqrt:
      return Vec::sqrt(x);
    default:
      return x;
  }
}

// 1e30 stands for infinity, where the quotient has long been 1.
RNNPACK_INLINE F softsign(F x) {
  const F y = clamp(x, Vec::set1(-1e30f), Vec::set1(1e30f));
  return Vec::div(y, Vec::add(Vec::set1(1.0f), Vec::abs(y)));
}

RNNPACK_INLINE F curved(Act act, F x, F alpha, F beta) {
  switch (act) {
    case Act::kTanh:
      return tanh<Form::kMonotone>(x);
    case Act::kSigmoid:
      return sigmoid(x);
    case Act::kScaledTanh:
      return Vec::mul(alpha, tanh<Form::kMonotone>(Vec::mul(beta, x)));
    case Act::kElu:
      return Vec::select(Vec::ge(x, Vec::set1(0.0f)), x, Vec::mul(alpha, expm1_negative(x)));
    case Act::kSoftsign:
      return softsign(x);
    case Act::kSoftplus:
      return softplus(x);
    case Act::kExp:
      return exp(x);
    default:
      return log(x);
  }
}

// Long code, which a row's last partial vector shares; the rest are a few instructions.
constexpr bool is_curved(Act act) {
  return act == Act::kTanh || act == Act::kSigmoid || act == Act::kScaledTanh || act == Act::kElu || act == Act::kSoftsign ||
         act == Act::kSoftplus || act == Act::kExp || act == Act::kLog;
}

// `act` is a constant wherever speed matters: the switches fold away.
RNNPACK_INLINE F activate(Act act, F x, F alpha, F beta) {
  return is_curved(act) ? curved(act, x, alpha, beta) : piecewise(act, x, alpha, beta);
}

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_ACTIVATION_BODY_H_
