// recurrent_products.cpp -- recurrent layers whose R is in panels that recurrent kernels do not read (low precision, sparse): the
// phase that multiplies by R. Integer-only layers differ in their kernels alone. An operator of its own, so that a program without
// such layers links none of this. SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent_products.h"

#include "ops/panel_product.h"
#include "ops/recurrent.h"
#include "ops/recurrent_check.h"
#include "ops/sweep_tiles.h"

namespace rnnp {
namespace {

void multiply(const Phase &phase, const RecurArgs &a, Products *products) {
  const bool candidate = phase.kind == PhaseKind::kCandidate;
  GemmArgs &g = candidate ? products->candidate : products->gates;
  if (candidate && products->linear) {
    g.a = a.h_prev;
    g.out = a.z;
  } else {
    g.a = candidate ? a.rh : a.h_prev;
    g.start = g.out = const_cast<float *>(a.preact) + (candidate ? products->candidate_column : 0);
  }
  g.rows = a.rows;
  g.prepared = phase.prepared && a.rows <= kQuantisedRows;
  sweep_tiles(products->gemm, &g, products->piece_tiles[candidate], a);
}

// kGruLinear's gate h has its product by itself, onto its bias.
void fill_linear(const float *r_bias, uint32_t nr, const RecurArgs &a, GemmArgs *candidate) {
  candidate->start = r_bias;
  candidate->start_row_bytes = 0;
  candidate->out_row_bytes = a.state_row_bytes;
  candidate->start_tile = candidate->out_tile = static_cast<uint8_t>(nr);
}

Phase phase_of(PhaseKind kind, bool prepared) {
  return {nullptr, nullptr, kind, prepared, false, false};
}

// Before the cells come the products (recurrent_layer.h). A sweep downwards meets first what the product of the step before has
// left in cache.
void list_products(Cell cell, bool alike, bool serpentine, Phase *p, Direction *direction) {
  p[0] = phase_of(PhaseKind::kGates, false);
  if (cell == Cell::kGru) p[2] = phase_of(PhaseKind::kCandidate, false);
  if (cell != Cell::kGruLinear) return;
  p[1] = phase_of(PhaseKind::kCandidate, alike);
  if (!serpentine) return;
  p[3] = phase_of(PhaseKind::kCandidate, false);
  p[4] = phase_of(PhaseKind::kGates, alike);
  p[5] = p[2];
  direction->downwards = 3;
}

uint32_t product_phases(Cell cell, bool serpentine) {
  return cell == Cell::kGruLinear ? serpentine ? 5 : 2 : cell == Cell::kGru ? 2 : 1;
}

void fill_products(const BuildEnv &env, const RecurrentPlan &plan, const BlobDirection &d, GemmFn gemm, const Recurrent &layer,
                   Products *products, Direction *direction) {
  const Model &m = *env.model;
  const uint32_t nr = layer.nr;
  const RecurArgs &a = direction->args;
  direction->products = products;
  Products &p = *products;
  p.multiply = multiply;
  p.gemm = gemm;
  p.candidate_column = static_cast<uint16_t>(2 * nr);
  p.linear = layer.cell == Cell::kGruLinear;
  p.gates = p.candidate = product_with(m.matrix(d.r), plan, nr, a);
  if (d.r_output != kNone) p.candidate = product_with(m.matrix(d.r_output), plan, nr, a);
  if (p.linear) direction->args.r_bias_row_bytes = a.state_row_bytes;
  if (p.linear) fill_linear(m.weights(d.r_bias), nr, a, &p.candidate);
  p.piece_tiles[0] = tiles_of_a_piece(plan, nr, p.gates.w.gates, env.l2_bytes);
  p.piece_tiles[1] = tiles_of_a_piece(plan, nr, p.candidate.w.gates, env.l2_bytes);
  const bool alike = p.gates.w.lhs_scale == p.candidate.w.lhs_scale && p.gates.w.group_k == p.candidate.w.group_k;
  list_products(layer.cell, alike, plan.serpentine != 0, direction->phases, direction);
}

bool is_integer_only(const Model &m, uint32_t matrix) {
  return is_fixed_point(m.matrix(matrix).format);
}

// Far from where the exponents of floats end.
bool layer_factor_fits(const Model &m, uint32_t matrix) {
  return matrix == kNone || (m.matrix(matrix).lhs_scale >= 1e-30f && m.matrix(matrix).lhs_scale <= 1e30f);
}

// Integer-only layers: all of their matrices are, and their cells are the plain ones.
bool fixed_fits(const Model &m, const BlobNode &node) {
  const AttrIntegerRecurrent *a = m.attr<AttrIntegerRecurrent>(node);
  if (a == nullptr || has_mask(a->layer)) return false;
  for (uint32_t d = 0; d < a->layer.direction_count; ++d) {
    const BlobDirection &b = a->layer.direction[d];
    if (!layer_factor_fits(m, b.w) || !layer_factor_fits(m, b.r) || !layer_factor_fits(m, b.r_output)) return false;
    switch (step_family(a->layer, b)) {
      case KernelFamily::kLstm:
        if (a->c_bits[d] < kLeastCBits || a->c_bits[d] > kMostCBits) return false;
        break;
      case KernelFamily::kRnnTanh:
      case KernelFamily::kGruLinear:
      case KernelFamily::kGruGates:
        break;
      default:
        return false;
    }
  }
  return true;
}

rnnp_status check_unfused(const Model &m, const BlobNode &node) {
  const rnnp_status status = check_recurrent(m, node);
  if (status != RNNP_OK) return status;
  const BlobDirection &d = m.attr<AttrRecurrent>(node)->direction[0];
  if (is_integer_only(m, d.w) != is_integer_only(m, d.r)) return RNNP_E_LAYOUT;
  return !is_integer_only(m, d.r) || fixed_fits(m, node) ? RNNP_OK : RNNP_E_BLOB_CORRUPT;
}

rnnp_status build_unfused(BuildEnv *env, const BlobNode &node, void **object) {
  const AttrRecurrent &a = *env->model->attr<AttrRecurrent>(node);
  const RecurrentPlan plan = plan_recurrent(recurrent_shape(*env->model, a), *env);
  UnfusedKernels kernels;
  rnnp_status status = find_unfused_kernels(*env, a, plan, &kernels);
  if (status != RNNP_OK) return status;
  Recurrent *layer = nullptr;
  status = build_over_time(env, a, plan, kernels.others, &layer);
  add_products(env, a, plan, kernels.product, layer);
  *object = layer;
  for (uint32_t d = 0; layer != nullptr && kernels.others.fixed && d < a.direction_count; ++d) {
    const uint32_t c_bits = env->model->attr<AttrIntegerRecurrent>(node)->c_bits[d];
    layer->direction[d].args.integer = {layer->nr, static_cast<uint8_t>(c_bits)};
  }
  return status;
}

void run_unfused(const RunEnv &env, const BlobNode &node, void *object, uint32_t thread) {
  Products products;
  run_over_time(env, node, *static_cast<const Recurrent *>(object), thread, &products);
}

bool accepts_unfused(const OpChoice &choice, const BlobNode &node) {
  return is_unfused(*choice.model, node);
}

}  // namespace

rnnp_status find_unfused_kernels(const BuildEnv &env, const AttrRecurrent &a, const RecurrentPlan &plan, UnfusedKernels *kernels) {
  const RecurrentShape shape = recurrent_shape(*env.model, a);
  const bool fixed = is_fixed_point(shape.r);
  const Kernel *product = fixed ? find_panel_kernel(env, KernelFamily::kGemmQ15, shape.r) : find_gemm(env, shape.r, 2);
  if (product == nullptr) return RNNP_E_LAYOUT;
  const Kernel *input = fixed ? find_panel_kernel(env, KernelFamily::kGemmQ15, shape.w) : find_gemm(env, shape.w, plan.gates);
  const uint32_t before = shape.cell == Cell::kGruLinear ? 2u : 1u;
  *kernels = {product->gemm, {input, fixed, before, product_phases(shape.cell, plan.serpentine != 0)}};
  return RNNP_OK;
}

void add_products(BuildEnv *env, const AttrRecurrent &a, const RecurrentPlan &plan, GemmFn product, Recurrent *layer) {
  Products *products = env->arena->take<Products>(a.direction_count);
  for (uint32_t d = 0; layer != nullptr && products != nullptr && d < a.direction_count; ++d)
    fill_products(*env, plan, a.direction[d], product, *layer, products + d, &layer->direction[d]);
}

RNNPACK_OP(recurrent_unfused,
           {OpKind::kRecurrent, accepts_unfused, check_unfused, recurrent_costs, build_unfused, finish_recurrent, run_unfused});

}  // namespace rnnp
