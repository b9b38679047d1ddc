// scalar_pow.h -- a^b for one pair of floats, and the bit views of float and double it needs.
// Room: kernels; included by act_<isa>.cpp and scalar_math.h. Pure, no libm.
// Contract: within 1 ulp; ends as C's pow: x^0 = 1^y = 1, negative bases only with whole exponents, else NaN.
// Why so: powers are rare in these models; double arithmetic makes them right everywhere in a screen of code.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_SCALAR_POW_H_
#define RNNPACK_KERNELS_SCALAR_POW_H_

#include <stdint.h>

namespace rnnp {
namespace {

union FloatBits {
  float value;
  uint32_t bits;
};
union DoubleBits {
  double value;
  uint64_t bits;
};

inline uint32_t float_bits(float x) {
  FloatBits u;
  u.value = x;
  return u.bits;
}
inline float bits_float(uint32_t bits) {
  FloatBits u;
  u.bits = bits;
  return u.value;
}

// log x for x > 0: 2 atanh((m - 1) / (m + 1)) + e ln 2 with m in [sqrt(1/2), sqrt(2)).
inline double double_log(double x) {
  DoubleBits u;
  u.value = x;
  const int64_t shifted = static_cast<int64_t>(u.bits - 0x3fe6a09e667f3bcdu);
  const double e = static_cast<double>(shifted >> 52);
  u.bits = (static_cast<uint64_t>(shifted) & 0xfffffffffffffu) + 0x3fe6a09e667f3bcdu;
  const double s = (u.value - 1.0) / (u.value + 1.0), s2 = s * s;
  double p = 0.0;
  for (int k = 21; k >= 1; k -= 2) p = p * s2 + 1.0 / k;
  return 2.0 * s * p + e * 0.69314718055994530942;
}

// e^x for |x| <= 200.
inline double double_exp(double x) {
  const double scaled = x * 1.44269504088896340736;
  const int64_t n = static_cast<int64_t>(scaled + (scaled < 0.0 ? -0.5 : 0.5));
  const double r = x - static_cast<double>(n) * 0.69314718055994530942;
  double p = 1.0;
  for (int k = 13; k >= 1; --k) p = 1.0 + p * r / k;
  DoubleBits u;
  u.bits = static_cast<uint64_t>(n + 1023) << 52;
  return p * u.value;
}

// 2: even integer, 1: odd integer, 0: not an integer. b is finite.
inline int integer_kind(float b) {
  const float size = b < 0.0f ? -b : b;
  if (size >= 16777216.0f) return 2;
  const int32_t i = static_cast<int32_t>(size);
  if (static_cast<float>(i) != size) return 0;
  return (i & 1) ? 1 : 2;
}

inline float scalar_pow(float a, float b) {
  const float inf = __builtin_inff();
  if (b == 0.0f || a == 1.0f) return 1.0f;
  if (a != a || b != b) return a + b;
  const float size = a < 0.0f ? -a : a;
  const bool b_infinite = b == inf || b == -inf;
  const int kind = b_infinite ? 2 : integer_kind(b);
  const bool negative = (float_bits(a) >> 31) != 0;
  const float sign = negative && kind == 1 ? -1.0f : 1.0f;
  if (b_infinite) return size == 1.0f ? 1.0f : (size > 1.0f) == (b > 0.0f) ? inf : 0.0f;
  if (size == 0.0f) return sign * (b > 0.0f ? 0.0f : inf);
  if (size == inf) return sign * (b > 0.0f ? inf : 0.0f);
  if (negative && kind == 0) return __builtin_nanf("");
  const double t = static_cast<double>(b) * double_log(static_cast<double>(size));
  if (t > 89.0) return sign * inf;
  if (t < -104.0) return sign * 0.0f;
  return sign * static_cast<float>(double_exp(t));
}

}  // namespace
}  // namespace rnnp
#endif  // RNNPACK_KERNELS_SCALAR_POW_H_
