// pack.cpp -- Contract: pack.h.
// SPDX-License-Identifier: Apache-2.0
#include "pack/pack.h"

#include <algorithm>

namespace rnnp {

std::vector<float> pack_matrix(const float *m, uint32_t units, uint32_t k, uint32_t gate_begin, uint32_t gates, uint32_t nr) {
  std::vector<float> out(matrix_elems(units, k, gates, nr), 0.0f);
  const uint64_t panel = panel_elems(k, gates, nr);
  for (uint32_t unit = 0; unit < units; ++unit) {
    for (uint32_t g = 0; g < gates; ++g) {
      const float *row = m + (uint64_t{gate_begin + g} * units + unit) * k;
      float *to = out.data() + (unit / nr) * panel + uint64_t{g} * nr + unit % nr;
      for (uint32_t i = 0; i < k; ++i) to[uint64_t{i} * gates * nr] = row[i];
    }
  }
  return out;
}

std::vector<float> pack_gru_recurrent(const float *m, uint32_t units, uint32_t nr) {
  std::vector<float> out = pack_matrix(m, units, units, 0, 2, nr);
  const std::vector<float> candidate = pack_matrix(m, units, units, 2, 1, nr);
  out.insert(out.end(), candidate.begin(), candidate.end());
  return out;
}

std::vector<float> pack_vector(const float *v, uint32_t units, uint32_t gates, uint32_t nr) {
  return pack_matrix(v, units, 1, 0, gates, nr);
}

}  // namespace rnnp
