// gemm_i4_avxvnni.cpp -- the gemm rows of int4 panels for AVX-VNNI: four products to a lane at once.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_AVXVNNI
#define RNNPACK_SET avxvnni
#include "kernels/kernel_rows.h"
#include "kernels/nibble_words_avx2.h"

namespace rnnp::avxvnni {
namespace {

struct GroupDot : NibbleWords {
  struct Partial {
    I sum;
    RNNPACK_INLINE void clear() { sum = _mm256_setzero_si256(); }
    // Spelt out: GCC 12 copies the sum before each intrinsic. {vex}: assemblers write the form of AVX-512 unless told.
    RNNPACK_INLINE void add(I weights, I factor) { __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(weights), "x"(factor)); }
    RNNPACK_INLINE I added_to(I other) const { return _mm256_add_epi32(other, sum); }
  };
};

}  // namespace
}  // namespace rnnp::avxvnni

// The words come before the body that uses them.
#include "kernels/gemm_i4_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_gemm_i4_avxvnni , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) avxvnni::gemm_group_run<nr>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif  // RNNPACK_HAVE_AVXVNNI
