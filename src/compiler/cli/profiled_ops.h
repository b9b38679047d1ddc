// profiled_ops.h -- the library's operators with a clock around what each node runs, as a registry for sessions on one thread.
// One session at a time: what is measured is kept in one place. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_CLI_PROFILED_OPS_H_
#define RNNPACK_COMPILER_CLI_PROFILED_OPS_H_

#include <cstdint>
#include <vector>

#include "rnnpack/registry.h"

namespace rnnp::compiler {

struct NodeTime {
  double ns = 0;
  uint64_t calls = 0;
};

// The default registry's operators and kernels, timed.
const rnnp_registry &timed_registry();

// By nodes in the blob's order; takes what was measured since the last call of it, and starts anew.
std::vector<NodeTime> take_node_times(size_t nodes);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_CLI_PROFILED_OPS_H_
