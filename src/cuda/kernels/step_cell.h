// step_cell.h -- the end of a step in a launch of its own: from a lane's sums to the new state in memory. The kernels of all
// weights end so. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_KERNELS_STEP_CELL_H_
#define RNNPACK_CUDA_KERNELS_STEP_CELL_H_

#include "cuda/kernels/cell.h"
#include "cuda/kernels/exchange.h"

namespace rnnp {
namespace cuda {

// leads: this lane stores what its unit became.
// kChained: rec has the candidate's bias already.
template <Cell kCell, bool kGeneric, bool kChained>
SIMT_FN void step_cell(const RecurrentArgs &a, const GateLane &gate, float pre, float rec, uint32_t n, uint32_t unit, bool exists,
                       bool leads) {
  const uint64_t at = state_place(a, n) + unit;
  UnitState s = {0.0f, 0.0f, 0.0f, {0.0f, 0.0f, 0.0f}};
  if (exists) {
    s.h = a.h[at];
    if (kCell == Cell::kLstm) s.c = a.c[at];
    if (kCell == Cell::kGruLinear && !kChained) s.r_bias = a.r_bias[unit];
    load_peephole<kCell, kGeneric>(a, unit, &s);
  }
  const uint64_t scratch = uint64_t{n} * a.state_row + unit;
  float c_new = s.c, h_new;
  if constexpr (kCell == Cell::kGru) {
    if (a.half == 0) {
      float z;
      const float rh = gru_gates<kGeneric>(a.rules, gate, pre, rec, s.h, &z);
      if (exists && leads) a.rh[scratch] = rh, a.z[scratch] = z;
      return;
    }
    h_new = gru_output<kGeneric>(a.rules, gate, pre, rec, s.h, exists ? a.z[scratch] : 0.0f);
  } else {
    h_new = finish_cell<kCell, kGeneric>(a.rules, gate, pre, rec, s, &c_new);
  }
  simt::sync_warp();  // all lanes of the unit have read c
  if (!exists || !leads) return;
  const bool ended = row_has_ended(a, 0, n), stays = ended || row_is_masked(a, n);
  if (stays) h_new = s.h;
  a.h_next[at] = h_new;
  if (kCell == Cell::kLstm && !stays) a.c[at] = c_new;
  if (a.y != nullptr) a.y[n * a.y_row + unit] = ended ? 0.0f : h_new;
}

// Whichever block is the last to have read h copies what has become of it. All threads come here.
SIMT_FN void take_h_back(const RecurrentArgs &a) {
  if (a.takes_back == 0) return;
  simt::sync_block();
  bool last = false;
  if (simt::thread() == 0) last = simt::arrive_in_turn(a.control + kStepped) + 1 == simt::block_count();
  if (!simt::sync_block_or(last)) return;
  if (simt::thread() == 0) simt::flag_store(a.control + kStepped, 0);
  SIMT_ROLLED for (uint32_t i = simt::thread(); i < a.batch * a.hidden; i += kThreads) {
    const uint64_t at = state_place(a, i / a.hidden) + i % a.hidden;
    a.h[at] = a.h_next[at];
  }
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_KERNELS_STEP_CELL_H_
