// quantized_graph.cpp -- Contract: quantized_graph.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/quantized_graph.h"

#include <algorithm>

#include "compiler/onnx/operator_attributes.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {

QuantizedGraph::QuantizedGraph(OnnxModel *model) : model_(model) {
  OnnxGraph *graph = &model->graph;
  for (OnnxNode &node : *graph->mutable_node()) {
    for (const std::string &name : node.output()) maker_[name] = &node;
    for (const std::string &name : node.input()) readers_[name].push_back(&node);
    names_.insert(node.output().begin(), node.output().end());
  }
  for (const OnnxValue &info : graph->output()) outputs_.insert(info.name());
  for (const DeclaredInput &input : model->inputs) names_.insert(input.name);
  for (const auto &constant : model->constants) names_.insert(constant.first);
}

const OnnxNode *QuantizedGraph::maker(const std::string &name) const {
  const auto found = maker_.find(name);
  return name.empty() || found == maker_.end() ? nullptr : found->second;
}

std::vector<OnnxNode *> QuantizedGraph::readers(const std::string &name) const {
  const auto found = readers_.find(name);
  return found == readers_.end() ? std::vector<OnnxNode *>() : found->second;
}

const Tensor *QuantizedGraph::found(const std::string &name, int left) {
  const auto stored = model_->constants.find(name);
  if (stored != model_->constants.end()) return stored->second.get();
  const OnnxNode *node = maker(name);
  if (node == nullptr || left == 0 || node->output_size() != 1) return nullptr;
  return node->op_type() == "Identity" && node->input_size() == 1 ? found(node->input(0), left - 1) : nullptr;
}

const Tensor *QuantizedGraph::constant(const OnnxNode &node, int input) {
  constexpr int kMostCopies = 8;
  return input >= node.input_size() || node.input(input).empty() ? nullptr : found(node.input(input), kMostCopies);
}

const Tensor &QuantizedGraph::needed(const OnnxNode &node, int input, const char *what) {
  const Tensor *tensor = constant(node, input);
  if (tensor == nullptr) throw Refusal(std::string(what) + " is no constant; accepted: initializers and Constant nodes");
  return *tensor;
}

std::string QuantizedGraph::fresh(const std::string &name) {
  std::string made = name;
  while (!names_.insert(made).second) made += "'";
  return made;
}

std::string QuantizedGraph::add_constant(const std::string &name, Tensor tensor) {
  std::string made = fresh(name);
  tensor.data.narrow();
  model_->constants[made] = std::make_shared<const Tensor>(std::move(tensor));
  return made;
}

OnnxNode *QuantizedGraph::add_node(const std::string &op, const std::string &title, const std::vector<std::string> &inputs,
                                   const std::string &output) {
  OnnxNode *node = model_->graph.add_node();
  node->set_op_type(op);
  node->set_name(title);
  for (const std::string &name : inputs) node->add_input(name);
  node->add_output(output);
  maker_[output] = node;
  for (const std::string &name : inputs) readers_[name].push_back(node);
  return node;
}

void QuantizedGraph::drop_unread(const std::set<std::string> &operators) {
  StableList<OnnxNode> *nodes = model_->graph.mutable_node();
  for (bool dropped = true; dropped;) {
    dropped = false;
    std::set<std::string> read = outputs_;
    for (const OnnxNode &node : *nodes) read.insert(node.input().begin(), node.input().end());
    for (int i = nodes->size(); i-- > 0;) {
      const OnnxNode &node = (*nodes)[i];
      const auto is_read = [&](const std::string &name) { return read.count(name) != 0; };
      if (operators.count(node.op_type()) == 0 || std::any_of(node.output().begin(), node.output().end(), is_read)) continue;
      nodes->erase(i);
      dropped = true;
    }
  }
}

Tensor dequantized(const Tensor &q, const Tensor &scale, const Tensor *zero, size_t axis) {
  const int64_t indices = axis < q.rank() ? q.shape[axis] : 1;
  const auto check = [&](const Tensor &t, const char *what) {
    if (t.size() != 1 && t.size() != indices)
      throw Refusal(std::string(what) + " has shape " + shape_text(t.shape) + ", which does not fit integers of shape " +
                    shape_text(q.shape));
  };
  check(scale, "a scale");
  if (zero != nullptr) check(*zero, "a zero point");
  if (q.elem != Elem::kInt) throw Refusal("its constant holds no integers");
  int64_t inner = 1;
  for (size_t i = axis + 1; i < q.rank(); ++i) inner *= q.shape[i];
  Tensor out(Elem::kFloat, q.shape, kMaxTensorElems);
  const bool knows = q.file_type == kOnnxInt8 || q.file_type == kOnnxUint8 || q.file_type == kOnnxInt4 || q.file_type == kOnnxUint4;
  if (knows) out.file_type = q.file_type;
  if (knows) out.steps.resize(out.data.size());
  for (size_t i = 0; i < out.data.size(); ++i) {
    const size_t index = static_cast<size_t>(static_cast<int64_t>(i) / inner % indices);
    const double step = scale.data[scale.size() == 1 ? 0 : index];
    const double origin = zero == nullptr ? 0 : zero->data[zero->size() == 1 ? 0 : index];
    out.data[i] = static_cast<double>(static_cast<float>((q.data[i] - origin) * step));
    if (knows) out.steps[i] = static_cast<float>(step);
  }
  return out;
}

}  // namespace rnnp::compiler
