// pack_i8.cpp -- panels of int8, of any width, with a scale for each unit of each gate, and a sum where sets of instructions need
// it. The scale is the least with which no weight exceeds 127 and no two neighbours within the KR, at even and odd k, add up to
// more than 129, so that 254 times such a pair fits in 16 bits. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "pack/pack.h"

namespace rnnp {
namespace {

constexpr float kMostByte = 127.0f;
// Two that are rounded up by a half each add up to 129.
constexpr float kMostPair = 128.0f;

float scale_of(const float *row, uint32_t k) {
  float most = 0.0f, most_pair = 0.0f;
  for (uint32_t i = 0; i < k; ++i) most = std::max(most, std::fabs(row[i]));
  for (uint32_t i = 0; i + 1 < k; i += 2) most_pair = std::max(most_pair, std::fabs(row[i] + row[i + 1]));
  return std::max(most / kMostByte, most_pair / kMostPair);
}

}  // namespace

PackedMatrix pack_i8(const PanelFormat &format, const MatrixSource &s) {
  PackedMatrix out;
  out.panels.assign(panels_bytes(format, {s.gates, s.units, s.k, s.k}), 0);
  std::vector<float> scales, sums;
  for (uint32_t g = 0; g < s.gates; ++g) {
    for (uint32_t unit = 0; unit < s.units; ++unit) {
      const size_t index = size_t{s.gate_begin + g} * s.units + unit;
      const float *row = s.m + index * s.k;
      const float given = s.scales == nullptr ? 0.0f : s.scales[index], scale = given > 0.0f ? given : scale_of(row, s.k);
      int32_t sum = 0;
      for (uint32_t k = 0; k < s.k && scale > 0.0f; ++k) {
        const float q = std::nearbyint(std::min(std::max(row[k] / scale, -kMostByte), kMostByte));
        const size_t place = place_in_panels(format, s, g, unit, k);
        out.panels[place] = static_cast<uint8_t>(out.panels[place] + static_cast<int>(q));
        // A negative low half takes one away from the high one.
        if (format.scales == Scales::kSmlad && k % 2 == 0 && q < 0) out.panels[place + 1] = 255;
        sum += static_cast<int32_t>(q);
      }
      scales.push_back(scale);
      sums.push_back(static_cast<float>(sum));  // exact below 2^24: k is less than 2^17
    }
  }
  out.scales = pack_vector(format, scales.data(), s.units, s.gates);
  if (gates_are_apart(format)) return out;
  for (const float sum : pack_vector(format, sums.data(), s.units, s.gates)) out.unit_sums.push_back(static_cast<int32_t>(sum));
  return out;
}

}  // namespace rnnp
