// layer_of_step.cpp -- Contract: layer_of_step.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/rewrites/layer_of_step.h"

#include <algorithm>

#include "compiler/onnx/attributes.h"
#include "compiler/onnx/model_file.h"
#include "compiler/rewrites/step_sums.h"

namespace rnnp::compiler {
namespace {

enum Input : int { kX, kW, kR, kB, kLengths, kInitialH, kInitialC, kPeepholes };

class LayerNode {
 public:
  LayerNode(const StepGraph &step, const std::vector<std::string> &before, const std::vector<std::string> &made)
      : step_(step), before_(before), made_(made) {}

  std::optional<NodeOfStep> read() {
    const bool lstm = before_.size() == 2;
    for (size_t h = 0; h < before_.size(); ++h) {
      const OnnxNode *node = node_of(made_[h], 1);
      if (node == nullptr || !is_plain(*node, lstm)) continue;
      const size_t c = lstm ? 1 - h : h;
      if (without_axis(input(*node, kInitialH)) != before_[h]) continue;
      if (lstm && (node_of(made_[c], 2) != node || without_axis(input(*node, kInitialC)) != before_[c])) continue;
      NodeOfStep found;
      found.x = without_axis(input(*node, kX));
      found.cell.h = h;
      found.cell.c = c;
      if (!found.x.empty() && take(*node, &found.cell)) return found;
    }
    return std::nullopt;
  }

 private:
  const OnnxNode *maker(const std::string &name) const {
    const std::string made = origin_of(step_.nodes, name);
    for (const OnnxNode *node : step_.nodes) {
      if (std::find(node->output().begin(), node->output().end(), made) != node->output().end()) return node;
    }
    return nullptr;
  }

  std::shared_ptr<const Tensor> constant(const std::string &name) const {
    const auto found = step_.constants.find(origin_of(step_.nodes, name));
    return found == step_.constants.end() ? nullptr : found->second;
  }

  static std::string input(const OnnxNode &node, int i) { return i < node.input_size() ? node.input(i) : std::string(); }

  bool is_of_first_axis(const OnnxNode &node, const char *op) const {
    if (node.op_type() != op || node.input_size() == 0) return false;
    if (node.input_size() == 1) return Attributes(node).integers("axes") == std::vector<int64_t>{0};
    const std::shared_ptr<const Tensor> axes = constant(node.input(1));
    return axes != nullptr && axes->size() == 1 && axes->data[0] == 0;
  }

  // The layer whose output it is without its first axis; nullptr: it is none.
  const OnnxNode *node_of(const std::string &name, int output) const {
    const OnnxNode *squeeze = maker(name);
    if (squeeze == nullptr || !is_of_first_axis(*squeeze, "Squeeze")) return nullptr;
    const std::string made = origin_of(step_.nodes, squeeze->input(0));
    const OnnxNode *node = maker(made);
    return node != nullptr && output < node->output_size() && node->output(output) == made ? node : nullptr;
  }

  // What the name has one more axis of; empty: it is not known to be one.
  std::string without_axis(const std::string &name) const {
    const OnnxNode *node = maker(name);
    return node != nullptr && is_of_first_axis(*node, "Unsqueeze") ? origin_of(step_.nodes, node->input(0)) : std::string();
  }

  static bool is_plain(const OnnxNode &node, bool lstm) {
    const std::string &op = node.op_type();
    if (lstm ? op != "LSTM" : op != "GRU" && op != "RNN") return false;
    const Attributes a(node);
    return input(node, kLengths).empty() && input(node, kPeepholes).empty() && a.real("clip", 0) == 0 &&
           a.integer("input_forget", 0) == 0 && a.integer("layout", 0) == 0 && a.text("direction", "forward") == "forward";
  }

  bool take(const OnnxNode &node, MatchedCell *cell) const {
    const std::shared_ptr<const Tensor> w = constant(input(node, kW)), r = constant(input(node, kR)), b = constant(input(node, kB));
    if (w == nullptr || r == nullptr || w->rank() != 3 || r->rank() != 3 || (b == nullptr && !input(node, kB).empty()))
      return false;
    const Attributes a(node);
    cell->op = node.op_type();
    cell->activations = a.texts("activations");
    if (cell->activations.empty()) {
      cell->activations = {"Tanh"};
      if (cell->op != "RNN") cell->activations.insert(cell->activations.begin(), "Sigmoid");
      if (cell->op == "LSTM") cell->activations.emplace_back("Tanh");
    }
    for (const double v : a.reals("activation_alpha")) cell->alphas.push_back(static_cast<float>(v));
    for (const double v : a.reals("activation_beta")) cell->betas.push_back(static_cast<float>(v));
    cell->hidden = r->shape[2];
    cell->linear_before_reset = a.integer("linear_before_reset", 0);
    cell->w = *w;
    cell->r = *r;
    cell->b = b != nullptr ? *b : Tensor(Elem::kFloat, {1, 2 * w->shape[1]});
    return a.integer("hidden_size", cell->hidden) == cell->hidden;
  }

  const StepGraph &step_;
  const std::vector<std::string> &before_, &made_;
};

}  // namespace

std::optional<NodeOfStep> layer_of_step(const StepGraph &step, const std::vector<std::string> &before,
                                        const std::vector<std::string> &made) {
  return LayerNode(step, before, made).read();
}

}  // namespace rnnp::compiler
