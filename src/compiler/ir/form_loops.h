// form_loops.h -- what carries a state from step to step becomes a loop inside a chunk (AttrLoop): the shortest there is, so that
// all else runs over whole chunks. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IR_FORM_LOOPS_H_
#define RNNPACK_COMPILER_IR_FORM_LOOPS_H_

#include "compiler/ir/graph.h"

namespace rnnp::compiler {

// Orders the nodes: those that depend on one another from one step to the next lie behind one another, reads first, writes last,
// and the first says how many they are. Otherwise the order stays. Graph::no_state says why it cannot be, and then nothing changes.
// A state that the caller named is one of calls of few steps: where Graph::stream_steps does not say more, there are no loops and
// the model runs step by step, in memory for one step.
void form_loops(Graph *graph);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IR_FORM_LOOPS_H_
