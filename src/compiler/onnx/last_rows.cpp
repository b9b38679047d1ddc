// last_rows.cpp -- Contract: last_rows.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/last_rows.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "compiler/onnx/attributes.h"
#include "compiler/onnx/rewrite.h"

namespace rnnp::compiler {
namespace {

using onnx::NodeProto;

// What a node picks: from `data`, at the lengths that the input `lengths` holds.
struct LastPick {
  std::string data, lengths, width;
  int64_t time_axis = 0;
  bool keep = false;
};

class LastPicks {
 public:
  explicit LastPicks(const OnnxModel &model) : model_(model) {
    for (const NodeProto *node : model.nodes) {
      for (const std::string &name : node->output()) maker_[name] = node;
    }
  }

  std::optional<LastPick> read(const NodeProto &node) const {
    if (node.op_type() == "GatherND" && node.input_size() == 2 && Attributes(node).integer("batch_dims", 0) == 0)
      return by_pairs(node);
    if (node.op_type() == "GatherElements" && node.input_size() == 2) return by_elements(node);
    return std::nullopt;
  }

  // Nothing but the picks sees what layers give behind a row's length: they stop there themselves, or nothing else reads them.
  bool hides_the_rest(const std::map<const NodeProto *, LastPick> &picks) const {
    std::set<std::string> lengths;
    for (const auto &pick : picks) lengths.insert(pick.second.lengths);
    bool all_stop = lengths.size() == 1, all_forward = all_stop, any = false;
    std::set<std::string> steps;  // what is known behind the lengths, too
    for (const NodeProto *node : model_.nodes) {
      const std::string &op = node->op_type();
      const bool layer = op == "LSTM" || op == "GRU" || op == "RNN";
      if (op == "Loop" || op == "Scan" || op == "If") return false;
      const bool stops = layer && node->input_size() > 4 && !node->input(4).empty();
      if (layer) {
        any = true;
        all_stop = all_stop && stops && lengths.count(root(node->input(4))) != 0;
        all_forward = all_forward && !stops && Attributes(*node).text("direction", "forward") == "forward";
      }
      const bool reads =
          std::any_of(node->input().begin(), node->input().end(), [&](const auto &name) { return steps.count(name) != 0; });
      if (picks.count(node) != 0 || op == "Shape" || (!layer && !reads)) continue;
      for (const std::string &made : node->output()) steps.insert(made);
    }
    const bool unseen =
        std::none_of(model_.outputs.begin(), model_.outputs.end(), [&](const auto &name) { return steps.count(name) != 0; });
    return any && (all_stop || (all_forward && unseen));
  }

 private:
  const NodeProto *maker(const std::string &name, const char *op = nullptr) const {
    const auto found = maker_.find(name);
    const bool is_it = found != maker_.end() && (op == nullptr || found->second->op_type() == op);
    return is_it ? found->second : nullptr;
  }

  std::string root(std::string name) const {
    for (const NodeProto *node = maker(name); node != nullptr; node = maker(name)) {
      if (node->op_type() != "Cast" && node->op_type() != "Identity") break;
      name = node->input(0);
    }
    return name;
  }

  std::vector<int64_t> numbers(const std::string &name) const {
    const auto found = model_.constants.find(name);
    if (found != model_.constants.end()) return to_ints(*found->second);
    const NodeProto *node = maker(name, "Constant");
    const onnx::AttributeProto *value = node != nullptr ? Attributes(*node).find("value") : nullptr;
    if (value == nullptr || value->type() != onnx::AttributeProto::TENSOR) return {};
    return to_ints(read_tensor(value->t()));
  }

  bool is_integer_row(const std::string &name) const {
    return std::any_of(model_.inputs.begin(), model_.inputs.end(), [&](const DeclaredInput &input) {
      const bool whole = input.elem_type == onnx::TensorProto::INT64 || input.elem_type == onnx::TensorProto::INT32;
      return input.name == name && whole && input.dims.size() == 1;
    });
  }

  // The input [batch] of which a name is its numbers less one; empty where it is none.
  std::string lengths_less_one(const std::string &name) const {
    const NodeProto *sub = maker(root(name), "Sub"), *add = maker(root(name), "Add");
    const NodeProto *node = sub != nullptr ? sub : add;
    if (node == nullptr || numbers(node->input(1)) != std::vector<int64_t>{sub != nullptr ? 1 : -1}) return "";
    const std::string lengths = root(node->input(0));
    return is_integer_row(lengths) ? lengths : "";
  }

  // Of rank 3, the input's numbers along `axis`.
  std::string lengths_along(const std::string &name, int64_t axis) const {
    const NodeProto *node = maker(root(name));
    if (node == nullptr) return "";
    std::vector<int64_t> given = node->input_size() > 1 ? numbers(node->input(1)) : Attributes(*node).integers("axes");
    if (node->op_type() == "Reshape") {
      std::vector<int64_t> ones(3, 1);
      if (given.size() != 3) return "";
      given[static_cast<size_t>(axis)] = 1;
      return given == ones ? lengths_less_one(node->input(0)) : "";
    }
    if (node->op_type() != "Unsqueeze") return "";
    std::set<int64_t> axes(given.begin(), given.end());
    const NodeProto *inner = maker(root(node->input(0)), "Unsqueeze");
    if (axes.size() == 1 && inner != nullptr && (*axes.begin() == 2 || *axes.begin() == -1)) {
      const std::vector<int64_t> first = inner->input_size() > 1 ? numbers(inner->input(1)) : Attributes(*inner).integers("axes");
      const int64_t other = first.size() != 1 ? -3 : first[0] < 0 ? first[0] + 2 : first[0];
      return other == 1 - axis ? lengths_less_one(inner->input(0)) : "";
    }
    return axes == std::set<int64_t>{1 - axis, 2} ? lengths_less_one(node->input(0)) : "";
  }

  // Y[arange(B), lengths - 1], or Y[lengths - 1, arange(B)].
  std::optional<LastPick> by_pairs(const NodeProto &node) const {
    const NodeProto *pairs = maker(node.input(1), "Concat");
    if (pairs == nullptr || pairs->input_size() != 2) return std::nullopt;
    const int64_t along = Attributes(*pairs).integer("axis", 0);
    if (along != 1 && along != -1) return std::nullopt;
    LastPick pick;
    pick.data = node.input(0);
    int counted = -1;
    for (int i = 0; i < 2; ++i) {
      const NodeProto *column = maker(pairs->input(i), "Unsqueeze");
      if (column == nullptr) return std::nullopt;
      const std::vector<int64_t> axes = column->input_size() > 1 ? numbers(column->input(1)) : Attributes(*column).integers("axes");
      if (axes != std::vector<int64_t>{1} && axes != std::vector<int64_t>{-1}) return std::nullopt;
      const NodeProto *range = maker(root(column->input(0)), "Range");
      const bool counts = range != nullptr && numbers(range->input(0)) == std::vector<int64_t>{0} &&
                          numbers(range->input(2)) == std::vector<int64_t>{1};
      if (counts)
        counted = i;
      else
        pick.lengths = lengths_less_one(column->input(0));
    }
    pick.time_axis = counted == 0 ? 1 : 0;
    return counted < 0 || pick.lengths.empty() ? std::nullopt : std::optional<LastPick>(pick);
  }

  std::optional<LastPick> by_elements(const NodeProto &node) const {
    LastPick pick;
    pick.data = node.input(0);
    pick.time_axis = Attributes(node).integer("axis", 0);
    pick.keep = true;
    const NodeProto *wide = maker(node.input(1), "Expand");
    if (wide == nullptr || wide->input_size() != 2 || (pick.time_axis != 0 && pick.time_axis != 1)) return std::nullopt;
    pick.width = wide->input(1);
    pick.lengths = lengths_along(wide->input(0), 1 - pick.time_axis);
    return pick.lengths.empty() ? std::nullopt : std::optional<LastPick>(pick);
  }

  const OnnxModel &model_;
  std::map<std::string, const NodeProto *> maker_;
};

}  // namespace

std::unique_ptr<OnnxModel> with_last_rows(const OnnxModel &model) {
  const LastPicks finder(model);
  std::map<const NodeProto *, LastPick> picks;
  for (const NodeProto *node : model.nodes) {
    if (const std::optional<LastPick> pick = finder.read(*node)) picks[node] = *pick;
  }
  if (picks.empty() || !finder.hides_the_rest(picks)) return nullptr;
  Rewrite rewrite(model);
  for (const NodeProto *node : model.nodes) {
    const auto found = picks.find(node);
    if (found == picks.end()) {
      rewrite.keep(node);
      continue;
    }
    std::vector<std::string> in = {found->second.data, found->second.lengths};
    if (!found->second.width.empty()) in.push_back(found->second.width);
    NodeProto *made = rewrite.add(kLastOfRow, node_title(*node), in, {node->output(0)});
    set_attribute(made, "time_axis", found->second.time_axis);
    set_attribute(made, "keep", static_cast<int64_t>(found->second.keep ? 1 : 0));
  }
  return rewrite.done();
}

}  // namespace rnnp::compiler
