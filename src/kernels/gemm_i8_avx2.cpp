// gemm_i8_avx2.cpp -- the gemm rows of int8 panels for AVX2: products of bytes in pairs, which no packed weights make too large for
// 16 bits (docs/BLOB_FORMAT.md: two neighbours add up to 129 at most, times 254). Room: kernels; compiled with this instruction
// set's flags, so it holds kernels and their rows only: no dispatch, no initialisers. Contract: kernels.h; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_AVX2
#include "kernels/kernel_rows.h"
#include "kernels/vec_avx2.h"

namespace rnnp {
namespace {

// Bytes of rows are kept 127 too large, from 0 to 254: the instruction wants them without a sign.
struct Int {
  using I = __m256i;
  static constexpr int kMostRows = 2, kSums = 8, kGroups = 1;

  static RNNPACK_INLINE const I *at(const void *p) { return static_cast<const I *>(p); }
  static RNNPACK_INLINE I zero() { return _mm256_setzero_si256(); }
  static RNNPACK_INLINE I add(I a, I b) { return _mm256_add_epi32(a, b); }
  static RNNPACK_INLINE I broadcast(const uint8_t *four) {
    int32_t word;
    __builtin_memcpy(&word, four, sizeof word);
    return _mm256_set1_epi32(word);
  }
  static RNNPACK_INLINE void add_dot(I *sum, I factor, const uint8_t *weights) {
    const I pairs = _mm256_maddubs_epi16(factor, _mm256_loadu_si256(at(weights)));
    *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
  static RNNPACK_INLINE __m256 to_float(I sum, const int32_t *unit_sums) {
    const I units = _mm256_loadu_si256(at(unit_sums));
    return _mm256_cvtepi32_ps(_mm256_sub_epi32(sum, _mm256_sub_epi32(_mm256_slli_epi32(units, 7), units)));
  }

  static RNNPACK_INLINE __m256 load(const float *a, size_t k, size_t i) {
    if (i + 8 <= k) return Vec::load(a + i);
    return i < k ? Vec::load_first(a + i, k - i) : Vec::set1(0.0f);
  }
  static RNNPACK_INLINE float largest(const float *a, size_t k) {
    __m256 most = Vec::set1(0.0f);
    for (size_t i = 0; i < k; i += 8) {
      const __m256 size = Vec::abs(load(a, k, i));
      most = Vec::max(most, _mm256_and_ps(size, Vec::lt(size, Vec::set1(__builtin_inff()))));
    }
    float lanes[8], all = 0.0f;
    Vec::store(lanes, most);
    for (const float lane : lanes) all = lane > all ? lane : all;
    return all;
  }
  static RNNPACK_INLINE I bytes_of(__m256 v) {
    const __m256 cut = Vec::min(Vec::max(v, Vec::set1(-127.0f)), Vec::set1(127.0f));
    const I q = _mm256_cvtps_epi32(_mm256_and_ps(cut, _mm256_cmp_ps(v, v, _CMP_ORD_Q)));
    return _mm256_add_epi32(q, _mm256_set1_epi32(127));
  }
  static RNNPACK_INLINE void quantise(const float *a, size_t k, float to_byte, uint8_t *to) {
    const __m256 scale = Vec::set1(to_byte);
    for (size_t i = 0; i < (k + 63) / 64 * 64; i += 8) {
      const I q = bytes_of(Vec::mul(load(a, k, i), scale));
      const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(q), _mm256_extracti128_si256(q, 1));
      _mm_storel_epi64(static_cast<__m128i *>(static_cast<void *>(to + i)), _mm_packus_epi16(words, words));
    }
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
