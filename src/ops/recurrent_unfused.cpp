// recurrent_unfused.cpp -- recurrent layers whose R is in panels that recurrent kernels do not read (low precision): products of
// their own add h * R to the pre-activations where they lie, then the recurrent kernel does the cells. Integer-only layers differ
// in their kernels alone: pre-activations are integers where others have floats. Everything else is build_recurrent's; an operator
// of its own, so that a program without such layers links none of this. SPDX-License-Identifier: Apache-2.0
#include "ops/panel_product.h"
#include "ops/recurrent_build.h"
#include "ops/recurrent_check.h"
#include "ops/recurrent_run.h"
#include "ops/recurrent_unfused_step.h"
#include "ops/share_tiles.h"

namespace rnnp {
namespace {

// Of the rows and tiles of `a`: out = start + factors * R. `prepared`: the product before had the same factors.
void multiply(const Half &half, const GemmArgs &product, const RecurArgs &a, const float *factors, const float *start, float *out,
              bool prepared) {
  GemmArgs g = product;
  g.a = factors;
  g.start = start;
  g.out = out;
  g.rows = a.rows;
  g.tile_begin = a.tile_begin;
  g.tile_end = a.tile_end;
  g.scratch = half.factors;
  g.prepared = prepared && a.rows <= kQuantisedRows;
  multiply_tiles(*half.split, g, a.descending != 0);
}

// Onto the pre-activations, but gate h's part of a kGruLinear by itself, onto its bias.
void multiply_half(const Half &half, const RecurArgs &a, uint32_t nr) {
  const SplitStep &split = *half.split;
  float *preact = const_cast<float *>(a.preact), *gate_h = preact + 2 * nr;
  if (half.candidate) return multiply(half, split.candidate, a, a.rh, gate_h, gate_h, false);
  const bool linear = half.cell == Cell::kGruLinear, back = linear && a.descending != 0;
  if (back) multiply(half, split.candidate, a, a.h_prev, split.candidate.start, a.z, false);
  multiply(half, split.r, a, a.h_prev, preact, preact, back && split.alike);
  if (linear && !back) multiply(half, split.candidate, a, a.h_prev, split.candidate.start, a.z, split.alike);
}

void share(const Direction &d, size_t tiles, uint32_t threads, uint32_t thread, size_t *begin, size_t *end) {
  const SplitStep &split = *d.split;
  const GemmArgs *const products[] = {&d.gemm, &split.r, &split.candidate};
  const size_t count = split.candidate.panels == split.r.panels ? 2 : 3;
  share_tiles(products, count, tiles, threads, thread, begin, end);
}

// h, or r*h, times a matrix of R, onto pre-activations.
GemmArgs product_with(const Matrix &matrix, const RecurrentPlan &plan, const Recurrent &layer) {
  GemmArgs g;
  set_product(&g, matrix);
  g.a_row_bytes = layer.direction[0].args.state_row_bytes;
  g.start_row_bytes = g.out_row_bytes = plan.row_bytes;
  g.start_tile = g.out_tile = static_cast<uint16_t>(plan.gates * layer.nr);
  g.prefetch_next_tile = plan.prefetch_r != 0;
  return g;
}

// Pieces so small that what the step before left in L2 is met before it is gone; of as many vectors as hide the latency of a
// multiply-add, however large those are.
uint32_t panels_of_a_piece(const RecurrentPlan &plan, uint32_t nr, uint32_t l2_bytes) {
  constexpr uint32_t kUnits = 128;
  const size_t panel_bytes = plan.recurrent_bytes / (plan.tiles * plan.gates) + 1;
  const uint32_t fit = static_cast<uint32_t>(l2_bytes / 16 / panel_bytes), chains = kUnits / nr;
  return fit < chains ? chains : fit;
}

void fill_split(const Model &m, const RecurrentPlan &plan, const Recurrent &layer, const BlobDirection &d, GemmFn gemm,
                SplitStep *out) {
  out->multiply = multiply_half;
  out->share = share;
  out->gemm = gemm;
  out->r = out->candidate = product_with(m.matrix(d.r), plan, layer);
  out->alike = false;
  if (d.r_output == kNone) return;
  out->candidate = product_with(m.matrix(d.r_output), plan, layer);
  out->alike = out->r.lhs_scale == out->candidate.lhs_scale && out->r.group_k == out->candidate.group_k;
  if (layer.cell == Cell::kGru) return;
  out->candidate.start = m.weights(d.r_bias);
  out->candidate.start_row_bytes = 0;
  out->candidate.out_row_bytes = out->candidate.a_row_bytes;
  out->candidate.start_tile = out->candidate.out_tile = static_cast<uint16_t>(layer.nr);
}

// Integer-only layers: all of their matrices are, and their cells are the plain ones.
bool is_integer_only(const Model &m, uint32_t matrix) {
  return is_fixed_point(m.matrix(matrix).format);
}

// Far from where the exponents of floats end.
bool factor_fits(const Model &m, uint32_t matrix) {
  return matrix == kNone || (m.matrix(matrix).lhs_scale >= 1e-30f && m.matrix(matrix).lhs_scale <= 1e30f);
}

bool fixed_fits(const Model &m, const BlobNode &node) {
  const AttrIntegerRecurrent *a = m.attr<AttrIntegerRecurrent>(node);
  if (a == nullptr) return false;
  for (uint32_t d = 0; d < a->layer.direction_count; ++d) {
    const BlobDirection &b = a->layer.direction[d];
    if (!factor_fits(m, b.w) || !factor_fits(m, b.r) || !factor_fits(m, b.r_output)) return false;
    switch (step_family(a->layer, a->layer.direction[d])) {
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

rnnp_status check_split(const Model &m, const BlobNode &node) {
  const rnnp_status status = check_recurrent(m, node);
  if (status != RNNP_OK) return status;
  const BlobDirection &d = m.attr<AttrRecurrent>(node)->direction[0];
  if (is_integer_only(m, d.w) != is_integer_only(m, d.r)) return RNNP_E_LAYOUT;
  return !is_integer_only(m, d.r) || fixed_fits(m, node) ? RNNP_OK : RNNP_E_BLOB_CORRUPT;
}

rnnp_status build(BuildEnv *env, const BlobNode &node, void **object) {
  const Model &m = *env->model;
  const AttrRecurrent *a = m.attr<AttrRecurrent>(node);
  const PanelFormat r = m.matrix(a->direction[0].r).format;
  const bool fixed = is_fixed_point(r);
  const Kernel *product = fixed ? find_panel_kernel(*env, KernelFamily::kGemmQ15, r) : find_gemm(*env, r, 2);
  if (product == nullptr) return RNNP_E_LAYOUT;
  RecurrentPlan plan;
  Recurrent *layer = nullptr;
  const rnnp_status status = build_recurrent(env, node, fixed, &plan, &layer);
  SplitStep *splits = env->arena->take<SplitStep>(a->direction_count);
  *object = layer;
  if (status != RNNP_OK || splits == nullptr) return status;
  for (uint32_t d = 0; d < a->direction_count; ++d) {
    fill_split(m, plan, *layer, a->direction[d], product->gemm, &splits[d]);
    splits[d].back_panels = panels_of_a_piece(plan, layer->nr, env->l2_bytes);
    layer->direction[d].split = &splits[d];
    if (!fixed) continue;
    layer->direction[d].args.fixed_nr = r.nr;
    layer->direction[d].args.c_bits = static_cast<uint8_t>(m.attr<AttrIntegerRecurrent>(node)->c_bits[d]);
  }
  return RNNP_OK;
}

bool is_split(const OpChoice &choice, const BlobNode &node) {
  return splits_step(*choice.model, node);
}

}  // namespace

RNNPACK_OP(recurrent_unfused, {OpKind::kRecurrent, is_split, check_split, recurrent_costs, build, finish_split, run_recurrent});

}  // namespace rnnp
