// eval.cpp -- the operator table and the walk over a graph. Contract: eval.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/eval/eval.h"

#include "compiler/onnx/problem.h"

namespace rnnp::compiler {

const Tensor &EvalCall::input(size_t i) const {
  if (!has(i)) throw Refusal("input " + std::to_string(i) + " is missing");
  return *in[i];
}

bool EvalCall::wants(size_t i) const {
  return i < static_cast<size_t>(node.output_size()) && !node.output(static_cast<int>(i)).empty();
}

void EvalCall::give(size_t i, Tensor value) {
  if (i < out.size()) out[i] = std::move(value);
}

EvalFn find_eval(const std::string &op_type) {
  for (const auto *table : {&kEvalMath, &kEvalShape, &kEvalLinear, &kEvalRecurrent}) {
    for (const EvalRow &row : *table) {
      if (op_type == row.op_type) return row.function;
    }
  }
  return nullptr;
}

std::vector<Tensor> eval_node(const onnx::NodeProto &node, int64_t opset, const std::vector<const Tensor *> &in) {
  const EvalFn function = find_eval(node.op_type());
  if (!function) throw Refusal("the operator is not supported");
  EvalCall call{node, Attributes(node), opset, in, std::vector<Tensor>(static_cast<size_t>(node.output_size()))};
  function(call);
  return std::move(call.out);
}

std::map<std::string, Tensor> eval_graph(const OnnxModel &model, const std::map<std::string, Tensor> &inputs) {
  std::map<std::string, const Tensor *> known;
  std::map<std::string, Tensor> made;
  for (const auto &constant : model.constants) known[constant.first] = constant.second.get();
  for (const auto &input : inputs) known[input.first] = &input.second;
  for (const onnx::NodeProto *node : model.nodes) {
    try {
      std::vector<const Tensor *> in;
      for (const std::string &name : node->input()) {
        const auto found = known.find(name);
        if (!name.empty() && found == known.end()) throw Refusal("its input " + quote(name) + " has no value");
        in.push_back(name.empty() ? nullptr : found->second);
      }
      std::vector<Tensor> out = eval_node(*node, model.opset, in);
      for (size_t i = 0; i < out.size(); ++i) {
        const std::string &name = node->output(static_cast<int>(i));
        if (name.empty()) continue;
        made[name] = std::move(out[i]);
        known[name] = &made[name];
      }
    } catch (const Refusal &refusal) {
      Problems problems;
      problems.add(node_title(*node), node->op_type(), refusal.what());
      problems.raise();
    }
  }
  std::map<std::string, Tensor> outputs;
  for (const std::string &name : model.outputs) {
    const auto found = known.find(name);
    if (found == known.end()) throw ModelError("output " + quote(name) + " has no value");
    outputs[name] = *found->second;
  }
  return outputs;
}

Shape broadcast_shape(const Shape &a, const Shape &b) {
  Shape out(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) throw Refusal("shapes " + shape_text(a) + " and " + shape_text(b) + " do not broadcast");
    out[out.size() - 1 - i] = x == 1 ? y : x;
  }
  return out;
}

Shape broadcast_strides(const Shape &from, const Shape &to) {
  const Shape dense = dense_strides(from);
  Shape out(to.size(), 0);
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[from.size() - 1 - i] != 1) out[to.size() - 1 - i] = dense[from.size() - 1 - i];
  }
  return out;
}

}  // namespace rnnp::compiler
