// panel_vfpv4.cpp -- panel_vfpv4.h in the words of the Arm scalar FPU: fused multiply-adds fed by loads of many registers.
// Room: kernels; compiled for a CPU with VFPv4, FPv4-SP or FPv5, so it holds kernels only: no dispatch, no initialisers.
// Contract: panel_vfpv4.h.
// Why so: on Cortex-M4 a load of n registers takes n + 1 cycles and a single load two, and compilers emit single loads only. The
// sums live in the registers up to s31, four factors in s0 to s3, weights in s4 and up; the narrowest panel has room for eight
// factors. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_VFPV4
#define RNNPACK_SET vfpv4
#include "kernels/panel_vfpv4.h"

namespace rnnp::vfpv4 {

// Assembler text. FMA4: a group of four sums, a group of four weights, one factor.
#define LOAD(first, last) "vldmia %[p]!, {s" #first "-s" #last "}\n\t"
#define FMA(sum, weight, factor) "vfma.f32 s" #sum ", s" #weight ", s" #factor "\n\t"
#define FOUR(s0, s1, s2, s3, w0, w1, w2, w3, factor) FMA(s0, w0, factor) FMA(s1, w1, factor) FMA(s2, w2, factor) FMA(s3, w3, factor)
#define FMA4(sums, weights, factor) FOUR(sums, weights, factor)
// Sums and weights in fours.
#define S0 28, 29, 30, 31
#define S1 24, 25, 26, 27
#define S2 20, 21, 22, 23
#define S3 16, 17, 18, 19
#define W0 4, 5, 6, 7
#define W1 8, 9, 10, 11
#define W2 12, 13, 14, 15
#define W3 16, 17, 18, 19

// Four rows of the panel a turn, then what is left one row a turn.
#define LOOP(first, four_rows, one_row)       \
  "vldmia %[start], {s" #first                \
  "-s31}\n\tsubs %[k], #4\n\tblo 2f\n"        \
  "1:\n\tvldmia %[a]!, {s0-s3}\n\t" four_rows \
  "subs %[k], #4\n\tbhs 1b\n"                 \
  "2:\n\tadds %[k], #4\n\tbeq 4f\n"           \
  "3:\n\tvldmia %[a]!, {s0}\n\t" one_row      \
  "subs %[k], #1\n\tbne 3b\n"                 \
  "4:\n\tvstmia %[out], {s" #first "-s31}"
#define OPERANDS [a] "+r"(a), [p] "+r"(panel), [k] "+r"(k)
#define LOW_REGISTERS \
  "cc", "memory", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15"
#define HIGH_REGISTERS "s24", "s25", "s26", "s27", "s28", "s29", "s30", "s31"

// In C each of these is
//   for (n) sum[n] = start[n];
//   for (; k != 0; --k, ++a, panel += kRow) for (n) sum[n] = fma(*a, panel[n], sum[n]);
//   for (n) out[n] = sum[n];
#define ROWS4(f0, f1, f2, f3) LOAD(8, 23) FMA4(S0, W1, f0) FMA4(S0, W2, f1) FMA4(S0, W3, f2) FMA4(S0, S2, f3)
void panel_sum4_vfpv4(float *out, const float *start, const float *a, const float *panel, size_t k) {
  __asm__ volatile(
      "vldmia %[start], {s28-s31}\n\tsubs %[k], #8\n\tblo 2f\n"
      "1:\n\tvldmia %[a]!, {s0-s7}\n\t" ROWS4(0, 1, 2, 3) ROWS4(4, 5, 6, 7)  //
      "subs %[k], #8\n\tbhs 1b\n"
      "2:\n\tadds %[k], #4\n\tbmi 3f\n\tvldmia %[a]!, {s0-s3}\n\t" ROWS4(0, 1, 2, 3)  //
      "subs %[k], #4\n"
      "3:\n\tadds %[k], #4\n\tbeq 5f\n"
      "4:\n\tvldmia %[a]!, {s0}\n\t" LOAD(8, 11) FMA4(S0, W1, 0)  //
      "subs %[k], #1\n\tbne 4b\n"
      "5:\n\tvstmia %[out], {s28-s31}"
      : OPERANDS
      : [out] "r"(out), [start] "r"(start)
      : LOW_REGISTERS, "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s28", "s29", "s30", "s31");
}

void panel_sum8_vfpv4(float *out, const float *start, const float *a, const float *panel, size_t k) {
  __asm__ volatile(LOOP(24,
                        LOAD(4, 19) FMA4(S1, W0, 0) FMA4(S0, W1, 0) FMA4(S1, W2, 1) FMA4(S0, W3, 1) LOAD(4, 19) FMA4(S1, W0, 2)
                            FMA4(S0, W1, 2) FMA4(S1, W2, 3) FMA4(S0, W3, 3),
                        LOAD(4, 11) FMA4(S1, W0, 0) FMA4(S0, W1, 0))
                   : OPERANDS
                   : [out] "r"(out), [start] "r"(start)
                   : LOW_REGISTERS, "s16", "s17", "s18", "s19", HIGH_REGISTERS);
}

#define ROW12(factor) LOAD(4, 15) FMA4(S2, W0, factor) FMA4(S1, W1, factor) FMA4(S0, W2, factor)
void panel_sum12_vfpv4(float *out, const float *start, const float *a, const float *panel, size_t k) {
  __asm__ volatile(LOOP(20, ROW12(0) ROW12(1) ROW12(2) ROW12(3), ROW12(0))
                   : OPERANDS
                   : [out] "r"(out), [start] "r"(start)
                   : LOW_REGISTERS, "s20", "s21", "s22", "s23", HIGH_REGISTERS);
}

// Loads of twelve cross the ends of rows.
void panel_sum16_vfpv4(float *out, const float *start, const float *a, const float *panel, size_t k) {
  __asm__ volatile(LOOP(16,
                        LOAD(4, 15) FMA4(S3, W0, 0) FMA4(S2, W1, 0) FMA4(S1, W2, 0)  //
                        LOAD(4, 15) FMA4(S0, W0, 0) FMA4(S3, W1, 1) FMA4(S2, W2, 1)  //
                        LOAD(4, 15) FMA4(S1, W0, 1) FMA4(S0, W1, 1) FMA4(S3, W2, 2)  //
                        LOAD(4, 15) FMA4(S2, W0, 2) FMA4(S1, W1, 2) FMA4(S0, W2, 2)  //
                        LOAD(4, 15) FMA4(S3, W0, 3) FMA4(S2, W1, 3) FMA4(S1, W2, 3)  //
                        LOAD(4, 7) FMA4(S0, W0, 3),
                        LOAD(4, 15) FMA4(S3, W0, 0) FMA4(S2, W1, 0) FMA4(S1, W2, 0) LOAD(4, 7) FMA4(S0, W0, 0))
                   : OPERANDS
                   : [out] "r"(out), [start] "r"(start)
                   : LOW_REGISTERS, "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", HIGH_REGISTERS);
}

}  // namespace rnnp::vfpv4

#endif  // RNNPACK_HAVE_VFPV4
