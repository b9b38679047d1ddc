// integer_layer.cpp -- Contract: integer_layer.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/emit/integer_layer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "compiler/ir/passes.h"
#include "format/recurrent_panels.h"
#include "pack/pack.h"

namespace rnnp::compiler {
namespace {

// Pre-activations are multiples of 2^-11 of sigmoid's argument, and of twice tanh's.
constexpr double kPreUnit = 2048;

double gate_worth(Cell cell, uint32_t gate) {
  const bool is_tanh = cell == Cell::kRnn || gate + 1 == gate_count(cell);
  return is_tanh ? 2 * kPreUnit : kPreUnit;
}

std::vector<uint32_t> multipliers(const PanelFormat &format, const Storage &storage, MatrixSource source,
                                  const std::vector<double> &worth) {
  if (!storage.rounded.empty()) source.m = storage.rounded.data();
  if (!storage.scales.empty()) source.scales = storage.scales.data();
  source.sum_worth = worth.data();
  return pack_matrix(format, source).multipliers;
}

size_t place(const PanelFormat &format, uint32_t gates, uint32_t gate, uint32_t unit) {
  return (size_t{unit / format.nr} * gates + gate) * format.nr + unit % format.nr;
}

uint32_t whole(double v) {
  return static_cast<uint32_t>(static_cast<int32_t>(std::nearbyint(std::clamp(v, -double{1 << 30}, double{1 << 30}))));
}

}  // namespace

float leading_bits(float factor) {
  uint32_t bits;
  std::memcpy(&bits, &factor, sizeof bits);
  bits &= ~uint32_t{255};
  std::memcpy(&factor, &bits, sizeof bits);
  return factor;
}

IntegerLayer integer_layer(const Recurrent &layer, const Direction &d, const PanelFormat &format) {
  const uint32_t h = layer.hidden_size, gates = gate_count(layer.cell);
  IntegerLayer out;
  out.x_factor = leading_bits(1.0f / d.w_storage.lhs_scale);
  out.h_factor = leading_bits(1.0f / d.r_storage.lhs_scale);
  for (uint32_t gate = 0; gate < gates; ++gate) {
    out.x_worth.push_back(gate_worth(layer.cell, gate) / double{out.x_factor});
    out.h_worth.push_back(gate_worth(layer.cell, gate) / double{out.h_factor});
  }
  const std::vector<uint32_t> w = multipliers(format, d.w_storage, {d.w.data(), h, layer.input_size, 0, gates}, out.x_worth);
  const std::vector<uint32_t> r = multipliers(format, d.r_storage, {d.r.data(), h, h, 0, gates}, out.h_worth);
  out.bias.assign(w.size(), 0);
  for (uint32_t gate = 0; gate < gates; ++gate) {
    const bool apart = layer.cell == Cell::kGruLinear && gate == 2;
    if (apart) out.r_bias.assign(padded_units(format, h), 0);
    for (uint32_t unit = 0; unit < h; ++unit) {
      const size_t at = place(format, gates, gate, unit);
      const double of_h = fixed_loss(r[at]), worth = gate_worth(layer.cell, gate);
      out.bias[at] = whole(double{d.bias[size_t{gate} * h + unit]} * worth + fixed_loss(w[at]) + (apart ? 0 : of_h));
      if (apart) out.r_bias[place(format, 1, 0, unit)] = whole(double{d.r_bias[unit]} * worth + of_h);
    }
  }
  return out;
}

}  // namespace rnnp::compiler
