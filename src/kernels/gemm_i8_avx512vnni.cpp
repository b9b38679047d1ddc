// gemm_i8_avx512vnni.cpp -- the gemm rows of int8 panels for AVX-512 with VNNI: four products of bytes to a lane at once.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_AVX512VNNI
#include "kernels/kernel_rows.h"
#include "kernels/vec_avx512.h"

namespace rnnp {
namespace {

// Bytes of rows are kept 127 too large, from 0 to 254: the instruction wants them without a sign.
struct Int {
  using I = __m512i;
  static constexpr int kMostRows = 4, kSums = 8, kGroups = 1;
  static constexpr __mmask16 kAll = 0xffff;

  static RNNPACK_INLINE I zero() { return _mm512_setzero_si512(); }
  static RNNPACK_INLINE I add(I a, I b) { return _mm512_add_epi32(a, b); }
  static RNNPACK_INLINE I broadcast(const uint8_t *four) {
    int32_t word;
    __builtin_memcpy(&word, four, sizeof word);
    return _mm512_set1_epi32(word);
  }
  // Spelt out: GCC 12 copies the sum before each intrinsic.
  static RNNPACK_INLINE void add_dot(I *sum, I factor, const uint8_t *weights) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(*sum) : "v"(factor), "m"(*static_cast<const I *>(static_cast<const void *>(weights))));
  }
  static RNNPACK_INLINE __m512 to_float(I sum, const int32_t *unit_sums) {
    const I units = _mm512_loadu_si512(unit_sums);
    const I excess = _mm512_sub_epi32(_mm512_maskz_slli_epi32(kAll, units, 7), units);
    return _mm512_maskz_cvtepi32_ps(kAll, _mm512_sub_epi32(sum, excess));
  }

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
  static RNNPACK_INLINE void quantise(const float *a, size_t k, float to_byte, uint8_t *to) {
    for (size_t i = 0; i < (k + 63) / 64 * 64; i += 16) {
      const __mmask16 there = i < k ? first(k - i) : 0;
      const __m512 v = Vec::mul(_mm512_maskz_loadu_ps(there, a + i), Vec::set1(to_byte));
      const __mmask16 number = _mm512_cmp_ps_mask(v, v, _CMP_ORD_Q);
      const __m512 cut = Vec::min(Vec::max(v, Vec::set1(-127.0f)), Vec::set1(127.0f));
      const I q = _mm512_maskz_cvtps_epi32(number, cut);
      const __m128i bytes = _mm512_maskz_cvtepi32_epi8(kAll, _mm512_add_epi32(q, _mm512_set1_epi32(127)));
      _mm_storeu_si128(static_cast<__m128i *>(static_cast<void *>(to + i)), bytes);
    }
  }
};

}  // namespace
}  // namespace rnnp

// The words come before the body that uses them.
#include "kernels/gemm_i8_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_gemm_i8_avx512vnni , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) gemm_i8_run<nr>
#include "kernels/kernel_objects.inc"
#undef RNNPACK_IN_gemm_i8_avx512vnni

}  // namespace rnnp

#endif  // RNNPACK_HAVE_AVX512VNNI
