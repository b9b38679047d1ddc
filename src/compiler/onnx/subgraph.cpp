// subgraph.cpp -- Contract: subgraph.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/subgraph.h"

#include <set>

#include "compiler/onnx/attributes.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

void add_outer_names(const OnnxGraph &graph, std::vector<std::string> *names) {
  std::set<std::string> made;
  const auto read = [&](const std::string &name) {
    if (!name.empty() && made.count(name) == 0) names->push_back(name);
  };
  for (const OnnxTensor &constant : graph.initializer()) made.insert(constant.name());
  for (const OnnxValue &input : graph.input()) made.insert(input.name());  // of a Loop's body
  for (const OnnxNode &node : graph.node()) {
    for (const std::string &name : names_read(node)) read(name);
    made.insert(node.output().begin(), node.output().end());
  }
  for (const OnnxValue &output : graph.output()) read(output.name());
}

}  // namespace

std::vector<std::string> names_read(const OnnxNode &node) {
  std::vector<std::string> names(node.input().begin(), node.input().end());
  for (const OnnxAttribute &attribute : node.attribute()) {
    if (attribute.type() == OnnxAttribute::kGraph) add_outer_names(attribute.g(), &names);
  }
  return names;
}

const OnnxGraph &taken_branch(const OnnxNode &node, const Tensor &condition) {
  if (condition.size() != 1) throw Refusal("its condition has shape " + shape_text(condition.shape) + "; accepted: one element");
  return branch_of(node, condition.data[0] != 0);
}

const OnnxGraph &branch_of(const OnnxNode &node, bool condition) {
  const char *name = condition ? "then_branch" : "else_branch";
  const OnnxAttribute *attribute = Attributes(node).find(name);
  if (attribute == nullptr) throw Refusal("attribute '" + std::string(name) + "' is missing");
  if (attribute->g().output_size() != node.output_size()) {
    throw Refusal("attribute '" + std::string(name) + "' has " + std::to_string(attribute->g().output_size()) +
                  " outputs, the node has " + std::to_string(node.output_size()));
  }
  if (attribute->g().has_sparse_initializers()) throw Refusal("sparse initializers are not supported; store them dense");
  return attribute->g();
}

std::vector<std::string> names_made(const OnnxGraph &graph) {
  std::vector<std::string> names;
  for (const OnnxTensor &constant : graph.initializer()) names.push_back(constant.name());
  for (const OnnxNode &node : graph.node()) names.insert(names.end(), node.output().begin(), node.output().end());
  return names;
}

}  // namespace rnnp::compiler
