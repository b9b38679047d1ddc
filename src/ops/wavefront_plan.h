// wavefront_plan.h -- stacked layers as a wavefront over chunks of steps: thread i runs the i-th group of nodes on chunk c while
// thread i + 1 runs the next group on chunk c - 1. Threads meet once per chunk, not once per step, so layers too small to share
// gain from threads. Room: ops. plan_wavefront is pure arithmetic: costs and threads -> stages, chunk and the calls that are long
// enough. Source: layer wavefront of cuDNN 5 (Appleyard et al. 2016), here over chunks that stay in a core's cache.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_WAVEFRONT_PLAN_H_
#define RNNPACK_OPS_WAVEFRONT_PLAN_H_

#include <stdint.h>

#include "base/many_threads.h"

namespace rnnp {

constexpr uint32_t kMaxStages = kManyThreads ? 8 : 1;

// What the nodes of a step cost (ops/node_costs.h), and how often a step's threads would meet if they shared every layer.
struct StepCosts {
  uint64_t (*of)(const void *ctx, uint32_t node);
  const void *ctx;
  uint32_t nodes;
  uint32_t syncs;
};

struct WavefrontPlan {
  uint32_t stages;                      // 0: no wavefront
  uint32_t chunk_steps;                 // of the wavefront
  uint32_t fewest_steps;                // shorter calls lose more to filling and draining the pipeline than they gain
  uint32_t first_node[kMaxStages + 1];  // stage i runs nodes [first_node[i], first_node[i + 1])
};

// threads: of the executor; team: threads that share a layer otherwise (1 or threads). most_steps: of a chunk.
WavefrontPlan plan_wavefront(const StepCosts &costs, uint32_t threads, uint32_t team, uint32_t batch, uint32_t most_steps);

}  // namespace rnnp
#endif  // RNNPACK_OPS_WAVEFRONT_PLAN_H_
