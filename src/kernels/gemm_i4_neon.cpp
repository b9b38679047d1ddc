// gemm_i4_neon.cpp -- the gemm rows of int4 panels for NEON without dot products. Eight products of at most 15 times 127 are added
// in 16 bits before they are widened. Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows
// only: no dispatch, no initialisers. Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#if defined(RNNPACK_HAVE_NEON) && defined(__aarch64__)
#define RNNPACK_SET neon
#include "kernels/kernel_rows.h"
#include "kernels/nibble_words_neon.h"

namespace rnnp::neon {
namespace {

struct GroupDot : NibbleWords {
  struct Partial {
    int16x8_t low, high;  // four products of a unit each
    RNNPACK_INLINE void clear() { low = high = vdupq_n_s16(0); }
    RNNPACK_INLINE void add(int8x16_t weights, int8x16_t factor) {
      low = vmlal_s8(low, vget_low_s8(weights), vget_low_s8(factor));
      high = vmlal_high_s8(high, weights, factor);
    }
    RNNPACK_INLINE int32x4_t added_to(int32x4_t other) const {
      return vaddq_s32(other, vpaddq_s32(vpaddlq_s16(low), vpaddlq_s16(high)));
    }
  };
};

}  // namespace
}  // namespace rnnp::neon

// The words come before the body that uses them.
#include "kernels/gemm_i4_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_gemm_i4_neon , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) neon::gemm_group_run<nr>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif
