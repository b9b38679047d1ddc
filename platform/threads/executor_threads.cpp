// executor_threads.cpp -- Contract: rnnpack/threads.h. One lock and two conditions; what differs per system is in system_threads.h.
// SPDX-License-Identifier: Apache-2.0
#include "rnnpack/threads.h"

#include "platform/threads/system_threads.h"

namespace {

using rnnp::SystemThread;

struct Team;

struct alignas(64) Member {
  Team *team;
  uint32_t index;  // from 1
  int32_t cpu;     // -1: not pinned
  SystemThread thread;
};

struct alignas(64) Team {
  rnnp::Lock lock;
  rnnp::Condition wake, done;
  void (*task)(void *arg, uint32_t thread);
  void *arg;
  uint64_t region;
  uint32_t started, running, pin_failures;
  bool stopping;

  Member *members() { return reinterpret_cast<Member *>(this + 1); }
};

static_assert(sizeof(Team) <= 512 && sizeof(Member) <= 64, "RNNP_THREADS_BYTES");

void work(void *arg) {
  const Member &self = *static_cast<Member *>(arg);
  Team &t = *self.team;
  const bool pinned = self.cpu < 0 || rnnp::pin_this_thread(self.cpu);
  uint64_t seen = 0;
  t.lock.take();
  if (!pinned) ++t.pin_failures;
  if (--t.running == 0) t.done.signal();
  for (;;) {
    while (!t.stopping && t.region == seen) t.wake.wait(&t.lock);
    if (t.stopping) break;
    seen = t.region;
    void (*const task)(void *, uint32_t) = t.task;
    void *const task_arg = t.arg;
    t.lock.release();
    task(task_arg, self.index);
    t.lock.take();
    if (--t.running == 0) t.done.signal();
  }
  t.lock.release();
}

void wait_for_members(Team *t) {
  t->lock.take();
  while (t->running != 0) t->done.wait(&t->lock);
  t->lock.release();
}

void parallel(void *ctx, void (*task)(void *arg, uint32_t thread), void *arg) {
  Team *t = static_cast<Team *>(ctx);
  t->lock.take();
  t->task = task;
  t->arg = arg;
  t->running = t->started;
  ++t->region;
  t->wake.broadcast();
  t->lock.release();
  task(arg, 0);
  wait_for_members(t);
}

// A thread that only yields would keep one of lower priority off the core: after some tries it sleeps.
void wait(void *, uint32_t times) {
  if (times < 32) {
    rnnp::yield_this_thread();
  } else {
    rnnp::sleep_a_little();
  }
}

void stop(Team *t) {
  t->lock.take();
  t->stopping = true;
  t->wake.broadcast();
  t->lock.release();
  for (uint32_t i = 0; i < t->started; ++i) t->members()[i].thread.join();
  t->wake.destroy();
  t->done.destroy();
  t->lock.destroy();
}

rnnp_status start_members(Team *t, uint32_t threads, const int32_t *cpu_ids) {
  t->running = threads - 1;  // until each has begun
  for (uint32_t i = 1; i < threads; ++i) {
    Member &m = t->members()[i - 1];
    m.team = t;
    m.index = i;
    m.cpu = cpu_ids != nullptr ? cpu_ids[i] : -1;
    if (!m.thread.start(work, &m)) {
      t->lock.take();
      t->running -= threads - i;
      t->lock.release();
      return RNNP_E_SMALL_MEMORY;
    }
    ++t->started;
  }
  wait_for_members(t);
  if (cpu_ids != nullptr && (t->pin_failures != 0 || !rnnp::pin_this_thread(cpu_ids[0]))) return RNNP_E_ARG;
  return RNNP_OK;
}

bool are_cpu_numbers(const int32_t *cpu_ids, uint32_t threads) {
  for (uint32_t i = 0; i < threads; ++i) {
    if (cpu_ids[i] < 0) return false;
  }
  return true;
}

}  // namespace

rnnp_status rnnp_threads_start(rnnp_executor *executor, uint32_t threads, const int32_t *cpu_ids, void *mem, size_t bytes) {
  if (executor == nullptr || executor->struct_bytes < sizeof(rnnp_executor) || mem == nullptr) return RNNP_E_ARG;
  if (threads == 0 || threads > RNNP_MAX_THREADS) return RNNP_E_ARG;
  if (cpu_ids != nullptr && !rnnp::kCanPin) return RNNP_E_UNSUPPORTED;
  if (cpu_ids != nullptr && !are_cpu_numbers(cpu_ids, threads)) return RNNP_E_ARG;
  if (reinterpret_cast<uintptr_t>(mem) % alignof(Team) != 0) return RNNP_E_ALIGN;
  if (bytes < RNNP_THREADS_BYTES(threads)) return RNNP_E_SMALL_MEMORY;
  Team *t = static_cast<Team *>(mem);
  t->lock.init();
  t->wake.init();
  t->done.init();
  t->region = 0;
  t->started = t->running = t->pin_failures = 0;
  t->stopping = false;
  const rnnp_status status = start_members(t, threads, cpu_ids);
  if (status != RNNP_OK) {
    stop(t);
    return status;
  }
  executor->threads = threads;
  executor->ctx = t;
  executor->parallel = parallel;
  executor->wait = wait;
  return RNNP_OK;
}

void rnnp_threads_stop(rnnp_executor *executor) {
  if (executor == nullptr || executor->parallel != parallel) return;
  stop(static_cast<Team *>(executor->ctx));
  executor->threads = 1;
  executor->ctx = nullptr;
  executor->parallel = nullptr;
  executor->wait = nullptr;
}
