// fixed_point.h -- integer-only layers: numbers of floats, read and made by their bits, and the one function of a cell. No float
// instruction: CPUs without an FPU run this, and every other gives the same bits. Room: kernels. Contract: docs/KERNELS.md,
// "Integer-only layers". SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_FIXED_POINT_H_
#define RNNPACK_KERNELS_FIXED_POINT_H_

#include <stddef.h>
#include <stdint.h>

#include "kernels/inlining.h"

namespace rnnp {

// h, z, r*h and the results of activations are multiples of 2^-kFractionBits, within +-kMostFixed.
constexpr uint32_t kFractionBits = 15;
constexpr int32_t kMostFixed = 32767;

// One more than there are intervals; of tanh.
constexpr uint32_t kTanhIntervals = 256;
extern const int16_t kTanhTable[kTanhIntervals + 1];

// Words among floats: pre-activations of such layers, and floats by their bits.
using AnyWord = uint32_t __attribute__((may_alias));
RNNPACK_INLINE uint32_t load_word(const float *at) {
  return *static_cast<const AnyWord *>(static_cast<const void *>(at));
}
RNNPACK_INLINE void store_word(float *at, uint32_t word) {
  *static_cast<AnyWord *>(static_cast<void *>(at)) = word;
}
// Sums of hostile weights wrap.
RNNPACK_INLINE int32_t wrapped_sum(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}

RNNPACK_INLINE int32_t with_sign_of(uint32_t bits, int32_t size) {
  return static_cast<int32_t>(bits) < 0 ? -size : size;
}
RNNPACK_INLINE int32_t clamped(int32_t v, int32_t most) {
  return v > most ? most : v < -most ? -most : v;
}

// The float times 2^bits, the nearest integer, halves away from zero, within +-kMostFixed; NaN is 0.
RNNPACK_INLINE int32_t fixed_of_float(uint32_t word, uint32_t bits) {
  const uint32_t exponent = word >> 23 & 255, fraction = word & 0x7fffff;
  const int32_t shift = static_cast<int32_t>(150 - bits) - static_cast<int32_t>(exponent);
  if (shift > 24) return 0;
  if (shift < 9) return exponent == 255 && fraction != 0 ? 0 : with_sign_of(word, kMostFixed);
  const int32_t size = static_cast<int32_t>(((fraction | 0x800000) + (uint32_t{1} << (shift - 1))) >> shift);
  return with_sign_of(word, size > kMostFixed ? kMostFixed : size);
}

// v times 2^-bits, exact below 2^24; 0 is +0.
RNNPACK_INLINE uint32_t float_of_fixed(int32_t v, uint32_t bits) {
  if (v == 0) return 0;
  const uint32_t size = v < 0 ? uint32_t{0} - static_cast<uint32_t>(v) : static_cast<uint32_t>(v);
  const uint32_t zeros = static_cast<uint32_t>(__builtin_clz(size));
  return (static_cast<uint32_t>(v) & 0x80000000u) + ((126 + 31 - zeros - bits) << 23) + (size << zeros >> 8);
}

// What a row is multiplied by to be bytes, a float between 2^-100 and 2^100: its leading 16 bits, and its exponent.
struct ByteFactor {
  uint32_t mantissa, exponent;
};
RNNPACK_INLINE ByteFactor byte_factor(uint32_t word) {
  return {((word & 0x7fffff) | 0x800000) >> 8, word >> 23 & 255};
}

// The float's leading 16 bits times the factor, rounded halves away from zero, within +-127; NaN is 0.
RNNPACK_INLINE int32_t byte_of_float(uint32_t word, const ByteFactor &factor) {
  const uint32_t exponent = word >> 23 & 255, fraction = word & 0x7fffff;
  const int32_t shift = 284 - static_cast<int32_t>(exponent + factor.exponent);
  if (static_cast<uint32_t>(shift - 24) > 8) {
    if (shift > 32 || (exponent == 255 && fraction != 0)) return 0;
    return with_sign_of(word, 127);
  }
  const uint32_t product = ((fraction | 0x800000) >> 8) * factor.mantissa;
  const int32_t size = static_cast<int32_t>(((product >> (shift - 1)) + 1) >> 1);
  return with_sign_of(word, size > 127 ? 127 : size);
}

// tanh(u / 2^12) in 2^-15, by straight lines between the table's points. u is twice tanh's argument, or sigmoid's, in 2^-11.
RNNPACK_INLINE int32_t fixed_tanh(int32_t u) {
  uint32_t size = u < 0 ? uint32_t{0} - static_cast<uint32_t>(u) : static_cast<uint32_t>(u);
  if (size > kMostFixed) size = kMostFixed;
  const int16_t *at = kTanhTable + (size >> 7);
  const int32_t line = at[0] + (((at[1] - at[0]) * static_cast<int32_t>(size & 127) + 64) >> 7);
  return u < 0 ? -line : line;
}
// sigmoid(u / 2^11) in 2^-16: 1 to 65535.
RNNPACK_INLINE int32_t fixed_sigmoid(int32_t u) {
  return 32768 + fixed_tanh(u);
}

// What a state keeps and what comes to it, the halves of two products: their sum in 2^15, halves up.
RNNPACK_INLINE int32_t blended(int32_t half_kept, int32_t half_new) {
  return clamped((half_kept + half_new + (1 << 14)) >> 15, kMostFixed);
}

}  // namespace rnnp
#endif  // RNNPACK_KERNELS_FIXED_POINT_H_
