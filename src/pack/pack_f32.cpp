// pack_f32.cpp -- panels of f32 as layout.h describes them, of any width. SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "pack/pack.h"

namespace rnnp {

std::vector<uint8_t> pack_f32(const PanelFormat &format, const MatrixSource &s) {
  const size_t width = format.nr == 0 ? s.units : format.nr;
  std::vector<float> out(padded_units(format, s.units) * s.gates * s.k, 0.0f);
  for (uint32_t unit = 0; unit < s.units; ++unit) {
    for (uint32_t g = 0; g < s.gates; ++g) {
      const float *row = s.m + (size_t{s.gate_begin + g} * s.units + unit) * s.k;
      float *to = out.data() + unit / width * width * s.gates * s.k + g * width + unit % width;
      for (uint32_t i = 0; i < s.k; ++i) to[i * s.gates * width] = row[i];
    }
  }
  std::vector<uint8_t> bytes(out.size() * sizeof(float));
  if (!out.empty()) std::memcpy(bytes.data(), out.data(), bytes.size());
  return bytes;
}

}  // namespace rnnp
