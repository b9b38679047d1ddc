// pack_f32.cpp -- panels of f32 as layout.h describes them, of any width. SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "pack/pack.h"

namespace rnnp {

PackedMatrix pack_f32(const PanelFormat &format, const MatrixSource &s) {
  std::vector<float> out(padded_units(format, s.units) * s.gates * s.k, 0.0f);
  for (uint32_t g = 0; g < s.gates; ++g) {
    for (uint32_t unit = 0; unit < s.units; ++unit) {
      const float *row = s.m + (size_t{s.gate_begin + g} * s.units + unit) * s.k;
      for (uint32_t k = 0; k < s.k; ++k) out[place_in_panels(format, s, g, unit, k)] = row[k];
    }
  }
  std::vector<uint8_t> bytes(out.size() * sizeof(float));
  if (!out.empty()) std::memcpy(bytes.data(), out.data(), bytes.size());
  return {bytes, {}, {}};
}

}  // namespace rnnp
