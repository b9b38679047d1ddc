// loop_form.h -- a Loop or Scan over the steps of sequences as what it is: what it reads at each step, what it carries, what it
// makes. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_REWRITES_LOOP_FORM_H_
#define RNNPACK_COMPILER_REWRITES_LOOP_FORM_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/onnx/model_file.h"

namespace rnnp::compiler {

// Names inside the body on one side, names of the graph around it on the other.
struct LoopForm {
  struct State {
    std::string before, after, start, final;
    const OnnxValue *info;
  };
  struct Steps {
    std::string each, all;  // one step's operand or result in the body; the whole sequence outside
    bool is_constant = false;
  };
  const OnnxGraph *body = nullptr;
  bool reverse = false;  // from the last step to the first
  // Of either side; each must be the sequence's number of steps.
  struct Trips {
    std::string name;
    enum Of : uint8_t { kMost, kOneMore, kBegin } of;  // runs at most so often; one time more; at all where it is above 0
  };
  std::vector<Trips> trips;
  std::set<std::string> counters;   // body inputs that are the number of the step
  std::vector<std::string> counts;  // outside: how many steps there were
  // Which step it is changes what a step computes: by its number, or by a constant that has an element for each.
  bool numbered = false;
  std::vector<State> states;
  std::vector<Steps> reads, makes;
  std::vector<const OnnxNode *> nodes;            // of the body, without the reads
  std::map<std::string, std::string> outer_name;  // body inputs that are always the same
};

// Nothing where it is no loop over the steps of sequences. One that reads none, or whose steps are numbered, can only be written
// out. `constants`: computed_constants of the graph.
std::optional<LoopForm> read_loop_form(const OnnxModel &model, const OnnxNode &node, const std::set<std::string> &constants);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_REWRITES_LOOP_FORM_H_
