// exact_integers.cpp -- Contract: exact_integers.h. Written from docs/KERNELS.md. SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/exact_integers.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace rnnp::compiler {
namespace {

double to_the_nearest(double v) {
  return std::copysign(std::floor(std::fabs(v) + 0.5), v);
}

double cut(double v, double most) {
  return std::clamp(v, -most, most);
}

// Integers of 2^-bits.
double whole_of(float v, uint32_t bits) {
  return std::isnan(v) ? 0.0 : cut(to_the_nearest(std::ldexp(double{v}, static_cast<int>(bits))), 32767);
}

// A float cut off behind its leading 16 bits.
double leading(float v) {
  if (!std::isfinite(v)) return double{v};
  int exponent = 0;
  const double fraction = std::frexp(double{v}, &exponent);
  return std::ldexp(std::trunc(fraction * 65536), exponent - 16);
}

double byte_of(float v, double factor) {
  return std::isnan(v) ? 0.0 : cut(to_the_nearest(leading(v) * factor), 127);
}

double shifted(double v, uint32_t bits) {
  return std::floor(std::ldexp(v, -static_cast<int>(bits)));
}

double point(int i) {
  return std::nearbyint(32767 * std::tanh(i / 32.0));
}

// In 2^-15, of u in 2^-11 of twice the argument.
double tanh_of(double u) {
  const double size = std::min(std::fabs(u), 32767.0);
  const int interval = static_cast<int>(size / 128);
  const double from = point(interval), rest = size - 128 * interval;
  const double line = from + std::floor(((point(interval + 1) - from) * rest + 64) / 128);
  return u < 0 ? -line : line;
}
double sigmoid_of(double u) {
  return 32768 + tanh_of(u);
}

double blend(double half_kept, double half_new) {
  return cut(std::floor((half_kept + half_new + 16384) / 32768), 32767);
}
double move(double z, double n, double h) {
  return blend(shifted(z * h, 1), shifted((65536 - z) * n, 1));
}

std::vector<uint32_t> words_of(const float *packed, uint32_t gates, uint32_t units, uint32_t nr) {
  std::vector<uint32_t> out;
  for (uint32_t g = 0; g < gates; ++g) {
    for (uint32_t unit = 0; unit < units; ++unit) {
      uint32_t word;
      std::memcpy(&word, packed + (size_t{unit / nr} * gates + g) * nr + unit % nr, sizeof word);
      out.push_back(word);
    }
  }
  return out;
}

std::vector<double> wholes_of(const float *packed, uint32_t gates, uint32_t units, uint32_t nr) {
  std::vector<double> out;
  for (const uint32_t word : words_of(packed, gates, units, nr)) out.push_back(static_cast<int32_t>(word));
  return out;
}

uint32_t gates_of(rnnp::Cell cell) {
  return cell == rnnp::Cell::kRnn ? 1 : cell == rnnp::Cell::kLstm ? 4 : 3;
}

}  // namespace

ExactIntegers::Product::Product(const Matrix &m)
    : weights(m, 0), scales(words_of(m.scales, m.shape.gates, m.shape.units, m.format.nr)), factor(leading(m.lhs_scale)) {}

void ExactIntegers::Product::add(const float *row, double *pre) const {
  const uint32_t k = weights.k();
  std::vector<double> bytes;
  for (uint32_t i = 0; i < k; ++i) bytes.push_back(byte_of(row[i], factor));
  for (uint32_t i = 0; i < weights.rows(); ++i) {
    const int32_t *q = weights.integers() + size_t{i} * k;
    double sum = 0;
    for (uint32_t j = 0; j < k; ++j) sum += bytes[j] * q[j];
    const uint32_t scale = scales[i];
    pre[i] += shifted(shifted(sum, scale >> 16 & 31) * (scale & 0xffff), scale >> 24 & 31);
  }
}

ExactIntegers::ExactIntegers(const Model &model, const AttrIntegerRecurrent &attr, uint32_t d)
    : cell_(rnnp::Cell(attr.layer.cell)), hidden_(attr.layer.hidden_size), gates_(gates_of(cell_)), c_bits_(attr.c_bits[d]) {
  const BlobDirection &direction = attr.layer.direction[d];
  for (const uint32_t i : {direction.w, direction.r, direction.r_output}) {
    if (i != kNone) products_.emplace_back(model.matrix(i));
  }
  const uint32_t nr = model.matrix(direction.w).format.nr;
  bias_ = wholes_of(model.weights(direction.bias), gates_, hidden_, nr);
  if (direction.r_bias != kNone) r_bias_ = wholes_of(model.weights(direction.r_bias), 1, hidden_, nr);
}

double ExactIntegers::old_h(const float *h, uint32_t unit) const {
  return whole_of(h[unit], 15);
}

void ExactIntegers::step(const float *x, float *h, float *c) const {
  using rnnp::Cell;
  Numbers pre = bias_, apart = r_bias_;
  const std::vector<float> before(h, h + hidden_);
  products_[0].add(x, pre.data());
  products_[1].add(h, pre.data());
  if (cell_ == Cell::kGruLinear) products_[2].add(h, apart.data());
  if (cell_ == Cell::kGru) {
    std::vector<float> rh;
    for (uint32_t i = 0; i < hidden_; ++i)
      rh.push_back(static_cast<float>(shifted(sigmoid_of(pre[hidden_ + i]) * old_h(h, i) + 32768, 16) / 32768));
    products_[2].add(rh.data(), pre.data() + 2 * size_t{hidden_});
  }
  for (uint32_t i = 0; i < hidden_; ++i) {
    const auto gate = [&](uint32_t g) { return pre[size_t{g} * hidden_ + i]; };
    double next = 0;
    if (cell_ == Cell::kRnn) {
      next = tanh_of(gate(0));
    } else if (cell_ == Cell::kLstm) {
      const double kept = shifted(sigmoid_of(gate(2)) * whole_of(c[i], c_bits_), 1);
      const double cell = blend(kept, shifted(sigmoid_of(gate(0)) * tanh_of(gate(3)), 16 - c_bits_));
      next = shifted(sigmoid_of(gate(1)) * tanh_of(shifted(cell * 16, c_bits_ - 8)) + 32768, 16);
      c[i] = static_cast<float>(std::ldexp(cell, -static_cast<int>(c_bits_)));
    } else {
      double argument = gate(2);
      if (cell_ == Cell::kGruLinear) argument += shifted(shifted(sigmoid_of(gate(1)), 2) * cut(apart[i], 65536), 14);
      next = move(sigmoid_of(gate(0)), tanh_of(argument), old_h(before.data(), i));
    }
    h[i] = static_cast<float>(next / 32768);
  }
}

}  // namespace rnnp::compiler
