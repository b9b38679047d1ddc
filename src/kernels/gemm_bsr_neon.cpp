// gemm_bsr_neon.cpp -- the gemm rows of sparse panels for NEON.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#if defined(RNNPACK_HAVE_NEON) && defined(__aarch64__)
#define RNNPACK_SET neon
#include "kernels/byte_dot_neon.h"
#include "kernels/kernel_rows.h"
// The products come before the words that use them.
#include "kernels/block_words_neon.h"

namespace rnnp::neon {
namespace {

// Four k of the row, of which a multiply-add takes one.
struct Quads {
  static constexpr int kMostRows = 1;
  struct Factors {
    float32x4_t of[4];
  };

  template <int kStrips>
  static RNNPACK_INLINE Factors factors(const float *row, const uint16_t *quad) {
    Factors f;
    RNNPACK_UNROLL
    for (int p = 0; p < 4; ++p) f.of[p] = vld1q_f32(row + size_t{quad[p * kStrips / 4]} * kBlockK);
    return f;
  }
  template <int kK>
  static RNNPACK_INLINE float32x4_t lane(float32x4_t factor) {
    return vdupq_laneq_f32(factor, kK);
  }
};

}  // namespace
}  // namespace rnnp::neon

#include "kernels/byte_entries_body.h"
#include "kernels/float_entries_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_ENTRIES_kF32 neon::FloatEntries<neon::WholeFloats>
#define RNNPACK_ENTRIES_kBf16 neon::FloatEntries<neon::HalfFloats>
#define RNNPACK_ENTRIES_kI8 neon::ByteEntries
#define RNNPACK_IN_gemm_bsr_neon , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) neon::gemm_bsr_run<RNNPACK_ENTRIES_##dtype>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif
