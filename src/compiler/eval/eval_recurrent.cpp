// eval_recurrent.cpp -- RNN, GRU and LSTM in double, step by step from the ONNX equations. Contract: eval.h, evaluated_layer.h.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compiler/eval/evaluated_layer.h"
#include "compiler/eval/range_watch.h"
#include "compiler/eval/roundings.h"

namespace rnnp::compiler {
namespace {

using Row = RecurrentLayer::Row;

class Layer : public RecurrentLayer {
 public:
  using RecurrentLayer::RecurrentLayer;

  // x W_g^T + Wb_g and h R_g^T + Rb_g of one gate.
  Row from_input(const CellWeights &m, int64_t gate, const double *x) const { return affine(m.w, m.wb, gate, x, sizes().inputs); }
  Row from_state(const CellWeights &m, int64_t gate, const double *h) const { return affine(m.r, m.rb, gate, h, sizes().hidden); }

 private:
  Row affine(NumberPointer m, const double *bias, int64_t gate, const double *v, int64_t n) const {
    return m.as_they_are([&](const auto *at) { return affine_of(at, bias, gate, v, n); });
  }

  template <class Number>
  Row affine_of(const Number *m, const double *bias, int64_t gate, const double *v, int64_t n) const {
    const int64_t hidden = sizes().hidden;
    Row out(static_cast<size_t>(hidden));
    for (int64_t u = 0; u < hidden; ++u) {
      // Four sums: one would wait for itself at every addition.
      const Number *row = m + (gate * hidden + u) * n;
      double sums[4] = {bias ? bias[gate * hidden + u] : 0, 0, 0, 0};
      int64_t k = 0;
      for (; k + 4 <= n; k += 4) {
        for (int64_t i = 0; i < 4; ++i) sums[i] += static_cast<double>(row[k + i]) * v[k + i];
      }
      for (; k < n; ++k) sums[0] += static_cast<double>(row[k]) * v[k];
      out[static_cast<size_t>(u)] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
    return out;
  }
};

template <typename Step>
void run(EvalCall &call, Step step) {
  const Layer layer(call);
  Tensor y(Elem::kFloat, layer.y_shape()), y_h(Elem::kFloat, layer.state_shape()), y_c(Elem::kFloat, layer.state_shape());
  for (int64_t d = 0; d < layer.sizes().directions; ++d) {
    for (int64_t b = 0; b < layer.sizes().batch; ++b) {
      Row h = layer.initial(5, d, b), c = layer.is_lstm() ? layer.initial(6, d, b) : Row();
      const int64_t length = layer.row_length(b);
      for (int64_t n = 0; n < length; ++n) {
        const int64_t t = layer.step_at(d, n, length);
        step(layer, layer.weights(d), layer.x_row(t, b), &h, &c);
        for (const Row *state : {&h, &c}) std::for_each(state->begin(), state->end(), RangeWatch::see);
        RangeWatch::end_step(t);
        std::copy(h.begin(), h.end(), y.data.begin() + layer.y_at(t, d, b));
      }
      std::copy(h.begin(), h.end(), y_h.data.begin() + layer.state_at(d, b));
      std::copy(c.begin(), c.end(), y_c.data.begin() + layer.state_at(d, b));
    }
  }
  call.give(0, std::move(y));
  call.give(1, std::move(y_h));
  if (layer.is_lstm()) call.give(2, std::move(y_c));
}

void rnn_step(const Layer &layer, const CellWeights &m, const double *x, Row *h, Row *) {
  const Row a = layer.from_input(m, 0, x), b = layer.from_state(m, 0, h->data());
  for (size_t u = 0; u < h->size(); ++u) (*h)[u] = layer.squash(m.act[0], a[u] + b[u]);
}

void gru_step(const Layer &layer, const CellWeights &m, const double *x, Row *h, Row *) {
  const size_t n = h->size();
  const Row xz = layer.from_input(m, 0, x), xr = layer.from_input(m, 1, x), xh = layer.from_input(m, 2, x);
  const Row hz = layer.from_state(m, 0, h->data()), hr = layer.from_state(m, 1, h->data());
  Row z(n), r(n), gated(n);
  for (size_t u = 0; u < n; ++u) {
    z[u] = layer.squash(m.act[0], xz[u] + hz[u]);
    r[u] = layer.squash(m.act[0], xr[u] + hr[u]);
    gated[u] = r[u] * (*h)[u];
  }
  Row hh = layer.from_state(m, 2, layer.linear_before_reset() ? h->data() : gated.data());
  for (size_t u = 0; u < n; ++u) {
    if (layer.linear_before_reset()) hh[u] *= r[u];
    const double candidate = layer.squash(m.act[1], xh[u] + hh[u]);
    (*h)[u] = Roundings::of((1 - z[u]) * candidate) + Roundings::of(z[u] * (*h)[u]);
  }
}

void lstm_step(const Layer &layer, const CellWeights &m, const double *x, Row *h, Row *c) {
  const size_t n = h->size();
  Row pre[4];
  for (int64_t gate = 0; gate < 4; ++gate) {
    pre[gate] = layer.from_input(m, gate, x);
    const Row state = layer.from_state(m, gate, h->data());
    for (size_t u = 0; u < n; ++u) pre[gate][u] += state[u];
  }
  for (size_t u = 0; u < n; ++u) {
    const double old = (*c)[u];
    const double i = layer.squash(m.act[0], pre[0][u] + (m.p ? m.p[u] * old : 0));
    const double f = layer.input_forget() ? 1 - i : layer.squash(m.act[0], pre[2][u] + (m.p ? m.p[2 * n + u] * old : 0));
    const double g = layer.squash(m.act[1], pre[3][u]);
    (*c)[u] = Roundings::of(f * old) + Roundings::of(i * g);
    const double o = layer.squash(m.act[0], pre[1][u] + (m.p ? m.p[n + u] * (*c)[u] : 0));
    (*h)[u] = o * activate(m.act[2], (*c)[u]);
  }
}

void rnn(EvalCall &call) {
  run(call, rnn_step);
}
void gru(EvalCall &call) {
  run(call, gru_step);
}
void lstm(EvalCall &call) {
  run(call, lstm_step);
}

}  // namespace

const std::vector<EvalRow> kEvalRecurrent = {{"RNN", rnn}, {"GRU", gru}, {"LSTM", lstm}};

}  // namespace rnnp::compiler
