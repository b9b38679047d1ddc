// vec_mve.h -- the vector words of the kernel bodies in Helium (MVE with floats): 4 floats, 8 registers.
// Room: kernels; included only by *_mve.cpp. Every word gives the bits of its scalar formula.
// Contract: docs/ADDING_AN_ISA.md lists the words and what each must do with NaN.
// Why so: MVE has no vector division or square root; they are taken lane by lane in the scalar FPU, whose registers are the lanes.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_VEC_MVE_H_
#define RNNPACK_KERNELS_VEC_MVE_H_

#include <arm_mve.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/inlining.h"

namespace rnnp::RNNPACK_SET {
namespace {

struct Vec {
  using F = float32x4_t;
  using M = mve_pred16_t;
  static constexpr int kWidth = 4;
  static constexpr int kRegisters = 8;
  static constexpr bool kFma = true;
  static constexpr bool kLanes = false;
  static constexpr bool kWalks = false;

  // A constant: it stays in a core register where an instruction takes one, else it is spread over a vector.
  struct K {
    float value;
    RNNPACK_INLINE operator F() const { return vdupq_n_f32(value); }
  };

  static RNNPACK_INLINE K set1(float x) { return {x}; }
  static RNNPACK_INLINE F broadcast(const float *p) { return vdupq_n_f32(*p); }
  static RNNPACK_INLINE F load(const float *p) { return vldrwq_f32(p); }
  static RNNPACK_INLINE void store(float *p, F x) { vstrwq_f32(p, x); }
  // GCC 12 moves every predicate through a core register and back: these make and use theirs in one piece. A predicate is a bit for
  // each byte.
  static RNNPACK_INLINE F load_first_bytes(const float *p, size_t bytes) {
    F x;
    __asm__("vctp.8 %1\n\tvpst\n\tvldrwt.u32 %q0, [%2]"
            : "=w"(x)
            : "r"(bytes), "r"(p), "m"(*reinterpret_cast<const float(*)[4]>(p))
            : "p0");
    return x;
  }
  static RNNPACK_INLINE void store_first_bytes(float *p, F x, size_t bytes) {
    __asm__ volatile("vctp.8 %1\n\tvpst\n\tvstrwt.32 %q0, [%2]" : : "w"(x), "r"(bytes), "r"(p) : "memory", "p0");
  }
  static RNNPACK_INLINE F load_first(const float *p, size_t n) { return load_first_bytes(p, n * sizeof(float)); }
  static RNNPACK_INLINE void store_first(float *p, F x, size_t n) { store_first_bytes(p, x, n * sizeof(float)); }

  static RNNPACK_INLINE F add(F a, F b) { return vaddq_f32(a, b); }
  static RNNPACK_INLINE F add(F a, K b) { return vaddq_n_f32(a, b.value); }
  static RNNPACK_INLINE F sub(F a, F b) { return vsubq_f32(a, b); }
  static RNNPACK_INLINE F sub(F a, K b) { return vsubq_n_f32(a, b.value); }
  static RNNPACK_INLINE F mul(F a, F b) { return vmulq_f32(a, b); }
  static RNNPACK_INLINE F mul(F a, K b) { return vmulq_n_f32(a, b.value); }
  static RNNPACK_INLINE F div(F a, F b) {
    register F quotient __asm__("q0") = a;
    register F divisor __asm__("q1") = b;
    __asm__("vdiv.f32 s0, s0, s4\n\tvdiv.f32 s1, s1, s5\n\tvdiv.f32 s2, s2, s6\n\tvdiv.f32 s3, s3, s7"
            : "+w"(quotient)
            : "w"(divisor));
    return quotient;
  }
  static RNNPACK_INLINE F sqrt(F a) {
    float lane[4];
    store(lane, a);
    for (float &x : lane) __asm__("vsqrt.f32 %0, %1" : "=t"(x) : "t"(x));
    return load(lane);
  }
  static RNNPACK_INLINE F fma(F a, F b, F c) { return vfmaq_f32(c, a, b); }
  static RNNPACK_INLINE F fma(F a, K b, F c) { return vfmaq_n_f32(c, a, b.value); }
  static RNNPACK_INLINE F fma(F a, K b, K c) { return vfmaq_n_f32(c, a, b.value); }
  static RNNPACK_INLINE F fnma(F a, F b, F c) { return vfmsq_f32(c, a, b); }
  static RNNPACK_INLINE F fnma(F a, K b, F c) { return vfmaq_n_f32(c, a, -b.value); }
  static RNNPACK_INLINE F fnma(F a, K b, K c) { return vfmaq_n_f32(c, a, -b.value); }
  // The second operand when either is NaN or both are zero, as on x86 (vmaxnm would lose a NaN). MVE's LT and LE are true of a
  // NaN: only GT and GE are used.
  static RNNPACK_INLINE F min(F a, F b) { return vpselq_f32(a, b, vcmpgtq_f32(b, a)); }
  static RNNPACK_INLINE F max(F a, F b) { return vpselq_f32(a, b, vcmpgtq_f32(a, b)); }
  // The same against a constant, in two or three instructions.
  static RNNPACK_INLINE F min(K a, F b) {
    __asm__("vpt.f32 gt, %q0, %1\n\tvdupt.32 %q0, %1" : "+w"(b) : "r"(a.value) : "cc", "p0");
    return b;
  }
  static RNNPACK_INLINE F max(K a, F b) {
    const F limit = a;
    __asm__("vpt.f32 gt, %q1, %q0\n\tvmovt %q0, %q1" : "+w"(b) : "w"(limit) : "cc", "p0");
    return b;
  }
  static RNNPACK_INLINE F floor(F a) { return vrndmq_f32(a); }
  static RNNPACK_INLINE F ceil(F a) { return vrndpq_f32(a); }
  static RNNPACK_INLINE F neg(F a) { return vnegq_f32(a); }
  static RNNPACK_INLINE F abs(F a) { return vabsq_f32(a); }
  static RNNPACK_INLINE F copysign(F size, F sign) {
    const uint32x4_t low = vshlq_n_u32(vreinterpretq_u32_f32(size), 1);
    return vreinterpretq_f32_u32(vsriq_n_u32(vreinterpretq_u32_f32(sign), low, 1));
  }

  static RNNPACK_INLINE M lt(F a, F b) { return vcmpgtq_f32(b, a); }
  static RNNPACK_INLINE M ge(F a, F b) { return vcmpgeq_f32(a, b); }
  static RNNPACK_INLINE M gt(F a, F b) { return vcmpgtq_f32(a, b); }
  static RNNPACK_INLINE M is_nan(F a) { return vcmpneq_f32(a, a); }
  static RNNPACK_INLINE F select(M m, F yes, F no) { return vpselq_f32(yes, no, m); }

  // The bits of a shifted left by 23: the low bits of a mantissa become an exponent.
  static RNNPACK_INLINE F bits_to_exponent(F a) { return vreinterpretq_f32_s32(vshlq_n_s32(vreinterpretq_s32_f32(a), 23)); }
  // a = m * 2^e with m in [sqrt(1/2), sqrt(2)), a normal and positive.
  static RNNPACK_INLINE void split(F a, F *m, F *e) {
    const int32x4_t root_half = vdupq_n_s32(0x3f3504f3);
    const int32x4_t bits = vsubq_s32(vreinterpretq_s32_f32(a), root_half);
    *e = vcvtq_f32_s32(vshrq_n_s32(bits, 23));
    *m = vreinterpretq_f32_s32(vaddq_s32(vandq_s32(bits, vdupq_n_s32(0x007fffff)), root_half));
  }
};

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_VEC_MVE_H_
