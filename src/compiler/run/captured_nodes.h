// captured_nodes.h -- what the nodes of a blob are given and make, of a run on one thread. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_RUN_CAPTURED_NODES_H_
#define RNNPACK_COMPILER_RUN_CAPTURED_NODES_H_

#include <cstdint>
#include <vector>

#include "compiler/run/runner.h"

namespace rnnp::compiler {

// The rows of a value: [steps][batch][elems], or [batch][elems] where it is one row a run.
struct SeenRows {
  std::vector<float> rows;
  uint32_t elems = 0;
  bool per_step = false;

  const float *row(size_t i) const { return rows.data() + i * elems; }
};

// A node's operands and results; what is absent or holds no f32 has no rows. `lengths`: of the batch rows, or empty.
struct SeenNode {
  std::vector<SeenRows> in, out;
  std::vector<int32_t> lengths;
  size_t batch = 0;
};

struct SeenRun {
  Arrays outputs;
  std::vector<SeenNode> nodes;  // in the blob's order; empty where they were not wanted
};

// Runs the blob and keeps what the nodes of `wanted` read and write.
SeenRun watch_run(Runner *runner, const Arrays &inputs, const std::vector<bool> &wanted);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_RUN_CAPTURED_NODES_H_
