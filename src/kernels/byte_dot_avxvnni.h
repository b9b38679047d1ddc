// byte_dot_avxvnni.h -- products of bytes with int8 weights, for AVX-VNNI: the words that dense and sparse panels share.
// Room: kernels; included by gemm_*_avxvnni.cpp. Contract: docs/KERNELS.md, "Int8".
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_BYTE_DOT_AVXVNNI_H_
#define RNNPACK_KERNELS_BYTE_DOT_AVXVNNI_H_

#include "kernels/byte_sums_avx2.h"

namespace rnnp::RNNPACK_SET {
namespace {

struct ByteDot : ByteSums {
  // Spelt out: GCC 12 copies the sum before each intrinsic. {vex}: assemblers write the form of AVX-512 unless told.
  static RNNPACK_INLINE void add_dot(I *sum, I factor, const uint8_t *weights) {
    __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(*sum) : "x"(factor), "m"(*at(weights)));
  }
};

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_BYTE_DOT_AVXVNNI_H_
