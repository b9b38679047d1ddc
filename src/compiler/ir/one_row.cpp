// one_row.cpp -- Contract: one_row.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/one_row.h"

#include <algorithm>

#include "compiler/onnx/problem.h"
#include "rnnpack/rnnpack.h"

namespace rnnp::compiler {
namespace {

bool has_rows_axis(const Io &io) {
  return std::find(io.dims.begin(), io.dims.end(), RNNP_DIM_BATCH) != io.dims.end();
}

}  // namespace

void fix_batch_of_one(Graph *graph) {
  if (graph->fixed_batch != 0) return;
  std::vector<bool> has_rows(graph->values.size(), false);
  for (const Io &input : graph->inputs) has_rows[input.value] = has_rows_axis(input);
  for (const Node &node : graph->nodes) {
    const bool rows = std::any_of(node.in.begin(), node.in.end(), [&](uint32_t v) { return v != kNone && has_rows[v]; });
    for (const uint32_t made : node.out) {
      if (made != kNone && rows) has_rows[made] = true;
    }
  }
  for (const Io &output : graph->outputs) {
    if (has_rows_axis(output) || !has_rows[output.value]) continue;
    graph->fixed_batch = 1;
    graph->notes.push_back("output " + quote(output.name) + " holds one batch row, so the blob runs one row a call");
    return;
  }
}

}  // namespace rnnp::compiler
