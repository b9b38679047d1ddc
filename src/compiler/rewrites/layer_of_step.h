// layer_of_step.h -- a step whose cell is an operator already: an LSTM, GRU or RNN node over one step, its states given and taken
// without the axis of directions. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_REWRITES_LAYER_OF_STEP_H_
#define RNNPACK_COMPILER_REWRITES_LAYER_OF_STEP_H_

#include <optional>
#include <string>
#include <vector>

#include "compiler/rewrites/match_cell.h"

namespace rnnp::compiler {

struct NodeOfStep {
  MatchedCell cell;
  std::string x;
};

// The node that makes `made` of `before`, the states of `step` (which needs no x). A node that clips, couples gates, has peepholes,
// lengths or batch rows first is none.
std::optional<NodeOfStep> layer_of_step(const StepGraph &step, const std::vector<std::string> &before,
                                        const std::vector<std::string> &made);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_REWRITES_LAYER_OF_STEP_H_
