// gemm_smlad_dsp.cpp -- the gemm rows of smlad int8 panels for Cortex-M cores with the DSP extension and an FPU. A word of four
// weights, as it lies, is two numbers of 16 bits, low + 256 high: one SMLAD of it, and one of its low bytes times
// 256 a[k] - a[k + 1], add up to 256 times the product of four. Room: kernels; compiled for such a CPU, so it holds kernels and
// their rows only: no dispatch, no initialisers. Contract: kernels.h; docs/KERNELS.md, "Int8"; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_DSP
#define RNNPACK_SET dsp_apart
#include "kernels/kernel_rows.h"
#include "kernels/vec_vfpv4.h"
// The words come before the body that uses them.
#include "kernels/row_bytes.h"
#include "kernels/smlad_rows_dsp.h"
#include "rnnpack/rnnpack.h"

namespace rnnp::dsp_apart {
namespace {

constexpr size_t kUnits = 4, kGroup = 8, kGroupBytes = kUnits * kGroup;
// 256 times the product of so many k stays below 2^31.
constexpr size_t kMostGroups = 64;

// Columns of four units: where their weights, scales and starts lie, and where results go. The assembler knows the order.
struct Columns {
  const float *scales, *start;
  float *out;
  size_t count;
  const uint8_t *panel;
  const uint32_t *factors, *factors_end;
  size_t skipped;  // groups of k that the first turn of eight has not
  float step;
  uint32_t r7;         // which compilers may need for themselves
  size_t tiles, skip;  // of `count` columns each; from a tile's last column to the next one's first, of start and out, in bytes
};

// Assembler text. FOUR: four k of a unit, then the next four; GROUP: eight k of four units.
#define FOUR(weights, sum, odd, even)                                                                                             \
  "smlad " sum ", " weights ", " odd ", " sum "\n\tsxtb16 " weights ", " weights "\n\tsmlad " sum ", " weights ", " even ", " sum \
  "\n\t"
#define EIGHT(low, high, sum) FOUR(low, sum, "r4", "r5") FOUR(high, sum, "r6", "r7")
#define GROUP                                                                             \
  "ldm lr!, {r4, r5, r6, r7}\n\tldm r12!, {r8, r9, r10, r11}\n\t" EIGHT("r8", "r9", "r1") \
      EIGHT("r10", "r11", "r2") "ldm r12!, {r8, r9, r10, r11}\n\t" EIGHT("r8", "r9", "r3") EIGHT("r10", "r11", "r0")
// Bytes of a GROUP's code.
#define GROUP_CODE "108"

// s12 is the step, s13 the columns' address, s14 where factors begin, s15 where in the turn one goes in, s16 where factors end,
// s17 zero.
RNNPACK_NOINLINE void run_columns(Columns *columns) {
  register Columns *at __asm__("r0") = columns;
  __asm__ volatile(
      "str r7, [r0, #36]\n\tvldr s12, [r0, #32]\n\tvmov s13, r0\n\tvldr s14, [r0, #20]\n\tvldr s16, [r0, #24]\n\t"
      "ldr r12, [r0, #16]\n\tldr r1, [r0, #28]\n\tmov r2, #" GROUP_CODE
      "\n\tadr r3, 2f\n\tmla r1, r1, r2, r3\n\torr r1, r1, #1\n\tvmov s15, r1\n\tmov r1, #0\n\tvmov s17, r1\n\tvmov s18, r1\n"
      "1:\n\tvmov lr, r4, s14, s15\n\tvmov r0, r1, s17, s18\n\tvmov r2, r3, s17, s18\n\tbx r4\n\t.p2align 2\n"
      "2:\n\t" GROUP GROUP GROUP GROUP GROUP GROUP GROUP GROUP
      "vmov r4, s16\n\tcmp lr, r4\n\tbne 2b\n\t"
      "vmov s0, s1, r1, r2\n\tvmov s2, s3, r3, r0\n\tvmov r0, s13\n\tldm r0, {r1, r2, r3, r4}\n\t"
      "vcvt.f32.s32 s0, s0, #8\n\tvcvt.f32.s32 s1, s1, #8\n\tvcvt.f32.s32 s2, s2, #8\n\tvcvt.f32.s32 s3, s3, #8\n\t"
      "vldmia r1!, {s4-s7}\n\tvmul.f32 s4, s4, s12\n\tvmul.f32 s5, s5, s12\n\tvmul.f32 s6, s6, s12\n\tvmul.f32 s7, s7, s12\n\t"
      "vldmia r2!, {s8-s11}\n\tvfma.f32 s8, s0, s4\n\tvfma.f32 s9, s1, s5\n\tvfma.f32 s10, s2, s6\n\tvfma.f32 s11, s3, s7\n\t"
      "vstmia r3!, {s8-s11}\n\tsubs r4, r4, #1\n\tstm r0, {r1, r2, r3, r4}\n\tbne 1b\n\t"
      "str r12, [r0, #16]\n\tldr r7, [r0, #36]"
      : "+r"(at)
      :
      : "cc", "memory", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r11", "r12", "lr", "s0", "s1", "s2", "s3", "s4",
        "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15", "s16", "s17", "s18");
}
#undef FOUR
#undef EIGHT
#undef GROUP
#undef GROUP_CODE

RNNPACK_INLINE void set_factors(Columns *columns, const uint32_t *factors, size_t groups) {
  columns->factors = factors;
  columns->factors_end = factors + groups * (kGroup / 2);
  columns->skipped = (8 - groups % 8) % 8;
}

// The same for more k than 24 bits hold the sums of: whole sums of some of them, exact as floats, become one of all.
RNNPACK_NOINLINE void run_deep_columns(Columns *columns, size_t groups) {
  static const float kOnes[kUnits] = {1.0f, 1.0f, 1.0f, 1.0f}, kZeros[kUnits] = {};
  const uint8_t *panel = columns->panel;
  for (; columns->count != 0; --columns->count, columns->scales += kUnits, columns->start += kUnits, columns->out += kUnits) {
    int32_t sums[kUnits] = {};
    for (size_t done = 0; done < groups; done += kMostGroups) {
      const size_t some = groups - done < kMostGroups ? groups - done : kMostGroups;
      float part[kUnits];
      Columns one = {kOnes, kZeros, part, 1, panel, nullptr, nullptr, 0, 1.0f, 0, 1, 0};
      set_factors(&one, columns->factors + done * (kGroup / 2), some);
      run_columns(&one);
      panel += some * kGroupBytes;
      for (size_t n = 0; n < kUnits; ++n) sums[n] += static_cast<int32_t>(part[n]);
    }
    for (size_t n = 0; n < kUnits; ++n)
      columns->out[n] = __builtin_fmaf(static_cast<float>(sums[n]), columns->scales[n] * columns->step, columns->start[n]);
  }
  columns->panel = panel;
}

struct Bytes {
  using Columns = dsp_apart::Columns;
  static constexpr size_t kGroup = dsp_apart::kGroup;
  static float quantise(const GemmArgs &g, const float *a) { return quantise_smlad(g, a, static_cast<uint32_t *>(g.scratch)); }
  static RNNPACK_NOINLINE void run(const GemmArgs &g, Columns *columns) {
    const size_t groups = (size_t{g.w.k} + kGroup - 1) / kGroup;
    set_factors(columns, static_cast<const uint32_t *>(g.scratch), groups);
    const size_t count = columns->count;
    for (size_t t = 0; t < columns->tiles; ++t, columns->count = count) {
      if (groups <= kMostGroups) {
        run_columns(columns);
      } else {
        run_deep_columns(columns, groups);
      }
      columns->start = offset_bytes(columns->start, columns->skip);
      columns->out = offset_bytes(columns->out, columns->skip);
    }
  }
};

}  // namespace
}  // namespace rnnp::dsp_apart

// The columns come before the body that uses them.
#include "kernels/gemm_apart_body.h"

namespace rnnp {

#define RNNPACK_IN_gemm_smlad_dsp , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) dsp_apart::gemm_apart_run<nr>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif  // RNNPACK_HAVE_DSP
