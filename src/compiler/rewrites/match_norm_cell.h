// match_norm_cell.h -- the layer-normalised LSTM that one step of a loop is, whatever operators its norms are written in. What the
// norms are of comes from the step's structure: the products, and what sigmoid and tanh are taken of. Scales, biases and epsilons
// are read off rows that are put in the products' place; then the whole step is compared on random rows.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_REWRITES_MATCH_NORM_CELL_H_
#define RNNPACK_COMPILER_REWRITES_MATCH_NORM_CELL_H_

#include "compiler/rewrites/match_cell.h"

namespace rnnp::compiler {

// Of a step of two states.
std::optional<MatchedCell> match_norm_cell(const StepGraph &step);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_REWRITES_MATCH_NORM_CELL_H_
