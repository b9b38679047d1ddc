// write_blob.h -- the compiler's graph as the bytes of a blob. Contract of the bytes: docs/BLOB_FORMAT.md.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EMIT_WRITE_BLOB_H_
#define RNNPACK_COMPILER_EMIT_WRITE_BLOB_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/emit/panel_choice.h"
#include "compiler/ir/graph.h"

namespace rnnp::compiler {

// Packs the weights, each matrix in panels of its storage's type that are as wide as `panels`, and writes every section. Dense
// int8 is in the panels that `bytes` says. Throws ModelError when a limit of the format is exceeded.
std::vector<uint8_t> write_blob(const Graph &graph, const PanelFormat &panels, Scales bytes = Scales::kPerUnit);
// The same; the graph's weights are freed as they are packed, so that no two copies of them all are there at once.
std::vector<uint8_t> write_blob_and_free(Graph *graph, const PanelFormat &panels, Scales bytes = Scales::kPerUnit);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EMIT_WRITE_BLOB_H_
