// tflite_int8_test.cpp -- int8 networks of TensorFlow Lite, with state in resource variables: the integers of the interpreter, by
// plain loops in 64 bits. And published files, where RNNPACK_MODELS_IN_DIR has them, beside what the reference interpreter gives.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "compiler/run/runner.h"
#include "compiler/verify/self_check.h"
#include "model_of.h"
#include "tflite_files.h"
#include "tflite_goldens.h"

namespace rnnp::testing_support {
namespace tflite_int8_test {

using namespace rnnp::compiler;
using Code = TfliteCode;

constexpr int kStreamSteps = 200;

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

// Results of one step; `window`: the last kTaps inputs.
Ints expected_of(const Int8Network &n, const Ints &window) {
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
  const Int8Network network;
  const Ints x = random_ints(kStreamSteps * kDepth, 127, 9);
  Runner runner(compiled_of(network.file()).blob);
  const auto got =
      runner.run({{"input", stream_of(x, static_cast<double>(kInScale), kInZero, {kStreamSteps, 1, 1, 1, kDepth})}}, {});
  Ints window = network.start;
  window.resize(kTaps * kDepth);
  int least = 127, most = -128;
  for (size_t t = 0; t < kStreamSteps; ++t) {
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
  const auto model = model_of(Int8Network().file());
  CompileOptions how;
  for (const auto &state : model->states) how.states.push_back({state.first, state.second});
  const Array x = stream_of(random_ints(kStreamSteps * kDepth, 127, 10), static_cast<double>(kInScale), kInZero,
                            {kStreamSteps, 1, 1, 1, kDepth});
  Runner plain(compile_model(*model, how).blob);
  how.weights = "bf16";
  Compiled low = compile_model(*model, how);
  EXPECT_EQ(check_compiled(model.get(), &low, how, false).failure, "");
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

}  // namespace tflite_int8_test
}  // namespace rnnp::testing_support
