// bytes_avx2.h -- rows of floats to bytes. Room: kernels; the words of byte_rows.h. Contract: docs/KERNELS.md, "Int8".
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_BYTES_AVX2_H_
#define RNNPACK_KERNELS_BYTES_AVX2_H_

#include "kernels/vec_avx2.h"
// After the vectors, whose types it uses.
#include "kernels/byte_words_x86.h"

namespace rnnp::RNNPACK_SET {
namespace {

struct Bytes {
  using I = __m256i;

  static RNNPACK_INLINE const I *at(const void *p) { return static_cast<const I *>(p); }
  static RNNPACK_INLINE I broadcast(const uint8_t *four) { return _mm256_set1_epi32(four_bytes(four)); }

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
  // NaN stays NaN to the last step: it becomes an integer whose last byte is 0.
  static RNNPACK_INLINE I bytes_of(__m256 v) {
    const __m256 cut = Vec::min(Vec::set1(127.0f), Vec::max(Vec::set1(-127.0f), v));
    return _mm256_and_si256(_mm256_cvtps_epi32(cut), _mm256_set1_epi32(255));
  }
  // Vectors are packed half by half; the words are put in order after.
  static RNNPACK_INLINE void quantise(const float *a, size_t k, float to_byte, int zero, uint8_t *to) {
    const __m256 scale = Vec::set1(to_byte);
    const I zeros = _mm256_set1_epi8(static_cast<char>(zero)), order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    size_t i = 0;
    for (; i + 32 <= k; i += 32) {
      const I q0 = bytes_of(Vec::mul(Vec::load(a + i), scale)), q1 = bytes_of(Vec::mul(Vec::load(a + i + 8), scale));
      const I q2 = bytes_of(Vec::mul(Vec::load(a + i + 16), scale)), q3 = bytes_of(Vec::mul(Vec::load(a + i + 24), scale));
      const I bytes = _mm256_packus_epi16(_mm256_packus_epi32(q0, q1), _mm256_packus_epi32(q2, q3));
      _mm256_storeu_si256(static_cast<I *>(static_cast<void *>(to + i)),
                          _mm256_add_epi8(_mm256_permutevar8x32_epi32(bytes, order), zeros));
    }
    for (; i < (k + 63) / 64 * 64; i += 8) {
      const I q = bytes_of(Vec::mul(load(a, k, i), scale));
      const __m128i words = _mm_packus_epi32(_mm256_castsi256_si128(q), _mm256_extracti128_si256(q, 1));
      _mm_storel_epi64(static_cast<__m128i *>(static_cast<void *>(to + i)),
                       _mm_add_epi8(_mm_packus_epi16(words, words), _mm256_castsi256_si128(zeros)));
    }
  }
};

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_BYTES_AVX2_H_
