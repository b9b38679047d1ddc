// barrier.h -- the meeting point of a team of threads, once per time step.
// Every thread writes its own line and reads the others': one cache-line transfer per pair, no shared counter to fight over.
// Waiting spins a bounded number of times, then asks the executor to yield: a descheduled peer costs a time slice, not a core.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_BARRIER_H_
#define RNNPACK_OPS_BARRIER_H_

#include <stdint.h>

#include "base/threads.h"

namespace rnnp {

// One per thread, each on its own cache line. `epoch` counts the barriers that the thread has reached.
struct alignas(64) Barrier {
  uint32_t epoch;
  void (*yield)(void *ctx);
  void *ctx;
};

inline void cpu_relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
  __asm__ volatile("yield" ::: "memory");
#endif
}

constexpr uint32_t kSpinsBeforeRelax = 64;
constexpr uint32_t kSpinsBeforeYield = 4096;

// Thread `self` of the team lines[0 .. threads-1] waits until all have called this as often as it has.
inline void barrier_wait(Barrier *lines, uint32_t threads, uint32_t self) {
  if (!kManyThreads) return;
  const uint32_t epoch = lines[self].epoch + 1;
  __atomic_store_n(&lines[self].epoch, epoch, __ATOMIC_RELEASE);
  for (uint32_t i = 0; i < threads; ++i) {
    uint32_t spins = 0;
    while (static_cast<int32_t>(__atomic_load_n(&lines[i].epoch, __ATOMIC_ACQUIRE) - epoch) < 0) {
      ++spins;
      if (spins > kSpinsBeforeYield && lines[self].yield != nullptr) {
        lines[self].yield(lines[self].ctx);
      } else if (spins > kSpinsBeforeRelax) {
        cpu_relax();
      }
    }
  }
}

}  // namespace rnnp
#endif  // RNNPACK_OPS_BARRIER_H_
