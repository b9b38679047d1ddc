// eval_recurrent.cpp -- RNN, GRU and LSTM in double, step by step from the ONNX equations. Contract: eval.h.
// A row of length L runs steps 0..L-1 (reverse: L-1..0); Y is 0 from L on; Y_h and Y_c are the state after its last step, and
// the initial state when L is 0.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "compiler/eval/eval.h"
#include "compiler/onnx/activation.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

struct Sizes {
  int64_t steps, batch, inputs, hidden, directions, gates;
  bool batch_first;
};

using Row = std::vector<double>;

// What one direction reads; P order i o f, gate order of the ONNX text.
struct CellWeights {
  const double *w, *r;
  const double *wb = nullptr, *rb = nullptr, *p = nullptr;
  const Activation *act;
};

class Layer {
 public:
  explicit Layer(EvalCall &call, int64_t gates, std::vector<Act> defaults) : call_(call) {
    read_sizes(gates);
    clip_ = call.attributes.real("clip", 0);
    linear_before_reset_ = call.attributes.integer("linear_before_reset", 0) != 0;
    input_forget_ = call.attributes.integer("input_forget", 0) != 0;
    acts_ = recurrent_activations(call.attributes, defaults, static_cast<size_t>(s_.directions));
    per_direction_ = defaults.size();
  }

  template <typename Step>
  void run(Step step) {
    const bool is_lstm = s_.gates == 4;
    Tensor y(Elem::kFloat, s_.batch_first ? Shape{s_.batch, s_.steps, s_.directions, s_.hidden}
                                          : Shape{s_.steps, s_.directions, s_.batch, s_.hidden});
    const Shape state = s_.batch_first ? Shape{s_.batch, s_.directions, s_.hidden} : Shape{s_.directions, s_.batch, s_.hidden};
    Tensor y_h(Elem::kFloat, state), y_c(Elem::kFloat, state);
    for (int64_t d = 0; d < s_.directions; ++d) {
      for (int64_t b = 0; b < s_.batch; ++b) {
        Row h = initial(5, d, b), c = is_lstm ? initial(6, d, b) : Row();
        const int64_t length = row_length(b);
        for (int64_t n = 0; n < length; ++n) {
          const int64_t t = reverse(d) ? length - 1 - n : n;
          step(*this, weights(d), x_row(t, b), &h, &c);
          std::copy(h.begin(), h.end(), y.data.begin() + y_at(t, d, b));
        }
        std::copy(h.begin(), h.end(), y_h.data.begin() + state_at(d, b));
        std::copy(c.begin(), c.end(), y_c.data.begin() + state_at(d, b));
      }
    }
    call_.give(0, std::move(y));
    call_.give(1, std::move(y_h));
    if (is_lstm) call_.give(2, std::move(y_c));
  }

  // x W_g^T + Wb_g and h R_g^T + Rb_g of one gate.
  Row from_input(const CellWeights &m, int64_t gate, const double *x) const { return affine(m.w, m.wb, gate, x, s_.inputs); }
  Row from_state(const CellWeights &m, int64_t gate, const double *h) const { return affine(m.r, m.rb, gate, h, s_.hidden); }
  double squash(const Activation &f, double x) const {
    if (clip_ > 0 && !std::isnan(x)) x = std::min(std::max(x, -clip_), clip_);
    return activate(f, x);
  }
  int64_t hidden() const { return s_.hidden; }
  bool linear_before_reset() const { return linear_before_reset_; }
  bool input_forget() const { return input_forget_; }

 private:
  void read_sizes(int64_t gates) {
    const Tensor &x = call_.input(0), &w = call_.input(1), &r = call_.input(2);
    if (x.rank() != 3 || w.rank() != 3 || r.rank() != 3) throw Refusal("X, W and R must have rank 3");
    s_.batch_first = call_.attributes.integer("layout", 0) != 0;
    s_.steps = x.shape[s_.batch_first ? 1 : 0];
    s_.batch = x.shape[s_.batch_first ? 0 : 1];
    s_.inputs = x.shape[2];
    s_.gates = gates;
    const std::string direction = call_.attributes.text("direction", "forward");
    if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
      throw Refusal("attribute 'direction' is " + quote(direction) + "; accepted: forward, reverse, bidirectional");
    }
    s_.directions = direction == "bidirectional" ? 2 : 1;
    reverse_ = direction == "reverse";
    s_.hidden = call_.attributes.integer("hidden_size", r.shape[2]);
    if (s_.hidden < 1 || s_.hidden > kMaxDim)
      throw Refusal("attribute 'hidden_size' is " + std::to_string(s_.hidden) + "; accepted: 1 to 2^31");
    expect(1, {s_.directions, gates * s_.hidden, s_.inputs});
    expect(2, {s_.directions, gates * s_.hidden, s_.hidden});
    if (call_.has(3)) expect(3, {s_.directions, 2 * gates * s_.hidden});
    if (call_.has(4)) expect(4, {s_.batch});
    const Shape state = s_.batch_first ? Shape{s_.batch, s_.directions, s_.hidden} : Shape{s_.directions, s_.batch, s_.hidden};
    if (call_.has(5)) expect(5, state);
    if (gates == 4 && call_.has(6)) expect(6, state);
    if (gates == 4 && call_.has(7)) expect(7, {s_.directions, 3 * s_.hidden});
  }

  void expect(size_t i, const Shape &shape) const {
    if (call_.input(i).shape == shape) return;
    throw Refusal("input " + std::to_string(i) + " has shape " + shape_text(call_.input(i).shape) +
                  "; accepted: " + shape_text(shape));
  }

  Row affine(const double *m, const double *bias, int64_t gate, const double *v, int64_t n) const {
    Row out(static_cast<size_t>(s_.hidden));
    for (int64_t u = 0; u < s_.hidden; ++u) {
      // Four sums: one would wait for itself at every addition.
      const double *row = m + (gate * s_.hidden + u) * n;
      double sums[4] = {bias ? bias[gate * s_.hidden + u] : 0, 0, 0, 0};
      int64_t k = 0;
      for (; k + 4 <= n; k += 4) {
        for (int64_t i = 0; i < 4; ++i) sums[i] += row[k + i] * v[k + i];
      }
      for (; k < n; ++k) sums[0] += row[k] * v[k];
      out[static_cast<size_t>(u)] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
    return out;
  }

  CellWeights weights(int64_t d) const {
    const int64_t rows = s_.gates * s_.hidden;
    CellWeights m{};
    m.w = call_.in[1]->data.data() + d * rows * s_.inputs;
    m.r = call_.in[2]->data.data() + d * rows * s_.hidden;
    if (call_.has(3)) m.wb = call_.in[3]->data.data() + d * 2 * rows;
    if (m.wb) m.rb = m.wb + rows;
    if (s_.gates == 4 && call_.has(7)) m.p = call_.in[7]->data.data() + d * 3 * s_.hidden;
    m.act = acts_.data() + static_cast<size_t>(d) * per_direction_;
    return m;
  }

  Row initial(size_t i, int64_t d, int64_t b) const {
    if (!call_.has(i)) return Row(static_cast<size_t>(s_.hidden), 0.0);
    const auto first = call_.in[i]->data.begin() + state_at(d, b);
    return Row(first, first + s_.hidden);
  }

  int64_t row_length(int64_t b) const {
    if (!call_.has(4)) return s_.steps;
    const int64_t length = to_int(call_.in[4]->data[static_cast<size_t>(b)]);
    if (length < 0 || length > s_.steps)
      throw Refusal("sequence_lens has " + std::to_string(length) + "; accepted: 0 to " + std::to_string(s_.steps));
    return length;
  }

  bool reverse(int64_t d) const { return reverse_ || d == 1; }
  const double *x_row(int64_t t, int64_t b) const {
    return call_.in[0]->data.data() + (s_.batch_first ? b * s_.steps + t : t * s_.batch + b) * s_.inputs;
  }
  int64_t y_at(int64_t t, int64_t d, int64_t b) const {
    return (s_.batch_first ? (b * s_.steps + t) * s_.directions + d : (t * s_.directions + d) * s_.batch + b) * s_.hidden;
  }
  int64_t state_at(int64_t d, int64_t b) const { return (s_.batch_first ? b * s_.directions + d : d * s_.batch + b) * s_.hidden; }

  EvalCall &call_;
  Sizes s_{};
  bool reverse_ = false, linear_before_reset_ = false, input_forget_ = false;
  double clip_ = 0;
  std::vector<Activation> acts_;
  size_t per_direction_ = 1;
};

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
    (*h)[u] = (1 - z[u]) * candidate + z[u] * (*h)[u];
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
    (*c)[u] = f * old + i * g;
    const double o = layer.squash(m.act[0], pre[1][u] + (m.p ? m.p[n + u] * (*c)[u] : 0));
    (*h)[u] = o * activate(m.act[2], (*c)[u]);
  }
}

void rnn(EvalCall &call) {
  Layer(call, 1, {Act::kTanh}).run(rnn_step);
}
void gru(EvalCall &call) {
  Layer(call, 3, {Act::kSigmoid, Act::kTanh}).run(gru_step);
}
void lstm(EvalCall &call) {
  Layer(call, 4, {Act::kSigmoid, Act::kTanh, Act::kTanh}).run(lstm_step);
}

}  // namespace

const std::vector<EvalRow> kEvalRecurrent = {{"RNN", rnn}, {"GRU", gru}, {"LSTM", lstm}};

}  // namespace rnnp::compiler
