// byte_dot_avx2.h -- products of bytes with int8 weights, for AVX2: the words that dense and sparse panels share.
// Room: kernels; included by gemm_*_avx2.cpp. Contract: docs/KERNELS.md, "Int8".
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_BYTE_DOT_AVX2_H_
#define RNNPACK_KERNELS_BYTE_DOT_AVX2_H_

#include "kernels/byte_sums_avx2.h"

namespace rnnp::RNNPACK_SET {
namespace {

struct ByteDot : ByteSums {
  static RNNPACK_INLINE void add_dot(I *sum, I factor, const uint8_t *weights) {
    const I pairs = _mm256_maddubs_epi16(factor, _mm256_loadu_si256(at(weights)));
    const I fours = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
    // Spelt out: GCC 12 copies the sums after it added to them.
    __asm__("vpaddd %1, %0, %0" : "+x"(*sum) : "x"(fours));
  }
};

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_BYTE_DOT_AVX2_H_
