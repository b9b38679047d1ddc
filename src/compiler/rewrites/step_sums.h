// step_sums.h -- the sums of products that one step of a loop works on, and the step itself, evaluated.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_REWRITES_STEP_SUMS_H_
#define RNNPACK_COMPILER_REWRITES_STEP_SUMS_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/rewrites/match_cell.h"

namespace rnnp::compiler {

// Names of tensors that follow from constants alone, and of these.
std::set<std::string> computed_constants(const std::vector<const OnnxNode *> &nodes, const Constants &constants);

// An Identity, or a Cast to float: what it makes is its operand under another name.
bool names_again(const OnnxNode &node);
// A name without those before it.
std::string origin_of(const std::vector<const OnnxNode *> &nodes, std::string name);

// [rows][columns] in doubles, and how the file has them (Tensor).
struct Matrix {
  int64_t rows = 0, columns = 0;
  std::vector<double> data;
  std::vector<float> steps;
  int file_type = 0;
  double at(int64_t r, int64_t c) const { return data[static_cast<size_t>(r * columns + c)]; }
};

// What the step multiplies x and h by, side by side in the order of the step, and what it adds.
struct StepSums {
  Matrix w, r;                       // [I][G H], [H][G H]
  std::vector<double> wb, rb, both;  // [G H]
  int64_t hidden = 0, gates = 0;
};

// Of the step's operand and this state; nothing where it multiplies anything else, or not by constants.
std::optional<StepSums> read_sums(const StepGraph &step, const std::string &h);
// The step's results at these operands. Throws Refusal.
std::vector<Tensor> run_step(const StepGraph &step, const std::map<std::string, Tensor> &given,
                             const std::vector<std::string> &wanted);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_REWRITES_STEP_SUMS_H_
