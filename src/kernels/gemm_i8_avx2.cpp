// gemm_i8_avx2.cpp -- the gemm rows of int8 panels for AVX2: products of bytes in pairs, which no packed weights make too large for
// 16 bits (docs/BLOB_FORMAT.md: two neighbours add up to 129 at most, times 254). Room: kernels; compiled with this instruction
// set's flags, so it holds kernels and their rows only: no dispatch, no initialisers. Contract: kernels.h; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_AVX2
#include "kernels/bytes_avx2.h"
#include "kernels/kernel_rows.h"

namespace rnnp {
namespace {

// Bytes of rows are kept 127 too large, from 0 to 254: the instruction wants them without a sign.
struct Int : Bytes {
  static constexpr int kZero = 127;
  static constexpr int kMostRows = 2, kSums = 8, kGroups = 1;

  static RNNPACK_INLINE I zero() { return _mm256_setzero_si256(); }
  static RNNPACK_INLINE I add(I a, I b) { return _mm256_add_epi32(a, b); }
  static RNNPACK_INLINE void add_dot(I *sum, I factor, const uint8_t *weights) {
    const I pairs = _mm256_maddubs_epi16(factor, _mm256_loadu_si256(at(weights)));
    *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
  static RNNPACK_INLINE __m256 to_float(I sum, const int32_t *unit_sums) {
    const I units = _mm256_loadu_si256(at(unit_sums));
    return _mm256_cvtepi32_ps(_mm256_sub_epi32(sum, _mm256_sub_epi32(_mm256_slli_epi32(units, 7), units)));
  }
};

}  // namespace
}  // namespace rnnp

// The words come before the body that uses them.
#include "kernels/gemm_i8_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_gemm_i8_avx2 , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) gemm_i8_run<nr>
#include "kernels/kernel_objects.inc"
#undef RNNPACK_IN_gemm_i8_avx2

}  // namespace rnnp

#endif  // RNNPACK_HAVE_AVX2
