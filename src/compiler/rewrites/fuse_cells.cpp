// fuse_cells.cpp -- Contract: fuse_cells.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/rewrites/fuse_cells.h"

#include <algorithm>
#include <set>

#include "compiler/onnx/attributes.h"
#include "compiler/onnx/rewrite.h"
#include "compiler/onnx/uses.h"

namespace rnnp::compiler {
namespace {

using Constant = std::shared_ptr<const Tensor>;
using Product = std::pair<std::string, Constant>;  // what is multiplied by the matrix

// Names of one cell. gates: outputs of the split in ONNX's order i o f c, as positions of the split.
struct Cell {
  const OnnxNode *c_node = nullptr, *h_node = nullptr;
  std::string x, h, c;
  Constant w, r;  // [I][4H], [H][4H]
  std::vector<Constant> biases;
  size_t gates[4] = {};
  int64_t hidden = 0;
};

// Declared shapes of one tensor before and after a step: open dimensions fit any.
bool shapes_fit(const std::vector<DeclaredDim> &a, const std::vector<DeclaredDim> &b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](const DeclaredDim &x, const DeclaredDim &y) {
           return x.value == 0 || y.value == 0 || x.value == y.value;
         });
}

class Finder {
 public:
  Finder(const OnnxModel &model, const Uses &uses, const StateNames &states) : model_(model), uses_(uses), states_(states) {
    for (const DeclaredInput &input : model.inputs) shapes_[input.name] = input.dims;
    for (const OnnxValue &output : model.graph.output()) {
      if (!output.type().has_shape) continue;
      std::vector<DeclaredDim> &dims = shapes_[output.name()];
      for (const OnnxValue::Dim &dim : output.type().dims) dims.push_back({std::max<int64_t>(dim.value, 0), dim.name});
    }
  }

  // The cell whose new c this Add is.
  bool find(const OnnxNode &add, Cell *cell) const {
    if (add.op_type() != "Add" || add.input_size() != 2 || add.output_size() != 1) return false;
    *cell = {};
    cell->c_node = &add;
    std::string i, f, g, o;
    return find_sum(add, &i, &f, &g, cell) && find_output(add.output(0), &o, cell) && find_gates(i, o, f, g, cell);
  }

 private:
  // The input of an activation.
  std::string activated(const std::string &name, const char *op) const {
    const OnnxNode *node = uses_.maker(name, op, 1);
    return node ? node->input(0) : "";
  }

  // f * c + i * g, each product and the sum in either order.
  bool find_sum(const OnnxNode &add, std::string *i, std::string *f, std::string *g, Cell *cell) const {
    for (int swap = 0; swap < 2; ++swap) {
      const OnnxNode *keep = uses_.maker(add.input(swap), "Mul", 2), *write = uses_.maker(add.input(1 - swap), "Mul", 2);
      if (!keep || !write) return false;
      for (int a = 0; a < 2; ++a) {
        *i = activated(write->input(a), "Sigmoid");
        *g = activated(write->input(1 - a), "Tanh");
        if (i->empty() || g->empty()) continue;
        for (int b = 0; b < 2; ++b) {
          *f = activated(keep->input(b), "Sigmoid");
          cell->c = keep->input(1 - b);
          if (!f->empty() && !uses_.root(cell->c).empty()) return true;
        }
      }
    }
    return false;
  }

  // o * tanh(c'); nothing else may read c' before it leaves the graph.
  bool find_output(const std::string &c_new, std::string *o, Cell *cell) const {
    for (const OnnxNode *reader : uses_.readers(c_new)) {
      if (uses_.leads_out(*reader)) continue;
      if (reader->op_type() != "Tanh" || reader->output_size() != 1 || cell->h_node) return false;
      const auto &next = uses_.readers(reader->output(0));
      if (next.size() != 1 || next[0]->op_type() != "Mul" || next[0]->input_size() != 2 || next[0]->output_size() != 1)
        return false;
      cell->h_node = next[0];
      *o = activated(next[0]->input(next[0]->input(0) == reader->output(0) ? 1 : 0), "Sigmoid");
    }
    return cell->h_node && !o->empty();
  }

  bool find_gates(const std::string &i, const std::string &o, const std::string &f, const std::string &g, Cell *cell) const {
    const OnnxNode *split = uses_.any_maker(i);
    if (!split || split->op_type() != "Split" || split->output_size() != 4 || split->input_size() < 1) return false;
    const std::string names[4] = {i, o, f, g};
    std::set<size_t> seen;
    for (size_t k = 0; k < 4; ++k) {
      const auto at = std::find(split->output().begin(), split->output().end(), names[k]);
      if (at == split->output().end()) return false;
      cell->gates[k] = static_cast<size_t>(at - split->output().begin());
      seen.insert(cell->gates[k]);
    }
    const int64_t axis = Attributes(*split).integer("axis", 0);
    std::vector<Product> products;
    if (seen.size() != 4 || (axis != 1 && axis != -1) || !find_products(split->input(0), 0, &products, cell) ||
        products.size() != 2)
      return false;
    return even_split(*split, products[0].second->shape[1]) && assign(products, cell);
  }

  // Four equal parts of the gates' axis.
  bool even_split(const OnnxNode &split, int64_t width) const {
    std::vector<int64_t> sizes = Attributes(split).integers("split");
    if (split.input_size() > 1 && !split.input(1).empty()) {
      const auto given = model_.constants.find(split.input(1));
      if (given == model_.constants.end()) return false;
      sizes = to_ints(*given->second);
    }
    return width % 4 == 0 && std::all_of(sizes.begin(), sizes.end(), [&](int64_t size) { return size == width / 4; });
  }

  Constant constant(const std::string &name, size_t rank) const {
    const auto found = model_.constants.find(name);
    return found != model_.constants.end() && found->second->rank() == rank ? found->second : nullptr;
  }

  // A Gemm of x with a constant matrix and vector, without factors: a product and a bias.
  bool read_gemm(const OnnxNode &gemm, std::vector<Product> *products, Cell *cell) const {
    const Attributes a(gemm);
    const Constant matrix = constant(gemm.input(1), 2), bias = gemm.input_size() == 3 ? constant(gemm.input(2), 1) : nullptr;
    if (!matrix || (gemm.input_size() == 3 && !bias) || a.integer("transA", 0) != 0) return false;
    if (a.real("alpha", 1) != 1 || a.real("beta", 1) != 1) return false;
    if (bias) cell->biases.push_back(bias);
    products->emplace_back(gemm.input(0), a.integer("transB", 0) != 0 ? transposed(*matrix) : matrix);
    return true;
  }

  static Constant transposed(const Tensor &from) {
    const int64_t rows = from.shape[0], columns = from.shape[1];
    Tensor out(Elem::kFloat, {columns, rows}, kMaxTensorElems);
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t k = 0; k < columns; ++k)
        out.data[static_cast<size_t>(k * rows + i)] = from.data[static_cast<size_t>(i * columns + k)];
    }
    return std::make_shared<const Tensor>(std::move(out));
  }

  // The addends: products with constant matrices, and constant vectors.
  bool find_products(const std::string &sum, int depth, std::vector<Product> *products, Cell *cell) const {
    constexpr int kDeepest = 4;  // two products and two biases, added one after the other
    if (const Constant bias = constant(sum, 1)) {
      cell->biases.push_back(bias);
      return true;
    }
    if (const OnnxNode *add = uses_.maker(sum, "Add", 2)) {
      return depth < kDeepest && find_products(add->input(0), depth + 1, products, cell) &&
             find_products(add->input(1), depth + 1, products, cell);
    }
    for (int inputs = 2; inputs <= 3; ++inputs) {
      if (const OnnxNode *gemm = uses_.maker(sum, "Gemm", inputs)) return read_gemm(*gemm, products, cell);
    }
    const OnnxNode *product = uses_.maker(sum, "MatMul", 2);
    const Constant matrix = product ? constant(product->input(1), 2) : nullptr;
    if (!matrix) return false;
    products->emplace_back(product->input(0), matrix);
    return true;
  }

  bool assign(const std::vector<Product> &products, Cell *cell) const {
    const int64_t width = products[0].second->shape[1];
    cell->hidden = width / 4;
    if (products[1].second->shape[1] != width) return false;
    for (const Constant &bias : cell->biases) {
      if (bias->size() != width) return false;
    }
    const size_t h = fed_back(products, *cell);
    if (h > 1 || products[h].second->shape[0] != cell->hidden) return false;
    cell->h = products[h].first;
    cell->r = products[h].second;
    cell->x = products[1 - h].first;
    cell->w = products[1 - h].second;
    return cell->h != cell->c && cell->h != cell->x;
  }

  // Which of the two operands is h, the one that h' is fed back to; 2 where the graph does not tell. The width alone says nothing:
  // x may be as wide, and with a projection h is not.
  size_t fed_back(const std::vector<Product> &products, const Cell &cell) const {
    const std::set<std::string> given = uses_.outputs_of(cell.h_node->output(0));
    const std::string c = uses_.root(cell.c), roots[2] = {uses_.root(products[0].first), uses_.root(products[1].first)};
    const auto only = [](bool first, bool second) { return first == second ? size_t{2} : first ? size_t{0} : size_t{1}; };
    const auto is_kept = [&](const std::string &root) { return !root.empty() && states_.count(root) != 0; };
    const auto is_bound = [&](const std::string &root) { return is_kept(root) && given.count(states_.at(root)) != 0; };
    if (roots[0] == c || roots[1] == c) return only(roots[0] == c, roots[1] == c);  // h and c in one tensor
    if (is_kept(roots[0]) || is_kept(roots[1])) return only(is_bound(roots[0]), is_bound(roots[1]));
    const auto may_be_h = [&](size_t k) {
      if (roots[k].empty() || products[k].second->shape[0] != cell.hidden || !comes_back(roots[k], given)) return false;
      const std::string &other = roots[1 - k];
      return !other.empty() && !comes_back_elsewhere(other, given, uses_.outputs_of(cell.c_node->output(0)));
    };
    return only(may_be_h(0), may_be_h(1));
  }

  // One of the outputs has the input's declared shape.
  bool comes_back(const std::string &input, const std::set<std::string> &outputs) const {
    return std::any_of(outputs.begin(), outputs.end(), [&](const std::string &output) {
      const auto shape = shapes_.find(output);
      return shape != shapes_.end() && shapes_fit(shapes_.at(input), shape->second);
    });
  }

  // An output that is neither h' nor c' has, or may have, the input's shape: the input may be a state as well.
  bool comes_back_elsewhere(const std::string &input, const std::set<std::string> &h, const std::set<std::string> &c) const {
    return std::any_of(model_.outputs.begin(), model_.outputs.end(), [&](const std::string &output) {
      if (h.count(output) || c.count(output)) return false;
      const auto shape = shapes_.find(output);
      return shape == shapes_.end() || shapes_fit(shapes_.at(input), shape->second);
    });
  }

  const OnnxModel &model_;
  const Uses &uses_;
  const StateNames &states_;
  std::map<std::string, std::vector<DeclaredDim>> shapes_;  // of graph inputs and outputs
};

// Writes the fused model: nodes of the original but for the cells' last ones, in whose place the LSTM stands.
class CellRewriter {
 public:
  CellRewriter(const OnnxModel &model, const Uses &uses) : model_(model), uses_(uses), rewrite_(model) {}

  std::unique_ptr<OnnxModel> write(const std::vector<Cell> &cells) {
    for (const OnnxNode *node : model_.nodes) {
      for (const Cell &cell : cells) {
        if (node == cell.c_node) write_cell(cell);
      }
      const auto replaced = [&](const Cell &cell) { return node == cell.c_node || node == cell.h_node; };
      if (std::none_of(cells.begin(), cells.end(), replaced)) rewrite_.keep(redirected(*node));
    }
    return rewrite_.done();
  }

 private:
  // [gates * H][rows] from [rows][gates of the file * H].
  static Tensor gate_rows(const Tensor &from, const Cell &cell) {
    const int64_t rows = from.shape[0], hidden = cell.hidden;
    Tensor out(Elem::kFloat, {1, 4 * hidden, rows});
    for (int64_t g = 0; g < 4; ++g) {
      for (int64_t u = 0; u < hidden; ++u) {
        for (int64_t k = 0; k < rows; ++k) {
          const int64_t at = k * 4 * hidden + static_cast<int64_t>(cell.gates[g]) * hidden + u;
          out.data[static_cast<size_t>((g * hidden + u) * rows + k)] = from.data[static_cast<size_t>(at)];
        }
      }
    }
    return out;
  }

  static Tensor bias_of(const Cell &cell) {
    Tensor out(Elem::kFloat, {1, 8 * cell.hidden});
    for (const Constant &bias : cell.biases) {
      Tensor column = *bias;
      column.shape = {1, bias->size()};
      const Tensor rows = gate_rows(column, cell);
      for (size_t i = 0; i < rows.data.size(); ++i) out.data[i] += rows.data[i];
    }
    return out;
  }

  void write_cell(const Cell &cell) {
    const std::string name = node_title(*cell.h_node), at = name + ":lstm";
    const auto earlier = per_step_.find(cell.x);
    rewrite_.reshaping("Unsqueeze", earlier == per_step_.end() ? cell.x : earlier->second, at + ":x", {0});
    rewrite_.reshaping("Unsqueeze", cell.h, at + ":h", {0});
    rewrite_.reshaping("Unsqueeze", cell.c, at + ":c", {0});
    rewrite_.set_constant(at + ":w", gate_rows(*cell.w, cell));
    rewrite_.set_constant(at + ":r", gate_rows(*cell.r, cell));
    rewrite_.set_constant(at + ":b", bias_of(cell));
    OnnxNode *lstm = rewrite_.made("LSTM", name);
    for (const char *input : {":x", ":w", ":r", ":b", "", ":h", ":c"}) lstm->add_input(*input ? at + input : "");
    for (const char *output : {":y", ":hn", ":cn"}) lstm->add_output(at + output);
    lstm->add_attribute("hidden_size", cell.hidden);
    rewrite_.keep(lstm);
    rewrite_.reshaping("Squeeze", at + ":y", at + ":out", {0, 1});
    rewrite_.reshaping("Squeeze", at + ":hn", cell.h_node->output(0), {0});
    rewrite_.reshaping("Squeeze", at + ":cn", cell.c_node->output(0), {0});
    per_step_[cell.h_node->output(0)] = at + ":out";
  }

  // h' is the layer's output where it is computed with, and its final state where it leaves the graph.
  const OnnxNode *redirected(const OnnxNode &node) {
    const auto named = [&](const std::string &name) { return per_step_.count(name) != 0; };
    if (std::none_of(node.input().begin(), node.input().end(), named) || uses_.leads_out(node)) return &node;
    OnnxNode *copy = rewrite_.copied(node);
    for (std::string &name : *copy->mutable_input()) {
      if (named(name)) name = per_step_.at(name);
    }
    return copy;
  }

  const OnnxModel &model_;
  const Uses &uses_;
  Rewrite rewrite_;
  std::map<std::string, std::string> per_step_;
};

}  // namespace

namespace {

// An output that is a state's next value holds final states of cells beside values of every step: the former are known when a run
// ends, so that cells stay as they are.
bool mixes_finals(const Uses &uses, const StateNames &states, const std::vector<Cell> &cells) {
  std::set<std::string> finals;
  for (const Cell &cell : cells) finals.insert({cell.h_node->output(0), cell.c_node->output(0)});
  return std::any_of(states.begin(), states.end(), [&](const auto &state) {
    bool some = false, others = false;
    std::set<std::string> seen;
    std::vector<std::string> open = {state.second};
    while (!open.empty()) {
      const std::string name = open.back();
      open.pop_back();
      if (!seen.insert(name).second) continue;
      const OnnxNode *maker = uses.any_maker(name);
      if (finals.count(name) != 0) {
        some = true;
      } else if (maker != nullptr && uses.leads_out(*maker)) {
        open.insert(open.end(), maker->input().begin(), maker->input().end());
      } else if (maker != nullptr) {
        others = true;
      }
    }
    return some && others;
  });
}

}  // namespace

std::unique_ptr<OnnxModel> fuse_cells(const OnnxModel &model, const StateNames &states) {
  const Uses uses(model);
  const Finder finder(model, uses, states);
  std::vector<Cell> cells;
  for (const OnnxNode *node : model.nodes) {
    Cell cell;
    if (finder.find(*node, &cell)) cells.push_back(cell);
  }
  constexpr size_t kMostCells = 256;  // each copies its matrices
  if (cells.empty() || cells.size() > kMostCells) return nullptr;
  return mixes_finals(uses, states, cells) ? nullptr : CellRewriter(model, uses).write(cells);
}

}  // namespace rnnp::compiler
