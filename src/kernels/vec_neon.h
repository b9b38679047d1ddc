// vec_neon.h -- the vector words of the kernel bodies in NEON: 4 floats, 32 registers on AArch64, 16 on ARMv7 with VFPv4.
// Room: kernels; included only by *_neon.cpp. Every word gives the bits of its scalar formula; ARMv7 flushes denormals always.
// Contract: docs/ADDING_AN_ISA.md lists the words and what each must do with NaN.
// Why so: ARMv7 has no vector division, square root or rounding: divisions and roots are taken lane by lane in the scalar FPU,
// which rounds them correctly; the rest follows from conversions.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_VEC_NEON_H_
#define RNNPACK_KERNELS_VEC_NEON_H_

#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/inlining.h"

namespace rnnp::RNNPACK_SET {
namespace {

struct Vec {
  using F = float32x4_t;
  using Half = Vec;  // no half is cheaper
  using M = uint32x4_t;
  static constexpr int kWidth = 4;
  static constexpr bool kFma = true;
#if defined(__aarch64__)
  static constexpr int kRegisters = 32;
  static constexpr bool kLanes = true;
#else
  static constexpr int kRegisters = 16;
  static constexpr bool kLanes = false;  // the fused form takes no lane
#endif
  static constexpr bool kWalks = !kLanes, kScalarFactors = false;
  static constexpr bool kColumns = true;

  static RNNPACK_INLINE F set1(float x) {
    return vdupq_n_f32(x);
  }
  static RNNPACK_INLINE F broadcast(const float *p) {
    return vld1q_dup_f32(p);
  }
  static RNNPACK_INLINE F load(const float *p) {
    return vld1q_f32(p);
  }
  static RNNPACK_INLINE void store(float *p, F x) {
    vst1q_f32(p, x);
  }
  // n is 1, 2 or 3.
  static RNNPACK_INLINE F load_first(const float *p, size_t n) {
    F x = vld1q_lane_f32(p, vdupq_n_f32(0.0f), 0);
    if (n > 1) x = vld1q_lane_f32(p + 1, x, 1);
    if (n > 2) x = vld1q_lane_f32(p + 2, x, 2);
    return x;
  }
  static RNNPACK_INLINE void store_first(float *p, F x, size_t n) {
    vst1q_lane_f32(p, x, 0);
    if (n > 1) vst1q_lane_f32(p + 1, x, 1);
    if (n > 2) vst1q_lane_f32(p + 2, x, 2);
  }

  static RNNPACK_INLINE void load_columns(const float *p, size_t row_bytes, F (&columns)[4]) {
    const char *at = reinterpret_cast<const char *>(p);
    F rows[4];
    RNNPACK_UNROLL
    for (int m = 0; m < 4; ++m, at += row_bytes) rows[m] = vld1q_f32(static_cast<const float *>(static_cast<const void *>(at)));
    const float32x4x2_t a = vtrnq_f32(rows[0], rows[1]), b = vtrnq_f32(rows[2], rows[3]);
    for (int n = 0; n < 2; ++n) {
      columns[n] = vcombine_f32(vget_low_f32(a.val[n]), vget_low_f32(b.val[n]));
      columns[n + 2] = vcombine_f32(vget_high_f32(a.val[n]), vget_high_f32(b.val[n]));
    }
  }
  // Three columns of rows that lie side by side; element i of column n is number 3 i + n.
  static RNNPACK_INLINE void load_threes(const float *p, F (&columns)[4]) {
    const float32x4x3_t threes = vld3q_f32(p);
    for (int n = 0; n < 3; ++n) columns[n] = threes.val[n];
  }
  static RNNPACK_INLINE void store_threes(float *p, const F (&columns)[3]) {
    float32x4x3_t threes;
    for (int n = 0; n < 3; ++n) threes.val[n] = columns[n];
    vst3q_f32(p, threes);
  }
  static RNNPACK_INLINE void zip(F a, F b, F *low, F *high) {
    const float32x4x2_t pairs = vzipq_f32(a, b);
    *low = pairs.val[0];
    *high = pairs.val[1];
  }
  static RNNPACK_INLINE void unzip(F a, F b, F *even, F *odd) {
    const float32x4x2_t both = vuzpq_f32(a, b);
    *even = both.val[0];
    *odd = both.val[1];
  }

  // Numbers of low precision, as they lie in panels (panel_types.h).
  static RNNPACK_INLINE F load_f16(const uint8_t *p) {
#if defined(__aarch64__)
    return vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(p)));
#else
    F x;  // every CPU with VFPv4 has the instruction; GCC has its word only where the whole file is told of a type for halves
    __asm__("vcvt.f32.f16 %q0, %P1" : "=w"(x) : "w"(vld1_u8(p)));
    return x;
#endif
  }
  static RNNPACK_INLINE void load_bf16(const uint8_t *p, F *even, F *odd) {
    split_pairs(vreinterpretq_u32_u8(vld1q_u8(p)), even, odd);
  }
  static RNNPACK_INLINE void split_pairs(uint32x4_t pairs, F *even, F *odd) {
    *even = vreinterpretq_f32_u32(vshlq_n_u32(pairs, 16));
    *odd = vreinterpretq_f32_u32(vandq_u32(pairs, vdupq_n_u32(0xffff0000u)));
  }

  static RNNPACK_INLINE F add(F a, F b) {
    return vaddq_f32(a, b);
  }
  static RNNPACK_INLINE F sub(F a, F b) {
    return vsubq_f32(a, b);
  }
  static RNNPACK_INLINE float sum(F a) {
    const float32x2_t two = vadd_f32(vget_low_f32(a), vget_high_f32(a));
    return vget_lane_f32(vpadd_f32(two, two), 0);
  }
  static RNNPACK_INLINE F mul(F a, F b) {
    return vmulq_f32(a, b);
  }
  static RNNPACK_INLINE F fma(F a, F b, F c) {
    return vfmaq_f32(c, a, b);
  }
  static RNNPACK_INLINE F fnma(F a, F b, F c) {
    return vfmsq_f32(c, a, b);
  }
  // The second operand when either is NaN or both are zero, as on x86: relu keeps its zeros' signs.
  static RNNPACK_INLINE F min(F a, F b) {
    return vbslq_f32(lt(a, b), a, b);
  }
  static RNNPACK_INLINE F max(F a, F b) {
    return vbslq_f32(gt(a, b), a, b);
  }
  static RNNPACK_INLINE F neg(F a) {
    return vnegq_f32(a);
  }
  static RNNPACK_INLINE F abs(F a) {
    return vabsq_f32(a);
  }
  static RNNPACK_INLINE F copysign(F size, F sign) {
    return vbslq_f32(vdupq_n_u32(0x80000000u), sign, size);
  }

  static RNNPACK_INLINE M lt(F a, F b) {
    return gt(b, a);
  }
  static RNNPACK_INLINE F select(M m, F yes, F no) {
    return vbslq_f32(m, yes, no);
  }

#if defined(__aarch64__)
  // c + lane `kLane` of a times b, and the load that goes with it: both stay where they are written, because compilers order them
  // for cores that reorder, and pair loads, which in-order cores pay for.
  template <int kLane>
  static RNNPACK_INLINE F fma_lane(F a, F b, F c) {
    __asm__ volatile("fmla %0.4s, %1.4s, %2.s[%3]" : "+w"(c) : "w"(b), "w"(a), "i"(kLane));
    return c;
  }
  static RNNPACK_INLINE F fetch(const float *p) {
    typedef float Anywhere __attribute__((vector_size(16), aligned(4), may_alias));
    F x;
    __asm__ volatile("ldr %q0, %1" : "=w"(x) : "m"(*static_cast<const Anywhere *>(static_cast<const void *>(p))));
    return x;
  }
  static RNNPACK_INLINE M ge(F a, F b) {
    return vcgeq_f32(a, b);
  }
  static RNNPACK_INLINE M gt(F a, F b) {
    return vcgtq_f32(a, b);
  }
  static RNNPACK_INLINE M is_nan(F a) {
    return vmvnq_u32(vceqq_f32(a, a));
  }
  static RNNPACK_INLINE F div(F a, F b) {
    return vdivq_f32(a, b);
  }
  static RNNPACK_INLINE F sqrt(F a) {
    return vsqrtq_f32(a);
  }
  static RNNPACK_INLINE F floor(F a) {
    return vrndmq_f32(a);
  }
  static RNNPACK_INLINE F ceil(F a) {
    return vrndpq_f32(a);
  }
#else
  // c + a * b, and the loads that go with it; they stay where they are written, and a load steps its address.
  static RNNPACK_INLINE F fma_here(F a, F b, F c) {
    __asm__ volatile("vfma.f32 %q0, %q1, %q2" : "+w"(c) : "w"(a), "w"(b));
    return c;
  }
  static RNNPACK_INLINE F fetch_next(const float **p) {
    F x;
    __asm__ volatile("vld1.32 {%e0, %f0}, [%1]!" : "=w"(x), "+r"(*p) : "m"(*reinterpret_cast<const float(*)[4]>(*p)));
    return x;
  }
  static RNNPACK_INLINE F broadcast_next(const float **p) {
    F x;
    __asm__ volatile("vld1.32 {%e0[], %f0[]}, [%1]!" : "=w"(x), "+r"(*p) : "m"(**p));
    return x;
  }
  static RNNPACK_INLINE F fetch_f16(const uint8_t **p) {
    uint16x4_t halves;
    F x;
    __asm__ volatile("vld1.16 {%P0}, [%1]!" : "=w"(halves), "+r"(*p) : "m"(*reinterpret_cast<const uint8_t(*)[8]>(*p)));
    __asm__ volatile("vcvt.f32.f16 %q0, %P1" : "=w"(x) : "w"(halves));
    return x;
  }
  static RNNPACK_INLINE void fetch_bf16(const uint8_t **p, F *even, F *odd) {
    uint32x4_t pairs;
    __asm__ volatile("vld1.32 {%e0, %f0}, [%1]!" : "=w"(pairs), "+r"(*p) : "m"(*reinterpret_cast<const uint8_t(*)[16]>(*p)));
    split_pairs(pairs, even, odd);
  }
  // GCC 12 compares lane by lane in the scalar FPU, because the vector unit flushes denormals; here they are flushed anyway.
  static RNNPACK_INLINE M ge(F a, F b) {
    M m;
    __asm__("vcge.f32 %q0, %q1, %q2" : "=w"(m) : "w"(a), "w"(b));
    return m;
  }
  static RNNPACK_INLINE M gt(F a, F b) {
    M m;
    __asm__("vcgt.f32 %q0, %q1, %q2" : "=w"(m) : "w"(a), "w"(b));
    return m;
  }
  static RNNPACK_INLINE M is_nan(F a) {
    M same;
    __asm__("vceq.f32 %q0, %q1, %q1" : "=w"(same) : "w"(a));
    return vmvnq_u32(same);
  }
  // The scalar FPU's registers are the lanes of the first eight vectors.
  static RNNPACK_INLINE F div(F a, F b) {
    register F quotient __asm__("q0") = a;
    register F divisor __asm__("q1") = b;
    __asm__("vdiv.f32 s0, s0, s4\n\tvdiv.f32 s1, s1, s5\n\tvdiv.f32 s2, s2, s6\n\tvdiv.f32 s3, s3, s7"
            : "+w"(quotient)
            : "w"(divisor));
    return quotient;
  }
  static RNNPACK_INLINE F sqrt(F a) {
    register F root __asm__("q0") = a;
    __asm__("vsqrt.f32 s0, s0\n\tvsqrt.f32 s1, s1\n\tvsqrt.f32 s2, s2\n\tvsqrt.f32 s3, s3" : "+w"(root));
    return root;
  }
  // Truncation is exact below 2^23; larger floats are whole already, and NaN compares false.
  static RNNPACK_INLINE F floor(F a) {
    const F whole = vcvtq_f32_s32(vcvtq_s32_f32(a));
    const F low = sub(whole, select(gt(whole, a), set1(1.0f), set1(0.0f)));
    return select(lt(abs(a), set1(8388608.0f)), copysign(low, a), a);
  }
  static RNNPACK_INLINE F ceil(F a) {
    return neg(floor(neg(a)));
  }
#endif

  // The bits of a shifted left by 23: the low bits of a mantissa become an exponent.
  static RNNPACK_INLINE F bits_to_exponent(F a) {
    return vreinterpretq_f32_s32(vshlq_n_s32(vreinterpretq_s32_f32(a), 23));
  }
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
#endif  // RNNPACK_KERNELS_VEC_NEON_H_
