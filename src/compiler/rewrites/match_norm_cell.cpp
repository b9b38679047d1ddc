// match_norm_cell.cpp -- Contract: match_norm_cell.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/rewrites/match_norm_cell.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "compiler/onnx/problem.h"
#include "compiler/onnx/refusal_of.h"
#include "compiler/onnx/rewrite.h"
#include "compiler/onnx/subgraph.h"
#include "compiler/rewrites/fit_norm.h"
#include "compiler/rewrites/step_sums.h"

namespace rnnp::compiler {
namespace {

using NormRow = std::vector<double>;

constexpr size_t kNormGates = 4;  // i o f c
constexpr double kOpen = 100;     // sigmoid of it is 1
constexpr double kNormTrials[] = {1, 1, 0.3, 8, 60, 0.01};

double logistic(double x) {
  return 1 / (1 + std::exp(-x));
}

// A pre-activation: which part of the products' columns, and the norms of x's product and of h's, or of both.
struct NormGate {
  std::string name;
  size_t slot = 0;
  FittedNorm norm[2];
};

class NormCell {
 public:
  NormCell(const StepGraph &step, size_t h, const StepSums &sums)
      : step_(step), h_(h), c_(1 - h), sums_(sums), hidden_(static_cast<size_t>(sums.hidden)), all_(kNormGates * hidden_) {}

  std::optional<MatchedCell> match() {
    if (!find_products() || !find_gates() || !fit_gates() || !read_biases()) return std::nullopt;
    std::vector<size_t> order = {0, 1, 2};  // of the sigmoids: i o f
    do {
      std::vector<NormGate> gates;
      for (const size_t i : order) gates.push_back(gates_[i]);
      gates.push_back(gates_[3]);
      if (fit_c(gates) && is_same(gates)) return made(gates);
    } while (std::next_permutation(order.begin(), order.end()));
    return std::nullopt;
  }

 private:
  // The product of x, then that of h, or one of both; each with the constants that are added to it alone.
  bool find_products() {
    for (const OnnxNode *node : step_.nodes) {
      const bool product = node->op_type() == "MatMul" || node->op_type() == "Gemm";
      if (!product || is_constant(node->input(0))) continue;
      const bool of_x = source(node->input(0)) == source(step_.x);
      products_.insert(of_x ? products_.begin() : products_.end(), with_constants(node->output(0)));
    }
    return products_.size() == 1 || products_.size() == 2;
  }

  const OnnxNode *maker_of(const std::string &name) const {
    for (const OnnxNode *node : step_.nodes) {
      if (std::find(node->output().begin(), node->output().end(), name) != node->output().end()) return node;
    }
    return nullptr;
  }

  std::string source(std::string name) const {
    for (const OnnxNode *maker = maker_of(name); maker != nullptr && maker->op_type() == "Identity"; maker = maker_of(name))
      name = maker->input(0);
    return name;
  }

  bool is_constant(const std::string &name) const {
    if (step_.constants.count(name) != 0) return true;
    const OnnxNode *maker = maker_of(name);
    return maker != nullptr && maker->op_type() == "Identity" && is_constant(maker->input(0));
  }

  std::string with_constants(std::string name) const {
    for (;;) {
      std::vector<const OnnxNode *> users;
      for (const OnnxNode *node : step_.nodes) {
        const std::vector<std::string> read = names_read(*node);
        if (std::find(read.begin(), read.end(), name) != read.end()) users.push_back(node);
      }
      if (users.size() != 1 || users[0]->op_type() != "Add" || users[0]->input_size() != 2) return name;
      if (!is_constant(users[0]->input(users[0]->input(0) == name ? 1 : 0))) return name;
      name = users[0]->output(0);
    }
  }

  // What three sigmoids and a tanh are taken of that needs the products and not c.
  bool find_gates() {
    std::set<std::string> own(products_.begin(), products_.end()), of_c = {step_.before[c_]};
    NormGate tanh;
    for (const OnnxNode *node : step_.nodes) {
      const auto reads = [&](const std::set<std::string> &names) {
        return std::any_of(node->input().begin(), node->input().end(), [&](const std::string &in) { return names.count(in) != 0; });
      };
      const bool is_own = reads(own), is_state = reads(of_c);
      if (is_own) own.insert(node->output().begin(), node->output().end());
      if (is_state) of_c.insert(node->output().begin(), node->output().end());
      if (!is_own || is_state) continue;
      if (node->op_type() == "Sigmoid") {
        gates_.emplace_back();
        gates_.back().name = node->input(0);
      } else if (node->op_type() == "Tanh") {
        if (!tanh.name.empty()) return false;
        tanh.name = node->input(0);
      }
    }
    gates_.push_back(tanh);
    return gates_.size() == kNormGates && !tanh.name.empty();
  }

  // What the step makes of rows in the place of names.
  std::vector<Rows> run(const std::map<std::string, Rows> &given, const std::vector<std::string> &wanted) const {
    std::map<std::string, Tensor> tensors;
    for (const auto &each : given) {
      Tensor t(Elem::kFloat, {static_cast<int64_t>(each.second.size()), static_cast<int64_t>(each.second[0].size())});
      double *to = t.data.data();
      for (const NormRow &row : each.second) to = std::copy(row.begin(), row.end(), to);
      tensors.emplace(each.first, std::move(t));
    }
    const size_t rows = given.begin()->second.size();
    std::vector<Rows> out;
    for (const Tensor &t : run_step(step_, tensors, wanted)) {
      const size_t width = t.data.size() / rows;
      if (t.rank() != 2 || t.shape[0] != static_cast<int64_t>(rows) || (width != hidden_ && width != all_))
        throw Refusal("the step does not make rows");
      out.emplace_back();
      for (auto row = t.data.begin(); row != t.data.end(); row += static_cast<std::ptrdiff_t>(width))
        out.back().emplace_back(row, row + static_cast<std::ptrdiff_t>(width));
    }
    return out;
  }

  static Rows same(size_t rows, size_t width, double value) { return Rows(rows, NormRow(width, value)); }

  Span span_of(size_t slot, bool by_gate) const { return by_gate ? Span{slot * hidden_, hidden_} : Span{0, all_}; }

  // Each product by itself, zeros in the place of the other.
  bool fit_gates() {
    std::vector<std::string> names;
    for (const NormGate &gate : gates_) names.push_back(gate.name);
    const NormProbe probe(all_);
    for (size_t p = 0; p < products_.size(); ++p) {
      std::map<std::string, Rows> given = {{products_[p], probe.rows()}};
      if (products_.size() == 2) given[products_[1 - p]] = same(probe.rows().size(), all_, 0);
      const std::vector<Rows> made = run(given, names);
      for (size_t g = 0; g < kNormGates; ++g) {
        if (made[g][0].size() != hidden_ || !fit_slot(probe, made[g], p, &gates_[g])) return false;
      }
    }
    return true;
  }

  // Which of the product's columns the gate is; whether it has a mean of its own is the same of all gates.
  bool fit_slot(const NormProbe &probe, const Rows &made, size_t p, NormGate *gate) {
    const bool first = p == 0 && gate == &gates_[0];
    for (size_t slot = p == 0 ? 0 : gate->slot; slot < (p == 0 ? kNormGates : gate->slot + 1); ++slot) {
      for (const bool by_gate : {false, true}) {
        if (!first && by_gate != by_gate_) continue;
        const std::optional<FittedNorm> norm = probe.fit(made, slot * hidden_, span_of(slot, by_gate));
        if (!norm) continue;
        by_gate_ = by_gate;
        gate->slot = slot;
        gate->norm[p] = *norm;
        gate->norm[p].epsilon = gate == &gates_[0] ? norm->epsilon : gates_[0].norm[p].epsilon;
        return true;
      }
    }
    return false;
  }

  // What the products are where x and h are zeros.
  bool read_biases() {
    const size_t inputs = static_cast<size_t>(sums_.w.rows);
    for (Rows &bias : run({{step_.x, same(1, inputs, 0)}, {step_.before[h_], same(1, hidden_, 0)}}, products_)) {
      if (bias[0].size() != all_) return false;
      biases_.push_back(std::move(bias[0]));
    }
    return true;
  }

  // With f open and i g = 0 the next c is a norm of c, or c itself and h = tanh of a norm of it.
  bool fit_c(const std::vector<NormGate> &gates) {
    const NormProbe probe(hidden_);
    const size_t rows = probe.rows().size();
    std::map<std::string, Rows> given = {{step_.before[c_], probe.rows()}};
    const double opened[kNormGates] = {0, kOpen, kOpen, 0};
    for (size_t g = 0; g < kNormGates; ++g) given[gates[g].name] = same(rows, hidden_, opened[g]);
    std::vector<Rows> made = run(given, {step_.after[c_], step_.after[h_]});
    keeps_c_ = made[0] == probe.rows();
    for (NormRow &row : made[1]) std::transform(row.begin(), row.end(), row.begin(), [](double v) { return std::atanh(v); });
    const std::optional<FittedNorm> norm = probe.fit(made[keeps_c_ ? 1 : 0], 0, {0, hidden_});
    if (norm) c_norm_ = *norm;
    return norm.has_value();
  }

  NormRow product(const Matrix &m, const NormRow &row, NormRow sum) const {
    for (size_t k = 0; k < row.size(); ++k) {
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += row[k] * m.at(static_cast<int64_t>(k), static_cast<int64_t>(i));
    }
    return sum;
  }

  // The next c and h by the formula.
  void step(const std::vector<NormGate> &gates, const NormRow &x, NormRow *h, NormRow *c) const {
    NormRow sums[2] = {product(sums_.w, x, biases_[0]), NormRow()};
    if (products_.size() == 2)
      sums[1] = product(sums_.r, *h, biases_[1]);
    else
      sums[0] = product(sums_.r, *h, sums[0]);
    std::vector<NormRow> pre;
    for (const NormGate &gate : gates) {
      const Span span = span_of(gate.slot, by_gate_);
      pre.push_back(gate.norm[0].apply(sums[0], gate.slot * hidden_, span));
      if (products_.size() == 1) continue;
      const NormRow more = gate.norm[1].apply(sums[1], gate.slot * hidden_, span);
      for (size_t u = 0; u < hidden_; ++u) pre.back()[u] += more[u] - gate.norm[1].bias[u];
    }
    for (size_t u = 0; u < hidden_; ++u) (*c)[u] = logistic(pre[2][u]) * (*c)[u] + logistic(pre[0][u]) * std::tanh(pre[3][u]);
    const NormRow normed = c_norm_.apply(*c, 0, {0, hidden_});
    for (size_t u = 0; u < hidden_; ++u) (*h)[u] = logistic(pre[1][u]) * std::tanh(normed[u]);
    if (!keeps_c_) *c = normed;
  }

  bool is_same(const std::vector<NormGate> &gates) const {
    std::mt19937 random(7);
    std::normal_distribution<double> normal(0, 1);
    const auto rows = [&](size_t width) {
      Rows out;
      for (const double scale : kNormTrials) {
        out.emplace_back(width);
        for (double &v : out.back()) v = scale * normal(random);
      }
      return out;
    };
    const Rows x = rows(static_cast<size_t>(sums_.w.rows)), h = rows(hidden_), c = rows(hidden_);
    const std::vector<Rows> next =
        run({{step_.x, x}, {step_.before[h_], h}, {step_.before[c_], c}}, {step_.after[h_], step_.after[c_]});
    for (size_t r = 0; r < x.size(); ++r) {
      NormRow h_next = h[r], c_next = c[r];
      step(gates, x[r], &h_next, &c_next);
      for (size_t u = 0; u < hidden_; ++u) {
        if (!is_near(next[0][r][u], h_next[u]) || !is_near(next[1][r][u], c_next[u])) return false;
      }
    }
    return true;
  }

  // W, R and B as ONNX's LSTM has them, and the norms: of x's product, of h's, biases behind them; of c.
  MatchedCell made(const std::vector<NormGate> &gates) const {
    const bool joint = products_.size() == 1;
    MatchedCell cell;
    cell.op = kLstmNorm;
    cell.activations = {"Sigmoid", "Tanh", "Tanh"};
    cell.hidden = sums_.hidden;
    cell.h = h_;
    cell.c = c_;
    cell.by_gate = by_gate_;
    cell.joint = joint;
    cell.keeps_c = keeps_c_;
    for (const double e : {gates[0].norm[0].epsilon, gates[0].norm[1].epsilon, c_norm_.epsilon})
      cell.epsilons.push_back(static_cast<float>(e));
    const int64_t all = static_cast<int64_t>(all_), inputs = sums_.w.rows;
    cell.w = Tensor(Elem::kFloat, {1, all, inputs});
    cell.r = Tensor(Elem::kFloat, {1, all, sums_.hidden});
    cell.b = Tensor(Elem::kFloat, {1, 2 * all});
    cell.norms = Tensor(Elem::kFloat, {1, 3 * all + 2 * sums_.hidden});
    for (size_t g = 0; g < kNormGates; ++g) {
      for (size_t u = 0; u < hidden_; ++u) {
        const size_t to = g * hidden_ + u, from = gates[g].slot * hidden_ + u;
        const int64_t row = static_cast<int64_t>(to), column = static_cast<int64_t>(from);
        for (int64_t k = 0; k < inputs; ++k) cell.w.data[static_cast<size_t>(row * inputs + k)] = sums_.w.at(k, column);
        for (int64_t k = 0; k < sums_.hidden; ++k) cell.r.data[static_cast<size_t>(row * sums_.hidden + k)] = sums_.r.at(k, column);
        cell.b.data[to] = biases_[0][from];
        cell.norms.data[to] = gates[g].norm[0].scale[u];
        cell.norms.data[2 * all_ + to] = gates[g].norm[0].bias[u];
        if (joint) continue;
        cell.b.data[all_ + to] = biases_[1][from];
        cell.norms.data[all_ + to] = gates[g].norm[1].scale[u];
      }
    }
    std::copy(c_norm_.scale.begin(), c_norm_.scale.end(), cell.norms.data.begin() + static_cast<std::ptrdiff_t>(3 * all_));
    std::copy(c_norm_.bias.begin(), c_norm_.bias.end(), cell.norms.data.end() - static_cast<std::ptrdiff_t>(hidden_));
    return cell;
  }

  const StepGraph &step_;
  const size_t h_, c_;
  const StepSums &sums_;
  const size_t hidden_, all_;
  std::vector<std::string> products_;
  std::vector<NormRow> biases_;  // of the products
  std::vector<NormGate> gates_;  // three of sigmoid in the order of the step, that of tanh
  bool by_gate_ = false, keeps_c_ = false;
  FittedNorm c_norm_;
};

bool has_norm(const StepGraph &step) {
  return std::any_of(step.nodes.begin(), step.nodes.end(), [](const OnnxNode *node) {
    return node->op_type() == "LayerNormalization" || node->op_type() == "ReduceMean" || node->op_type() == "ReduceSum";
  });
}

}  // namespace

std::optional<MatchedCell> match_norm_cell(const StepGraph &step) {
  if (step.before.size() != 2 || step.after.size() != 2 || !has_norm(step)) return std::nullopt;
  for (size_t h = 0; h < 2; ++h) {
    std::optional<MatchedCell> cell;
    // What the evaluator refuses is no step on rows.
    const auto refused = refusal_of([&] {
      const std::optional<StepSums> sums = read_sums(step, step.before[h]);
      if (sums && sums->gates == static_cast<int64_t>(kNormGates)) cell = NormCell(step, h, *sums).match();
    });
    if (!refused && cell) return cell;
  }
  return std::nullopt;
}

}  // namespace rnnp::compiler
