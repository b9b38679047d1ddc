// pack_f32.cpp -- panels of f32 as layout.h describes them, of any width. SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "pack/pack.h"

namespace rnnp {

PackedMatrix pack_f32(const PanelFormat &format, const MatrixSource &s) {
  std::vector<uint8_t> bytes(padded_units(format, s.units) * s.gates * s.k * sizeof(float), 0);
  for (uint32_t g = 0; g < s.gates; ++g) {
    for (uint32_t unit = 0; unit < s.units; ++unit) {
      const float *row = s.m + (size_t{s.gate_begin + g} * s.units + unit) * s.k;
      for (uint32_t k = 0; k < s.k; ++k)
        std::memcpy(bytes.data() + sizeof(float) * place_in_panels(format, s, g, unit, k), row + k, sizeof(float));
    }
  }
  return {std::move(bytes), {}, {}};
}

}  // namespace rnnp
