// bind_states.h -- inputs and outputs that a network's export uses to carry its state become state of the library.
// A tensor that is the initial and final state of recurrent layers is theirs already: the pair is dropped. Any other becomes a
// state that kStateRead gives at a step's start and kStateWrite takes at its end; layers whose initial state is computed from it
// run by step (layers_by_step.h).
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IR_BIND_STATES_H_
#define RNNPACK_COMPILER_IR_BIND_STATES_H_

#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace rnnp::compiler {

// What the output gives is what the input takes in the next step.
struct StatePair {
  std::string input, output;
  bool of_loop = false;  // it goes over all steps of every row, whatever lengths other layers have
};

// Before the passes. Throws UsageError for names that do not exist or are used twice, ModelError for pairs that do not fit.
void bind_states(Graph *graph, const std::vector<StatePair> &pairs);

// For each output: it is, element by element, the final state of layers that start from one input.
std::vector<bool> outputs_that_are_states(const Graph &graph);

// Pairs that by structure or by name and shape look like states.
std::vector<StatePair> evident_states(const Graph &graph);
// Those of them that may be tied, all together or else each alone: the output is known after every step, and the graph then runs
// step by step.
std::vector<StatePair> states_to_propose(const Graph &graph);

// Those of them that the caller has to give with every step; a layer's own may be left out.
std::vector<StatePair> states_of_the_caller(const Graph &graph);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IR_BIND_STATES_H_
