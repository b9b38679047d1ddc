// operator_attributes.h -- the attributes that each operator has: name, type and opsets, by the ONNX text. The importer and the
// evaluator ask here before they read a node, so that an attribute nobody knows is never passed over in silence.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_ONNX_OPERATOR_ATTRIBUTES_H_
#define RNNPACK_COMPILER_ONNX_OPERATOR_ATTRIBUTES_H_

#include <cstdint>
#include <string>

#include "compiler/onnx/problem.h"
#include "compiler/onnx/typed_graph.h"

namespace rnnp::compiler {

// Throws Refusal: an attribute that the operator does not have (in this opset), one of the wrong type, or one given twice.
// Operators that are not in the table pass.
void check_attributes(const OnnxNode &node, int64_t opset);

// Of every node in the graph and in those of its nodes, as a file is read: what rewrites it reads attributes before its nodes are
// imported.
void check_attribute_types(const OnnxGraph &graph, Problems *problems);

bool has_attribute_row(const std::string &op_type);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_ONNX_OPERATOR_ATTRIBUTES_H_
