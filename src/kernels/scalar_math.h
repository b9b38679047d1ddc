// scalar_math.h -- exp, log, sigmoid, tanh and every activation of one float: the reference's arithmetic.
// Room: kernels; included by the *_ref.cpp files. Pure, no libm, f32 only: it is also what a small core without vectors runs.
// Contract: docs/KERNELS.md states the bounds; ends, NaN and saturation as in math_body.h.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_SCALAR_MATH_H_
#define RNNPACK_KERNELS_SCALAR_MATH_H_

#include "format/blob.h"
#include "kernels/scalar_pow.h"

namespace rnnp {
namespace {

inline float scalar_abs(float x) {
  return bits_float(float_bits(x) & 0x7fffffffu);
}

inline float pow2(int n) {
  return bits_float(static_cast<uint32_t>(n + 127) << 23);
}

// The integer nearest to y / ln 2, and e^r - 1 of what is left over.
inline int exp_split(float y, float *frac) {
  const float scaled = y * 1.44269504f;
  const int n = static_cast<int>(scaled + (scaled < 0.0f ? -0.5f : 0.5f));
  const float whole = static_cast<float>(n);
  const float r = (y - whole * 0.693359375f) + whole * 2.12194440e-4f;
  const float q =
      0.5f + r * (0.16666541993618011f + r * (0.04166628047823906f + r * (0.008366644382476807f + r * 0.0013946554390713573f)));
  *frac = r + r * r * q;
  return n;
}

inline float scalar_exp(float x) {
  if (x != x) return x;
  if (x > 89.0f) return __builtin_inff();
  if (x < -104.0f) return 0.0f;
  float frac;
  const int n = exp_split(x, &frac);
  return (1.0f + frac) * pow2(n / 2) * pow2(n - n / 2);
}

// e^y - 1 for y <= 0.
inline float scalar_expm1(float y) {
  if (y != y) return y;
  if (y < -30.0f) return -1.0f;
  float frac;
  const float scale = pow2(exp_split(y, &frac));
  return scale * frac + (scale - 1.0f);
}

inline float scalar_sigmoid(float x) {
  if (x < -88.0f) x = -88.0f;
  return 1.0f / (1.0f + scalar_exp(-x));
}

inline float scalar_tanh(float x) {
  const float t = scalar_expm1(-2.0f * scalar_abs(x));
  const float size = -t / (2.0f + t);
  return x < 0.0f ? -size : x == 0.0f ? x : size;
}

inline float scalar_log(float x) {
  if (x != x) return x;
  if (x < 0.0f) return __builtin_nanf("");
  if (x < 1.17549435e-38f) return -__builtin_inff();
  if (x == __builtin_inff()) return x;
  const int32_t shifted = static_cast<int32_t>(float_bits(x) - 0x3f3504f3u);
  const float e = static_cast<float>(shifted >> 23);
  const float f = bits_float((static_cast<uint32_t>(shifted) & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
  const float coefficients[9] = {0.06915698200464249f, -0.1179201602935791f,  0.11873959004878998f,
                                 -0.1238405853509903f, 0.1421850025653839f,   -0.1666926145553589f,
                                 0.20002233982086182f, -0.24999986588954926f, 0.3333331048488617f};
  float p = 0.0f;
  for (float c : coefficients) p = p * f + c;
  const float low = p * f * f * f - e * 2.12194440e-4f - 0.5f * f * f;
  return e * 0.693359375f + (f + low);
}

inline float scalar_softplus(float x) {
  const float e = scalar_exp(-scalar_abs(x));
  const float u = 1.0f + e;
  return (x < 0.0f ? 0.0f : x) + (scalar_log(u) + (e - (u - 1.0f)) / u);
}

// Truncation is exact below 2^23; larger floats are whole already (and NaN compares false).
inline float scalar_floor(float x) {
  if (!(scalar_abs(x) < 8388608.0f)) return x;
  const float whole = static_cast<float>(static_cast<int32_t>(x));
  const float y = whole > x ? whole - 1.0f : whole;
  return y == 0.0f ? bits_float(float_bits(x) & 0x80000000u) : y;
}
inline float scalar_ceil(float x) {
  return -scalar_floor(-x);
}

// Correctly rounded: by an instruction where the compiler's target is known to have one, else digit by digit.
#if defined(__SSE__)
inline float scalar_sqrt(float x) {
  float y;
  __asm__("sqrtss %1, %0" : "=x"(y) : "x"(x));
  return y;
}
#elif defined(__aarch64__)
inline float scalar_sqrt(float x) {
  float y;
  __asm__("fsqrt %s0, %s1" : "=w"(y) : "w"(x));
  return y;
}
#else
inline float scalar_sqrt(float x) {
  if (x != x || x == 0.0f || x == __builtin_inff()) return x;
  if (x < 0.0f) return __builtin_nanf("");
  if (x < 1.17549435e-38f) return scalar_sqrt(x * 16777216.0f) * (1.0f / 4096.0f);
  const uint32_t bits = float_bits(x);
  const int e = static_cast<int>(bits >> 23) - 127;
  uint64_t m = (bits & 0x7fffffu) | 0x800000u;
  if (e & 1) m <<= 1;
  m <<= 25;  // the root of it has 25 bits: 24 and one to round by
  uint32_t root = 0;
  for (uint32_t bit = 1u << 24; bit != 0; bit >>= 1)
    if (uint64_t{root + bit} * (root + bit) <= m) root += bit;
  const uint32_t rounded = (root >> 1) + (root & 1);
  return static_cast<float>(rounded) * pow2((e - (e & 1)) / 2 - 23);
}
#endif

inline float scalar_clamp(float x, float low, float high) {
  const float y = x < low ? low : x;
  return y > high ? high : y;
}

inline float scalar_activate(const BlobActivation &a, float x) {
  const float alpha = a.alpha, beta = a.beta;
  switch (static_cast<Act>(a.act)) {
    case Act::kIdentity:
      return x;
    case Act::kRelu:
      return x < 0.0f ? 0.0f : x;
    case Act::kTanh:
      return scalar_tanh(x);
    case Act::kSigmoid:
      return scalar_sigmoid(x);
    case Act::kAffine:
      return alpha * x + beta;
    case Act::kLeakyRelu:
      return x < 0.0f ? alpha * x : x;
    case Act::kThresholdedRelu:
      return x <= alpha ? 0.0f : x;
    case Act::kScaledTanh:
      return alpha * scalar_tanh(beta * x);
    case Act::kHardSigmoid:
      return scalar_clamp(alpha * x + beta, 0.0f, 1.0f);
    case Act::kElu:
      return x < 0.0f ? alpha * scalar_expm1(x) : x;
    case Act::kSoftsign: {
      const float y = scalar_clamp(x, -1e30f, 1e30f);
      return y / (1.0f + scalar_abs(y));
    }
    case Act::kSoftplus:
      return scalar_softplus(x);
    case Act::kExp:
      return scalar_exp(x);
    case Act::kLog:
      return scalar_log(x);
    case Act::kSqrt:
      return scalar_sqrt(x);
    case Act::kAbs:
      return scalar_abs(x);
    case Act::kNeg:
      return -x;
    case Act::kReciprocal:
      return 1.0f / x;
    case Act::kClip:
      return scalar_clamp(x, alpha, beta);
    case Act::kHardSwish:
      return x * scalar_clamp(x * (1.0f / 6.0f) + 0.5f, 0.0f, 1.0f);
    case Act::kFloor:
      return scalar_floor(x);
    case Act::kCeil:
      return scalar_ceil(x);
    default:
      break;
  }
  return x;
}

}  // namespace
}  // namespace rnnp
#endif  // RNNPACK_KERNELS_SCALAR_MATH_H_
