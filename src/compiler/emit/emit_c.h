// emit_c.h -- the blob as a C source file and a header with what a static buffer needs.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EMIT_EMIT_C_H_
#define RNNPACK_COMPILER_EMIT_EMIT_C_H_

#include <cstdint>
#include <string>
#include <vector>

#include "rnnpack/rnnpack.h"

namespace rnnp::compiler {

struct CSource {
  std::string header, code, assembly;  // assembly: NAME.S, with `incbin`
};

// Words of the language (and with `cpp` of C++), and the library's own names: no name of a C function.
bool is_taken_name(const std::string &name, bool cpp);

// What the session is sized for, and how the code is handed over.
struct CSourceOptions {
  uint32_t chunk_steps = 16;
  uint32_t max_steps = 100;  // of a model that is not causal
  std::string incbin;        // the blob's file, which NAME.S reads in the place of an array in NAME.c; empty: an array
  bool one_file = false;     // the library comes along: NAME.h includes nothing else, NAME.cpp instead of NAME.c, nothing to link
};

// What NAME_options sets: explicit chunk_steps, portable operators and no caches, so that but for the size of pointers nothing is
// left that the machine decides.
rnnp_session_options emitted_session_options(const rnnp_model_info &facts, const CSourceOptions &options);

// `path` is where NAME.c (or NAME.cpp) and NAME.h will be; its last part names the array.
// Throws UsageError when the name is no C identifier.
CSource emit_c(const std::vector<uint8_t> &blob, const std::string &path, const CSourceOptions &options);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EMIT_EMIT_C_H_
