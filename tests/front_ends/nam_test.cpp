// nam_test.cpp -- files of Neural Amp Modeler against plain loops that heard silence before, and against outputs of its own player.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/onnx/problem.h"
#include "model_of.h"
#include "nam_reference.h"

namespace rnnp::testing_support {
namespace nam_test {

constexpr size_t kSamples = 120, kSilence = 200;

PlainArray first_array(const std::string &gating) {
  return {1, 1, 3, 2, 2, 1, 2, {1, 2}, gating, false, false, false, {}, {}, {}};
}
PlainArray last_array(const std::string &gating) {
  return {3, 1, 4, 2, 1, 3, 3, {1, 4}, gating, false, true, false, {}, {}, {}};
}

Doubles expected_of(PlainWaveNet net, const Floats &x, PlainWaveNet *condition = nullptr) {
  Doubles y;
  for (size_t t = 0; t < kSilence + x.size(); ++t) {
    const Doubles sample = {t < kSilence ? 0.0 : double(x[t - kSilence])};
    const Doubles given = condition == nullptr ? sample : condition->step(sample, sample);
    const Doubles out = net.step(sample, given);
    if (t >= kSilence) y.insert(y.end(), out.begin(), out.end());
  }
  return y;
}

TEST(Nam, WaveNetsAreThoseOfPlainLoopsFromTheFirstSample) {
  const Floats x = random_numbers(kSamples, 1, 7);
  for (const char *gating : {"none", "gated", "blended"}) {
    for (const bool films : {false, true}) {
      for (const bool head1x1 : {false, true}) {
        PlainArray a = first_array(gating), b = last_array(gating);
        a.films = b.films = films;
        a.head1x1 = b.head1x1 = head1x1;
        const PlainWaveNet net({a, b}, 3);
        EXPECT_LT(largest_difference(outputs_of(net.json(), x), expected_of(net, x)), 2e-6) << gating << films << head1x1;
      }
    }
  }
}

TEST(Nam, AnotherNetworkMayMakeTheCondition) {
  const Floats x = random_numbers(kSamples, 1, 7);
  PlainArray maker = last_array("none");
  maker.inputs = 1;
  maker.head_out = 2;
  PlainWaveNet condition({maker}, 11);
  PlainArray a = first_array("gated"), b = last_array("none");
  a.condition = b.condition = 2;
  a.films = true;
  const PlainWaveNet net({a, b}, 3);
  const std::string file = net.json("\"condition_dsp\": " + condition.json() + ", ");
  EXPECT_LT(largest_difference(outputs_of(file, x), expected_of(net, x, &condition)), 2e-6);
}

// Of each kind of activation, as one layer with a convolution of one tap: the head is what it makes.
TEST(Nam, ActivationsAreTheirFormulas) {
  const std::vector<std::pair<std::string, double (*)(double)>> kinds = {
      {"\"ReLU\"", [](double v) { return std::max(v, 0.0); }},
      {"{\"type\": \"LeakyReLU\", \"negative_slope\": 0.25}", [](double v) { return v > 0 ? v : 0.25 * v; }},
      {"{\"type\": \"PReLU\", \"negative_slopes\": [0.5]}", [](double v) { return v > 0 ? v : 0.5 * v; }},
      {"\"Sigmoid\"", [](double v) { return 1 / (1 + std::exp(-v)); }},
      {"\"SiLU\"", [](double v) { return v / (1 + std::exp(-v)); }},
      {"\"Softsign\"", [](double v) { return v / (1 + std::fabs(v)); }},
      {"\"Hardtanh\"", [](double v) { return std::clamp(v, -1.0, 1.0); }},
      {"\"Hardswish\"", [](double v) { return v * std::clamp(v / 6 + 0.5, 0.0, 1.0); }},
      {"{\"type\": \"LeakyHardtanh\", \"min_val\": -0.5, \"max_val\": 0.75, \"min_slope\": 0.1, \"max_slope\": 0.2}", [](double v) {
         return v < -0.5 ? (v + 0.5) * 0.1 - 0.5 : v > 0.75 ? (v - 0.75) * 0.2 + 0.75 : v;
       }}};
  const Floats x = random_numbers(kSamples, 4, 7);
  for (const auto &kind : kinds) {
    const std::string file =
        "{\"version\": \"0.5.4\", \"architecture\": \"WaveNet\", \"config\": {\"layers\": [{\"input_size\": 1, \"condition_size\": "
        "1, "
        "\"head_size\": 1, \"channels\": 1, \"kernel_size\": 1, \"dilations\": [1], \"activation\": " +
        kind.first +
        ", \"gated\": false, \"head_bias\": false}], \"head\": null, \"head_scale\": 1}, \"weights\": [1, 1, 0.25, 0.5, "
        "1, 0, 2, 1]}";
    Doubles expected;
    for (const float v : x) expected.push_back(2 * kind.second(1.5 * double(v) + 0.25));
    EXPECT_LT(largest_difference(outputs_of(file, x), expected), 3e-6) << kind.first;
  }
}

// h and c of the file, then half a second of silence.
TEST(Nam, LstmsBeginWhereSilenceLeavesThem) {
  constexpr size_t kHidden = 2;
  const Floats x = random_numbers(kSamples, 1, 7);
  const Floats w = random_numbers(4 * kHidden * (1 + kHidden), 0.7f, 1), b = random_numbers(4 * kHidden, 0.7f, 2),
               state = random_numbers(2 * kHidden, 0.9f, 3), head = random_numbers(kHidden + 1, 0.9f, 4);
  Floats all = w;
  for (const Floats *more : {&b, &state, &head}) all.insert(all.end(), more->begin(), more->end());
  const auto file = [&](const std::string &rate) {
    return "{\"version\": \"0.5.4\", \"architecture\": \"LSTM\", \"config\": {\"input_size\": 1, \"hidden_size\": 2, "
           "\"num_layers\": 1}, "
           "\"weights\": " +
           list_of(all) + rate + "}";
  };
  for (const size_t silence : {size_t{1}, size_t{3}}) {
    Doubles h = {double(state[0]), double(state[1])}, c = {double(state[2]), double(state[3])}, expected;
    for (size_t t = 0; t < silence + x.size(); ++t) {
      const double in = t < silence ? 0.0 : double(x[t - silence]);
      Doubles g(4 * kHidden);
      for (size_t r = 0; r < g.size(); ++r)
        g[r] = double(b[r]) + double(w[r * 3]) * in + double(w[r * 3 + 1]) * h[0] + double(w[r * 3 + 2]) * h[1];
      const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
      for (size_t i = 0; i < kHidden; ++i) {
        c[i] = sigmoid(g[kHidden + i]) * c[i] + sigmoid(g[i]) * std::tanh(g[2 * kHidden + i]);
        h[i] = sigmoid(g[3 * kHidden + i]) * std::tanh(c[i]);
      }
      if (t >= silence) expected.push_back(double(head[0]) * h[0] + double(head[1]) * h[1] + double(head[2]));
    }
    const std::string rate = silence == 1 ? "" : ", \"sample_rate\": " + std::to_string(2 * silence);
    EXPECT_LT(largest_difference(outputs_of(file(rate), x), expected), 1e-6) << silence;
  }
}

// A network of its own.
PlainArray lone_array() {
  PlainArray one = last_array("none");
  one.inputs = 1;
  return one;
}

std::string container() {
  const auto entry = [](const char *most, uint32_t seed) {
    return std::string("{\"max_value\": ") + most + ", \"model\": " + PlainWaveNet({lone_array()}, seed).json() + "}";
  };
  return "{\"version\": \"0.7.0\", \"architecture\": \"SlimmableContainer\", \"sample_rate\": 44100, \"metadata\": {\"name\": "
         "\"Amp\", "
         "\"loudness\": -18.5}, \"config\": {\"submodels\": [" +
         entry("0.5", 5) + ", " + entry("1.0", 6) + "]}, \"weights\": []}";
}

TEST(Nam, QualityChoosesOfAContainer) {
  const std::string file = container();
  const Floats x = random_numbers(kSamples, 1, 7);
  const auto with = [](double quality) {
    compiler::ReadOptions options;
    options.quality = quality;
    return options;
  };
  const Doubles small = expected_of(PlainWaveNet({lone_array()}, 5), x), large = expected_of(PlainWaveNet({lone_array()}, 6), x);
  EXPECT_LT(largest_difference(outputs_of(file, x), large), 2e-6);
  EXPECT_LT(largest_difference(outputs_of(file, x, 1, with(1)), large), 2e-6);
  EXPECT_LT(largest_difference(outputs_of(file, x, 1, with(0.5)), large), 2e-6);
  EXPECT_LT(largest_difference(outputs_of(file, x, 1, with(0.49)), small), 2e-6);
  EXPECT_LT(largest_difference(outputs_of(file, x, 1, with(0)), small), 2e-6);
  EXPECT_EQ(refusal_of_file(file, with(2)), "--quality is from 0 to 1");
  EXPECT_EQ(meta_of(compiled_of(file), "sample_rate"), "44100");
  EXPECT_EQ(meta_of(compiled_of(file), "loudness"), "-18.5");
  EXPECT_EQ(meta_of(compiled_of(file), "name"), "Amp");
}

TEST(Nam, RefusalsNameThePlace) {
  const PlainWaveNet net({first_array("none"), last_array("none")}, 3);
  const std::string good = net.json();
  const auto refused = [&](const std::string &from, const std::string &to, const std::string &words) {
    std::string file = good;
    file.replace(file.find(from), from.size(), to);
    const std::string refusal = refusal_of_file(file);
    EXPECT_NE(refusal.find(words), std::string::npos) << refusal;
  };
  EXPECT_EQ(refusal_of_file(good), "");
  refused("0.6.0", "0.8.1", "version: '0.8.1' is newer than what is read; accepted: 0.5 to 0.7");
  refused("0.6.0", "0.4.0", "version: '0.4.0' is older than what is read");
  refused("WaveNet", "PatchNet", "architecture: 'PatchNet' is not supported; accepted: WaveNet, LSTM, Linear, SlimmableContainer");
  refused("Tanh", "Sinh", "the activation 'Sinh' is not supported");
  refused("\"bottleneck\"", "\"warp\": 2, \"bottleneck\"", "config.layers[0]: its member 'warp' is not known: the file is newer");
  refused("\"weights\": [", "\"weights\": [0.5, ", "weights: they are ");
  refused("\"dilations\": [1, 2]", "\"dilations\": [1, 2, 4]", "and the layers need more");
  refused("\"channels\": 3", "\"channels\": -3", "config.layers[0].channels: it is -3; accepted: integers from 1 to 4096");
  refused("\"gating_mode\": \"none\"", "\"gating_mode\": \"half\"", "config.layers[0].gating_mode: 'half' is not supported");
  refused("\"head1x1\"", "\"layer1x1_post_film\": {\"active\": true}, \"head1x1\"",
          "config.layers[0].layer1x1_post_film: it is supported where gating_mode is blended");
  compiler::ReadOptions low;
  low.quality = 0.2;
  EXPECT_NE(refusal_of_file(good, low).find("this one holds one WaveNet"), std::string::npos);
}

// What NeuralAmpModelerCore plays, behind its prewarming.
TEST(Nam, OriginalsOfNeuralAmpModeler) {
  const std::string folder = models_in();
  if (folder.empty()) GTEST_SKIP() << "RNNPACK_MODELS_IN_DIR is not set";
  const Floats x = float_file(folder + "/nam/input.f32");
  for (const char *name : {"lstm", "wavenet", "wavenet_a1_standard", "A2", "wavenet_condition_dsp", "slimmable_wavenet"}) {
    const std::string base = folder + "/nam/" + name;
    const Floats y = float_file(base + ".out.f32");
    double largest = 1;
    for (const float v : y) largest = std::max(largest, std::fabs(double(v)));
    EXPECT_LT(largest_difference(outputs_of(file_text(base + ".nam"), x), {y.begin(), y.end()}), 1e-6 * largest) << name;
  }
}

}  // namespace nam_test
}  // namespace rnnp::testing_support
