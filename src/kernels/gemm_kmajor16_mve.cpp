// gemm_kmajor16_mve.cpp -- the gemm rows of int8 panels in runs of sixteen k, for Helium (MVE): a load and a VMLADAVA for a run of
// a unit, the row's first 64 bytes staying in registers for all units. Room: kernels; compiled for a CPU with MVE, so it holds
// kernels and their rows only: no dispatch, no initialisers. Contract: kernels.h; docs/KERNELS.md, "Int8"; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_MVE
#define RNNPACK_SET mve_apart
#include "kernels/kernel_rows.h"
#include "kernels/row_bytes.h"
#include "kernels/row_bytes_mve.h"
#include "kernels/vec_mve.h"

namespace rnnp::mve_apart {
namespace {

struct Bytes {
  static constexpr size_t kGroup = 16;
  // Columns of four units: where their weights, scales and starts lie, and where results go. The assembler knows where `bytes` and
  // `skip` are.
  struct Columns {
    const uint8_t *bytes;  // of the row
    size_t skip;           // from a tile's last column to the next one's first, of start and out, in bytes
    size_t count, tiles;   // columns of a tile
    const uint8_t *panel;
    const float *scales, *start;
    float *out;
    float step;
  };

  // Zeros behind k up to a run's end.
  static RNNPACK_NOINLINE float quantise(const GemmArgs &g, const float *a) {
    constexpr float kLeast = 1e-30f;
    const size_t k = g.w.k;
    int8_t *to = static_cast<int8_t *>(g.scratch);
    vstrbq_s8(to + (k - 1) / kGroup * kGroup, vdupq_n_s8(0));
    float to_byte = 0.0f, step = g.w.lhs_scale;
    bool near = false;
    if (step != 0.0f) {
      to_byte = 1.0f / step;
    } else {
      const float most = largest_mve(a, k, &near);
      if (most >= kLeast) to_byte = 127.0f / most, step = most / 127.0f;
    }
    to_bytes_mve(a, k, to_byte, to, near);
    return step;
  }

// Assembler text: a load of a run of a unit, and its sum with a run of the row; FOUR: of four units; LATER: of those runs of the
// row that are not kept; FINISH: two roundings.
#define RUN(op, sum, weights, at, bytes) "vldrw.u32 " weights ", [r1" at "\n\t" op ".s8 " sum ", " weights ", " bytes "\n\t"
#define FOUR(op, at0, at1, at2, at3, bytes) \
  RUN(op, "r2", "q0", at0, bytes) RUN(op, "r4", "q1", at1, bytes) RUN(op, "r6", "q2", at2, bytes) RUN(op, "r8", "q3", at3, bytes)
#define LATER                                                                                       \
  "wls lr, r12, 3f\n2:\n\tvldrw.u32 q3, [r11], #16\n\t" RUN("vmladava", "r2", "q0", "], #16", "q3") \
      RUN("vmladava", "r4", "q1", "], #16", "q3") RUN("vmladava", "r6", "q2", "], #16", "q3")       \
          RUN("vmladava", "r8", "q0", "], #16", "q3") "le lr, 2b\n\tsub r11, r11, r12, lsl #4\n3:\n\t"
#define FINISH                                                                                                   \
  "vmov q0[2], q0[0], r2, r6\n\tvmov q0[3], q0[1], r4, r8\n\tvldrw.u32 q1, [r3], #16\n\tvcvt.f32.s32 q0, q0\n\t" \
  "vmul.f32 q1, q1, r0\n\tvldrw.u32 q2, [r5], #16\n\tvfma.f32 q2, q0, q1\n\tvstrw.32 q2, [r9], #16\n\t"
// r11: at, where the row's bytes lie or the columns; r12: times, how many later runs or tiles there are.
#define COLUMNS(text)                                                                                               \
  register const uint8_t *panel __asm__("r1") = columns->panel;                                                     \
  register const float *scales __asm__("r3") = columns->scales, *start __asm__("r5") = columns->start;              \
  register float *out __asm__("r9") = columns->out, step __asm__("r0") = columns->step;                             \
  register size_t count __asm__("r10") = columns->count, left __asm__("r12") = times;                               \
  register const void *from __asm__("r11") = at;                                                                    \
  __asm__ volatile(text                                                                                             \
                   : "+r"(panel), "+r"(scales), "+r"(start), "+r"(out), "+r"(count), "+r"(from), "+r"(left)         \
                   : "r"(step)                                                                                      \
                   : "cc", "memory", "r2", "r4", "r6", "r8", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7"); \
  columns->panel = panel, columns->scales = scales, columns->start = start, columns->out = out

  // The row's first runs stay in registers, up to four: all others and then the first, whose last load steps on to the next column.
#define KEEP(bytes, at) "vldrw.u32 " bytes ", [" at "], #16\n\t"
#define RUN_0(op, step)               \
  RUN(op, "r4", "q1", ", #16]", "q4") \
  RUN(op, "r6", "q2", ", #32]", "q4") RUN(op, "r8", "q3", ", #48]", "q4") RUN(op, "r2", "q0", "], " step, "q4")
#define RUN_1 FOUR("vmladav", ", #64]", ", #80]", ", #96]", ", #112]", "q5")
#define RUN_2 FOUR("vmladava", ", #128]", ", #144]", ", #160]", ", #176]", "q6")
#define RUN_3 FOUR("vmladava", ", #192]", ", #208]", ", #224]", ", #240]", "q7")
#define TILES(keep, runs)                           \
  const void *at = columns;                         \
  const size_t times = columns->tiles;              \
  COLUMNS("ldr lr, [r11]\n\t" KEEP("q4", "lr") keep \
          "1:\n\tdls lr, r10\n2:\n\t" runs FINISH   \
          "le lr, 2b\n\t"                           \
          "ldr r2, [r11, #4]\n\tadd r5, r2\n\tadd r9, r2\n\tsubs r12, r12, #1\n\tbne 1b")
  static RNNPACK_NOINLINE void run_1(Columns *columns) {
    TILES(, RUN_0("vmladav", "#64"));
  }
  static RNNPACK_NOINLINE void run_2(Columns *columns) {
    TILES(KEEP("q5", "lr"), RUN_1 RUN_0("vmladava", "#128"));
  }
  static RNNPACK_NOINLINE void run_3(Columns *columns) {
    TILES(KEEP("q5", "lr") KEEP("q6", "lr"), RUN_1 RUN_2 RUN_0("vmladava", "#192"));
  }
  static RNNPACK_NOINLINE void run_4(Columns *columns) {
    TILES(KEEP("q5", "lr") KEEP("q6", "lr") KEEP("q7", "lr"), RUN_1 RUN_2 RUN_3 RUN_0("vmladava", "#256"));
  }
  static RNNPACK_NOINLINE void run_more(Columns *columns, const void *at, size_t times) {
    COLUMNS(KEEP("q4", "r11") KEEP("q5", "r11") KEEP("q6", "r11")
                KEEP("q7", "r11") "1:\n\t" RUN_1 RUN_2 RUN_3 RUN_0("vmladava", "#256") LATER FINISH "subs r10, r10, #1\n\tbne 1b");
  }
#undef TILES
#undef KEEP
#undef RUN_0
#undef RUN_1
#undef RUN_2
#undef RUN_3
#undef RUN
#undef FOUR
#undef LATER
#undef FINISH
#undef COLUMNS

  static RNNPACK_NOINLINE void run_deep(Columns *columns, size_t runs) {
    for (size_t t = 0; t < columns->tiles; ++t) {
      run_more(columns, columns->bytes, runs - 4);
      columns->start = offset_bytes(columns->start, columns->skip);
      columns->out = offset_bytes(columns->out, columns->skip);
    }
  }
  static void run(const GemmArgs &g, Columns *columns) {
    columns->bytes = static_cast<const uint8_t *>(g.scratch);
    const size_t runs = (size_t{g.w.k} + kGroup - 1) / kGroup;
    switch (runs) {
      case 1:
        return run_1(columns);
      case 2:
        return run_2(columns);
      case 3:
        return run_3(columns);
      case 4:
        return run_4(columns);
      default:
        return run_deep(columns, runs);
    }
  }
};

}  // namespace
}  // namespace rnnp::mve_apart

// The columns come before the body that uses them.
#include "kernels/gemm_apart_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_gemm_kmajor16_mve , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) mve_apart::gemm_apart_run<nr>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif  // RNNPACK_HAVE_MVE
