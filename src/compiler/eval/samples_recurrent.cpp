// samples_recurrent.cpp -- single units of recurrent layers, some steps at a time: h before each step is what the library gave, so
// that no step waits for the whole of the one before it; an LSTM's c goes on from step to step. Contract: samples.h.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <optional>

#include "compiler/eval/evaluated_layer.h"
#include "compiler/eval/samples.h"

namespace rnnp::compiler {
namespace {

// A number, and what roundings may do to it, in units of kRounding.
struct Rough {
  double value = 0, magnitude = 0;
};

Rough plus(const Rough &a, const Rough &b) {
  return {a.value + b.value, a.magnitude + b.magnitude};
}
Rough times(const Rough &a, const Rough &b) {
  return {a.value * b.value,
          std::fabs(a.value) * b.magnitude + std::fabs(b.value) * a.magnitude + kRounding * a.magnitude * b.magnitude};
}

class SampledLayer : public SampledNode {
 public:
  explicit SampledLayer(const EvalCall &call) : layer_(call), s_(layer_.sizes()), wants_c_(call.wants(2)) {}

  Shape shape(size_t output) const override { return output == 0 ? layer_.y_shape() : layer_.state_shape(); }
  double work() const override {
    return each() * static_cast<double>(s_.hidden) * static_cast<double>(s_.steps * s_.batch * s_.directions);
  }
  bool takes(size_t output) const override { return output == 0 || (output == 2 && wants_c_); }

  std::vector<Sample> draw(double work, uint32_t seed, const Tensor &made) const override {
    std::vector<Sample> out;
    Places places(seed);
    add_rows_ends(&places, &out);
    layer_.is_lstm() ? draw_lstm(work, &places, made, &out) : draw_steps(work, &places, made, &out);
    return out;
  }

  // Y_h is the last step of each row.
  void follow(EvalCall *call) const override {
    if (!call->wants(1)) return;
    Tensor y_h(Elem::kFloat, layer_.state_shape());
    for (int64_t d = 0; d < s_.directions; ++d) {
      for (int64_t b = 0; b < s_.batch; ++b) {
        const RecurrentLayer::Row h = h_before(d, b, layer_.row_length(b), call->out[0]);
        std::copy(h.begin(), h.end(), y_h.data.begin() + layer_.state_at(d, b));
      }
    }
    call->give(1, std::move(y_h));
  }

 private:
  struct Unit {
    int64_t d, b, u;
  };

  double each() const { return static_cast<double>(s_.gates * (s_.inputs + s_.hidden)); }

  // Of a row as it runs: h that its n-th step starts from.
  RecurrentLayer::Row h_before(int64_t d, int64_t b, int64_t n, const Tensor &made) const {
    if (n == 0) return layer_.initial(5, d, b);
    const auto from = made.data.begin() + layer_.y_at(layer_.step_at(d, n - 1, layer_.row_length(b)), d, b);
    return RecurrentLayer::Row(from, from + s_.hidden);
  }

  static Rough sum(NumberPointer row, const double *v, int64_t n, double bias) {
    return row.as_they_are([&](const auto *w) {
      Rough out{bias, std::fabs(bias)};
      for (int64_t k = 0; k < n; ++k) {
        const double term = static_cast<double>(w[k]) * v[k];
        out.value += term;
        out.magnitude += std::fabs(term);
      }
      return out;
    });
  }
  Rough from_input(const CellWeights &m, int64_t gate, int64_t u, const double *x) const {
    const int64_t row = gate * s_.hidden + u;
    return sum(m.w + row * s_.inputs, x, s_.inputs, m.wb ? m.wb[row] : 0);
  }
  Rough from_state(const CellWeights &m, int64_t gate, int64_t u, const double *h) const {
    const int64_t row = gate * s_.hidden + u;
    return sum(m.r + row * s_.hidden, h, s_.hidden, m.rb ? m.rb[row] : 0);
  }
  Rough gate(const CellWeights &m, int64_t gate, int64_t u, const double *x, const double *h) const {
    return plus(from_input(m, gate, u, x), from_state(m, gate, u, h));
  }
  Rough squashed(const Activation &f, const Rough &x) const {
    const double value = layer_.squash(f, x.value), by = kRounding * x.magnitude;
    const double above = layer_.squash(f, x.value + by), below = layer_.squash(f, x.value - by);
    return {value, std::max(std::fabs(above - value), std::fabs(below - value)) / kRounding};
  }

  void add(size_t output, int64_t at, const Rough &x, std::vector<Sample> *out) const {
    out->push_back({at, x.value, x.magnitude, output});
  }

  // Behind a row's length Y is 0.
  void add_rows_ends(Places *places, std::vector<Sample> *out) const {
    constexpr int64_t kMostRows = 16;
    for (int64_t b = 0; b < std::min(s_.batch, kMostRows); ++b) {
      const int64_t length = layer_.row_length(b);
      for (int64_t t = length; t < s_.steps; t += std::max<int64_t>(s_.steps - 1 - length, 1))
        add(0, layer_.y_at(t, places->index(s_.directions), b) + places->index(s_.hidden), {}, out);
    }
  }

  // Every unit in turn, of any row that runs.
  std::optional<Unit> unit(int64_t i, Places *places) const {
    const int64_t b = places->index(s_.batch);
    if (layer_.row_length(b) == 0) return std::nullopt;
    return Unit{i / s_.hidden % s_.directions, b, i % s_.hidden};
  }

  // Short runs from the start of a row, where c is known, of every unit that there is work for, and long ones of some units
  // anywhere: what nobody knows of c there is forgotten in the first half of one.
  void draw_lstm(double work, Places *places, const Tensor &made, std::vector<Sample> *out) const {
    constexpr int64_t kShort = 2, kLong = 64;
    const auto count = [&](int64_t steps) {
      return static_cast<int64_t>(std::clamp(work / 2 / (static_cast<double>(steps) * each()), 16.0, 4096.0));
    };
    for (int64_t i = 0; i < count(kShort); ++i) {
      if (const std::optional<Unit> of = unit(i, places)) run_lstm(*of, 0, kShort, made, out);
    }
    for (int64_t i = 0; i < count(std::min(kLong, s_.steps)); ++i) {
      std::optional<Unit> of = unit(places->index(s_.hidden * s_.directions), places);
      if (!of) continue;
      const int64_t length = layer_.row_length(of->b);
      run_lstm(*of, places->index(std::max<int64_t>(length - kLong, 0) + 1), kLong, made, out);
    }
  }

  // |c| grows by less than 1 a step where its gates are of the usual kind; else a run begins where its row does.
  Rough c_before(const Unit &of, int64_t n) const {
    const double first = layer_.initial(6, of.d, of.b)[static_cast<size_t>(of.u)];
    if (n == 0) return {first, std::fabs(first)};
    return {0, (std::fabs(first) + static_cast<double>(n)) / kRounding};
  }
  static bool forgets(const CellWeights &m) { return m.act[0].act == Act::kSigmoid && m.act[1].act == Act::kTanh; }

  void run_lstm(const Unit &of, int64_t first, int64_t steps, const Tensor &made, std::vector<Sample> *out) const {
    const CellWeights m = layer_.weights(of.d);
    const int64_t length = layer_.row_length(of.b), begin = forgets(m) ? first : 0, end = std::min(begin + steps, length);
    Rough c = c_before(of, begin);
    for (int64_t n = begin; n < end; ++n) {
      const int64_t t = layer_.step_at(of.d, n, length);
      const RecurrentLayer::Row h = h_before(of.d, of.b, n, made);
      Rough next = c;
      const Rough y = lstm_step(m, of.u, layer_.x_row(t, of.b), h.data(), &next);
      c = next;
      if (begin != 0 && n < begin + steps / 2) continue;
      add(0, layer_.y_at(t, of.d, of.b) + of.u, y, out);
      if (n + 1 == length && wants_c_) add(2, layer_.state_at(of.d, of.b) + of.u, c, out);
    }
  }

  Rough lstm_step(const CellWeights &m, int64_t u, const double *x, const double *h, Rough *c) const {
    const auto pre = [&](int64_t g, int64_t p, const Rough &cell) {
      const Rough all = gate(m, g, u, x, h);
      return m.p ? plus(all, times({m.p[p * s_.hidden + u], 0}, cell)) : all;
    };
    const Rough i = squashed(m.act[0], pre(0, 0, *c));
    const Rough f = layer_.input_forget() ? Rough{1 - i.value, i.magnitude} : squashed(m.act[0], pre(2, 2, *c));
    const Rough g = squashed(m.act[1], gate(m, 3, u, x, h));
    *c = plus(times(f, *c), times(i, g));
    const Rough o = squashed(m.act[0], pre(1, 1, *c));
    const double value = activate(m.act[2], c->value), by = kRounding * c->magnitude;
    const double off =
        std::max(std::fabs(activate(m.act[2], c->value + by) - value), std::fabs(activate(m.act[2], c->value - by) - value));
    return times(o, {value, off / kRounding});
  }

  // One step of a GRU or RNN: of every unit in turn, at some places in the rows.
  void draw_steps(double work, Places *places, const Tensor &made, std::vector<Sample> *out) const {
    const bool whole_reset = s_.gates == 3 && !layer_.linear_before_reset();
    const double reset = static_cast<double>(s_.hidden * (s_.inputs + s_.hidden));
    const int64_t count = static_cast<int64_t>(std::clamp((whole_reset ? work / 2 : work) / each(), 48.0, 8192.0));
    const int64_t spots = whole_reset ? static_cast<int64_t>(std::clamp(work / 2 / reset, 2.0, 4096.0)) : count;
    std::vector<int64_t> next(static_cast<size_t>(s_.directions), 0);
    for (int64_t spot = 0; spot < spots; ++spot) {
      const int64_t d = spot % s_.directions, b = places->index(s_.batch), length = layer_.row_length(b);
      if (length == 0) continue;
      const int64_t n = places->index(length), t = layer_.step_at(d, n, length);
      const RecurrentLayer::Row h = h_before(d, b, n, made);
      const CellWeights m = layer_.weights(d);
      const double *x = layer_.x_row(t, b);
      const std::vector<Rough> gated = whole_reset ? gated_state(m, x, h) : std::vector<Rough>();
      for (int64_t i = 0; i < std::min(std::max<int64_t>(count / spots, 1), s_.hidden); ++i) {
        const int64_t u = next[static_cast<size_t>(d)]++ % s_.hidden;
        add(0, layer_.y_at(t, d, b) + u, s_.gates == 3 ? gru_step(m, u, x, h, gated) : rnn_step(m, u, x, h), out);
      }
    }
  }

  Rough rnn_step(const CellWeights &m, int64_t u, const double *x, const RecurrentLayer::Row &h) const {
    return squashed(m.act[0], gate(m, 0, u, x, h.data()));
  }

  // r * h of all units.
  std::vector<Rough> gated_state(const CellWeights &m, const double *x, const RecurrentLayer::Row &h) const {
    std::vector<Rough> out;
    for (int64_t u = 0; u < s_.hidden; ++u)
      out.push_back(times(squashed(m.act[0], gate(m, 1, u, x, h.data())), {h[static_cast<size_t>(u)], 0}));
    return out;
  }

  Rough gru_step(const CellWeights &m, int64_t u, const double *x, const RecurrentLayer::Row &h,
                 const std::vector<Rough> &gated) const {
    const Rough z = squashed(m.act[0], gate(m, 0, u, x, h.data()));
    Rough state;
    if (layer_.linear_before_reset()) {
      state = times(squashed(m.act[0], gate(m, 1, u, x, h.data())), from_state(m, 2, u, h.data()));
    } else {
      const int64_t row = 2 * s_.hidden + u;
      if (m.rb) state = {m.rb[row], std::fabs(m.rb[row])};
      for (int64_t k = 0; k < s_.hidden; ++k) {
        const double r = m.r[row * s_.hidden + k];
        const Rough &v = gated[static_cast<size_t>(k)];
        state = plus(state, {r * v.value, std::fabs(r) * (std::fabs(v.value) + v.magnitude)});
      }
    }
    const Rough candidate = squashed(m.act[1], plus(from_input(m, 2, u, x), state));
    return plus(times({1 - z.value, z.magnitude}, candidate), times(z, {h[static_cast<size_t>(u)], 0}));
  }

  const RecurrentLayer layer_;
  const RecurrentSizes s_;
  const bool wants_c_;
};

}  // namespace

std::unique_ptr<SampledNode> sampled_layer(const EvalCall &call) {
  return std::make_unique<SampledLayer>(call);
}

}  // namespace rnnp::compiler
