// threads_test.cpp -- the executor on plain threads: its tasks run at the same time, on the same threads, and misuse has a status.
// SPDX-License-Identifier: Apache-2.0
#include "rnnpack/threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "support/session_fixture.h"

namespace rnnp_test {
namespace {

struct Seen {
  std::vector<std::thread::id> ids;
  std::atomic<uint32_t> arrived{0};
};

// Returns when all tasks of the region have begun.
void note_thread(void *arg, uint32_t thread) {
  Seen &seen = *static_cast<Seen *>(arg);
  seen.ids[thread] = std::this_thread::get_id();
  ++seen.arrived;
  while (seen.arrived < seen.ids.size()) std::this_thread::yield();
}

TEST(Threads, TasksRunTogetherAndStayOnTheirThreads) {
  for (const uint32_t threads : {1u, 2u, 5u}) {
    AlignedBytes memory(RNNP_THREADS_BYTES(threads));
    rnnp_executor e = RNNP_EXECUTOR_INIT;
    ASSERT_EQ(RNNP_OK, rnnp_threads_start(&e, threads, nullptr, memory.data(), memory.size()));
    std::vector<std::thread::id> first;
    for (int region = 0; region < 50; ++region) {
      Seen seen;
      seen.ids.resize(threads);
      e.parallel(e.ctx, note_thread, &seen);
      EXPECT_EQ(std::this_thread::get_id(), seen.ids[0]);
      if (first.empty()) first = seen.ids;
      EXPECT_EQ(first, seen.ids);
    }
    rnnp_threads_stop(&e);
    EXPECT_EQ(1u, e.threads);
    rnnp_threads_stop(&e);
  }
  rnnp_threads_stop(nullptr);
}

TEST(Threads, MisuseHasAStatus) {
  AlignedBytes memory(RNNP_THREADS_BYTES(2) + 64);
  rnnp_executor e = RNNP_EXECUTOR_INIT;
  const auto start = [&](uint32_t threads, const int32_t *cpus, size_t offset, size_t bytes) {
    return rnnp_threads_start(&e, threads, cpus, memory.data() + offset, bytes);
  };
  EXPECT_EQ(RNNP_E_ARG, rnnp_threads_start(nullptr, 2, nullptr, memory.data(), memory.size()));
  EXPECT_EQ(RNNP_E_ARG, rnnp_threads_start(&e, 2, nullptr, nullptr, memory.size()));
  EXPECT_EQ(RNNP_E_ARG, start(0, nullptr, 0, memory.size()));
  EXPECT_EQ(RNNP_E_ARG, start(RNNP_MAX_THREADS + 1, nullptr, 0, memory.size()));
  EXPECT_EQ(RNNP_E_ALIGN, start(2, nullptr, 8, RNNP_THREADS_BYTES(2)));
  EXPECT_EQ(RNNP_E_SMALL_MEMORY, start(2, nullptr, 0, RNNP_THREADS_BYTES(2) - 1));
  rnnp_executor unsized = RNNP_EXECUTOR_INIT;
  unsized.struct_bytes = 0;
  EXPECT_EQ(RNNP_E_ARG, rnnp_threads_start(&unsized, 2, nullptr, memory.data(), memory.size()));
#ifdef __linux__
  for (const int32_t bad : {-1, 1 << 20}) {
    for (const uint32_t which : {0u, 1u}) {
      int32_t cpus[2] = {0, 0};
      cpus[which] = bad;
      EXPECT_EQ(RNNP_E_ARG, start(2, cpus, 0, memory.size())) << bad;
    }
  }
#endif
  EXPECT_EQ(nullptr, e.parallel);
}

#ifdef __linux__
TEST(Threads, PinnedOnesRunWhereTheyWereSent) {
  std::thread([] {  // its own pinning stays with it
    AlignedBytes memory(RNNP_THREADS_BYTES(2));
    cpu_set_t allowed;
    ASSERT_EQ(0, sched_getaffinity(0, sizeof allowed, &allowed));
    int32_t cpu = 0;
    while (!CPU_ISSET(static_cast<size_t>(cpu), &allowed)) ++cpu;
    const int32_t cpus[2] = {cpu, cpu};
    rnnp_executor e = RNNP_EXECUTOR_INIT;
    ASSERT_EQ(RNNP_OK, rnnp_threads_start(&e, 2, cpus, memory.data(), memory.size()));
    std::atomic<int32_t> elsewhere{0};
    struct Where {
      int32_t cpu;
      std::atomic<int32_t> *elsewhere;
    } where = {cpu, &elsewhere};
    const auto look = [](void *arg, uint32_t) {
      const Where &w = *static_cast<Where *>(arg);
      if (sched_getcpu() != w.cpu) ++*w.elsewhere;
    };
    e.parallel(e.ctx, look, &where);
    EXPECT_EQ(0, elsewhere);
    rnnp_threads_stop(&e);
  })
      .join();
}
#endif

}  // namespace
}  // namespace rnnp_test
