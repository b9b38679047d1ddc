// smlad_rows_dsp.h -- rows of x or h as bytes, for smlad panels and SMLAD: four words for each eight k, of the first four
// a[1] a[3] and 256 a[0] - a[1], 256 a[2] - a[3], low half first, then of the others. Room: kernels; included once by
// gemm_smlad_dsp.cpp. Contract: docs/KERNELS.md, "Int8". SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_SMLAD_ROWS_DSP_H_
#define RNNPACK_KERNELS_SMLAD_ROWS_DSP_H_

#include "kernels/kernels.h"
#include "kernels/largest_finite.h"
#include "kernels/scalar_pow.h"

namespace rnnp::RNNPACK_SET {
namespace {

// As bits, which are in the order of sizes: twice, without the sign.
#define MORE(word) "lsls " word ", " word ", #1\n\tcmp " word ", %[most]\n\tit hi\n\tmovhi %[most], " word "\n\t"
RNNPACK_INLINE float largest(const float *row, size_t k) {
  uint32_t most = 0;
  const float *a = row;
  for (const float *end = row + k / 4 * 4; a != end;)
    __asm__("ldm %[a]!, {r4, r5, r6, r8}\n\t" MORE("r4") MORE("r5") MORE("r6") MORE("r8")
            : [a] "+r"(a), [most] "+r"(most)
            : "m"(*reinterpret_cast<const float(*)[4]>(a))
            : "cc", "r4", "r5", "r6", "r8");
  for (; a != row + k; ++a) {
    const uint32_t twice = float_bits(*a) << 1;
    if (twice > most) most = twice;
  }
  return most < 0xff000000u ? bits_float(most >> 1) : largest_finite(row, k);
}
#undef MORE

// The nearest integers, halves to the even one, of minus v, NaN being 0; saturated on both sides of zero: -127 to 127.
#define NEAREST(v) "vmul.f32 " v ", " v ", %[minus]\n\tvcvtr.s32.f32 " v ", " v "\n\t"
RNNPACK_INLINE const float *four_bytes(const float *a, float minus_to_byte, uint32_t *to) {
  uint32_t odd, even, t0, t1;
  __asm__("vldmia %[a]!, {s0-s3}\n\t" NEAREST("s0") NEAREST("s1") NEAREST("s2") NEAREST(
              "s3") "vmov %[even], %[odd], s0, s1\n\tvmov %[t0], %[t1], s2, s3\n\t"
                    "ssat %[even], #8, %[even]\n\tssat %[odd], #8, %[odd]\n\tssat %[t0], #8, %[t0]\n\tssat %[t1], #8, %[t1]\n\t"
                    "pkhbt %[even], %[even], %[t0], lsl #16\n\tpkhbt %[odd], %[odd], %[t1], lsl #16\n\tmov %[t0], #0\n\t"
                    "ssub16 %[even], %[t0], %[even]\n\tssub16 %[odd], %[t0], %[odd]\n\t"
                    "ssat16 %[even], #8, %[even]\n\tssat16 %[odd], #8, %[odd]\n\t"
                    "lsl %[even], %[even], #8\n\tbic %[even], %[even], #0x00ff0000\n\tssub16 %[even], %[even], %[odd]"
          : [a] "+r"(a), [odd] "=&r"(odd), [even] "=&r"(even), [t0] "=&r"(t0), [t1] "=&r"(t1)
          : [minus] "t"(minus_to_byte), "m"(*reinterpret_cast<const float(*)[4]>(a))
          : "s0", "s1", "s2", "s3");
  to[0] = odd, to[1] = even;
  return a;
}
#undef NEAREST

// Returns what one of the bytes is worth.
RNNPACK_NOINLINE float quantise_smlad(const GemmArgs &g, const float *a, uint32_t *to) {
  constexpr float kLeast = 1e-30f;
  float to_byte = 0.0f, step = g.w.lhs_scale;
  if (step != 0.0f) {
    to_byte = 1.0f / step;
  } else {
    const float most = largest(a, g.w.k);
    if (most >= kLeast) to_byte = 127.0f / most, step = most / 127.0f;
  }
  const float *const end = a + g.w.k / 8 * 8;
  for (; a != end; to += 4) {
    a = four_bytes(a, -to_byte, to);
    a = four_bytes(a, -to_byte, to + 2);
  }
  if (g.w.k % 8 == 0) return step;
  float tail[8] = {};
  for (size_t i = 0; i < g.w.k % 8; ++i) tail[i] = a[i];
  four_bytes(tail, -to_byte, to);
  four_bytes(tail + 4, -to_byte, to + 2);
  return step;
}

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_SMLAD_ROWS_DSP_H_
