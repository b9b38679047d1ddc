// wavefront_choice.cpp -- stacked layers on two threads: the planner's choice (often a wavefront) against sharing every layer and
// against one thread. Takes turns within one process; prints least and median nanoseconds per step as Markdown. Build with
// RNNPACK_PTHREADPOOL. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <vector>

#include "rnnpack/executor_pthreadpool.h"
#include "support/session_fixture.h"

namespace {

using namespace rnnp_test;
using rnnp::Cell;

constexpr int kRounds = 60;

class Stack {
 public:
  Stack(const std::vector<uint8_t> &blob, const rnnp_executor *executor, uint32_t flags) : blob_(blob) {
    expect_ok(rnnp_model_open(&model_, blob_.data(), blob_.size(), 0), "open");
    rnnp_session_options options;
    rnnp_session_options_init(&options, sizeof options);
    options.executor = executor;
    options.flags = flags;
    rnnp_memory memory = RNNP_MEMORY_INIT;
    expect_ok(rnnp_session_memory(&model_, &options, &memory), "memory");
    storage_ = AlignedBytes(memory.session_bytes);
    expect_ok(rnnp_session_init(&session_, &model_, &options, storage_.data(), storage_.size()), "init");
  }

  double ns_per_step(const std::vector<float> &x, std::vector<float> *y, size_t steps) {
    const auto begin = std::chrono::steady_clock::now();
    expect_ok(rnnp_run(session_, steps, x.data(), y->data()), "run");
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / static_cast<double>(steps);
  }

  rnnp_session_info facts() const {
    rnnp_session_info f = RNNP_SESSION_INFO_INIT;
    expect_ok(rnnp_session_get_info(session_, &f), "info");
    return f;
  }

 private:
  AlignedBytes blob_, storage_;
  rnnp_model model_;
  rnnp_session *session_ = nullptr;
};

std::vector<uint8_t> stack_of(Cell cell, uint32_t layers, uint32_t hidden) {
  BlobBuilder b(1);
  RecurrentOptions options;
  options.cell = cell;
  options.hidden = hidden;
  uint32_t value = b.add_input(hidden);
  for (uint32_t i = 0; i < layers; ++i) value = b.add_recurrent(value, hidden, options);
  b.add_output(value);
  return b.build();
}

void measure(Cell cell, uint32_t layers, uint32_t hidden, size_t steps, const rnnp_executor *executor) {
  const std::vector<uint8_t> blob = stack_of(cell, layers, hidden);
  Stack one(blob, nullptr, 0), shared(blob, executor, RNNP_SESSION_ALL_THREADS), chosen(blob, executor, 0);
  const std::vector<float> x = random_floats(steps * hidden, 1);
  std::vector<float> y(steps * hidden);
  const std::array<Stack *, 3> stacks = {&one, &shared, &chosen};
  std::array<std::vector<double>, 3> ns;
  for (int round = 0; round <= kRounds; ++round) {
    for (size_t i = 0; i < stacks.size(); ++i) {
      const double taken = stacks[i]->ns_per_step(x, &y, steps);
      if (round != 0) ns[i].push_back(taken);
    }
  }
  for (auto &taken : ns) std::sort(taken.begin(), taken.end());
  const rnnp_session_info f = chosen.facts();
  const char *how = f.wavefront_stages != 0 && steps >= f.wavefront_steps ? "wavefront" : f.threads > 1 ? "shared" : "one thread";
  std::printf("| %s | %u x %u | %zu | %.0f | %.0f | %.0f (%s) | %.0f / %.0f / %.0f |\n", cell == Cell::kLstm ? "LSTM" : "GRU",
              layers, hidden, steps, ns[0][0], ns[1][0], ns[2][0], how, ns[0][kRounds / 2], ns[1][kRounds / 2], ns[2][kRounds / 2]);
}

}  // namespace

int main() {
  const int32_t cpus[2] = {0, 1};
  const pthreadpool_t pool = pthreadpool_create(2);
  rnnp_executor executor = RNNP_EXECUTOR_INIT;
  expect_ok(rnnp_executor_from_pthreadpool(&executor, pool, cpus), "executor");
  std::printf("| cell | layers x H | steps | one thread | shared | chosen | medians |\n|---|---|--:|--:|--:|--:|--:|\n");
  for (const Cell cell : {Cell::kLstm, Cell::kGruLinear}) {
    for (const uint32_t hidden : {16u, 32u, 64u, 128u, 256u}) {
      for (const uint32_t layers : {2u, 3u}) {
        for (const size_t steps : {size_t{100}, size_t{1000}}) measure(cell, layers, hidden, steps, &executor);
      }
    }
  }
  pthreadpool_destroy(pool);
  return 0;
}
