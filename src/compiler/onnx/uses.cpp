// uses.cpp -- Contract: uses.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/uses.h"

#include <algorithm>

#include "compiler/onnx/subgraph.h"

namespace rnnp::compiler {

namespace {

bool only_moves(const std::string &op) {
  static const std::set<std::string> kMoves = {"Identity", "Slice",     "Split",   "Squeeze", "Unsqueeze",
                                               "Gather",   "Transpose", "Reshape", "Concat"};
  return kMoves.count(op) != 0;
}

}  // namespace

Uses::Uses(const OnnxModel &model) : outputs_(model.outputs.begin(), model.outputs.end()) {
  for (const DeclaredInput &input : model.inputs) inputs_.insert(input.name);
  for (const OnnxNode *node : model.nodes) {
    for (const std::string &name : node->output()) maker_[name] = node;
    for (const std::string &name : names_read(*node)) readers_[name].push_back(node);
  }
  // Nodes are in order, so readers are decided before their makers.
  for (size_t i = model.nodes.size(); i-- > 0;) {
    if (takes_out(*model.nodes[i])) leads_out_.insert(model.nodes[i]);
  }
}

const OnnxNode *Uses::maker(const std::string &name, const char *op, int inputs) const {
  const auto found = maker_.find(name);
  if (found == maker_.end()) return nullptr;
  const OnnxNode &node = *found->second;
  return node.op_type() == op && node.input_size() == inputs && node.output_size() == 1 ? &node : nullptr;
}
const OnnxNode *Uses::any_maker(const std::string &name) const {
  const auto found = maker_.find(name);
  return found == maker_.end() ? nullptr : found->second;
}
const std::vector<const OnnxNode *> &Uses::readers(const std::string &name) const {
  static const std::vector<const OnnxNode *> kNone;
  const auto found = readers_.find(name);
  return found == readers_.end() ? kNone : found->second;
}

std::string Uses::root(std::string name) const {
  for (size_t i = 0; i <= maker_.size(); ++i) {
    if (inputs_.count(name)) return name;
    const auto found = maker_.find(name);
    if (found == maker_.end() || !only_moves(found->second->op_type()) || found->second->op_type() == "Concat" ||
        found->second->input_size() == 0)
      return "";
    name = found->second->input(0);
  }
  return "";
}

std::set<std::string> Uses::outputs_of(const std::string &name) const {
  std::set<std::string> found, seen = {name};
  std::vector<std::string> open = {name};
  while (!open.empty()) {
    const std::string next = open.back();
    open.pop_back();
    if (outputs_.count(next)) found.insert(next);
    for (const OnnxNode *reader : readers(next)) {
      if (!only_moves(reader->op_type())) continue;
      for (const std::string &made : reader->output()) {
        if (seen.insert(made).second) open.push_back(made);
      }
    }
  }
  return found;
}

bool Uses::takes_out(const OnnxNode &node) const {
  if (!only_moves(node.op_type())) return false;
  return std::all_of(node.output().begin(), node.output().end(), [&](const std::string &name) {
    const auto &next = readers(name);
    return (outputs_.count(name) || !next.empty()) &&
           std::all_of(next.begin(), next.end(), [&](const OnnxNode *reader) { return leads_out(*reader); });
  });
}

}  // namespace rnnp::compiler
