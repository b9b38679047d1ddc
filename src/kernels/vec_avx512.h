// vec_avx512.h -- the vector words of the kernel bodies in AVX-512: 16 floats, 32 registers.
// Room: kernels; included only by *_avx512.cpp. Every word is one or two instructions and gives the bits of its scalar formula.
// Contract: docs/ADDING_AN_ISA.md lists the words and what each must do with NaN.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_VEC_AVX512_H_
#define RNNPACK_KERNELS_VEC_AVX512_H_

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/eight_floats_x86.h"
#include "kernels/inlining.h"

namespace rnnp::RNNPACK_SET {
namespace {

// What a vector of eight units needs: a whole one would be half empty, and some CPUs pass it in two halves.
struct HalfVec : EightFloats {
  static RNNPACK_INLINE F low(__m512 a) { return _mm512_maskz_extractf32x8_ps(0xff, a, 0); }
  static RNNPACK_INLINE __mmask8 first(size_t n) { return static_cast<__mmask8>((1u << n) - 1u); }
  static RNNPACK_INLINE F load_first(const float *p, size_t n) { return _mm256_maskz_loadu_ps(first(n), p); }
  static RNNPACK_INLINE void store_first(float *p, F x, size_t n) { _mm256_mask_storeu_ps(p, first(n), x); }
  static RNNPACK_INLINE F copysign(F size, F sign) {
    return _mm256_castsi256_ps(
        _mm256_ternarylogic_epi32(_mm256_set1_epi32(INT32_MIN), _mm256_castps_si256(sign), _mm256_castps_si256(size), 0xca));
  }
};

struct Vec {
  using F = __m512;
  using Half = HalfVec;
  using M = __mmask16;
  static constexpr int kWidth = 16;
  static constexpr int kRegisters = 32;
  static constexpr bool kFma = true;
  static constexpr bool kLanes = false;  // a multiply-add cannot take its factor from a lane
  static constexpr bool kWalks = false;
  static constexpr bool kColumns = true;
  // Words are asked for under a full mask: the plain forms read an undefined register in gcc's headers, which it warns of.
  static constexpr M kAll = 0xffff;

  static RNNPACK_INLINE F set1(float x) { return _mm512_set1_ps(x); }
  static RNNPACK_INLINE F broadcast(const float *p) { return _mm512_set1_ps(*p); }
  static RNNPACK_INLINE F load(const float *p) { return _mm512_loadu_ps(p); }
  static RNNPACK_INLINE void store(float *p, F x) { _mm512_storeu_ps(p, x); }
  static RNNPACK_INLINE M first(size_t n) { return static_cast<M>((1u << n) - 1u); }
  static RNNPACK_INLINE F load_first(const float *p, size_t n) { return _mm512_maskz_loadu_ps(first(n), p); }
  static RNNPACK_INLINE void store_first(float *p, F x, size_t n) { _mm512_mask_storeu_ps(p, first(n), x); }

  static RNNPACK_INLINE void load_columns(const float *p, size_t row_bytes, F (&columns)[4]) {
    const char *at = reinterpret_cast<const char *>(p);
    F rows[4];
    RNNPACK_UNROLL
    for (int m = 0; m < 4; ++m, at += row_bytes) {
      F row = _mm512_castps128_ps512(four(at));
      row = _mm512_maskz_insertf32x4(kAll, row, four(at + 4 * row_bytes), 1);
      row = _mm512_maskz_insertf32x4(kAll, row, four(at + 8 * row_bytes), 2);
      rows[m] = _mm512_maskz_insertf32x4(kAll, row, four(at + 12 * row_bytes), 3);
    }
    const F a = _mm512_maskz_unpacklo_ps(kAll, rows[0], rows[1]), b = _mm512_maskz_unpacklo_ps(kAll, rows[2], rows[3]);
    const F c = _mm512_maskz_unpackhi_ps(kAll, rows[0], rows[1]), d = _mm512_maskz_unpackhi_ps(kAll, rows[2], rows[3]);
    columns[0] = _mm512_maskz_shuffle_ps(kAll, a, b, 0x44);
    columns[1] = _mm512_maskz_shuffle_ps(kAll, a, b, 0xee);
    columns[2] = _mm512_maskz_shuffle_ps(kAll, c, d, 0x44);
    columns[3] = _mm512_maskz_shuffle_ps(kAll, c, d, 0xee);
  }
  static RNNPACK_INLINE void zip(F a, F b, F *low, F *high) {
    const __m512i pairs = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    *low = _mm512_maskz_permutex2var_ps(kAll, a, pairs, b);
    *high = _mm512_maskz_permutex2var_ps(kAll, a, _mm512_add_epi32(pairs, _mm512_set1_epi32(8)), b);
  }
  static RNNPACK_INLINE void unzip(F a, F b, F *even, F *odd) {
    const __m512i evens = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    *even = _mm512_maskz_permutex2var_ps(kAll, a, evens, b);
    *odd = _mm512_maskz_permutex2var_ps(kAll, a, _mm512_add_epi32(evens, _mm512_set1_epi32(1)), b);
  }
  // Three columns of rows that lie side by side; element i of column n is number 3 i + n.
  static RNNPACK_INLINE void load_threes(const float *p, F (&columns)[4]) {
    const F a = load(p), b = load(p + 16), c = load(p + 32);
    const __m512i ab = _mm512_setr_epi32(0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 0, 0, 0, 0, 0);
    const __m512i c0 = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 17, 20, 23, 26, 29);
    const __m512i c1 = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 18, 21, 24, 27, 30);
    const __m512i c2 = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 19, 22, 25, 28, 31);
    const __m512i one = _mm512_set1_epi32(1);
    columns[0] = _mm512_maskz_permutex2var_ps(kAll, _mm512_maskz_permutex2var_ps(kAll, a, ab, b), c0, c);
    columns[1] = _mm512_maskz_permutex2var_ps(kAll, _mm512_maskz_permutex2var_ps(kAll, a, _mm512_add_epi32(ab, one), b), c1, c);
    columns[2] = _mm512_maskz_permutex2var_ps(
        kAll, _mm512_maskz_permutex2var_ps(kAll, a, _mm512_add_epi32(ab, _mm512_add_epi32(one, one)), b), c2, c);
  }
  static RNNPACK_INLINE void store_threes(float *p, const F (&columns)[3]) {
    const __m512i ab0 = _mm512_setr_epi32(0, 16, 0, 1, 17, 0, 2, 18, 0, 3, 19, 0, 4, 20, 0, 5);
    const __m512i ab1 = _mm512_setr_epi32(21, 0, 6, 22, 0, 7, 23, 0, 8, 24, 0, 9, 25, 0, 10, 26);
    const __m512i ab2 = _mm512_setr_epi32(0, 11, 27, 0, 12, 28, 0, 13, 29, 0, 14, 30, 0, 15, 31, 0);
    const __m512i c0 = _mm512_setr_epi32(0, 1, 16, 3, 4, 17, 6, 7, 18, 9, 10, 19, 12, 13, 20, 15);
    const __m512i c1 = _mm512_setr_epi32(0, 21, 2, 3, 22, 5, 6, 23, 8, 9, 24, 11, 12, 25, 14, 15);
    const __m512i c2 = _mm512_setr_epi32(26, 1, 2, 27, 4, 5, 28, 7, 8, 29, 10, 11, 30, 13, 14, 31);
    const F a = columns[0], b = columns[1], c = columns[2];
    store(p, _mm512_maskz_permutex2var_ps(kAll, _mm512_maskz_permutex2var_ps(kAll, a, ab0, b), c0, c));
    store(p + 16, _mm512_maskz_permutex2var_ps(kAll, _mm512_maskz_permutex2var_ps(kAll, a, ab1, b), c1, c));
    store(p + 32, _mm512_maskz_permutex2var_ps(kAll, _mm512_maskz_permutex2var_ps(kAll, a, ab2, b), c2, c));
  }
  static RNNPACK_INLINE __m128 four(const char *p) {
    return _mm_loadu_ps(static_cast<const float *>(static_cast<const void *>(p)));
  }

  // Numbers of low precision, as they lie in panels (panel_types.h).
  static RNNPACK_INLINE F load_f16(const uint8_t *p) {
    return _mm512_maskz_cvtph_ps(kAll, _mm256_loadu_si256(static_cast<const __m256i *>(static_cast<const void *>(p))));
  }
  static RNNPACK_INLINE void load_bf16(const uint8_t *p, F *even, F *odd) {
    const __m512i pairs = _mm512_loadu_si512(p);
    *even = _mm512_castsi512_ps(_mm512_maskz_slli_epi32(kAll, pairs, 16));
    *odd = _mm512_castsi512_ps(_mm512_and_si512(pairs, _mm512_set1_epi32(INT32_MIN >> 15)));
  }

  static RNNPACK_INLINE F add(F a, F b) { return _mm512_add_ps(a, b); }
  static RNNPACK_INLINE F sub(F a, F b) { return _mm512_sub_ps(a, b); }
  static RNNPACK_INLINE float sum(F a) {
    const __m256 eight = _mm256_add_ps(_mm512_maskz_extractf32x8_ps(0xff, a, 0), _mm512_maskz_extractf32x8_ps(0xff, a, 1));
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
  }
  static RNNPACK_INLINE F mul(F a, F b) { return _mm512_mul_ps(a, b); }
  static RNNPACK_INLINE F div(F a, F b) { return _mm512_div_ps(a, b); }
  static RNNPACK_INLINE F sqrt(F a) { return _mm512_maskz_sqrt_ps(kAll, a); }
  static RNNPACK_INLINE F fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
  static RNNPACK_INLINE F fnma(F a, F b, F c) { return _mm512_fnmadd_ps(a, b, c); }
  static RNNPACK_INLINE F min(F a, F b) { return _mm512_maskz_min_ps(kAll, a, b); }
  static RNNPACK_INLINE F max(F a, F b) { return _mm512_maskz_max_ps(kAll, a, b); }
  static RNNPACK_INLINE F floor(F a) { return _mm512_maskz_roundscale_ps(kAll, a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
  static RNNPACK_INLINE F ceil(F a) { return _mm512_maskz_roundscale_ps(kAll, a, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC); }
  static RNNPACK_INLINE F neg(F a) { return _mm512_xor_ps(a, set1(-0.0f)); }
  static RNNPACK_INLINE F abs(F a) { return _mm512_maskz_andnot_ps(kAll, set1(-0.0f), a); }
  static RNNPACK_INLINE F copysign(F size, F sign) {
    return _mm512_castsi512_ps(
        _mm512_ternarylogic_epi32(_mm512_set1_epi32(INT32_MIN), _mm512_castps_si512(sign), _mm512_castps_si512(size), 0xca));
  }

  static RNNPACK_INLINE M lt(F a, F b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
  static RNNPACK_INLINE M ge(F a, F b) { return _mm512_cmp_ps_mask(a, b, _CMP_GE_OQ); }
  static RNNPACK_INLINE M gt(F a, F b) { return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ); }
  static RNNPACK_INLINE M is_nan(F a) { return _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q); }
  static RNNPACK_INLINE F select(M m, F yes, F no) { return _mm512_mask_blend_ps(m, no, yes); }

  // The bits of a shifted left by 23: the low bits of a mantissa become an exponent.
  static RNNPACK_INLINE F bits_to_exponent(F a) {
    return _mm512_castsi512_ps(_mm512_maskz_slli_epi32(kAll, _mm512_castps_si512(a), 23));
  }
  // a = m * 2^e with m in [sqrt(1/2), sqrt(2)), a normal and positive.
  static RNNPACK_INLINE void split(F a, F *m, F *e) {
    const __m512i bits = _mm512_sub_epi32(_mm512_castps_si512(a), _mm512_set1_epi32(0x3f3504f3));
    *e = _mm512_maskz_cvtepi32_ps(kAll, _mm512_maskz_srai_epi32(kAll, bits, 23));
    *m =
        _mm512_castsi512_ps(_mm512_add_epi32(_mm512_and_si512(bits, _mm512_set1_epi32(0x007fffff)), _mm512_set1_epi32(0x3f3504f3)));
  }
};

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_VEC_AVX512_H_
