// check_graphs.h -- what every graph of a file, in subgraphs and functions too, must be before anything reads it: each node has as
// many inputs and outputs as its operator's schema says (arities.inc), and no two initializers share a name.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_ONNX_CHECK_GRAPHS_H_
#define RNNPACK_COMPILER_ONNX_CHECK_GRAPHS_H_

#include <onnx/onnx_pb.h>

#include "compiler/onnx/problem.h"

namespace rnnp::compiler {

// Nodes that call one of the model's functions may have any arity: inline_functions checks it.
void check_graphs(const onnx::ModelProto &model, int64_t opset, Problems *problems);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_ONNX_CHECK_GRAPHS_H_
