// match_cell.h -- the recurrent layer that one step of a loop is, whatever operators it is written in. Weights are what x and h are
// multiplied by, biases what is added to those products; the order of the gates and the equations are found by trying: a layer is
// what gives the step's own numbers on random x and h. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_REWRITES_MATCH_CELL_H_
#define RNNPACK_COMPILER_REWRITES_MATCH_CELL_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/onnx/model_file.h"

namespace rnnp::compiler {

using Constants = std::map<std::string, std::shared_ptr<const Tensor>>;

// One step: nodes in order, what is constant, and the names of its operand and of its states before and after.
struct StepGraph {
  std::vector<const OnnxNode *> nodes;
  Constants constants;
  int64_t opset = 0;
  std::string x;
  std::vector<std::string> before, after;  // h, or h and c in either order
  std::vector<std::string> starts;         // of a loop: what each of its states starts from, outside; equal names are equal values
};

// As ONNX's nodes take them; state: which of the step's states is h, and for LSTM which is c.
struct MatchedCell {
  std::string op;  // RNN, GRU, LSTM or kLstmNorm
  std::vector<std::string> activations;
  std::vector<float> alphas, betas;
  int64_t hidden = 0, linear_before_reset = 0;
  Tensor w, r, b;
  size_t h = 0, c = 0;
  // kLstmNorm: x_scale, h_scale, bias [4 H], c_scale, c_bias [H] one behind the other; AttrNormRecurrent says what they are.
  Tensor norms;
  std::vector<float> epsilons;
  bool by_gate = false, joint = false, keeps_c = false;

  bool has_c() const { return op == "LSTM" || !epsilons.empty(); }
};

std::optional<MatchedCell> match_cell(const StepGraph &step);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_REWRITES_MATCH_CELL_H_
