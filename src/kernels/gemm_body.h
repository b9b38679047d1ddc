// gemm_body.h -- the gemm rows of an instruction set: its blocks, and few columns by code of their own.
// Room: kernels; included by gemm_<isa>.cpp and whoever has blocks for other stored types.
// Contract: kernels.h, GemmArgs. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_GEMM_BODY_H_
#define RNNPACK_KERNELS_GEMM_BODY_H_

#include "kernels/gemm_few_body.h"
#include "kernels/gemm_sweep.h"
#include "kernels/kernels.h"

namespace rnnp::RNNPACK_SET {
namespace {

// For any number of gates, of formats whose rows are.
template <template <int> class Blocks>
void gemm_run_any(const GemmArgs *args) {
  const BlockLayout *const layouts[] = {&Blocks<1>::layout, &Blocks<2>::layout, &Blocks<3>::layout, &Blocks<4>::layout};
  gemm_sweep(args, layouts[args->w.gates - 1], 0);
}

template <template <int> class Blocks, int kGates, int kNr>
void gemm_run(const GemmArgs *args) {
  uint32_t done = 0;
  if constexpr (kGates == 1 && Vec::kColumns) {
    if (args->units - 1 < kFewUnits && args->tile_end == 1 && args->start_row_bytes == 0) done = few_units<kNr, Vec>(args);
  }
  if constexpr (kGates == 1) {
    if (args->in_parts) return gemm_sweep(args, &Blocks<kParts>::layout, done);
  }
  gemm_sweep(args, &Blocks<kGates>::layout, done);
}

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_GEMM_BODY_H_
