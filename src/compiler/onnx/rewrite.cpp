// rewrite.cpp -- Contract: rewrite.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/rewrite.h"

#include <algorithm>
#include <set>

#include "compiler/onnx/subgraph.h"

namespace rnnp::compiler {

Rewrite::Rewrite(const OnnxModel &model) : out_(std::make_unique<OnnxModel>()) {
  out_->opset = model.opset;
  out_->file_bytes = model.file_bytes;
  out_->data_files = model.data_files;
  out_->inputs = model.inputs;
  out_->outputs = model.outputs;
  out_->stand_ins = model.stand_ins;
  out_->notes = model.notes;
  out_->unread = model.unread;
  out_->joints = model.joints;
  out_->constants = model.constants;
  *out_->graph.mutable_output() = model.graph.output();
}

OnnxNode *Rewrite::made(const std::string &op, const std::string &name) {
  OnnxNode *node = out_->graph.add_node();
  node->set_op_type(op);
  node->set_name(name);
  return node;
}

OnnxNode *Rewrite::copied(const OnnxNode &from) {
  OnnxNode *node = out_->graph.add_node();
  *node = from;
  return node;
}

OnnxNode *Rewrite::add(const std::string &op, const std::string &name, const std::vector<std::string> &inputs,
                       const std::vector<std::string> &outputs) {
  OnnxNode *node = made(op, name);
  for (const std::string &input : inputs) node->add_input(input);
  for (const std::string &output : outputs) node->add_output(output);
  keep(node);
  return node;
}

void Rewrite::set_constant(const std::string &name, Tensor tensor) {
  tensor.data.narrow();
  out_->constants[name] = std::make_shared<const Tensor>(std::move(tensor));
}

void Rewrite::reshaping(const std::string &op, const std::string &from, const std::string &to, const std::vector<int64_t> &axes) {
  OnnxNode *node = add(op, to, {from}, {to});
  if (out_->opset >= 13) {
    node->add_input(to + ":axes");
    set_constant(to + ":axes", int_tensor(axes));
    return;
  }
  node->add_attribute("axes", axes);
}

std::unique_ptr<OnnxModel> Rewrite::done() {
  std::set<std::string> used(out_->outputs.begin(), out_->outputs.end());
  std::vector<const OnnxNode *> kept;
  for (size_t i = out_->nodes.size(); i-- > 0;) {
    const OnnxNode *node = out_->nodes[i];
    const bool is_read =
        std::any_of(node->output().begin(), node->output().end(), [&](const std::string &name) { return used.count(name) != 0; });
    if (!is_read && node->output_size() != 0) continue;
    for (const std::string &name : names_read(*node)) used.insert(name);
    kept.push_back(node);
  }
  out_->nodes.assign(kept.rbegin(), kept.rend());
  return std::move(out_);
}

}  // namespace rnnp::compiler
