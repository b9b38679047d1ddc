// byte_dot_avx512vnni.h -- products of bytes with int8 weights, for AVX-512 with VNNI: the words that dense and sparse panels
// share. Room: kernels; included by gemm_*_avx512vnni.cpp. Contract: docs/KERNELS.md, "Int8". SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_BYTE_DOT_AVX512VNNI_H_
#define RNNPACK_KERNELS_BYTE_DOT_AVX512VNNI_H_

#include "kernels/bytes_avx512.h"

namespace rnnp::RNNPACK_SET {
namespace {

// Bytes of rows are kept 127 too large, from 0 to 254: the instruction wants them without a sign.
struct ByteDot : Bytes {
  static constexpr int kZero = 127;

  static RNNPACK_INLINE I zero() { return _mm512_setzero_si512(); }
  static RNNPACK_INLINE I add(I a, I b) { return _mm512_add_epi32(a, b); }
  // Spelt out: GCC 12 copies the sum before each intrinsic.
  static RNNPACK_INLINE void add_dot(I *sum, I factor, const uint8_t *weights) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(*sum) : "v"(factor), "m"(*static_cast<const I *>(static_cast<const void *>(weights))));
  }
  // Four rows, which load what they share once: one at a time GCC copies sums again.
  static RNNPACK_INLINE void add_dots(I *const (&sums)[4], const I (&factors)[4], const uint8_t *weights) {
    I shared;
    __asm__("vmovdqu64 %9, %4\n\tvpdpbusd %4, %5, %0\n\tvpdpbusd %4, %6, %1\n\tvpdpbusd %4, %7, %2\n\tvpdpbusd %4, %8, %3"
            : "+&v"(*sums[0]), "+&v"(*sums[1]), "+&v"(*sums[2]), "+&v"(*sums[3]), "=&v"(shared)
            : "v"(factors[0]), "v"(factors[1]), "v"(factors[2]), "v"(factors[3]),
              "m"(*static_cast<const I *>(static_cast<const void *>(weights))));
  }
  // What the sum of a unit begins with, for its bytes being 127 too large.
  static RNNPACK_INLINE I start(const int32_t *unit_sums) {
    const I units = _mm512_loadu_si512(unit_sums);
    return _mm512_sub_epi32(units, _mm512_maskz_slli_epi32(kAll, units, 7));
  }
  static RNNPACK_INLINE __m512 floats(I sum) { return _mm512_maskz_cvtepi32_ps(kAll, sum); }
  static RNNPACK_INLINE __m512 to_float(I sum, const int32_t *unit_sums) { return floats(add(sum, start(unit_sums))); }
};

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_BYTE_DOT_AVX512VNNI_H_
