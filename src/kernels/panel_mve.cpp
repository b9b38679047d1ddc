// panel_mve.cpp -- panel_mve.h in Helium: vector by scalar multiply-adds, each behind the load of its weights.
// Room: kernels; compiled for a CPU with MVE, so it holds kernels only: no dispatch, no initialisers.
// Contract: panel_mve.h.
// Why so: a Cortex-M55 overlaps a load with the multiply-add next to it, so they alternate and the pair costs two cycles. Eight
// factors come in one load to core registers, and the loop's end costs nothing (LE).
// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_MVE
#define RNNPACK_SET mve
#include "kernels/panel_mve.h"

#include <arm_mve.h>

namespace rnnp::mve {

// Assembler text. TERM: load four weights, add factor times weights to a sum; two registers take turns for the weights.
#define TERM(sum, weights, factor) "vldrw.u32 " weights ", [%[p]], #16\n\tvfma.f32 %q[" sum "], " weights ", " factor "\n\t"
#define ROW4(factor) TERM("s0", "q6", factor)
#define ROW8(factor) ROW4(factor) TERM("s1", "q7", factor)
#define ROW12(factor) ROW8(factor) TERM("s2", "q6", factor)
#define ROW16(factor) ROW12(factor) TERM("s3", "q7", factor)

// Eight rows of the panel a turn, then what is left one row a turn.
#define LOOP(row) \
  "wls lr, %[k8], 2f\n"                                                                                                 \
  "1:\n\tldmia %[a]!, {r3, r4, r5, r6, r8, r9, r10, r11}\n\t" row("r3") row("r4") row("r5") row("r6") row("r8") row("r9") \
      row("r10") row("r11") "le lr, 1b\n"                                                                               \
  "2:\n\twls lr, %[k1], 4f\n"                                                                                           \
  "3:\n\tldr r3, [%[a]], #4\n\t" row("r3") "le lr, 3b\n"                                                                \
  "4:"
#define OPERANDS [a] "+r"(a), [p] "+r"(panel)
#define COUNTS [k8] "r"(k / 8), [k1] "r"(k % 8)
#define CLOBBERS "cc", "memory", "lr", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "q6", "q7"

// In C each of these is
//   for (n) sum[n] = start[n];  for (; k != 0; --k, ++a, panel += kRow) for (n) sum[n] = fma(*a, panel[n], sum[n]);  for (n) out[n]
//   = sum[n];
void panel_sum4_mve(float *out, const float *start, const float *a, const float *panel, size_t k) {
  float32x4_t s0 = vldrwq_f32(start);
  __asm__ volatile(LOOP(ROW4) : OPERANDS, [s0] "+w"(s0) : COUNTS : CLOBBERS);
  vstrwq_f32(out, s0);
}

void panel_sum8_mve(float *out, const float *start, const float *a, const float *panel, size_t k) {
  float32x4_t s0 = vldrwq_f32(start), s1 = vldrwq_f32(start + 4);
  __asm__ volatile(LOOP(ROW8) : OPERANDS, [s0] "+w"(s0), [s1] "+w"(s1) : COUNTS : CLOBBERS);
  vstrwq_f32(out, s0);
  vstrwq_f32(out + 4, s1);
}

void panel_sum12_mve(float *out, const float *start, const float *a, const float *panel, size_t k) {
  float32x4_t s0 = vldrwq_f32(start), s1 = vldrwq_f32(start + 4), s2 = vldrwq_f32(start + 8);
  __asm__ volatile(LOOP(ROW12) : OPERANDS, [s0] "+w"(s0), [s1] "+w"(s1), [s2] "+w"(s2) : COUNTS : CLOBBERS);
  vstrwq_f32(out, s0);
  vstrwq_f32(out + 4, s1);
  vstrwq_f32(out + 8, s2);
}

void panel_sum16_mve(float *out, const float *start, const float *a, const float *panel, size_t k) {
  float32x4_t s0 = vldrwq_f32(start), s1 = vldrwq_f32(start + 4), s2 = vldrwq_f32(start + 8), s3 = vldrwq_f32(start + 12);
  __asm__ volatile(LOOP(ROW16) : OPERANDS, [s0] "+w"(s0), [s1] "+w"(s1), [s2] "+w"(s2), [s3] "+w"(s3) : COUNTS : CLOBBERS);
  vstrwq_f32(out, s0);
  vstrwq_f32(out + 4, s1);
  vstrwq_f32(out + 8, s2);
  vstrwq_f32(out + 12, s3);
}

}  // namespace rnnp::mve

#endif  // RNNPACK_HAVE_MVE
