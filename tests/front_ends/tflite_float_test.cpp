// tflite_float_test.cpp -- TensorFlow Lite's recurrent operators and loops in float, against plain loops in f64.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "model_of.h"
#include "tflite_files.h"

namespace rnnp::testing_support {
namespace tflite_float_test {

using namespace rnnp::compiler;
using Code = TfliteCode;

constexpr float kTolerance = 2e-6f;

double logistic(double x) {
  return 1 / (1 + std::exp(-x));
}

// Rows of a matrix [rows, columns] times x.
Doubles times(const Floats &w, const Doubles &x) {
  Doubles y(w.size() / x.size(), 0.0);
  for (size_t i = 0; i < w.size(); ++i) y[i / x.size()] += static_cast<double>(w[i]) * x[i % x.size()];
  return y;
}

Doubles step_of(const Floats &x, size_t t, size_t features) {
  const auto from = x.begin() + static_cast<std::ptrdiff_t>(t * features);
  return Doubles(from, from + static_cast<std::ptrdiff_t>(features));
}

Doubles lstm(const LstmWeights &w, const Floats &x, bool peepholes, bool coupled, bool reverse = false) {
  Doubles h(kUnits, 0.0), c(kUnits, 0.0), out(kSteps * kUnits);
  for (size_t s = 0; s < kSteps; ++s) {
    const size_t t = reverse ? kSteps - 1 - s : s;
    Doubles pre[4];
    for (size_t g = 0; g < 4; ++g) {
      const Doubles a = times(w.w[g], step_of(x, t, kInputs)), b = times(w.r[g], h);
      for (size_t i = 0; i < kUnits; ++i) pre[g].push_back(a[i] + b[i] + static_cast<double>(w.b[g][i]));
    }
    for (size_t i = 0; i < kUnits; ++i) {
      const double p = peepholes ? 1 : 0;
      const double f = logistic(pre[1][i] + p * static_cast<double>(w.p[1][i]) * c[i]);
      const double in = coupled ? 1 - f : logistic(pre[0][i] + p * static_cast<double>(w.p[0][i]) * c[i]);
      c[i] = f * c[i] + in * std::tanh(pre[2][i]);
      h[i] = logistic(pre[3][i] + p * static_cast<double>(w.p[2][i]) * c[i]) * std::tanh(c[i]);
      out[t * kUnits + i] = h[i];
    }
  }
  return out;
}

TEST(TfliteLstm, IsThePlainLoop) {
  const LstmWeights w = lstm_weights(1);
  const Floats x = random_numbers(kSteps * kInputs, 1, 5);
  EXPECT_LT(largest_difference(outputs_of(lstm_file(w, false, false), x, kInputs), lstm(w, x, false, false)), kTolerance);
  EXPECT_LT(largest_difference(outputs_of(lstm_file(w, true, false), x, kInputs), lstm(w, x, true, false)), kTolerance)
      << "peepholes";
}

TEST(TfliteLstm, CouplesItsInputGateWhereThatIsLeftOut) {
  const LstmWeights w = lstm_weights(2);
  const Floats x = random_numbers(kSteps * kInputs, 1, 6);
  EXPECT_LT(largest_difference(outputs_of(lstm_file(w, false, true), x, kInputs), lstm(w, x, false, true)), kTolerance);
  EXPECT_LT(largest_difference(outputs_of(lstm_file(w, true, true), x, kInputs), lstm(w, x, true, true)), kTolerance)
      << "peepholes";
}

TEST(TfliteLstm, OfTwoDirections) {
  const LstmWeights forward = lstm_weights(3), backward = lstm_weights(4);
  TfliteWriter file;
  const int x = file.tensor("input", {kSteps, 1, kInputs}), y = file.tensor("output", {kSteps, 1, 2 * kUnits});
  std::vector<int32_t> operands = {x};
  for (const auto *w : {&forward, &backward}) {
    for (const int32_t i : lstm_operands(&file, *w, false, false)) operands.push_back(i);
    operands.insert(operands.end(), {-1, -1});
  }
  for (int i = 0; i < 4; ++i) operands.push_back(file.tensor("state", {1, kUnits}));
  operands.resize(48, -1);
  file.op(Code::kBidirectionalLstm, operands, {y}, activation(0, 4).number(3, uint8_t{1}));
  file.graph_io({x}, {y});
  const Floats input = random_numbers(kSteps * kInputs, 1, 7);
  const Doubles a = lstm(forward, input, false, false), b = lstm(backward, input, false, false, true);
  Doubles expected;
  for (size_t t = 0; t < kSteps; ++t) {
    for (const Doubles *half : {&a, &b})
      expected.insert(expected.end(), half->begin() + static_cast<std::ptrdiff_t>(t * kUnits),
                      half->begin() + static_cast<std::ptrdiff_t>((t + 1) * kUnits));
  }
  EXPECT_LT(largest_difference(output_of(file.file(), {kSteps, 1, kInputs}, input), expected), kTolerance);
}

Doubles rnn(const Floats &w, const Floats &r, const Floats &b, const Floats &x, const std::function<double(double)> &act,
            bool reverse) {
  Doubles h(kUnits, 0.0), out(kSteps * kUnits);
  for (size_t s = 0; s < kSteps; ++s) {
    const size_t t = reverse ? kSteps - 1 - s : s;
    const Doubles in = times(w, step_of(x, t, kInputs)), back = times(r, h);
    for (size_t i = 0; i < kUnits; ++i) out[t * kUnits + i] = h[i] = act(in[i] + back[i] + static_cast<double>(b[i]));
  }
  return out;
}

TEST(TfliteRnn, IsThePlainLoopWithEachActivation) {
  const Floats w = random_numbers(kUnits * kInputs, 0.7f, 1), r = random_numbers(kUnits * kUnits, 0.4f, 2),
               b = random_numbers(kUnits, 0.5f, 3);
  const Floats x = random_numbers(kSteps * kInputs, 1, 4);
  const std::pair<int, std::function<double(double)>> kActivations[] = {
      {0, [](double v) { return v; }}, {1, [](double v) { return std::fmax(v, 0); }}, {4, [](double v) { return std::tanh(v); }}};
  for (const auto &act : kActivations) {
    TfliteWriter file;
    const int in = file.tensor("input", {1, kSteps, kInputs}), out = file.tensor("output", {1, kSteps, kUnits});
    file.op(Code::kRnn,
            {in, file.floats({kUnits, kInputs}, w), file.floats({kUnits, kUnits}, r), file.floats({kUnits}, b),
             file.tensor("h", {1, kUnits})},
            {out}, activation(1, act.first));
    file.graph_io({in}, {out});
    EXPECT_LT(largest_difference(outputs_of(file.file(), x, kInputs), rnn(w, r, b, x, act.second, false)), kTolerance) << act.first;
  }
}

TEST(TfliteRnn, OfTwoDirectionsAddsBoth) {
  Floats w[2], r[2], b[2];
  TfliteWriter file;
  const int in = file.tensor("input", {kSteps, 1, kInputs}), forward = file.tensor("forward", {kSteps, 1, kUnits}),
            backward = file.tensor("backward", {kSteps, 1, kUnits}), out = file.tensor("output", {kSteps, 1, kUnits});
  std::vector<int32_t> operands = {in};
  for (uint32_t d = 0; d < 2; ++d) {
    w[d] = random_numbers(kUnits * kInputs, 0.7f, 11 + d), r[d] = random_numbers(kUnits * kUnits, 0.4f, 21 + d),
    b[d] = random_numbers(kUnits, 0.5f, 31 + d);
    operands.insert(operands.end(), {file.floats({kUnits, kInputs}, w[d]), file.floats({kUnits, kUnits}, r[d]),
                                     file.floats({kUnits}, b[d]), file.tensor("h", {1, kUnits})});
  }
  operands.resize(12, -1);
  file.op(Code::kBidirectionalRnn, operands, {forward, backward}, activation(1, 4).number(0, uint8_t{1}));
  file.op(Code::kAdd, {forward, backward}, {out});
  file.graph_io({in}, {out});
  const Floats x = random_numbers(kSteps * kInputs, 1, 4);
  const auto tanh = [](double v) { return std::tanh(v); };
  Doubles expected = rnn(w[0], r[0], b[0], x, tanh, false);
  const Doubles other = rnn(w[1], r[1], b[1], x, tanh, true);
  for (size_t i = 0; i < expected.size(); ++i) expected[i] += other[i];
  EXPECT_LT(largest_difference(output_of(file.file(), {kSteps, 1, kInputs}, x), expected), kTolerance);
}

TEST(TfliteSvdf, RemembersWhatItsFiltersMade) {
  constexpr int kRank = 2, kFilters = kRank * kUnits, kMemory = 5;
  const Floats feature = random_numbers(kFilters * kInputs, 0.7f, 1), time = random_numbers(kFilters * kMemory, 0.7f, 2),
               b = random_numbers(kUnits, 0.5f, 3);
  TfliteWriter file;
  const int in = file.tensor("input", {1, kInputs}), out = file.tensor("output", {1, kUnits});
  file.op(Code::kSvdf,
          {in, file.floats({kFilters, kInputs}, feature), file.floats({kFilters, kMemory}, time), file.floats({kUnits}, b),
           file.tensor("state", {1, kFilters * kMemory})},
          {out}, FlatOut().number(0, int32_t{kRank}).number(1, int8_t{1}));
  file.graph_io({in}, {out});
  const Floats x = random_numbers(kSteps * kInputs, 1, 4);
  Doubles memory(kFilters * kMemory, 0.0), expected;
  for (size_t t = 0; t < kSteps; ++t) {
    const Doubles now = times(feature, step_of(x, t, kInputs));
    Doubles y(b.begin(), b.end());
    for (size_t f = 0; f < kFilters; ++f) {
      for (size_t m = 0; m < kMemory; ++m) {
        double &cell = memory[f * kMemory + m];
        cell = m + 1 < kMemory ? memory[f * kMemory + m + 1] : now[f];
        y[f / kRank] += cell * static_cast<double>(time[f * kMemory + m]);
      }
    }
    for (const double v : y) expected.push_back(std::fmax(v, 0));
  }
  EXPECT_LT(largest_difference(output_of(file.file(), {kSteps, 1, kInputs}, x), expected), kTolerance);
}

GruWeights gru_weights(const std::function<float(float)> &rounded) {
  GruWeights w = {random_numbers(3 * kUnits * kInputs, 0.7f, 1), random_numbers(3 * kUnits * kUnits, 0.7f, 2),
                  random_numbers(3 * kUnits, 0.4f, 3), random_numbers(3 * kUnits, 0.4f, 4)};
  for (Floats *matrix : {&w.w, &w.r}) {
    for (float &v : *matrix) v = rounded(v);
  }
  return w;
}

Doubles gru(const GruWeights &w, const Floats &x) {
  Doubles h(kUnits, 0.0), out;
  for (size_t t = 0; t < kSteps; ++t) {
    const Doubles a = times(w.w, step_of(x, t, kInputs)), b = times(w.r, h);
    for (size_t i = 0; i < kUnits; ++i) {
      const auto in = [&](size_t g) { return a[g * kUnits + i] + static_cast<double>(w.bw[g * kUnits + i]); };
      const auto back = [&](size_t g) { return b[g * kUnits + i] + static_cast<double>(w.br[g * kUnits + i]); };
      const double z = logistic(in(0) + back(0)), r = logistic(in(1) + back(1));
      h[i] = z * h[i] + (1 - z) * std::tanh(in(2) + r * back(2));
    }
    out.insert(out.end(), h.begin(), h.end());
  }
  return out;
}

TEST(TfliteWhile, OfKerasIsAGruLayer) {
  const GruWeights w = gru_weights([](float v) { return v; });
  const Floats x = random_numbers(kSteps * kInputs, 1, 5);
  const std::string file = gru_loop(w);
  EXPECT_LT(largest_difference(outputs_of(file, x, kInputs), gru(w, x)), kTolerance);
  EXPECT_EQ(compiled_of(file).graph.nodes.size(), 1u) << "the loop is one layer";
  EXPECT_NE(refusal_of_file(gru_loop(w, {kSteps - 1})).find("how often it runs"), std::string::npos);
}

// A fixed number of steps that convolutions, pools or reshapes made: the whole sequence is one call.
TEST(TfliteWhile, IsALayerOverAnAxisThatIsNotTheInputs) {
  const GruWeights w = gru_weights([](float v) { return v; });
  const Floats x = random_numbers(kSteps * kInputs, 1, 5);
  const Doubles all = gru(w, x);
  for (const bool keeps_last : {false, true}) {
    GruLoop how;
    how.of_features = true;
    how.keeps_last = keeps_last;
    const Doubles expected(keeps_last ? all.end() - kUnits : all.begin(), all.end());
    EXPECT_LT(largest_difference(output_of(gru_loop(w, how), {1, kSteps * kInputs}, x), expected), kTolerance) << keeps_last;
  }
}

TEST(TfliteWhile, IsALayerWhereItsWeightsAreHalves) {
  const GruWeights w = gru_weights([](float v) { return std::round(v * 256) / 256; });
  const Floats x = random_numbers(kSteps * kInputs, 1, 5);
  GruLoop how;
  how.type = TfliteType::kFloat16;
  const std::string file = gru_loop(w, how);
  EXPECT_LT(largest_difference(outputs_of(file, x, kInputs), gru(w, x)), kTolerance);
  EXPECT_EQ(compiled_of(file).graph.nodes.size(), 1u) << "the loop is one layer";
}

TEST(TfliteWhile, IsALayerThatKeepsIntegersOfItsWeights) {
  GruLoop how;
  how.type = TfliteType::kInt8;
  how.scale = 1.0f / 64;
  const GruWeights w = gru_weights([](float v) { return std::fmax(std::fmin(std::round(v * 64), 60.0f), -60.0f) / 64; });
  const Floats x = random_numbers(kSteps * kInputs, 1, 5);
  const Compiled compiled = compiled_of(gru_loop(w, how));
  ASSERT_EQ(compiled.graph.nodes.size(), 1u) << "the loop is one layer";
  const Recurrent &layer = *layer_of(compiled.graph.nodes[0]);
  for (const Storage *storage : {&layer.directions[0].w_storage, &layer.directions[0].r_storage}) {
    EXPECT_EQ(storage->type, DType::kI8);
    EXPECT_EQ(storage->scales, Floats(3 * kUnits, how.scale));
  }
  constexpr float kRowsInBytes = 0.02f;
  EXPECT_LT(largest_difference(outputs_of(gru_loop(w, how), x, kInputs), gru(w, x)), kRowsInBytes);
}

}  // namespace tflite_float_test
}  // namespace rnnp::testing_support
