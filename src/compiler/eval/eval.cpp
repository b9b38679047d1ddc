// eval.cpp -- the operator table and the walk over a graph. Contract: eval.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/eval/eval.h"

#include <algorithm>

#include "compiler/onnx/budget.h"
#include "compiler/onnx/operator_attributes.h"
#include "compiler/onnx/problem.h"
#include "compiler/onnx/subgraph.h"

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

namespace {

const std::vector<EvalRow> *const kTables[] = {&kEvalMath, &kEvalUnary, &kEvalLogic,  &kEvalShape, &kEvalIndex,  &kEvalLinear,
                                               &kEvalConv, &kEvalPool,  &kEvalReduce, &kEvalNorm,  &kEvalEinsum, &kEvalRecurrent};

}  // namespace

EvalFn find_eval(const std::string &op_type) {
  for (const auto *table : kTables) {
    for (const EvalRow &row : *table) {
      if (op_type == row.op_type) return row.function;
    }
  }
  return nullptr;
}

std::vector<std::string> eval_operators() {
  std::vector<std::string> names;
  for (const auto *table : kTables) {
    for (const EvalRow &row : *table) names.emplace_back(row.op_type);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<Tensor> eval_node(const onnx::NodeProto &node, int64_t opset, const std::vector<const Tensor *> &in) {
  const EvalFn function = find_eval(node.op_type());
  if (!function) throw Refusal("the operator is not supported");
  check_attributes(node, opset);
  EvalCall call{node, Attributes(node), opset, in, std::vector<Tensor>(static_cast<size_t>(node.output_size()))};
  for (const Tensor *tensor : in) Budget::charge_operations(tensor ? static_cast<double>(tensor->size()) : 0);
  function(call);
  // A tensor that was never given has no element, not even the one of a scalar.
  for (size_t i = 0; i < call.out.size(); ++i) {
    if (call.wants(i) && call.out[i].data.empty() && call.out[i].shape.empty())
      throw Refusal("its output " + std::to_string(i) + " is not supported");
  }
  return std::move(call.out);
}

namespace {

// One walk over a graph and the branches it takes. Names made in a branch hide those outside until its end.
class Walk {
 public:
  explicit Walk(int64_t opset) : opset_(opset) {}

  std::map<std::string, std::shared_ptr<const Tensor>> known;

  void run(const onnx::NodeProto &node) {
    try {
      if (node.op_type() == "If")
        branch(node);
      else
        compute(node);
    } catch (const Refusal &refusal) {
      Problems problems;
      problems.add(node_title(node), node.op_type(), refusal.what());
      problems.raise();
    }
  }

 private:
  std::shared_ptr<const Tensor> value_of(const std::string &name) const {
    const auto found = known.find(name);
    if (found == known.end()) throw Refusal("its input " + quote(name) + " has no value");
    return found->second;
  }

  void compute(const onnx::NodeProto &node) {
    std::vector<const Tensor *> in;
    for (const std::string &name : node.input()) in.push_back(name.empty() ? nullptr : value_of(name).get());
    std::vector<Tensor> out = eval_node(node, opset_, in);
    for (size_t i = 0; i < out.size(); ++i) {
      const std::string &name = node.output(static_cast<int>(i));
      if (!name.empty()) known[name] = std::make_shared<const Tensor>(std::move(out[i]));
    }
  }

  void branch(const onnx::NodeProto &node) {
    check_attributes(node, opset_);
    if (node.input_size() != 1) throw Refusal("it needs one condition");
    const onnx::GraphProto &graph = taken_branch(node, *value_of(node.input(0)));
    std::map<std::string, std::shared_ptr<const Tensor>> hidden;
    const std::vector<std::string> made = names_made(graph);
    for (const std::string &name : made) {
      const auto found = known.find(name);
      if (found != known.end()) hidden.insert(*found);
    }
    for (const onnx::TensorProto &constant : graph.initializer())
      known[constant.name()] = std::make_shared<const Tensor>(read_tensor(constant));
    for (const onnx::NodeProto &inner : graph.node()) run(inner);
    std::vector<std::shared_ptr<const Tensor>> results;
    for (const onnx::ValueInfoProto &output : graph.output()) results.push_back(value_of(output.name()));
    for (const std::string &name : made) known.erase(name);
    for (auto &outer : hidden) known[outer.first] = std::move(outer.second);
    for (size_t i = 0; i < results.size(); ++i) known[node.output(static_cast<int>(i))] = results[i];
  }

  int64_t opset_;
};

}  // namespace

std::map<std::string, Tensor> eval_graph(const OnnxModel &model, const std::map<std::string, Tensor> &inputs) {
  int64_t given = 0;
  for (const auto &input : inputs) given += input.second.size();
  const Budget budget("evaluating it", evaluation_limits(model.file_bytes, given));
  Walk walk(model.opset);
  walk.known = model.constants;
  for (const auto &input : inputs) walk.known[input.first] = std::make_shared<const Tensor>(input.second);
  for (const onnx::NodeProto *node : model.nodes) walk.run(*node);
  std::map<std::string, Tensor> outputs;
  for (const std::string &name : model.outputs) {
    const auto found = walk.known.find(name);
    if (found == walk.known.end()) throw ModelError("output " + quote(name) + " has no value");
    outputs[name] = *found->second;
  }
  return outputs;
}

void check_work(int64_t outer, int64_t m, int64_t n, int64_t k) {
  constexpr double kMostProducts = 1e11;
  const double products = static_cast<double>(outer) * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  if (products > kMostProducts) throw Refusal("a product of these sizes is too much work on the host");
  Budget::charge_operations(products);
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
