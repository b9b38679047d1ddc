// index.h -- Gather at places that are computed at run time. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IMPORT_INDEX_H_
#define RNNPACK_COMPILER_IMPORT_INDEX_H_

#include "compiler/import/builder.h"

namespace rnnp::compiler {

// False where the node's indices are no integers computed at run time.
bool gather_at_run_time(OpCall &call);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IMPORT_INDEX_H_
