// pack_i4.cpp -- panels of int4, of any width, with a scale for each group of k of each unit of each gate. Where no
// scale is given weights are -7 to 7, else -8 to 7; a given one may be negative.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "pack/pack.h"

namespace rnnp {
namespace {

constexpr float kMost = 7.0f;

float scale_of(const float *row, uint32_t count) {
  float most = 0.0f;
  for (uint32_t k = 0; k < count; ++k) most = std::max(most, std::fabs(row[k]));
  return most / kMost;
}

// Weight `place` of a panel: eight k of a unit are four bytes, the first four k in the low halves.
void put(std::vector<uint8_t> *panels, size_t place, int value) {
  uint8_t &byte = (*panels)[place / 8 * 4 + place % 4];
  const int shift = place % 8 < 4 ? 0 : 4;
  byte = static_cast<uint8_t>((byte & (0xf0 >> shift)) | (value + 8) << shift);
}

}  // namespace

PackedMatrix pack_i4(const PanelFormat &format, const MatrixSource &s) {
  PackedMatrix out;
  out.group_k = s.group_k != 0 ? s.group_k : kLeastGroup;
  out.panels.assign(panels_bytes(format, {s.gates, s.units, s.k, s.k}), 0x88);
  const uint32_t groups = (s.k + out.group_k - 1) / out.group_k;
  const size_t width = format.nr == 0 ? s.units : format.nr;
  out.scales.assign(scales_bytes(format, {s.gates, s.units, s.k, s.k}, out.group_k) / sizeof(float), 0.0f);
  for (uint32_t g = 0; g < s.gates; ++g) {
    for (uint32_t unit = 0; unit < s.units; ++unit) {
      const float *row = s.m + (size_t{s.gate_begin + g} * s.units + unit) * s.k;
      for (uint32_t group = 0; group < groups; ++group) {
        const uint32_t first = group * out.group_k, end = std::min(s.k, first + out.group_k);
        const size_t given = (size_t{s.gate_begin + g} * s.units + unit) * groups + group;
        const bool is_given = s.scales != nullptr && s.scales[given] != 0.0f;
        const float scale = is_given ? s.scales[given] : scale_of(row + first, end - first);
        out.scales[((unit / width * groups + group) * s.gates + g) * width + unit % width] = scale;
        for (uint32_t k = first; k < end && scale != 0.0f; ++k) {
          const float q = std::nearbyint(std::min(std::max(row[k] / scale, is_given ? -kMost - 1 : -kMost), kMost));
          put(&out.panels, place_in_panels(format, s, g, unit, k), static_cast<int>(q));
        }
      }
    }
  }
  return out;
}

}  // namespace rnnp
