// memory_map.h -- `inspect --memory`: who lies where in the pools and over which nodes, as text and as a picture.
// Read from the blob alone, so it shows what the device does, not what the planner meant.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_INSPECT_MEMORY_MAP_H_
#define RNNPACK_COMPILER_INSPECT_MEMORY_MAP_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace rnnp::compiler {

// A value's elements [begin, end) of its pool, needed from node `first` to node `last`; the number of nodes stands for the run's
// end.
struct PoolSpan {
  size_t value, first, last;
  uint64_t begin, end;
};

struct PoolMap {
  std::string kind;  // "sequence" or "row"
  uint64_t elems;    // the pool's size
  uint64_t live;     // most elements in use at one node: no plan of these lifetimes is smaller
  std::vector<PoolSpan> spans;
};

// `document` is blob_document's.
std::vector<PoolMap> memory_map(const nlohmann::ordered_json &document);
std::string memory_text(const std::vector<PoolMap> &maps, size_t nodes);
// Nodes to the right, elements upwards, one box per value.
std::string memory_svg(const std::vector<PoolMap> &maps, size_t nodes);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_INSPECT_MEMORY_MAP_H_
