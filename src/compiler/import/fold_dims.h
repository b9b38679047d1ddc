// fold_dims.h -- shape arithmetic on open dimensions: what each element of a folded node's results is, as an expression.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IMPORT_FOLD_DIMS_H_
#define RNNPACK_COMPILER_IMPORT_FOLD_DIMS_H_

#include <vector>

#include "compiler/import/builder.h"

namespace rnnp::compiler {

// Sets Tensor::dims of the results, which were computed from numbers that stand in for open dimensions. What no rule here says is a
// value that only equals itself. Throws Refusal where even the shapes of the results depend on open dimensions.
void fold_dims(const OpCall &call, const std::vector<const Tensor *> &in, std::vector<Tensor> *out);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IMPORT_FOLD_DIMS_H_
