// gemm_i8_mve.cpp -- the gemm rows of int8 panels for Helium (MVE): sixteen k of a unit, gathered as four words, to a sum in a core
// register. Room: kernels; compiled for a CPU with MVE, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_MVE
#define RNNPACK_SET mve
#include "kernels/kernel_rows.h"
#include "kernels/row_bytes_mve.h"
#include "kernels/vec_mve.h"

namespace rnnp::mve {
namespace {

struct Bytes {
  // Four units, whose words lie side by side, the next four k `stride` bytes on. The last turn may have fewer than four words.
  static RNNPACK_INLINE int32x4_t dot_gate(const uint8_t *a, uint32x4_t words, size_t groups, size_t four_groups) {
    int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    __asm__ volatile(
        "wlstp.32 lr, %[groups], 2f\n"
        "1:\n\tvldrw.u32 q1, [%[a]], #16\n\t"
        "vldrw.u32 q2, [%q[words]]\n\tvmladava.s8 %[s0], q2, q1\n\t"
        "vldrw.u32 q3, [%q[words], #4]\n\tvmladava.s8 %[s1], q3, q1\n\t"
        "vldrw.u32 q2, [%q[words], #8]\n\tvmladava.s8 %[s2], q2, q1\n\t"
        "vldrw.u32 q3, [%q[words], #12]\n\tvmladava.s8 %[s3], q3, q1\n\t"
        "vadd.i32 %q[words], %q[words], %[next]\n\tletp lr, 1b\n"
        "2:"
        : [s0] "+Te"(s0), [s1] "+Te"(s1), [s2] "+Te"(s2), [s3] "+Te"(s3), [a] "+r"(a), [words] "+w"(words)
        : [groups] "r"(groups), [next] "r"(four_groups)
        : "cc", "memory", "lr", "q1", "q2", "q3");
    return int32x4_t{s0, s1, s2, s3};
  }
  static RNNPACK_INLINE void dot(const uint8_t *a, const uint8_t *panel, size_t groups, size_t gates, int32_t *sums) {
    const uint32_t base = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(panel)), stride = static_cast<uint32_t>(gates * 16);
    uint32x4_t words = vmlaq_n_u32(vdupq_n_u32(base), vidupq_n_u32(0, 1), stride);
    RNNPACK_NO_UNROLL
    for (; gates != 0; --gates, sums += 4, words = vaddq_n_u32(words, 16)) vstrwq_s32(sums, dot_gate(a, words, groups, 4 * stride));
  }
  static RNNPACK_INLINE float32x4_t to_float(const int32_t *sums) { return vcvtq_f32_s32(vldrwq_s32(sums)); }

  static RNNPACK_INLINE float largest(const float *a, size_t k) {
    bool finite;
    return largest_mve(a, k, &finite);
  }
  // Zeros behind k up to a word's end.
  static RNNPACK_INLINE void quantise(const float *a, size_t k, float to_byte, int, uint8_t *to) {
    __builtin_memset(to + (k - 1) / 4 * 4, 0, 4);
    to_bytes_mve(a, k, to_byte, static_cast<int8_t *>(static_cast<void *>(to)), false);
  }
};

}  // namespace
}  // namespace rnnp::mve

// The words come before the body that uses them.
#include "kernels/gemm_i8_small_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_gemm_i8_mve , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) mve::gemm_i8_run<nr>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif  // RNNPACK_HAVE_MVE
