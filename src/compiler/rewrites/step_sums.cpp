// step_sums.cpp -- Contract: step_sums.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/rewrites/step_sums.h"

#include <algorithm>
#include <set>

#include "compiler/eval/carry_file_type.h"
#include "compiler/eval/eval.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

class Reader {
 public:
  explicit Reader(const StepGraph &step) : step_(step), constants_(step.constants) { fold(); }

  // Products of one operand stand side by side in the order of the step: one matrix for all gates, or one for each. Those of x
  // follow the order of what they are added to.
  std::optional<StepSums> read(const std::string &h) {
    StepSums out;
    std::vector<Product> inner;  // of what is neither x nor h
    std::vector<Product> all;
    if (!find_products(h, &all)) return std::nullopt;
    order_like_sums(h, &all);
    const int64_t width = width_of_h(all, h);
    for (Product &each : all) {
      if (each.other != h && !each.other.empty())
        inner.push_back(std::move(each));
      else if (!add(each, width, h, &out))
        return std::nullopt;
    }
    if (inner.size() > 1) return std::nullopt;
    if (inner.size() == 1) {  // the candidate's own product, behind those of the gates
      const Product &own = inner[0];
      if (own.m.columns != out.r.rows || !add(own, width, h, &out)) return std::nullopt;
    }
    if (out.w.rows == 0 || out.r.rows == 0) return std::nullopt;
    out.hidden = out.r.rows;
    if (out.w.columns != out.r.columns || out.r.columns % out.hidden != 0) return std::nullopt;
    out.gates = out.w.columns / out.hidden;
    for (std::vector<double> *bias : {&out.wb, &out.rb, &out.both}) bias->resize(static_cast<size_t>(out.w.columns), 0.0);
    return add_biases(&out) ? std::optional<StepSums>(out) : std::nullopt;
  }

  // The step's results at these operands.
  std::vector<Tensor> run(const std::map<std::string, Tensor> &given, const std::vector<std::string> &wanted) const {
    Tensors known = constants_;
    for (const auto &each : given) known[each.first] = std::make_shared<const Tensor>(each.second);
    for (const OnnxNode *node : step_.nodes) evaluate(*node, &known);
    std::vector<Tensor> results;
    for (const std::string &name : wanted) {
      if (known.count(name) == 0) throw Refusal("the step does not make " + quote(name));
      results.push_back(*known.at(name));
    }
    return results;
  }

 private:
  using Tensors = std::map<std::string, std::shared_ptr<const Tensor>>;

  // Adds what a node makes of tensors that are all known.
  void evaluate(const OnnxNode &node, Tensors *known) const {
    std::vector<const Tensor *> in;
    for (const std::string &name : node.input()) {
      const auto found = known->find(name);
      if (!name.empty() && found == known->end()) return;
      in.push_back(name.empty() ? nullptr : found->second.get());
    }
    std::vector<Tensor> out = eval_node(node, step_.opset, in);
    carry_file_type(node, step_.opset, in, &out);
    for (size_t i = 0; i < out.size(); ++i)
      (*known)[node.output(static_cast<int>(i))] = std::make_shared<const Tensor>(std::move(out[i]));
  }

  // Constants made of constants.
  void fold() {
    for (const OnnxNode *node : step_.nodes) {
      if (find_eval(node->op_type()) != nullptr) evaluate(*node, &constants_);
    }
  }

  std::string source(const std::string &name) const { return origin_of(step_.nodes, name); }

  // A product with constants: of x, of something else of the step, or of both side by side.
  struct Product {
    const OnnxNode *node = nullptr;
    Matrix m;
    std::vector<double> added;
    bool of_x = false, x_first = true;
    std::string other;
    bool is_joint() const { return of_x && !other.empty(); }
  };

  bool find_products(const std::string &h, std::vector<Product> *all) const {
    for (const OnnxNode *node : step_.nodes) {
      if ((node->op_type() != "MatMul" && node->op_type() != "Gemm") || constants_.count(node->output(0)) != 0) continue;
      Product each;
      each.node = node;
      if (!product(*node, &each.m, &each.added)) return false;
      const std::string from = source(node->input(0));
      const OnnxNode *joined = from == step_.x || from == h ? nullptr : joint_of(from);
      if (joined == nullptr) {
        each.of_x = from == step_.x;
        if (!each.of_x) each.other = from;
      } else {
        const std::string first = source(joined->input(0)), second = source(joined->input(1));
        each.x_first = first == step_.x;
        each.of_x = each.x_first || second == step_.x;
        each.other = !each.of_x ? from : each.x_first ? second : first;
      }
      all->push_back(std::move(each));
    }
    return true;
  }

  // Keras multiplies x with the gates' matrices in another order than h.
  void order_like_sums(const std::string &h, std::vector<Product> *all) const {
    std::vector<size_t> of_x, others;  // places in *all; of the others those of h first
    for (const bool inner : {false, true}) {
      for (size_t i = 0; i < all->size(); ++i) {
        const Product &each = (*all)[i];
        if (each.is_joint()) return;
        if (!each.of_x && (each.other != h) == inner) others.push_back(i);
        if (each.of_x && !inner) of_x.push_back(i);
      }
    }
    if (of_x.size() != others.size()) return;
    const std::map<size_t, size_t> partner = partners(*all);
    std::vector<const Product *> wanted;
    std::set<size_t> placed;
    for (const size_t other : others) {
      const auto found = partner.find(other);
      wanted.push_back(found == partner.end() ? nullptr : &(*all)[found->second]);
      if (found != partner.end()) placed.insert(found->second);
    }
    std::vector<Product> ordered;
    size_t next = 0;
    for (const Product *each : wanted) {
      while (each == nullptr && placed.count(of_x[next]) != 0) ++next;
      ordered.push_back(each != nullptr ? *each : (*all)[of_x[next++]]);
    }
    for (size_t i = 0; i < of_x.size(); ++i) (*all)[of_x[i]] = std::move(ordered[i]);
  }

  // Of each product of h, or of what is made of it: the product of x that it is added to.
  std::map<size_t, size_t> partners(const std::vector<Product> &all) const {
    std::map<std::string, std::set<size_t>> terms;
    std::map<size_t, size_t> partner;
    std::set<size_t> taken;
    for (size_t i = 0; i < all.size(); ++i) terms[all[i].node->output(0)] = {i};
    for (const OnnxNode *node : step_.nodes) {
      if (node->op_type() != "Add" || node->input_size() != 2) continue;
      std::set<size_t> sum;
      for (const std::string &name : node->input()) {
        const auto found = terms.find(source(name));
        if (found != terms.end()) sum.insert(found->second.begin(), found->second.end());
      }
      terms[node->output(0)] = sum;
      if (sum.size() != 2 || all[*sum.begin()].of_x == all[*sum.rbegin()].of_x) continue;
      const size_t x = all[*sum.begin()].of_x ? *sum.begin() : *sum.rbegin(), other = *sum.begin() + *sum.rbegin() - x;
      if (partner.count(other) == 0 && taken.insert(x).second) partner[other] = x;
    }
    return partner;
  }

  // Two rows side by side; nullptr for what is made otherwise.
  const OnnxNode *joint_of(const std::string &name) const {
    for (const OnnxNode *node : step_.nodes) {
      if (node->op_type() != "Concat" || node->input_size() != 2 || node->output(0) != name) continue;
      const int64_t axis = Attributes(*node).integer("axis", 0);
      return axis == 1 || axis == -1 ? node : nullptr;
    }
    return nullptr;
  }

  // Where x and h stand side by side only the number of gates tells how wide each is.
  int64_t width_of_h(const std::vector<Product> &all, const std::string &h) const {
    int64_t columns = 0;
    for (const Product &each : all) {
      if (each.other.empty()) continue;
      if (!each.is_joint()) return each.m.rows;
      if (each.other != h) return each.m.columns;
      columns += each.m.columns;
    }
    return step_.before.size() == 2 ? columns / 4 : columns;
  }

  bool add(const Product &each, int64_t width, const std::string &h, StepSums *out) {
    const int64_t columns = each.m.columns, first = each.other.empty() ? out->w.columns : out->r.columns;
    std::vector<double> *bias = each.is_joint() ? &out->both : each.other == h ? &out->rb : &out->wb;
    if (each.is_joint()) {
      const int64_t inputs = each.m.rows - width;
      if (width < 1 || inputs < 1 || out->w.columns != out->r.columns) return false;
      const Matrix x = rows_of(each.m, each.x_first ? 0 : width, inputs), other = rows_of(each.m, each.x_first ? inputs : 0, width);
      if (!append(&out->w, x) || !append(&out->r, other)) return false;
    } else if (!append(each.of_x ? &out->w : &out->r, each.m)) {
      return false;
    }
    const Sum::Of of = each.is_joint() ? Sum::kBoth : each.of_x ? Sum::kX : each.other == h ? Sum::kH : Sum::kInner;
    products_[each.node->output(0)] = {of, first, columns};
    bias->resize(static_cast<size_t>(std::max(first + columns, static_cast<int64_t>(bias->size()))), 0.0);
    for (size_t i = 0; i < each.added.size(); ++i) (*bias)[static_cast<size_t>(first) + i] += each.added[i];
    return true;
  }

  static Matrix rows_of(const Matrix &m, int64_t first, int64_t count) {
    const auto part = [&](const auto &all) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first * m.columns);
      return std::decay_t<decltype(all)>(begin, begin + static_cast<std::ptrdiff_t>(count * m.columns));
    };
    return {count, m.columns, part(m.data), m.steps.empty() ? m.steps : part(m.steps), m.file_type};
  }

  bool product(const OnnxNode &node, Matrix *m, std::vector<double> *added) const {
    if (node.input_size() < 2 || constants_.count(node.input(1)) == 0) return false;
    const Tensor &t = *constants_.at(node.input(1));
    if (t.rank() != 2) return false;
    const Attributes a(node);
    const bool gemm = node.op_type() == "Gemm", transposed = gemm && a.integer("transB", 0) != 0;
    const double beta = a.real("beta", 1);
    if (gemm && (a.integer("transA", 0) != 0 || a.real("alpha", 1) != 1 || (beta != 1 && beta != 0))) return false;
    *m = {t.shape[transposed ? 1 : 0], t.shape[transposed ? 0 : 1], t.data.copied(), t.steps, t.file_type};
    const int64_t turned_rows = transposed ? m->rows : 0;
    for (int64_t r = 0; r < turned_rows; ++r) {
      for (int64_t c = 0; c < m->columns; ++c) {
        const size_t to = static_cast<size_t>(r * m->columns + c), from = static_cast<size_t>(c * m->rows + r);
        m->data[to] = t.data[from];
        if (!t.steps.empty()) m->steps[to] = t.steps[from];
      }
    }
    if (!gemm || beta == 0 || node.input_size() < 3 || node.input(2).empty()) return true;
    return vector_of(node.input(2), m->columns, added);
  }

  bool vector_of(const std::string &name, int64_t size, std::vector<double> *out) const {
    const auto found = constants_.find(name);
    if (found == constants_.end()) return false;
    const Tensor &given = *found->second;
    const bool same = given.size() == 1 && given.rank() <= 2;  // for all columns
    if (!same && (given.size() != size || given.shape.back() != size)) return false;
    out->resize(static_cast<size_t>(size), 0.0);
    for (size_t i = 0; i < out->size(); ++i) (*out)[i] += given.data[same ? 0 : i];
    return true;
  }

  static bool append(Matrix *to, const Matrix &more) {
    if (to->rows == 0) {
      *to = more;
      return true;
    }
    if (to->rows != more.rows) return false;
    const bool alike = to->file_type == more.file_type && to->steps.empty() == more.steps.empty();
    Matrix out = {more.rows, to->columns + more.columns, {}, {}, alike ? more.file_type : 0};
    const auto join = [&](const auto &left, const auto &right, auto *both) {
      for (int64_t i = 0; i < out.rows; ++i) {
        both->insert(both->end(), left.begin() + i * to->columns, left.begin() + (i + 1) * to->columns);
        both->insert(both->end(), right.begin() + i * more.columns, right.begin() + (i + 1) * more.columns);
      }
    };
    join(to->data, more.data, &out.data);
    if (alike && !more.steps.empty()) join(to->steps, more.steps, &out.steps);
    *to = std::move(out);
    return true;
  }

  // What is added to the products, alone or together.
  bool add_biases(StepSums *a) {
    for (const OnnxNode *node : step_.nodes) {
      if (node->op_type() == "Split") name_parts(*node);
      if (node->op_type() != "Add" || node->input_size() != 2 || constants_.count(node->output(0)) != 0) continue;
      const auto sum = [&](int i) {
        const auto found = products_.find(source(node->input(i)));
        return found == products_.end() ? Sum{} : found->second;
      };
      const Sum sums[2] = {sum(0), sum(1)};
      if (sums[0].of != Sum::kNone && sums[1].of != Sum::kNone) {
        if (sums[0].first != sums[1].first || sums[0].columns != sums[1].columns) return false;
        products_[node->output(0)] = {Sum::kBoth, sums[0].first, sums[0].columns};
      }
      for (int i = 0; i < 2; ++i) {
        if (sums[i].of == Sum::kNone || sums[1 - i].of != Sum::kNone) continue;
        if (constants_.count(node->input(1 - i)) == 0) continue;
        std::vector<double> added;
        if (!vector_of(node->input(1 - i), sums[i].columns, &added)) return false;
        // What the candidate's own product has added reaches the sum as what x's has.
        std::vector<double> *to = sums[i].of == Sum::kH ? &a->rb : sums[i].of == Sum::kBoth ? &a->both : &a->wb;
        for (size_t k = 0; k < added.size(); ++k) (*to)[static_cast<size_t>(sums[i].first) + k] += added[k];
        products_[node->output(0)] = sums[i];
      }
    }
    return true;
  }

  // Parts of a sum, of which some may have a bias of their own.
  void name_parts(const OnnxNode &node) {
    const auto whole = products_.find(source(node.input(0)));
    const int64_t axis = Attributes(node).integer("axis", 0), count = node.output_size();
    if (whole == products_.end() || (axis != 1 && axis != -1) || count == 0) return;
    std::vector<int64_t> sizes(static_cast<size_t>(count), whole->second.columns / count);
    if (node.input_size() > 1 && constants_.count(node.input(1)) != 0) sizes = to_ints(*constants_.at(node.input(1)));
    if (const auto given = Attributes(node).integers("split"); !given.empty()) sizes = given;
    if (sizes.size() != static_cast<size_t>(count)) return;
    Sum part = whole->second;
    for (size_t i = 0; i < sizes.size(); ++i) {
      part.columns = sizes[i];
      products_[node.output(static_cast<int>(i))] = part;
      part.first += sizes[i];
    }
  }

  // A sum of products, and the columns of the gates that it is.
  struct Sum {
    enum Of : uint8_t { kNone, kX, kH, kBoth, kInner } of = kNone;
    int64_t first = 0, columns = 0;
  };

  const StepGraph &step_;
  Constants constants_;
  std::map<std::string, Sum> products_;
};

}  // namespace

std::set<std::string> computed_constants(const std::vector<const OnnxNode *> &nodes, const Constants &constants) {
  std::set<std::string> known;
  for (const auto &constant : constants) known.insert(constant.first);
  const auto is_known = [&](const std::string &name) { return name.empty() || known.count(name) != 0; };
  for (const OnnxNode *node : nodes) {
    if (find_eval(node->op_type()) != nullptr && std::all_of(node->input().begin(), node->input().end(), is_known))
      known.insert(node->output().begin(), node->output().end());
  }
  return known;
}

bool names_again(const OnnxNode &node) {
  return node.output_size() == 1 &&
         (node.op_type() == "Identity" || (node.op_type() == "Cast" && Attributes(node).integer("to", 0) == kOnnxFloat));
}

std::string origin_of(const std::vector<const OnnxNode *> &nodes, std::string name) {
  for (size_t i = 0; i < nodes.size(); ++i) {
    const auto maker = std::find_if(nodes.begin(), nodes.end(),
                                    [&](const OnnxNode *node) { return names_again(*node) && node->output(0) == name; });
    if (maker == nodes.end()) break;
    name = (*maker)->input(0);
  }
  return name;
}

std::optional<StepSums> read_sums(const StepGraph &step, const std::string &h) {
  return Reader(step).read(h);
}

std::vector<Tensor> run_step(const StepGraph &step, const std::map<std::string, Tensor> &given,
                             const std::vector<std::string> &wanted) {
  return Reader(step).run(given, wanted);
}

}  // namespace rnnp::compiler
