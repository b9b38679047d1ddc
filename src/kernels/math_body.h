// math_body.h -- exp, expm1, log and what follows from them, on the vector words of Vec.
// Room: kernels; included once per *_<isa>.cpp after its vec_<isa>.h. Pure.
// Contract: docs/KERNELS.md states each function's bound, range and value at the ends. NaN gives NaN.
// Why so: plain IEEE operations in one order, so that every ISA with a fused multiply-add gives the same bits.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_MATH_BODY_H_
#define RNNPACK_KERNELS_MATH_BODY_H_

#include "kernels/compiler.h"

namespace rnnp {
namespace {

using F = Vec::F;

// Added to a float in (-2^22, 2^22) it leaves the nearest integer, biased by 127, in the low bits.
constexpr float kRoundBiased = 12582912.0f + 127.0f;
constexpr float kRound = 12582912.0f;
constexpr float kLog2E = 1.44269504f;
constexpr float kLn2Hi = 0.693147182f;
constexpr float kLn2Lo = -1.90465432e-9f;

// e^y = scale * (1 + frac), for y in [-87, 88].
struct ExpParts {
  F scale;
  F frac;
};

// frac = e^r - 1 = r + r^2 q(r). The low part of ln 2 enters only the linear term: that keeps it off the chain of dependences.
RNNPACK_INLINE F exp_frac(F y, F n) {
  const F r = Vec::fnma(n, Vec::set1(kLn2Hi), y);
  const F r2 = Vec::mul(r, r);
  const F a = Vec::fma(r, Vec::set1(0.16666541993618011f), Vec::set1(0.5f));
  const F b = Vec::fma(r, Vec::set1(0.008366644382476807f), Vec::set1(0.04166628047823906f));
  const F c = Vec::fma(r2, Vec::set1(0.0013946554390713573f), b);
  const F q = Vec::fma(r2, c, a);
  return Vec::fma(r2, q, Vec::fnma(n, Vec::set1(kLn2Lo), r));
}

RNNPACK_INLINE ExpParts exp_parts(F y) {
  const F biased = Vec::fma(y, Vec::set1(kLog2E), Vec::set1(kRoundBiased));
  const F n = Vec::sub(biased, Vec::set1(kRoundBiased));
  return {Vec::bits_to_exponent(biased), exp_frac(y, n)};
}

RNNPACK_INLINE F pow2(F n) {
  return Vec::bits_to_exponent(Vec::add(n, Vec::set1(kRoundBiased)));
}

// e^x over all floats: the scale is split in two so that neither half leaves the normal range.
RNNPACK_INLINE F exp(F x) {
  const F y = Vec::min(Vec::set1(89.0f), Vec::max(Vec::set1(-104.0f), x));
  const F round = Vec::set1(kRound);
  const F n = Vec::sub(Vec::fma(y, Vec::set1(kLog2E), round), round);
  const F low = Vec::sub(Vec::fma(n, Vec::set1(0.5f), round), round);
  const F frac = exp_frac(y, n);
  const F s = pow2(low);
  return Vec::mul(Vec::fma(s, frac, s), pow2(Vec::sub(n, low)));
}

// e^y - 1 for y <= 0, accurate near 0.
RNNPACK_INLINE F expm1_negative(F y) {
  const ExpParts e = exp_parts(Vec::max(Vec::set1(-30.0f), y));
  return Vec::fma(e.scale, e.frac, Vec::sub(e.scale, Vec::set1(1.0f)));
}

// 1 + e^-x, x cut to [-floor, 30]: sigmoid is its reciprocal.
RNNPACK_INLINE F sigmoid_denominator(F x, float floor) {
  const F y = Vec::min(Vec::set1(floor), Vec::max(Vec::set1(-30.0f), Vec::neg(x)));
  const ExpParts e = exp_parts(y);
  return Vec::fma(e.scale, e.frac, Vec::add(e.scale, Vec::set1(1.0f)));
}

RNNPACK_INLINE F sigmoid(F x) {
  return Vec::div(Vec::set1(1.0f), sigmoid_denominator(x, 88.0f));
}

// tanh x = numerator / denominator, with t = e^-2|x| - 1: -t / (2 + t), signed like x.
struct TanhParts {
  F numerator;
  F denominator;
};
RNNPACK_INLINE TanhParts tanh_parts(F x) {
  const F t = expm1_negative(Vec::mul(Vec::set1(-2.0f), Vec::abs(x)));
  return {Vec::copysign(t, x), Vec::add(t, Vec::set1(2.0f))};
}

RNNPACK_INLINE F tanh(F x) {
  const TanhParts t = tanh_parts(x);
  return Vec::div(t.numerator, t.denominator);
}

// log x for normal x; 0 and what is flushed to 0 give -Inf, negative values NaN.
RNNPACK_INLINE F log(F x) {
  F m, e;
  Vec::split(x, &m, &e);
  const F f = Vec::sub(m, Vec::set1(1.0f));
  const F f2 = Vec::mul(f, f);
  F p = Vec::set1(0.06915698200464249f);
  p = Vec::fma(p, f, Vec::set1(-0.1179201602935791f));
  p = Vec::fma(p, f, Vec::set1(0.11873959004878998f));
  p = Vec::fma(p, f, Vec::set1(-0.1238405853509903f));
  p = Vec::fma(p, f, Vec::set1(0.1421850025653839f));
  p = Vec::fma(p, f, Vec::set1(-0.1666926145553589f));
  p = Vec::fma(p, f, Vec::set1(0.20002233982086182f));
  p = Vec::fma(p, f, Vec::set1(-0.24999986588954926f));
  p = Vec::fma(p, f, Vec::set1(0.3333331048488617f));
  F low = Vec::mul(Vec::mul(p, f), f2);
  low = Vec::fma(e, Vec::set1(kLn2Lo), low);
  low = Vec::fnma(f2, Vec::set1(0.5f), low);
  F y = Vec::fma(e, Vec::set1(kLn2Hi), Vec::add(f, low));
  const F inf = Vec::set1(__builtin_inff());
  y = Vec::select(Vec::lt(x, Vec::set1(1.17549435e-38f)), Vec::neg(inf), y);
  y = Vec::select(Vec::lt(x, Vec::set1(-0.0f)), Vec::set1(__builtin_nanf("")), y);
  y = Vec::select(Vec::ge(x, inf), inf, y);
  return Vec::select(Vec::is_nan(x), x, y);
}

// log(1 + e^x) = max(x, 0) + log1p(e^-|x|); the quotient restores what 1 + e rounds away.
RNNPACK_INLINE F softplus(F x) {
  const F one = Vec::set1(1.0f);
  const F e = exp(Vec::neg(Vec::abs(x)));
  const F u = Vec::add(one, e);
  const F lost = Vec::div(Vec::sub(e, Vec::sub(u, one)), u);
  return Vec::add(Vec::max(Vec::set1(0.0f), x), Vec::add(log(u), lost));
}

}  // namespace
}  // namespace rnnp
#endif  // RNNPACK_KERNELS_MATH_BODY_H_
