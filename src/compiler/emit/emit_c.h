// emit_c.h -- the blob as a C source file and a header with what a static buffer needs.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EMIT_EMIT_C_H_
#define RNNPACK_COMPILER_EMIT_EMIT_C_H_

#include <cstdint>
#include <string>
#include <vector>

namespace rnnp::compiler {

struct CSource {
  std::string header, code;
};

// `path` is where NAME.c and NAME.h will be; its last part names the array. The sizes are for sessions of `chunk_steps`.
// Throws UsageError when the name is no C identifier.
CSource emit_c(const std::vector<uint8_t> &blob, const std::string &path, uint32_t chunk_steps);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EMIT_EMIT_C_H_
