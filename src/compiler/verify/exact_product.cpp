// exact_product.cpp -- Contract: exact_product.h. Written from docs/KERNELS.md and docs/BLOB_FORMAT.md.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/exact_product.h"

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

// A denormal is taken for the zero of its sign.
float nearest_bf16_value(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  if (std::isnan(x)) return x;
  if ((bits & 0x7f800000u) == 0) return from_bits(bits & 0x80000000u);
  return from_bits((bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u);
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

ByteRow byte_row(const float *x, size_t k, float lhs_scale) {
  constexpr float kLeast = 1e-30f;
  ByteRow row;
  float to_byte = 0;
  row.step = lhs_scale;
  if (lhs_scale != 0) {
    to_byte = 1.0f / lhs_scale;
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

namespace {

// Weight `place` of panels of int4: eight k of a unit are four bytes, the first four k in the low halves, all 8 too large.
int32_t half_byte(const uint8_t *panels, size_t place) {
  const uint8_t byte = panels[place / 8 * 4 + place % 4];
  return (place % 8 < 4 ? byte & 15 : byte >> 4) - 8;
}

// Integer-only layers have them 128 too large.
int32_t integer(const PanelFormat &f, const uint8_t *panels, size_t place) {
  if (f.weight == DType::kI4) return half_byte(panels, place);
  if (f.scales == Scales::kSmlad && place % 2 != 0) return high_of_smlad(panels[place - 1], panels[place]);
  return is_fixed_point(f) ? panels[place] - 128 : static_cast<int8_t>(panels[place]);
}

// [rows][groups of k], of matrix `index`.
std::vector<float> scales_of(const Matrix &m, uint32_t index) {
  const uint32_t gates = m.shape.gates, nr = m.format.nr, groups = m.group_k == 0 ? 1 : (m.shape.k + m.group_k - 1) / m.group_k;
  const float *first = m.scales + index * (scales_bytes(m.format, m.shape, m.group_k) / sizeof(float));
  std::vector<float> out;
  for (uint32_t row = 0; row < gates * m.shape.units; ++row) {
    const uint32_t gate = row / m.shape.units, unit = row % m.shape.units;
    for (uint32_t group = 0; group < groups; ++group)
      out.push_back(first[((size_t{unit / nr} * groups + group) * gates + gate) * nr + unit % nr]);
  }
  return out;
}

}  // namespace

bool ExactMatrix::knows(const Matrix &m) {
  const PanelFormat &f = m.format;
  if (f.nr == 0) return false;
  if (f.scales == Scales::kUnscaled) return f.factor == DType::kF32 || f.factor == DType::kBf16;
  if (is_fixed_point(f)) return true;
  return f.factor == DType::kI8;
}

ExactMatrix::ExactMatrix(const Matrix &m, uint32_t index)
    : rows_(m.shape.gates * m.shape.units),
      units_(m.shape.units),
      k_(m.shape.k),
      bytes_(m.format.scales != Scales::kUnscaled),
      rounds_lhs_(m.format.factor == DType::kBf16),
      grouped_(m.format.scales == Scales::kPerGroup),
      group_k_(m.group_k != 0 ? m.group_k : m.shape.k),
      lhs_scale_(m.lhs_scale) {
  const PanelFormat &f = m.format;
  if (is_sparse(f)) {
    read_blocks(m);
  } else {
    read_panels(m, m.panels + index * panels_bytes(f, m.shape));
  }
  const size_t vector = index * (vector_bytes(f, m.shape) / sizeof(float));
  if (bytes_) scales_ = scales_of(m, index);
  if (m.diagonal != nullptr) diagonal_ = unit_numbers(m.diagonal + vector, m.shape.gates, units_, f.nr);
}

void ExactMatrix::read_panels(const Matrix &m, const uint8_t *panels) {
  const PanelFormat &f = m.format;
  for (uint32_t row = 0; row < rows_; ++row) {
    const uint32_t gate = row / units_, unit = row % units_;
    for (uint32_t k = 0; k < k_; ++k) {
      const size_t place = place_in_panels(f, m.shape, gate, unit, k);
      if (bytes_) {
        integers_.push_back(integer(f, panels, place));
      } else {
        weights_.push_back(stored_number(f.weight, panels, place));
      }
    }
  }
}

void ExactMatrix::read_blocks(const Matrix &m) {
  const PanelFormat &f = m.format;
  const uint32_t *first = view_as<uint32_t>(m.index);
  const uint16_t *quads = view_as<uint16_t>(first + sparse_columns(f, m.shape) + 1);
  const uint32_t strips = f.index_bytes / 2, height = f.nr / strips;
  indexed_k_ = indexed_k(f);
  integers_.resize(bytes_ ? size_t{rows_} * k_ : 0);
  weights_.resize(bytes_ ? 0 : size_t{rows_} * k_);
  quads_.resize(rows_);
  for (uint32_t row = 0; row < rows_; ++row) {
    const uint32_t gate = row / units_, unit = row % units_, lane = unit % f.nr, column = unit / f.nr * m.shape.gates + gate;
    for (size_t entry = first[column]; entry < first[column + 1]; ++entry) {
      const uint32_t quad = quads[entry * strips + lane / height];
      quads_[row].push_back(quad);
      for (uint32_t i = 0; i < indexed_k_ && quad * indexed_k_ + i < k_; ++i) {
        const size_t to = size_t{row} * k_ + quad * indexed_k_ + i;
        const size_t from = entry * f.nr * indexed_k_ + (size_t{i / f.kr} * f.nr + lane) * f.kr + i % f.kr;
        if (bytes_) {
          integers_[to] = static_cast<int8_t>(m.panels[from]);
        } else {
          weights_[to] = stored_number(f.weight, m.panels, from);
        }
      }
    }
  }
}

// Four sums, one for each k of a block; of single weights one. What lies beyond the last k is zeros.
float ExactMatrix::product_of_blocks(const float *x, uint32_t row) const {
  const float *w = weights_.data() + size_t{row} * k_;
  float sum[kBlockK] = {};
  for (const uint32_t quad : quads_[row]) {
    for (uint32_t i = 0; i < indexed_k_; ++i) {
      const uint32_t k = quad * indexed_k_ + i;
      sum[i] = k < k_ ? std::fma(x[k], w[k], sum[i]) : std::fma(0.0f, 0.0f, sum[i]);
    }
  }
  return indexed_k_ == 1 ? sum[0] : (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// Of one scale: that of the row and of the weights are multiplied first. Of groups of k: their sums are added up, then scaled.
float ExactMatrix::product(const ByteRow &row, uint32_t i, float start) const {
  const int32_t *q = integers_.data() + size_t{i} * k_;
  const size_t groups = scales_.size() / rows_;
  const float *scales = scales_.data() + i * groups;
  float total = 0;
  for (size_t group = 0; group < groups; ++group) {
    int64_t sum = 0;
    for (size_t k = group * group_k_; k < std::min<size_t>(k_, (group + 1) * group_k_); ++k) sum += int64_t{row.bytes[k]} * q[k];
    if (!grouped_) return std::fma(static_cast<float>(sum), scales[0] * row.step, start);
    total = std::fma(static_cast<float>(sum), scales[group], total);
  }
  return std::fma(total, row.step, start);
}

// Of blocks of 32 k, filled up with zeros: the products of even k, those of odd k, and both onto what was before.
float ExactMatrix::product_of_bf16(const float *x, uint32_t row, float start) const {
  constexpr uint32_t kBlock = 32;
  const float *w = weights_.data() + size_t{row} * k_;
  for (uint32_t block = 0; block < k_; block += kBlock) {
    float sum[2] = {};
    for (uint32_t k = block; k < block + kBlock; ++k)
      sum[k % 2] = k < k_ ? std::fma(nearest_bf16_value(x[k]), w[k], sum[k % 2]) : std::fma(0.0f, 0.0f, sum[k % 2]);
    start += sum[0] + sum[1];
  }
  return start;
}

void ExactMatrix::multiply(const float *x, const float *start, float *out) const {
  const ByteRow row = bytes_ ? byte_row(x, k_, lhs_scale_) : ByteRow();
  for (uint32_t i = 0; i < rows_; ++i) {
    float result = start == nullptr ? 0.0f : start[i];
    if (bytes_) {
      result = product(row, i, result);
    } else if (!quads_.empty()) {
      result = product_of_blocks(x, i) + result;
    } else if (rounds_lhs_) {
      result = product_of_bf16(x, i, result);
    } else {
      const float *w = weights_.data() + size_t{i} * k_;
      for (uint32_t k = 0; k < k_; ++k) result = std::fma(x[k], w[k], result);
    }
    if (!diagonal_.empty()) result = std::fma(x[i % units_], diagonal_[i], result);
    out[i] = result;
  }
}

}  // namespace rnnp::compiler
