// wavefront_plan.cpp -- see wavefront_plan.h. Compared as products: no division, and none reaches 2^62.
// SPDX-License-Identifier: Apache-2.0
#include "ops/wavefront_plan.h"

#include "ops/node_costs.h"
#include "ops/recurrent_plan.h"

namespace rnnp {
namespace {

constexpr uint32_t kWavefrontRows = 16;  // rows of one chunk: enough for the input GEMM, few enough to fill the pipeline fast
constexpr uint32_t kMostFillingChunks = 64;
constexpr uint32_t kMostWavefrontBatch = 1u << 10;

// Fills stages in order, none above `most`; returns how many it takes.
uint32_t deal(const StepCosts &costs, uint64_t most, uint32_t *first_node) {
  uint32_t stages = 1;
  uint64_t sum = 0;
  first_node[0] = 0;
  for (uint32_t i = 0; i < costs.nodes; ++i) {
    const uint64_t cost = costs.of(costs.ctx, i);
    if (sum + cost > most && sum != 0) {
      if (stages == kMaxStages) return kMaxStages + 1;
      first_node[stages++] = i;
      sum = 0;
    }
    sum += cost;
  }
  first_node[stages] = costs.nodes;
  return stages;
}

// The smallest cost of the largest of at most `stages` stages.
uint64_t smallest_maximum(const StepCosts &costs, uint64_t total, uint64_t largest, uint32_t stages) {
  uint32_t unused[kMaxStages + 1];
  uint64_t low = largest, high = total;
  while (low < high) {
    const uint64_t middle = low + ((high - low) >> 1);
    if (deal(costs, middle, unused) <= stages) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace

WavefrontPlan plan_wavefront(const StepCosts &costs, uint32_t threads, uint32_t team, uint32_t batch, uint32_t most_steps) {
  WavefrontPlan plan = {};
  uint64_t total = 0, largest = 0;
  for (uint32_t i = 0; i < costs.nodes; ++i) {
    const uint64_t cost = costs.of(costs.ctx, i);
    total += cost;
    if (cost > largest) largest = cost;
  }
  const uint32_t most_stages = threads < kMaxStages ? threads : kMaxStages;
  if (most_stages < 2 || batch > kMostWavefrontBatch || total == 0 || total * batch > kMostCost) return plan;
  const uint64_t stage = smallest_maximum(costs, total, largest, most_stages);
  const uint32_t stages = deal(costs, stage, plan.first_node);
  if (stages < 2) return plan;

  // Per step and times `threads`: the wavefront, and what is done otherwise.
  const uint64_t wavefront = stage * batch * threads;
  const uint64_t shared = total * batch + uint64_t{kFewestMacsPerThread} * costs.syncs * threads;
  const uint64_t other = team > 1 ? shared : total * batch * threads;
  plan.chunk_steps = kWavefrontRows > batch ? kWavefrontRows / batch : 1;
  if (plan.chunk_steps > most_steps) plan.chunk_steps = most_steps;
  for (uint32_t chunks = 1; chunks <= kMostFillingChunks; ++chunks) {
    if (((chunks + stages - 1) * wavefront) * plan.chunk_steps + kFewestMacsPerCall * threads >= chunks * other * plan.chunk_steps)
      continue;
    plan.stages = stages;
    plan.fewest_steps = chunks * plan.chunk_steps;
    return plan;
  }
  return plan;
}

}  // namespace rnnp
