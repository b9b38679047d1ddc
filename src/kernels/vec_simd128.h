// vec_simd128.h -- the vector words of the kernel bodies in WebAssembly's simd128: 4 floats, as many registers as the engine has.
// Room: kernels; included only by *_simd128.cpp. Every word gives the bits of its scalar formula, but for fma and fnma, which round
// twice: simd128 has no fused multiply-add. Denormals are computed with: WebAssembly cannot flush them.
// Contract: docs/ADDING_AN_ISA.md lists the words and what each must do with NaN.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_VEC_SIMD128_H_
#define RNNPACK_KERNELS_VEC_SIMD128_H_

#include <stddef.h>
#include <stdint.h>
#include <wasm_simd128.h>

#include "kernels/inlining.h"

namespace rnnp::RNNPACK_SET {
namespace {

struct Vec {
  using F = v128_t;
  using Half = Vec;  // no half is cheaper
  using M = v128_t;
  static constexpr int kWidth = 4;
  static constexpr int kRegisters = 16;
  static constexpr bool kFma = false;
  static constexpr bool kColumns = false;
  static constexpr bool kLanes = false;
  static constexpr bool kWalks = false;

  static RNNPACK_INLINE F set1(float x) { return wasm_f32x4_splat(x); }
  static RNNPACK_INLINE F broadcast(const float *p) { return wasm_v128_load32_splat(p); }
  static RNNPACK_INLINE F load(const float *p) { return wasm_v128_load(p); }
  static RNNPACK_INLINE void store(float *p, F x) { wasm_v128_store(p, x); }
  // n is 1, 2 or 3.
  static RNNPACK_INLINE F load_first(const float *p, size_t n) {
    F x = wasm_v128_load32_zero(p);
    if (n > 1) x = wasm_v128_load32_lane(p + 1, x, 1);
    if (n > 2) x = wasm_v128_load32_lane(p + 2, x, 2);
    return x;
  }
  static RNNPACK_INLINE void store_first(float *p, F x, size_t n) {
    wasm_v128_store32_lane(p, x, 0);
    if (n > 1) wasm_v128_store32_lane(p + 1, x, 1);
    if (n > 2) wasm_v128_store32_lane(p + 2, x, 2);
  }

  static RNNPACK_INLINE void zip(F a, F b, F *low, F *high) {
    *low = wasm_i32x4_shuffle(a, b, 0, 4, 1, 5);
    *high = wasm_i32x4_shuffle(a, b, 2, 6, 3, 7);
  }
  static RNNPACK_INLINE void unzip(F a, F b, F *even, F *odd) {
    *even = wasm_i32x4_shuffle(a, b, 0, 2, 4, 6);
    *odd = wasm_i32x4_shuffle(a, b, 1, 3, 5, 7);
  }

  // Numbers of low precision, as they lie in panels (panel_types.h). An f16's exponent and mantissa, put where an f32 has them, are
  // its number times 2^-112, denormals too; infinities and NaNs, whose exponent is all ones, get all of f32's.
  static RNNPACK_INLINE F load_f16(const uint8_t *p) {
    const v128_t exponent = wasm_i32x4_splat(31 << 23);
    const v128_t placed = wasm_v128_and(wasm_i32x4_shl(wasm_i32x4_load16x4(p), 13), wasm_i32x4_splat(INT32_MIN | 0x0fffe000));
    const v128_t endless = wasm_i32x4_eq(wasm_v128_and(placed, exponent), exponent);
    return wasm_v128_or(mul(placed, set1(0x1p112f)), wasm_v128_and(endless, wasm_i32x4_splat(0x7f800000)));
  }
  static RNNPACK_INLINE void load_bf16(const uint8_t *p, F *even, F *odd) {
    const v128_t pairs = wasm_v128_load(p);
    *even = wasm_i32x4_shl(pairs, 16);
    *odd = wasm_v128_and(pairs, wasm_i32x4_splat(INT32_MIN >> 15));
  }

  static RNNPACK_INLINE F add(F a, F b) { return wasm_f32x4_add(a, b); }
  static RNNPACK_INLINE F sub(F a, F b) { return wasm_f32x4_sub(a, b); }
  static RNNPACK_INLINE F mul(F a, F b) { return wasm_f32x4_mul(a, b); }
  static RNNPACK_INLINE F div(F a, F b) { return wasm_f32x4_div(a, b); }
  static RNNPACK_INLINE F sqrt(F a) { return wasm_f32x4_sqrt(a); }
  static RNNPACK_INLINE F fma(F a, F b, F c) { return wasm_f32x4_add(c, wasm_f32x4_mul(a, b)); }
  static RNNPACK_INLINE F fnma(F a, F b, F c) { return wasm_f32x4_sub(c, wasm_f32x4_mul(a, b)); }
  // The second operand when either is NaN or both are zero, as on x86.
  static RNNPACK_INLINE F min(F a, F b) { return wasm_f32x4_pmin(b, a); }
  static RNNPACK_INLINE F max(F a, F b) { return wasm_f32x4_pmax(b, a); }
  static RNNPACK_INLINE F floor(F a) { return wasm_f32x4_floor(a); }
  static RNNPACK_INLINE F ceil(F a) { return wasm_f32x4_ceil(a); }
  static RNNPACK_INLINE F neg(F a) { return wasm_f32x4_neg(a); }
  static RNNPACK_INLINE F abs(F a) { return wasm_f32x4_abs(a); }
  static RNNPACK_INLINE F copysign(F size, F sign) { return wasm_v128_bitselect(sign, size, wasm_i32x4_splat(INT32_MIN)); }

  static RNNPACK_INLINE M lt(F a, F b) { return wasm_f32x4_lt(a, b); }
  static RNNPACK_INLINE M ge(F a, F b) { return wasm_f32x4_ge(a, b); }
  static RNNPACK_INLINE M gt(F a, F b) { return wasm_f32x4_gt(a, b); }
  static RNNPACK_INLINE M is_nan(F a) { return wasm_f32x4_ne(a, a); }
  static RNNPACK_INLINE F select(M m, F yes, F no) { return wasm_v128_bitselect(yes, no, m); }

  // The bits of a shifted left by 23: the low bits of a mantissa become an exponent.
  static RNNPACK_INLINE F bits_to_exponent(F a) { return wasm_i32x4_shl(a, 23); }
  // a = m * 2^e with m in [sqrt(1/2), sqrt(2)), a normal and positive.
  static RNNPACK_INLINE void split(F a, F *m, F *e) {
    const v128_t root_half = wasm_i32x4_splat(0x3f3504f3);
    const v128_t bits = wasm_i32x4_sub(a, root_half);
    *e = wasm_f32x4_convert_i32x4(wasm_i32x4_shr(bits, 23));
    *m = wasm_i32x4_add(wasm_v128_and(bits, wasm_i32x4_splat(0x007fffff)), root_half);
  }
};

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_VEC_SIMD128_H_
