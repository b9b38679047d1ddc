// gemm_bsr_avx512.cpp -- the gemm rows of sparse panels for AVX-512.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_AVX512
#define RNNPACK_SET avx512
#include "kernels/kernel_rows.h"
#include "kernels/vec_avx512.h"

namespace rnnp::avx512 {
namespace {

// A lane of 128 bits is four units; in it, four k of the row.
struct Quads {
  static constexpr int kMostRows = 4;

  static RNNPACK_INLINE __m128 quad(const float *row, uint16_t at) { return _mm_loadu_ps(row + size_t{at} * 4); }
  static RNNPACK_INLINE __m512 halves(__m256 low, __m256 high) {
    return _mm512_maskz_insertf32x8(0xffff, _mm512_castps256_ps512(low), high, 1);
  }
  struct Factors {
    __m512 of[1];
  };
  template <int kStrips>
  static RNNPACK_INLINE Factors factors(const float *row, const uint16_t *at) {
    if constexpr (kStrips == 1) {
      return {{_mm512_maskz_broadcast_f32x4(0xffff, quad(row, at[0]))}};
    } else if constexpr (kStrips == 2) {
      const __m128 low = quad(row, at[0]), high = quad(row, at[1]);
      return {{halves(_mm256_set_m128(low, low), _mm256_set_m128(high, high))}};
    } else {
      return {{halves(_mm256_set_m128(quad(row, at[1]), quad(row, at[0])), _mm256_set_m128(quad(row, at[3]), quad(row, at[2])))}};
    }
  }
  template <int kK>
  static RNNPACK_INLINE __m512 lane(__m512 factor) {
    return _mm512_maskz_permute_ps(0xffff, factor, kK * 0x55);
  }
};

}  // namespace
}  // namespace rnnp::avx512

#include "kernels/float_entries_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_ENTRIES_kF32 avx512::FloatEntries<avx512::WholeFloats>
#define RNNPACK_ENTRIES_kBf16 avx512::FloatEntries<avx512::HalfFloats>
#define RNNPACK_IN_gemm_bsr_avx512 , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) avx512::gemm_bsr_run<RNNPACK_ENTRIES_##dtype>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif  // RNNPACK_HAVE_AVX512
