// fold.cpp -- Contract: fold.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/fold.h"

#include <algorithm>
#include <set>

#include "compiler/eval/eval.h"
#include "compiler/import/fold_dims.h"

namespace rnnp::compiler {
namespace {

bool any_dynamic(const std::vector<const Tensor *> &in) {
  return std::any_of(in.begin(), in.end(), [](const Tensor *t) { return t && t->is_dynamic(); });
}

// Operators that move elements of their data inputs; the others mix them.
bool moves_data(const std::string &op) {
  static const std::set<std::string> kMoves = {"Identity", "Gather",  "Slice",     "Squeeze", "Unsqueeze",
                                               "Concat",   "Reshape", "Transpose", "Cast",    "Flatten"};
  return kMoves.count(op) != 0;
}

// What stands beside each element of the data inputs, moved as the node moves these: as many numbers for each output.
template <typename Mark>
std::vector<Tensor> moved_marks(const OpCall &call, const std::vector<const Tensor *> &in, Mark mark_of) {
  const size_t data_inputs = call.node.op_type() == "Concat" ? in.size() : 1;
  std::vector<Tensor> marks;
  std::vector<const Tensor *> inputs = in;
  marks.reserve(data_inputs);
  for (size_t i = 0; i < data_inputs; ++i) {
    Tensor mark = *in[i];
    for (size_t k = 0; k < mark.data.size(); ++k) mark.data[k] = mark_of(*in[i], k);
    marks.push_back(std::move(mark));
    inputs[i] = &marks.back();
  }
  return eval_node(call.node, call.opset, inputs);
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

// How the file has the numbers: the same of all that come together here, or nothing is known.
void carry_file_type(const OpCall &call, const std::vector<const Tensor *> &in, std::vector<Tensor> *out) {
  if (out->empty()) return;
  if (call.node.op_type() == "Add" && in.size() == 2) return carry_added(in, &(*out)[0]);
  if (!moves_data(call.node.op_type()) || in.empty() || in[0] == nullptr || in[0]->file_type == 0) return;
  const Tensor &first = *in[0];
  const auto differs = [&](const Tensor *t) {
    return t == nullptr || t->file_type != first.file_type || t->steps.empty() != first.steps.empty();
  };
  if (call.node.op_type() == "Concat" && std::any_of(in.begin(), in.end(), differs)) return;
  for (Tensor &tensor : *out) {
    if (tensor.elem == first.elem) tensor.file_type = first.file_type;
  }
  if (first.steps.empty()) return;
  const std::vector<Tensor> moved =
      moved_marks(call, in, [](const Tensor &t, size_t i) { return static_cast<double>(t.steps[i]); });
  for (size_t i = 0; i < out->size(); ++i) {
    for (const double step : moved[i].data) (*out)[i].steps.push_back(static_cast<float>(step));
  }
}

// TimeDistributed becomes a loop that takes the steps apart and puts them together again.
std::string keras_hint(const std::string &node) {
  const bool wrapper = node.find("time_distributed") != std::string::npos;
  return wrapper ? ". It is Keras' TimeDistributed: export the layer without it, a Dense works at every step by itself" : "";
}

}  // namespace

bool fold(OpCall &call) {
  const std::string &op = call.node.op_type();
  if (!find_eval(op)) return false;
  for (size_t i = 0; i < call.input_count(); ++i) {
    if (call.has(i) && !call.is_const(i)) return false;
  }
  if (std::shared_ptr<const Tensor> stored = stored_tensor(call.node)) {
    call.give(0, std::move(stored));
    return true;
  }
  const std::vector<const Tensor *> in = call.constants_and_sizes();
  const bool open = any_dynamic(in);
  if (open) {
    const bool repeats = op == "Tile" && in.size() > 1 && in[1] != nullptr && in[1]->is_dynamic();
    if (op == "Expand" || op == "ConstantOfShape" || repeats) return false;
    if (op == "Range" || op == "Pad")
      throw Refusal("its size depends on the number of steps or batch rows; accepted: constants" + keras_hint(call.name));
  }
  std::vector<Tensor> out = eval_node(call.node, call.opset, in);
  if (open) fold_dims(call, in, &out);
  carry_file_type(call, in, &out);
  for (size_t i = 0; i < out.size(); ++i) {
    out[i].data.narrow();
    call.give(i, std::move(out[i]));
  }
  return true;
}

}  // namespace rnnp::compiler
