// unrolled_steps.h -- one step of those that were written out, found by the numbers of what each step reads: nodes are of step t
// where they need element t and none after it; what a node of step t + 1 reads of step t is a state; and the nodes of all steps
// must be those of the second one with states and element in their places.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_REWRITES_UNROLLED_STEPS_H_
#define RNNPACK_COMPILER_REWRITES_UNROLLED_STEPS_H_

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "compiler/rewrites/numbering.h"

namespace rnnp::compiler {

constexpr size_t kFewestSteps = 4;  // of which the first may be folded and the last has what follows all steps

// All by number, of the second step but for starts and last.
struct UnrolledSteps {
  int x = -1;
  size_t count = 0;
  std::vector<int> before, after, made;
  std::vector<int> starts, last;  // of the states, before all steps and behind them; a start of -1: the one of `folded`
  std::vector<int> outer;         // what the step reads that does not change
  std::vector<const Numbering::Op *> nodes;
  std::vector<Tensor> folded;  // of each state
};

class StepsFinder {
 public:
  // What the steps read, in the order in which they follow each other.
  StepsFinder(const Numbering &numbering, const std::vector<int> &elements);

  bool find();
  // Results of the steps that are put together, one of each; false when they are not what the steps make alike.
  bool add_made(const std::vector<int> &of_steps);
  UnrolledSteps done();

 private:
  using Images = std::map<int, int>;

  void find_levels();
  bool is_element(int number) const { return is_element_[static_cast<size_t>(number)]; }
  std::vector<int> states_into(int level) const;
  int state_behind(int number) const;
  std::set<int> operands_of(int number) const;
  int only_operand(int number, bool *normed) const;
  bool leads_to(int number, int other) const;
  bool pair_states();
  bool matches(int tmpl, int other, int step, int depth, Images *images) const;
  std::vector<const Numbering::Op *> step_nodes(const std::vector<int> &wanted) const;
  bool follow();
  bool extend(const std::vector<int> &wanted, Images *images) const;
  bool image(int number, const Images &images, int *of) const;
  bool match_first(int tmpl, int first, int depth);
  bool check_folded();
  bool set_zeros();
  bool solve_starts();
  bool solve_start(size_t state);
  void add_states_of(int number, std::set<int> *seen, std::set<size_t> *states) const;
  bool value_at_start(int number, std::map<int, Tensor> *known, Tensor *value, int depth) const;

  const Numbering &n_;
  const std::vector<int> elements_;
  std::vector<int> levels_;
  std::vector<bool> is_element_;
  std::vector<int> before_, after_;
  std::vector<Images> images_;  // of the second step's numbers in each step from the third on
  std::vector<int> starts_, made_;
  std::map<int, int> first_;                 // second step's numbers in the first one
  std::vector<std::pair<int, int>> folded_;  // a number of the second step that is a constant in the first
  std::vector<Tensor> start_values_;         // of states that the first step shows only in what was folded
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_REWRITES_UNROLLED_STEPS_H_
