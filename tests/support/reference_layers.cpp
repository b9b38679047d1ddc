// reference_layers.cpp -- see reference_layers.h.
// SPDX-License-Identifier: Apache-2.0
#include "support/reference_layers.h"

#include <algorithm>
#include <cmath>

namespace rnnp_test {

using rnnp::Cell;

namespace {

// One row of one direction: its state, and the gates' pre-activations W x + Wb.
struct Row {
  std::vector<double> h, c;
};

double dot(const double *m, const double *v, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += m[i] * v[i];
  return sum;
}

struct Step {
  const RecurrentLayer &l;
  const DirectionWeights &d;
  const double *x;
  Row *row;

  double in(size_t g, size_t u) const { return dot(&d.w[(g * l.hidden + u) * l.input], x, l.input) + d.wb[g * l.hidden + u]; }
  double rec(size_t g, size_t u, const std::vector<double> &h) const {
    return dot(&d.r[(g * l.hidden + u) * l.hidden], h.data(), l.hidden);
  }
  double rb(size_t g, size_t u) const { return d.rb[g * l.hidden + u]; }
  double sum(size_t g, size_t u) const { return in(g, u) + rec(g, u, row->h) + rb(g, u); }
  CellRules rules() const { return {d.act, l.clip, l.input_forget}; }
  double peephole(size_t g, size_t u) const { return d.p.empty() ? 0 : d.p[g * l.hidden + u]; }

  void rnn() {
    std::vector<double> next(l.hidden);
    for (size_t u = 0; u < l.hidden; ++u) next[u] = rules().f(sum(0, u));
    row->h = next;
  }

  void lstm() {
    std::vector<double> h(l.hidden), c(l.hidden);
    for (size_t u = 0; u < l.hidden; ++u) {
      const LstmUnit unit = lstm_unit(rules(), {sum(0, u), sum(1, u), sum(2, u), sum(3, u)},
                                      {peephole(0, u), peephole(1, u), peephole(2, u)}, row->c[u]);
      h[u] = unit.h;
      c[u] = unit.c;
    }
    row->h = h;
    row->c = c;
  }

  // (v - mean) / sqrt(variance + epsilon) of so many numbers at a time.
  static void normalise(std::vector<double> *v, size_t count, double epsilon) {
    for (size_t first = 0; first < v->size(); first += count) {
      double mean = 0, variance = 0;
      for (size_t i = first; i < first + count; ++i) mean += (*v)[i] / static_cast<double>(count);
      for (size_t i = first; i < first + count; ++i) variance += std::pow((*v)[i] - mean, 2) / static_cast<double>(count);
      for (size_t i = first; i < first + count; ++i) (*v)[i] = ((*v)[i] - mean) / std::sqrt(variance + epsilon);
    }
  }

  void lstm_norm() {
    const size_t units = l.hidden, all = 4 * units, span = l.by_gate ? units : all;
    const bool joint = d.h_scale.empty();
    std::vector<double> pre(all), of_h(all), raw(units);
    for (size_t i = 0; i < all; ++i) {
      of_h[i] = rec(i / units, i % units, row->h) + rb(i / units, i % units);
      pre[i] = in(i / units, i % units) + (joint ? of_h[i] : 0);
    }
    normalise(&pre, span, kNormEpsilons[0]);
    normalise(&of_h, span, kNormEpsilons[1]);
    for (size_t i = 0; i < all; ++i) pre[i] = pre[i] * d.x_scale[i] + d.norm_bias[i] + (joint ? 0 : of_h[i] * d.h_scale[i]);
    for (size_t u = 0; u < units; ++u)
      raw[u] = rules().f(pre[2 * units + u]) * row->c[u] + rules().f(pre[u]) * rules().g(pre[3 * units + u]);
    row->c = raw;
    normalise(&raw, units, kNormEpsilons[2]);
    for (size_t u = 0; u < units; ++u) {
      const double c = raw[u] * d.c_scale[u] + d.c_bias[u];
      if (!l.keeps_c) row->c[u] = c;
      row->h[u] = rules().f(pre[units + u]) * rules().h(c);
    }
  }

  void gru() {
    std::vector<double> r(l.hidden), rh(l.hidden), h(l.hidden);
    for (size_t u = 0; u < l.hidden; ++u) {
      r[u] = rules().f(sum(1, u));
      rh[u] = r[u] * row->h[u];
    }
    for (size_t u = 0; u < l.hidden; ++u) {
      const double recurrent = l.cell == Cell::kGruLinear ? r[u] * (rec(2, u, row->h) + rb(2, u)) : rec(2, u, rh) + rb(2, u);
      h[u] = gru_unit(rules(), rules().f(sum(0, u)), in(2, u) + recurrent, row->h[u]);
    }
    row->h = h;
  }
};

}  // namespace

RecurrentResult run_recurrent(const RecurrentLayer &l, const std::vector<double> &x, size_t steps, size_t batch,
                              const std::vector<int32_t> &lengths, const std::vector<double> &h0, const std::vector<double> &c0) {
  const size_t dirs = l.directions.size(), width = dirs * l.hidden;
  RecurrentResult out = {std::vector<double>(steps * batch * width), std::vector<double>(batch * width),
                         std::vector<double>(batch * width)};
  for (size_t d = 0; d < dirs; ++d) {
    const DirectionWeights &dw = l.directions[d];
    for (size_t b = 0; b < batch; ++b) {
      Row row = {dw.h0.empty() ? std::vector<double>(l.hidden) : dw.h0, dw.c0.empty() ? std::vector<double>(l.hidden) : dw.c0};
      const size_t at = b * width + d * l.hidden;
      if (!h0.empty()) row.h.assign(h0.begin() + at, h0.begin() + at + l.hidden);
      if (!c0.empty()) row.c.assign(c0.begin() + at, c0.begin() + at + l.hidden);
      const size_t length = lengths.empty() ? steps : static_cast<size_t>(lengths[b]);
      for (size_t i = 0; i < length; ++i) {
        const size_t t = dw.reverse ? length - 1 - i : i;
        const double *at_x = &x[(t * batch + b) * (l.input + (l.masked ? 1 : 0))];
        Step step = {l, dw, at_x, &row};
        if (l.masked && at_x[l.input] == 0) {
        } else if (l.cell == Cell::kLstmNorm) {
          step.lstm_norm();
        } else if (l.cell == Cell::kLstm) {
          step.lstm();
        } else if (l.cell == Cell::kRnn) {
          step.rnn();
        } else {
          step.gru();
        }
        std::copy(row.h.begin(), row.h.end(), out.y.begin() + (t * batch + b) * width + d * l.hidden);
      }
      std::copy(row.h.begin(), row.h.end(), out.y_h.begin() + at);
      std::copy(row.c.begin(), row.c.end(), out.y_c.begin() + at);
    }
  }
  return out;
}

std::vector<double> run_dense(const DenseLayer &l, const std::vector<double> &x) {
  const size_t rows = x.size() / l.input;
  std::vector<double> y(rows * l.output);
  for (size_t r = 0; r < rows; ++r)
    for (size_t o = 0; o < l.output; ++o)
      y[r * l.output + o] = apply_act(l.act, dot(&l.w[o * l.input], &x[r * l.input], l.input) + l.b[o]);
  return y;
}

}  // namespace rnnp_test
