// ops_resize.h -- Resize along feature axes: elements repeated by a view, or a product with the weights of its interpolation.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IMPORT_OPS_RESIZE_H_
#define RNNPACK_COMPILER_IMPORT_OPS_RESIZE_H_

#include "compiler/import/builder.h"

namespace rnnp::compiler {

void import_resize(OpCall &call);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IMPORT_OPS_RESIZE_H_
