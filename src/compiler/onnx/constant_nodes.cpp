// constant_nodes.cpp -- Contract: constant_nodes.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/constant_nodes.h"

#include <algorithm>
#include <map>
#include <string>

namespace rnnp::compiler {
namespace {

// How often each name of a graph is given something.
std::map<std::string, int> sources(const onnx::GraphProto &graph) {
  std::map<std::string, int> count;
  for (const auto &input : graph.input()) ++count[input.name()];
  for (const auto &tensor : graph.initializer()) ++count[tensor.name()];
  for (const auto &tensor : graph.sparse_initializer()) ++count[tensor.values().name()];
  for (const auto &node : graph.node()) {
    for (const std::string &output : node.output()) ++count[output];
  }
  return count;
}

// Moves what a Constant's attribute holds; false where that is none of numbers.
bool take_value(onnx::AttributeProto *attribute, int64_t opset, onnx::TensorProto *out) {
  const std::string &name = attribute->name();
  const auto type = attribute->type();
  if (name == "value" && type == onnx::AttributeProto::TENSOR) {
    if (attribute->t().data_type() == onnx::TensorProto::STRING) return false;
    out->Swap(attribute->mutable_t());
    return true;
  }
  if (opset < 12) return false;
  if (name == "value_int" && type == onnx::AttributeProto::INT) {
    out->add_int64_data(attribute->i());
  } else if (name == "value_ints" && type == onnx::AttributeProto::INTS) {
    *out->mutable_int64_data() = attribute->ints();
    out->add_dims(attribute->ints_size());
  } else if (name == "value_float" && type == onnx::AttributeProto::FLOAT) {
    out->add_float_data(attribute->f());
  } else if (name == "value_floats" && type == onnx::AttributeProto::FLOATS) {
    *out->mutable_float_data() = attribute->floats();
    out->add_dims(attribute->floats_size());
  } else {
    return false;
  }
  out->set_data_type(name.find("value_int") == 0 ? onnx::TensorProto::INT64 : onnx::TensorProto::FLOAT);
  return true;
}

}  // namespace

void make_initializers(onnx::GraphProto *graph, int64_t opset) {
  const std::map<std::string, int> count = sources(*graph);
  auto *nodes = graph->mutable_node();
  for (onnx::NodeProto &node : *nodes) {
    for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) make_initializers(attribute.mutable_g(), opset);
    }
  }
  const auto is_taken = [&](onnx::NodeProto &node) {
    if (node.op_type() != "Constant" || !(node.domain().empty() || node.domain() == "ai.onnx") || node.input_size() != 0 ||
        node.output_size() != 1 || node.attribute_size() != 1 || node.output(0).empty() || count.at(node.output(0)) != 1)
      return false;
    onnx::TensorProto tensor;
    if (!take_value(node.mutable_attribute(0), opset, &tensor)) return false;
    tensor.set_name(node.output(0));
    graph->add_initializer()->Swap(&tensor);
    return true;
  };
  int kept = 0;
  for (int i = 0; i < nodes->size(); ++i) {
    if (!is_taken(*nodes->Mutable(i))) nodes->SwapElements(i, kept++);
  }
  nodes->DeleteSubrange(kept, nodes->size() - kept);
}

}  // namespace rnnp::compiler
