// phase_clock.h -- how many clocks of a step a warp of a resident kernel spends where. bench/cuda/phase_times.cu compiles the
// kernels with RNNPACK_CUDA_PHASES; everywhere else this is nothing. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_KERNELS_PHASE_CLOCK_H_
#define RNNPACK_CUDA_KERNELS_PHASE_CLOCK_H_

#include "cuda/simt.h"

namespace rnnp {
namespace cuda {

// What a warp does until the end of a phase: asks for what it needs, waits for words, multiplies, waits for the block's other
// warps, adds slices and finishes cells up to h, tells h, and stores the rest.
enum Phase : uint32_t { kAsk, kPoll, kProducts, kBarrier, kCells, kPublish, kStore, kPhases };

#ifdef RNNPACK_CUDA_PHASES
constexpr uint32_t kMostClockedBlocks = 256;
__device__ unsigned long long phase_clocks[kMostClockedBlocks][kWarps][kPhases];

struct PhaseClock {
  uint32_t last, clocks[kPhases];

  SIMT_FN void begin(PhaseClock *c) {
    SIMT_UNROLL for (uint32_t i = 0; i < kPhases; ++i) c->clocks[i] = 0;
    c->last = clock();
  }
  SIMT_FN void end(PhaseClock *c, Phase phase) {
    const uint32_t now = clock();
    c->clocks[phase] += now - c->last;
    c->last = now;
  }
  SIMT_FN void store(const PhaseClock &c) {
    if (simt::thread() % kLanes != 0) return;
    SIMT_UNROLL for (uint32_t i = 0; i < kPhases; ++i) phase_clocks[simt::block()][simt::thread() / kLanes][i] = c.clocks[i];
  }
};
#else
struct PhaseClock {
  SIMT_FN void begin(PhaseClock *) {}
  SIMT_FN void end(PhaseClock *, Phase) {}
  SIMT_FN void store(const PhaseClock &) {}
};
#endif

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_KERNELS_PHASE_CLOCK_H_
