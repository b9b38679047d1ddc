// recurrent_check.cpp -- Contract: recurrent_check.h. SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent_check.h"

#include "ops/recurrent_plan.h"

namespace rnnp {
namespace {

bool is_act(const BlobActivation &a, Act act) {
  return a.act == uint32_t(act);
}
bool is_known_act(const BlobActivation &a) {
  return a.act <= uint32_t(Act::kCeil);
}

// h is read by all threads while it is written, so it has two buffers; c is each thread's own, and is written where it is read.
bool state_is(const Model &m, uint32_t state, uint32_t elems, uint32_t buffers) {
  return state < m.states.count && m.states[state].elems == elems && m.states[state].buffers == buffers;
}

bool weights_fit(const Model &m, const AttrRecurrent &a, const BlobDirection &d) {
  const uint32_t gates = cell_gates(Cell(a.cell));
  const uint32_t h = a.hidden_size;
  if (d.reverse > 1 || !is_known_act(d.act[0]) || !is_known_act(d.act[1]) || !is_known_act(d.act[2])) return false;
  if (!m.has_matrix(d.w, gates, h, a.input_size, 1) || d.r >= m.matrices.count) return false;
  const bool split = candidate_is_apart(Cell(a.cell), m.matrix(d.r).format);
  if (!m.has_matrix(d.r, split ? 2 : gates, h, h, 1)) return false;
  if (split ? !m.has_matrix(d.r_output, 1, h, h, 1) : d.r_output != kNone) return false;
  const Matrix w = m.matrix(d.w);
  if (!m.vector_fits(d.bias, w, gates)) return false;
  if (Cell(a.cell) == Cell::kGruLinear && !m.vector_fits(d.r_bias, w, 1)) return false;
  return d.peephole == kNone || (Cell(a.cell) == Cell::kLstm && m.vector_fits(d.peephole, w, 3));
}

bool states_fit(const Model &m, const AttrRecurrent &a, const BlobDirection &d) {
  const uint32_t h = a.hidden_size;
  return state_is(m, d.state_h, h, 2) && (!has_c(Cell(a.cell)) || (state_is(m, d.state_c, h, 1) && d.state_c != d.state_h));
}

// Tiles of one width, of which each direction's cells are; the same format for all of R, and for W of both directions.
bool formats_agree(const Model &m, const AttrRecurrent &a) {
  const uint32_t w = m.matrices[a.direction[0].w].format, r = m.matrices[a.direction[0].r].format;
  for (uint32_t d = 0; d < a.direction_count; ++d) {
    const BlobDirection &b = a.direction[d];
    if (m.matrices[b.w].format != w || m.matrices[b.r].format != r) return false;
    if (b.r_output != kNone && m.matrices[b.r_output].format != r) return false;
  }
  return format_of(w).nr != 0 && format_of(w).nr == format_of(r).nr;
}

// Every direction's initial values lie within the value's row.
bool init_fits(const Model &m, const AttrRecurrent &a, uint32_t value, bool is_h) {
  if (!is_f32_value(m, value, 0) || m.values[value].sequence) return false;
  for (uint32_t d = 0; d < a.direction_count; ++d) {
    const BlobStrided &at = is_h ? a.direction[d].init_h : a.direction[d].init_c;
    if (at.first + uint64_t{at.stride} * (a.hidden_size - 1) >= m.values[value].row_elems) return false;
  }
  return true;
}

// Rows of `elems`, one per step or one per run.
bool is_rows(const Model &m, uint32_t value, uint32_t elems, uint32_t sequence) {
  return is_f32_value(m, value, elems) && m.values[value].sequence == sequence;
}

bool values_fit(const Model &m, const BlobNode &n, const AttrRecurrent &a) {
  const uint32_t width = a.direction_count * a.hidden_size, lengths = m.node_input(n, 3);
  if (!is_rows(m, m.node_input(n, 0), x_elems(a), 1)) return false;
  for (uint32_t i = 1; i <= 2; ++i) {
    const uint32_t init = m.node_input(n, i);
    if (init != kNone && !init_fits(m, a, init, i == 1)) return false;
  }
  if (lengths != kNone) {
    const BlobValue &v = m.values[lengths];
    const bool shaped =
        ValueKind(v.kind) == ValueKind::kConst ? v.row_elems == m.header->fixed_batch : is_lengths_input(m, lengths);
    if (v.dtype != uint32_t(DType::kI32) || !shaped) return false;
  }
  for (uint32_t i = 0; i <= 2; ++i) {
    const uint32_t out = m.node_output(n, i);
    if (out != kNone && !is_rows(m, out, width, i == 0)) return false;
  }
  return has_c(Cell(a.cell)) || (m.node_input(n, 2) == kNone && m.node_output(n, 2) == kNone);
}

}  // namespace

KernelFamily step_family(const AttrRecurrent &a, const BlobDirection &d) {
  const bool plain = a.clip == 0 && (a.flags & kInputForget) == 0 && d.peephole == kNone;
  const bool sigmoid_tanh = plain && is_act(d.act[0], Act::kSigmoid) && is_act(d.act[1], Act::kTanh);
  switch (Cell(a.cell)) {
    case Cell::kRnn:
      if (plain && is_act(d.act[0], Act::kTanh)) return KernelFamily::kRnnTanh;
      return plain && is_act(d.act[0], Act::kRelu) ? KernelFamily::kRnnRelu : KernelFamily::kRnnGeneric;
    case Cell::kLstm:
    case Cell::kLstmNorm:
      return sigmoid_tanh && is_act(d.act[2], Act::kTanh) ? KernelFamily::kLstm : KernelFamily::kLstmGeneric;
    case Cell::kGru:
      return sigmoid_tanh ? KernelFamily::kGruGates : KernelFamily::kGruGatesGeneric;
    case Cell::kGruLinear:
      break;
  }
  return sigmoid_tanh ? KernelFamily::kGruLinear : KernelFamily::kGruLinearGeneric;
}

bool recurrent_sizes_fit(const AttrRecurrent &a, Cell last) {
  constexpr uint32_t kMostUnits = 1u << 20;
  return a.cell <= uint32_t(last) && a.direction_count >= 1 && a.direction_count <= 2 && a.input_size != 0 && a.hidden_size != 0 &&
         a.input_size <= kMostUnits && a.hidden_size <= kMostUnits && a.clip >= 0 && a.flags <= (kInputForget | kMaskedSteps);
}

rnnp_status check_recurrent_weights(const Model &m, const AttrRecurrent &a) {
  for (uint32_t d = 0; d < a.direction_count; ++d) {
    if (!weights_fit(m, a, a.direction[d])) return RNNP_E_BLOB_CORRUPT;
  }
  return formats_agree(m, a) ? RNNP_OK : RNNP_E_LAYOUT;
}

rnnp_status check_recurrent(const Model &m, const BlobNode &n) {
  return check_recurrent_of(m, n, Cell::kGruLinear);
}

rnnp_status check_recurrent_of(const Model &m, const BlobNode &n, Cell last) {
  const AttrRecurrent *a = m.attr<AttrRecurrent>(n);
  if (a == nullptr || !recurrent_sizes_fit(*a, last) || !values_fit(m, n, *a)) return RNNP_E_BLOB_CORRUPT;
  for (uint32_t d = 0; d < a->direction_count; ++d) {
    if (!states_fit(m, *a, a->direction[d])) return RNNP_E_BLOB_CORRUPT;
    if (a->direction[d].reverse && (m.header->flags & kBlobCausal)) return RNNP_E_BLOB_CORRUPT;
  }
  if (a->direction_count == 2 && a->direction[0].state_h == a->direction[1].state_h) return RNNP_E_BLOB_CORRUPT;
  return check_recurrent_weights(m, *a);
}

bool has_norms(const Model &m, const BlobNode &node) {
  const AttrRecurrent *a = m.attr<AttrRecurrent>(node);
  return a != nullptr && a->cell == uint32_t(Cell::kLstmNorm);
}

bool is_unfused(const Model &m, const BlobNode &node) {
  const AttrRecurrent *a = m.attr<AttrRecurrent>(node);
  return a != nullptr && a->direction[0].r < m.matrices.count && !is_fused(format_of(m.matrices[a->direction[0].r].format));
}

NodeCosts recurrent_costs(const Model &m, const BlobNode &node) {
  const AttrRecurrent &a = *m.attr<AttrRecurrent>(node);
  if (!kManyThreads) return {0, 0, 0, widest_row_bytes(a.hidden_size)};
  const Cell cell = Cell(a.cell);
  const uint64_t units = uint64_t{a.hidden_size} * cell_gates(cell) * a.direction_count;
  return {cost_product(units, uint64_t{a.input_size} + a.hidden_size + 2 * kElementCost),
          macs_per_sync(cell, a.hidden_size, a.direction_count), syncs_per_step(cell), widest_row_bytes(a.hidden_size)};
}

}  // namespace rnnp
