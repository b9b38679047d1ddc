// recurrent_build.cpp -- Contract: recurrent_build.h. Kernels, plan, and every argument that steps do not change; touches the arena
// only. SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent_build.h"

#include "base/bytes.h"
#include "ops/panel_product.h"
#include "ops/recurrent_check.h"
#include "pack/layout.h"

namespace rnnp {
namespace {

void fill_direction(const Model &m, const AttrRecurrent &a, const RecurrentPlan &plan, const BlobDirection &d, Direction *out) {
  const Cell cell = Cell(a.cell);
  RecurArgs &r = out->args;
  r = {};
  r.r = m.matrix(d.r).f32();
  r.w = m.matrix(d.w).f32();
  r.bias = m.weights(d.bias);
  r.r_bias = cell == Cell::kGruLinear ? m.weights(d.r_bias) : nullptr;
  r.peephole = d.peephole != kNone ? m.weights(d.peephole) : nullptr;
  r.preact_row_bytes = plan.row_bytes;
  r.state_row_bytes = size_t{state_row_elems(a.hidden_size)} * sizeof(float);
  r.input_size = a.input_size;
  r.hidden_size = a.hidden_size;
  r.recurrent_k = plan.fused ? a.hidden_size : 0;
  r.prefetch_next_tile = plan.prefetch_r != 0 && plan.fused;
  copy_bytes(r.cell.act, d.act, sizeof d.act);
  r.cell.clip = a.clip;
  r.cell.input_forget = a.input_forget;
  out->output_r = cell == Cell::kGru ? m.matrix(d.r_output).f32() : nullptr;
  out->state_h = d.state_h;
  out->state_c = cell == Cell::kLstm ? d.state_c : kNone;
  out->reverse = d.reverse;
  out->split = nullptr;
  set_product(&out->gemm, m.matrix(d.w));
  out->gemm.start = m.weights(d.bias);
  out->gemm.out_row_bytes = plan.row_bytes;
  out->gemm.prefetch_next_tile = plan.prefetch_w != 0;
}

}  // namespace

rnnp_status build_recurrent(BuildEnv *env, const BlobNode &node, bool fixed, RecurrentPlan *planned, Recurrent **built) {
  const Model &m = *env->model;
  const AttrRecurrent *a = m.attr<AttrRecurrent>(node);
  const PanelFormat w = m.matrix(a->direction[0].w).format, r = m.matrix(a->direction[0].r).format;
  const uint32_t count = a->direction_count;  // 1 or 2
  const RecurrentShape shape = {Cell(a->cell), a->input_size, a->hidden_size, w, r, count};
  const RecurrentPlan &plan = *planned = plan_recurrent(shape, *env);
  if (plan.scratch_bytes > env->scratch_bytes) env->scratch_bytes = plan.scratch_bytes;

  // Without a buffer for pre-activations every step takes its input inside the recurrent kernel.
  const bool projects = plan.preact_bytes != 0;
  const Kernel *gemm = fixed ? find_panel_kernel(*env, KernelFamily::kGemmQ15, w) : find_gemm(*env, w, plan.gates);
  const DType cells = fixed ? DType::kI8 : DType::kF32;
  const uint32_t cell_nr = fixed ? 0 : w.nr;
  if (gemm == nullptr && projects) return RNNP_E_LAYOUT;
  const Kernel *steps[2] = {}, *outputs[2] = {};
  for (uint32_t d = 0; d < count; ++d) {
    const KernelFamily family = step_family(*a, a->direction[d]);
    steps[d] = find_kernel(*env->kernels, family, cells, cell_nr, env->isa);
    const bool generic = family == KernelFamily::kGruGatesGeneric;
    const KernelFamily output = generic ? KernelFamily::kGruOutputGeneric : KernelFamily::kGruOutput;
    outputs[d] = shape.cell == Cell::kGru ? find_kernel(*env->kernels, output, cells, cell_nr, env->isa) : steps[d];
    if (steps[d] == nullptr || outputs[d] == nullptr) return RNNP_E_LAYOUT;
    env->recurrent_isa |= steps[d]->isa;
  }

  Recurrent *layer = env->arena->take<Recurrent>(1);
  Direction *directions = env->arena->take<Direction>(count);
  if (directions == nullptr) return RNNP_OK;
  *built = layer;
  *layer = {};
  layer->direction = directions;
  layer->plan = plan;
  layer->cell = shape.cell;
  layer->hidden_size = a->hidden_size;
  layer->nr = w.nr;
  layer->direction_count = static_cast<uint8_t>(count);
  layer->gemm = projects ? gemm->gemm : nullptr;
  for (uint32_t d = 0; d < count; ++d) {
    fill_direction(m, *a, plan, a->direction[d], &layer->direction[d]);
    layer->direction[d].recur = steps[d]->recur;
    layer->direction[d].multi_step = kMultiStep && plan.fused && steps[d]->runs_steps && shape.cell != Cell::kGru &&
                                     !plan.serpentine && !a->direction[d].reverse;
    layer->direction[d].output = shape.cell == Cell::kGru ? outputs[d]->recur : nullptr;
  }
  return RNNP_OK;
}

}  // namespace rnnp
