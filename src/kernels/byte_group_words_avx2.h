// byte_group_words_avx2.h -- int8 weights in groups of k, eight units to a vector: what AVX2 and AVX-VNNI share. Room: kernels;
// included by gemm_q8_<isa>.cpp. Contract: gemm_i4_body.h. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_BYTE_GROUP_WORDS_AVX2_H_
#define RNNPACK_KERNELS_BYTE_GROUP_WORDS_AVX2_H_

#include "kernels/bytes_avx2.h"
#include "kernels/kernels.h"

namespace rnnp::RNNPACK_SET {
namespace {

// The instructions want one side without a sign: the weights' sizes, their signs going to the factors. Two products of at most 128
// times 127 fit 16 bits.
struct ByteGroupWords : Bytes {
  static constexpr int kMostRows = 2, kMostVectors = 8;
  static constexpr int32_t kExcess = 0;
  static constexpr size_t kStepK = 4;

  static size_t tile_width(const GemmArgs &g) { return size_t{g.w.gates} * 16; }
  static RNNPACK_INLINE I minus(int32_t v) { return _mm256_set1_epi32(-v); }
  static RNNPACK_INLINE __m256 to_float(I sum) { return _mm256_cvtepi32_ps(sum); }

  struct Weights {
    I values, sizes;
    RNNPACK_INLINE explicit Weights(const uint8_t *p) : values(_mm256_loadu_si256(at(p))), sizes(_mm256_abs_epi8(values)) {}
  };

  template <class Partial>
  static RNNPACK_INLINE void add_step(Partial *part, const Weights &w, const uint8_t *a) {
    part->add(w.sizes, _mm256_sign_epi8(broadcast(a), w.values));
  }
};

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_BYTE_GROUP_WORDS_AVX2_H_
