// step_positions.cpp -- Contract: step_positions.h. That the size is the number of steps is found by the importer: CumSum along any
// other open axis is refused. SPDX-License-Identifier: Apache-2.0
#include "compiler/rewrites/step_positions.h"

#include <algorithm>
#include <set>

#include "compiler/onnx/attributes.h"
#include "compiler/onnx/rewrite.h"
#include "compiler/onnx/uses.h"

namespace rnnp::compiler {
namespace {

class Positions {
 public:
  explicit Positions(const OnnxModel &model) : model_(model), uses_(model) {}

  bool are_made_by(const OnnxNode &node) const {
    if (node.op_type() != "Range" || node.input_size() != 3 || node.output_size() != 1) return false;
    if (!is_number(node.input(0), 0) || !is_number(node.input(2), 1)) return false;
    const std::string &size = node.input(1);
    return !constant_ints(model_, size) && is_a_size(size) && is_only_compared(node.output(0), 0);
  }

 private:
  bool is_number(const std::string &name, int64_t wanted) const {
    const auto elements = constant_ints(model_, name);
    return elements && *elements == std::vector<int64_t>{wanted};
  }

  // An element of a shape.
  bool is_a_size(std::string name) const {
    static const std::set<std::string> kMoves = {"Cast", "Gather", "Identity", "Reshape", "Slice", "Squeeze"};
    for (const OnnxNode *node = uses_.any_maker(name); node != nullptr; node = uses_.any_maker(name)) {
      if (node->op_type() == "Shape") return true;
      if (kMoves.count(node->op_type()) == 0 || node->input_size() == 0) return false;
      name = node->input(0);
    }
    return false;
  }

  bool is_only_compared(const std::string &name, int depth) const {
    static const std::set<std::string> kCompares = {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"};
    static const std::set<std::string> kMoves = {"Cast", "Expand", "Identity", "Reshape", "Transpose", "Unsqueeze"};
    constexpr int kDeepest = 8;
    const auto &readers = uses_.readers(name);
    if (depth > kDeepest || readers.empty() ||
        std::find(model_.outputs.begin(), model_.outputs.end(), name) != model_.outputs.end())
      return false;
    return std::all_of(readers.begin(), readers.end(), [&](const OnnxNode *node) {
      if (kCompares.count(node->op_type()) != 0 || node->op_type() == "Shape") return true;
      const bool moves = kMoves.count(node->op_type()) != 0 && node->input(0) == name;
      return moves && is_only_compared(node->output(0), depth + 1);
    });
  }

  const OnnxModel &model_;
  const Uses uses_;
};

Tensor one_int(const Shape &shape, double value) {
  Tensor out(Elem::kInt, shape);
  out.data[0] = value;
  return out;
}

void write_positions(const OnnxNode &range, Rewrite *rewrite) {
  const std::string at = range.output(0) + "/positions/";
  const auto constant = [&](const char *what, Tensor tensor) {
    rewrite->set_constant(at + what, std::move(tensor));
    return at + what;
  };
  const std::string row = constant("row", one_int({1}, 1)), axis = constant("axis", one_int({}, 0));
  rewrite->add("Reshape", node_title(range), {range.input(1), row}, {at + "size"});
  rewrite->add("Expand", node_title(range), {constant("one", one_int({1}, 1)), at + "size"}, {at + "ones"});
  rewrite->add("CumSum", node_title(range), {at + "ones", axis}, {range.output(0)})->add_attribute("exclusive", int64_t{1});
}

}  // namespace

std::unique_ptr<OnnxModel> with_step_positions(const OnnxModel &model) {
  constexpr int64_t kSinceCumSum = 11;
  if (model.opset < kSinceCumSum) return nullptr;
  const Positions positions(model);
  Rewrite rewrite(model);
  bool any = false;
  for (const OnnxNode *node : model.nodes) {
    if (!positions.are_made_by(*node)) {
      rewrite.keep(node);
      continue;
    }
    any = true;
    write_positions(*node, &rewrite);
  }
  return any ? rewrite.done() : nullptr;
}

}  // namespace rnnp::compiler
