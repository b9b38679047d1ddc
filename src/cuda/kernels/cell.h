// cell.h -- the cells. The lanes of a warp hold the gates of its units: gate g of the unit that begins at lane `first` is in lane
// first + g * stride. `pre` is the input's part of a lane's pre-activation, `rec` the recurrent one; their sum is pre + rec in
// every kernel. All lanes of a unit get the same results. Plain rules (the default activations, no clip, no peepholes, no coupled
// gates) have code of their own. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_KERNELS_CELL_H_
#define RNNPACK_CUDA_KERNELS_CELL_H_

#include "cuda/kernels/args.h"
#include "cuda/kernels/device_activation.h"

namespace rnnp {
namespace cuda {

// Which unit's which gate a lane holds. `first` may be a lane that does not exist, of a unit that no one stores.
struct GateLane {
  uint32_t first, stride, gate;
};

// The rest of what a cell reads.
struct UnitState {
  float h, c, r_bias;
  float peephole[3];  // i o f
};

SIMT_FN float of_gate(const GateLane &at, float v, uint32_t gate) {
  return simt::shuffle(v, (at.first + gate * at.stride) & 31);
}
SIMT_FN float clipped(const CellRules &rules, int which, float v) {
  return activate(rules.act[which], rules.clip == 0.0f ? v : clamp(v, -rules.clip, rules.clip));
}

SIMT_FN float plain_lstm(const GateLane &at, float v, float c_old, float *c_new) {
  const float s = follow(sigmoid_or_tanh(at.gate == 3), v);
  const float i = of_gate(at, s, 0), o = of_gate(at, s, 1), f = of_gate(at, s, 2), g = of_gate(at, s, 3);
  *c_new = f * c_old + i * g;
  return o * cell_tanh(*c_new);
}

SIMT_FN float generic_lstm(const CellRules &rules, const GateLane &at, float v, const UnitState &u, float *c_new) {
  const float vi = of_gate(at, v, 0), vo = of_gate(at, v, 1), vf = of_gate(at, v, 2), vg = of_gate(at, v, 3);
  const float i = clipped(rules, 0, vi + u.peephole[0] * u.c);
  const float f = rules.input_forget ? 1.0f - i : clipped(rules, 0, vf + u.peephole[2] * u.c);
  *c_new = f * u.c + i * clipped(rules, 1, vg);
  return clipped(rules, 0, vo + u.peephole[1] * *c_new) * activate(rules.act[2], *c_new);
}

template <Cell kCell, bool kGeneric>
SIMT_FN void load_peephole(const RecurrentArgs &a, uint32_t unit, UnitState *u) {
  if constexpr (kCell == Cell::kLstm && kGeneric) {
    if (a.peephole == nullptr) return;
    SIMT_UNROLL for (uint32_t i = 0; i < 3; ++i) u->peephole[i] = a.peephole[uint64_t{i} * a.hidden + unit];
  }
}

// LSTM, RNN and the linear GRU: h after the step.
template <Cell kCell, bool kGeneric>
SIMT_FN float finish_cell(const CellRules &rules, const GateLane &at, float pre, float rec, const UnitState &u, float *c_new) {
  if constexpr (kCell == Cell::kLstm) {
    if constexpr (kGeneric) return generic_lstm(rules, at, pre + rec, u, c_new);
    return plain_lstm(at, pre + rec, u.c, c_new);
  } else if constexpr (kCell == Cell::kRnn) {
    if constexpr (kGeneric) return clipped(rules, 0, pre + rec);
    const float v = pre + rec;
    return Act(rules.act[0].act) == Act::kRelu ? (v < 0.0f ? 0.0f : v) : cell_tanh(v);
  } else {
    const float s = kGeneric ? clipped(rules, 0, pre + rec) : cell_sigmoid(pre + rec);
    const float z = of_gate(at, s, 0), r = of_gate(at, s, 1), x = of_gate(at, pre, 2), h = of_gate(at, rec, 2);
    const float v = x + r * (h + u.r_bias), n = kGeneric ? clipped(rules, 1, v) : cell_tanh(v);
    return (1.0f - z) * n + z * u.h;
  }
}

// A GRU that resets h before it multiplies: z, and r h.
template <bool kGeneric>
SIMT_FN float gru_gates(const CellRules &rules, const GateLane &at, float pre, float rec, float h, float *z) {
  const float s = kGeneric ? clipped(rules, 0, pre + rec) : cell_sigmoid(pre + rec);
  *z = of_gate(at, s, 0);
  return of_gate(at, s, 1) * h;
}
// rec: of r h.
template <bool kGeneric>
SIMT_FN float gru_output(const CellRules &rules, const GateLane &at, float pre, float rec, float h, float z) {
  const float v = of_gate(at, pre + rec, 2), n = kGeneric ? clipped(rules, 1, v) : cell_tanh(v);
  return (1.0f - z) * n + z * h;
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_KERNELS_CELL_H_
