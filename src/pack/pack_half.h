// pack_half.h -- panels of numbers of 16 bits. Room: pack. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_PACK_PACK_HALF_H_
#define RNNPACK_PACK_PACK_HALF_H_

#include <cstring>

#include "pack/pack.h"

namespace rnnp {

inline uint32_t bits_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// value / 2^shift, the nearest integer, halves to the even one; shift 1 to 31.
inline uint32_t rounded_shift(uint32_t value, uint32_t shift) {
  const uint32_t half = 1u << (shift - 1);
  return (value + half - 1 + (value >> shift & 1u)) >> shift;
}

PackedMatrix pack_half(const PanelFormat &format, const MatrixSource &source, uint16_t (*nearest)(float));

}  // namespace rnnp
#endif  // RNNPACK_PACK_PACK_HALF_H_
