// nibble_words_avx2.h -- int4 weights, eight units to a vector: what AVX2 and AVX-VNNI share. Room: kernels; included by
// gemm_i4_<isa>.cpp. Contract: gemm_i4_body.h. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_NIBBLE_WORDS_AVX2_H_
#define RNNPACK_KERNELS_NIBBLE_WORDS_AVX2_H_

#include "kernels/bytes_avx2.h"
#include "kernels/kernels.h"

namespace rnnp::RNNPACK_SET {
namespace {

// The instructions want one side without a sign: the weights, which are stored so.
struct NibbleWords : Bytes {
  static constexpr int kMostRows = 2, kMostVectors = 8;
  static constexpr int32_t kExcess = 8;
  static constexpr size_t kStepK = 8;

  static size_t tile_width(const GemmArgs &g) { return size_t{g.w.gates} * 16; }
  static RNNPACK_INLINE I minus(int32_t v) { return _mm256_set1_epi32(-v); }
  static RNNPACK_INLINE __m256 to_float(I sum) { return _mm256_cvtepi32_ps(sum); }

  struct Weights {
    I low, high;
    RNNPACK_INLINE explicit Weights(const uint8_t *p) {
      const I mask = _mm256_set1_epi8(15), w = _mm256_loadu_si256(at(p));
      low = _mm256_and_si256(w, mask);
      high = _mm256_and_si256(_mm256_srli_epi16(w, 4), mask);
    }
  };

  template <class Partial>
  static RNNPACK_INLINE void add_step(Partial *part, const Weights &w, const uint8_t *a) {
    part->add(w.low, broadcast(a));
    part->add(w.high, broadcast(a + 4));
  }
};

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_NIBBLE_WORDS_AVX2_H_
