// device_activation.h -- every activation of the blob, one element at a time, in f32. Pure.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_KERNELS_DEVICE_ACTIVATION_H_
#define RNNPACK_CUDA_KERNELS_DEVICE_ACTIVATION_H_

#include <math.h>

#include "cuda/simt.h"
#include "format/blob_attrs.h"

namespace rnnp {
namespace cuda {

SIMT_FN float sigmoid(float x) {
  return 0.5f * tanhf(0.5f * x) + 0.5f;
}
// The curves of cells: high / (1 + e^(-slope x)) + low. An absolute error of some 2e-7, in five instructions that each wait for the
// one before: a step of a resident layer waits for two of them.
struct Curve {
  float to_exponent, high, low;
};
SIMT_FN Curve sigmoid_or_tanh(bool is_tanh) {
  constexpr float kLog2E = 1.44269504f;
  return {is_tanh ? -2.0f * kLog2E : -kLog2E, is_tanh ? 2.0f : 1.0f, is_tanh ? -1.0f : 0.0f};
}
SIMT_FN float follow(const Curve &c, float x) {
  return fmaf(c.high, simt::fast_reciprocal(1.0f + simt::fast_exp2(c.to_exponent * x)), c.low);
}
SIMT_FN float cell_sigmoid(float x) {
  return follow(sigmoid_or_tanh(false), x);
}
SIMT_FN float cell_tanh(float x) {
  return follow(sigmoid_or_tanh(true), x);
}
// NaN stays NaN.
SIMT_FN float clamp(float x, float low, float high) {
  const float y = x < low ? low : x;
  return y > high ? high : y;
}

SIMT_FN float activate(const BlobActivation &a, float x) {
  const float alpha = a.alpha, beta = a.beta;
  switch (Act(a.act)) {
    case Act::kIdentity:
      return x;
    case Act::kRelu:
      return x < 0.0f ? 0.0f : x;
    case Act::kTanh:
      return tanhf(x);
    case Act::kSigmoid:
      return sigmoid(x);
    case Act::kAffine:
      return fmaf(alpha, x, beta);
    case Act::kLeakyRelu:
      return x < 0.0f ? alpha * x : x;
    case Act::kThresholdedRelu:
      return x <= alpha ? 0.0f : x;
    case Act::kScaledTanh:
      return alpha * tanhf(beta * x);
    case Act::kHardSigmoid:
      return clamp(fmaf(alpha, x, beta), 0.0f, 1.0f);
    case Act::kElu:
      return x < 0.0f ? alpha * expm1f(x) : x;
    case Act::kSoftsign: {
      const float y = clamp(x, -1e30f, 1e30f);  // stands for infinity, where the quotient has long been 1
      return y / (1.0f + fabsf(y));
    }
    case Act::kSoftplus:
      return x > 0.0f ? x + log1pf(expf(-x)) : log1pf(expf(x));
    case Act::kExp:
      return expf(x);
    case Act::kLog:
      return logf(x);
    case Act::kSqrt:
      return sqrtf(x);
    case Act::kAbs:
      return fabsf(x);
    case Act::kNeg:
      return -x;
    case Act::kReciprocal:
      return 1.0f / x;
    case Act::kClip:
      return clamp(x, alpha, beta);
    case Act::kHardSwish:
      return x * clamp(fmaf(x, 1.0f / 6.0f, 0.5f), 0.0f, 1.0f);
    case Act::kFloor:
      return floorf(x);
    case Act::kCeil:
      return ceilf(x);
    case Act::kSign:
      return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x;
    case Act::kSin:  // unary_elements has them
    case Act::kCos:
      return x;
    case Act::kRound:
      return rintf(x);
    case Act::kErf:
      return erff(x);
    case Act::kGelu:
      return 0.5f * x * (1.0f + erff(x * 0.70710678f));
    case Act::kGeluTanh:
      return 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
  }
  return x;
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_KERNELS_DEVICE_ACTIVATION_H_
