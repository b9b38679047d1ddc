// graph_builder.cpp -- Contract: graph_builder.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/graph_builder/graph_builder.h"

namespace rnnp::compiler {

onnx::AttributeProto *BuiltNode::add(const char *name, onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto *attribute = node_->add_attribute();
  attribute->set_name(name);
  attribute->set_type(type);
  return attribute;
}

BuiltNode &BuiltNode::with(const char *name, int64_t value) {
  add(name, onnx::AttributeProto::INT)->set_i(value);
  return *this;
}
BuiltNode &BuiltNode::with(const char *name, float value) {
  add(name, onnx::AttributeProto::FLOAT)->set_f(value);
  return *this;
}
BuiltNode &BuiltNode::with(const char *name, const char *value) {
  add(name, onnx::AttributeProto::STRING)->set_s(value);
  return *this;
}
BuiltNode &BuiltNode::with(const char *name, const std::vector<int64_t> &values) {
  onnx::AttributeProto *attribute = add(name, onnx::AttributeProto::INTS);
  attribute->mutable_ints()->Add(values.begin(), values.end());
  return *this;
}
BuiltNode &BuiltNode::with_floats(const char *name, const std::vector<float> &values) {
  onnx::AttributeProto *attribute = add(name, onnx::AttributeProto::FLOATS);
  attribute->mutable_floats()->Add(values.begin(), values.end());
  return *this;
}
BuiltNode &BuiltNode::with_graph(const char *name, onnx::GraphProto graph) {
  *add(name, onnx::AttributeProto::GRAPH)->mutable_g() = std::move(graph);
  return *this;
}
BuiltNode &BuiltNode::with(const char *name, const std::vector<std::string> &values) {
  onnx::AttributeProto *attribute = add(name, onnx::AttributeProto::STRINGS);
  for (const std::string &value : values) attribute->add_strings(value);
  return *this;
}

GraphBuilder::GraphBuilder(const std::string &graph_name) {
  proto_.set_ir_version(10);
  proto_.add_opset_import()->set_version(kBuiltOpset);
  proto_.mutable_graph()->set_name(graph_name);
}

std::string GraphBuilder::unused(const std::string &wished) {
  std::string name = wished;
  for (int i = 2; !names_.insert(name).second; ++i) name = wished + "_" + std::to_string(i);
  return name;
}

std::string GraphBuilder::input(const std::string &name, const std::vector<BuiltDim> &dims, int type) {
  onnx::ValueInfoProto *info = proto_.mutable_graph()->add_input();
  info->set_name(unused(name));
  auto *tensor = info->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  tensor->mutable_shape();
  for (const BuiltDim &dim : dims) {
    auto *out = tensor->mutable_shape()->add_dim();
    if (dim.name.empty())
      out->set_dim_value(dim.value);
    else
      out->set_dim_param(dim.name);
  }
  return info->name();
}

void GraphBuilder::output(const std::string &name, int type) {
  onnx::ValueInfoProto *info = proto_.mutable_graph()->add_output();
  info->set_name(name);
  info->mutable_type()->mutable_tensor_type()->set_elem_type(type);
}

void GraphBuilder::state(const std::string &input, const std::string &next) {
  states_.emplace_back(input, next);
}

onnx::TensorProto *GraphBuilder::add_constant(const std::string &wished, const std::vector<int64_t> &shape, int type) {
  onnx::TensorProto *tensor = proto_.mutable_graph()->add_initializer();
  tensor->set_name(unused(wished));
  tensor->set_data_type(type);
  tensor->mutable_dims()->Add(shape.begin(), shape.end());
  return tensor;
}

std::string GraphBuilder::constant(const std::string &wished, const std::vector<int64_t> &shape, const std::vector<float> &values) {
  onnx::TensorProto *tensor = add_constant(wished, shape, kOnnxFloat);
  tensor->mutable_float_data()->Add(values.begin(), values.end());
  return tensor->name();
}

std::string GraphBuilder::constant_ints(const std::string &wished, const std::vector<int64_t> &shape,
                                        const std::vector<int64_t> &values) {
  onnx::TensorProto *tensor = add_constant(wished, shape, kOnnxInt64);
  tensor->mutable_int64_data()->Add(values.begin(), values.end());
  return tensor->name();
}

std::string GraphBuilder::constant_raw(const std::string &wished, int type, const std::vector<int64_t> &shape, std::string raw) {
  onnx::TensorProto *tensor = add_constant(wished, shape, type);
  tensor->set_raw_data(std::move(raw));
  return tensor->name();
}

BuiltNode GraphBuilder::node(const std::string &op, const std::vector<std::string> &inputs, const std::string &wished) {
  return node_to(op, inputs, {unused(wished.empty() ? op : wished)});
}

BuiltNode GraphBuilder::node_to(const std::string &op, const std::vector<std::string> &inputs,
                                const std::vector<std::string> &outputs) {
  onnx::NodeProto *node = proto_.mutable_graph()->add_node();
  node->set_op_type(op);
  for (const std::string &name : inputs) node->add_input(name);
  for (const std::string &name : outputs) {
    node->add_output(name);
    names_.insert(name);
    if (node->name().empty()) node->set_name(name);
  }
  return BuiltNode(node);
}

void GraphBuilder::metadata(const std::string &key, const std::string &value) {
  auto *prop = proto_.add_metadata_props();
  prop->set_key(key);
  prop->set_value(value);
}

std::unique_ptr<OnnxModel> GraphBuilder::take() {
  std::unique_ptr<OnnxModel> model = check_model(std::move(proto_));
  model->states = std::move(states_);
  return model;
}

}  // namespace rnnp::compiler
