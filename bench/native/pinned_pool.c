/* The pool of pinned_pool.h: a job counter the helpers wait for, first spinning, then on a condition variable.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "pinned_pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "clock_ns.h"

enum { SPIN_NS = 1000000, CACHE_LINE = 64, YIELDS = 64 };

typedef struct helper {
  pthread_t id;
  pinned_pool *pool;
  uint32_t thread;
} helper;

struct pinned_pool {
  void (*task)(void *arg, uint32_t thread);
  void *arg;
  _Alignas(CACHE_LINE) atomic_uint job;     /* counts up; 0 is "none yet" */
  _Alignas(CACHE_LINE) atomic_uint running; /* helpers that have not finished the current job */
  _Alignas(CACHE_LINE) atomic_uint asleep;
  atomic_bool stop;
  pthread_mutex_t mutex;
  pthread_cond_t wake;
  uint32_t threads;
  helper helpers[];
};

static void pin_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((unsigned)cpu, &set);
  (void)pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

static void sleep_until_job(pinned_pool *pool, unsigned last) {
  pthread_mutex_lock(&pool->mutex);
  atomic_fetch_add(&pool->asleep, 1u);
  while (atomic_load(&pool->job) == last) pthread_cond_wait(&pool->wake, &pool->mutex);
  atomic_fetch_sub(&pool->asleep, 1u);
  pthread_mutex_unlock(&pool->mutex);
}

static unsigned wait_for_job(pinned_pool *pool, unsigned last) {
  const uint64_t end = clock_ns() + SPIN_NS;
  while (atomic_load_explicit(&pool->job, memory_order_acquire) == last) {
    if (clock_ns() > end) {
      sleep_until_job(pool, last);
      break;
    }
  }
  return atomic_load_explicit(&pool->job, memory_order_acquire);
}

static void *helper_main(void *argument) {
  helper *self = argument;
  pinned_pool *pool = self->pool;
  unsigned last = 0;
  for (;;) {
    last = wait_for_job(pool, last);
    if (atomic_load(&pool->stop)) return NULL;
    pool->task(pool->arg, self->thread);
    atomic_fetch_sub_explicit(&pool->running, 1u, memory_order_release);
  }
}

static void announce_job(pinned_pool *pool) {
  atomic_fetch_add(&pool->job, 1u);
  if (atomic_load(&pool->asleep)) {
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
  }
}

static void run_on_all(void *ctx, void (*task)(void *arg, uint32_t thread), void *arg) {
  pinned_pool *pool = ctx;
  pool->task = task;
  pool->arg = arg;
  atomic_store_explicit(&pool->running, pool->threads - 1u, memory_order_relaxed);
  announce_job(pool);
  task(arg, 0);
  while (atomic_load_explicit(&pool->running, memory_order_acquire)) {
  }
}

/* Yields at first, then sleeps, as rnnp_executor asks: a helper's core may be taken for a while. */
static void wait_for_others(void *ctx, uint32_t times) {
  const struct timespec pause = {0, 20000};
  (void)ctx;
  if (times < YIELDS) {
    sched_yield();
  } else {
    nanosleep(&pause, NULL);
  }
}

pinned_pool *pinned_pool_create(uint32_t threads, const int *cpus, uint32_t cpu_count) {
  const size_t bytes = sizeof(pinned_pool) + threads * sizeof(helper);
  pinned_pool *pool = aligned_alloc(CACHE_LINE, (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
  if (!pool) return NULL;
  atomic_init(&pool->job, 0u);
  atomic_init(&pool->running, 0u);
  atomic_init(&pool->asleep, 0u);
  atomic_init(&pool->stop, false);
  pthread_mutex_init(&pool->mutex, NULL);
  pthread_cond_init(&pool->wake, NULL);
  pool->threads = 1;
  for (uint32_t i = threads - 1; i > 0; --i) {
    helper *next = &pool->helpers[pool->threads];
    *next = (helper){.pool = pool, .thread = pool->threads};
    pin_to(cpus[pool->threads % cpu_count]); /* a thread starts where its creator runs */
    if (pthread_create(&next->id, NULL, helper_main, next)) break;
    ++pool->threads;
  }
  pin_to(cpus[0]);
  return pool;
}

rnnp_executor pinned_pool_executor(pinned_pool *pool) {
  return (rnnp_executor){.struct_bytes = sizeof(rnnp_executor),
                         .ctx = pool,
                         .threads = pool->threads,
                         .parallel = run_on_all,
                         .wait = wait_for_others};
}

void pinned_pool_destroy(pinned_pool *pool) {
  atomic_store(&pool->stop, true);
  announce_job(pool);
  for (uint32_t i = 1; i < pool->threads; ++i) pthread_join(pool->helpers[i].id, NULL);
  pthread_cond_destroy(&pool->wake);
  pthread_mutex_destroy(&pool->mutex);
  free(pool);
}
