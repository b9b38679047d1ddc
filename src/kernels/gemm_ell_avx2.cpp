// gemm_ell_avx2.cpp -- the gemm rows of single weights with an index each for AVX2.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_AVX2
#define RNNPACK_SET avx2
#include "kernels/byte_sums_avx2.h"
#include "kernels/kernel_rows.h"

namespace rnnp::avx2 {
namespace {

// Bytes are gathered with the three behind them, which meet zeros.
struct Pairs : ByteSums {
  using Factor = I;
  struct Floats {
    __m256 of[2];
  };
  struct Factors {
    I of[2];
  };

  static RNNPACK_INLINE I places(const uint16_t *k) {
    return _mm256_cvtepu16_epi32(_mm_loadu_si128(static_cast<const __m128i *>(static_cast<const void *>(k))));
  }
  static RNNPACK_INLINE Floats gather_floats(const float *row, const uint16_t *k) {
    return {{_mm256_i32gather_ps(row, places(k), 4), _mm256_i32gather_ps(row, places(k + 8), 4)}};
  }
  static RNNPACK_INLINE Factors gather_bytes(const uint8_t *row, const uint16_t *k) {
    const int *first = static_cast<const int *>(static_cast<const void *>(row));
    return {{_mm256_i32gather_epi32(first, places(k), 1), _mm256_i32gather_epi32(first, places(k + 8), 1)}};
  }
  static RNNPACK_INLINE void add_product(I *sum, I factor, const uint8_t *weights) {
    const I w = _mm256_cvtepu8_epi32(_mm_loadl_epi64(static_cast<const __m128i *>(static_cast<const void *>(weights))));
    *sum = add(*sum, _mm256_madd_epi16(_mm256_maddubs_epi16(factor, w), _mm256_set1_epi16(1)));
  }
};

}  // namespace
}  // namespace rnnp::avx2

// The words come before the body that uses them.
#include "kernels/ell_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_PAIRS_kF32 avx2::FloatPairs
#define RNNPACK_PAIRS_kI8 avx2::BytePairs
#define RNNPACK_IN_gemm_ell_avx2 , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) avx2::gemm_ell_run<RNNPACK_PAIRS_##dtype>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif
