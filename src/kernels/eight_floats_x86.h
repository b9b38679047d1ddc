// eight_floats_x86.h -- the vector words on eight floats that AVX2 and AVX-512 share. Room: kernels; included by vec_avx2.h and
// vec_avx512.h. Contract: docs/ADDING_AN_ISA.md. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_EIGHT_FLOATS_X86_H_
#define RNNPACK_KERNELS_EIGHT_FLOATS_X86_H_

#include <immintrin.h>

#include "kernels/inlining.h"

namespace rnnp::RNNPACK_SET {
namespace {

struct EightFloats {
  using F = __m256;
  static constexpr int kWidth = 8;

  static RNNPACK_INLINE F set1(float x) { return _mm256_set1_ps(x); }
  static RNNPACK_INLINE F load(const float *p) { return _mm256_loadu_ps(p); }
  static RNNPACK_INLINE void store(float *p, F x) { _mm256_storeu_ps(p, x); }
  static RNNPACK_INLINE F add(F a, F b) { return _mm256_add_ps(a, b); }
  static RNNPACK_INLINE F sub(F a, F b) { return _mm256_sub_ps(a, b); }
  static RNNPACK_INLINE F mul(F a, F b) { return _mm256_mul_ps(a, b); }
  static RNNPACK_INLINE F div(F a, F b) { return _mm256_div_ps(a, b); }
  static RNNPACK_INLINE F fma(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }
  static RNNPACK_INLINE F fnma(F a, F b, F c) { return _mm256_fnmadd_ps(a, b, c); }
  static RNNPACK_INLINE F min(F a, F b) { return _mm256_min_ps(a, b); }
  static RNNPACK_INLINE F max(F a, F b) { return _mm256_max_ps(a, b); }
  static RNNPACK_INLINE F abs(F a) { return _mm256_andnot_ps(set1(-0.0f), a); }
  // The bits of a shifted left by 23: the low bits of a mantissa become an exponent.
  static RNNPACK_INLINE F bits_to_exponent(F a) { return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(a), 23)); }
};

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_EIGHT_FLOATS_X86_H_
