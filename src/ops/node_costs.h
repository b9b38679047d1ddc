// node_costs.h -- what the planners know: of a session its limits, of a node what its operator says of attributes that it has
// checked. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_NODE_COSTS_H_
#define RNNPACK_OPS_NODE_COSTS_H_

#include <stddef.h>

#include "base/arena.h"
#include "format/model.h"

namespace rnnp {

// In what a session's nodes are to be run.
struct PlanLimits {
  uint32_t max_batch;
  uint32_t chunk_steps;        // most steps of one chunk
  uint32_t threads;            // that share a layer
  uint32_t l1d_bytes;          // per core; 0: none
  uint32_t l2_bytes;           // per core; 0 unknown: keep memory small
  uint32_t l3_bytes;           // what a core can use, shared or not; 0 unknown or none
  uint32_t layer_chunk_steps;  // steps per input GEMM; 0: each layer chooses
  OtherMachine machine = {};   // that the session is for
};

constexpr uint64_t kMostCost = uint64_t{1} << 40;
constexpr uint64_t kElementCost = 8;  // of an element that is computed without a matrix

// Of one step of one row, in multiply-accumulates or as many as take as long; none above kMostCost. Where there is one thread
// nothing is shared: of all this only row_bytes is asked for, and the rest may be 0.
struct NodeCosts {
  uint64_t macs;
  uint64_t macs_per_sync;  // of the threads that share the node; 0: they do not meet within it
  uint32_t syncs;
  size_t row_bytes;  // that the node makes of all steps of a chunk before it goes on; 0: nothing
};

// a * b, at most kMostCost, so that sums of some thousand fit 64 bits.
inline uint64_t cost_product(uint64_t a, uint64_t b) {
  uint64_t product;
  return __builtin_mul_overflow(a, b, &product) || product > kMostCost ? kMostCost : product;
}

// Of a node that spends `macs` on each element of its result.
inline NodeCosts element_costs(const Model &m, const BlobNode &node, uint64_t macs) {
  if (!kManyThreads) return {};
  const uint32_t y = m.node_output(node, 0);
  return {y == kNone ? 0 : cost_product(m.values[y].row_elems, macs), 0, 0, 0};
}

}  // namespace rnnp
#endif  // RNNPACK_OPS_NODE_COSTS_H_
