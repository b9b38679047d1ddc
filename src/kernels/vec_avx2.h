// vec_avx2.h -- the vector words of the kernel bodies in AVX2 with FMA: 8 floats, 16 registers.
// Room: kernels; included only by *_avx2.cpp. Every word is a few instructions and gives the bits of its scalar formula.
// Contract: docs/ADDING_AN_ISA.md lists the words and what each must do with NaN.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_VEC_AVX2_H_
#define RNNPACK_KERNELS_VEC_AVX2_H_

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/eight_floats_x86.h"
#include "kernels/inlining.h"

namespace rnnp::RNNPACK_SET {
namespace {

struct Vec : EightFloats {
  using Half = Vec;  // no half is cheaper
  using M = __m256;
  static constexpr int kRegisters = 16;
  static constexpr bool kFma = true;
  static constexpr bool kLanes = false;  // a multiply-add cannot take its factor from a lane
  static constexpr bool kWalks = false;
  static constexpr bool kColumns = true;

  static RNNPACK_INLINE F broadcast(const float *p) { return _mm256_broadcast_ss(p); }
  static RNNPACK_INLINE __m256i first(size_t n) {
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), lanes);
  }
  static RNNPACK_INLINE F load_first(const float *p, size_t n) { return _mm256_maskload_ps(p, first(n)); }
  static RNNPACK_INLINE void store_first(float *p, F x, size_t n) { _mm256_maskstore_ps(p, first(n), x); }

  static RNNPACK_INLINE void load_columns(const float *p, size_t row_bytes, F (&columns)[4]) {
    const char *at = reinterpret_cast<const char *>(p);
    F rows[4];
    RNNPACK_UNROLL
    for (int m = 0; m < 4; ++m, at += row_bytes)
      rows[m] = _mm256_insertf128_ps(_mm256_castps128_ps256(four(at)), four(at + 4 * row_bytes), 1);
    const F a = _mm256_unpacklo_ps(rows[0], rows[1]), b = _mm256_unpacklo_ps(rows[2], rows[3]);
    const F c = _mm256_unpackhi_ps(rows[0], rows[1]), d = _mm256_unpackhi_ps(rows[2], rows[3]);
    columns[0] = _mm256_shuffle_ps(a, b, 0x44);
    columns[1] = _mm256_shuffle_ps(a, b, 0xee);
    columns[2] = _mm256_shuffle_ps(c, d, 0x44);
    columns[3] = _mm256_shuffle_ps(c, d, 0xee);
  }
  static RNNPACK_INLINE void zip(F a, F b, F *low, F *high) {
    const F first = _mm256_unpacklo_ps(a, b), second = _mm256_unpackhi_ps(a, b);
    *low = _mm256_permute2f128_ps(first, second, 0x20);
    *high = _mm256_permute2f128_ps(first, second, 0x31);
  }
  static RNNPACK_INLINE void unzip(F a, F b, F *even, F *odd) {
    const __m256d first = _mm256_castps_pd(_mm256_shuffle_ps(a, b, 0x88)), second = _mm256_castps_pd(_mm256_shuffle_ps(a, b, 0xdd));
    *even = _mm256_castpd_ps(_mm256_permute4x64_pd(first, 0xd8));
    *odd = _mm256_castpd_ps(_mm256_permute4x64_pd(second, 0xd8));
  }
  // Three columns of rows that lie side by side; element i of column n is number 3 i + n.
  static RNNPACK_INLINE void load_threes(const float *p, F (&columns)[4]) {
    const F a = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p)), _mm_loadu_ps(p + 12), 1);
    const F b = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p + 4)), _mm_loadu_ps(p + 16), 1);
    const F c = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p + 8)), _mm_loadu_ps(p + 20), 1);
    const F bc = _mm256_shuffle_ps(b, c, 0x9e), ab = _mm256_shuffle_ps(a, b, 0x49);
    columns[0] = _mm256_shuffle_ps(a, bc, 0x8c);
    columns[1] = _mm256_shuffle_ps(ab, bc, 0xd8);
    columns[2] = _mm256_shuffle_ps(ab, c, 0xcd);
  }
  static RNNPACK_INLINE void store_threes(float *p, const F (&columns)[3]) {
    const F xy = _mm256_shuffle_ps(columns[0], columns[1], 0x88), yz = _mm256_shuffle_ps(columns[1], columns[2], 0xdd);
    const F zx = _mm256_shuffle_ps(columns[2], columns[0], 0xd8);
    const F a = _mm256_shuffle_ps(xy, zx, 0x88), b = _mm256_shuffle_ps(yz, xy, 0xd8), c = _mm256_shuffle_ps(zx, yz, 0xdd);
    _mm_storeu_ps(p, _mm256_castps256_ps128(a));
    _mm_storeu_ps(p + 4, _mm256_castps256_ps128(b));
    _mm_storeu_ps(p + 8, _mm256_castps256_ps128(c));
    _mm_storeu_ps(p + 12, _mm256_extractf128_ps(a, 1));
    _mm_storeu_ps(p + 16, _mm256_extractf128_ps(b, 1));
    _mm_storeu_ps(p + 20, _mm256_extractf128_ps(c, 1));
  }
  static RNNPACK_INLINE __m128 four(const char *p) {
    return _mm_loadu_ps(static_cast<const float *>(static_cast<const void *>(p)));
  }

  // Numbers of low precision, as they lie in panels (panel_types.h).
  static RNNPACK_INLINE F load_f16(const uint8_t *p) {
    return _mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i *>(static_cast<const void *>(p))));
  }
  static RNNPACK_INLINE void load_bf16(const uint8_t *p, F *even, F *odd) {
    const __m256i pairs = _mm256_loadu_si256(static_cast<const __m256i *>(static_cast<const void *>(p)));
    *even = _mm256_castsi256_ps(_mm256_slli_epi32(pairs, 16));
    *odd = _mm256_castsi256_ps(_mm256_and_si256(pairs, _mm256_set1_epi32(INT32_MIN >> 15)));
  }

  static RNNPACK_INLINE float sum(F a) {
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
  }
  static RNNPACK_INLINE F sqrt(F a) { return _mm256_sqrt_ps(a); }
  static RNNPACK_INLINE F floor(F a) { return _mm256_floor_ps(a); }
  static RNNPACK_INLINE F ceil(F a) { return _mm256_ceil_ps(a); }
  static RNNPACK_INLINE F neg(F a) { return _mm256_xor_ps(a, set1(-0.0f)); }
  static RNNPACK_INLINE F copysign(F size, F sign) {
    return _mm256_or_ps(_mm256_and_ps(set1(-0.0f), sign), _mm256_andnot_ps(set1(-0.0f), size));
  }

  static RNNPACK_INLINE M lt(F a, F b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }
  static RNNPACK_INLINE M ge(F a, F b) { return _mm256_cmp_ps(a, b, _CMP_GE_OQ); }
  static RNNPACK_INLINE M gt(F a, F b) { return _mm256_cmp_ps(a, b, _CMP_GT_OQ); }
  static RNNPACK_INLINE M is_nan(F a) { return _mm256_cmp_ps(a, a, _CMP_UNORD_Q); }
  static RNNPACK_INLINE F select(M m, F yes, F no) { return _mm256_blendv_ps(no, yes, m); }

  // a = m * 2^e with m in [sqrt(1/2), sqrt(2)), a normal and positive.
  static RNNPACK_INLINE void split(F a, F *m, F *e) {
    const __m256i bits = _mm256_sub_epi32(_mm256_castps_si256(a), _mm256_set1_epi32(0x3f3504f3));
    *e = _mm256_cvtepi32_ps(_mm256_srai_epi32(bits, 23));
    *m =
        _mm256_castsi256_ps(_mm256_add_epi32(_mm256_and_si256(bits, _mm256_set1_epi32(0x007fffff)), _mm256_set1_epi32(0x3f3504f3)));
  }
};

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_VEC_AVX2_H_
