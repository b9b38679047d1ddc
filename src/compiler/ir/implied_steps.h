// implied_steps.h -- graphs whose steps are implied: one call of the ONNX graph is one step, so what is computed from a layer's
// final state is computed at every step. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IR_IMPLIED_STEPS_H_
#define RNNPACK_COMPILER_IR_IMPLIED_STEPS_H_

#include "compiler/ir/graph.h"

namespace rnnp::compiler {

// Where no input or output has a steps axis: final states are taken as the layer's output of each step, but for outputs that are
// the partners of initial states (bind_states.h); those stay what is known when the run ends.
void give_finals_per_step(Graph *graph);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IR_IMPLIED_STEPS_H_
