// bf16_rows.h -- a float rounded to bf16, for products whose both sides are bf16. Room: kernels.
// Contract: kernels.h, GemmArgs, kGemmDot. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_BF16_ROWS_H_
#define RNNPACK_KERNELS_BF16_ROWS_H_

#include <stdint.h>

#include "base/bytes.h"
#include "kernels/inlining.h"

namespace rnnp {
namespace {

// To nearest, halves to the even one; a denormal becomes the zero of its sign, a NaN stays one.
RNNPACK_INLINE float rounded_to_bf16(float x) {
  uint32_t bits;
  copy_bytes(&bits, &x, sizeof bits);
  const uint32_t size = bits & 0x7fffffffu, sign = bits & 0x80000000u;
  uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u;
  if (size > 0x7f800000u) rounded = (bits | 0x00400000u) & 0xffff0000u;
  if (size < 0x00800000u) rounded = sign;
  copy_bytes(&x, &rounded, sizeof x);
  return x;
}

}  // namespace
}  // namespace rnnp
#endif  // RNNPACK_KERNELS_BF16_ROWS_H_
