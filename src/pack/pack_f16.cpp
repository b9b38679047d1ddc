// pack_f16.cpp -- panels of f16, of any width; every weight the nearest f16, halves to the even one.
// SPDX-License-Identifier: Apache-2.0
#include "pack/pack_half.h"

namespace rnnp {

uint16_t nearest_f16(float value) {
  const uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
  if (size > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
  if (size >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // 65520 and above
  if (size < 0x33000000u) return static_cast<uint16_t>(sign);             // less than half of the least
  const uint32_t exponent = size >> 23;
  // Below 2^-14 a mantissa counts 2^-24.
  const uint32_t shift = exponent < 113 ? 126 - exponent : 13;
  const uint32_t mantissa = exponent < 113 ? (size & 0x7fffffu) | 0x800000u : size - (112u << 23);
  return static_cast<uint16_t>(sign | rounded_shift(mantissa, shift));
}

PackedMatrix pack_f16(const PanelFormat &format, const MatrixSource &source) {
  return pack_half(format, source, nearest_f16);
}

}  // namespace rnnp
