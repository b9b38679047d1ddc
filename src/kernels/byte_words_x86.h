// byte_words_x86.h -- words on bytes that AVX2 and AVX-512 share. Room: kernels; included after a vec_<isa>.h.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_BYTE_WORDS_X86_H_
#define RNNPACK_KERNELS_BYTE_WORDS_X86_H_

#include <stdint.h>

#include "kernels/inlining.h"

namespace rnnp::RNNPACK_SET {
namespace {

RNNPACK_INLINE int32_t four_bytes(const uint8_t *p) {
  int32_t word;
  __builtin_memcpy(&word, p, sizeof word);
  return word;
}

RNNPACK_INLINE int32_t sum_of_32_bytes(const uint8_t *p) {
  const __m256i bytes = _mm256_loadu_si256(static_cast<const __m256i *>(static_cast<const void *>(p)));
  const __m256i fours = _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_set1_epi8(1), bytes), _mm256_set1_epi16(1));
  const __m128i two = _mm_add_epi32(_mm256_castsi256_si128(fours), _mm256_extracti128_si256(fours, 1));
  const __m128i one = _mm_add_epi32(two, _mm_shuffle_epi32(two, 0x4e));
  return _mm_cvtsi128_si32(one) + _mm_extract_epi32(one, 1);
}

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_BYTE_WORDS_X86_H_
