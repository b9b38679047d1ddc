// check_blob.cpp -- Contract: check_blob.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/check_blob.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "compiler/eval/eval.h"
#include "compiler/eval/range_watch.h"
#include "compiler/eval/roundings.h"
#include "compiler/ir/passes.h"
#include "compiler/onnx/errors.h"
#include "compiler/verify/random_inputs.h"
#include "compiler/verify/step_eval.h"

namespace rnnp::compiler {
namespace {

bool is_optional(const rnnp_tensor_info &facts) {
  return facts.role == RNNP_ROLE_STATE || facts.role == RNNP_ROLE_LENGTHS;
}

// What the library starts from where the graph has an input.
void add_initial_states(const OnnxModel &model, const std::vector<StatePair> &states, int64_t batch, Tensors *tensors) {
  for (const StatePair &pair : states) {
    Shape shape;
    for (const DeclaredDim &dim : declared_input(model, pair.input.c_str()).dims) shape.push_back(dim.value ? dim.value : batch);
    (*tensors)[pair.input] = Tensor(Elem::kFloat, shape);
  }
}

// Whether the shapes are the same; what a step or a row of the batch makes several of, the blob has as an axis of its own.
bool is_shape(const rnnp_tensor_info &facts, const Shape &got, const Shape &expected) {
  if (got.size() <= expected.size() || got.size() != facts.rank) return got == expected;
  size_t i = 0;
  for (const int64_t size : expected) {
    if (i >= got.size()) return false;
    const bool several = facts.dims[i] < 0 && got[i] != size && i + 1 < got.size();
    if ((several ? got[i] * got[i + 1] : got[i]) != size) return false;
    i += several ? 2 : 1;
  }
  return i == got.size();
}

// Other constants in a model while it lives.
class OtherConstants {
 public:
  using Constants = decltype(OnnxModel::constants);
  OtherConstants(OnnxModel *model, Constants others) : model_(model), others_(std::move(others)) {
    others_.swap(model_->constants);
  }
  ~OtherConstants() { others_.swap(model_->constants); }
  OtherConstants(const OtherConstants &) = delete;
  OtherConstants &operator=(const OtherConstants &) = delete;

 private:
  OnnxModel *model_;
  Constants others_;
};

}  // namespace

bool is_lost_to_range(const Comparison &result, const std::string &beyond_range) {
  return !beyond_range.empty() && result.same_size && result.same_shape && !result.agrees(kTolerance);
}

BlobCheck::BlobCheck(OnnxModel *model, const Graph &graph, const std::vector<StatePair> &states, Runner *runner)
    : model_(model), states_(states), unread_(graph.unread), runner_(runner), implied_(steps_are_implied(*runner)) {
  // States that operators over time keep begin anew with every evaluation of the graph, as those of layers do.
  by_steps_ = implied_ || std::any_of(graph.states.begin(), graph.states.end(), [&](const PersistentState &state) {
                return std::any_of(states.begin(), states.end(), [&](const StatePair &pair) { return pair.input == state.name; });
              });
}

Arrays BlobCheck::complete(const Arrays &given, const RunSizes &sizes, const RandomInputs &how) const {
  std::mt19937 random(how.seed);
  Arrays inputs = given;
  for (const rnnp_tensor_info &facts : runner_->inputs()) {
    const bool in_front = implied_ && sizes.steps > 1 && facts.role == RNNP_ROLE_SEQUENCE;
    const DeclaredInput &declared = declared_input(*model_, facts.name);
    Array drawn = draw_array(facts, declared.elem_type, sizes.steps, sizes.batch, in_front, how.deviation, &random);
    drawn.shape = shape_in_file(facts, declared.dims.size(), std::move(drawn.shape));
    if (how.positive) std::for_each(drawn.f32.begin(), drawn.f32.end(), [](float &v) { v = std::fabs(v); });
    if (how.all_optional || !is_optional(facts)) inputs.emplace(facts.name, std::move(drawn));
  }
  return inputs;
}

// Zero states and full lengths where the library was given none.
Arrays BlobCheck::optional_filled(Arrays inputs, const RunSizes &sizes) const {
  std::mt19937 random(1);
  for (const rnnp_tensor_info &facts : runner_->inputs()) {
    if (!is_optional(facts) || inputs.count(facts.name) != 0) continue;
    const DeclaredInput &declared = declared_input(*model_, facts.name);
    Array filled = draw_array(facts, declared.elem_type, sizes.steps, sizes.batch, false, 1, &random);
    filled.shape = shape_in_file(facts, declared.dims.size(), std::move(filled.shape));
    std::fill(filled.f32.begin(), filled.f32.end(), 0.0f);
    std::fill(filled.i32.begin(), filled.i32.end(), static_cast<int32_t>(sizes.steps));
    inputs.emplace(facts.name, std::move(filled));
  }
  return inputs;
}

// Integers that the graph reads and no result depends on: 1 is a length of any row.
void BlobCheck::add_unread(const RunSizes &sizes, Tensors *tensors) const {
  for (const Io &input : unread_) {
    Shape shape;
    for (const int32_t dim : input.dims)
      shape.push_back(dim == RNNP_DIM_STEPS ? sizes.steps : dim == RNNP_DIM_BATCH ? sizes.batch : dim);
    Tensor ones(Elem::kInt, shape);
    std::fill(ones.data.begin(), ones.data.end(), 1.0);
    (*tensors)[input.name] = std::move(ones);
  }
}

Tensors BlobCheck::evaluate_at(const Arrays &inputs, const RunSizes &sizes, const Progress &progress,
                               const EvalInstead &instead) const {
  Tensors tensors;
  add_unread(sizes, &tensors);
  if (by_steps_) return eval_steps(*model_, *runner_, tensors, inputs, states_, sizes, progress, instead);
  for (const auto &input : inputs) tensors[input.first] = to_tensor(input.second);
  add_initial_states(*model_, states_, sizes.batch, &tensors);
  return eval_graph(*model_, tensors, progress, instead);
}

BothRuns BlobCheck::drawn(const Arrays &given, const RunSizes &sizes, const RandomInputs &random) const {
  BothRuns runs;
  runs.sizes = sizes;
  runs.inputs = complete(given, sizes, random);
  return runs;
}

BothRuns BlobCheck::start(const Arrays &given, const RunSizes &sizes, const RandomInputs &random) const {
  BothRuns runs = drawn(given, sizes, random);
  runs.whole = runner_->run(runs.inputs, {});
  return runs;
}

Tensors BlobCheck::evaluate(const BothRuns &runs, const Progress &progress, const EvalInstead &instead) const {
  return evaluate_at(optional_filled(runs.inputs, runs.sizes), runs.sizes, progress, instead);
}

std::optional<BothRuns> BlobCheck::run(const Arrays &given, const RunSizes &sizes, const RandomInputs &random,
                                       const Progress &progress, std::string *refused) const {
  BothRuns runs = start(given, sizes, random);
  try {
    const RangeWatch watch;
    runs.expected = evaluate(runs, progress);
    runs.beyond_range = watch.node();
  } catch (const std::runtime_error &error) {
    *refused = "the ONNX graph itself cannot be evaluated at " + sizes_text(sizes) + ": " + error.what() + "\n";
    return std::nullopt;
  }
  return runs;
}

Tensors BlobCheck::evaluate_disturbed(const BothRuns &runs, uint32_t seed, const EvalInstead &instead) const {
  Roundings roundings(seed);
  OtherConstants::Constants constants = model_->constants;
  for (auto &constant : constants) {
    if (constant.second->elem != Elem::kFloat || constant.second->size() < 2) continue;
    auto moved = std::make_shared<Tensor>(*constant.second);
    // Floats move by 2 to 4 of their last places: they need not become doubles for it.
    const auto move_all = [&](auto *numbers) {
      for (size_t i = 0; i < moved->data.size(); ++i)
        numbers[i] = static_cast<std::remove_pointer_t<decltype(numbers)>>(roundings.moved(static_cast<double>(numbers[i])));
    };
    moved->data.are_floats() ? move_all(moved->data.same_as(static_cast<const float *>(nullptr))) : move_all(moved->data.data());
    constant.second = moved;
  }
  Arrays inputs = optional_filled(runs.inputs, runs.sizes);
  for (auto &input : inputs) {
    for (float &v : input.second.f32) v = static_cast<float>(roundings.moved(static_cast<double>(v)));
  }
  const OtherConstants disturbed(model_, std::move(constants));
  return evaluate_at(inputs, runs.sizes, {}, instead);
}

Comparison BlobCheck::compare_output(const BothRuns &runs, const std::string &name) const {
  const Array &got = runs.whole.at(name);
  const Tensor &expected = runs.expected.at(name);
  Comparison result = compare(got, expected);
  if (by_steps_) return result;  // its steps were evaluated one by one
  const auto &outputs = runner_->outputs();
  const auto facts = std::find_if(outputs.begin(), outputs.end(), [&](const rnnp_tensor_info &f) { return name == f.name; });
  result.same_shape = is_shape(*facts, got.shape, expected.shape);
  return result;
}

Allowance Allowances::of(const std::string &name, const Comparison &result) {
  constexpr double kSlack = 4, kMost = 1e-2;
  constexpr size_t kTries = 8;  // one that moves little may be luck
  Allowance out;
  if (!result.is_comparable() || result.worst_relative <= kTolerance) return out;
  for (size_t i = 0; i < kTries && !result.agrees(out.bound); ++i) {
    if (disturbed_.size() == i) disturbed_.push_back(check_.evaluate_disturbed(runs_, seed_ + static_cast<uint32_t>(i)));
    out.moved = std::max(out.moved, distance(runs_.expected.at(name), disturbed_[i].at(name)));
    out.bound = std::max(kTolerance, kSlack * out.moved);
  }
  out.says_something = out.bound <= kMost;
  if (!out.says_something) out.bound = kTolerance;
  return out;
}

double work_per_step(const Graph &graph) {
  double work = static_cast<double>(macs_per_step(graph));
  for (const Value &value : graph.values) work += value.elems;
  return work;
}

bool rounds_values(const OnnxModel &model) {
  const auto &nodes = model.graph.node();
  return std::any_of(nodes.begin(), nodes.end(), [&](const OnnxNode &node) {
    const bool quantises = node.op_type() == "QuantizeLinear" || node.op_type() == "DynamicQuantizeLinear";
    return quantises && node.input_size() != 0 && model.constants.count(node.input(0)) == 0;
  });
}

bool all_finite(const Arrays &arrays) {
  return std::all_of(arrays.begin(), arrays.end(), [](const auto &array) {
    return std::all_of(array.second.f32.begin(), array.second.f32.end(), [](float v) { return std::isfinite(v); });
  });
}

std::vector<size_t> random_cuts(size_t steps, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<size_t> cuts;
  while (steps > 0) {
    cuts.push_back(std::uniform_int_distribution<size_t>(1, std::max<size_t>(1, steps / 2))(random));
    steps -= cuts.back();
  }
  return cuts;
}

bool cuts_agree(const BlobCheck &check, const BothRuns &runs, const std::vector<size_t> &cuts, std::string *report) {
  const auto run = [&](const std::vector<size_t> &sizes) {
    RunOptions how;
    how.cuts = sizes;
    return check.runner().run(runs.inputs, how);
  };
  return pieces_agree(runs.whole, cuts, run, report);
}

}  // namespace rnnp::compiler
