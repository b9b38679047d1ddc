// gpu_check.cu -- the first program for a real GPU: what an exchange of h costs by words (kernels/exchange.h) and by a barrier of
// the grid, for 4 to 128 blocks. The resident kernels are right in using words where these are 1.3 times as fast at 16 and at 128
// blocks. Ends with 77 where there is no GPU. SPDX-License-Identifier: Apache-2.0
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <vector>

#include "cuda/kernels/exchange.h"
#include "gpu_program.h"

namespace {

using namespace rnnp::cuda;
using rnnp_bench::launch_us;
using rnnp_bench::need;

constexpr uint32_t kShortRun = 1000, kLongRun = 11000, kRounds = 9;
constexpr uint32_t kHidden = 1024;
constexpr double kWorthIt = 1.3;

__global__ void __launch_bounds__(256, 1) barrier_only(uint32_t steps) {
  for (uint32_t t = 0; t < steps; ++t) cooperative_groups::this_grid().sync();
}

// A step's exchange and its two barriers of the block, nothing else.
__global__ void __launch_bounds__(256, 1) words_only(const RecurrentArgs a) {
  uint32_t *in = reinterpret_cast<uint32_t *>(simt::shared());
  const uint32_t words = a.word_count / 2, mine = words / simt::block_count();
  uint32_t base;
  if (!begin_epochs(a, all_blocks(), &base)) return time_out(a);
  for (uint32_t t = 0; t < a.steps; ++t) {
    bool failed = false;
    if (t != 0) {
      const auto take = [&](uint32_t at, uint32_t first, uint32_t second) { in[at] = first, in[at + 1] = second; };
      failed = !poll_together(
          a, a.words + slot_of(base + t) * words, words, base + t, [](uint32_t i) { return i; }, take);
    }
    if (sync_after_poll(failed)) return time_out(a);
    uint64_t *to = a.words + slot_of(base + t + 1) * words + simt::block() * mine;
    if (simt::thread() < mine) simt::ll_store(to + simt::thread(), t == 0 ? 0 : in[0] + 1, base + t + 1);
    simt::sync_block();
  }
  end_epochs(a, all_blocks(), base);
}

// The median of the differences between a long run and a short one. go(steps): us of a launch.
template <class Go>
double us_a_step(Go go) {
  std::vector<double> all;
  for (uint32_t i = 0; i <= kRounds; ++i) {  // the first warms up
    const double few = go(kShortRun), many = go(kLongRun);
    if (i != 0) all.push_back((many - few) / (kLongRun - kShortRun));
  }
  std::nth_element(all.begin(), all.begin() + kRounds / 2, all.end());
  return all[kRounds / 2];
}

void check(uint32_t blocks) {
  const uint32_t words = kHidden / 2;
  RecurrentArgs a = {};
  a.word_count = 2 * words;
  a.spin_limit = 1u << 24;
  need(cudaMalloc(&a.words, a.word_count * sizeof *a.words), "cudaMalloc");
  need(cudaMalloc(&a.control, (kControlWords + kFindings) * sizeof *a.control), "cudaMalloc");
  a.findings = a.control + kControlWords;
  need(cudaMemset(a.words, 0, a.word_count * sizeof *a.words), "cudaMemset");
  need(cudaMemset(a.control, 0, kControlWords * sizeof *a.control), "cudaMemset");
  const double by_words = us_a_step([&](uint32_t steps) {
    a.steps = steps;
    return launch_us(reinterpret_cast<const void *>(words_only), &a, blocks, words * sizeof(uint32_t));
  });
  const double by_barrier =
      us_a_step([&](uint32_t steps) { return launch_us(reinterpret_cast<const void *>(barrier_only), &steps, blocks, 0); });
  uint32_t control[kControlWords];
  need(cudaMemcpy(control, a.control, sizeof control, cudaMemcpyDeviceToHost), "cudaMemcpy");
  printf("| %u | %.3f | %.3f | %.2f%s |\n", blocks, by_words, by_barrier, by_barrier / by_words,
         control[kTimedOut] != 0            ? ", timed out"
         : by_barrier / by_words < kWorthIt ? ", not worth it"
                                            : "");
  cudaFree(a.words);
  cudaFree(a.control);
}

}  // namespace

int main() {
  const uint32_t sms = rnnp_bench::sms_of_gpu();
  if (sms == 0) return 77;
  printf("Exchange of h, H %u in halves, us a step (medians of %u differences between %u and %u steps):\n\n", kHidden, kRounds,
         kLongRun, kShortRun);
  puts("| blocks | words | barrier of the grid | barrier / words |\n|---|---|---|---|");
  for (const uint32_t blocks : {4u, 8u, 16u, 32u, 64u, 128u}) {
    if (blocks <= sms) check(blocks);
  }
  return 0;
}
