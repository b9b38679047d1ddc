// match_cell.cpp -- Contract: match_cell.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/match_cell.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include "compiler/eval/eval.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

using onnx::NodeProto;

// Rows of x and h. Small ones tell the equations apart, large ones what bounds a value far out.
constexpr int64_t kTrials = 6;
constexpr double kScales[kTrials] = {1, 1, 0.3, 8, 60, 1000};
constexpr double kSame = 1e-6;

// [rows][columns] in doubles.
struct Matrix {
  int64_t rows = 0, columns = 0;
  std::vector<double> data;
  double at(int64_t r, int64_t c) const { return data[static_cast<size_t>(r * columns + c)]; }
};

// What the step multiplies x and h by, side by side in the order of the step, and what it adds.
struct Affine {
  Matrix w, r;                       // [I][G H], [H][G H]
  std::vector<double> wb, rb, both;  // [G H]
  int64_t hidden = 0, gates = 0;
};

class Reader {
 public:
  explicit Reader(const StepGraph &step) : step_(step), constants_(step.constants) { fold(); }

  std::optional<Affine> read(const std::string &h) {
    Affine out;
    std::vector<Matrix> inner;  // products of what is neither x nor h
    for (const NodeProto *node : step_.nodes) {
      if ((node->op_type() != "MatMul" && node->op_type() != "Gemm") || constants_.count(node->output(0)) != 0) continue;
      Matrix m;
      std::vector<double> added;
      if (!product(*node, &m, &added)) return std::nullopt;
      const std::string from = source(node->input(0));
      if (from == step_.x) {
        if (out.w.rows != 0) return std::nullopt;
        out.w = m;
        out.wb = added;
        products_[node->output(0)] = 1;
      } else if (from == h) {
        if (out.r.rows != 0) return std::nullopt;
        out.r = m;
        out.rb = added;
        products_[node->output(0)] = 2;
      } else {
        inner.push_back(m);
        if (!added.empty()) return std::nullopt;
      }
    }
    if (out.w.rows == 0 || out.r.rows == 0 || inner.size() > 1) return std::nullopt;
    if (inner.size() == 1 && !join(&out.r, inner[0])) return std::nullopt;
    out.hidden = out.r.rows;
    if (out.w.columns != out.r.columns || out.r.columns % out.hidden != 0) return std::nullopt;
    out.gates = out.w.columns / out.hidden;
    for (std::vector<double> *bias : {&out.wb, &out.rb, &out.both}) bias->resize(static_cast<size_t>(out.w.columns), 0.0);
    return add_biases(&out) ? std::optional<Affine>(out) : std::nullopt;
  }

  // The step's results at these operands.
  std::vector<Tensor> run(const std::map<std::string, Tensor> &given, const std::vector<std::string> &wanted) const {
    std::map<std::string, std::shared_ptr<const Tensor>> known = constants_;
    for (const auto &each : given) known[each.first] = std::make_shared<const Tensor>(each.second);
    for (const NodeProto *node : step_.nodes) {
      std::vector<const Tensor *> in;
      bool ready = true;
      for (const std::string &name : node->input()) {
        const auto found = known.find(name);
        ready = ready && (name.empty() || found != known.end());
        in.push_back(ready && !name.empty() ? found->second.get() : nullptr);
      }
      if (!ready) continue;
      std::vector<Tensor> out = eval_node(*node, step_.opset, in);
      for (size_t i = 0; i < out.size(); ++i)
        known[node->output(static_cast<int>(i))] = std::make_shared<const Tensor>(std::move(out[i]));
    }
    std::vector<Tensor> results;
    for (const std::string &name : wanted) {
      if (known.count(name) == 0) throw Refusal("the step does not make " + quote(name));
      results.push_back(*known.at(name));
    }
    return results;
  }

 private:
  // Constants made of constants.
  void fold() {
    for (const NodeProto *node : step_.nodes) {
      std::vector<const Tensor *> in;
      bool known = find_eval(node->op_type()) != nullptr;
      for (const std::string &name : node->input()) {
        const auto found = constants_.find(name);
        known = known && (name.empty() || found != constants_.end());
        in.push_back(known && !name.empty() ? found->second.get() : nullptr);
      }
      if (!known) continue;
      std::vector<Tensor> out = eval_node(*node, step_.opset, in);
      for (size_t i = 0; i < out.size(); ++i)
        constants_[node->output(static_cast<int>(i))] = std::make_shared<const Tensor>(std::move(out[i]));
    }
  }

  // A name without the Identities before it.
  std::string source(std::string name) const {
    for (size_t i = 0; i < step_.nodes.size(); ++i) {
      const auto maker = std::find_if(step_.nodes.begin(), step_.nodes.end(), [&](const NodeProto *node) {
        return node->op_type() == "Identity" && node->output_size() == 1 && node->output(0) == name;
      });
      if (maker == step_.nodes.end()) break;
      name = (*maker)->input(0);
    }
    return name;
  }

  bool product(const NodeProto &node, Matrix *m, std::vector<double> *added) const {
    if (node.input_size() < 2 || constants_.count(node.input(1)) == 0) return false;
    const Tensor &t = *constants_.at(node.input(1));
    if (t.rank() != 2) return false;
    const Attributes a(node);
    const bool gemm = node.op_type() == "Gemm", transposed = gemm && a.integer("transB", 0) != 0;
    if (gemm && (a.integer("transA", 0) != 0 || a.real("alpha", 1) != 1 || a.real("beta", 1) != 1)) return false;
    *m = {t.shape[transposed ? 1 : 0], t.shape[transposed ? 0 : 1], t.data};
    if (transposed) {
      for (int64_t r = 0; r < m->rows; ++r) {
        for (int64_t c = 0; c < m->columns; ++c)
          m->data[static_cast<size_t>(r * m->columns + c)] = t.data[static_cast<size_t>(c * m->rows + r)];
      }
    }
    if (!gemm || node.input_size() < 3 || node.input(2).empty()) return true;
    return vector_of(node.input(2), m->columns, added);
  }

  bool vector_of(const std::string &name, int64_t size, std::vector<double> *out) const {
    const auto found = constants_.find(name);
    if (found == constants_.end() || found->second->size() != size || found->second->shape.back() != size) return false;
    out->resize(static_cast<size_t>(size), 0.0);
    for (size_t i = 0; i < out->size(); ++i) (*out)[i] += found->second->data[i];
    return true;
  }

  // The candidate's own product behind those of the gates.
  static bool join(Matrix *r, const Matrix &more) {
    if (more.rows != r->rows || more.columns != r->rows) return false;
    Matrix out = {r->rows, r->columns + more.columns, {}};
    for (int64_t i = 0; i < r->rows; ++i) {
      for (int64_t c = 0; c < out.columns; ++c) out.data.push_back(c < r->columns ? r->at(i, c) : more.at(i, c - r->columns));
    }
    *r = out;
    return true;
  }

  // What is added to the products, alone or together.
  bool add_biases(Affine *a) {
    for (const NodeProto *node : step_.nodes) {
      if (node->op_type() != "Add" || node->input_size() != 2 || constants_.count(node->output(0)) != 0) continue;
      const auto kind = [&](int i) {
        const auto found = products_.find(source(node->input(i)));
        return found == products_.end() ? 0 : found->second;
      };
      const int kinds[2] = {kind(0), kind(1)};
      if (kinds[0] != 0 && kinds[1] != 0) products_[node->output(0)] = 3;
      for (int i = 0; i < 2; ++i) {
        if (kinds[i] == 0 || kinds[1 - i] != 0) continue;
        std::vector<double> *to = kinds[i] == 1 ? &a->wb : kinds[i] == 2 ? &a->rb : &a->both;
        if (constants_.count(node->input(1 - i)) == 0) continue;
        if (!vector_of(node->input(1 - i), a->w.columns, to)) return false;
        products_[node->output(0)] = kinds[i];
      }
    }
    return true;
  }

  const StepGraph &step_;
  Constants constants_;
  std::map<std::string, int> products_;  // 1: of x, 2: of h, 3: their sum
};

struct Gate {
  const char *name;
  double alpha, beta;
  double operator()(double x) const {
    if (alpha == 0) return 1 / (1 + std::exp(-x));
    return std::clamp(alpha * x + beta, 0.0, 1.0);
  }
};
constexpr Gate kGates[] = {{"Sigmoid", 0, 0}, {"HardSigmoid", 1.0 / 6, 0.5}, {"HardSigmoid", 0.2, 0.5}};

struct Squash {
  const char *name;
  double (*of)(double);
};
const Squash kSquashes[] = {{"Tanh", [](double x) { return std::tanh(x); }},
                            {"Relu", [](double x) { return std::max(x, 0.0); }},
                            {"Sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }}};

// The step's own numbers, and the sums that a layer would work on.
struct Trial {
  const Affine *a;
  std::vector<double> x, h, c, h_next, c_next;  // [kTrials][I], [kTrials][H]
  std::vector<double> xs, hs;                   // [kTrials][G H]: products with their own biases

  double sum(int64_t n, int64_t gate, int64_t unit) const {
    const size_t at = static_cast<size_t>(n * a->w.columns + gate * a->hidden + unit);
    return xs[at] + hs[at] + a->both[static_cast<size_t>(gate * a->hidden + unit)];
  }
};

bool near(double a, double b) {
  return std::fabs(a - b) <= kSame * std::max(1.0, std::fabs(b));
}

// `f` gives the next h at a trial and unit; true when it is the step's everywhere.
template <typename Next>
bool gives(const Trial &t, const std::vector<double> &next, Next f) {
  for (int64_t n = 0; n < kTrials; ++n) {
    for (int64_t u = 0; u < t.a->hidden; ++u) {
      if (!near(f(n, u), next[static_cast<size_t>(n * t.a->hidden + u)])) return false;
    }
  }
  return true;
}

double state(const std::vector<double> &s, const Trial &t, int64_t n, int64_t u) {
  return s[static_cast<size_t>(n * t.a->hidden + u)];
}

// Which part of the step's products ONNX's gate g is, and whether its sign is the other way.
struct Layout {
  std::vector<int64_t> part;
  bool negated_first = false;
};

bool find_rnn(const Trial &t, MatchedCell *cell, Layout *layout) {
  for (const Squash &f : kSquashes) {
    if (!gives(t, t.h_next, [&](int64_t n, int64_t u) { return f.of(t.sum(n, 0, u)); })) continue;
    cell->op = "RNN";
    cell->activations = {f.name};
    layout->part = {0};
    return true;
  }
  return false;
}

void set_gates(const Gate &gate, MatchedCell *cell) {
  if (gate.alpha == 0) return;
  cell->alphas = {static_cast<float>(gate.alpha)};
  cell->betas = {static_cast<float>(gate.beta)};
}

bool find_lstm(const Trial &t, MatchedCell *cell, Layout *layout) {
  std::vector<int64_t> p = {0, 1, 2, 3};  // i o f c
  do {
    for (const Gate &gate : kGates) {
      for (const Squash &f : kSquashes) {
        const auto c_of = [&](int64_t n, int64_t u) {
          return gate(t.sum(n, p[2], u)) * state(t.c, t, n, u) + gate(t.sum(n, p[0], u)) * f.of(t.sum(n, p[3], u));
        };
        if (!gives(t, t.c_next, c_of)) continue;
        for (const Squash &g : kSquashes) {
          if (!gives(t, t.h_next, [&](int64_t n, int64_t u) { return gate(t.sum(n, p[1], u)) * g.of(c_of(n, u)); })) continue;
          cell->op = "LSTM";
          cell->activations = {gate.name, f.name, g.name};
          set_gates(gate, cell);
          layout->part = p;
          return true;
        }
      }
    }
  } while (std::next_permutation(p.begin(), p.end()));
  return false;
}

// r multiplied with h before the product: the candidate's product is made again.
double reset_before(const Trial &t, const std::vector<int64_t> &p, const Gate &gate, int64_t n, int64_t u) {
  const int64_t hidden = t.a->hidden, column = p[2] * hidden + u;
  double sum = t.xs[static_cast<size_t>(n * t.a->w.columns + column)] + t.a->both[static_cast<size_t>(column)] +
               t.a->rb[static_cast<size_t>(column)];
  for (int64_t k = 0; k < hidden; ++k) sum += gate(t.sum(n, p[1], k)) * state(t.h, t, n, k) * t.a->r.at(k, column);
  return sum;
}

bool find_gru(const Trial &t, MatchedCell *cell, Layout *layout) {
  std::vector<int64_t> p = {0, 1, 2};  // z r h
  do {
    for (const Gate &gate : kGates) {
      for (const Squash &f : kSquashes) {
        for (int way = 0; way < 4; ++way) {
          const bool linear = (way & 1) != 0, negated = (way & 2) != 0;
          const auto next = [&](int64_t n, int64_t u) {
            const size_t at = static_cast<size_t>(n * t.a->w.columns + p[2] * t.a->hidden + u);
            const double inner = linear ? t.xs[at] + gate(t.sum(n, p[1], u)) * t.hs[at] : reset_before(t, p, gate, n, u);
            const double z = gate(t.sum(n, p[0], u)), keep = negated ? 1 - z : z;
            return (1 - keep) * f.of(inner) + keep * state(t.h, t, n, u);
          };
          if (!gives(t, t.h_next, next)) continue;
          cell->op = "GRU";
          cell->linear_before_reset = linear;
          cell->activations = {gate.name, f.name};
          set_gates(gate, cell);
          *layout = {p, negated};
          return true;
        }
      }
    }
  } while (std::next_permutation(p.begin(), p.end()));
  return false;
}

std::vector<double> sums(const Matrix &m, const std::vector<double> &rows, const std::vector<double> &bias) {
  std::vector<double> out;
  for (int64_t n = 0; n < kTrials; ++n) {
    for (int64_t c = 0; c < m.columns; ++c) {
      double sum = bias[static_cast<size_t>(c)];
      for (int64_t k = 0; k < m.rows; ++k) sum += rows[static_cast<size_t>(n * m.rows + k)] * m.at(k, c);
      out.push_back(sum);
    }
  }
  return out;
}

// ONNX's W, R and B.
void write_weights(const Affine &a, const Layout &layout, MatchedCell *cell) {
  const int64_t h = a.hidden, rows = a.gates * h;
  cell->hidden = h;
  cell->w = Tensor(Elem::kFloat, {1, rows, a.w.rows});
  cell->r = Tensor(Elem::kFloat, {1, rows, h});
  cell->b = Tensor(Elem::kFloat, {1, 2 * rows});
  for (int64_t g = 0; g < a.gates; ++g) {
    const double sign = g == 0 && layout.negated_first ? -1 : 1;
    for (int64_t u = 0; u < h; ++u) {
      const int64_t to = g * h + u, from = layout.part[static_cast<size_t>(g)] * h + u;
      for (int64_t k = 0; k < a.w.rows; ++k) cell->w.data[static_cast<size_t>(to * a.w.rows + k)] = sign * a.w.at(k, from);
      for (int64_t k = 0; k < h; ++k) cell->r.data[static_cast<size_t>(to * h + k)] = sign * a.r.at(k, from);
      const size_t at = static_cast<size_t>(from);
      cell->b.data[static_cast<size_t>(to)] = sign * (a.wb[at] + a.both[at]);
      cell->b.data[static_cast<size_t>(rows + to)] = sign * a.rb[at];
    }
  }
}

Tensor random_rows(int64_t width, std::mt19937 *random) {
  std::normal_distribution<double> normal(0, 1);
  Tensor t(Elem::kFloat, {kTrials, width});
  for (size_t i = 0; i < t.data.size(); ++i) t.data[i] = kScales[static_cast<int64_t>(i) / width] * normal(*random);
  return t;
}

// Operators that a cell may be written in: what takes a different way for some operands is not known by trying.
bool may_be_cell(const StepGraph &step) {
  static const std::set<std::string> kOps = {"MatMul",  "Gemm",      "Add",      "Sub",     "Mul",         "Div",
                                             "Neg",     "Sigmoid",   "Tanh",     "Relu",    "HardSigmoid", "Clip",
                                             "Split",   "Slice",     "Identity", "Squeeze", "Concat",      "Unsqueeze",
                                             "Reshape", "Transpose", "Constant", "Flatten", "Gather",      "Reciprocal"};
  std::set<std::string> wanted(step.after.begin(), step.after.end());
  for (size_t i = step.nodes.size(); i-- > 0;) {
    const NodeProto &node = *step.nodes[i];
    if (std::none_of(node.output().begin(), node.output().end(), [&](const std::string &name) { return wanted.count(name) != 0; }))
      continue;
    if (kOps.count(node.op_type()) == 0) return false;
    wanted.insert(node.input().begin(), node.input().end());
  }
  return true;
}

std::optional<MatchedCell> match_with(const StepGraph &step, size_t h) {
  Reader reader(step);
  const std::optional<Affine> affine = reader.read(step.before[h]);
  const size_t states = step.before.size(), c = states == 2 ? 1 - h : 0;
  if (!affine || (states == 2) != (affine->gates == 4) || (affine->gates != 1 && affine->gates != 3 && affine->gates != 4))
    return std::nullopt;
  std::mt19937 random(7);
  Trial t{&*affine, {}, {}, {}, {}, {}, {}, {}};
  std::map<std::string, Tensor> given;
  given[step.x] = random_rows(affine->w.rows, &random);
  for (const std::string &name : step.before) given[name] = random_rows(affine->hidden, &random);
  const std::vector<Tensor> next = reader.run(given, step.after);
  for (const Tensor &each : next) {
    if (each.shape != Shape{kTrials, affine->hidden}) return std::nullopt;
  }
  t.x = given[step.x].data;
  t.h = given[step.before[h]].data;
  t.c = given[step.before[c]].data;
  t.h_next = next[h].data;
  t.c_next = next[c].data;
  t.xs = sums(affine->w, t.x, affine->wb);
  t.hs = sums(affine->r, t.h, affine->rb);
  MatchedCell cell;
  Layout layout;
  const bool found = affine->gates == 1   ? find_rnn(t, &cell, &layout)
                     : affine->gates == 3 ? find_gru(t, &cell, &layout)
                                          : find_lstm(t, &cell, &layout);
  if (!found) return std::nullopt;
  cell.h = h;
  cell.c = c;
  write_weights(*affine, layout, &cell);
  return cell;
}

}  // namespace

std::optional<MatchedCell> match_cell(const StepGraph &step) {
  if (step.before.empty() || step.before.size() > 2 || step.before.size() != step.after.size() || !may_be_cell(step))
    return std::nullopt;
  for (size_t h = 0; h < step.before.size(); ++h) {
    try {
      if (std::optional<MatchedCell> cell = match_with(step, h)) return cell;
    } catch (const Refusal &) {
      // Not a step of dense operators on rows.
    }
  }
  return std::nullopt;
}

}  // namespace rnnp::compiler
