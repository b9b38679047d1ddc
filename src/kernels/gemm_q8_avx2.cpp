// gemm_q8_avx2.cpp -- the gemm rows of int8 panels with a scale for each group of k, for AVX2.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_AVX2
#define RNNPACK_SET avx2_q8
#include "kernels/byte_group_words_avx2.h"
#include "kernels/kernel_rows.h"

namespace rnnp::avx2_q8 {
namespace {

struct GroupDot : ByteGroupWords {
  struct Partial {
    I sum;
    RNNPACK_INLINE void clear() { sum = _mm256_setzero_si256(); }
    // Spelt out: GCC 12 copies the sums before it adds to them, and has no registers left for that.
    RNNPACK_INLINE void add(I sizes, I factor) {
      const I quads = _mm256_madd_epi16(_mm256_maddubs_epi16(sizes, factor), _mm256_set1_epi16(1));
      __asm__("vpaddd %1, %0, %0" : "+x"(sum) : "x"(quads));
    }
    RNNPACK_INLINE I added_to(I other) const { return _mm256_add_epi32(other, sum); }
  };
};

}  // namespace
}  // namespace rnnp::avx2_q8

// The words come before the body that uses them.
#include "kernels/gemm_i4_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_gemm_q8_avx2 , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) avx2_q8::gemm_group_run<nr>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif  // RNNPACK_HAVE_AVX2
