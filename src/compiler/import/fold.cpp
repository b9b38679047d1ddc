// fold.cpp -- Contract: fold.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/fold.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <set>

#include "compiler/eval/eval.h"

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

// Flags of the outputs: moved along with the data, or all set when the values mix.
void carry_dynamic(const OpCall &call, const std::vector<const Tensor *> &in, std::vector<Tensor> *out) {
  if (!any_dynamic(in) || call.node.op_type() == "Shape" || call.node.op_type() == "Size") return;
  if (!moves_data(call.node.op_type())) {
    for (Tensor &tensor : *out) tensor.dynamic.assign(tensor.data.size(), 1);
    return;
  }
  const size_t data_inputs = call.node.op_type() == "Concat" ? in.size() : 1;
  std::vector<Tensor> flags;
  std::vector<const Tensor *> inputs = in;
  flags.reserve(data_inputs);
  for (size_t i = 0; i < data_inputs; ++i) {
    Tensor mask = *in[i];
    mask.dynamic.resize(mask.data.size(), 0);
    std::copy(mask.dynamic.begin(), mask.dynamic.end(), mask.data.begin());
    flags.push_back(std::move(mask));
    inputs[i] = &flags.back();
  }
  const std::vector<Tensor> moved = eval_node(call.node, call.opset, inputs);
  for (size_t i = 0; i < out->size(); ++i) {
    (*out)[i].dynamic.resize((*out)[i].data.size(), 0);
    std::transform(moved[i].data.begin(), moved[i].data.end(), (*out)[i].dynamic.begin(),
                   [](double v) { return v != 0 ? uint8_t{1} : uint8_t{0}; });
  }
}

}  // namespace

bool fold(OpCall &call) {
  const std::string &op = call.node.op_type();
  if (!find_eval(op)) return false;
  for (size_t i = 0; i < call.input_count(); ++i) {
    if (call.has(i) && !call.is_const(i)) return false;
  }
  const std::vector<const Tensor *> in = call.constants();
  if (any_dynamic(in)) {
    if (op == "Expand" || op == "ConstantOfShape") return false;
    if (op == "Range" || op == "Tile" || op == "Pad")
      throw Refusal("its size depends on the number of steps or batch rows; accepted: constants");
  }
  std::vector<Tensor> out = eval_node(call.node, call.opset, in);
  carry_dynamic(call, in, &out);
  for (size_t i = 0; i < out.size(); ++i) call.give(i, std::move(out[i]));
  return true;
}

}  // namespace rnnp::compiler
