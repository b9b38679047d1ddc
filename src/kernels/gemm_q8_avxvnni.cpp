// gemm_q8_avxvnni.cpp -- the gemm rows of int8 panels with a scale for each group of k, for AVX-VNNI.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_AVXVNNI
#define RNNPACK_SET avxvnni_q8
#include "kernels/byte_group_words_avx2.h"
#include "kernels/kernel_rows.h"

namespace rnnp::avxvnni_q8 {
namespace {

struct GroupDot : ByteGroupWords {
  struct Partial {
    I sum;
    RNNPACK_INLINE void clear() { sum = _mm256_setzero_si256(); }
    // Spelt out: GCC 12 copies the sum before each intrinsic. {vex}: assemblers write the form of AVX-512 unless told.
    RNNPACK_INLINE void add(I sizes, I factor) { __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(sizes), "x"(factor)); }
    RNNPACK_INLINE I added_to(I other) const { return _mm256_add_epi32(other, sum); }
  };
};

}  // namespace
}  // namespace rnnp::avxvnni_q8

// The words come before the body that uses them.
#include "kernels/gemm_i4_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_gemm_q8_avxvnni , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) avxvnni_q8::gemm_group_run<nr>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif  // RNNPACK_HAVE_AVXVNNI
