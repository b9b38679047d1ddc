// plan_resident.h -- which resident kernel a layer gets, of those that fit a device: a part of plan.h.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_PLAN_RESIDENT_H_
#define RNNPACK_CUDA_PLAN_RESIDENT_H_

#include "cuda/plan.h"

namespace rnnp {
namespace cuda {

// What the model of a step's time knows of an architecture.
struct ArchRates {
  uint32_t arch;
  uint32_t exchange_ns, exchange_block_ps;  // of h: of few blocks, and what each more adds
  uint32_t cluster_ns, message_ps;          // a step in a cluster but for its products; and each store of h that a block gets
  uint32_t trip_ns;                         // to L2 and back: what words beyond one round of polls cost, and groups of columns
  uint32_t cell_ns, next_cell_ns;           // the first cell of a warp, and those after it
  uint32_t slices_ns;                       // where warps multiply slices of k: their first product, the barrier and the sum
  uint32_t mma_macs_per_clock, ffma_per_clock, shared_bytes_per_clock, l2_bytes_per_clock;  // of an SM
  uint32_t launch_ns;
};
const ArchRates &rates_of(uint32_t arch);

// The input's product for all steps of a launch, of a step.
uint64_t predict_input(const LayerShape &shape, const PlanLimits &limits);
uint64_t matrix_bytes(Weights weights, uint64_t rows, uint64_t k);

// A candidate for a resident layer.
struct Choice {
  const Resident *resident;
  uint32_t units, blocks, columns;
  uint32_t places;  // for partial sums of the matrix units
  uint64_t shared_bytes, predicted_ns;
};

// Why no resident kernel was chosen, in the order in which it is looked for.
enum class Lacks { kNothing, kNorms, kMask, kNotAllowed, kCooperative, kSteps, kRules, kBlocks, kShared };

const char *words_for(Lacks lacks);

// Among the kernels that fit, the one with the least predicted time.
Lacks choose_resident(const LayerShape &shape, const PlanLimits &limits, Choice *best);

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_PLAN_RESIDENT_H_
