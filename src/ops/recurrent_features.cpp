// recurrent_features.cpp -- a recurrent layer over a feature axis: within every row it starts anew and runs over all of that
// axis (a GRU along the frequencies of a frame, the columns of an image). Rows are independent, so each thread runs its own, a
// block of them side by side in the kernels. Touches: its object, its thread's part of the scratch, its outputs.
// SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent_features.h"

#include "base/bytes.h"
#include "ops/feature_rows.h"
#include "ops/panel_product.h"
#include "ops/recurrent_check.h"
#include "ops/recurrent_phases.h"
#include "pack/layout.h"

namespace rnnp {
namespace {

constexpr uint32_t kMostBlock = 32;  // rows side by side
// Positions whose input one product takes: W is read once for all of them. A W that stays in L1 is multiplied within the step.
constexpr uint32_t kProjectedRows = 32;
constexpr size_t kNearInputBytes = 16 << 10;

bool is_optional(const Model &m, uint32_t value, uint64_t elems) {
  return value == kNone || (is_f32_value(m, value, 0) && m.values[value].row_elems == elems);
}

bool inner_values_fit(const Model &m, const BlobNode &n, const AttrFeatureRecurrent &a) {
  constexpr uint64_t kMost = 1u << 28;
  const uint64_t rows = a.rows, positions = rows * a.steps;
  if (a.rows == 0 || a.steps == 0 || a.rows > kMost || a.steps > kMost || positions > kMost) return false;
  const uint64_t state = rows * a.layer.direction_count * a.layer.hidden_size;
  const uint32_t x = m.node_input(n, 0), operands[2] = {m.node_input(n, 1), m.node_input(n, 2)};
  if (!is_f32_value(m, x, 0) || m.values[x].row_elems != positions * x_elems(a.layer)) return false;
  uint32_t sequence = m.values[x].sequence, results = 0;
  for (const uint32_t v : operands) {
    if (!is_optional(m, v, state)) return false;
    sequence |= v != kNone ? m.values[v].sequence : 0;
  }
  for (uint32_t i = 0; i < 3; ++i) {
    const uint32_t v = m.node_output(n, i);
    if (v == kNone) continue;
    if (!is_optional(m, v, i == 0 ? positions * a.layer.direction_count * a.layer.hidden_size : state) ||
        m.values[v].sequence != sequence)
      return false;
    const uint32_t all[3] = {x, operands[0], operands[1]};
    for (const uint32_t from : all) {
      if (from != kNone && !operand_is_ready(m, from, v)) return false;
    }
    ++results;
  }
  return results != 0 && (Cell(a.layer.cell) == Cell::kLstm || (operands[1] == kNone && m.node_output(n, 2) == kNone));
}

// Calls may have fewer rows side by side than the block has room for, and then take more steps. The same bits either way.
uint32_t positions_projected(const RecurrentPlan &plan, const RecurrentShape &shape, uint32_t block, const OtherMachine &machine) {
  if (!has_many_threads(machine)) return plan.takes_input ? 0 : block;
  const MatrixShape w = {plan.gates, shape.hidden_size, shape.input_size, shape.input_size};
  if (plan.takes_input && panels_bytes(shape.w, w) <= kNearInputBytes) return 0;
  return block < kProjectedRows ? kProjectedRows : block;
}

// Rows side by side (feature_rows.h): what one operand or result holds of them, row i being i strides on.
struct RowBlock {
  float *data;  // nullptr: absent
  size_t stride;
};

void start_rows(float *to, size_t row_bytes, const RowBlock &from, uint32_t rows, uint32_t elems) {
  for (uint32_t row = 0; row < rows; ++row) {
    float *at = operand_at(to, row_bytes * row);
    if (from.data == nullptr) {
      zero_bytes(at, row_bytes);
    } else {
      copy_bytes(at, operand_at(from.data, from.stride * row), elems * sizeof(float));
    }
  }
}

void finish_rows(const RowBlock &to, const float *from, size_t row_bytes, uint32_t rows, uint32_t elems) {
  for (uint32_t row = 0; to.data != nullptr && row < rows; ++row)
    copy_bytes(operand_at(to.data, to.stride * row), operand_at(from, row_bytes * row), elems * sizeof(float));
}

// As many rows a product as lie one after the other.
void project_apart(const Sequence &s, size_t first, size_t count) {
  const RecurArgs &a = s.args;
  const bool by_step = a.rows >= count;
  const size_t row_bytes = a.preact_row_bytes, next = by_step ? s.x_step : a.x_row_bytes;
  GemmArgs g = s.direction->input;
  g.a_row_bytes = by_step ? a.x_row_bytes : s.x_step;
  g.out_row_bytes = by_step ? row_bytes : row_bytes * a.rows;
  g.rows = by_step ? a.rows : static_cast<uint32_t>(count);
  g.scratch = s.factors;
  for (size_t i = 0; i < (by_step ? count : a.rows); ++i) {
    g.a = operand_at(s.x, s.x_step * first + next * i);
    g.out = operand_at(s.preact, (by_step ? row_bytes * a.rows : row_bytes) * i);
    s.layer->gemm(&g);
  }
}

// Some rows of a direction, from `first` on within `row` of the value, or from that row on.
struct Rows {
  size_t row;
  uint32_t first, count, d;
};

void run_rows(const RunEnv &env, const BlobNode &node, const FeatureLayer &features, const Rows &at, uint8_t *scratch,
              Products *products) {
  const Model &m = *env.model;
  const Recurrent &layer = *features.layer;
  const size_t hidden = layer.direction->args.hidden_size, width = hidden * layer.direction_count;
  const size_t state_at = (size_t{at.d} * features.rows + at.first) * hidden;
  const auto block = [&](uint32_t value, size_t elem, size_t elems) {
    return RowBlock{feature_row(env, value, at.row, elem), inner_stride(env, value, features.rows, elems)};
  };
  const RowBlock x = block(m.node_input(node, 0), at.first * size_t{features.x_elems}, features.x_elems);
  const RowBlock y = block(m.node_output(node, 0), at.first * width + at.d * hidden, width);
  Sequence s;
  start_sequence(layer, layer.direction[at.d], {nullptr, 1, 0}, scratch, products, &s);
  s.h[0] = view_as<float>(static_cast<uint8_t *>(s.factors) + layer.plan.factor_bytes);
  s.h[1] = operand_at(s.h[0], features.state_bytes);
  s.live = 0;
  s.x = x.data;
  s.y = y.data;
  s.x_step = size_t{features.rows} * features.x_elems * sizeof(float);
  s.y_step = features.rows * width * sizeof(float);
  s.steps = features.steps;
  s.most = features.positions != 0 ? features.positions / at.count : features.steps;
  s.lengths = nullptr;
  s.first_step = 0;
  RecurArgs &a = s.args;
  a.rows = at.count;
  // One row's steps are as the rows of any other.
  a.x_row_bytes = at.count == 1 ? s.x_step : x.stride;
  a.y_row_bytes = at.count == 1 ? s.y_step : y.stride;
  if (features.positions == 0) {
    s.project = nullptr;
  } else {
    s.project = s.x_step == a.rows * a.x_row_bytes ? project_rows : project_apart;
  }
  const bool lstm = layer.cell == Cell::kLstm;
  a.c = lstm ? operand_at(s.h[1], features.state_bytes) : nullptr;
  const uint32_t h0 = m.node_input(node, 1), c0 = m.node_input(node, 2), y_h = m.node_output(node, 1), y_c = m.node_output(node, 2);
  start_rows(s.h[0], a.state_row_bytes, block(h0, state_at, hidden), at.count, a.hidden_size);
  if (lstm) start_rows(a.c, a.state_row_bytes, block(c0, state_at, hidden), at.count, a.hidden_size);
  run_sequence(&s);
  finish_rows(block(y_h, state_at, hidden), s.h[s.live], a.state_row_bytes, at.count, a.hidden_size);
  if (lstm) finish_rows(block(y_c, state_at, hidden), a.c, a.state_row_bytes, at.count, a.hidden_size);
}

bool is_fused_features(const OpChoice &choice, const BlobNode &node) {
  return !is_unfused(*choice.model, node);
}

rnnp_status build_feature_layer(BuildEnv *env, const BlobNode &node, void **object) {
  const AttrFeatureRecurrent &a = *env->model->attr<AttrFeatureRecurrent>(node);
  const FeaturePlan plan = plan_features(*env, a);
  const PanelFormat w = format_of(env->model->matrices[a.layer.direction[0].w].format);
  FeatureLayer *features = nullptr;
  const rnnp_status status = build_over_features(env, a, plan, {find_gemm(*env, w, plan.cut.gates), false, 0, 0}, &features);
  *object = features;
  return status;
}

void run_feature_layer(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  run_over_features(env, node, *static_cast<const FeatureLayer *>(object), thread, nullptr);
}

}  // namespace

rnnp_status check_features(const Model &m, const BlobNode &n) {
  const AttrFeatureRecurrent *a = m.attr<AttrFeatureRecurrent>(n);
  if (a == nullptr || !recurrent_sizes_fit(a->layer) || !inner_values_fit(m, n, *a)) return RNNP_E_BLOB_CORRUPT;
  const rnnp_status status = check_recurrent_weights(m, a->layer);
  const BlobDirection &d = a->layer.direction[0];
  if (status != RNNP_OK) return status;
  return is_fixed_point(m.matrix(d.w).format) || is_fixed_point(m.matrix(d.r).format) ? RNNP_E_LAYOUT : RNNP_OK;
}

NodeCosts feature_costs(const Model &m, const BlobNode &node) {
  const AttrFeatureRecurrent &a = *m.attr<AttrFeatureRecurrent>(node);
  const uint64_t units = uint64_t{a.layer.hidden_size} * cell_gates(Cell(a.layer.cell)) * a.layer.direction_count;
  const uint64_t step = cost_product(units, uint64_t{a.layer.input_size} + a.layer.hidden_size + 2 * kElementCost);
  return {cost_product(step, uint64_t{a.rows} * a.steps), 0, 0, 0};
}

FeaturePlan plan_features(const BuildEnv &env, const AttrFeatureRecurrent &attr) {
  const AttrRecurrent &a = attr.layer;
  const Cell cell = Cell(a.cell);
  const RecurrentShape shape = recurrent_shape(*env.model, a);
  const size_t most = mul_sat(env.chunk_steps, env.max_batch);
  const uint32_t wanted = attr.rows > 1 ? attr.rows : most < kMostBlock ? static_cast<uint32_t>(most) : kMostBlock;
  FeaturePlan p;
  RecurrentPlan &cut = p.cut;
  cut = plan_recurrent(shape, env);
  p.block = wanted < kMostBlock ? wanted : kMostBlock;
  p.positions = positions_projected(cut, shape, p.block, env.machine);
  p.state_bytes = arena_align_up(size_t{state_row_elems(a.hidden_size)} * sizeof(float) * p.block, env.machine);
  cut.preact_bytes = arena_align_up(mul_sat(cut.row_bytes, p.positions), env.machine);
  cut.gate_bytes = candidate_is_apart(cell, shape.r) ? p.state_bytes : 0;
  const size_t x_factors = product_scratch_bytes(shape.w, a.input_size, p.positions);
  const size_t h_factors = product_scratch_bytes(shape.r, a.hidden_size, p.block);
  cut.factor_bytes = arena_align_up(x_factors > h_factors ? x_factors : h_factors, env.machine);
  const size_t states = mul_sat(p.state_bytes, has_c(cell) ? 3 : 2);
  p.thread_bytes = add_sat(add_sat(cut.preact_bytes, mul_sat(cut.gate_bytes, 2)), add_sat(cut.factor_bytes, states));
  return p;
}

rnnp_status build_over_features(BuildEnv *env, const AttrFeatureRecurrent &a, const FeaturePlan &plan,
                                const RecurrentKernels &kernels, FeatureLayer **built) {
  const size_t scratch = mul_sat(plan.thread_bytes, env->threads);
  if (scratch > env->scratch_bytes) env->scratch_bytes = scratch;
  Recurrent *layer = nullptr;
  const rnnp_status status = build_recurrent(env, a.layer, plan.cut, kernels, &layer);
  FeatureLayer *features = env->arena->take<FeatureLayer>(1);
  if (status != RNNP_OK || features == nullptr) return status;
  *built = features;
  *features = {layer, a.steps, a.rows, x_elems(a.layer), plan.block, plan.positions, plan.state_bytes, plan.thread_bytes};
  return RNNP_OK;
}

void run_over_features(const RunEnv &env, const BlobNode &node, const FeatureLayer &features, uint32_t thread, Products *products) {
  uint32_t y = kNone;
  for (uint32_t i = 3; i-- > 0;) y = env.model->node_output(node, i) != kNone ? env.model->node_output(node, i) : y;
  if (!runs_in_chunk(env, y)) return;
  uint8_t *scratch = env.scratch + features.thread_bytes * thread;
  const bool inner = features.rows > 1;
  size_t row, end;
  split_range(chunk_rows(env, y), env.threads, thread, &row, &end);
  while (row < end) {
    const uint32_t count = inner ? 1 : inner_neighbours(env, node, row, end, features.block);
    for (uint32_t d = 0; d < features.layer->direction_count; ++d) {
      for (uint32_t first = 0; first < features.rows; first += features.block) {
        const uint32_t left = features.rows - first, block = left < features.block ? left : features.block;
        run_rows(env, node, features, {row, first, inner ? block : count, d}, scratch, products);
      }
    }
    row += count;
  }
}

RNNPACK_OP(feature_recurrent, {OpKind::kFeatureRecurrent, is_fused_features, check_features, feature_costs, build_feature_layer,
                               nullptr, run_feature_layer});

}  // namespace rnnp
