// recurrent_build.cpp -- Contract: recurrent_build.h. Kernels, phases, and every argument that steps do not change; touches the
// arena only. SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent_build.h"

#include "base/bytes.h"
#include "ops/panel_product.h"
#include "ops/recurrent_check.h"
#include "pack/layout.h"

namespace rnnp {
namespace {

// The kernels of a direction's cells, of a kGru two, and where there is room for them their phases. Returns the last kernel.
const Kernel *take_cells(BuildEnv *env, const AttrRecurrent &a, const BlobDirection &b, const RecurrentKernels &kernels,
                         uint32_t nr, Phase *phases) {
  KernelFamily family = step_family(a, b);
  uint32_t matrix = b.r;
  for (bool last = Cell(a.cell) != Cell::kGru;; last = true) {
    const DType dtype = kernels.fixed ? DType::kI8 : DType::kF32;
    const Kernel *cells = find_kernel(*env->kernels, family, dtype, kernels.fixed ? 0 : nr, env->isa);
    if (cells == nullptr) return nullptr;
    env->recurrent_isa |= cells->isa;
    if (phases != nullptr) {
      phases += kernels.before;
      *phases++ = {cells->recur, env->model->matrix(matrix).f32(), PhaseKind::kCells, false, true, last};
    }
    if (last) return cells;
    const bool generic = family == KernelFamily::kGruGatesGeneric;
    family = generic ? KernelFamily::kGruOutputGeneric : KernelFamily::kGruOutput;
    matrix = b.r_output;
  }
}

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
  r.tile_end = plan.tiles;
  r.prefetch_next_tile = plan.prefetch_r != 0 && plan.fused;
  copy_bytes(r.cell.act, d.act, sizeof d.act);
  r.cell.clip = a.clip;
  r.cell.input_forget = a.flags & kInputForget;
  out->products = nullptr;
  out->state_h = d.state_h;
  out->state_c = has_c(cell) ? d.state_c : kNone;
  out->reverse = d.reverse;
  out->downwards = 0;
  set_product(&out->input, m.matrix(d.w));
  out->input.start = m.weights(d.bias);
  out->input.out_row_bytes = plan.row_bytes;
  out->input.tile_end = plan.tiles;
  out->input.w.prefetch_next_tile = plan.prefetch_w != 0;
}

}  // namespace

RecurrentShape recurrent_shape(const Model &m, const AttrRecurrent &a) {
  const BlobDirection &d = a.direction[0];
  return {Cell(a.cell),     a.input_size, a.hidden_size, format_of(m.matrices[d.w].format), format_of(m.matrices[d.r].format),
          a.direction_count};
}

rnnp_status build_recurrent(BuildEnv *env, const AttrRecurrent &a, const RecurrentPlan &plan, const RecurrentKernels &kernels,
                            Recurrent **built) {
  const Model &m = *env->model;
  const PanelFormat w = format_of(m.matrices[a.direction[0].w].format);
  const bool gru = Cell(a.cell) == Cell::kGru;
  // Without a buffer for pre-activations every step takes its input inside the recurrent kernel.
  const bool projects = plan.preact_bytes != 0;
  if (kernels.input == nullptr && projects) return RNNP_E_LAYOUT;
  const uint32_t phase_count = (kernels.own_cells ? 0 : gru ? 2 : 1) + kernels.phases;
  Recurrent *layer = env->arena->take<Recurrent>(1);
  Direction *direction = env->arena->take<Direction>(a.direction_count);
  Phase *phases = env->arena->take<Phase>(phase_count * a.direction_count);
  const bool placing = phases != nullptr;
  if (placing) {
    *built = layer;
    const GemmFn input = projects ? kernels.input->gemm : nullptr;
    *layer = {plan, Cell(a.cell), w.nr, static_cast<uint8_t>(a.direction_count), has_mask(a), input, direction, {}};
  }
  for (uint32_t i = 0; i < a.direction_count; ++i) {
    const BlobDirection &b = a.direction[i];
    const Kernel *cells = kernels.own_cells ? nullptr : take_cells(env, a, b, kernels, w.nr, phases);
    if (cells == nullptr && !kernels.own_cells) return RNNP_E_LAYOUT;
    if (!placing) continue;
    fill_direction(m, a, plan, b, direction);
    direction->multi_step =
        kMultiStep && cells != nullptr && plan.fused && cells->runs_steps && !gru && !plan.serpentine && !b.reverse;
    direction->phases = phases;
    ++direction;
    phases += phase_count;
  }
  return RNNP_OK;
}

}  // namespace rnnp
