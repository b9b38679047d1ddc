// pack_q15.cpp -- panels of integer-only layers: int8, of any width, with a multiplier and two shifts for each unit of each gate.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "pack/pack.h"

namespace rnnp {
namespace {

constexpr float kMostByte = 127.0f;
constexpr int64_t kMostKept = (1 << 17) - 1, kMostProduct = INT32_MAX;
constexpr double kMostMultiplier = 32767.0;
constexpr uint32_t kMostShift = 31;

float scale_of(const float *row, uint32_t k) {
  float most = 0.0f;
  for (uint32_t i = 0; i < k; ++i) most = std::max(most, std::fabs(row[i]));
  return most / kMostByte;
}

}  // namespace

// `most`: what no sum of the row exceeds in size; `worth`: what one of it is. The first shift leaves 17 bits, the multiplier takes
// what is left of 31: CPUs whose products have 32 bits get along.
uint32_t fixed_scale(int64_t most, double worth) {
  uint32_t first = 0, second = 0;
  while (first < kMostShift && most >> first > kMostKept) ++first;
  const int64_t most_factor = kMostProduct / std::max<int64_t>(1, (most >> first) + 1);
  const double limit = std::min(kMostMultiplier, static_cast<double>(most_factor));
  double multiplier = worth * std::ldexp(1.0, static_cast<int>(first));
  while (second < kMostShift && multiplier * 2 + 0.5 < limit) multiplier *= 2, ++second;
  return static_cast<uint32_t>(std::nearbyint(std::min(multiplier, limit))) | first << 16 | second << 24;
}

double fixed_loss(uint32_t scale) {
  const double first = std::ldexp(1.0, scale >> 16 & 31), second = std::ldexp(1.0, scale >> 24 & 31);
  return (scale & 0xffff) / second * (1 - 1 / first) / 2 + (1 - 1 / second) / 2;
}

PackedMatrix pack_q15(const PanelFormat &format, const MatrixSource &s) {
  PackedMatrix out;
  const MatrixShape shape = {s.gates, s.units, s.k, s.k};
  out.panels.assign(panels_bytes(format, shape), 128);
  out.multipliers.resize(vector_bytes(format, shape) / sizeof(uint32_t));
  for (uint32_t g = 0; g < s.gates; ++g) {
    for (uint32_t unit = 0; unit < s.units; ++unit) {
      const size_t index = size_t{s.gate_begin + g} * s.units + unit;
      const float *row = s.m + index * s.k;
      const float given = s.scales == nullptr ? 0.0f : s.scales[index], scale = given > 0.0f ? given : scale_of(row, s.k);
      int64_t sizes = 0;
      for (uint32_t k = 0; k < s.k && scale > 0.0f; ++k) {
        const int q = static_cast<int>(std::nearbyint(std::min(std::max(row[k] / scale, -kMostByte), kMostByte)));
        out.panels[place_in_panels(format, s, g, unit, k)] = static_cast<uint8_t>(q + 128);
        sizes += std::abs(q);
      }
      const double worth = double{scale} * (s.sum_worth == nullptr ? 1.0 : s.sum_worth[s.gate_begin + g]);
      out.multipliers[(size_t{unit / format.nr} * s.gates + g) * format.nr + unit % format.nr] = fixed_scale(127 * sizes, worth);
    }
  }
  return out;
}

}  // namespace rnnp
