// pack_q8.cpp -- panels of int8, of any width, with a scale for each group of k of each unit of each gate, as GGUF's Q8_0 has them.
// Weights are -127 to 127, -128 too where their scale is given. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "pack/pack.h"

namespace rnnp {
namespace {

constexpr float kMostByte = 127.0f;

float scale_of(const float *row, uint32_t count) {
  float most = 0.0f;
  for (uint32_t k = 0; k < count; ++k) most = std::max(most, std::fabs(row[k]));
  return most / kMostByte;
}

}  // namespace

PackedMatrix pack_q8(const PanelFormat &format, const MatrixSource &s) {
  PackedMatrix out;
  const MatrixShape shape = {s.gates, s.units, s.k, s.k};
  out.group_k = s.group_k != 0 ? s.group_k : kLeastGroup;
  out.panels.assign(panels_bytes(format, shape), 0);
  out.scales.assign(scales_bytes(format, shape, out.group_k) / sizeof(float), 0.0f);
  const uint32_t groups = (s.k + out.group_k - 1) / out.group_k;
  const size_t width = format.nr == 0 ? s.units : format.nr, rows = size_t{s.gates} * s.units;
  for (size_t i = 0; i < rows * groups; ++i) {
    const uint32_t g = static_cast<uint32_t>(i / groups / s.units), unit = static_cast<uint32_t>(i / groups % s.units);
    const uint32_t group = static_cast<uint32_t>(i % groups), first = group * out.group_k, end = std::min(s.k, first + out.group_k);
    const size_t from = size_t{s.gate_begin} * s.units + i / groups;
    const float *row = s.m + from * s.k;
    const float given = s.scales == nullptr ? 0.0f : s.scales[from * groups + group];
    const float scale = given != 0.0f ? given : scale_of(row + first, end - first);
    out.scales[((unit / width * groups + group) * s.gates + g) * width + unit % width] = scale;
    for (uint32_t k = first; k < end && scale != 0.0f; ++k) {
      const float least = given != 0.0f ? -kMostByte - 1 : -kMostByte;
      const float q = std::nearbyint(std::min(std::max(row[k] / scale, least), kMostByte));
      out.panels[place_in_panels(format, s, g, unit, k)] = static_cast<uint8_t>(static_cast<int>(q));
    }
  }
  return out;
}

}  // namespace rnnp
