// constant_nodes.h -- Constant nodes become initializers when a file is read, so that whatever follows knows one kind of constant.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_ONNX_CONSTANT_NODES_H_
#define RNNPACK_COMPILER_ONNX_CONSTANT_NODES_H_

#include <onnx/onnx_pb.h>

namespace rnnp::compiler {

// In the graph and in those of its nodes. A node stays that holds no numbers, has more than its value, or whose name has another
// source: who reads it refuses it.
void make_initializers(onnx::GraphProto *graph, int64_t opset);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_ONNX_CONSTANT_NODES_H_
