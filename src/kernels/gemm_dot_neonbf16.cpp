// gemm_dot_neonbf16.cpp -- the gemm row of bf16 products by BFMLALB and BFMLALT, under gemm_dot_body.h: of panels as they lie the
// even and the odd k, widened while they are multiplied. Both are fused, round once and obey FPCR as FMLA does, FZ included (Arm's
// manual; BFDOT and BFMMLA are not and do not), so the bits are those of shifts and multiply-adds. Room: kernels; compiled with
// this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers. Contract: kernels.h; rows in
// kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_NEONBF16
#define RNNPACK_SET neonbf16
#include "kernels/kernel_rows.h"
#include "kernels/vec_neon.h"

namespace rnnp::neonbf16 {
namespace {

// A prepared row is bf16, k ascending.
struct Dot {
  using Weights = bfloat16x8_t;
  static constexpr size_t kPairs = 1, kBlockWords = kDotBlock / 2;

  template <bool kLast>
  static RNNPACK_INLINE Weights load(const uint8_t *at, size_t) {
    return vreinterpretq_bf16_u8(vld1q_u8(at));
  }
  // Of the two pairs that are loaded the first counts: scratch has room for floats.
  static RNNPACK_INLINE void add(const float *words, Weights w, Vec::F *even, Vec::F *odd) {
    const bfloat16x4_t x = vreinterpret_bf16_f32(vld1_f32(words));
    *even = vbfmlalbq_lane_f32(*even, w, x, 0);
    *odd = vbfmlaltq_lane_f32(*odd, w, x, 1);
  }

  // BFCVT rounds as bf16_rows.h where denormals are flushed, as the runtime has it.
  static RNNPACK_NOINLINE void round_row(const float *a, size_t k, float *to) {
    for (size_t i = 0; i < k; i += 4, to += 2) {
      const Vec::F x = k - i >= 4 ? Vec::load(a + i) : Vec::load_first(a + i, k - i);
      vst1_u8(reinterpret_cast<uint8_t *>(to), vreinterpret_u8_bf16(vcvt_bf16_f32(x)));
    }
  }
};

}  // namespace
}  // namespace rnnp::neonbf16

// The words come before the body that uses them.
#include "kernels/gemm_dot_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_gemm_dot_neonbf16 , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) neonbf16::gemm_dot_run
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif  // RNNPACK_HAVE_NEONBF16
