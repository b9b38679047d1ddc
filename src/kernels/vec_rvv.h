// vec_rvv.h -- the vector words of the kernel bodies in RISC-V's vector extension 1.0: 16 floats, 8 groups of 4 registers.
// Room: kernels; included only by *_rvv.cpp. Every word gives the bits of its scalar formula; denormals cannot be flushed here.
// Contract: docs/ADDING_AN_ISA.md lists the words and what each must do with NaN.
// Why so: a word is always 16 floats with vl = 16, which every vector length of 128 bits and more can hold in four registers: the
// code does not depend on the length, and the panels' NR is one word. The words are clang's vectors of a fixed size, because
// intrinsics' types may not stand in arrays; a multiply-add by a repeated factor becomes vfmacc.vf.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_VEC_RVV_H_
#define RNNPACK_KERNELS_VEC_RVV_H_

#include <riscv_vector.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/inlining.h"

namespace rnnp::RNNPACK_SET {
namespace {

struct Vec {
  typedef float F __attribute__((ext_vector_type(16)));
  typedef int32_t M __attribute__((ext_vector_type(16)));
  using Half = Vec;  // no half is cheaper
  typedef float Anywhere __attribute__((ext_vector_type(16), aligned(4), may_alias));
  static constexpr int kWidth = 16;
  static constexpr int kRegisters = 8;
  static constexpr bool kFma = true;
  static constexpr bool kColumns = false;
  static constexpr bool kLanes = false;
  static constexpr bool kWalks = true, kScalarFactors = true;  // a factor takes no vector register

  static RNNPACK_INLINE F set1(float x) { return x; }
  static RNNPACK_INLINE F broadcast(const float *p) { return set1(*p); }
  static RNNPACK_INLINE F load(const float *p) { return *static_cast<const Anywhere *>(static_cast<const void *>(p)); }
  static RNNPACK_INLINE void store(float *p, F x) { *static_cast<Anywhere *>(static_cast<void *>(p)) = x; }
  static RNNPACK_INLINE F load_first(const float *p, size_t n) {
    alignas(64) float buffer[kWidth] = {};
    __riscv_vse32_v_f32m4(buffer, __riscv_vle32_v_f32m4(p, n), n);
    return load(buffer);
  }
  static RNNPACK_INLINE void store_first(float *p, F x, size_t n) {
    alignas(64) float buffer[kWidth];
    store(buffer, x);
    __riscv_vse32_v_f32m4(p, __riscv_vle32_v_f32m4(buffer, n), n);
  }

  // Numbers of low precision, as they lie in panels (panel_types.h). An f16's exponent and mantissa, put where an f32 has them, are
  // its number times 2^-112, denormals too; infinities and NaNs, whose exponent is all ones, get all of f32's.
  typedef int16_t Halves __attribute__((ext_vector_type(16), aligned(2), may_alias));
  typedef int32_t Pairs __attribute__((ext_vector_type(16), aligned(4), may_alias));
  static RNNPACK_INLINE F load_f16(const uint8_t *p) {
    constexpr int32_t kExponent = 31 << 23;
    const M halves = __builtin_convertvector(*static_cast<const Halves *>(static_cast<const void *>(p)), M);
    const M placed = (halves << 13) & (INT32_MIN | 0x0fffe000);
    const M endless = (placed & kExponent) == kExponent;
    return reinterpret_cast<F>(reinterpret_cast<M>(reinterpret_cast<F>(placed) * 0x1p112f) | (endless & 0x7f800000));
  }
  static RNNPACK_INLINE void load_bf16(const uint8_t *p, F *even, F *odd) {
    const M pairs = *static_cast<const Pairs *>(static_cast<const void *>(p));
    *even = reinterpret_cast<F>(pairs << 16);
    *odd = reinterpret_cast<F>(pairs & (INT32_MIN >> 15));
  }

  static RNNPACK_INLINE F add(F a, F b) { return a + b; }
  static RNNPACK_INLINE F sub(F a, F b) { return a - b; }
  static RNNPACK_INLINE F mul(F a, F b) { return a * b; }
  static RNNPACK_INLINE F div(F a, F b) { return a / b; }
  // These stay where they are written because the file is compiled without clang's scheduler, which moves loads to the front.
  static RNNPACK_INLINE F fma_here(F a, F b, F c) { return fma(a, b, c); }
  static RNNPACK_INLINE F fetch_next(const float **p) {
    const F x = load(*p);
    *p += kWidth;
    return x;
  }
  static RNNPACK_INLINE F fetch_f16(const uint8_t **p) {
    const F x = load_f16(*p);
    *p += kWidth * sizeof(uint16_t);
    return x;
  }
  static RNNPACK_INLINE void fetch_bf16(const uint8_t **p, F *even, F *odd) {
    load_bf16(*p, even, odd);
    *p += kWidth * sizeof(uint32_t);
  }
  static RNNPACK_INLINE F broadcast_next(const float **p) {
    const F x = broadcast(*p);
    *p += 1;
    return x;
  }
  static RNNPACK_INLINE F sqrt(F a) { return __builtin_elementwise_sqrt(a); }
  static RNNPACK_INLINE F fma(F a, F b, F c) { return __builtin_elementwise_fma(a, b, c); }
  static RNNPACK_INLINE F fnma(F a, F b, F c) { return __builtin_elementwise_fma(-a, b, c); }
  // The second operand when either is NaN or both are zero, as on x86.
  static RNNPACK_INLINE F min(F a, F b) { return a < b ? a : b; }
  static RNNPACK_INLINE F max(F a, F b) { return a > b ? a : b; }
  static RNNPACK_INLINE F floor(F a) { return __builtin_elementwise_floor(a); }
  static RNNPACK_INLINE F ceil(F a) { return __builtin_elementwise_ceil(a); }
  static RNNPACK_INLINE F neg(F a) { return -a; }
  static RNNPACK_INLINE F abs(F a) { return __builtin_elementwise_abs(a); }
  static RNNPACK_INLINE F copysign(F size, F sign) { return __builtin_elementwise_copysign(size, sign); }

  static RNNPACK_INLINE M lt(F a, F b) { return a < b; }
  static RNNPACK_INLINE M ge(F a, F b) { return a >= b; }
  static RNNPACK_INLINE M gt(F a, F b) { return a > b; }
  static RNNPACK_INLINE M is_nan(F a) { return a != a; }
  static RNNPACK_INLINE F select(M m, F yes, F no) { return m ? yes : no; }

  // The bits of a shifted left by 23: the low bits of a mantissa become an exponent.
  static RNNPACK_INLINE F bits_to_exponent(F a) { return reinterpret_cast<F>(reinterpret_cast<M>(a) << 23); }
  // a = m * 2^e with m in [sqrt(1/2), sqrt(2)), a normal and positive.
  static RNNPACK_INLINE void split(F a, F *m, F *e) {
    const M bits = reinterpret_cast<M>(a) - 0x3f3504f3;
    *e = __builtin_convertvector(bits >> 23, F);
    *m = reinterpret_cast<F>((bits & 0x007fffff) + 0x3f3504f3);
  }
};

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_VEC_RVV_H_
