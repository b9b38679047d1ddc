// write_blob.h -- the compiler's graph as the bytes of a blob. Contract of the bytes: docs/BLOB_FORMAT.md.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EMIT_WRITE_BLOB_H_
#define RNNPACK_COMPILER_EMIT_WRITE_BLOB_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "pack/panel_format.h"

namespace rnnp::compiler {

// The format of a target's panels; its id is 0 when the target is unknown.
PanelFormat target_format(const std::string &target);
// "generic, avx512, ..."
std::string target_names();

// Packs the weights in `format` and writes every section. Throws ModelError when a limit of the format is exceeded.
std::vector<uint8_t> write_blob(const Graph &graph, const PanelFormat &format);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EMIT_WRITE_BLOB_H_
