// panel_vfpv4.cpp -- panel_vfpv4.h in the words of the Arm scalar FPU: fused multiply-adds fed by loads of many registers.
// Room: kernels; compiled for a CPU with VFPv4, FPv4-SP or FPv5, so it holds kernels only: no dispatch, no initialisers.
// Contract: panel_vfpv4.h.
// Why so: on Cortex-M4 a load of n registers takes n + 1 cycles and a single load two, and compilers emit single loads only. The
// sums live in the registers up to s31, four factors in s0 to s3, weights in s4 and up.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/panel_vfpv4.h"

namespace rnnp {

// Assembler text. FMA4: four sums from `sum`, four weights from `weight`, one factor.
#define LOAD(first, last) "vldmia %[p]!, {s" #first "-s" #last "}\n\t"
#define FMA(sum, weight, factor) "vfma.f32 s" #sum ", s" #weight ", s" #factor "\n\t"
#define FMA4(s0, s1, s2, s3, w0, w1, w2, w3, factor) FMA(s0, w0, factor) FMA(s1, w1, factor) FMA(s2, w2, factor) FMA(s3, w3, factor)
#define ROW4(factor) FMA4(28, 29, 30, 31, 4, 5, 6, 7, factor)
#define ROW8(factor) FMA4(24, 25, 26, 27, 4, 5, 6, 7, factor) FMA4(28, 29, 30, 31, 8, 9, 10, 11, factor)
#define ROW12(factor) \
  FMA4(20, 21, 22, 23, 4, 5, 6, 7, factor) FMA4(24, 25, 26, 27, 8, 9, 10, 11, factor) FMA4(28, 29, 30, 31, 12, 13, 14, 15, factor)
#define ROW16_LOW(factor) FMA4(16, 17, 18, 19, 4, 5, 6, 7, factor) FMA4(20, 21, 22, 23, 8, 9, 10, 11, factor)
#define ROW16(factor) LOAD(4, 11) ROW16_LOW(factor) LOAD(4, 11) ROW8(factor)

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
//   for (n) sum[n] = start[n];  for (; k != 0; --k, ++a, panel += kRow) for (n) sum[n] = fma(*a, panel[n], sum[n]);  for (n) out[n]
//   = sum[n];
void panel_sum4_vfpv4(float *out, const float *start, const float *a, const float *panel, size_t k) {
  __asm__ volatile(LOOP(28,
                        LOAD(4, 19) ROW4(0) FMA4(28, 29, 30, 31, 8, 9, 10, 11, 1) FMA4(28, 29, 30, 31, 12, 13, 14, 15, 2)
                            FMA4(28, 29, 30, 31, 16, 17, 18, 19, 3),
                        LOAD(4, 7) ROW4(0))
                   : OPERANDS
                   : [out] "r"(out), [start] "r"(start)
                   : LOW_REGISTERS, "s16", "s17", "s18", "s19", "s28", "s29", "s30", "s31");
}

void panel_sum8_vfpv4(float *out, const float *start, const float *a, const float *panel, size_t k) {
  __asm__ volatile(LOOP(24,
                        LOAD(4, 19) ROW8(0) FMA4(24, 25, 26, 27, 12, 13, 14, 15, 1) FMA4(28, 29, 30, 31, 16, 17, 18, 19, 1)
                            LOAD(4, 19) ROW8(2) FMA4(24, 25, 26, 27, 12, 13, 14, 15, 3) FMA4(28, 29, 30, 31, 16, 17, 18, 19, 3),
                        LOAD(4, 11) ROW8(0))
                   : OPERANDS
                   : [out] "r"(out), [start] "r"(start)
                   : LOW_REGISTERS, "s16", "s17", "s18", "s19", HIGH_REGISTERS);
}

void panel_sum12_vfpv4(float *out, const float *start, const float *a, const float *panel, size_t k) {
  __asm__ volatile(
      LOOP(20, LOAD(4, 15) ROW12(0) LOAD(4, 15) ROW12(1) LOAD(4, 15) ROW12(2) LOAD(4, 15) ROW12(3), LOAD(4, 15) ROW12(0))
      : OPERANDS
      : [out] "r"(out), [start] "r"(start)
      : LOW_REGISTERS, "s20", "s21", "s22", "s23", HIGH_REGISTERS);
}

void panel_sum16_vfpv4(float *out, const float *start, const float *a, const float *panel, size_t k) {
  __asm__ volatile(LOOP(16, ROW16(0) ROW16(1) ROW16(2) ROW16(3), ROW16(0))
                   : OPERANDS
                   : [out] "r"(out), [start] "r"(start)
                   : LOW_REGISTERS, "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", HIGH_REGISTERS);
}

}  // namespace rnnp
