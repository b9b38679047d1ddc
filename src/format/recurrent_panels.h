// recurrent_panels.h -- how R's format decides how a recurrent layer's matrices are cut: one rule for who writes, checks and runs
// them. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_FORMAT_RECURRENT_PANELS_H_
#define RNNPACK_FORMAT_RECURRENT_PANELS_H_

#include "format/blob.h"
#include "pack/panel_format.h"

namespace rnnp {

// Recurrent kernels read panels of f32.
constexpr bool is_fused(const PanelFormat &r) {
  return r.weight == DType::kF32 && r.scales == Scales::kUnscaled && r.index_bytes == 0;
}
// Whether R is two matrices, gates z and r and gate h: gate h's product comes later, or goes elsewhere.
constexpr bool candidate_is_apart(Cell cell, const PanelFormat &r) {
  return cell == Cell::kGru || (cell == Cell::kGruLinear && !is_fused(r));
}

}  // namespace rnnp
#endif  // RNNPACK_FORMAT_RECURRENT_PANELS_H_
