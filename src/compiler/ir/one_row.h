// one_row.h -- outputs that hold one batch row alone. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IR_ONE_ROW_H_
#define RNNPACK_COMPILER_IR_ONE_ROW_H_

#include "compiler/ir/graph.h"

namespace rnnp::compiler {

// An output without a batch axis that is computed from an input that has one: the blob runs one row, or rows would overwrite each
// other's results there.
void fix_batch_of_one(Graph *graph);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IR_ONE_ROW_H_
