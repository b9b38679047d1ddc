// byte_sums_avx2.h -- sums of products of bytes, eight units to a vector: what AVX2 and AVX-VNNI share. Room: kernels; included by
// byte_dot_<isa>.h. Contract: docs/KERNELS.md, "Int8". SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_BYTE_SUMS_AVX2_H_
#define RNNPACK_KERNELS_BYTE_SUMS_AVX2_H_

#include "kernels/bytes_avx2.h"

namespace rnnp::RNNPACK_SET {
namespace {

// Bytes of rows are kept 127 too large, from 0 to 254: the instructions want them without a sign.
struct ByteSums : Bytes {
  static constexpr int kZero = 127;

  static RNNPACK_INLINE I zero() { return _mm256_setzero_si256(); }
  static RNNPACK_INLINE I add(I a, I b) { return _mm256_add_epi32(a, b); }
  // What the sum of a unit begins with, for its bytes being 127 too large.
  static RNNPACK_INLINE I start(const int32_t *unit_sums) {
    const I units = _mm256_loadu_si256(at(unit_sums));
    return _mm256_sub_epi32(units, _mm256_slli_epi32(units, 7));
  }
  static RNNPACK_INLINE __m256 floats(I sum) { return _mm256_cvtepi32_ps(sum); }
  static RNNPACK_INLINE __m256 to_float(I sum, const int32_t *unit_sums) { return floats(add(sum, start(unit_sums))); }
};

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_BYTE_SUMS_AVX2_H_
