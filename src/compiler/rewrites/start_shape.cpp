// start_shape.cpp -- Contract: start_shape.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/rewrites/start_shape.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/onnx/attributes.h"

namespace rnnp::compiler {
namespace {

using Dims = std::vector<DeclaredDim>;

class StartShape {
 public:
  explicit StartShape(const OnnxModel &model) : model_(model) {}

  std::optional<Dims> of(const std::string &name, int depth = 0) {
    constexpr int kDeepest = 32;
    if (const auto known = known_.find(name); known != known_.end()) return known->second;
    std::optional<Dims> dims;
    if (depth < kDeepest) dims = find(name, depth);
    return known_[name] = dims;
  }

  // A constant, or what a Shape gives.
  std::optional<DeclaredDim> number(std::string name) {
    constexpr int kDeepest = 32;
    for (int depth = 0; depth < kDeepest; ++depth) {
      if (const auto constant = constant_ints(model_, name))
        return constant->size() == 1 ? std::optional(DeclaredDim{(*constant)[0], ""}) : std::nullopt;
      const OnnxNode *node = node_that_makes(model_, name);
      if (node == nullptr || node->input_size() == 0) return std::nullopt;
      static const std::set<std::string> kSame = {"Cast", "Identity", "Squeeze", "Unsqueeze"};
      if (kSame.count(node->op_type()) == 0) return size_of_axis(*node);
      name = node->input(0);
    }
    return std::nullopt;
  }

 private:
  std::optional<Dims> find(const std::string &name, int depth) {
    if (const Tensor *constant = constant_of(name)) return sizes(constant->shape);
    for (const DeclaredInput &input : model_.inputs) {
      if (input.name == name) return input.dims;
    }
    if (std::optional<Dims> declared = declared_of(name)) return declared;
    const OnnxNode *node = node_that_makes(model_, name);
    if (node == nullptr || node->input_size() == 0) return std::nullopt;
    const std::string &op = node->op_type();
    if (op == "Identity" || op == "Cast" || op == "Not") return of(node->input(0), depth + 1);
    if (op == "ConstantOfShape") return in_numbers(node->input(0));
    if (op == "Expand" && node->input_size() == 2) return in_numbers(node->input(1));
    if (op == "Unsqueeze" || op == "Squeeze") return reshaped(*node, depth);
    if (op == "Transpose") return transposed(*node, depth);
    static const std::set<std::string> kBroadcast = {"Add", "And", "Equal", "Greater", "Less", "Mul", "Or", "Sub"};
    if (kBroadcast.count(op) != 0) return broadcast(*node, depth);
    if (op == "ReduceSum" || op == "ReduceMax") return reduced(*node, depth);
    if (op == "Gather") return gathered(*node, depth);
    return std::nullopt;
  }

  // With keepdims.
  std::optional<Dims> reduced(const OnnxNode &node, int depth) {
    std::optional<Dims> dims = of(node.input(0), depth + 1);
    std::optional<std::vector<int64_t>> axes = Attributes(node).integers("axes");
    if (node.input_size() > 1) axes = numbers(node.input(1));
    if (!dims || !axes || axes->empty() || Attributes(node).integer("keepdims", 1) == 0) return std::nullopt;
    for (int64_t axis : *axes) {
      axis += axis < 0 ? static_cast<int64_t>(dims->size()) : 0;
      if (axis < 0 || axis >= static_cast<int64_t>(dims->size())) return std::nullopt;
      (*dims)[static_cast<size_t>(axis)] = {1, ""};
    }
    return dims;
  }

  // Rows of a table.
  std::optional<Dims> gathered(const OnnxNode &node, int depth) {
    if (node.input_size() != 2 || Attributes(node).integer("axis", 0) != 0) return std::nullopt;
    const std::optional<Dims> table = of(node.input(0), depth + 1);
    std::optional<Dims> rows = of(node.input(1), depth + 1);
    if (!table || !rows || table->empty()) return std::nullopt;
    rows->insert(rows->end(), table->begin() + 1, table->end());
    return rows;
  }

  // Gather or Slice of one size of a Shape.
  std::optional<DeclaredDim> size_of_axis(const OnnxNode &node) {
    const std::optional<int64_t> at = one_index(node);
    if (!at || *at < 0) return std::nullopt;
    const OnnxNode *shape = node_that_makes(model_, node.input(0));
    while (shape != nullptr && (shape->op_type() == "Cast" || shape->op_type() == "Identity"))
      shape = node_that_makes(model_, shape->input(0));
    if (shape == nullptr || shape->op_type() != "Shape" || !shape->attribute().empty()) return std::nullopt;
    const std::optional<Dims> dims = of(shape->input(0));
    if (!dims || *at >= static_cast<int64_t>(dims->size())) return std::nullopt;
    return (*dims)[static_cast<size_t>(*at)];
  }

  // Of the one element that a Gather or a Slice takes out of a list.
  std::optional<int64_t> one_index(const OnnxNode &node) const {
    constexpr int kWithAxes = 4, kWithSteps = 5;
    const bool slice = node.op_type() == "Slice" && node.input_size() >= kWithAxes;
    if (!slice && (node.op_type() != "Gather" || node.input_size() != 2)) return std::nullopt;
    const auto from = numbers(node.input(1));
    if (!from || from->size() != 1) return std::nullopt;
    if (slice && ((*from)[0] == -1 || (*from)[0] == INT64_MAX)) return std::nullopt;  // -1 to 0: nothing
    if (slice && numbers(node.input(2)) != std::vector<int64_t>{(*from)[0] + 1}) return std::nullopt;
    if (slice && node.input_size() == kWithSteps && numbers(node.input(4)) != std::vector<int64_t>{1}) return std::nullopt;
    return (*from)[0];
  }

  std::optional<Dims> transposed(const OnnxNode &node, int depth) {
    const std::optional<Dims> dims = of(node.input(0), depth + 1);
    const std::vector<int64_t> perm = Attributes(node).integers("perm");
    if (!dims || perm.size() != dims->size()) return std::nullopt;
    Dims out;
    for (const int64_t axis : perm) {
      if (axis < 0 || axis >= static_cast<int64_t>(dims->size())) return std::nullopt;
      out.push_back((*dims)[static_cast<size_t>(axis)]);
    }
    return out;
  }

  std::optional<Dims> broadcast(const OnnxNode &node, int depth) {
    if (node.input_size() != 2) return std::nullopt;
    std::optional<Dims> a = of(node.input(0), depth + 1), b = of(node.input(1), depth + 1);
    if (!a || !b) return std::nullopt;
    if (a->size() < b->size()) std::swap(a, b);
    for (size_t i = 0; i < b->size(); ++i) {
      DeclaredDim &to = (*a)[a->size() - b->size() + i];
      const DeclaredDim &other = (*b)[i];
      if (to.value == 1 || (to.value == 0 && other.value > 1)) to = other;
    }
    return a;
  }

  static Dims sizes(const Shape &shape) {
    Dims dims;
    for (const int64_t size : shape) dims.push_back({size, ""});
    return dims;
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

  std::optional<std::vector<int64_t>> numbers(const std::string &name) const { return constant_ints(model_, name); }

  // A shape as numbers: constants, and others one by one.
  std::optional<Dims> in_numbers(const std::string &name) const {
    if (const auto all = numbers(name)) return sizes(*all);
    const OnnxNode *node = node_that_makes(model_, name);
    if (node == nullptr) return std::nullopt;
    if (node->op_type() == "Cast" || node->op_type() == "Identity") return in_numbers(node->input(0));
    if (node->op_type() == "Unsqueeze") return Dims{{0, ""}};
    if (one_index(*node)) return Dims{{0, ""}};
    if (node->op_type() != "Concat") return std::nullopt;
    Dims dims;
    for (const std::string &part : node->input()) {
      const std::optional<Dims> some = in_numbers(part);
      if (!some) return std::nullopt;
      dims.insert(dims.end(), some->begin(), some->end());
    }
    return dims;
  }

  std::optional<Dims> reshaped(const OnnxNode &node, int depth) {
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
  std::map<std::string, std::optional<Dims>> known_;
};

}  // namespace

std::optional<std::vector<DeclaredDim>> start_shape(const OnnxModel &model, const std::string &name) {
  return StartShape(model).of(name);
}

std::optional<DeclaredDim> number_or_size(const OnnxModel &model, const std::string &name) {
  return StartShape(model).number(name);
}

}  // namespace rnnp::compiler
