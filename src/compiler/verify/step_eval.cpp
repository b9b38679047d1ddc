// step_eval.cpp -- Contract: step_eval.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/step_eval.h"

#include <algorithm>

#include "compiler/eval/eval.h"
#include "compiler/onnx/errors.h"

namespace rnnp::compiler {
namespace {

// Position of the steps axis among the ONNX axes; the rank when there is none.
size_t time_axis(const rnnp_tensor_info &facts) {
  return static_cast<size_t>(std::find(facts.dims, facts.dims + facts.rank, RNNP_DIM_STEPS) - facts.dims);
}

// Elements before and within one index of axis `axis`.
struct Blocks {
  size_t outer = 1, inner = 1;
  Blocks(const Shape &shape, size_t axis) {
    for (size_t i = 0; i < shape.size(); ++i) {
      if (i < axis) outer *= static_cast<size_t>(shape[i]);
      if (i > axis) inner *= static_cast<size_t>(shape[i]);
    }
  }
};

double element(const Array &array, size_t i) {
  return array.is_int ? static_cast<double>(array.i32[i]) : static_cast<double>(array.f32[i]);
}

Tensor whole(const Array &array) {
  Tensor out(array.is_int ? Elem::kInt : Elem::kFloat, array.shape);
  for (size_t i = 0; i < out.data.size(); ++i) out.data[i] = element(array, i);
  return out;
}

// One step of an array: its steps axis at size 1, or the extra axis in front gone.
Tensor step_of(const rnnp_tensor_info &facts, const Array &array, size_t step) {
  const bool in_front = array.shape.size() > facts.rank;
  const size_t axis = in_front ? 0 : time_axis(facts);
  if (axis == array.shape.size()) return whole(array);
  const Blocks blocks(array.shape, axis);
  const size_t steps = static_cast<size_t>(array.shape[axis]);
  Shape shape = array.shape;
  shape[axis] = 1;
  if (in_front) shape.erase(shape.begin());
  Tensor out(array.is_int ? Elem::kInt : Elem::kFloat, shape);
  for (size_t o = 0; o < blocks.outer; ++o) {
    for (size_t i = 0; i < blocks.inner; ++i)
      out.data[o * blocks.inner + i] = element(array, (o * steps + step) * blocks.inner + i);
  }
  return out;
}

// A layer that starts from zeros in every evaluation, while the library goes on from where it was.
void check_layers(const OnnxModel &model) {
  for (const OnnxNode *node : model.nodes) {
    const std::string &op = node->op_type();
    const bool recurrent = op == "LSTM" || op == "GRU" || op == "RNN";
    if (recurrent && (node->input_size() < 6 || node->input(5).empty()))
      throw UsageError("node " + quote(node_title(*node)) +
                       " keeps a state that is no input, so it cannot be evaluated step by step; run one step");
  }
}

Tensor initial(const OnnxModel &model, const std::string &name, int64_t batch) {
  for (const DeclaredInput &input : model.inputs) {
    if (input.name != name) continue;
    Shape shape;
    for (const DeclaredDim &dim : input.dims) shape.push_back(dim.value ? dim.value : batch);
    return Tensor(Elem::kFloat, shape);
  }
  throw UsageError("the model has no input " + quote(name));
}

// Steps of one output next to each other along its steps axis, in front where it has none.
Tensor joined(const rnnp_tensor_info &facts, const std::vector<Tensor> &steps) {
  if (facts.role != RNNP_ROLE_SEQUENCE) return steps.back();
  const size_t axis = time_axis(facts) < facts.rank ? time_axis(facts) : 0;
  const Shape &shape = steps[0].shape;
  Blocks blocks(shape, axis);
  if (time_axis(facts) == facts.rank) blocks.inner *= shape.empty() ? 1 : static_cast<size_t>(shape[0]);
  Tensor out(Elem::kFloat, {static_cast<int64_t>(steps.size() * steps[0].data.size())});
  for (size_t o = 0; o < blocks.outer; ++o) {
    for (size_t t = 0; t < steps.size(); ++t) {
      for (size_t i = 0; i < blocks.inner; ++i)
        out.data[(o * steps.size() + t) * blocks.inner + i] = steps[t].data[o * blocks.inner + i];
    }
  }
  return out;
}

}  // namespace

bool steps_are_implied(const Runner &runner) {
  return std::all_of(runner.inputs().begin(), runner.inputs().end(),
                     [](const rnnp_tensor_info &facts) { return time_axis(facts) == facts.rank; });
}

std::map<std::string, Tensor> eval_steps(const OnnxModel &model, const Runner &runner, const std::map<std::string, Tensor> &same,
                                         const Arrays &inputs, const std::vector<StatePair> &states, const RunSizes &sizes,
                                         const Progress &progress, const EvalInstead &instead) {
  const int64_t steps = sizes.steps;
  if (steps > 1) check_layers(model);
  std::map<std::string, Tensor> now = same;
  for (const StatePair &pair : states) now[pair.input] = initial(model, pair.input, sizes.batch);
  std::map<std::string, std::vector<Tensor>> made;
  for (int64_t step = 0; step < steps; ++step) {
    for (const rnnp_tensor_info &facts : runner.inputs()) {
      if (facts.role == RNNP_ROLE_STATE && steps > 1)
        throw UsageError("input " + quote(facts.name) +
                         " is a state that is not kept; name all states with --state, or run one step");
      now[facts.name] = step_of(facts, inputs.at(facts.name), static_cast<size_t>(step));
    }
    const std::map<std::string, Tensor> out = eval_graph(model, now, {}, instead);
    for (const rnnp_tensor_info &facts : runner.outputs()) {
      std::vector<Tensor> &of = made[facts.name];  // a file may have the same output twice
      if (of.size() == static_cast<size_t>(step)) of.push_back(out.at(facts.name));
    }
    for (const StatePair &pair : states) {
      Tensor next = out.at(pair.output);
      next.shape = now[pair.input].shape;  // ones may have come or gone
      now[pair.input] = std::move(next);
    }
    if (progress) progress(static_cast<size_t>(step) + 1, static_cast<size_t>(steps));
  }
  std::map<std::string, Tensor> results;
  for (const rnnp_tensor_info &facts : runner.outputs()) results[facts.name] = joined(facts, made.at(facts.name));
  return results;
}

}  // namespace rnnp::compiler
