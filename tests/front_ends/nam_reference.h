// nam_reference.h -- Neural Amp Modeler's networks as plain loops in f64, sample by sample from histories of zeros: what its
// description says, with no thought of speed. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_FRONT_ENDS_NAM_REFERENCE_H_
#define RNNPACK_TESTS_FRONT_ENDS_NAM_REFERENCE_H_

#include <cmath>
#include <deque>
#include <string>
#include <vector>

#include "model_of.h"

namespace rnnp::testing_support {

// Hands out weights in the order of a file, as many as are asked for.
class WeightsInTurn {
 public:
  explicit WeightsInTurn(uint32_t seed) : seed_(seed) {}
  Floats take(size_t count) { return kept(random_numbers(count, 0.5f, seed_++)); }
  Floats take_positive(size_t count) {
    Floats some = random_numbers(count, 0.5f, seed_++);
    for (float &v : some) v = std::fabs(v) + 0.1f;
    return kept(some);
  }
  const Floats &all() const { return all_; }

 private:
  const Floats &kept(const Floats &some) {
    all_.insert(all_.end(), some.begin(), some.end());
    return some;
  }
  uint32_t seed_;
  Floats all_;
};

class PlainConv {
 public:
  PlainConv() = default;
  PlainConv(size_t out, size_t in, size_t taps, size_t dilation, bool bias, WeightsInTurn *weights)
      : out_(out), in_(in), taps_(taps), dilation_(dilation), w_(weights->take(out * in * taps)) {
    if (bias) b_ = weights->take(out);
  }
  Doubles step(const Doubles &x) {
    past_.push_front(x);
    if (past_.size() > (taps_ - 1) * dilation_ + 1) past_.pop_back();
    Doubles y(out_, 0.0);
    for (size_t o = 0; o < out_; ++o) {
      y[o] = b_.empty() ? 0.0 : double(b_[o]);
      for (size_t k = 0; k < taps_; ++k) {
        const size_t back = (taps_ - 1 - k) * dilation_;
        for (size_t i = 0; i < in_ && back < past_.size(); ++i) y[o] += double(w_[(o * in_ + i) * taps_ + k]) * past_[back][i];
      }
    }
    return y;
  }

 private:
  size_t out_ = 0, in_ = 0, taps_ = 1, dilation_ = 1;
  Floats w_, b_;
  std::deque<Doubles> past_;
};

// One array of layers: tanh, or with a gate; FiLM before the convolution and behind the activation where `films`.
struct PlainArray {
  size_t inputs, condition, channels, bottleneck, head_out, head_taps, taps;
  std::vector<size_t> dilations;
  std::string gating;  // none, gated, blended
  bool films = false, head_bias = false, head1x1 = false;

  struct Layer {
    PlainConv conv, mixin, next, to_head, pre, post;
  };
  PlainConv rechannel, head;
  std::vector<Layer> layers;

  void read(WeightsInTurn *weights) {
    rechannel = PlainConv(channels, inputs, 1, 1, false, weights);
    const size_t wide = gating == "none" ? bottleneck : 2 * bottleneck;
    for (const size_t dilation : dilations) {
      Layer layer;
      layer.conv = PlainConv(wide, channels, taps, dilation, true, weights);
      layer.mixin = PlainConv(wide, condition, 1, 1, false, weights);
      layer.next = PlainConv(channels, bottleneck, 1, 1, true, weights);
      if (head1x1) layer.to_head = PlainConv(bottleneck, bottleneck, 1, 1, true, weights);
      if (films) layer.pre = PlainConv(2 * channels, condition, 1, 1, true, weights);
      if (films) layer.post = PlainConv(bottleneck, condition, 1, 1, true, weights);
      layers.push_back(layer);
    }
    head = PlainConv(head_out, bottleneck, head_taps, 1, head_bias, weights);
  }

  std::string json() const {
    const auto number = [](size_t v) { return std::to_string(v); };
    std::string list;
    for (const size_t d : dilations) list += (list.empty() ? "" : ", ") + number(d);
    return "{\"input_size\": " + number(inputs) + ", \"condition_size\": " + number(condition) +
           ", \"channels\": " + number(channels) + ", \"bottleneck\": " + number(bottleneck) +
           ", \"kernel_size\": " + number(taps) + ", \"dilations\": [" + list + "], \"activation\": \"Tanh\", \"gating_mode\": \"" +
           gating + "\", \"head\": {\"out_channels\": " + number(head_out) + ", \"kernel_size\": " + number(head_taps) +
           ", \"bias\": " + (head_bias ? "true" : "false") + "}, \"head1x1\": {\"active\": " + (head1x1 ? "true" : "false") +
           ", \"out_channels\": " + number(bottleneck) + ", \"groups\": 1}" +
           (films ? ", \"conv_pre_film\": {\"active\": true, \"shift\": true}, \"activation_post_film\": {\"active\": true, "
                    "\"shift\": false, \"groups\": 1}"
                  : "") +
           "}";
  }

  // The next array's input; `sum` is what the heads before made, then this one's.
  Doubles step(const Doubles &input, const Doubles &given, Doubles *sum) {
    Doubles x = rechannel.step(input);
    if (sum->empty()) sum->assign(bottleneck, 0.0);
    for (Layer &layer : layers) {
      Doubles in = x;
      if (films) {
        const Doubles by = layer.pre.step(given);
        for (size_t c = 0; c < channels; ++c) in[c] = in[c] * by[c] + by[channels + c];
      }
      Doubles z = layer.conv.step(in);
      const Doubles m = layer.mixin.step(given);
      for (size_t c = 0; c < z.size(); ++c) z[c] += m[c];
      Doubles a(bottleneck);
      for (size_t c = 0; c < bottleneck; ++c) {
        const double gate = gating == "none" ? 1 : 1 / (1 + std::exp(-z[bottleneck + c]));
        a[c] = gate * std::tanh(z[c]) + (gating == "blended" ? (1 - gate) * z[c] : 0);
      }
      if (films) {
        const Doubles by = layer.post.step(given);
        for (size_t c = 0; c < bottleneck; ++c) a[c] *= by[c];
      }
      const Doubles skip = head1x1 ? layer.to_head.step(a) : a, more = layer.next.step(a);
      for (size_t c = 0; c < bottleneck; ++c) (*sum)[c] += skip[c];
      for (size_t c = 0; c < channels; ++c) x[c] += more[c];
    }
    *sum = head.step(*sum);
    return x;
  }
};

struct PlainWaveNet {
  std::vector<PlainArray> arrays;
  double scale = 0;
  Floats weights;

  PlainWaveNet(std::vector<PlainArray> given, uint32_t seed) : arrays(std::move(given)) {
    WeightsInTurn all(seed);
    for (PlainArray &array : arrays) array.read(&all);
    scale = double(all.take(1)[0]);
    weights = all.all();
  }

  std::string json(const std::string &in_config = "", const std::string &in_file = "") const {
    std::string list;
    for (const PlainArray &array : arrays) list += (list.empty() ? "" : ", ") + array.json();
    return "{\"version\": \"0.6.0\", \"architecture\": \"WaveNet\", " + in_file + "\"config\": {" + in_config + "\"layers\": [" +
           list + "], \"head\": null, \"head_scale\": 0.02}, \"weights\": " + list_of(weights) + "}";
  }

  Doubles step(const Doubles &x, const Doubles &condition) {
    Doubles sum, value = x;
    for (PlainArray &array : arrays) value = array.step(value, condition, &sum);
    for (double &v : sum) v *= scale;
    return sum;
  }
};

// One layer and its head; h and c of the file at first.
struct PlainLstm {
  size_t hidden;
  Floats w, b, head;
  Doubles h, c;

  PlainLstm(size_t units, uint32_t seed)
      : hidden(units),
        w(random_numbers(4 * units * (1 + units), 0.7f, seed)),
        b(random_numbers(4 * units, 0.7f, seed + 1)),
        head(random_numbers(units + 1, 0.9f, seed + 2)) {
    for (Doubles *state : {&h, &c}) {
      const Floats some = random_numbers(units, 0.9f, seed + (state == &h ? 3 : 4));
      state->assign(some.begin(), some.end());
    }
  }

  std::string json(const std::string &in_file = "") const {
    Floats all = w;
    all.insert(all.end(), b.begin(), b.end());
    all.insert(all.end(), h.begin(), h.end());
    all.insert(all.end(), c.begin(), c.end());
    all.insert(all.end(), head.begin(), head.end());
    return "{\"version\": \"0.5.4\", \"architecture\": \"LSTM\", \"config\": {\"input_size\": 1, \"hidden_size\": " +
           std::to_string(hidden) + ", \"num_layers\": 1}, " + in_file + "\"weights\": " + list_of(all) + "}";
  }

  double step(double x) {
    Doubles g(4 * hidden);
    for (size_t r = 0; r < g.size(); ++r) {
      g[r] = double(b[r]) + double(w[r * (1 + hidden)]) * x;
      for (size_t i = 0; i < hidden; ++i) g[r] += double(w[r * (1 + hidden) + 1 + i]) * h[i];
    }
    const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
    double y = double(head[hidden]);
    for (size_t i = 0; i < hidden; ++i) {
      c[i] = sigmoid(g[hidden + i]) * c[i] + sigmoid(g[i]) * std::tanh(g[2 * hidden + i]);
      h[i] = sigmoid(g[3 * hidden + i]) * std::tanh(c[i]);
      y += double(head[i]) * h[i];
    }
    return y;
  }
};

// Convolutions over two samples with tanh, with batch normalization before it where `normalized`.
struct PlainConvNet {
  static constexpr size_t kChannels = 3;
  std::vector<PlainConv> convs;
  std::vector<Floats> norms;  // mean, variance, scale, shift, epsilon
  PlainConv head;
  Floats weights;
  std::string config;

  PlainConvNet(const std::vector<size_t> &dilations, bool normalized, uint32_t seed) {
    WeightsInTurn all(seed);
    std::string list;
    for (const size_t dilation : dilations) {
      convs.emplace_back(kChannels, convs.empty() ? 1 : kChannels, 2, dilation, !normalized, &all);
      if (normalized) norms.push_back(norm(&all));
      list += (list.empty() ? "" : ", ") + std::to_string(dilation);
    }
    head = PlainConv(1, kChannels, 1, 1, true, &all);
    weights = all.all();
    config = "\"channels\": 3, \"dilations\": [" + list + "], \"batchnorm\": " + (normalized ? "true" : "false") +
             ", \"activation\": \"Tanh\"";
  }

  static Floats norm(WeightsInTurn *all) {
    Floats made = all->take(kChannels);
    for (const bool variance : {true, false, false}) {
      const Floats some = variance ? all->take_positive(kChannels) : all->take(kChannels);
      made.insert(made.end(), some.begin(), some.end());
    }
    made.push_back(all->take_positive(1)[0]);
    return made;
  }

  std::string json() const {
    return "{\"version\": \"0.5.4\", \"architecture\": \"ConvNet\", \"config\": {" + config +
           "}, \"weights\": " + list_of(weights) + "}";
  }

  double step(double x) {
    Doubles value = {x};
    for (size_t i = 0; i < convs.size(); ++i) {
      value = convs[i].step(value);
      for (size_t c = 0; c < kChannels; ++c) {
        const Floats *norm = norms.empty() ? nullptr : &norms[i];
        if (norm != nullptr)
          value[c] = (value[c] - double((*norm)[c])) / std::sqrt(double((*norm)[kChannels + c]) + double(norm->back())) *
                         double((*norm)[2 * kChannels + c]) +
                     double((*norm)[3 * kChannels + c]);
        value[c] = std::tanh(value[c]);
      }
    }
    return head.step(value)[0];
  }
};

}  // namespace rnnp::testing_support
#endif  // RNNPACK_TESTS_FRONT_ENDS_NAM_REFERENCE_H_
