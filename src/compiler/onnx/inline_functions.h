// inline_functions.h -- functions that a model brings along (onnx.FunctionProto), put in the places of the nodes that call them.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_ONNX_INLINE_FUNCTIONS_H_
#define RNNPACK_COMPILER_ONNX_INLINE_FUNCTIONS_H_

#include <onnx/onnx_pb.h>

#include "compiler/onnx/problem.h"

namespace rnnp::compiler {

// `opset`: the model's, which its functions must have. A call that cannot be replaced is a problem and stays.
void inline_functions(onnx::ModelProto *model, int64_t opset, Problems *problems);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_ONNX_INLINE_FUNCTIONS_H_
