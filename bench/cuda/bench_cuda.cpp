// bench_cuda.cpp -- LSTM and GRU layers on this machine's GPU: us a step and us a call (launch, run and wait), the resident kernel
// beside a launch for each step, in turns in one process. Outputs are poisoned before and compared after. Clocks are read, not set.
// Peers (cuDNN, PyTorch, FlashRNN) are not run by this program. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "cuda/cuda_runner.h"

namespace {

using namespace rnnp_test;

constexpr int kRounds = 9;

struct Row {
  rnnp::Cell cell;
  uint32_t hidden, steps;
};
const Row kRows[] = {{rnnp::Cell::kLstm, 128, 64},        {rnnp::Cell::kLstm, 256, 150}, {rnnp::Cell::kLstm, 512, 25},
                     {rnnp::Cell::kLstm, 512, 300},       {rnnp::Cell::kLstm, 1024, 25}, {rnnp::Cell::kGruLinear, 512, 300},
                     {rnnp::Cell::kGruLinear, 1024, 300}, {rnnp::Cell::kGru, 512, 300}};

double seconds_of(CudaRunner *runner, size_t steps, const float *x, float *y) {
  const auto begin = std::chrono::steady_clock::now();
  expect_ok(rnnp_cuda_run(runner->session(), steps, x, y, nullptr), "run");
  expect_ok(rnnp_cuda_wait(runner->session(), nullptr), "wait");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

void measure(const Row &row, uint32_t weights, const rnnp_cuda_device &device) {
  BlobBuilder b(1, 16);
  RecurrentOptions layer;
  layer.cell = row.cell;
  layer.hidden = row.hidden;
  b.add_output(b.add_recurrent(b.add_input(row.hidden), row.hidden, layer));
  const std::vector<uint8_t> blob = b.build();
  CudaOptions o;
  o.weights = weights;
  o.chunk = row.steps;
  o.device = &device;
  CudaRunner first(blob, o);
  o.kernels = RNNP_CUDA_STEPS;
  CudaRunner second(blob, o);
  SharedArray<float> x(random_floats(size_t{row.steps} * row.hidden, 1)), y(size_t{row.steps} * row.hidden, NAN),
      z(size_t{row.steps} * row.hidden, NAN);
  std::vector<double> a, c;
  for (int i = 0; i <= kRounds; ++i) {  // the first round warms up
    first.reset();
    second.reset();
    const double one = seconds_of(&first, row.steps, x.data(), y.data()),
                 other = seconds_of(&second, row.steps, x.data(), z.data());
    if (i != 0) a.push_back(one), c.push_back(other);
  }
  const bool same = y.vector() == z.vector();
  const rnnp_cuda_layer_facts facts = first.layer();
  std::printf("%-10s H %4u T %4u %s: %8.2f us a step, %8.1f us a call, by steps %8.2f; predicted %6.2f; bits %s; %s\n",
              row.cell == rnnp::Cell::kLstm  ? "lstm"
              : row.cell == rnnp::Cell::kGru ? "gru"
                                             : "gru_linear",
              row.hidden, row.steps, weights == RNNP_CUDA_F16 ? "f16" : "f32", median(a) * 1e6 / row.steps, median(a) * 1e6,
              median(c) * 1e6 / row.steps, facts.predicted_ns * 1e-3, same ? "equal" : "DIFFER", facts.reason);
}

}  // namespace

int main() {
  rnnp_cuda_device device = RNNP_CUDA_DEVICE_INIT;
  if (rnnp_cuda_device_query(-1, &device) != RNNP_OK) {
    std::puts("no GPU: nothing was run");
    return 77;
  }
  std::printf("sm_%u, %u SMs, at most %u MHz; medians of %d rounds\n", device.arch / 10, device.sm_count, device.clock_mhz,
              kRounds);
  for (const Row &row : kRows) {
    for (const uint32_t weights : {RNNP_CUDA_F16, RNNP_CUDA_F32}) measure(row, weights, device);
  }
  std::puts("not measured here: cuDNN, PyTorch, FlashRNN, the exchange by grid.sync, this machine's CPU");
  return 0;
}
