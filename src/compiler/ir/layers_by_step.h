// layers_by_step.h -- layers that start anew at every step, from a state that the graph computes: a part of a larger tensor, a
// state times a mask. One call of the ONNX graph is one step, so such a layer runs over one step of features.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IR_LAYERS_BY_STEP_H_
#define RNNPACK_COMPILER_IR_LAYERS_BY_STEP_H_

#include <string>

#include "compiler/ir/graph.h"

namespace rnnp::compiler {

// The kRecurrent node becomes a kFeatureRecurrent of one step, whose results are known at every step. Returns why it cannot, or "".
std::string run_by_step(Graph *graph, size_t node);

// What is made from values of every step is made at every step, and layers that start from such a value run by step. Returns why
// that cannot be, or "". Inputs may be initial states of every step: bind_states.h decides about them.
std::string spread_steps(Graph *graph);

// Outputs that have become values of every step: given so where steps are implied, else as they are at the last step.
void settle_outputs(Graph *graph);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IR_LAYERS_BY_STEP_H_
