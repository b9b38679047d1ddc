// barrier.h -- the barrier point of a team of threads, once per time step.
// Every thread writes its own line and reads the others': one cache-line transfer per pair, no shared counter to fight over.
// Waiting spins RNNP_SPINS_BEFORE_WAIT times at most, then is the executor's to do: a descheduled peer costs a time slice, not a
// core. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_BARRIER_H_
#define RNNPACK_OPS_BARRIER_H_

#include <stdint.h>

#include "base/arena.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

// One per thread, each on its own cache line. `epoch` counts the barriers that the thread has reached. A set of lines serves one
// team, always of the same threads: so all of a team's epochs are equal whenever none of it is inside a barrier.
struct alignas(64) Barrier {
  RNNPACK_BYTES_32(64);
  uint32_t epoch;
  void (*wait)(void *ctx, uint32_t times);
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

// Returns when *epoch has reached `wanted`.
inline void wait_for_epoch(const uint32_t *epoch, uint32_t wanted, const Barrier &self) {
  uint32_t spins = 0;
  while (static_cast<int32_t>(__atomic_load_n(epoch, __ATOMIC_ACQUIRE) - wanted) < 0) {
    if (spins >= RNNP_SPINS_BEFORE_WAIT) {
      self.wait(self.ctx, spins - RNNP_SPINS_BEFORE_WAIT);
    } else if (spins > kSpinsBeforeRelax) {
      cpu_relax();
    }
    if (spins != UINT32_MAX) ++spins;
  }
}

__attribute__((noinline)) inline void barrier_sync(Barrier *lines, uint32_t threads, uint32_t self) {
  const uint32_t epoch = lines[self].epoch + 1;
  __atomic_store_n(&lines[self].epoch, epoch, __ATOMIC_RELEASE);
  for (uint32_t i = 0; i < threads; ++i) wait_for_epoch(&lines[i].epoch, epoch, lines[self]);
}

// Thread `self` of the team lines[0 .. threads-1] waits until all have called this as often as it has. A thread that is alone has
// nobody to meet and counts nothing.
inline void barrier_wait(Barrier *lines, uint32_t threads, uint32_t self) {
  if (kManyThreads && threads != 1) barrier_sync(lines, threads, self);
}

}  // namespace rnnp
#endif  // RNNPACK_OPS_BARRIER_H_
