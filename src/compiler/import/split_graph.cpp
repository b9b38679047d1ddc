// split_graph.cpp -- Contract: split_graph.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/import/split_graph.h"

#include <algorithm>
#include <set>

#include "compiler/onnx/subgraph.h"

namespace rnnp::compiler {
namespace {

using Names = std::set<std::string>;

constexpr size_t kMostTensors = 4;

bool has_open_steps(const OnnxModel &model, size_t input, const Origins &origins) {
  for (size_t axis = 0; axis < model.inputs[input].dims.size(); ++axis) {
    const int origin = origins.of(input, axis);
    if (origins.dynamic(origin) && origins.role(origin) != AxisRole::kBatch) return true;
  }
  return false;
}

// What is computed from this input alone.
Names made_of(const OnnxModel &model, size_t input) {
  Names own = {model.inputs[input].name}, known;
  for (const DeclaredInput &other : model.inputs) known.insert(other.name);
  for (const OnnxNode *node : model.nodes) {
    const std::vector<std::string> reads = names_read(*node);
    const auto is_own = [&](const std::string &name) { return own.count(name) != 0; };
    const auto is_other = [&](const std::string &name) { return known.count(name) != 0 && own.count(name) == 0; };
    const auto is_known = [&](const std::string &name) { return known.count(name) != 0; };
    if (std::none_of(reads.begin(), reads.end(), is_known)) continue;
    const bool of_it = std::any_of(reads.begin(), reads.end(), is_own) && std::none_of(reads.begin(), reads.end(), is_other);
    for (const std::string &name : node->output()) {
      if (name.empty()) continue;
      known.insert(name);
      if (of_it) own.insert(name);
    }
  }
  own.erase(model.inputs[input].name);
  return own;
}

// What the rest of the graph reads of it.
std::vector<std::string> read_by_others(const OnnxModel &model, const Names &own) {
  std::vector<std::string> found;
  for (const OnnxNode *node : model.nodes) {
    const bool is_own =
        std::any_of(node->output().begin(), node->output().end(), [&](const std::string &name) { return own.count(name) != 0; });
    for (const std::string &name : names_read(*node)) {
      if (!is_own && own.count(name) != 0 && std::find(found.begin(), found.end(), name) == found.end()) found.push_back(name);
    }
  }
  return found;
}

// "last=1,N,6"; empty where a size cannot be said, or is the steps of the part before.
std::string declared(const std::string &name, const Builder &first, const Origins &origins) {
  const auto bound = first.bound.find(name);
  if (bound == first.bound.end() || bound->second.kind != Bound::Kind::kView) return "";
  std::string text;
  for (const Axis &axis : bound->second.view.axes) {
    for (const Atom &atom : axis) {
      const bool open = atom.origin >= 0 && origins.dynamic(atom.origin);
      if (open && (axis.size() != 1 || origins.role(atom.origin) != AxisRole::kBatch)) return "";
    }
    text += (text.empty() ? "" : ",") + std::to_string(axis_size(axis));
  }
  text = origins.named(text);
  return text.empty() || text.find('?') != std::string::npos ? "" : name + "=" + text;
}

}  // namespace

std::string split_graph_text(const OnnxModel &model, const Builder &first, const Origins &origins) {
  for (size_t input = 0; input < model.inputs.size(); ++input) {
    if (!has_open_steps(model, input, origins)) continue;
    const Names own = made_of(model, input);
    const std::vector<std::string> cut = read_by_others(model, own);
    if (cut.empty() || cut.size() > kMostTensors) continue;
    std::string to, from;
    bool good = true;
    for (const std::string &name : cut) {
      const std::string text = declared(name, first, origins);
      good = good && !text.empty();
      to += " --to " + name;
      from += " --from " + text;
    }
    if (!good) continue;
    const auto is_own = [&](const std::string &name) { return own.count(name) != 0; };
    const bool gives_own = std::any_of(model.outputs.begin(), model.outputs.end(), is_own);
    for (const std::string &name : model.outputs) {
      if (gives_own && !is_own(name)) from += " --to " + name;
      if (is_own(name) && std::find(cut.begin(), cut.end(), name) == cut.end()) to += " --to " + name;
    }
    return "; or two blobs," + to + " and" + from;
  }
  return "";
}

}  // namespace rnnp::compiler
