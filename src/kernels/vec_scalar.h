// vec_scalar.h -- the vector words of the kernel bodies where a vector is one float of a scalar FPU with fused multiply-add.
// Room: kernels; included by vec_vfpv4.h and vec_rvf.h, which add the square root. Every word gives the bits of its scalar formula.
// Contract: docs/ADDING_AN_ISA.md lists the words and what each must do with NaN.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_VEC_SCALAR_H_
#define RNNPACK_KERNELS_VEC_SCALAR_H_

#include <stddef.h>
#include <stdint.h>

#include "kernels/inlining.h"
#include "kernels/scalar_pow.h"

namespace rnnp::RNNPACK_SET {
namespace {

struct ScalarVec {
  using F = float;
  using M = bool;
  static constexpr int kWidth = 1;
  static constexpr int kRegisters = 32;
  static constexpr bool kFma = true;
  static constexpr bool kLanes = false;
  static constexpr bool kWalks = false;

  static RNNPACK_INLINE F set1(float x) { return x; }
  static RNNPACK_INLINE F broadcast(const float *p) { return *p; }
  static RNNPACK_INLINE F load(const float *p) { return *p; }
  static RNNPACK_INLINE void store(float *p, F x) { *p = x; }
  static RNNPACK_INLINE F load_first(const float *p, size_t) { return *p; }
  static RNNPACK_INLINE void store_first(float *p, F x, size_t) { *p = x; }

  static RNNPACK_INLINE F add(F a, F b) { return a + b; }
  static RNNPACK_INLINE F sub(F a, F b) { return a - b; }
  static RNNPACK_INLINE F mul(F a, F b) { return a * b; }
  static RNNPACK_INLINE F div(F a, F b) { return a / b; }
  static RNNPACK_INLINE F fma(F a, F b, F c) { return __builtin_fmaf(a, b, c); }
  static RNNPACK_INLINE F fnma(F a, F b, F c) { return __builtin_fmaf(-a, b, c); }
  static RNNPACK_INLINE F min(F a, F b) { return a < b ? a : b; }
  static RNNPACK_INLINE F max(F a, F b) { return a > b ? a : b; }
  static RNNPACK_INLINE F neg(F a) { return -a; }
  static RNNPACK_INLINE F abs(F a) { return __builtin_fabsf(a); }
  static RNNPACK_INLINE F copysign(F size, F sign) { return __builtin_copysignf(size, sign); }
  // Truncation is exact below 2^23; larger floats are whole already, and NaN compares false.
  static RNNPACK_INLINE F floor(F a) {
    if (!(abs(a) < 8388608.0f)) return a;
    const F whole = static_cast<F>(static_cast<int32_t>(a));
    return copysign(whole > a ? whole - 1.0f : whole, a);
  }
  static RNNPACK_INLINE F ceil(F a) { return -floor(-a); }

  static RNNPACK_INLINE M lt(F a, F b) { return a < b; }
  static RNNPACK_INLINE M ge(F a, F b) { return a >= b; }
  static RNNPACK_INLINE M gt(F a, F b) { return a > b; }
  static RNNPACK_INLINE M is_nan(F a) { return a != a; }
  static RNNPACK_INLINE F select(M m, F yes, F no) { return m ? yes : no; }

  // The bits of a shifted left by 23: the low bits of a mantissa become an exponent.
  static RNNPACK_INLINE F bits_to_exponent(F a) { return bits_float(float_bits(a) << 23); }
  // a = m * 2^e with m in [sqrt(1/2), sqrt(2)), a normal and positive.
  static RNNPACK_INLINE void split(F a, F *m, F *e) {
    const uint32_t bits = float_bits(a) - 0x3f3504f3u;
    *e = static_cast<F>(static_cast<int32_t>(bits) >> 23);
    *m = bits_float((bits & 0x007fffffu) + 0x3f3504f3u);
  }
};

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_VEC_SCALAR_H_
