// gemm_i4_neondot.cpp -- the gemm rows of int4 panels for NEON with dot products: four products to a lane at once.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_NEONDOT
#define RNNPACK_SET neondot
#include "kernels/kernel_rows.h"
#include "kernels/nibble_words_neon.h"

namespace rnnp::neondot {
namespace {

struct GroupDot : NibbleWords {
  struct Partial {
    int32x4_t sum;
    RNNPACK_INLINE void clear() { sum = vdupq_n_s32(0); }
    RNNPACK_INLINE void add(int8x16_t weights, int8x16_t factor) { sum = vdotq_s32(sum, weights, factor); }
    RNNPACK_INLINE int32x4_t added_to(int32x4_t other) const { return vaddq_s32(other, sum); }
  };
};

}  // namespace
}  // namespace rnnp::neondot

// The words come before the body that uses them.
#include "kernels/gemm_i4_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_gemm_i4_neondot , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) neondot::gemm_group_run<nr>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif  // RNNPACK_HAVE_NEONDOT
