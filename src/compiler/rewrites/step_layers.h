// step_layers.h -- the recurrent layers that one step of a loop is made of: cells, one behind the other, with operators on single
// steps before, between and behind them. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_REWRITES_STEP_LAYERS_H_
#define RNNPACK_COMPILER_REWRITES_STEP_LAYERS_H_

#include <set>
#include <string>
#include <vector>

#include "compiler/onnx/rewrite.h"
#include "compiler/rewrites/match_cell.h"

namespace rnnp::compiler {

struct StepLayer {
  MatchedCell cell;
  std::string x;        // what it reads, a name of the step
  size_t h = 0, c = 0;  // which of the step's states; c of LSTM alone
  // What the cell itself starts from and makes: the states before and after the step, or what is left of them behind a mask.
  std::string h_before, c_before, h_after, c_after;
  // Of a loop: the bool of the step without which, or with `mask_holds` with which, the states stay as they are; empty: there is
  // none. Names of the step that are h after it, mask or not.
  std::string mask;
  bool mask_holds = false;
  std::vector<std::string> same_as_h;
  // What the step gives that is h where the mask lets it through, and else what it has from outside.
  struct Kept {
    std::string made, other;
  };
  std::vector<Kept> kept;
};

// In the order in which one reads another. Empty where a state is no cell's, or where something of `made`, what the step gives out,
// needs a state other than by the h that a layer gives.
std::vector<StepLayer> layers_of_step(const StepGraph &step, const std::vector<std::string> &made);

// The same of one step alone, for those states that are a cell's; the others are given, as x is. A cell may start from its states
// multiplied by what needs no state, or chosen by it (policies clear them where an episode ended), or leave them so.
std::vector<StepLayer> some_layers_of_step(const StepGraph &step);

// The nodes that make the wanted names, in order, when the leaves are given.
std::vector<const OnnxNode *> nodes_behind(const std::vector<const OnnxNode *> &nodes, std::set<std::string> wanted,
                                           const std::set<std::string> &leaves);

// The cell as a node over x [steps, batch, inputs], from at:h and at:c to at:y, at:hn and at:cn. mask: empty, or a bool of each
// step.
void add_layer(Rewrite *rewrite, const MatchedCell &cell, const std::string &title, const std::string &at, const std::string &x,
               bool reverse, const std::string &mask);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_REWRITES_STEP_LAYERS_H_
