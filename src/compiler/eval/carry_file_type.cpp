// carry_file_type.cpp -- Contract: carry_file_type.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/eval/carry_file_type.h"

#include <algorithm>
#include <set>

#include "compiler/eval/eval.h"

namespace rnnp::compiler {
namespace {

// Operators that move elements of their data inputs; the others mix them.
bool moves_data(const std::string &op) {
  static const std::set<std::string> kMoves = {"Identity", "Gather",  "Slice",     "Squeeze", "Unsqueeze",
                                               "Concat",   "Reshape", "Transpose", "Cast",    "Flatten"};
  return kMoves.count(op) != 0;
}

// The steps of the data inputs, moved as the node moves these.
std::vector<Tensor> moved_steps(const OnnxNode &node, int64_t opset, const std::vector<const Tensor *> &in) {
  const size_t data_inputs = node.op_type() == "Concat" ? in.size() : 1;
  std::vector<Tensor> steps;
  std::vector<const Tensor *> inputs = in;
  steps.reserve(data_inputs);
  for (size_t i = 0; i < data_inputs; ++i) {
    steps.push_back(steps_tensor(*in[i]));
    inputs[i] = &steps.back();
  }
  return eval_node(node, opset, inputs);
}

// Where numbers are added to a few of a file's integers, the others stay what they are: a diagonal that is kept apart.
void carry_added(const std::vector<const Tensor *> &in, Tensor *out) {
  for (size_t side = 0; side < 2; ++side) {
    const Tensor &whole = *in[side], &added = *in[1 - side];
    if (whole.steps.empty() || !added.steps.empty() || whole.shape != out->shape || added.shape != out->shape) continue;
    out->file_type = whole.file_type;
    out->steps = whole.steps;
    for (size_t i = 0; i < out->steps.size(); ++i) {
      if (added.data[i] != 0) out->steps[i] = 0;
    }
    return;
  }
}

}  // namespace

void carry_file_type(const OnnxNode &node, int64_t opset, const std::vector<const Tensor *> &in, std::vector<Tensor> *out) {
  if (out->empty()) return;
  if (node.op_type() == "Add" && in.size() == 2) return carry_added(in, &(*out)[0]);
  if (!moves_data(node.op_type()) || in.empty() || in[0] == nullptr || in[0]->file_type == 0) return;
  const Tensor &first = *in[0];
  const auto differs = [&](const Tensor *t) {
    return t == nullptr || t->file_type != first.file_type || t->steps.empty() != first.steps.empty();
  };
  if (node.op_type() == "Concat" && std::any_of(in.begin(), in.end(), differs)) return;
  for (Tensor &tensor : *out) {
    if (tensor.elem == first.elem) tensor.file_type = first.file_type;
  }
  if (first.steps.empty()) return;
  const std::vector<Tensor> moved = moved_steps(node, opset, in);
  for (size_t i = 0; i < out->size(); ++i) {
    for (const double step : moved[i].data) (*out)[i].steps.push_back(static_cast<float>(step));
  }
}

}  // namespace rnnp::compiler
