// cut_graph.cpp -- Contract: cut_graph.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/cut_graph.h"

#include <algorithm>
#include <set>

#include "compiler/onnx/problem.h"
#include "compiler/onnx/subgraph.h"

namespace rnnp::compiler {
namespace {

void expect_made(const OnnxModel &model, const std::string &name, const char *option) {
  if (!name.empty() && node_that_makes(model, name) != nullptr) return;
  throw UsageError(
      std::string(option) + ": no node of the graph makes " + quote(name) +
      "; accepted: the name of a node's result, as `rnnpack inspect` of a whole blob or a viewer of ONNX files shows it");
}

DeclaredDim dim_of(const std::string &text, const std::string &option) {
  DeclaredDim dim;
  if (text.empty()) throw UsageError(option + ": a size is missing; accepted: sizes or names, as in 1,batch,16");
  if (!std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    dim.name = text;
    return dim;
  }
  dim.value = text.size() > 10 ? 0 : std::stoll(text);
  if (dim.value < 1 || dim.value > kMaxDim) throw UsageError(option + ": " + quote(text) + " is no size");
  return dim;
}

std::vector<DeclaredDim> given_dims(const std::string &name, const std::string &text) {
  std::vector<DeclaredDim> dims;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    dims.push_back(dim_of(text.substr(at, comma - at), "--from " + name + "=" + text));
    at = comma + 1;
  }
  return dims;
}

// As the file's own list of inner tensors has it.
DeclaredInput declared_in_file(const OnnxModel &model, const std::string &name) {
  DeclaredInput input{name, kOnnxFloat, {}};
  for (const OnnxValue &info : model.graph.value_info()) {
    if (info.name() != name || !info.is_tensor()) continue;
    input.elem_type = info.type().elem_type;
    for (const OnnxValue::Dim &dim : info.type().dims) {
      DeclaredDim out;
      out.value = std::clamp<int64_t>(dim.value, 0, kMaxDim);
      if (!dim.has_value) out.name = dim.name;
      input.dims.push_back(out);
    }
  }
  return input;
}

// Nodes behind the outputs, up to what is given.
std::set<const OnnxNode *> needed_nodes(const OnnxModel &model, const std::set<std::string> &given, std::set<std::string> *read) {
  std::set<const OnnxNode *> needed;
  std::set<std::string> wanted(model.outputs.begin(), model.outputs.end());
  for (size_t i = model.nodes.size(); i-- > 0;) {
    const OnnxNode *node = model.nodes[i];
    if (std::none_of(node->output().begin(), node->output().end(),
                     [&](const std::string &name) { return wanted.count(name) != 0 && given.count(name) == 0; }))
      continue;
    needed.insert(node);
    for (const std::string &name : names_read(*node)) wanted.insert(name);
    wanted.erase("");
  }
  *read = std::move(wanted);
  return needed;
}

}  // namespace

void cut_graph(OnnxModel *model, const Cut &cut) {
  if (cut.from.empty() && cut.to.empty()) return;
  std::set<std::string> given, read;
  for (const std::string &name : cut.to) expect_made(*model, name, "--to");
  for (const auto &from : cut.from) {
    expect_made(*model, from.first, "--from");
    DeclaredInput input = declared_in_file(*model, from.first);
    if (!from.second.empty()) input.dims = given_dims(from.first, from.second);
    if (input.dims.empty())
      throw UsageError("--from " + from.first + ": the file does not say its shape; accepted: --from " + from.first +
                       "=1,batch,16, with its sizes, or names for those that stay open");
    given.insert(from.first);
    model->inputs.push_back(std::move(input));
  }
  if (!cut.to.empty()) model->outputs = cut.to;
  const std::set<const OnnxNode *> needed = needed_nodes(*model, given, &read);
  for (const std::string &name : given) {
    const OnnxNode *maker = node_that_makes(*model, name);
    if (read.count(name) == 0) throw UsageError("--from " + name + ": what is given out does not need it");
    if (needed.count(maker) == 0) continue;
    std::string others;
    for (const std::string &other : maker->output()) {
      if (!other.empty() && given.count(other) == 0 && read.count(other) != 0) others += " --from " + other;
    }
    throw UsageError("--from " + name + ": node " + quote(node_title(*maker)) +
                     " makes it and more that is needed; accepted: also" + others);
  }
  const auto left_out = [&](const OnnxNode *node) { return needed.count(node) == 0; };
  const auto not_read = [&](const DeclaredInput &input) { return read.count(input.name) == 0; };
  model->nodes.erase(std::remove_if(model->nodes.begin(), model->nodes.end(), left_out), model->nodes.end());
  model->inputs.erase(std::remove_if(model->inputs.begin(), model->inputs.end(), not_read), model->inputs.end());
}

void leave_out_unread(OnnxModel *model, const std::set<std::string> &kept) {
  std::set<std::string> read;
  const std::set<const OnnxNode *> needed = needed_nodes(*model, {}, &read);
  const auto is_read = [&](const DeclaredInput &input) { return read.count(input.name) != 0 || kept.count(input.name) != 0; };
  if (std::none_of(model->inputs.begin(), model->inputs.end(), is_read)) return;
  std::vector<const OnnxNode *> nodes;
  std::vector<DeclaredInput> inputs;
  for (const OnnxNode *node : model->nodes) {
    if (needed.count(node) != 0) nodes.push_back(node);
  }
  for (DeclaredInput &input : model->inputs) {
    if (is_read(input)) {
      inputs.push_back(std::move(input));
    } else {
      model->unread.push_back(input.name);
    }
  }
  model->nodes = std::move(nodes);
  model->inputs = std::move(inputs);
}

}  // namespace rnnp::compiler
