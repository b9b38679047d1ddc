// bytes_avx2.h -- rows of floats to bytes. Room: kernels; the words of byte_rows.h. Contract: docs/KERNELS.md, "Bytes".
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_BYTES_AVX2_H_
#define RNNPACK_KERNELS_BYTES_AVX2_H_

#include "kernels/vec_avx2.h"
// After the vectors, whose types it uses.
#include "kernels/byte_words_x86.h"

namespace rnnp {
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
  static RNNPACK_INLINE I bytes_of(__m256 v) {
    const __m256 cut = Vec::min(Vec::max(v, Vec::set1(-127.0f)), Vec::set1(127.0f));
    return _mm256_cvtps_epi32(_mm256_and_ps(cut, _mm256_cmp_ps(v, v, _CMP_ORD_Q)));
  }
  static RNNPACK_INLINE void quantise(const float *a, size_t k, float to_byte, int zero, uint8_t *to) {
    const __m256 scale = Vec::set1(to_byte);
    for (size_t i = 0; i < (k + 63) / 64 * 64; i += 8) {
      const I q = bytes_of(Vec::mul(load(a, k, i), scale));
      const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(q), _mm256_extracti128_si256(q, 1));
      _mm_storel_epi64(static_cast<__m128i *>(static_cast<void *>(to + i)),
                       _mm_add_epi8(_mm_packs_epi16(words, words), _mm_set1_epi8(static_cast<char>(zero))));
    }
  }
};

}  // namespace
}  // namespace rnnp
#endif  // RNNPACK_KERNELS_BYTES_AVX2_H_
