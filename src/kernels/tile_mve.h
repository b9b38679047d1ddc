// tile_mve.h -- in Helium, the sums of one h-tile of four units: start + x * W + h * R.
// Room: kernels; included by recur_mve.cpp. Writes to TileSums.
// Contract: kernels.h, RecurArgs; one fused multiply-add per term, k ascending.
// Why so: as in panel_mve.cpp, loads and multiply-adds alternate; sixteen k a turn, and between W and R nothing goes through
// memory. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_TILE_MVE_H_
#define RNNPACK_KERNELS_TILE_MVE_H_

#include <arm_mve.h>
#include <stddef.h>

#include "kernels/inlining.h"

namespace rnnp::RNNPACK_SET {
namespace {

// Where a tile's operands lie, in the order in which the assembler loads it; it steps start, r_bias, w and r on to the next tile.
struct TileSums {
  const float *start;      // the tile's pre-activations, or bias
  const float *r_bias;     // where the recurrent part of the last gate starts, when it is split
  const float *x, *w;      // factors and panel; no terms when both counts are 0
  size_t x_turns, x_left;  // input size / 16 and % 16
  const float *h, *r;
  size_t h_turns, h_left;
  float sums[16];  // the results
};

// Assembler text: r0 walks through TileSums, r1 the factors, r2 the panel. TERM: load four weights, add factor times weights to a
// sum.
#define START(sum) "vldrw.u32 %q[" sum "], [r1], #16\n\t"
#define TERM(sum, weights, factor) "vldrw.u32 %q[" weights "], [r2], #16\n\tvfma.f32 %q[" sum "], %q[" weights "], " factor "\n\t"
#define ROW4(factor) TERM("s0", "t0", factor)
#define ROW12(factor) ROW4(factor) TERM("s1", "t1", factor) TERM("s2", "t0", factor)
#define ROW12_SPLIT(factor) ROW4(factor) TERM("s1", "t1", factor) TERM("s3", "t0", factor)
#define ROW16(factor) ROW12(factor) TERM("s3", "t1", factor)
#define EIGHT(row)                                                                                                         \
  "ldm r1!, {r3, r4, r5, r6, r8, r9, r10, r11}\n\t" row("r3") row("r4") row("r5") row("r6") row("r8") row("r9") row("r10") \
      row("r11")
#define SUM(row) \
  "ldm r0!, {r1, r2, r3, r12}\n\twls lr, r3, 2f\n1:\n\t" EIGHT(row) EIGHT(row) "le lr, 1b\n" \
  "2:\n\twls lr, r12, 4f\n3:\n\tldr r3, [r1], #4\n\t" row("r3") "le lr, 3b\n4:\n\tstr r2, [r0, #-12]\n\t"
#define KEEP(sum, at) "vstrw.32 %q[" sum "], [r0" at "]\n\t"
#define KEEP4 KEEP("s0", "") KEEP("s1", ", #16") KEEP("s2", ", #32") KEEP("s3", ", #48")
#define CLOBBERS "cc", "memory", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr"

// One gate.
RNNPACK_INLINE void tile_sums(TileSums *tile) {
  register TileSums *at __asm__("r0") = tile;
  float32x4_t s0, t0;
  __asm__ volatile("ldr r1, [r0], #8\n\t" START("s0") "str r1, [r0, #-8]\n\t" SUM(ROW4) SUM(ROW4) KEEP("s0", "")
                   : "+r"(at), [s0] "=&w"(s0), [t0] "=&w"(t0)
                   :
                   : CLOBBERS);
}

// Three gates, the last split: its recurrent part comes fourth.
RNNPACK_INLINE void tile_sums_split(TileSums *tile) {
  register TileSums *at __asm__("r0") = tile;
  float32x4_t s0, s1, s2, s3, t0, t1;
  __asm__ volatile("ldm r0!, {r1, r2}\n\t" START("s0") START("s1")
                       START("s2") "vldrw.u32 %q[s3], [r2], #16\n\tstrd r1, r2, [r0, #-8]\n\t" SUM(ROW12) SUM(ROW12_SPLIT) KEEP4
                   : "+r"(at), [s0] "=&w"(s0), [s1] "=&w"(s1), [s2] "=&w"(s2), [s3] "=&w"(s3), [t0] "=&w"(t0), [t1] "=&w"(t1)
                   :
                   : CLOBBERS);
}

// Four gates.
RNNPACK_INLINE void tile_sums4(TileSums *tile) {
  register TileSums *at __asm__("r0") = tile;
  float32x4_t s0, s1, s2, s3, t0, t1;
  __asm__ volatile("ldr r1, [r0], #8\n\t" START("s0") START("s1") START("s2") START("s3") "str r1, [r0, #-8]\n\t" SUM(ROW16)
                       SUM(ROW16) KEEP4
                   : "+r"(at), [s0] "=&w"(s0), [s1] "=&w"(s1), [s2] "=&w"(s2), [s3] "=&w"(s3), [t0] "=&w"(t0), [t1] "=&w"(t1)
                   :
                   : CLOBBERS);
}

#undef START
#undef TERM
#undef ROW4
#undef ROW12
#undef ROW12_SPLIT
#undef ROW16
#undef EIGHT
#undef SUM
#undef KEEP
#undef KEEP4
#undef CLOBBERS

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_TILE_MVE_H_
