// math_body.h -- exp, expm1, log and what follows from them, on the SIMD primitives of Vec.
// Room: kernels; included once per *_<isa>.cpp after its vec_<isa>.h. Pure.
// Contract: docs/KERNELS.md states each function's bound, range and value at the ends. NaN gives NaN.
// Why so: plain IEEE operations in one order, so that every ISA with a fused multiply-add gives the same bits.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_MATH_BODY_H_
#define RNNPACK_KERNELS_MATH_BODY_H_

#include "kernels/inlining.h"

namespace rnnp::RNNPACK_SET {
namespace {

using F = Vec::F;

// Added to a float in (-2^22, 2^22) it leaves the nearest integer, biased by 127, in the low bits.
constexpr float kRoundBiased = 12582912.0f + 127.0f;
constexpr float kRound = 12582912.0f;
constexpr float kLog2E = 1.44269504f;
// ln 2 in two parts. Where products are rounded before they are added, the first part is short: times an integer it is exact.
constexpr float kLn2Hi = Vec::kFma ? 0.693147182f : 0.693359375f;
constexpr float kLn2Lo = Vec::kFma ? -1.90465432e-9f : -2.12194440e-4f;

// e^r = 1 + r + r^2 (kExp2 + kExp3 r + ..) for |r| <= ln 2 / 2, relative error of e^r - 1 below 2^-26.
constexpr float kExp2 = 0.5f;
constexpr float kExp3 = 0.16666541993618011f;
constexpr float kExp4 = 0.04166628047823906f;
constexpr float kExp5 = 0.008366644382476807f;
constexpr float kExp6 = 0.0013946554390713573f;

RNNPACK_INLINE F pow2(F n) {
  return Vec::bits_to_exponent(Vec::add(n, Vec::set1(kRoundBiased)));
}

// e^y for y in [-104, 89]: the scale is split in two so that neither half leaves the normal range.
RNNPACK_INLINE F exp(F x) {
  const F y = Vec::min(Vec::set1(89.0f), Vec::max(Vec::set1(-104.0f), x));
  const F round = Vec::set1(kRound);
  const F n = Vec::sub(Vec::fma(y, Vec::set1(kLog2E), round), round);
  const F half = Vec::sub(Vec::fma(n, Vec::set1(0.5f), round), round);
  const F r = Vec::fnma(n, Vec::set1(kLn2Lo), Vec::fnma(n, Vec::set1(kLn2Hi), y));
  const F r2 = Vec::mul(r, r);
  const F a = Vec::fma(r, Vec::set1(kExp3), Vec::set1(kExp2));
  const F b = Vec::fma(r, Vec::set1(kExp5), Vec::set1(kExp4));
  const F c = Vec::fma(r2, Vec::set1(kExp6), b);
  const F frac = Vec::fma(r2, Vec::fma(r2, c, a), r);
  const F s = pow2(half);
  return Vec::mul(Vec::fma(s, frac, s), pow2(Vec::sub(n, half)));
}

// How an exponential is evaluated. kMonotone: ordered like Horner's rule, right to the last bits over the whole range; the
// functions of the act family. kQuick: one step shorter on the chain of dependences, which is what a cell waits for.
enum class Form { kMonotone, kQuick };

// e^(-kSlope x) = scale * (1 + frac), for kSlope 1 or 2 (it is folded into the constants) and |kSlope x| <= 88; kQuick: <= 30.
template <class V>
struct ExpParts {
  typename V::F scale;
  typename V::F frac;
};
template <int kSlope, Form kForm, class V = Vec>
RNNPACK_INLINE ExpParts<V> exp_falling(typename V::F x) {
  using VF = typename V::F;
  constexpr float k = kSlope, k2 = k * k;
  const VF biased = V::fnma(x, V::set1(k * kLog2E), V::set1(kRoundBiased));
  const VF n = V::sub(biased, V::set1(kRoundBiased));
  VF s = V::fma(n, V::set1(kLn2Hi / k), x);
  if (kForm == Form::kMonotone || !Vec::kFma) s = V::fma(n, V::set1(kLn2Lo / k), s);
  const VF s2 = V::mul(s, s);
  const VF a = V::fnma(s, V::set1(kExp3 * k2 * k), V::set1(kExp2 * k2));
  const VF b = V::fnma(s, V::set1(kExp5 * k2 * k2 * k), V::set1(kExp4 * k2 * k2));
  const VF c = V::fma(s2, V::set1(kExp6 * k2 * k2 * k2), b);
  const VF linear = V::mul(s, V::set1(-k));
  const VF frac =
      kForm == Form::kMonotone ? V::fma(s2, V::fma(s2, c, a), linear) : V::fma(V::mul(s2, s2), c, V::fma(s2, a, linear));
  return {V::bits_to_exponent(biased), frac};
}

template <class V>
RNNPACK_INLINE typename V::F one_plus(const ExpParts<V> &e) {
  return V::fma(e.scale, e.frac, V::add(e.scale, V::set1(1.0f)));
}
template <class V>
RNNPACK_INLINE typename V::F minus_one(const ExpParts<V> &e) {
  return V::fma(e.scale, e.frac, V::sub(e.scale, V::set1(1.0f)));
}

// min(max(x, low), high); a NaN x stays NaN. Limit is F, or what Vec::set1 gives.
template <class V = Vec, class Limit>
RNNPACK_INLINE typename V::F clamp(typename V::F x, Limit low, Limit high) {
  return V::min(high, V::max(low, x));
}

// e^y - 1 for y <= 0, accurate near 0.
RNNPACK_INLINE F expm1_negative(F y) {
  return minus_one(exp_falling<1, Form::kMonotone>(Vec::min(Vec::set1(30.0f), Vec::neg(y))));
}

RNNPACK_INLINE F sigmoid(F x) {
  const F y = clamp(x, Vec::set1(-88.0f), Vec::set1(30.0f));
  return Vec::div(Vec::set1(1.0f), one_plus(exp_falling<1, Form::kMonotone>(y)));
}

// 1 + e^-x, the reciprocal of sigmoid, for the cells: x is cut to [-30, 30], so that a product of three stays finite.
template <class V = Vec>
RNNPACK_INLINE typename V::F gate_denominator(typename V::F x) {
  return one_plus(exp_falling<1, Form::kQuick, V>(clamp<V>(x, V::set1(-30.0f), V::set1(30.0f))));
}

// tanh x = numerator / denominator: (1 - e^-2|x|) / (1 + e^-2|x|), signed like x.
template <class V>
struct TanhPartsOf {
  typename V::F numerator;
  typename V::F denominator;
};
using TanhParts = TanhPartsOf<Vec>;
template <Form kForm, class V = Vec>
RNNPACK_INLINE TanhPartsOf<V> tanh_parts(typename V::F x) {
  const ExpParts<V> e = exp_falling<2, kForm, V>(V::min(V::set1(15.0f), V::abs(x)));
  return {V::copysign(minus_one(e), x), one_plus(e)};
}

template <Form kForm>
RNNPACK_INLINE F tanh(F x) {
  const TanhParts t = tanh_parts<kForm>(x);
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
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_MATH_BODY_H_
