// plain_indices.cpp -- Contract: plain_indices.h. Known by trying: what comes of every index that the table has.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/rewrites/plain_indices.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/eval/eval.h"
#include "compiler/onnx/problem.h"
#include "compiler/onnx/refusal_of.h"
#include "compiler/onnx/rewrite.h"

namespace rnnp::compiler {
namespace {

bool is_elementwise(const std::string &op) {
  static const std::set<std::string> kOps = {"Identity",    "Cast",    "Add", "Sub", "Mul", "Less",
                                             "LessOrEqual", "Greater", "Not", "And", "Or",  "GreaterOrEqual",
                                             "Where",       "Equal",   "Min", "Max", "Clip"};
  return kOps.count(op) != 0;
}

class Indices {
 public:
  explicit Indices(const OnnxModel &model) : model_(model) {
    for (const OnnxNode *node : model.nodes) {
      for (const std::string &name : node->output()) maker_[name] = node;
    }
    for (const DeclaredInput &input : model.inputs) inputs_.insert(input.name);
  }

  // The input that the indices of this Gather are but for their wrapping; empty where they are computed, or are it already.
  std::string plain(const OnnxNode &gather) const {
    if (gather.op_type() != "Gather" || gather.input_size() != 2 || inputs_.count(gather.input(1)) != 0) return "";
    const auto table = model_.constants.find(gather.input(0));
    constexpr int64_t kMostRows = 1 << 20;
    if (table == model_.constants.end() || table->second->rank() < 1 || table->second->shape[0] > kMostRows) return "";
    std::set<const OnnxNode *> way;
    std::set<std::string> from;
    if (!collect(gather.input(1), &way, &from) || from.size() != 1) return "";
    bool plain = false;
    const auto refusal = refusal_of([&] { plain = wraps(gather.input(1), *from.begin(), way, table->second->shape[0]); });
    return plain && !refusal ? *from.begin() : "";
  }

 private:
  bool collect(const std::string &name, std::set<const OnnxNode *> *way, std::set<std::string> *from) const {
    if (model_.constants.count(name) != 0) return model_.constants.at(name)->size() == 1;
    if (inputs_.count(name) != 0) {
      from->insert(name);
      return true;
    }
    const auto found = maker_.find(name);
    constexpr size_t kLongest = 32;
    if (found == maker_.end() || !is_elementwise(found->second->op_type()) || way->size() > kLongest) return false;
    if (!way->insert(found->second).second) return true;
    return std::all_of(found->second->input().begin(), found->second->input().end(),
                       [&](const std::string &input) { return input.empty() || collect(input, way, from); });
  }

  bool wraps(const std::string &wanted, const std::string &input, const std::set<const OnnxNode *> &way, int64_t rows) const {
    std::map<std::string, Tensor> known;
    Tensor &ids = known[input] = Tensor(Elem::kInt, {2 * rows});
    for (int64_t i = 0; i < 2 * rows; ++i) ids.data[static_cast<size_t>(i)] = static_cast<double>(i - rows);
    for (const OnnxNode *node : model_.nodes) {
      if (way.count(node) == 0) continue;
      std::vector<const Tensor *> in;
      for (const std::string &name : node->input()) {
        const auto constant = model_.constants.find(name);
        in.push_back(name.empty() ? nullptr : constant != model_.constants.end() ? constant->second.get() : &known.at(name));
      }
      std::vector<Tensor> out = eval_node(*node, model_.opset, in);
      for (size_t i = 0; i < out.size(); ++i) known[node->output(static_cast<int>(i))] = std::move(out[i]);
    }
    const Tensor &made = known.at(wanted);
    for (int64_t i = 0; i < 2 * rows; ++i) {
      const double id = static_cast<double>(i - rows), got = made.data[static_cast<size_t>(i)];
      if (got != id && got != id + static_cast<double>(rows)) return false;
      if (id >= 0 && got != id) return false;
    }
    return true;
  }

  const OnnxModel &model_;
  std::map<std::string, const OnnxNode *> maker_;
  std::set<std::string> inputs_;
};

}  // namespace

std::unique_ptr<OnnxModel> with_plain_indices(const OnnxModel &model) {
  const Indices indices(model);
  Rewrite rewrite(model);
  bool any = false;
  for (const OnnxNode *node : model.nodes) {
    const std::string input = indices.plain(*node);
    if (input.empty()) {
      rewrite.keep(node);
      continue;
    }
    any = true;
    OnnxNode *copy = rewrite.copied(*node);
    copy->set_input(1, input);
    rewrite.keep(copy);
  }
  return any ? rewrite.done() : nullptr;
}

}  // namespace rnnp::compiler
