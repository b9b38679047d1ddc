// executor_pthreadpool.cpp -- runs a team on a pthreadpool: exactly as many items as threads, each held at the step barrier,
// so no thread can finish early and steal another's item: item i is always on the pool's thread i.
// SPDX-License-Identifier: Apache-2.0
#include "rnnpack/executor_pthreadpool.h"

#if defined(_WIN32)
#include <windows.h>
#else
#include <pthread.h>
#include <sched.h>
#include <time.h>
#endif

namespace {

struct Region {
  void (*task)(void *arg, uint32_t thread);
  void *arg;
};

void run_item(void *context, size_t item) {
  const Region *region = static_cast<const Region *>(context);
  region->task(region->arg, static_cast<uint32_t>(item));
}

void parallel(void *ctx, void (*task)(void *arg, uint32_t thread), void *arg) {
  pthreadpool_t pool = static_cast<pthreadpool_t>(ctx);
  Region region = {task, arg};
  pthreadpool_parallelize_1d(pool, run_item, &region, pthreadpool_get_threads_count(pool), 0);
}

// A thread of higher priority that only yields would never let a lower one run on the same core: after some tries it sleeps.
constexpr uint32_t kYields = 32;

#if defined(_WIN32)
void wait(void *, uint32_t times) {
  Sleep(times < kYields ? 0 : 1);
}
#else
void wait(void *, uint32_t times) {
  const timespec pause = {0, 20000};
  if (times < kYields) {
    sched_yield();
  } else {
    nanosleep(&pause, nullptr);
  }
}
#endif

#if defined(__linux__)
struct Pinning {
  const int32_t *cpu_ids;
  uint32_t threads, arrived, failed;
};

void pin_item(void *arg, uint32_t thread) {
  Pinning *p = static_cast<Pinning *>(arg);
  cpu_set_t before, set;
  CPU_ZERO(&set);
  const bool known = pthread_getaffinity_np(pthread_self(), sizeof before, &before) == 0;
  const int32_t cpu = p->cpu_ids[thread];
  const bool valid = cpu >= 0 && cpu < CPU_SETSIZE;
  if (valid) CPU_SET(static_cast<size_t>(cpu), &set);
  if (!valid || pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0) __atomic_fetch_add(&p->failed, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&p->arrived, 1, __ATOMIC_ACQ_REL);
  while (__atomic_load_n(&p->arrived, __ATOMIC_ACQUIRE) < p->threads) sched_yield();
  if (__atomic_load_n(&p->failed, __ATOMIC_RELAXED) != 0 && known) pthread_setaffinity_np(pthread_self(), sizeof before, &before);
}

rnnp_status pin(pthreadpool_t pool, uint32_t threads, const int32_t *cpu_ids) {
  Pinning p = {cpu_ids, threads, 0, 0};
  parallel(pool, pin_item, &p);
  return p.failed == 0 ? RNNP_OK : RNNP_E_ARG;
}
#else
rnnp_status pin(pthreadpool_t, uint32_t, const int32_t *) {
  return RNNP_E_UNSUPPORTED;
}
#endif

}  // namespace

rnnp_status rnnp_executor_from_pthreadpool(rnnp_executor *executor, pthreadpool_t pool, const int32_t *cpu_ids) {
  if (executor == nullptr || executor->struct_bytes < sizeof(rnnp_executor)) return RNNP_E_ARG;
  const uint32_t threads = static_cast<uint32_t>(pthreadpool_get_threads_count(pool));
  if (cpu_ids != nullptr) {
    const rnnp_status status = pin(pool, threads, cpu_ids);
    if (status != RNNP_OK) return status;
  }
  executor->threads = threads;
  executor->ctx = pool;
  executor->parallel = parallel;
  executor->wait = wait;
  return RNNP_OK;
}
