// match_cell.cpp -- Contract: match_cell.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/rewrites/match_cell.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include "compiler/onnx/problem.h"
#include "compiler/onnx/refusal_of.h"
#include "compiler/rewrites/match_norm_cell.h"
#include "compiler/rewrites/step_sums.h"

namespace rnnp::compiler {
namespace {

// Rows of x and h. Small ones tell the equations apart, large ones what bounds a value far out.
constexpr int64_t kTrials = 6;
constexpr double kScales[kTrials] = {1, 1, 0.3, 8, 60, 1000};
constexpr double kSame = 1e-6;

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
  const StepSums *a;
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

// Rows of ONNX's W or R: column `from` of what the step multiplies by.
void write_row(const Matrix &m, int64_t from, double sign, int64_t to, Tensor *out) {
  for (int64_t k = 0; k < m.rows; ++k) {
    const size_t at = static_cast<size_t>(to * m.rows + k);
    out->data[at] = sign * m.at(k, from);
    if (!m.steps.empty()) out->steps[at] = m.steps[static_cast<size_t>(k * m.columns + from)];
  }
}

Tensor matrix_like(const Matrix &m, int64_t rows) {
  Tensor out(Elem::kFloat, {1, rows, m.rows});
  out.file_type = m.file_type;
  if (!m.steps.empty()) out.steps.resize(out.data.size());
  return out;
}

// ONNX's W, R and B.
void write_weights(const StepSums &a, const Layout &layout, MatchedCell *cell) {
  const int64_t h = a.hidden, rows = a.gates * h;
  cell->hidden = h;
  cell->w = matrix_like(a.w, rows);
  cell->r = matrix_like(a.r, rows);
  cell->b = Tensor(Elem::kFloat, {1, 2 * rows});
  for (int64_t g = 0; g < a.gates; ++g) {
    const double sign = g == 0 && layout.negated_first ? -1 : 1;
    for (int64_t u = 0; u < h; ++u) {
      const int64_t to = g * h + u, from = layout.part[static_cast<size_t>(g)] * h + u;
      write_row(a.w, from, sign, to, &cell->w);
      write_row(a.r, from, sign, to, &cell->r);
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

// A Clip in two parts.
bool is_bounded(const OnnxNode &node, const std::set<std::string> &fixed) {
  const bool bounds = node.op_type() == "Min" || node.op_type() == "Max";
  return bounds && node.input_size() == 2 && (fixed.count(node.input(0)) != 0 || fixed.count(node.input(1)) != 0);
}

// Operators that a cell may be written in: what takes a different way for some operands is not known by trying.
bool may_be_cell(const StepGraph &step) {
  static const std::set<std::string> kOps = {"MatMul",  "Gemm",      "Add",      "Sub",     "Mul",         "Div",
                                             "Neg",     "Sigmoid",   "Tanh",     "Relu",    "HardSigmoid", "Clip",
                                             "Split",   "Slice",     "Identity", "Squeeze", "Concat",      "Unsqueeze",
                                             "Reshape", "Transpose", "Flatten",  "Gather",  "Reciprocal",  "DequantizeLinear"};
  std::set<std::string> wanted(step.after.begin(), step.after.end());
  const std::set<std::string> fixed = computed_constants(step.nodes, step.constants);
  for (size_t i = step.nodes.size(); i-- > 0;) {
    const OnnxNode &node = *step.nodes[i];
    if (std::none_of(node.output().begin(), node.output().end(), [&](const std::string &name) { return wanted.count(name) != 0; }))
      continue;
    if (kOps.count(node.op_type()) == 0 && !names_again(node) && !is_bounded(node, fixed) && fixed.count(node.output(0)) == 0)
      return false;
    wanted.insert(node.input().begin(), node.input().end());
  }
  return true;
}

std::optional<MatchedCell> match_with(const StepGraph &step, size_t h) {
  const std::optional<StepSums> affine = read_sums(step, step.before[h]);
  const size_t states = step.before.size(), c = states == 2 ? 1 - h : 0;
  if (!affine || (states == 2) != (affine->gates == 4) || (affine->gates != 1 && affine->gates != 3 && affine->gates != 4))
    return std::nullopt;
  std::mt19937 random(7);
  Trial t{&*affine, {}, {}, {}, {}, {}, {}, {}};
  std::map<std::string, Tensor> given;
  given[step.x] = random_rows(affine->w.rows, &random);
  for (const std::string &name : step.before) given[name] = random_rows(affine->hidden, &random);
  const std::vector<Tensor> next = run_step(step, given, step.after);
  for (const Tensor &each : next) {
    if (each.shape != Shape{kTrials, affine->hidden}) return std::nullopt;
  }
  t.x = given[step.x].data.copied();
  t.h = given[step.before[h]].data.copied();
  t.c = given[step.before[c]].data.copied();
  t.h_next = next[h].data.copied();
  t.c_next = next[c].data.copied();
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
  if (step.before.empty() || step.before.size() > 2 || step.before.size() != step.after.size()) return std::nullopt;
  if (!may_be_cell(step)) return match_norm_cell(step);
  for (size_t h = 0; h < step.before.size(); ++h) {
    std::optional<MatchedCell> cell;
    // What the evaluator refuses is no step of dense operators on rows.
    if (!refusal_of([&] { cell = match_with(step, h); }) && cell) return cell;
  }
  return std::nullopt;
}

}  // namespace rnnp::compiler
