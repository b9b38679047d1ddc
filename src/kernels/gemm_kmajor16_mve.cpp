// gemm_kmajor16_mve.cpp -- the gemm rows of int8 panels in runs of sixteen k, for Helium (MVE): a load and a VMLADAVA for a run of
// a unit, the row's first 64 bytes staying in registers for all units. Room: kernels; compiled for a CPU with MVE, so it holds
// kernels and their rows only: no dispatch, no initialisers. Contract: kernels.h; docs/KERNELS.md, "Int8"; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_MVE
#define RNNPACK_SET mve_apart
#include "kernels/kernel_rows.h"
#include "kernels/vec_mve.h"

namespace rnnp::mve_apart {
namespace {

struct Bytes {
  static constexpr size_t kGroup = 16;
  // Columns of four units: where their weights, scales and starts lie, and where results go.
  struct Columns {
    const uint8_t *panel;
    const float *scales, *start;
    float *out;
    size_t count;
    float step;
  };

  static RNNPACK_NOINLINE float largest(const float *a, size_t k) {
    float32x4_t most = vdupq_n_f32(0.0f);
    for (size_t i = 0; i < k; i += 4) {
      const float32x4_t size = vabsq_f32(load(a, k, i));
      most = vpselq_f32(vmaxnmq_f32(size, most), most, vcmpgtq_f32(vdupq_n_f32(__builtin_inff()), size));
    }
    return vmaxnmvq_f32(0.0f, most);
  }
  static RNNPACK_INLINE float32x4_t load(const float *a, size_t k, size_t i) {
    return i + 4 <= k ? Vec::load(a + i) : Vec::load_first(a + i, k - i);
  }
  // Conversions saturate, and make 0 of NaN. Zeros behind k up to a run's end.
  static RNNPACK_NOINLINE float quantise(const GemmArgs &g, const float *a) {
    constexpr float kLeast = 1e-30f;
    float to_byte = 0.0f, step = g.w.lhs_scale;
    if (step != 0.0f) {
      to_byte = 1.0f / step;
    } else {
      const float most = largest(a, g.w.k);
      if (most >= kLeast) to_byte = 127.0f / most, step = most / 127.0f;
    }
    int8_t *to = static_cast<int8_t *>(g.scratch);
    vstrbq_s8(to + (g.w.k - 1) / kGroup * kGroup, vdupq_n_s8(0));
    for (size_t i = 0; i < g.w.k; i += 4) {
      const int32x4_t q = vcvtnq_s32_f32(vmulq_n_f32(load(a, g.w.k, i), to_byte));
      vstrbq_s32(to + i, vminq_s32(vmaxq_s32(q, vdupq_n_s32(-127)), vdupq_n_s32(127)));
    }
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
#define FINISH                                                                                                               \
  "vmov q0[2], q0[0], r2, r6\n\tvmov q0[3], q0[1], r4, r8\n\tvldrw.u32 q1, [r3], #16\n\tvcvt.f32.s32 q0, q0\n\t"             \
  "vmul.f32 q1, q1, r0\n\tvldrw.u32 q2, [r5], #16\n\tvfma.f32 q2, q0, q1\n\tvstrw.32 q2, [r9], #16\n\tsubs r10, r10, #1\n\t" \
  "bne 1b"
#define COLUMNS(text)                                                                                               \
  register const uint8_t *panel __asm__("r1") = columns->panel;                                                     \
  register const float *scales __asm__("r3") = columns->scales, *start __asm__("r5") = columns->start;              \
  register float *out __asm__("r9") = columns->out, step __asm__("r0") = columns->step;                             \
  register size_t count __asm__("r10") = columns->count, later __asm__("r12") = runs;                               \
  register const uint8_t *at __asm__("r11") = bytes;                                                                \
  __asm__ volatile(text                                                                                             \
                   : "+r"(panel), "+r"(scales), "+r"(start), "+r"(out), "+r"(count), "+r"(at)                       \
                   : "r"(later), "r"(step)                                                                          \
                   : "cc", "memory", "r2", "r4", "r6", "r8", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7"); \
  columns->panel = panel, columns->scales = scales

  // The row's first four runs stay in registers.
  static RNNPACK_NOINLINE void run_kept(Columns *columns, const uint8_t *bytes, size_t runs) {
    COLUMNS(
        "vldrw.u32 q4, [r11], #16\n\tvldrw.u32 q5, [r11], #16\n\tvldrw.u32 q6, [r11], #16\n\tvldrw.u32 q7, [r11], #16\n"
        "1:\n\t" FOUR("vmladav", ", #64]", ", #80]", ", #96]", ", #112]", "q5")
            FOUR("vmladava", ", #128]", ", #144]", ", #160]", ", #176]", "q6")
                FOUR("vmladava", ", #192]", ", #208]", ", #224]", ", #240]", "q7") RUN("vmladava", "r4", "q1", ", #16]", "q4")
                    RUN("vmladava", "r6", "q2", ", #32]", "q4") RUN("vmladava", "r8", "q3", ", #48]", "q4")
                        RUN("vmladava", "r2", "q0", "], #256", "q4") LATER FINISH);
  }
  static RNNPACK_NOINLINE void run_few(Columns *columns, const uint8_t *bytes, size_t runs) {
    COLUMNS("1:\n\tmov r2, #0\n\tmov r4, #0\n\tmov r6, #0\n\tmov r8, #0\n\t" LATER FINISH);
  }
#undef RUN
#undef FOUR
#undef LATER
#undef FINISH
#undef COLUMNS

  static void run(const GemmArgs &g, Columns *columns) {
    constexpr size_t kKept = 4;
    const size_t runs = (size_t{g.w.k} + kGroup - 1) / kGroup;
    const uint8_t *bytes = static_cast<const uint8_t *>(g.scratch);
    if (runs >= kKept) {
      run_kept(columns, bytes, runs - kKept);
    } else {
      run_few(columns, bytes, runs);
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
