// exact_product.cpp -- Contract: exact_product.h. Written from docs/KERNELS.md and docs/BLOB_FORMAT.md.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cli/exact_product.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace rnnp::compiler {
namespace {

float from_bits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

float half_value(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const float sign = (bits & 0x8000) != 0 ? -1.0f : 1.0f;
  if (exponent == 31) return sign * (fraction != 0 ? std::nanf("") : HUGE_VALF);
  return sign * (exponent != 0 ? std::ldexp(1024.0f + static_cast<float>(fraction), exponent - 25)
                               : std::ldexp(static_cast<float>(fraction), -24));
}

float stored_number(DType type, const uint8_t *panel, size_t place) {
  if (type == DType::kF32) {
    float value;
    std::memcpy(&value, panel + 4 * place, sizeof value);
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, panel + 2 * place, sizeof bits);
  return type == DType::kF16 ? half_value(bits) : from_bits(uint32_t{bits} << 16);
}

}  // namespace

ByteRow byte_row(const float *x, size_t k, float factor_scale) {
  constexpr float kLeast = 1e-30f;
  ByteRow row;
  float to_byte = 0;
  row.step = factor_scale;
  if (factor_scale != 0) {
    to_byte = 1.0f / factor_scale;
  } else {
    float most = 0;
    for (size_t i = 0; i < k; ++i) {
      if (std::isfinite(x[i])) most = std::max(most, std::fabs(x[i]));
    }
    if (most >= kLeast) to_byte = 127.0f / most, row.step = most / 127.0f;
  }
  for (size_t i = 0; i < k; ++i) {
    const float v = x[i] * to_byte;
    if (std::fabs(v) > 127.5f) ++row.clipped;
    row.bytes.push_back(std::isnan(v) ? 0 : static_cast<int32_t>(std::nearbyint(std::clamp(v, -127.0f, 127.0f))));
  }
  return row;
}

std::vector<float> unit_numbers(const float *packed, uint32_t gates, uint32_t units, uint32_t nr) {
  std::vector<float> out;
  for (uint32_t g = 0; g < gates; ++g) {
    for (uint32_t unit = 0; unit < units; ++unit) out.push_back(packed[(size_t{unit / nr} * gates + g) * nr + unit % nr]);
  }
  return out;
}

bool ExactMatrix::knows(const Matrix &m) {
  const PanelFormat &f = m.format;
  if (f.index_bytes != 0 || f.nr == 0) return false;
  return f.scales == Scales::kUnscaled ? f.factor == DType::kF32 : f.weight == DType::kI8 && f.scales == Scales::kPerUnit;
}

ExactMatrix::ExactMatrix(const Matrix &m, uint32_t index)
    : rows_(m.shape.gates * m.shape.units),
      units_(m.shape.units),
      k_(m.shape.k),
      bytes_(m.format.weight == DType::kI8),
      factor_scale_(m.factor_scale) {
  const PanelFormat &f = m.format;
  const uint8_t *panels = m.panels + index * panels_bytes(f, m.shape);
  const size_t depth = (size_t{k_} + f.kr - 1) / f.kr;
  for (uint32_t row = 0; row < rows_; ++row) {
    const uint32_t gate = row / units_, unit = row % units_;
    for (uint32_t k = 0; k < k_; ++k) {
      const size_t place = (((unit / f.nr * depth + k / f.kr) * m.shape.gates + gate) * f.nr + unit % f.nr) * f.kr + k % f.kr;
      if (bytes_) {
        integers_.push_back(static_cast<int8_t>(panels[place]));
      } else {
        weights_.push_back(stored_number(f.weight, panels, place));
      }
    }
  }
  const size_t vector = index * (vector_bytes(f, m.shape) / sizeof(float));
  if (bytes_) scales_ = unit_numbers(m.scales + vector, m.shape.gates, units_, f.nr);
  if (m.diagonal != nullptr) diagonal_ = unit_numbers(m.diagonal + vector, m.shape.gates, units_, f.nr);
}

void ExactMatrix::multiply(const float *x, const float *start, float *out) const {
  const ByteRow row = bytes_ ? byte_row(x, k_, factor_scale_) : ByteRow();
  for (uint32_t i = 0; i < rows_; ++i) {
    float result = start == nullptr ? 0.0f : start[i];
    if (bytes_) {
      const int32_t *q = integers_.data() + size_t{i} * k_;
      int64_t sum = 0;
      for (uint32_t k = 0; k < k_; ++k) sum += int64_t{row.bytes[k]} * q[k];
      result = std::fma(static_cast<float>(sum), scales_[i] * row.step, result);
      if (!diagonal_.empty()) result = std::fma(x[i % units_], diagonal_[i], result);
    } else {
      const float *w = weights_.data() + size_t{i} * k_;
      for (uint32_t k = 0; k < k_; ++k) result = std::fma(x[k], w[k], result);
    }
    out[i] = result;
  }
}

}  // namespace rnnp::compiler
