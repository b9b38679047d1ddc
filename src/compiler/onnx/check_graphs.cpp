// check_graphs.cpp -- Contract: check_graphs.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/check_graphs.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "compiler/onnx/read_proto.h"
#include "compiler/onnx/refusal_of.h"

namespace rnnp::compiler {
namespace {

constexpr int kEndless = INT32_MAX;

struct Arity {
  int required, least_in, most_in, least_out, most_out;
};
using Arities = std::map<std::string, std::map<int64_t, Arity>>;  // operator -> first opset

const Arities &arities() {
  static const Arities kArities = [] {
    Arities made;
#define ARITY(op, first, ...) made[#op][first] = {__VA_ARGS__};
#include "compiler/onnx/arities.inc"
#undef ARITY
    return made;
  }();
  return kArities;
}

// Of operators that onnx does not know, only that there is something they give.
Arity arity_of(const std::string &op_type, int64_t opset) {
  const auto found = arities().find(op_type);
  if (found == arities().end()) return {0, 0, kEndless, 1, kEndless};
  auto row = found->second.upper_bound(opset);
  return row == found->second.begin() ? row->second : std::prev(row)->second;
}

void check_count(const char *what, int count, int least, int most) {
  if (count >= least && count <= most) return;
  throw Refusal("it has " + std::to_string(count) + " " + what + "; accepted: " + std::to_string(least) +
                (most == kEndless ? " or more"
                 : most > least   ? " to " + std::to_string(most)
                                  : ""));
}

class Checker {
 public:
  Checker(const onnx::ModelProto &model, int64_t opset, Problems *problems) : opset_(opset), problems_(problems) {
    for (const onnx::FunctionProto &function : model.functions()) functions_.emplace(plain(function.domain()), function.name());
    graph(model.graph());
    for (const onnx::FunctionProto &function : model.functions()) nodes(function.node());
  }

 private:
  using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;
  static std::string plain(const std::string &domain) { return domain == "ai.onnx" ? "" : domain; }

  void graph(const onnx::GraphProto &graph) {
    std::set<std::string> seen;
    const auto add = [&](const std::string &name) {
      if (!seen.insert(name).second) problems_->add("", "initializer " + quote(name), "the name is used twice");
    };
    for (const onnx::TensorProto &tensor : graph.initializer()) add(tensor.name());
    for (const onnx::SparseTensorProto &tensor : graph.sparse_initializer()) add(tensor.values().name());
    nodes(graph.node());
  }

  void nodes(const Nodes &nodes) {
    for (const onnx::NodeProto &node : nodes) {
      const auto refusal = refusal_of([&] {
        if (functions_.count({plain(node.domain()), node.op_type()}) == 0) check(node);
      });
      if (refusal) problems_->add(node_title(node), node.op_type(), *refusal);
      for (const onnx::AttributeProto &attribute : node.attribute()) {
        if (attribute.has_g()) graph(attribute.g());
        for (const onnx::GraphProto &inner : attribute.graphs()) graph(inner);
      }
    }
  }

  // How many there are; empty names behind the schema's last one leave nothing out.
  template <class Names>
  static int named(const Names &names, int most) {
    int count = names.size();
    while (count > most && names.Get(count - 1).empty()) --count;
    return count;
  }

  void check(const onnx::NodeProto &node) const {
    const Arity arity = arity_of(node.op_type(), opset_);
    check_count("inputs", named(node.input(), arity.most_in), arity.least_in, arity.most_in);
    check_count("outputs", named(node.output(), arity.most_out), arity.least_out, arity.most_out);
    for (int i = 0; i < arity.required && i < node.input_size(); ++i) {
      if (node.input(i).empty()) throw Refusal("input " + std::to_string(i) + " is missing");
    }
  }

  const int64_t opset_;
  Problems *problems_;
  std::set<std::pair<std::string, std::string>> functions_;
};

}  // namespace

void check_graphs(const onnx::ModelProto &model, int64_t opset, Problems *problems) {
  const Checker checker(model, opset, problems);
}

}  // namespace rnnp::compiler
