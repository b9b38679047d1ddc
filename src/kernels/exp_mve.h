// exp_mve.h -- the exponentials of the plain cells in Helium: the operations and bits of math_body.h's quick form.
// Room: kernels; included by recur_mve.cpp after math_body.h. Pure.
// Contract: gate_denominator and tanh_parts<Form::kQuick> of math_body.h, for several gates at a time.
// Why so: left to GCC 12, two thirds of a cell are constants on their way through the stack. Here one load brings ten of them to
// core registers, which vector instructions take as operands, and the gates share them.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_EXP_MVE_H_
#define RNNPACK_KERNELS_EXP_MVE_H_

#include "kernels/math_body.h"

namespace rnnp::RNNPACK_SET {
namespace {

// The constants of exp_falling<1> and then of exp_falling<2>, in the order that the registers of CONSTANTS take them.
constexpr float slope2(float constant, int power) {
  return constant * static_cast<float>(1 << power);
}
constexpr float kExpTable[20] = {-kLog2E,
                                 kRoundBiased,
                                 kLn2Hi,
                                 -kExp3,
                                 kExp2,
                                 -kExp5,
                                 kExp4,
                                 kExp6,
                                 -1.0f,
                                 1.0f,
                                 -slope2(kLog2E, 1),
                                 kRoundBiased,
                                 kLn2Hi / 2.0f,
                                 -slope2(kExp3, 3),
                                 slope2(kExp2, 2),
                                 -slope2(kExp5, 5),
                                 slope2(kExp4, 4),
                                 slope2(kExp6, 6),
                                 -2.0f,
                                 1.0f};

// Assembler text. EXP_FALLING: x becomes frac, `biased` the scale; the others are for use.
#define CONSTANTS(table) "ldm " table ", {r3, r4, r5, r6, r8, r9, r10, r11, r12, lr}\n\t"
#define EXP_FALLING(x, biased, t0, t1, t2)                                                \
  "vdup.32 %q[" biased "], r4\n\tvfma.f32 %q[" biased "], %q[" x                          \
  "], r3\n\t"                                                                             \
  "vsub.f32 %q[" t0 "], %q[" biased "], r4\n\tvfma.f32 %q[" x "], %q[" t0                 \
  "], r5\n\t"                                                                             \
  "vmul.f32 %q[" t0 "], %q[" x "], %q[" x                                                 \
  "]\n\t"                                                                                 \
  "vdup.32 %q[" t1 "], r8\n\tvfma.f32 %q[" t1 "], %q[" x                                  \
  "], r6\n\t"                                                                             \
  "vdup.32 %q[" t2 "], r10\n\tvfma.f32 %q[" t2 "], %q[" x                                 \
  "], r9\n\t"                                                                             \
  "vfma.f32 %q[" t2 "], %q[" t0 "], r11\n\tvmul.f32 %q[" x "], %q[" x                     \
  "], r12\n\t"                                                                            \
  "vfma.f32 %q[" x "], %q[" t0 "], %q[" t1 "]\n\tvmul.f32 %q[" t0 "], %q[" t0 "], %q[" t0 \
  "]\n\t"                                                                                 \
  "vfma.f32 %q[" x "], %q[" t0 "], %q[" t2 "]\n\tvshl.i32 %q[" biased "], %q[" biased "], #23\n\t"
// x is cut to [-30, 30]. A quiet NaN is positive here, so that as an unsigned number it lies below -30 and stays.
#define LIMITS "vmov.f32 %q[t0], #30.0\n\tvmov.f32 %q[t1], #-30.0\n\t"
#define CLAMP(x) "vpt.f32 gt, %q[" x "], %q[t0]\n\tvmovt %q[" x "], %q[t0]\n\tvmin.u32 %q[" x "], %q[" x "], %q[t1]\n\t"
// sum = 1 + e^-x; x is used up.
#define DENOMINATOR(sum, x) \
  EXP_FALLING(x, "scale", sum, "t1", "t2") "vadd.f32 %q[" sum "], %q[scale], lr\n\tvfma.f32 %q[" sum "], %q[scale], %q[" x "]\n\t"
#define TEMPORARIES [scale] "=&w"(scale), [t0] "=&w"(t0), [t1] "=&w"(t1), [t2] "=&w"(t2)
#define CLOBBERS "cc", "p0", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr"

// Each x becomes gate_denominator(x), *less_one the first minus 1. The register of each x holds the next one's result. Returns the
// constants of tanh.
RNNPACK_INLINE const float *gate_denominators_less_one(F *x0, F *x1, F *less_one) {
  const float *table = kExpTable;
  F scale, t0, t1, t2;
  __asm__(CONSTANTS("%[table]!") LIMITS CLAMP("x0") CLAMP("x1") DENOMINATOR("t0", "x0")
              DENOMINATOR("x0", "x1") "vsub.f32 %q[x1], %q[t0], lr\n\t"
          : [x0] "+w"(*x0), [x1] "+w"(*x1), [table] "+r"(table), TEMPORARIES
          : "m"(kExpTable)
          : CLOBBERS);
  *less_one = *x1;
  *x1 = *x0;
  *x0 = t0;
  return table;
}
RNNPACK_INLINE const float *gate_denominators(F *x0, F *x1, F *x2) {
  const float *table = kExpTable;
  F scale, t0, t1, t2;
  __asm__(CONSTANTS("%[table]!") LIMITS CLAMP("x0") CLAMP("x1") CLAMP("x2") DENOMINATOR("t0", "x0") DENOMINATOR("x0", "x1")
              DENOMINATOR("x1", "x2")
          : [x0] "+w"(*x0), [x1] "+w"(*x1), [x2] "+w"(*x2), [table] "+r"(table), TEMPORARIES
          : "m"(kExpTable)
          : CLOBBERS);
  *x2 = *x1;
  *x1 = *x0;
  *x0 = t0;
  return table;
}

// tanh_parts<Form::kQuick>(x).
RNNPACK_INLINE TanhParts quick_tanh_parts(F x, const float *table) {
  F e, scale, t0, t1, t2;
  __asm__(CONSTANTS("%[table]") "vabs.f32 %q[e], %q[x]\n\tvmov.f32 %q[t0], #15.0\n\tvpt.f32 gt, %q[e], %q[t0]\n\tvmovt %q[e], %q[t0]\n\t"
          EXP_FALLING("e", "scale", "t0", "t1", "t2")
          "vsub.f32 %q[t0], %q[scale], lr\n\tvfma.f32 %q[t0], %q[scale], %q[e]\n\t"
          "vadd.f32 %q[t1], %q[scale], lr\n\tvfma.f32 %q[t1], %q[scale], %q[e]\n\t"
          "vshl.i32 %q[t0], %q[t0], #1\n\tvsri.32 %q[x], %q[t0], #1"
          : [x] "+w"(x), [e] "=&w"(e), TEMPORARIES
          : [table] "r"(table), "m"(*reinterpret_cast<const float(*)[10]>(table))
          : CLOBBERS);
  return {x, t1};
}

#undef CONSTANTS
#undef EXP_FALLING
#undef LIMITS
#undef CLAMP
#undef DENOMINATOR
#undef TEMPORARIES
#undef CLOBBERS

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_EXP_MVE_H_
