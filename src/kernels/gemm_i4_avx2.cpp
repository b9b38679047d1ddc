// gemm_i4_avx2.cpp -- the gemm rows of int4 panels for AVX2. Eight sums of two products, of at most 15 times 127 each, fit 16 bits.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_AVX2
#define RNNPACK_SET avx2
#include "kernels/kernel_rows.h"
#include "kernels/nibble_words_avx2.h"

namespace rnnp::avx2 {
namespace {

struct GroupDot : NibbleWords {
  struct Partial {
    I sum;  // of 16 bits
    RNNPACK_INLINE void clear() { sum = _mm256_setzero_si256(); }
    // Spelt out: GCC 12 copies the sums before it adds to them, and has no registers left for that.
    RNNPACK_INLINE void add(I weights, I factor) {
      const I pairs = _mm256_maddubs_epi16(weights, factor);
      __asm__("vpaddw %1, %0, %0" : "+x"(sum) : "x"(pairs));
    }
    RNNPACK_INLINE I added_to(I other) const { return _mm256_add_epi32(other, _mm256_madd_epi16(sum, _mm256_set1_epi16(1))); }
  };
};

}  // namespace
}  // namespace rnnp::avx2

// The words come before the body that uses them.
#include "kernels/gemm_i4_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_gemm_i4_avx2 , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) avx2::gemm_group_run<nr>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif  // RNNPACK_HAVE_AVX2
