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
      {"{\"type\": \"PReLU\", \"negative_slope\": 0.125}", [](double v) { return v > 0 ? v : 0.125 * v; }},
      {"\"Sigmoid\"", [](double v) { return 1 / (1 + std::exp(-v)); }},
      {"\"SiLU\"", [](double v) { return v / (1 + std::exp(-v)); }},
      {"\"Softsign\"", [](double v) { return v / (1 + std::fabs(v)); }},
      {"\"Softsigmoid\"", [](double v) { return 0.5 + 0.5 * v / (1 + std::fabs(v)); }},
      {"{\"type\": \"Hardtanh\", \"min_val\": -1.0, \"max_val\": 1.0}", [](double v) { return std::clamp(v, -1.0, 1.0); }},
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
  const Floats x = random_numbers(kSamples, 1, 7);
  for (const size_t silence : {size_t{1}, size_t{3}}) {
    PlainLstm lstm(2, 1);
    const std::string file = lstm.json(silence == 1 ? "" : "\"sample_rate\": " + std::to_string(2 * silence) + ", ");
    for (size_t t = 0; t < silence; ++t) lstm.step(0);
    Doubles expected;
    for (const float v : x) expected.push_back(lstm.step(double(v)));
    EXPECT_LT(largest_difference(outputs_of(file, x), expected), 1e-6) << silence;
  }
}

TEST(Nam, ConvNetsAreThoseOfPlainLoops) {
  const Floats x = random_numbers(kSamples, 1, 7);
  for (const bool normalized : {false, true}) {
    PlainConvNet net({1, 2, 8}, normalized, 3);
    const std::string file = net.json();
    for (size_t t = 0; t < kSilence; ++t) net.step(0);
    Doubles expected;
    for (const float v : x) expected.push_back(net.step(double(v)));
    EXPECT_LT(largest_difference(outputs_of(file, x), expected), 2e-6) << normalized;
  }
}

std::string linear_file(const std::string &in_config = "") {
  return "{\"version\": \"0.5.4\", \"architecture\": \"Linear\", \"config\": {\"receptive_field\": 3, " + in_config +
         "\"bias\": true}, \"weights\": [3, 20, 100, 0.5]}";
}

// Its player's order; the trainer wrote the other one.
TEST(Nam, LinearBeginsWithTheNewestSample) {
  const Doubles expected = {3.5, 20.5, 100.5, 0.5};
  EXPECT_LT(largest_difference(outputs_of(linear_file(), {1, 0, 0, 0}), expected), 1e-6);
  ASSERT_EQ(model_of(linear_file())->notes.size(), 1u);
  EXPECT_NE(model_of(linear_file())->notes[0].find("the other way round"), std::string::npos);
}

std::string sequence_of(const std::vector<std::string> &files, const std::string &weights = "") {
  std::string list;
  for (const std::string &file : files) list += (list.empty() ? "" : ", ") + file;
  return "{\"version\": \"0.7.0\", \"architecture\": \"Sequential\", \"sample_rate\": 400, \"config\": {\"models\": [" + list +
         "]}, \"weights\": [" + weights + "]}";
}

// The LSTM's silence is what the network before makes of silence.
TEST(Nam, SequentialRunsOneNetworkBehindTheOther) {
  const Floats x = random_numbers(kSamples, 1, 7);
  PlainConvNet first({1, 4}, false, 3);
  PlainLstm second(2, 11);
  const std::string file = sequence_of({first.json(), second.json("\"sample_rate\": 400, ")});
  double silence = 0;
  for (size_t t = 0; t < kSilence; ++t) silence = first.step(0);
  for (size_t t = 0; t < kSilence; ++t) second.step(silence);
  Doubles expected;
  for (const float v : x) expected.push_back(second.step(first.step(double(v))));
  EXPECT_LT(largest_difference(outputs_of(file, x), expected), 2e-6);
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
  refused("WaveNet", "PatchNet",
          "architecture: 'PatchNet' is not supported; accepted: WaveNet, LSTM, ConvNet, Linear, Sequential, SlimmableContainer");
  refused("Tanh", "Sinh", "the activation 'Sinh' is not supported");
  refused("\"bottleneck\"", "\"warp\": 2, \"bottleneck\"", "config.layers[0]: its member 'warp' is not known: the file is newer");
  refused("\"weights\": [", "\"weights\": [0.5, ", "weights: they are ");
  refused("\"dilations\": [1, 2]", "\"dilations\": [1, 2, 4]", "and the layers need more");
  refused("\"channels\": 3", "\"channels\": -3", "config.layers[0].channels: it is -3; accepted: integers from 1 to 4096");
  refused("\"gating_mode\": \"none\"", "\"gating_mode\": \"half\"", "config.layers[0].gating_mode: 'half' is not supported");
  refused("\"head1x1\"", "\"layer1x1_post_film\": {\"active\": true}, \"head1x1\"",
          "config.layers[0].layer1x1_post_film: it is supported where gating_mode is blended");
  refused("\"head1x1\"", "\"layer1x1\": {\"active\": false}, \"head1x1\"",
          "config.layers[0].layer1x1: without it the player gives a layer's input to the next one, the trainer adds the layer's "
          "result");
  refused("\"Tanh\"", "{\"type\": \"Hardtanh\", \"max_val\": 0.5}",
          "config.layers[0].activation: the player limits Hardtanh to -1 and 1");
  refused("\"Tanh\"", "{\"type\": \"Softsign\", \"alpha\": 0.5}", "config.layers[0].activation: its member 'alpha' is not known");
  refused("\"layers\"", "\"warp\": 2, \"layers\"", "config: its member 'warp' is not known: the file is newer");
  EXPECT_NE(refusal_of_file(linear_file("\"out_channels\": 2, ")).find("config.out_channels: it is 2"), std::string::npos);
  EXPECT_NE(refusal_of_file(sequence_of({good}, "0.5")).find("weights: none are expected"), std::string::npos);
  std::string newer = good;
  newer.replace(newer.find("0.6.0"), 5, "0.9.0");
  EXPECT_NE(refusal_of_file(sequence_of({newer})).find("config.models[0].version: '0.9.0' is newer"), std::string::npos);
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
