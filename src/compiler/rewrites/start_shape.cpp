// start_shape.cpp -- Contract: start_shape.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/rewrites/start_shape.h"

#include <algorithm>

#include "compiler/onnx/attributes.h"

namespace rnnp::compiler {
namespace {

using Dims = std::vector<DeclaredDim>;

class StartShape {
 public:
  explicit StartShape(const OnnxModel &model) : model_(model) {}

  std::optional<Dims> of(const std::string &name, int depth = 0) const {
    constexpr int kDeepest = 8;
    if (const Tensor *constant = constant_of(name)) return sizes(constant->shape);
    for (const DeclaredInput &input : model_.inputs) {
      if (input.name == name) return input.dims;
    }
    if (std::optional<Dims> declared = declared_of(name)) return declared;
    const OnnxNode *node = maker_of(name);
    if (node == nullptr || node->input_size() == 0 || depth == kDeepest) return std::nullopt;
    const std::string &op = node->op_type();
    if (op == "Identity" || op == "Cast") return of(node->input(0), depth + 1);
    if (op == "ConstantOfShape") return in_numbers(node->input(0));
    if (op == "Expand" && node->input_size() == 2) return in_numbers(node->input(1));
    if (op == "Unsqueeze" || op == "Squeeze") return reshaped(*node, depth);
    return std::nullopt;
  }

 private:
  static Dims sizes(const Shape &shape) {
    Dims dims;
    for (const int64_t size : shape) dims.push_back({size, ""});
    return dims;
  }

  const OnnxNode *maker_of(const std::string &name) const {
    for (const OnnxNode *node : model_.nodes) {
      if (std::find(node->output().begin(), node->output().end(), name) != node->output().end()) return node;
    }
    return nullptr;
  }

  const Tensor *constant_of(const std::string &name) const {
    const auto found = model_.constants.find(name);
    return found == model_.constants.end() ? nullptr : found->second.get();
  }

  std::optional<Dims> declared_of(const std::string &name) const {
    for (const OnnxValue &info : model_.graph.value_info()) {
      if (info.name() != name || !info.type().has_shape) continue;
      Dims dims;
      for (const OnnxValue::Dim &dim : info.type().dims) dims.push_back({std::max<int64_t>(dim.value, 0), ""});
      return dims;
    }
    return std::nullopt;
  }

  std::optional<std::vector<int64_t>> numbers(const std::string &name) const { return constant_ints(model_, name, maker_of(name)); }

  // A shape as numbers: constants, and others one by one.
  std::optional<Dims> in_numbers(const std::string &name) const {
    if (const auto all = numbers(name)) return sizes(*all);
    const OnnxNode *node = maker_of(name);
    if (node == nullptr) return std::nullopt;
    if (node->op_type() == "Cast" || node->op_type() == "Identity") return in_numbers(node->input(0));
    if (node->op_type() == "Unsqueeze") return Dims{{0, ""}};
    if (node->op_type() == "Gather" && node->input_size() == 2) {
      const auto index = numbers(node->input(1));
      return index && index->size() == 1 ? std::optional<Dims>(Dims{{0, ""}}) : std::nullopt;
    }
    if (node->op_type() == "Slice" && node->input_size() >= 4) {
      const auto from = numbers(node->input(1)), to = numbers(node->input(2));
      const bool one = from && to && from->size() == 1 && to->size() == 1 && (*to)[0] == (*from)[0] + 1 && (*to)[0] != 0;
      return one ? std::optional<Dims>(Dims{{0, ""}}) : std::nullopt;
    }
    if (node->op_type() != "Concat") return std::nullopt;
    Dims dims;
    for (const std::string &part : node->input()) {
      const std::optional<Dims> some = in_numbers(part);
      if (!some) return std::nullopt;
      dims.insert(dims.end(), some->begin(), some->end());
    }
    return dims;
  }

  std::optional<Dims> reshaped(const OnnxNode &node, int depth) const {
    std::optional<Dims> dims = of(node.input(0), depth + 1);
    std::optional<std::vector<int64_t>> axes = Attributes(node).integers("axes");
    if (node.input_size() > 1) axes = numbers(node.input(1));
    if (!dims || !axes || axes->empty()) return std::nullopt;
    const bool more = node.op_type() == "Unsqueeze";
    const int64_t rank = static_cast<int64_t>(dims->size() + (more ? axes->size() : 0));
    for (int64_t &axis : *axes) axis += axis < 0 ? rank : 0;
    std::sort(axes->begin(), axes->end());
    if (axes->front() < 0 || axes->back() >= rank) return std::nullopt;
    for (size_t i = 0; i < axes->size(); ++i) {
      const auto at = [&](size_t axis) { return dims->begin() + static_cast<std::ptrdiff_t>(axis); };
      if (more)
        dims->insert(at(static_cast<size_t>((*axes)[i])), DeclaredDim{1, ""});
      else
        dims->erase(at(static_cast<size_t>((*axes)[i]) - i));
    }
    return dims;
  }

  const OnnxModel &model_;
};

}  // namespace

std::optional<std::vector<DeclaredDim>> start_shape(const OnnxModel &model, const std::string &name) {
  return StartShape(model).of(name);
}

}  // namespace rnnp::compiler
