// bytes_avx512.h -- rows of floats to bytes. Room: kernels; the words of byte_rows.h. Contract: docs/KERNELS.md, "Int8".
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_BYTES_AVX512_H_
#define RNNPACK_KERNELS_BYTES_AVX512_H_

#include "kernels/vec_avx512.h"
// After the vectors, whose types it uses.
#include "kernels/byte_words_x86.h"

namespace rnnp::RNNPACK_SET {
namespace {

struct Bytes {
  using I = __m512i;
  static constexpr __mmask16 kAll = 0xffff;

  static RNNPACK_INLINE I broadcast(const uint8_t *four) { return _mm512_set1_epi32(four_bytes(four)); }

  static RNNPACK_INLINE __mmask16 first(size_t n) { return static_cast<__mmask16>(n >= 16 ? 0xffffu : (1u << n) - 1u); }
  static RNNPACK_INLINE float largest(const float *a, size_t k) {
    __m512 most = _mm512_setzero_ps();
    for (size_t i = 0; i < k; i += 16) {
      const __m512 size = Vec::abs(_mm512_maskz_loadu_ps(first(k - i), a + i));
      const __mmask16 finite = Vec::lt(size, Vec::set1(__builtin_inff()));
      most = _mm512_mask_max_ps(most, finite, most, size);
    }
    float lanes[16], all = 0.0f;
    Vec::store(lanes, most);
    for (const float lane : lanes) all = lane > all ? lane : all;
    return all;
  }
  // NaN stays NaN to the last step: it becomes an integer whose last byte is 0.
  static RNNPACK_INLINE void put_bytes(__m512 v, I zeros, uint8_t *to) {
    const __m512 cut = Vec::min(Vec::set1(127.0f), Vec::max(Vec::set1(-127.0f), v));
    const __m128i bytes = _mm512_maskz_cvtepi32_epi8(kAll, _mm512_add_epi32(_mm512_maskz_cvtps_epi32(kAll, cut), zeros));
    _mm_storeu_si128(static_cast<__m128i *>(static_cast<void *>(to)), bytes);
  }
  static RNNPACK_INLINE void quantise(const float *a, size_t k, float to_byte, int zero, uint8_t *to) {
    const __m512 scale = Vec::set1(to_byte);
    const I zeros = _mm512_set1_epi32(zero);
    size_t i = 0;
    for (; i + 16 <= k; i += 16) put_bytes(Vec::mul(Vec::load(a + i), scale), zeros, to + i);
    for (; i < (k + 63) / 64 * 64; i += 16)
      put_bytes(Vec::mul(_mm512_maskz_loadu_ps(i < k ? first(k - i) : 0, a + i), scale), zeros, to + i);
  }
};

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_BYTES_AVX512_H_
