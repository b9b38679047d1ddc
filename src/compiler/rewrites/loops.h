// loops.h -- Loop and Scan over the steps of a sequence. A body that is a recurrent cell becomes that layer; any other whose states
// start at zero becomes part of the graph, run at every step, with its states kept by the library.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_REWRITES_LOOPS_H_
#define RNNPACK_COMPILER_REWRITES_LOOPS_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/onnx/model_file.h"

namespace rnnp::compiler {

struct WithoutLoops {
  std::unique_ptr<OnnxModel> model;                         // refers to nodes of the old one
  std::vector<std::pair<std::string, std::string>> states;  // inputs and outputs that it has more: state before and after a step
  std::vector<std::string> layers;                          // loops that became layers
  std::vector<std::string> sizes;                           // with which loops that cannot keep their states can be written out
};

// nullptr where the model has no loop that can be written otherwise; what is left says why when it is read.
WithoutLoops expand_loops(const OnnxModel &model);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_REWRITES_LOOPS_H_
