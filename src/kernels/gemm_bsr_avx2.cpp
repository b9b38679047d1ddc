// gemm_bsr_avx2.cpp -- the gemm rows of sparse panels for AVX2.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_AVX2
#define RNNPACK_SET avx2
#include "kernels/byte_dot_avx2.h"
// After the products.
#include "kernels/byte_factors_avx2.h"
#include "kernels/kernel_rows.h"

namespace rnnp::avx2 {
namespace {

// A lane of 128 bits is four units; in it, four k of the row.
struct Quads {
  static constexpr int kMostRows = 1;
  struct Factors {
    __m256 of[2];
  };

  static RNNPACK_INLINE __m128 quad(const float *row, uint16_t at) { return _mm_loadu_ps(row + size_t{at} * 4); }
  template <int kStrips>
  static RNNPACK_INLINE Factors factors(const float *row, const uint16_t *at) {
    if constexpr (kStrips == 4) {
      return {{_mm256_set_m128(quad(row, at[1]), quad(row, at[0])), _mm256_set_m128(quad(row, at[3]), quad(row, at[2]))}};
    } else {
      const __m128 low = quad(row, at[0]), high = quad(row, at[kStrips - 1]);
      return {{_mm256_set_m128(low, low), _mm256_set_m128(high, high)}};
    }
  }
  template <int kK>
  static RNNPACK_INLINE __m256 lane(__m256 factor) {
    return _mm256_permute_ps(factor, kK * 0x55);
  }
};

}  // namespace
}  // namespace rnnp::avx2

#include "kernels/byte_entries_body.h"
#include "kernels/float_entries_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_ENTRIES_kF32 avx2::FloatEntries<avx2::WholeFloats>
#define RNNPACK_ENTRIES_kBf16 avx2::FloatEntries<avx2::HalfFloats>
#define RNNPACK_ENTRIES_kI8 avx2::ByteEntries
#define RNNPACK_IN_gemm_bsr_avx2 , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) avx2::gemm_bsr_run<RNNPACK_ENTRIES_##dtype>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif  // RNNPACK_HAVE_AVX2
