// write_block.h -- ScatterND at constant places that are a block: all of each axis but one, and of that one any places, as
// exporters write x[..., 2:5] = y. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IMPORT_WRITE_BLOCK_H_
#define RNNPACK_COMPILER_IMPORT_WRITE_BLOCK_H_

#include "compiler/import/builder.h"

namespace rnnp::compiler {

// False where the places are no such block; nothing is done then. Throws Refusal.
bool write_block(OpCall &call);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IMPORT_WRITE_BLOCK_H_
