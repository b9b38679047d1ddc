// sorted_rows.cpp -- Contract: sorted_rows.h. The axis of the sorted rows is followed through every node between the two.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/rewrites/sorted_rows.h"

#include <algorithm>
#include <optional>
#include <set>

#include "compiler/onnx/attributes.h"
#include "compiler/onnx/rewrite.h"

namespace rnnp::compiler {
namespace {

class RowOrder {
 public:
  explicit RowOrder(const OnnxModel &model) : model_(model) {
    for (const OnnxNode *node : model.nodes) {
      for (const std::string &name : node->output()) maker_[name] = node;
    }
  }

  // Rows sorted by what this TopK gives; false where they are not all put back.
  bool follow(const OnnxNode &sort) {
    if (!sorts_all_rows(sort)) return false;
    order_ = {sort.output(1)};
    axes_[sort.output(0)] = 0;
    replaced_[&sort] = sort.input(0);
    for (const OnnxNode *node : model_.nodes) {
      if (node != &sort && !pass(*node)) return false;
    }
    return std::none_of(model_.outputs.begin(), model_.outputs.end(),
                        [&](const std::string &name) { return axes_.count(name) + order_.count(name) + back_.count(name) != 0; });
  }

  // What an Identity gives in the place of a node.
  const std::map<const OnnxNode *, std::string> &replaced() const { return replaced_; }

 private:
  const OnnxNode *maker(const std::string &name) const {
    const auto found = maker_.find(name);
    return found == maker_.end() ? nullptr : found->second;
  }

  std::optional<std::vector<int64_t>> numbers(const std::string &name) const { return constant_ints(model_, name); }

  // An input [batch], sorted as a whole.
  bool sorts_all_rows(const OnnxNode &sort) const {
    if (sort.op_type() != "TopK" || sort.input_size() != 2 || sort.output_size() != 2) return false;
    const std::string from = root(sort.input(0));
    const auto input =
        std::find_if(model_.inputs.begin(), model_.inputs.end(), [&](const auto &each) { return each.name == from; });
    if (input == model_.inputs.end() || input->dims.size() != 1) return false;
    if (const auto k = numbers(sort.input(1))) return k->size() == 1 && (*k)[0] == input->dims[0].value;
    return is_size_of(sort.input(1), from);
  }

  std::string root(std::string name) const {
    for (const OnnxNode *node = maker(name); node != nullptr; node = maker(name)) {
      if (node->op_type() != "Cast" && node->op_type() != "Identity") break;
      name = node->input(0);
    }
    return name;
  }

  bool is_size_of(std::string name, const std::string &from) const {
    static const std::set<std::string> kMoves = {"Gather", "Reshape", "Squeeze", "Unsqueeze", "Slice", "Cast", "Identity"};
    for (const OnnxNode *node = maker(name); node != nullptr; node = maker(name)) {
      if (node->op_type() == "Shape" || node->op_type() == "Size") return root(node->input(0)) == from;
      if (kMoves.count(node->op_type()) == 0) return false;
      name = node->input(0);
    }
    return false;
  }

  int64_t axis_of(const std::string &name) const {
    const auto found = axes_.find(name);
    return found == axes_.end() ? -1 : found->second;
  }

  bool pass(const OnnxNode &node) {
    const auto among = [&](const std::set<std::string> &names) {
      return std::any_of(node.input().begin(), node.input().end(), [&](const std::string &name) { return names.count(name) != 0; });
    };
    if (among(order_) || among(back_)) return pass_order(node);
    const bool sorted = std::any_of(node.input().begin(), node.input().end(), [&](const auto &name) { return axis_of(name) >= 0; });
    if (!sorted || node.op_type() == "Shape") return true;
    if (node.op_type() == "LSTM" || node.op_type() == "GRU" || node.op_type() == "RNN") return pass_layer(node);
    return pass_move(node);
  }

  // What takes the order itself: rows sorted or put back, and the way back made of it.
  bool pass_order(const OnnxNode &node) {
    const std::string &op = node.op_type();
    const bool is_order = order_.count(node.input(0)) != 0;
    if (op == "Cast" || op == "Identity") {
      (is_order ? order_ : back_).insert(node.output(0));
      return true;
    }
    if (op == "Shape") return true;
    if (op == "Gather" && node.input_size() == 2) return pass_gather(node);
    if (op == "TopK" && is_order && node.output_size() == 2 && Attributes(node).integer("largest", 1) == 0) {
      back_.insert(node.output(1));
      return true;
    }
    if (op != "ScatterElements" || node.input_size() != 3 || order_.count(node.input(1)) == 0 || !counts_up(node.input(2)))
      return false;
    back_.insert(node.output(0));
    return true;
  }

  bool pass_gather(const OnnxNode &node) {
    const std::string &data = node.input(0), &index = node.input(1);
    const int64_t axis = Attributes(node).integer("axis", 0);
    const bool back = back_.count(index) != 0;
    if (axis < 0 || order_.count(data) + back_.count(data) != 0 || (!back && order_.count(index) == 0)) return false;
    if (axis_of(data) != (back ? axis : -1)) return false;
    replaced_[&node] = data;
    if (!back) axes_[node.output(0)] = axis;
    return true;
  }

  bool counts_up(const std::string &name) const {
    if (const auto all = numbers(name)) {
      for (size_t i = 0; i < all->size(); ++i) {
        if ((*all)[i] != static_cast<int64_t>(i)) return false;
      }
      return !all->empty();
    }
    const OnnxNode *node = maker(root(name));
    if (node == nullptr || node->op_type() != "Range") return false;
    const auto start = numbers(node->input(0)), delta = numbers(node->input(2));
    return start && delta && *start == std::vector<int64_t>{0} && *delta == std::vector<int64_t>{1};
  }

  // The same for every row: nothing, a constant without rows of its own, one that was made as large as the batch, or a part of it.
  bool is_of_all_rows(const std::string &name) const {
    if (name.empty()) return true;
    const auto constant = model_.constants.find(name);
    if (constant != model_.constants.end()) return has_one_number(*constant->second) || has_one_row(*constant->second);
    const OnnxNode *node = maker(name);
    if (node == nullptr) return false;
    if (node->op_type() == "ConstantOfShape") return true;
    const bool part = node->op_type() == "Slice" && is_of_all_rows(node->input(0));
    return part || (node->op_type() == "Expand" && is_of_all_rows(node->input(0)));
  }

  static bool has_one_number(const Tensor &t) {
    return std::all_of(t.data.begin(), t.data.end(), [&](double v) { return v == t.data[0]; });
  }

  // [directions, 1, units]
  static bool has_one_row(const Tensor &t) { return t.rank() == 3 && t.shape[1] == 1; }

  bool pass_layer(const OnnxNode &node) {
    if (Attributes(node).integer("layout", 0) != 0 || axis_of(node.input(0)) != 1) return false;
    const int64_t wanted[] = {1, -1, -1, -1, 0, 1, 1, -1};
    for (int i = 1; i < node.input_size() && i < 8; ++i) {
      const bool by_row = i >= 4 && i <= 6 && !is_of_all_rows(node.input(i));
      if (axis_of(node.input(i)) != (by_row ? wanted[i] : -1)) return false;
    }
    for (int i = 0; i < node.output_size(); ++i) axes_[node.output(i)] = i == 0 ? 2 : 1;
    return true;
  }

  bool pass_move(const OnnxNode &node) {
    const std::optional<int64_t> axis = moved(node, axis_of(node.input(0)));
    if (!axis || node.output_size() != 1) return false;
    axes_[node.output(0)] = *axis;
    return true;
  }

  // Where the rows' axis is behind the node.
  std::optional<int64_t> moved(const OnnxNode &node, int64_t axis) const {
    static const std::set<std::string> kEach = {"Identity", "Cast", "Relu", "Tanh", "Sigmoid", "LeakyRelu", "Dropout"};
    const std::string &op = node.op_type();
    const Attributes a(node);
    if (axis < 0) return std::nullopt;
    if (kEach.count(op) != 0) return axis;
    if (op == "Transpose") {
      const std::vector<int64_t> perm = a.integers("perm");
      const auto at = std::find(perm.begin(), perm.end(), axis);
      return at == perm.end() ? std::nullopt : std::optional<int64_t>(at - perm.begin());
    }
    if (op == "Squeeze" || op == "Unsqueeze") return without_ones(node, axis, op == "Squeeze");
    if (op == "Reshape" && node.input_size() == 2) {
      const auto target = numbers(node.input(1));
      const bool same = target && static_cast<int64_t>(target->size()) > axis && a.integer("allowzero", 0) == 0 &&
                        std::all_of(target->begin(), target->begin() + axis + 1, [](int64_t size) { return size == 0; });
      return same ? std::optional<int64_t>(axis) : std::nullopt;
    }
    if (op == "Concat") {
      const bool all =
          std::all_of(node.input().begin(), node.input().end(), [&](const auto &name) { return axis_of(name) == axis; });
      const int64_t along = a.integer("axis", 0);
      return all && along >= 0 && along != axis ? std::optional<int64_t>(axis) : std::nullopt;
    }
    if (op == "Gather" && node.input_size() == 2 && numbers(node.input(1))) {
      const auto index = model_.constants.find(node.input(1));
      const int64_t along = a.integer("axis", 0);
      if (index == model_.constants.end() || index->second->rank() > 1 || along < 0 || along == axis) return std::nullopt;
      return axis - (index->second->rank() == 0 && along < axis ? 1 : 0);
    }
    return std::nullopt;
  }

  std::optional<int64_t> without_ones(const OnnxNode &node, int64_t axis, bool squeeze) const {
    std::optional<std::vector<int64_t>> axes = Attributes(node).integers("axes");
    if (node.input_size() > 1) axes = numbers(node.input(1));
    if (!axes || axes->empty()) return std::nullopt;
    std::sort(axes->begin(), axes->end());
    int64_t at = axis;
    for (const int64_t one : *axes) {
      if (one < 0 || (squeeze && one == axis)) return std::nullopt;
      at += squeeze ? (one < axis ? -1 : 0) : one <= at ? 1 : 0;
    }
    return at;
  }

  const OnnxModel &model_;
  std::map<std::string, const OnnxNode *> maker_;
  std::map<std::string, int64_t> axes_;  // of tensors whose rows are sorted
  std::set<std::string> order_, back_;   // the places that rows are taken from, and those that put them back
  std::map<const OnnxNode *, std::string> replaced_;
};

}  // namespace

std::unique_ptr<OnnxModel> with_rows_unsorted(const OnnxModel &model) {
  for (const OnnxNode *sort : model.nodes) {
    if (sort->op_type() != "TopK") continue;
    RowOrder rows(model);
    if (!rows.follow(*sort)) continue;
    Rewrite rewrite(model);
    for (const OnnxNode *node : model.nodes) {
      const auto found = rows.replaced().find(node);
      if (found == rows.replaced().end())
        rewrite.keep(node);
      else
        rewrite.add("Identity", node_title(*node), {found->second}, {node->output(0)});
    }
    return rewrite.done();
  }
  return nullptr;
}

}  // namespace rnnp::compiler
