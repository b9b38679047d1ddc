// wave_plan.cpp -- see wave_plan.h. Compared as products: no division, and costs stay below 2^58.
// SPDX-License-Identifier: Apache-2.0
#include "ops/wave_plan.h"

#include "ops/recurrent_plan.h"

namespace rnnp {
namespace {

constexpr uint64_t kMostCost = uint64_t{1} << 40;
constexpr uint64_t kElementCost = 8;  // of an element that is computed without a matrix
constexpr uint32_t kWaveRows = 16;    // rows of one chunk: enough for the input GEMM, few enough to fill the pipeline fast
constexpr uint32_t kMostFillingChunks = 64;

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

uint64_t recurrent_cost(const AttrRecurrent &a) {
  const uint64_t units = uint64_t{a.hidden_size} * cell_gates(Cell(a.cell)) * a.direction_count;
  return units * (uint64_t{a.input_size} + a.hidden_size + 2 * kElementCost);
}

// a * b, at most kMostCost. A blob's numbers have not been checked here yet.
uint64_t mul_capped(uint64_t a, uint64_t b) {
  uint64_t product;
  return __builtin_mul_overflow(a, b, &product) || product > kMostCost ? kMostCost : product;
}

// Multiply-accumulates, or as many as it takes as long, for one element of the node's output.
uint64_t element_cost(const Model &m, const BlobNode &n) {
  const AttrDense *d = n.op == uint32_t(OpKind::kDense) ? m.attr<AttrDense>(n) : nullptr;
  const AttrConv *c = n.op == uint32_t(OpKind::kConv) ? m.attr<AttrConv>(n) : nullptr;
  if (d != nullptr) return d->input_size;
  if (c == nullptr) return kElementCost;
  return mul_capped(mul_capped(uint64_t{c->window.kernel[0]} * c->window.kernel[1], c->time_taps), c->in_channels);
}

uint64_t model_cost(const void *ctx, uint32_t node) {
  const Model &m = *static_cast<const Model *>(ctx);
  const BlobNode &n = m.nodes[node];
  const AttrRecurrent *r = n.op == uint32_t(OpKind::kRecurrent) ? m.attr<AttrRecurrent>(n) : nullptr;
  const uint32_t y = m.node_output(n, 0);
  const uint64_t elems = y == kNone ? 0 : m.values[y].row_elems;
  const uint64_t cost = r != nullptr ? recurrent_cost(*r) : mul_capped(elems, element_cost(m, n));
  return cost < kMostCost ? cost : kMostCost;
}

}  // namespace

WavePlan plan_wave(const StepCosts &costs, uint32_t threads, uint32_t team, uint32_t batch, uint32_t most_steps) {
  WavePlan plan = {};
  uint64_t total = 0, largest = 0;
  for (uint32_t i = 0; i < costs.nodes; ++i) {
    const uint64_t cost = costs.of(costs.ctx, i);
    total += cost;
    if (cost > largest) largest = cost;
  }
  const uint32_t most_stages = threads < kMaxStages ? threads : kMaxStages;
  if (most_stages < 2 || batch > (1u << 10) || total == 0 || total > kMostCost) return plan;
  const uint64_t stage = smallest_maximum(costs, total, largest, most_stages);
  const uint32_t stages = deal(costs, stage, plan.first_node);
  if (stages < 2) return plan;

  // Per step and times `threads`: the wave, and what is done otherwise.
  const uint64_t wave = stage * batch * threads;
  const uint64_t shared = total * batch + uint64_t{kFewestMacsPerThread} * costs.meetings * threads;
  const uint64_t other = team > 1 ? shared : total * batch * threads;
  plan.chunk_steps = kWaveRows > batch ? kWaveRows / batch : 1;
  if (plan.chunk_steps > most_steps) plan.chunk_steps = most_steps;
  for (uint32_t chunks = 1; chunks <= kMostFillingChunks; ++chunks) {
    if (((chunks + stages - 1) * wave) * plan.chunk_steps + kFewestMacsPerCall * threads >= chunks * other * plan.chunk_steps)
      continue;
    plan.stages = stages;
    plan.fewest_steps = chunks * plan.chunk_steps;
    return plan;
  }
  return plan;
}

StepCosts step_costs(const Model &m) {
  uint32_t meetings = 0;
  for (uint32_t i = 0; i < m.nodes.count; ++i) {
    const AttrRecurrent *a = m.nodes[i].op == uint32_t(OpKind::kRecurrent) ? m.attr<AttrRecurrent>(m.nodes[i]) : nullptr;
    if (a != nullptr) meetings += a->cell == uint32_t(Cell::kGru) ? 2 : 1;
  }
  return {model_cost, &m, m.nodes.count, meetings};
}

}  // namespace rnnp
