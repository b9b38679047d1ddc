// subgraph.h -- the branches of an If: which one is taken, and what a node reads when its subgraphs are counted in.
// A subgraph's names resolve outwards. Its nodes are taken in file order, as ONNX promises; a name read before it is made inside is
// read from outside. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_ONNX_SUBGRAPH_H_
#define RNNPACK_COMPILER_ONNX_SUBGRAPH_H_

#include <string>
#include <vector>

#include "compiler/onnx/tensor.h"

namespace rnnp::compiler {

// Names that must be known before the node runs: its inputs, and what its subgraphs read from outside. May repeat.
std::vector<std::string> names_read(const OnnxNode &node);

// The branch that `condition` takes. Throws Refusal: no such branch, another number of outputs, a condition of more than one
// element.
const OnnxGraph &taken_branch(const OnnxNode &node, const Tensor &condition);
const OnnxGraph &branch_of(const OnnxNode &node, bool condition);

// Every name that the graph itself makes: initialisers and outputs of its nodes.
std::vector<std::string> names_made(const OnnxGraph &graph);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_ONNX_SUBGRAPH_H_
