// inline_functions.cpp -- Contract: inline_functions.h. Names within a call begin with the calling node's, so that two calls are
// apart. SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/inline_functions.h"

#include <google/protobuf/unknown_field_set.h>

#include <map>
#include <set>
#include <string>
#include <utility>

#include "compiler/onnx/read_proto.h"
#include "compiler/onnx/refusal_of.h"
#include "format/blob.h"

namespace rnnp::compiler {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;
using AttributeProtos = google::protobuf::RepeatedPtrField<onnx::AttributeProto>;

constexpr int kMostDepth = 32;
// Fused and folded, so many may still fit a blob.
constexpr int64_t kMostNodes = 4 * int64_t{kBlobMaxNodes};

// What the names and attributes of a function's body are in one call of it.
struct Call {
  const onnx::NodeProto &node;
  const AttributeProtos defaults;
  std::string prefix;
  std::map<std::string, std::string> names;

  std::string renamed(const std::string &name) const {
    const auto found = names.find(name);
    return name.empty() ? "" : found != names.end() ? found->second : prefix + name;
  }
};

const onnx::AttributeProto *find_attribute(const AttributeProtos &attributes, const std::string &name) {
  for (const onnx::AttributeProto &attribute : attributes) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

// FunctionProto.attribute_proto, which onnx has since 1.13: older messages keep it among what they do not know.
AttributeProtos defaults_of(const onnx::FunctionProto &function) {
  constexpr int kField = 11;
  AttributeProtos out;
  const auto *reflection = function.GetReflection();
  if (const auto *field = function.GetDescriptor()->FindFieldByNumber(kField); field != nullptr) {
    for (int i = 0; i < reflection->FieldSize(function, field); ++i)
      out.Add()->CopyFrom(reflection->GetRepeatedMessage(function, field, i));
  }
  const auto &unknown = reflection->GetUnknownFields(function);
  for (int i = 0; i < unknown.field_count(); ++i) {
    const auto &field = unknown.field(i);
    if (field.number() != kField || field.type() != google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED) continue;
    if (!out.Add()->ParseFromString(field.length_delimited())) throw Refusal("the model's function of this name is damaged");
  }
  return out;
}

void rename(onnx::GraphProto *graph, const Call &call);

// Attributes that the body takes from the call; what the call leaves out goes away, or has the function's default.
void take_attributes(onnx::NodeProto *node, const Call &call) {
  AttributeProtos kept;
  for (onnx::AttributeProto &attribute : *node->mutable_attribute()) {
    if (attribute.has_g()) rename(attribute.mutable_g(), call);
    if (attribute.ref_attr_name().empty()) {
      kept.Add()->Swap(&attribute);
      continue;
    }
    const onnx::AttributeProto *given = find_attribute(call.node.attribute(), attribute.ref_attr_name());
    if (given == nullptr) given = find_attribute(call.defaults, attribute.ref_attr_name());
    if (given == nullptr) continue;
    onnx::AttributeProto *taken = kept.Add();
    *taken = *given;
    taken->set_name(attribute.name());
  }
  node->mutable_attribute()->Swap(&kept);
}

void rename(onnx::NodeProto *node, const Call &call) {
  for (std::string &name : *node->mutable_input()) name = call.renamed(name);
  for (std::string &name : *node->mutable_output()) name = call.renamed(name);
  node->set_name(call.prefix + node->name());
  take_attributes(node, call);
}

void rename(onnx::GraphProto *graph, const Call &call) {
  for (onnx::ValueInfoProto &info : *graph->mutable_input()) info.set_name(call.renamed(info.name()));
  for (onnx::ValueInfoProto &info : *graph->mutable_output()) info.set_name(call.renamed(info.name()));
  for (onnx::TensorProto &tensor : *graph->mutable_initializer()) tensor.set_name(call.renamed(tensor.name()));
  for (onnx::NodeProto &node : *graph->mutable_node()) rename(&node, call);
}

class Inliner {
 public:
  Inliner(const onnx::ModelProto &model, int64_t opset, Problems *problems)
      : opset_(opset),
        nodes_left_(kMostNodes),
        bytes_left_((int64_t{1} << 26) + 4 * static_cast<int64_t>(model.ByteSizeLong())),
        problems_(problems) {
    for (const onnx::FunctionProto &function : model.functions()) {
      nodes_left_ += 4 * int64_t{function.node_size()};
      const auto placed = functions_.emplace(key(function.domain(), function.name()), &function);
      if (!placed.second) twice_.insert(placed.first->first);
    }
  }

  void graph(onnx::GraphProto *graph, int depth) {
    Nodes out;
    for (onnx::NodeProto &node : *graph->mutable_node()) put(&node, depth, &out);
    graph->mutable_node()->Swap(&out);
  }

 private:
  using Key = std::pair<std::string, std::string>;
  static Key key(const std::string &domain, const std::string &name) { return {domain == "ai.onnx" ? "" : domain, name}; }

  void put(onnx::NodeProto *node, int depth, Nodes *out) {
    const auto found = functions_.find(key(node->domain(), node->op_type()));
    if (found != functions_.end()) {
      Nodes body;
      const auto refusal = refusal_of([&] { call(*node, *found->second, depth, &body); });
      if (!refusal) {
        for (onnx::NodeProto &made : body) out->Add()->Swap(&made);
        return;
      }
      if (depth > 0) throw *refusal;
      problems_->add(node_title(*node), node->op_type(), *refusal);
    }
    for (onnx::AttributeProto &attribute : *node->mutable_attribute()) {
      if (attribute.has_g()) graph(attribute.mutable_g(), depth);
    }
    out->Add()->Swap(node);
  }

  void call(const onnx::NodeProto &node, const onnx::FunctionProto &function, int depth, Nodes *out) {
    if (twice_.count(key(function.domain(), function.name())) != 0) throw Refusal("the model has several functions of this name");
    check(node, function, depth);
    Call call{node, defaults_of(function), fresh_prefix(node), {}};
    for (int i = 0; i < function.output_size(); ++i) {
      if (i < node.output_size() && !node.output(i).empty()) call.names[function.output(i)] = node.output(i);
    }
    std::set<std::string> inputs;
    for (int i = 0; i < function.input_size(); ++i) {
      call.names[function.input(i)] = i < node.input_size() ? node.input(i) : "";
      inputs.insert(function.input(i));
    }
    for (int i = 0; i < function.output_size() && i < node.output_size(); ++i) {
      if (inputs.count(function.output(i)) == 0 || node.output(i).empty()) continue;
      onnx::NodeProto *same = out->Add();  // an input that is given out as it is
      same->set_op_type("Identity");
      same->set_name(call.prefix + "Identity");
      same->add_input(call.renamed(function.output(i)));
      same->add_output(node.output(i));
    }
    for (const onnx::NodeProto &inner : function.node()) {
      charge(inner);
      onnx::NodeProto copy = inner;
      rename(&copy, call);
      put(&copy, depth + 1, out);
    }
  }

  void check(const onnx::NodeProto &node, const onnx::FunctionProto &function, int depth) const {
    if (depth >= kMostDepth) throw Refusal("the model's functions call one another more than 32 deep, or in a circle");
    if (node.input_size() > function.input_size() || node.output_size() > function.output_size())
      throw Refusal("the model's function of this name has " + std::to_string(function.input_size()) + " inputs and " +
                    std::to_string(function.output_size()) + " outputs, the node has more");
    for (const auto &import : function.opset_import()) {
      if ((import.domain().empty() || import.domain() == "ai.onnx") && import.version() != opset_)
        throw Refusal("the model's function of this name is of opset " + std::to_string(import.version()) + ", the model of " +
                      std::to_string(opset_) + "; accepted: one opset");
    }
  }

  // A small file may ask for calls of calls without end.
  void charge(const onnx::NodeProto &node) {
    constexpr int64_t kLeast = 256;
    bytes_left_ -= kLeast + static_cast<int64_t>(node.ByteSizeLong());
    if (bytes_left_ < 0 || --nodes_left_ < 0)
      throw Refusal("the model's functions call one another so often that its graph becomes too large");
  }

  std::string fresh_prefix(const onnx::NodeProto &node) {
    const std::string title = node_title(node);
    std::string prefix = title + "/";
    while (!prefixes_.insert(prefix).second) prefix = title + "." + std::to_string(prefixes_.size()) + "/";
    return prefix;
  }

  const int64_t opset_;
  int64_t nodes_left_, bytes_left_;
  Problems *problems_;
  std::map<Key, const onnx::FunctionProto *> functions_;
  std::set<Key> twice_;
  std::set<std::string> prefixes_;
};

}  // namespace

void inline_functions(onnx::ModelProto *model, int64_t opset, Problems *problems) {
  if (model->functions_size() == 0) return;
  Inliner(*model, opset, problems).graph(model->mutable_graph(), 0);
}

}  // namespace rnnp::compiler
