// rewrite.cpp -- Contract: rewrite.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/rewrite.h"

#include <algorithm>
#include <set>

#include "compiler/onnx/subgraph.h"

namespace rnnp::compiler {

using onnx::NodeProto;

Rewrite::Rewrite(const OnnxModel &model) : out_(std::make_unique<OnnxModel>()) {
  out_->opset = model.opset;
  out_->file_bytes = model.file_bytes;
  out_->data_files = model.data_files;
  out_->inputs = model.inputs;
  out_->outputs = model.outputs;
  out_->stand_ins = model.stand_ins;
  out_->unread = model.unread;
  out_->joints = model.joints;
  out_->constants = model.constants;
  *out_->proto.mutable_graph()->mutable_output() = model.proto.graph().output();
}

NodeProto *Rewrite::made(const std::string &op, const std::string &name) {
  NodeProto *node = out_->proto.mutable_graph()->add_node();
  node->set_op_type(op);
  node->set_name(name);
  return node;
}

NodeProto *Rewrite::copied(const NodeProto &from) {
  NodeProto *node = out_->proto.mutable_graph()->add_node();
  *node = from;
  return node;
}

NodeProto *Rewrite::add(const std::string &op, const std::string &name, const std::vector<std::string> &inputs,
                        const std::vector<std::string> &outputs) {
  NodeProto *node = made(op, name);
  for (const std::string &input : inputs) node->add_input(input);
  for (const std::string &output : outputs) node->add_output(output);
  keep(node);
  return node;
}

void Rewrite::set_constant(const std::string &name, Tensor tensor) {
  out_->constants[name] = std::make_shared<const Tensor>(std::move(tensor));
}

void Rewrite::reshaping(const std::string &op, const std::string &from, const std::string &to, const std::vector<int64_t> &axes) {
  NodeProto *node = add(op, to, {from}, {to});
  if (out_->opset >= 13) {
    node->add_input(to + ":axes");
    set_constant(to + ":axes", int_tensor(axes));
    return;
  }
  onnx::AttributeProto *attribute = node->add_attribute();
  attribute->set_name("axes");
  attribute->set_type(onnx::AttributeProto::INTS);
  for (const int64_t axis : axes) attribute->add_ints(axis);
}

std::unique_ptr<OnnxModel> Rewrite::done() {
  std::set<std::string> used(out_->outputs.begin(), out_->outputs.end());
  std::vector<const NodeProto *> kept;
  for (size_t i = out_->nodes.size(); i-- > 0;) {
    const NodeProto *node = out_->nodes[i];
    const bool is_read =
        std::any_of(node->output().begin(), node->output().end(), [&](const std::string &name) { return used.count(name) != 0; });
    if (!is_read && node->output_size() != 0) continue;
    for (const std::string &name : names_read(*node)) used.insert(name);
    kept.push_back(node);
  }
  out_->nodes.assign(kept.rbegin(), kept.rend());
  return std::move(out_);
}

void set_attribute(NodeProto *node, const std::string &name, int64_t value) {
  onnx::AttributeProto *attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::INT);
  attribute->set_i(value);
}

void set_attribute(NodeProto *node, const std::string &name, const std::string &value) {
  onnx::AttributeProto *attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::STRING);
  attribute->set_s(value);
}

void set_attribute(NodeProto *node, const std::string &name, const std::vector<std::string> &values) {
  onnx::AttributeProto *attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::STRINGS);
  for (const std::string &value : values) attribute->add_strings(value);
}

}  // namespace rnnp::compiler
