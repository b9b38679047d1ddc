// memory.h -- where run-time values live: offsets into the sequence pool and the row pool, shared by lifetime.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IR_MEMORY_H_
#define RNNPACK_COMPILER_IR_MEMORY_H_

#include <cstdint>
#include <vector>

#include "compiler/ir/graph.h"

namespace rnnp::compiler {

// A buffer is live from node `first` to node `last`, both included.
struct Lifetime {
  uint32_t value;
  uint32_t elems;  // padded
  uint32_t first, last;
  uint32_t offset;
};

struct MemoryPlan {
  std::vector<uint32_t> offset;                // per value; kNone for constants and inputs
  uint32_t sequence_elems = 0, row_elems = 0;  // sizes of the pools
  uint32_t sequence_bound = 0, row_bound = 0;  // largest live sets: no plan is smaller
  std::vector<Lifetime> sequence, row;         // the map, for `inspect --memory`
};

constexpr uint32_t kPoolPad = 16;  // elements

MemoryPlan plan_memory(const Graph &graph);

// Places lifetimes at offsets that do not overlap; gives the pool's size. Exposed for tests.
uint32_t place_lifetimes(std::vector<Lifetime> *lifetimes);
uint32_t largest_live_set(const std::vector<Lifetime> &lifetimes);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IR_MEMORY_H_
