// panels.cpp -- Contract: panels.h. SPDX-License-Identifier: Apache-2.0
#include "cuda/panels.h"

#include <math.h>

namespace rnnp {
namespace cuda {
namespace {

float of_bits(uint32_t bits) {
  float value;
  copy_bytes(&value, &bits, sizeof value);
  return value;
}

}  // namespace

float value_of_f16(uint16_t h) {
  const uint32_t exponent = h >> 10 & 31, fraction = h & 1023u, sign = (h & 0x8000u) << 16;
  if (exponent == 31) return of_bits(sign | 0x7f800000u | fraction << 13);
  if (exponent == 0) return (sign != 0 ? -1.0f : 1.0f) * static_cast<float>(fraction) * 0x1p-24f;
  return of_bits(sign | (exponent + 112) << 23 | fraction << 13);
}

uint16_t f16_of_value(float x) {
  uint32_t u;
  copy_bytes(&u, &x, sizeof u);
  const uint32_t sign = u >> 16 & 0x8000u, magnitude = u & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7fff;
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) return static_cast<uint16_t>(sign | static_cast<uint32_t>(nearbyintf(fabsf(x) * 0x1p24f)));
  return static_cast<uint16_t>(sign | ((magnitude + 0xfffu + (magnitude >> 13 & 1u) - 0x38000000u) >> 13));
}

uint16_t bf16_of_value(float x) {
  uint32_t u;
  copy_bytes(&u, &x, sizeof u);
  if ((u & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
  return static_cast<uint16_t>((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}

float weight_in_panels(const Matrix &m, uint32_t index, uint32_t gate, uint32_t unit, uint32_t k) {
  const PanelFormat &f = m.format;
  const size_t width = f.nr == 0 ? m.shape.units : f.nr, groups = (size_t{m.shape.k} + f.kr - 1u) / f.kr;
  const size_t place = (((unit / width * groups + k / f.kr) * m.shape.gates + gate) * width + unit % width) * f.kr + k % f.kr;
  const uint8_t *panels = m.panels + panels_bytes(f, m.shape) * index;
  if (f.weight == DType::kF32) return view_as<float>(static_cast<const void *>(panels))[place];
  if (f.weight == DType::kI4) {  // eight k are four bytes, the first four k in the low halves
    const uint32_t byte = panels[place / 8 * 4 + place % 4];
    return static_cast<float>(place % 8 < 4 ? byte & 15u : byte >> 4) - 8.0f;
  }
  if (f.weight == DType::kI8) return static_cast<int8_t>(panels[place]);
  uint16_t bits;
  copy_bytes(&bits, panels + 2 * place, sizeof bits);
  return f.weight == DType::kF16 ? value_of_f16(bits) : of_bits(uint32_t{bits} << 16);
}

uint32_t word_in_block(const Matrix &m, size_t entry, uint32_t part, uint32_t unit) {
  if (m.format.weight == DType::kBf16) {
    uint16_t bits;  // [pair of k][unit][2]
    copy_bytes(&bits, m.panels + (((entry * (kBlockK / 2) + part / 2) * kPanelUnits + unit) * 2 + part % 2) * sizeof bits,
               sizeof bits);
    return uint32_t{bits} << 16;
  }
  const size_t word = m.format.weight == DType::kI8 ? entry * kPanelUnits + unit : (entry * kBlockK + part) * kPanelUnits + unit;
  uint32_t bits;
  copy_bytes(&bits, m.panels + 4 * word, sizeof bits);
  return bits;
}

}  // namespace cuda
}  // namespace rnnp
