// fold.h -- nodes whose inputs are all constants. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IMPORT_FOLD_H_
#define RNNPACK_COMPILER_IMPORT_FOLD_H_

#include "compiler/import/builder.h"

namespace rnnp::compiler {

// True when the node was replaced by its value. What follows from a dimension that is unknown until run time is flagged as such.
bool fold(OpCall &call);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IMPORT_FOLD_H_
