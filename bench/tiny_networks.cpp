// tiny_networks.cpp -- amplifiers of one or two LSTM layers and an output layer, 480 samples a call: ours beside the stand-in of
// fixed_lstm.h, on the same weights and taking turns. Prints least and median nanoseconds a sample as Markdown.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "native/fixed_lstm.h"
#include "support/session_fixture.h"

namespace {

using namespace rnnp_test;

constexpr size_t kSamples = 480;
constexpr int kRounds = 2000;

struct Tiny {
  std::vector<uint8_t> blob;
  std::vector<float> plain;
};

// ONNX has the gates i o f c and two biases; plug-ins i f c o and one.
Tiny make(uint32_t layers, uint32_t hidden) {
  BlobBuilder b(7);
  RecurrentOptions options;
  options.hidden = hidden;
  uint32_t value = b.add_input(1);
  for (uint32_t i = 0; i < layers; ++i) value = b.add_recurrent(value, i == 0 ? 1 : hidden, options);
  b.add_output(b.add_dense(value, hidden, 1));
  Tiny tiny = {b.build(), {}};
  for (const RecurrentLayer &layer : b.recurrent) {
    const DirectionWeights &d = layer.directions[0];
    const uint32_t order[4] = {0, 2, 3, 1};
    for (const uint32_t gate : order) {
      for (uint32_t unit = gate * hidden; unit < (gate + 1) * hidden; ++unit) {
        for (uint32_t i = 0; i < layer.input; ++i) tiny.plain.push_back(float(d.w[size_t{unit} * layer.input + i]));
        for (uint32_t i = 0; i < hidden; ++i) tiny.plain.push_back(float(d.r[size_t{unit} * hidden + i]));
      }
    }
    for (const uint32_t gate : order)
      for (uint32_t unit = gate * hidden; unit < (gate + 1) * hidden; ++unit) tiny.plain.push_back(float(d.wb[unit] + d.rb[unit]));
  }
  for (const double w : b.dense[0].w) tiny.plain.push_back(float(w));
  tiny.plain.push_back(float(b.dense[0].b[0]));
  return tiny;
}

template <class Work>
double ns(Work work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / kSamples;
}

void measure(uint32_t layers, uint32_t hidden, uint32_t isa) {
  const Tiny tiny = make(layers, hidden);
  Options options;
  options.isa = isa;
  Runner ours(tiny.blob, options);
  const auto theirs = rnnpack_bench::make_fixed_lstm(int(layers), int(hidden), tiny.plain);
  const std::vector<float> x = random_floats(kSamples, 1);
  std::vector<float> y(kSamples), z(kSamples), a, b;
  float apart = 0;
  for (int round = 0; round < kRounds; ++round) {
    a.push_back(float(ns([&] { expect_ok(rnnp_run(ours.session(), kSamples, x.data(), y.data()), "run"); })));
    b.push_back(float(ns([&] { theirs->process(x.data(), z.data(), kSamples); })));
    for (size_t i = 0; i < kSamples; ++i) apart = std::max(apart, std::fabs(y[i] - z[i]));
  }
  if (!(apart < 1e-2f)) std::printf("the two networks differ by %g\n", apart), std::exit(1);
  std::sort(a.begin(), a.end()), std::sort(b.begin(), b.end());
  std::printf("| %u x %u | %.1f | %.1f | %.2f | %.1f / %.1f | %.1e |\n", layers, hidden, a[0], b[0], a[0] / b[0], a[kRounds / 2],
              b[kRounds / 2], apart);
}

}  // namespace

int main(int argc, char **argv) {
  const bool avx2 = argc == 2 && std::strcmp(argv[1], "avx2") == 0;
  if (argc > 1 && !avx2) return std::fprintf(stderr, "usage: rnnpack_tiny_networks [avx2]\n"), 2;
  std::printf("| layers x H | rnnpack | stand-in | ratio | medians | apart |\n|---|--:|--:|--:|--:|--:|\n");
  const uint32_t shapes[][2] = {{1, 8}, {1, 16}, {1, 24}, {2, 8}, {2, 16}};
  for (const auto &shape : shapes) measure(shape[0], shape[1], avx2 ? RNNP_ISA_AVX2 : 0);
  return 0;
}
