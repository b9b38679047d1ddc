// gemm_blocks_avx2.cpp -- the gemm rows of sparse panels for AVX2.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_AVX2
#include "kernels/bytes_avx2.h"
#include "kernels/kernel_rows.h"

namespace rnnp {
namespace {

// A lane of 128 bits is four units; in it, four k of the row.
struct Quads {
  static constexpr int kMostRows = 2;

  static RNNPACK_INLINE __m128 quad(const float *row, uint16_t at) { return _mm_loadu_ps(row + size_t{at} * 4); }
  template <int kStrips>
  static RNNPACK_INLINE __m256 factor(const float *row, const uint16_t *at) {
    return _mm256_set_m128(quad(row, at[kStrips - 1]), quad(row, at[0]));
  }
  template <int kK>
  static RNNPACK_INLINE __m256 lane(__m256 factor) {
    return _mm256_permute_ps(factor, kK * 0x55);
  }
};

// Bytes of rows are kept 127 too large, from 0 to 254: the instruction wants them without a sign.
struct Words : Bytes {
  static constexpr int kZero = 127, kMostRows = 1;

  static RNNPACK_INLINE I zero() { return _mm256_setzero_si256(); }
  static RNNPACK_INLINE I add(I a, I b) { return _mm256_add_epi32(a, b); }
  static RNNPACK_INLINE __m128i four(const uint8_t *row, uint16_t at) {
    int32_t word;
    __builtin_memcpy(&word, row + size_t{at} * 4, sizeof word);
    return _mm_set1_epi32(word);
  }
  template <int kStrips>
  static RNNPACK_INLINE I factor(const uint8_t *row, const uint16_t *at) {
    return _mm256_set_m128i(four(row, at[kStrips - 1]), four(row, at[0]));
  }
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

#include "kernels/byte_entries_body.h"
#include "kernels/float_entries_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_ENTRIES_kF32 FloatEntries
#define RNNPACK_ENTRIES_kI8 ByteEntries
#define RNNPACK_IN_gemm_blocks_avx2 , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) gemm_blocks_run<RNNPACK_ENTRIES_##dtype>
#include "kernels/kernel_objects.inc"
#undef RNNPACK_IN_gemm_blocks_avx2

}  // namespace rnnp

#endif  // RNNPACK_HAVE_AVX2
