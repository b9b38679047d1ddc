// tflite_int8_test.cpp -- int8 networks of TensorFlow Lite, with state in resource variables: the integers of the interpreter, by
// plain loops in 64 bits. And published files, where RNNPACK_MODELS_IN_DIR has them, beside what the reference interpreter gives.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "compiler/cli/runner.h"
#include "compiler/cli/self_check.h"
#include "model_of.h"
#include "tflite_goldens.h"
#include "tflite_writer.h"

namespace rnnp::testing_support {
namespace {

using namespace rnnp::compiler;
using Code = TfliteCode;
using Ints = std::vector<int>;

constexpr int kDepth = 4, kTaps = 3, kChannels = 6, kResults = 2, kSteps = 200;
constexpr float kInScale = 0.1f, kConvScale = 0.9f, kDepthwiseScale = 0.3f, kDenseScale = 0.05f;
constexpr int kInZero = -128, kConvZero = -128, kDepthwiseZero = -18, kDenseZero = 7;

// A factor as the interpreter has it: 31 bits and a shift.
struct Multiplier {
  int64_t q;
  int shift;
};
Multiplier multiplier_of(double factor) {
  int exponent = 0;
  const double fraction = std::frexp(factor, &exponent);
  return {std::llround(fraction * 2147483648.0), -exponent};
}

// Rounded to an integer, then divided by 2^shift and rounded with halves away from 0.
int64_t multiplied_twice(int64_t sum, double factor) {
  const Multiplier m = multiplier_of(factor);
  const int64_t product = sum * m.q, nudge = product >= 0 ? int64_t{1} << 30 : 1 - (int64_t{1} << 30);
  const int64_t high = (product + nudge) / (int64_t{1} << 31), unit = int64_t{1} << m.shift;
  const int64_t magnitude = (std::llabs(high) + unit / 2) / unit;
  return high < 0 ? -magnitude : magnitude;
}
int64_t multiplied_once(int64_t sum, double factor) {
  const Multiplier m = multiplier_of(factor);
  return (sum * m.q + (int64_t{1} << (30 + m.shift))) >> (31 + m.shift);
}

Ints random_ints(size_t count, int most, uint32_t seed) {
  std::mt19937 random(seed);
  Ints out(count);
  for (int &v : out) v = static_cast<int>(random() % static_cast<uint32_t>(2 * most + 1)) - most;
  return out;
}

// The parts of a streaming network as wake-word engines have it.
struct Network {
  Ints conv = random_ints(kChannels * kTaps * kDepth, 127, 1), conv_bias = random_ints(kChannels, 3000, 2);
  Ints depthwise = random_ints(kChannels, 127, 3), depthwise_bias = random_ints(kChannels, 2000, 4);
  Ints dense = random_ints(kResults * kChannels, 127, 5), dense_bias = random_ints(kResults, 900, 6);
  Ints start = random_ints((kTaps - 1) * kDepth, 100, 7);
  Floats conv_scales = scales(0.004f), depthwise_scales = scales(0.007f), dense_scales = {0.003f};

  static Floats scales(float around) {
    Floats out;
    for (int i = 0; i < kChannels; ++i) out.push_back(around * (1 + 0.13f * static_cast<float>(i)));
    return out;
  }
  static TfliteGrid bias_grid(float x, const Floats &w) {
    TfliteGrid grid;
    for (const float scale : w) grid.scales.push_back(x * scale);
    return grid;
  }
  std::string file() const;
};

FlatOut named(const char *name) {
  return FlatOut().text(0, "").text(1, name);
}

std::string Network::file() const {
  TfliteWriter file;
  const TfliteGrid in_grid = {{kInScale}, {kInZero}}, conv_grid = {{kConvScale}, {kConvZero}},
                   depthwise_grid = {{kDepthwiseScale}, {kDepthwiseZero}}, dense_grid = {{kDenseScale}, {kDenseZero}};
  const auto value = [&](const char *name, const std::vector<int32_t> &shape, const TfliteGrid &grid) {
    return file.tensor(name, shape, TfliteType::kInt8, grid);
  };
  const int x = value("input", {1, 1, 1, kDepth}, in_grid), before = value("before", {1, kTaps - 1, 1, kDepth}, in_grid),
            all = value("all", {1, kTaps, 1, kDepth}, in_grid), next = value("next", {1, kTaps - 1, 1, kDepth}, in_grid),
            a = value("a", {1, 1, 1, kChannels}, conv_grid), b = value("b", {1, 1, 1, kChannels}, depthwise_grid),
            y = value("output", {1, kResults}, dense_grid), p = value("probability", {1, kResults}, {{1.0f / 256}, {-128}}),
            handle = file.tensor("handle", {}, TfliteType::kResource);
  file.op(Code::kCallOnce, {}, {}, FlatOut().number(0, int32_t{1}));
  file.op(Code::kVarHandle, {}, {handle}, named("memory"));
  file.op(Code::kReadVariable, {handle}, {before});
  file.op(Code::kConcatenation, {before, x}, {all}, FlatOut().number(0, int32_t{1}));
  file.op(Code::kStridedSlice, {all, file.ints({0, 1, 0, 0}), file.ints({0, 0, 0, 0}), file.ints({1, 1, 1, 1})}, {next},
          FlatOut().number(0, int32_t{13}).number(1, int32_t{15}));
  file.op(Code::kAssignVariable, {handle, next}, {});
  file.op(Code::kConv,
          {all, file.int8s({kChannels, kTaps, 1, kDepth}, conv, {conv_scales, {}, 0}),
           file.int32s(conv_bias, bias_grid(kInScale, conv_scales))},
          {a}, FlatOut().number(0, int8_t{1}).number(1, int32_t{1}).number(2, int32_t{1}).number(3, int8_t{1}));
  file.op(Code::kDepthwiseConv,
          {a, file.int8s({1, 1, 1, kChannels}, depthwise, {depthwise_scales, {}, 3}),
           file.int32s(depthwise_bias, bias_grid(kConvScale, depthwise_scales))},
          {b}, FlatOut().number(0, int8_t{1}).number(1, int32_t{1}).number(2, int32_t{1}).number(3, int32_t{1}));
  file.op(Code::kFullyConnected,
          {b, file.int8s({kResults, kChannels}, dense, {dense_scales}),
           file.int32s(dense_bias, bias_grid(kDepthwiseScale, dense_scales))},
          {y});
  file.op(Code::kLogistic, {y}, {p});
  file.graph_io({x}, {y, p});
  file.begin_graph();
  const int other = file.tensor("handle", {}, TfliteType::kResource);
  file.op(Code::kVarHandle, {}, {other}, named("memory"));
  file.op(Code::kAssignVariable, {other, file.int8s({1, kTaps - 1, 1, kDepth}, start, in_grid)}, {});
  file.graph_io({}, {});
  return file.file();
}

// Results of one step; `window`: the last kTaps inputs.
Ints expected_of(const Network &n, const Ints &window) {
  Ints a, b, y;
  for (size_t c = 0; c < kChannels; ++c) {
    int64_t sum = n.conv_bias[c];
    for (size_t k = 0; k < kTaps * kDepth; ++k) sum += n.conv[c * kTaps * kDepth + k] * (window[k] - kInZero);
    const double factor = static_cast<double>(kInScale) * static_cast<double>(n.conv_scales[c]) / static_cast<double>(kConvScale);
    a.push_back(static_cast<int>(std::clamp<int64_t>(multiplied_twice(sum, factor) + kConvZero, kConvZero, 127)));
  }
  for (size_t c = 0; c < kChannels; ++c) {
    const int64_t sum = n.depthwise_bias[c] + n.depthwise[c] * (a[c] - kConvZero);
    const double factor =
        static_cast<double>(kConvScale) * static_cast<double>(n.depthwise_scales[c]) / static_cast<double>(kDepthwiseScale);
    b.push_back(static_cast<int>(std::clamp<int64_t>(multiplied_twice(sum, factor) + kDepthwiseZero, -128, 127)));
  }
  for (size_t r = 0; r < kResults; ++r) {
    int64_t sum = n.dense_bias[r];
    for (size_t c = 0; c < kChannels; ++c) sum += n.dense[r * kChannels + c] * (b[c] - kDepthwiseZero);
    const double factor =
        static_cast<double>(kDepthwiseScale) * static_cast<double>(n.dense_scales[0]) / static_cast<double>(kDenseScale);
    y.push_back(static_cast<int>(std::clamp<int64_t>(multiplied_once(sum, factor) + kDenseZero, -128, 127)));
  }
  return y;
}

Array stream_of(const Ints &q, double scale, int zero, std::vector<int64_t> shape) {
  Array x;
  x.shape = std::move(shape);
  for (const int v : q) x.f32.push_back(static_cast<float>((v - zero) * scale));
  return x;
}

int integer_of(float y, double scale, int zero) {
  return static_cast<int>(std::lround(static_cast<double>(y) / scale)) + zero;
}

TEST(TfliteInt8, StreamsWithTheIntegersOfTheInterpreter) {
  const Network network;
  const Ints x = random_ints(kSteps * kDepth, 127, 9);
  Runner runner(compiled_of(network.file()).blob);
  const auto got = runner.run({{"input", stream_of(x, static_cast<double>(kInScale), kInZero, {kSteps, 1, 1, 1, kDepth})}}, {});
  Ints window = network.start;
  window.resize(kTaps * kDepth);
  int least = 127, most = -128;
  for (size_t t = 0; t < kSteps; ++t) {
    std::copy(x.begin() + static_cast<std::ptrdiff_t>(t * kDepth), x.begin() + static_cast<std::ptrdiff_t>((t + 1) * kDepth),
              window.end() - kDepth);
    const Ints y = expected_of(network, window);
    for (size_t r = 0; r < kResults; ++r) {
      EXPECT_EQ(integer_of(got.at("output").f32[t * kResults + r], static_cast<double>(kDenseScale), kDenseZero), y[r])
          << "step " << t;
      const double p = 256 / (1 + std::exp(-(y[r] - kDenseZero) * static_cast<double>(kDenseScale)));
      EXPECT_LE(std::fabs(static_cast<double>(got.at("probability").f32[t * kResults + r]) * 256 - std::min(p, 255.0)), 0.5 + 1e-3);
      least = std::min(least, y[r]), most = std::max(most, y[r]);
    }
    std::copy(window.begin() + kDepth, window.end(), window.begin());
  }
  EXPECT_GT(most - least, 60) << "the results hardly differ, so they show little";
}

// Their integers are exact in bf16, and so are the sums. States are written by nodes without a result, which the check passes by.
TEST(TfliteInt8, HasTheSameBitsWithWeightsOfSixteenBits) {
  const auto model = model_of(Network().file());
  CompileOptions how;
  for (const auto &state : model->states) how.states.push_back({state.first, state.second});
  const Array x =
      stream_of(random_ints(kSteps * kDepth, 127, 10), static_cast<double>(kInScale), kInZero, {kSteps, 1, 1, 1, kDepth});
  Runner plain(compile_model(*model, how).blob);
  how.weights = "bf16";
  const Compiled low = compile_model(*model, how);
  EXPECT_EQ(check_compiled(model.get(), low, how, false).failure, "");
  Runner half(low.blob);
  EXPECT_TRUE(half.has_low_precision());
  EXPECT_EQ(half.run({{"input", x}}, {}).at("output").f32, plain.run({{"input", x}}, {}).at("output").f32);
}

// Features that drift as those of speech do: both programs make them from integers.
Ints drifting_features(int steps) {
  std::mt19937 random(7);
  Ints level(40, 0), out;
  for (int t = 0; t < 3 * steps; ++t) {
    for (int &l : level) {
      l = std::clamp(l + static_cast<int>(random() % 41) - 20, -128, 127);
      out.push_back(std::clamp(l + static_cast<int>(random() % 21) - 10, -128, 127));
    }
  }
  return out;
}

TEST(TfliteInt8, WakeWordsArePublishedAsTheReferenceInterpreterRunsThem) {
  if (models_in().empty()) GTEST_SKIP() << "RNNPACK_MODELS_IN_DIR is not set";
  for (const WakeWordGolden &golden : kWakeWordGoldens) {
    const std::string file = file_text(models_in() + "/microwakeword/" + golden.name + ".tflite");
    const auto steps = static_cast<int>(golden.outputs.size());
    Runner runner(compiled_of(file).blob);
    const auto got = runner.run({{"input_audio", stream_of(drifting_features(steps), golden.scale, -128, {steps, 1, 3, 40})}}, {});
    ASSERT_EQ(got.size(), 1u);
    for (int t = 0; t < steps; ++t) {
      const int y = integer_of(got.begin()->second.f32[static_cast<size_t>(t)], 1.0 / 256, 0);
      EXPECT_LE(std::abs(y - golden.outputs[static_cast<size_t>(t)]), 1) << golden.name << " at step " << t;
    }
  }
}

}  // namespace
}  // namespace rnnp::testing_support
