// wasm_simd128.h -- simd128's words in SSE4.1, for bindings/overhead.py: the kernels of rnnpack.wasm as machine code of this CPU,
// of the same 128 bits and without fused multiply-adds, to compare with what an engine makes of them. Words whose rare cases differ
// (a shift beyond the width, a conversion out of range) are not for other use. SPDX-License-Identifier: Apache-2.0
#pragma once
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#define WORD static inline __attribute__((always_inline, unused))
typedef __m128 v128_t;
typedef __m128i v128_ints;

WORD v128_ints ints(v128_t a) {
  return _mm_castps_si128(a);
}
WORD v128_t floats(v128_ints a) {
  return _mm_castsi128_ps(a);
}

WORD v128_t wasm_v128_load(const void *p) {
  return _mm_loadu_ps((const float *)p);
}
WORD void wasm_v128_store(void *p, v128_t a) {
  _mm_storeu_ps((float *)p, a);
}
WORD v128_t wasm_v128_load32_splat(const void *p) {
  return _mm_set1_ps(*(const float *)p);
}
WORD v128_t wasm_v128_load32_zero(const void *p) {
  return _mm_load_ss((const float *)p);
}
#define wasm_v128_load32_lane(p, a, lane) floats(_mm_insert_epi32(ints(a), *(const int *)(p), lane))
#define wasm_v128_store32_lane(p, a, lane) (*(int *)(p) = _mm_extract_epi32(ints(a), lane))
#define wasm_v128_store64_lane(p, a, lane) (*(long long *)(p) = _mm_extract_epi64(ints(a), lane))
WORD v128_t wasm_i32x4_load16x4(const void *p) {
  return floats(_mm_cvtepi16_epi32(_mm_loadl_epi64((const __m128i *)p)));
}

WORD v128_t wasm_v128_and(v128_t a, v128_t b) {
  return _mm_and_ps(a, b);
}
WORD v128_t wasm_v128_or(v128_t a, v128_t b) {
  return _mm_or_ps(a, b);
}
WORD v128_t wasm_v128_andnot(v128_t a, v128_t b) {
  return _mm_andnot_ps(b, a);
}
WORD v128_t wasm_v128_bitselect(v128_t yes, v128_t no, v128_t m) {
  return _mm_or_ps(_mm_and_ps(m, yes), _mm_andnot_ps(m, no));
}

WORD v128_t wasm_f32x4_splat(float x) {
  return _mm_set1_ps(x);
}
WORD v128_t wasm_f32x4_add(v128_t a, v128_t b) {
  return _mm_add_ps(a, b);
}
WORD v128_t wasm_f32x4_sub(v128_t a, v128_t b) {
  return _mm_sub_ps(a, b);
}
WORD v128_t wasm_f32x4_mul(v128_t a, v128_t b) {
  return _mm_mul_ps(a, b);
}
WORD v128_t wasm_f32x4_div(v128_t a, v128_t b) {
  return _mm_div_ps(a, b);
}
WORD v128_t wasm_f32x4_sqrt(v128_t a) {
  return _mm_sqrt_ps(a);
}
WORD v128_t wasm_f32x4_pmin(v128_t a, v128_t b) {
  return _mm_min_ps(b, a);
}
WORD v128_t wasm_f32x4_pmax(v128_t a, v128_t b) {
  return _mm_max_ps(b, a);
}
WORD v128_t wasm_f32x4_floor(v128_t a) {
  return _mm_floor_ps(a);
}
WORD v128_t wasm_f32x4_ceil(v128_t a) {
  return _mm_ceil_ps(a);
}
WORD v128_t wasm_f32x4_nearest(v128_t a) {
  return _mm_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
WORD v128_t wasm_f32x4_neg(v128_t a) {
  return _mm_xor_ps(a, _mm_set1_ps(-0.0f));
}
WORD v128_t wasm_f32x4_abs(v128_t a) {
  return _mm_andnot_ps(_mm_set1_ps(-0.0f), a);
}
WORD v128_t wasm_f32x4_lt(v128_t a, v128_t b) {
  return _mm_cmplt_ps(a, b);
}
WORD v128_t wasm_f32x4_gt(v128_t a, v128_t b) {
  return _mm_cmpgt_ps(a, b);
}
WORD v128_t wasm_f32x4_ge(v128_t a, v128_t b) {
  return _mm_cmpge_ps(a, b);
}
WORD v128_t wasm_f32x4_ne(v128_t a, v128_t b) {
  return _mm_cmpneq_ps(a, b);
}
WORD v128_t wasm_f32x4_convert_i32x4(v128_t a) {
  return _mm_cvtepi32_ps(ints(a));
}
WORD v128_t wasm_i32x4_trunc_sat_f32x4(v128_t a) {
  return floats(_mm_cvttps_epi32(a));
}

WORD v128_t wasm_i32x4_splat(int32_t x) {
  return floats(_mm_set1_epi32(x));
}
WORD v128_t wasm_i32x4_add(v128_t a, v128_t b) {
  return floats(_mm_add_epi32(ints(a), ints(b)));
}
WORD v128_t wasm_i32x4_sub(v128_t a, v128_t b) {
  return floats(_mm_sub_epi32(ints(a), ints(b)));
}
WORD v128_t wasm_i32x4_eq(v128_t a, v128_t b) {
  return floats(_mm_cmpeq_epi32(ints(a), ints(b)));
}
WORD v128_t wasm_i32x4_shl(v128_t a, uint32_t n) {
  return floats(_mm_slli_epi32(ints(a), (int)n));
}
WORD v128_t wasm_i32x4_shr(v128_t a, uint32_t n) {
  return floats(_mm_srai_epi32(ints(a), (int)n));
}
WORD v128_t wasm_i32x4_dot_i16x8(v128_t a, v128_t b) {
  return floats(_mm_madd_epi16(ints(a), ints(b)));
}
WORD v128_t wasm_i16x8_extend_low_i8x16(v128_t a) {
  return floats(_mm_cvtepi8_epi16(ints(a)));
}
WORD v128_t wasm_i16x8_extend_high_i8x16(v128_t a) {
  return floats(_mm_cvtepi8_epi16(_mm_srli_si128(ints(a), 8)));
}
WORD v128_t wasm_i16x8_narrow_i32x4(v128_t a, v128_t b) {
  return floats(_mm_packs_epi32(ints(a), ints(b)));
}
WORD v128_t wasm_i8x16_narrow_i16x8(v128_t a, v128_t b) {
  return floats(_mm_packs_epi16(ints(a), ints(b)));
}
WORD v128_t wasm_i8x16_splat(int8_t x) {
  return floats(_mm_set1_epi8(x));
}
WORD v128_t wasm_i8x16_add(v128_t a, v128_t b) {
  return floats(_mm_add_epi8(ints(a), ints(b)));
}
#define wasm_i32x4_shuffle(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#undef WORD
// What is compiled is for another machine than this CPU.
#undef __x86_64__
