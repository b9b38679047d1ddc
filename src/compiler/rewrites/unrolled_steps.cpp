// unrolled_steps.cpp -- Contract: unrolled_steps.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/rewrites/unrolled_steps.h"

#include <algorithm>
#include <cmath>

#include "compiler/eval/eval.h"
#include "compiler/onnx/problem.h"
#include "compiler/rewrites/linear_system.h"

namespace rnnp::compiler {
namespace {

constexpr int kOutside = -1, kUnknown = -2;
constexpr int kDeepest = 256;  // operators of a step, one behind the other
constexpr size_t kMostUnrolledStates = 32;

const std::set<std::string> kLinear = {"MatMul", "Gemm",   "Add",     "Sub",       "Mul",     "Split",
                                       "Slice",  "Gather", "Squeeze", "Unsqueeze", "Reshape", "Transpose"};
const std::set<std::string> kOfNorms = {"LayerNormalization", "ReduceMean", "Sqrt", "Pow", "Div", "Reciprocal"};

bool is_in(const std::vector<int> &numbers, int number) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

bool is_product(const Numbering::Op *op) {
  return op != nullptr && (op->node->op_type() == "MatMul" || op->node->op_type() == "Gemm");
}

bool alike(const Numbering::Op *a, const Numbering::Op *b) {
  return a != nullptr && b != nullptr && !a->kind.empty() && a->kind == b->kind && a->in.size() == b->in.size();
}

}  // namespace

StepsFinder::StepsFinder(const Numbering &numbering, const std::vector<int> &elements) : n_(numbering), elements_(elements) {}

bool StepsFinder::find() {
  find_levels();
  if (!pair_states() || !follow()) return false;
  starts_.assign(before_.size(), kUnknown);
  for (size_t i = 0; i < before_.size(); ++i) {
    if (!match_first(after_[i], before_[i], 0)) return false;
  }
  return set_zeros() && (check_folded() || (solve_starts() && check_folded()));
}

void StepsFinder::find_levels() {
  levels_.assign(n_.values().size(), kOutside);
  is_element_.assign(n_.values().size(), false);
  for (const int element : elements_) is_element_[static_cast<size_t>(element)] = true;
  std::map<int, int> step;
  for (size_t k = 0; k < elements_.size(); ++k) step[elements_[k]] = static_cast<int>(k);
  for (size_t v = 0; v < levels_.size(); ++v) {
    const auto element = step.find(static_cast<int>(v));
    const Numbering::Op *op = n_.maker(static_cast<int>(v));
    if (element != step.end()) {
      levels_[v] = element->second;
    } else if (op != nullptr) {
      for (const int in : op->in) {
        if (in >= 0) levels_[v] = std::max(levels_[v], levels_[static_cast<size_t>(in)]);
      }
    }
  }
}

// What nodes of this level read of the level before, or what that is computed from before it meets the level's element: a product
// with h alone belongs to the step that adds x to it.
std::vector<int> StepsFinder::states_into(int level) const {
  std::vector<int> open;
  for (const Numbering::Op &op : n_.ops()) {
    if (op.out.empty() || levels_[static_cast<size_t>(op.out[0])] != level) continue;
    for (const int in : op.in) {
      if (in >= 0 && levels_[static_cast<size_t>(in)] == level - 1) open.push_back(in);
    }
  }
  std::set<int> found;
  for (const int number : open) found.insert(state_behind(number));
  return {found.begin(), found.end()};
}

// A norm is the next step's where it is one of a product, else it is what the step gives.
int StepsFinder::state_behind(int number) const {
  int state = number, factor = number;  // factor: of the last product
  bool normed = false;
  for (int depth = 0; depth < kDeepest; ++depth) {
    const bool product = is_product(n_.maker(number));
    number = only_operand(number, &normed);
    if (number < 0) break;
    if (product) factor = number;
    state = normed ? factor : number;
  }
  return state;
}

// What an operator is computed from that is linear, only moves, or belongs to a norm; nothing of others.
std::set<int> StepsFinder::operands_of(int number) const {
  const Numbering::Op *op = n_.maker(number);
  if (op == nullptr || is_element(number)) return {};
  if (kOfNorms.count(op->node->op_type()) == 0 && kLinear.count(op->node->op_type()) == 0) return {};
  std::set<int> from;
  for (const int in : op->in) {
    if (in < 0 || levels_[static_cast<size_t>(in)] == kOutside) continue;
    if (is_element(in)) return {};
    from.insert(in);
  }
  return from;
}

// Their one operand; of a norm's operators, where one of two is computed from the other alone, that. -1: there is none. *normed: in
// a norm, up to the product that it is of.
int StepsFinder::only_operand(int number, bool *normed) const {
  const std::set<int> from = operands_of(number);
  if (from.empty() || from.size() > 2) return -1;
  const int first = *from.begin(), second = *from.rbegin(), only = leads_to(first, second) ? second : first;
  if (only == first && !leads_to(second, first)) return -1;
  const Numbering::Op *op = n_.maker(number);
  const bool linear = from.size() == 1 && kOfNorms.count(op->node->op_type()) == 0;
  *normed = !linear || (*normed && !is_product(op));
  return only;
}

// Whether a number is another, or computed from it by few operators and from nothing else.
bool StepsFinder::leads_to(int number, int other) const {
  constexpr int kMostOfNorm = 8;
  for (int i = 0; i < kMostOfNorm && number != other; ++i) {
    const std::set<int> from = operands_of(number);
    if (from.size() != 1) return false;
    number = *from.begin();
  }
  return number == other;
}

// Each state's numbers at the beginning and the end of the second step: at its end it is what its like is in the third step.
bool StepsFinder::pair_states() {
  before_ = states_into(1);
  const std::vector<int> after = states_into(2), next = states_into(3);
  if (before_.empty() || before_.size() > kMostUnrolledStates || before_.size() != after.size()) return false;
  Images images;
  for (const int number : after) {
    const bool found = std::any_of(next.begin(), next.end(), [&](int other) {
      Images trial = images;
      if (!matches(number, other, 2, 0, &trial)) return false;
      images = std::move(trial);
      return true;
    });
    if (!found) return false;
  }
  for (const int before : before_) {
    if (images.count(before) == 0 || !is_in(after, images.at(before)) || is_in(after_, images.at(before))) return false;
    after_.push_back(images.at(before));
  }
  return true;
}

bool StepsFinder::matches(int tmpl, int other, int step, int depth, Images *images) const {
  if (tmpl < 0 || other < 0) return tmpl == other;
  const auto known = images->find(tmpl);
  if (known != images->end()) return known->second == other;
  if (levels_[static_cast<size_t>(tmpl)] == kOutside) return tmpl == other;
  if (tmpl == elements_[1]) return other == elements_[static_cast<size_t>(step)];
  if (is_in(before_, tmpl)) {
    if (levels_[static_cast<size_t>(other)] != step - 1) return false;
  } else {
    const Numbering::Op *a = n_.maker(tmpl), *b = n_.maker(other);
    if (depth > kDeepest || !alike(a, b) || n_.value(tmpl).index != n_.value(other).index) return false;
    for (size_t i = 0; i < a->in.size(); ++i) {
      if (!matches(a->in[i], b->in[i], step, depth + 1, images)) return false;
    }
  }
  (*images)[tmpl] = other;
  return true;
}

// Nodes of the second step that make these, and what they need that is computed from constants alone.
std::vector<const Numbering::Op *> StepsFinder::step_nodes(const std::vector<int> &wanted) const {
  std::set<int> open(wanted.begin(), wanted.end()), places;
  while (!open.empty()) {
    const int number = *open.rbegin();
    open.erase(number);
    const Numbering::Value &value = n_.value(number);
    if (value.op < 0 || number == elements_[1] || is_in(before_, number)) continue;
    if (levels_[static_cast<size_t>(number)] == kOutside && !value.fixed) continue;
    places.insert(value.op);
    for (const int in : n_.maker(number)->in) {
      if (in >= 0) open.insert(in);
    }
  }
  std::vector<const Numbering::Op *> nodes;
  for (const int place : places) nodes.push_back(&n_.ops()[static_cast<size_t>(place)]);
  return nodes;
}

bool StepsFinder::image(int number, const Images &images, int *of) const {
  const auto found = images.find(number);
  *of = found != images.end() ? found->second : number;
  return found != images.end() || number < 0 || levels_[static_cast<size_t>(number)] == kOutside;
}

// The second step's numbers in every later one.
bool StepsFinder::follow() {
  std::vector<int> states = after_;
  for (size_t k = 2; k < elements_.size(); ++k) {
    Images images = {{elements_[1], elements_[k]}};
    for (size_t i = 0; i < before_.size(); ++i) images[before_[i]] = states[i];
    images_.push_back(std::move(images));
    if (!extend(after_, &images_.back())) return false;
    for (size_t i = 0; i < after_.size(); ++i) states[i] = images_.back().at(after_[i]);
  }
  return true;
}

bool StepsFinder::extend(const std::vector<int> &wanted, Images *images) const {
  for (const Numbering::Op *op : step_nodes(wanted)) {
    if (levels_[static_cast<size_t>(op->out[0])] == kOutside) continue;
    if (is_element(op->out[0])) return false;  // of another step
    std::vector<int> in;
    for (const int number : op->in) {
      int of = 0;
      if (!image(number, *images, &of)) return false;
      in.push_back(of);
    }
    const Numbering::Op *other = n_.like(*op, in);
    if (other == nullptr) return false;
    for (size_t i = 0; i < op->out.size(); ++i) (*images)[op->out[i]] = other->out[i];
  }
  return true;
}

// The first step's value in the place of the second's; what states start from comes out of it.
bool StepsFinder::match_first(int tmpl, int first, int depth) {
  if (tmpl < 0 || first < 0) return tmpl == first;
  if (levels_[static_cast<size_t>(tmpl)] == kOutside) return tmpl == first;
  if (tmpl == elements_[1]) return first == elements_[0];
  const auto state = std::find(before_.begin(), before_.end(), tmpl);
  if (state != before_.end() && depth > 0) {
    int &start = starts_[static_cast<size_t>(state - before_.begin())];
    if (levels_[static_cast<size_t>(first)] != kOutside || (start != kUnknown && start != first)) return false;
    start = first;
    return true;
  }
  const auto known = first_.find(tmpl);
  if (known != first_.end()) return known->second == first;
  const Numbering::Op *a = n_.maker(tmpl), *b = n_.maker(first);
  if (a != nullptr && n_.value(first).constant) {
    folded_.emplace_back(tmpl, first);
  } else {
    if (depth > kDeepest || !alike(a, b) || n_.value(tmpl).index != n_.value(first).index) return false;
    for (size_t i = 0; i < a->in.size(); ++i) {
      if (!match_first(a->in[i], b->in[i], depth + 1)) return false;
    }
  }
  first_[tmpl] = first;
  return true;
}

// A state that the first step shows only in what was folded is taken for zeros first; the check of that says if it is.
bool StepsFinder::set_zeros() {
  start_values_.resize(starts_.size());
  for (size_t i = 0; i < starts_.size(); ++i) {
    if (starts_[i] != kUnknown) continue;
    int64_t width = 0;
    for (const Numbering::Op *op : step_nodes(after_)) {
      if (!is_product(op) || op->in[0] != before_[i] || op->in[1] < 0 || !n_.value(op->in[1]).constant) continue;
      const Tensor &matrix = *n_.value(op->in[1]).constant;
      if (matrix.rank() != 2) return false;
      width = matrix.shape[Attributes(*op->node).integer("transB", 0) != 0 ? 1 : 0];
    }
    if (width == 0 || folded_.empty() || n_.value(folded_[0].second).constant->rank() != 2) return false;
    start_values_[i] = Tensor(Elem::kFloat, {n_.value(folded_[0].second).constant->shape[0], width});
  }
  return true;
}

void StepsFinder::add_states_of(int number, std::set<int> *seen, std::set<size_t> *states) const {
  if (number < 0 || !seen->insert(number).second) return;
  const auto state = std::find(before_.begin(), before_.end(), number);
  if (state != before_.end()) {
    states->insert(static_cast<size_t>(state - before_.begin()));
    return;
  }
  const Numbering::Op *op = n_.maker(number);
  if (op == nullptr || number == elements_[1]) return;
  for (const int in : op->in) add_states_of(in, seen, states);
}

// States that were learned: what was folded is linear in each, and says what it was.
bool StepsFinder::solve_starts() {
  for (size_t i = 0; i < starts_.size(); ++i) {
    if (starts_[i] == kUnknown && !solve_start(i)) return false;
  }
  return true;
}

// By what rows of the unit matrix become in its place.
bool StepsFinder::solve_start(size_t state) {
  constexpr int64_t kWidest = 1024;
  const Tensor zeros = start_values_[state];
  const int64_t rows = zeros.shape[0], width = zeros.shape[1];
  if (width > kWidest) return false;
  Tensor probes(Elem::kFloat, {width + 1, width});  // zeros, and the unit matrix below them
  for (int64_t k = 0; k < width; ++k) probes.data[static_cast<size_t>((k + 1) * width + k)] = 1;
  LinearSystem system(width, rows);
  for (const auto &pair : folded_) {
    std::set<int> seen;
    std::set<size_t> states;
    add_states_of(pair.first, &seen, &states);
    if (states.count(state) == 0) continue;
    std::map<int, Tensor> known;
    Tensor made;
    const Tensor &given = *n_.value(pair.second).constant;
    start_values_[state] = probes;
    const bool alone = states.size() == 1 && value_at_start(pair.first, &known, &made, 0);
    start_values_[state] = zeros;
    if (!alone || made.rank() != 2 || given.shape != Shape{rows, made.shape[1]} || made.shape[0] != width + 1) return false;
    system.add(made, given);
  }
  return system.solve(&start_values_[state]);
}

// Folded numbers are those that the second step's nodes make of the start.
bool StepsFinder::check_folded() {
  constexpr double kNear = 1e-5;  // they were computed in float
  std::map<int, Tensor> known;
  for (const auto &pair : folded_) {
    Tensor value;
    if (!value_at_start(pair.first, &known, &value, 0)) return false;
    const Tensor &given = *n_.value(pair.second).constant;
    if (value.shape != given.shape) return false;
    for (size_t i = 0; i < value.data.size(); ++i) {
      if (!(std::fabs(value.data[i] - given.data[i]) <= kNear * (1 + std::fabs(value.data[i])))) return false;
    }
  }
  folded_.clear();
  return true;
}

bool StepsFinder::value_at_start(int number, std::map<int, Tensor> *known, Tensor *value, int depth) const {
  const auto state = std::find(before_.begin(), before_.end(), number);
  if (state != before_.end()) {
    const int start = starts_[static_cast<size_t>(state - before_.begin())];
    if (start != kUnknown) return value_at_start(start, known, value, depth + 1);
    *value = start_values_[static_cast<size_t>(state - before_.begin())];
    return true;
  }
  if (n_.value(number).constant) {
    *value = *n_.value(number).constant;
    return true;
  }
  const Numbering::Op *op = n_.maker(number);
  if (op == nullptr || depth > kDeepest || number == elements_[1]) return false;
  if (known->count(number) == 0) {
    std::vector<Tensor> in(op->in.size());
    std::vector<const Tensor *> operands;
    for (size_t i = 0; i < in.size(); ++i) {
      if (op->in[i] >= 0 && !value_at_start(op->in[i], known, &in[i], depth + 1)) return false;
      operands.push_back(op->in[i] >= 0 ? &in[i] : nullptr);
    }
    if (find_eval(op->node->op_type()) == nullptr) return false;
    std::vector<Tensor> out = eval_node(*op->node, n_.opset(), operands);
    for (size_t i = 0; i < out.size(); ++i) (*known)[op->out[i]] = std::move(out[i]);
  }
  *value = known->at(number);
  return true;
}

bool StepsFinder::add_made(const std::vector<int> &of_steps) {
  const int number = of_steps[1];
  if (number < 0 || levels_[static_cast<size_t>(number)] != 1) return false;
  for (size_t k = 2; k < elements_.size(); ++k) {
    Images &images = images_[k - 2];
    if (!extend({number}, &images) || images.count(number) == 0 || images.at(number) != of_steps[k]) return false;
  }
  if (!match_first(number, of_steps[0], 0) || !check_folded()) return false;
  made_.push_back(number);
  return true;
}

UnrolledSteps StepsFinder::done() {
  UnrolledSteps out;
  out.x = elements_[1];
  out.count = elements_.size();
  out.before = before_;
  out.after = after_;
  out.made = made_;
  out.starts = starts_;
  for (const int after : after_) out.last.push_back(images_.back().at(after));
  std::vector<int> wanted = after_;
  wanted.insert(wanted.end(), made_.begin(), made_.end());
  out.nodes = step_nodes(wanted);
  for (const Numbering::Op *op : out.nodes) {
    for (const int in : op->in) {
      if (in >= 0 && levels_[static_cast<size_t>(in)] == kOutside && !is_in(before_, in)) out.outer.push_back(in);
    }
  }
  out.folded = std::move(start_values_);
  return out;
}

}  // namespace rnnp::compiler
