// fold.cpp -- Contract: fold.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/fold.h"

#include <algorithm>

#include "compiler/eval/carry_file_type.h"
#include "compiler/eval/eval.h"
#include "compiler/import/fold_dims.h"

namespace rnnp::compiler {
namespace {

bool any_dynamic(const std::vector<const Tensor *> &in) {
  return std::any_of(in.begin(), in.end(), [](const Tensor *t) { return t && t->is_dynamic(); });
}

// Numbers that stand in for open sizes are large: what they spread out stays a view.
bool is_wide(const Tensor &shape) {
  constexpr double kWidest = 1 << 20;
  double elements = 1;
  for (const double size : shape.data) elements *= size;
  return elements > kWidest;
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
  const std::vector<const Tensor *> in = call.constants_and_sizes();
  const bool open = any_dynamic(in);
  if (open) {
    const bool repeats = op == "Tile" && in.size() > 1 && in[1] != nullptr && in[1]->is_dynamic();
    if (op == "Expand" || op == "ConstantOfShape" || repeats) return false;
    if (op == "Range" || op == "Pad")
      throw Refusal("its size depends on the number of steps or batch rows; accepted: constants" + keras_hint(call.name));
  }
  if (op == "Expand" && call.b.discovering && is_wide(*in[1])) return false;
  std::vector<Tensor> out = eval_node(call.node, call.opset, in);
  if (open) fold_dims(call, in, &out);
  carry_file_type(call.node, call.opset, in, &out);
  for (size_t i = 0; i < out.size(); ++i) {
    out[i].data.narrow();
    call.give(i, std::move(out[i]));
  }
  return true;
}

}  // namespace rnnp::compiler
