// row_products.cpp -- Contract: row_products.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/rewrites/row_products.h"

#include <algorithm>
#include <set>

#include "compiler/onnx/attributes.h"

namespace rnnp::compiler {
namespace {

using Integers = std::vector<int64_t>;

class RowProducts {
 public:
  RowProducts(const StepGraph &step, Rewrite *rewrite) : step_(step), rewrite_(rewrite) {}

  std::vector<const OnnxNode *> run() {
    for (const OnnxNode *node : step_.nodes) {
      if (!replaces(*node)) nodes_.push_back(node);
    }
    return std::move(nodes_);
  }

 private:
  // True where other nodes make the node's results now.
  bool replaces(const OnnxNode &node) {
    const std::string &op = node.op_type();
    if (op == "Transpose") return transpose(node);
    if (op == "Gemm" || op == "MatMul") return product_with_columns(node);
    if (op == "Einsum") return product_with_vector(node);
    if (op == "Split") return split(node);
    static const std::set<std::string> kElementwise = {"Add", "Sub", "Mul", "Sigmoid", "Tanh", "Relu", "Neg", "Identity", "Cast"};
    const auto is_vector = [&](const std::string &name) {
      return vectors_.count(name) != 0 || (is_constant(name) && step_.constants.at(name)->rank() <= 1);
    };
    const auto is_column = [&](const std::string &name) { return rows_.count(name) != 0; };
    if (kElementwise.count(op) == 0) return false;
    if (std::all_of(node.input().begin(), node.input().end(), is_vector)) vectors_.insert(node.output(0));
    if (std::all_of(node.input().begin(), node.input().end(), is_column)) name_rows(rewrite_->copied(node));
    return false;
  }

  // A copy of a node of columns works on rows.
  void name_rows(OnnxNode *copy) {
    for (std::string &name : *copy->mutable_input()) {
      const auto rows = rows_.find(name);
      if (rows != rows_.end()) name = rows->second;
    }
    for (std::string &name : *copy->mutable_output()) {
      rows_[name] = name + ":rows";
      name += ":rows";
    }
    nodes_.push_back(copy);
  }

  bool is_constant(const std::string &name) const { return step_.constants.count(name) != 0; }

  bool transpose(const OnnxNode &node) {
    if (Attributes(node).integers("perm") != Integers{1, 0}) return false;
    const auto rows = rows_.find(node.input(0));
    if (rows == rows_.end()) {
      rows_[node.output(0)] = node.input(0);
      return false;
    }
    add("Identity", {rows->second}, node.output());
    return true;
  }

  // W and x^T: the rows of the result stand beside it.
  bool product_with_columns(const OnnxNode &node) {
    const Attributes a(node);
    const bool gemm = node.op_type() == "Gemm";
    if (node.input_size() < 2 || !is_constant(node.input(0)) || step_.constants.at(node.input(0))->rank() != 2 ||
        rows_.count(node.input(1)) == 0)
      return false;
    if (gemm && (a.integer("transA", 0) != 0 || a.integer("transB", 0) != 0 || a.real("alpha", 1) != 1 ||
                 (node.input_size() > 2 && a.real("beta", 1) != 0)))
      return false;
    const std::string of_rows = node.output(0) + ":rows";
    add("Gemm", {rows_.at(node.input(1)), node.input(0)}, {of_rows})->add_attribute("transB", int64_t{1});
    rows_[node.output(0)] = of_rows;
    return false;
  }

  // "ab,b->a"
  bool product_with_vector(const OnnxNode &node) {
    const std::string equation = Attributes(node).text("equation", "");
    if (node.input_size() != 2 || !is_constant(node.input(0)) || equation.size() != 7 || equation[2] != ',' ||
        equation.compare(4, 2, "->") != 0 || equation[1] != equation[3] || equation[0] != equation[6] || equation[0] == equation[1])
      return false;
    const std::string turned = node.output(0) + ":turned";
    add("Transpose", {node.input(0)}, {turned})->add_attribute("perm", Integers{1, 0});
    add("MatMul", {node.input(1), turned}, node.output());
    vectors_.insert(node.output(0));
    return true;
  }

  bool split(const OnnxNode &node) {
    if (node.input_size() == 0 || Attributes(node).integer("axis", 0) != 0) return false;
    const bool vector = vectors_.count(node.input(0)) != 0;
    const auto rows = rows_.find(node.input(0));
    if (!vector && rows == rows_.end()) return false;
    OnnxNode *copy = rewrite_->copied(node);
    auto &attributes = *copy->mutable_attribute();
    attributes.erase(std::remove_if(attributes.begin(), attributes.end(), [](const auto &each) { return each.name() == "axis"; }),
                     attributes.end());
    copy->add_attribute("axis", int64_t{vector ? -1 : 1});
    if (!vector) {
      name_rows(copy);
      return false;
    }
    nodes_.push_back(copy);
    vectors_.insert(node.output().begin(), node.output().end());
    return true;
  }

  OnnxNode *add(const std::string &op, const std::vector<std::string> &in, const std::vector<std::string> &out) {
    OnnxNode *node = rewrite_->made(op, out[0]);
    *node->mutable_input() = in;
    *node->mutable_output() = out;
    nodes_.push_back(node);
    return node;
  }

  const StepGraph &step_;
  Rewrite *rewrite_;
  std::vector<const OnnxNode *> nodes_;
  std::map<std::string, std::string> rows_;  // of a tensor that is one transposed: that one
  std::set<std::string> vectors_;            // of one axis
};

}  // namespace

std::vector<const OnnxNode *> with_row_products(const StepGraph &step, Rewrite *rewrite) {
  return RowProducts(step, rewrite).run();
}

}  // namespace rnnp::compiler
