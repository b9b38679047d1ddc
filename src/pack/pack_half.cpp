// pack_half.cpp -- Contract: pack_half.h. SPDX-License-Identifier: Apache-2.0
#include "pack/pack_half.h"

namespace rnnp {

PackedMatrix pack_half(const PanelFormat &format, const MatrixSource &s, uint16_t (*nearest)(float)) {
  std::vector<uint8_t> bytes(panels_bytes(format, {s.gates, s.units, s.k, s.k}), 0);
  for (uint32_t g = 0; g < s.gates; ++g) {
    for (uint32_t unit = 0; unit < s.units; ++unit) {
      const float *row = s.m + (size_t{s.gate_begin + g} * s.units + unit) * s.k;
      for (uint32_t k = 0; k < s.k; ++k) {
        const uint16_t weight = nearest(row[k]);
        std::memcpy(bytes.data() + 2 * place_in_panels(format, s, g, unit, k), &weight, sizeof weight);
      }
    }
  }
  return {std::move(bytes), {}, {}};
}

}  // namespace rnnp
