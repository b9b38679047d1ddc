// model_file.cpp -- Contract: model_file.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/model_file.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <limits>
#include <set>

#include "compiler/onnx/attributes.h"
#include "compiler/onnx/check_graphs.h"
#include "compiler/onnx/constant_nodes.h"
#include "compiler/onnx/external_data.h"
#include "compiler/onnx/inline_functions.h"
#include "compiler/onnx/operator_attributes.h"
#include "compiler/onnx/problem.h"
#include "compiler/onnx/quantized_forms.h"
#include "compiler/onnx/read_proto.h"
#include "compiler/onnx/refusal_of.h"
#include "compiler/onnx/subgraph.h"

namespace rnnp::compiler {
namespace {

void read_opset(const onnx::ModelProto &proto, OnnxModel *model, Problems *problems) {
  for (const auto &import : proto.opset_import()) {
    if (import.domain().empty() || import.domain() == "ai.onnx") model->opset = import.version();
  }
  if (model->opset == 0 && proto.opset_import_size() == 0) model->opset = 1;
  if (model->opset < kMinOpset || model->opset > kMaxOpset) {
    problems->add("", "model",
                  "opset " + std::to_string(model->opset) + " is not supported; accepted: " + std::to_string(kMinOpset) + " to " +
                      std::to_string(kMaxOpset));
  }
}

// What a constant has, the message need not keep as well.
void drop_data(onnx::TensorProto *tensor) {
  delete tensor->release_raw_data();
  google::protobuf::RepeatedField<float>().Swap(tensor->mutable_float_data());
}

void read_initializers(onnx::GraphProto *graph, OnnxModel *model, Problems *problems) {
  for (onnx::TensorProto &proto : *graph->mutable_initializer()) {
    const auto refusal = refusal_of([&] { model->constants[proto.name()] = std::make_shared<const Tensor>(read_tensor(proto)); });
    if (refusal) problems->add("", "initializer " + quote(proto.name()), *refusal);
    drop_data(&proto);
  }
  for (const onnx::SparseTensorProto &proto : graph->sparse_initializer()) {
    const auto refusal =
        refusal_of([&] { model->constants[proto.values().name()] = std::make_shared<const Tensor>(read_sparse_tensor(proto)); });
    if (refusal) problems->add("", "sparse initializer " + quote(proto.values().name()), *refusal);
  }
  graph->clear_initializer();
  graph->clear_sparse_initializer();
}

DeclaredInput declared(const OnnxValue &info) {
  DeclaredInput input;
  input.name = info.name();
  if (!info.is_tensor()) throw Refusal("it is not a tensor");
  input.elem_type = info.type().elem_type;
  if (!info.type().has_shape) throw Refusal("it has no declared rank; give it a shape (dimensions may be symbolic)");
  for (const OnnxValue::Dim &dim : info.type().dims) {
    DeclaredDim out;
    if (dim.value > 0) {
      if (dim.value > kMaxDim) throw Refusal("its dimension " + std::to_string(dim.value) + " is too large");
      out.value = dim.value;
    } else if (dim.value < -1) {
      throw Refusal("it has the negative dimension " + std::to_string(dim.value));
    } else {
      out.name = dim.name;
    }
    input.dims.push_back(out);
  }
  return input;
}

void read_inputs_outputs(OnnxModel *model, Problems *problems) {
  std::set<std::string> seen;
  for (const OnnxValue &info : model->graph.input()) {
    if (model->constants.count(info.name())) continue;
    const auto refusal = refusal_of([&] {
      if (!seen.insert(info.name()).second) throw Refusal("the name is used twice");
      model->inputs.push_back(declared(info));
    });
    if (refusal) problems->add("", "input " + quote(info.name()), *refusal);
  }
  for (const OnnxValue &info : model->graph.output()) model->outputs.push_back(info.name());
  if (model->outputs.empty()) problems->add("", "graph", "it has no outputs");
}

// Kahn's algorithm over names, keeping file order among ready nodes.
class Sorter {
 public:
  Sorter(OnnxModel *model, Problems *problems) : model_(model), problems_(problems) {}

  void run() {
    find_makers();
    const auto &nodes = model_->graph.node();
    std::vector<int> missing(static_cast<size_t>(nodes.size()), 0);
    std::vector<std::vector<int>> users(static_cast<size_t>(nodes.size()));
    for (int i = 0; i < nodes.size(); ++i) {
      for (const std::string &name : names_read(nodes[i])) {
        const auto found = maker_.find(name);
        if (name.empty() || model_->constants.count(name) || found == maker_.end()) continue;
        users[static_cast<size_t>(found->second)].push_back(i);
        ++missing[static_cast<size_t>(i)];
      }
    }
    std::set<int> ready;
    for (int i = 0; i < nodes.size(); ++i) {
      if (missing[static_cast<size_t>(i)] == 0) ready.insert(i);
    }
    while (!ready.empty()) {
      const int next = *ready.begin();
      ready.erase(ready.begin());
      model_->nodes.push_back(&nodes[next]);
      for (int user : users[static_cast<size_t>(next)]) {
        if (--missing[static_cast<size_t>(user)] == 0) ready.insert(user);
      }
    }
    if (model_->nodes.size() != static_cast<size_t>(nodes.size())) problems_->add("", "graph", "its nodes form a cycle");
  }

 private:
  void find_makers() {
    std::set<std::string> known;
    for (const DeclaredInput &input : model_->inputs) known.insert(input.name);
    for (const auto &constant : model_->constants) known.insert(constant.first);
    const auto &nodes = model_->graph.node();
    for (int i = 0; i < nodes.size(); ++i) {
      for (const std::string &name : nodes[i].output()) {
        if (name.empty()) continue;
        if (known.count(name) || !maker_.emplace(name, i).second) {
          problems_->add(node_title(nodes[i]), nodes[i].op_type(), "its output " + quote(name) + " has another source too");
        }
      }
    }
    for (const auto &node : nodes) {
      for (const std::string &name : names_read(node)) {
        if (!name.empty() && !known.count(name) && !maker_.count(name)) {
          problems_->add(node_title(node), node.op_type(), "its input " + quote(name) + " is made by nothing in the graph");
        }
      }
    }
    for (const std::string &name : model_->outputs) {
      if (!known.count(name) && !maker_.count(name)) {
        problems_->add("", "output " + quote(name), "it is made by nothing in the graph");
      }
    }
  }

  OnnxModel *model_;
  Problems *problems_;
  std::map<std::string, int> maker_;
};

}  // namespace

std::unique_ptr<OnnxModel> check_model(onnx::ModelProto proto) {
  auto model = std::make_unique<OnnxModel>();
  model->file_bytes = static_cast<int64_t>(proto.ByteSizeLong());
  Problems problems;
  if (!proto.has_graph()) throw ModelError("the file holds no graph: it is not an ONNX model");
  read_opset(proto, model.get(), &problems);
  check_graphs(proto, model->opset, &problems);
  problems.raise();  // what follows relies on it
  inline_functions(&proto, model->opset, &problems);
  make_initializers(proto.mutable_graph(), model->opset);
  check_graphs(proto, model->opset, &problems);  // a call may leave out an input that its body needs
  problems.raise();
  read_initializers(proto.mutable_graph(), model.get(), &problems);
  model->graph = read_graph(proto.graph());
  check_attribute_types(model->graph, &problems);
  problems.raise();
  for (const auto &prop : proto.metadata_props()) model->metadata.emplace_back(prop.key(), prop.value());
  proto.Clear();
  read_inputs_outputs(model.get(), &problems);
  replace_quantized_forms(model.get(), &problems);
  Sorter(model.get(), &problems).run();
  problems.raise();
  return model;
}

std::optional<std::vector<int64_t>> constant_ints(const OnnxModel &model, const std::string &name) {
  const auto found = model.constants.find(name);
  return found == model.constants.end() ? std::nullopt : std::optional(to_ints(*found->second));
}

const OnnxNode *node_that_makes(const OnnxModel &model, const std::string &name) {
  for (const OnnxNode *node : model.nodes) {
    if (std::find(node->output().begin(), node->output().end(), name) != node->output().end()) return node;
  }
  return nullptr;
}

std::unique_ptr<OnnxModel> parse_model(const void *bytes, size_t size, const std::string *folder) {
  if (size > static_cast<size_t>(std::numeric_limits<int>::max())) throw ModelError("the file is larger than 2 GiB");
  google::protobuf::io::ArrayInputStream array(bytes, static_cast<int>(size));
  google::protobuf::io::CodedInputStream stream(&array);
  stream.SetRecursionLimit(64);
  onnx::ModelProto proto;
  if (!proto.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage()) {
    throw ModelError("the file is not an ONNX model, or it is damaged");
  }
  if (!proto.has_graph())
    throw ModelError(
        "the file is not an ONNX model: it has no graph (a SavedModel of TensorFlow has to be exported: docs/EXPORTING.md)");
  std::vector<std::string> data_files;
  if (folder != nullptr) data_files = read_external_data(&proto, *folder);
  auto model = check_model(std::move(proto));
  model->data_files = std::move(data_files);
  return model;
}

}  // namespace rnnp::compiler
