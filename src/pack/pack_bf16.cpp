// pack_bf16.cpp -- panels of bf16, of any width; every weight the nearest bf16, halves to the even one. What is too small for a
// normal number becomes zero: kernels would take it for zero. SPDX-License-Identifier: Apache-2.0
#include "pack/pack_half.h"

namespace rnnp {

uint16_t nearest_bf16(float value) {
  const uint32_t bits = bits_of(value), sign = bits & 0x80000000u, size = bits & 0x7fffffffu;
  if (size > 0x7f800000u) return static_cast<uint16_t>(sign >> 16 | 0x7fc0u);
  const uint32_t rounded = rounded_shift(size, 16);
  return static_cast<uint16_t>(sign >> 16 | (rounded < 0x80u ? 0u : rounded));
}

PackedMatrix pack_bf16(const PanelFormat &format, const MatrixSource &source) {
  return pack_half(format, source, nearest_bf16);
}

}  // namespace rnnp
