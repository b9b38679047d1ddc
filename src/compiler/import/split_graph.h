// split_graph.h -- what to say of a model with two numbers of steps: where it may be cut into one blob for each (onnx/cut_graph.h).
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IMPORT_SPLIT_GRAPH_H_
#define RNNPACK_COMPILER_IMPORT_SPLIT_GRAPH_H_

#include <string>

#include "compiler/import/builder.h"

namespace rnnp::compiler {

// The options for either half, "" where no input's own part of the graph ends in tensors without its steps. `first` has read the
// graph with its axes being looked for.
std::string split_graph_text(const OnnxModel &model, const Builder &first, const Origins &origins);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IMPORT_SPLIT_GRAPH_H_
