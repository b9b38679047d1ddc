// read_proto.h -- an ONNX file's messages as the typed graph. Constants are read here, once: one that cannot be read is refused by
// whoever asks for its elements. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_ONNX_READ_PROTO_H_
#define RNNPACK_COMPILER_ONNX_READ_PROTO_H_

#include <onnx/onnx_pb.h>

#include "compiler/onnx/typed_graph.h"

namespace rnnp::compiler {

// An initialiser or a Constant's value. Throws Refusal: external data, unknown type, size mismatch. No size is believed before it
// is checked.
Tensor read_tensor(const onnx::TensorProto &proto);
// The same of values and their places; zeros elsewhere.
Tensor read_sparse_tensor(const onnx::SparseTensorProto &proto);

OnnxNode read_node(const onnx::NodeProto &proto);
OnnxGraph read_graph(const onnx::GraphProto &proto);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_ONNX_READ_PROTO_H_
