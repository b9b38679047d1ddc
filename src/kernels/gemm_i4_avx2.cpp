// gemm_i4_avx2.cpp -- the gemm rows of int4 panels for AVX2. Eight sums of two products, of at most 15 times 127 each, fit 16 bits.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_AVX2
#include "kernels/bytes_avx2.h"
#include "kernels/kernel_rows.h"

namespace rnnp {
namespace {

// The instruction wants one side without a sign: the weights, which are stored so.
struct Nibble : Bytes {
  static constexpr int kMostRows = 2;

  static size_t tile_width(const GemmArgs &g) { return size_t{g.gates} * 16; }
  static RNNPACK_INLINE I minus(int32_t v) { return _mm256_set1_epi32(-v); }
  static RNNPACK_INLINE __m256 to_float(I sum) { return _mm256_cvtepi32_ps(sum); }

  struct Weights {
    I low, high;
    RNNPACK_INLINE explicit Weights(const uint8_t *p) {
      const I mask = _mm256_set1_epi8(15), w = _mm256_loadu_si256(at(p));
      low = _mm256_and_si256(w, mask);
      high = _mm256_and_si256(_mm256_srli_epi16(w, 4), mask);
    }
  };
  struct Partial {
    I sum;  // of 16 bits
    RNNPACK_INLINE void clear() { sum = _mm256_setzero_si256(); }
    RNNPACK_INLINE void add(I weights, I factor) { sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16(weights, factor)); }
    RNNPACK_INLINE I added_to(I other) const { return _mm256_add_epi32(other, _mm256_madd_epi16(sum, _mm256_set1_epi16(1))); }
  };
};

}  // namespace
}  // namespace rnnp

// The words come before the body that uses them.
#include "kernels/gemm_i4_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_gemm_i4_avx2 , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) gemm_i4_run<nr>
#include "kernels/kernel_objects.inc"
#undef RNNPACK_IN_gemm_i4_avx2

}  // namespace rnnp

#endif  // RNNPACK_HAVE_AVX2
