/* team.c -- threads for sessions made from Python: an rnnp_executor on POSIX threads. Python's own threads would need the
 * interpreter's lock each time a step meets. Thread i runs task i of every region; task 0 is the caller's.
 * SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "rnnpack/rnnpack.h"

#define SHOWN __attribute__((visibility("default")))

typedef struct team team;

typedef struct member {
  team *of;
  uint32_t index;
  pthread_t thread;
} member;

struct team {
  pthread_mutex_t mutex;
  pthread_cond_t wake, done;
  void (*task)(void *arg, uint32_t thread);
  void *arg;
  uint64_t round;
  uint32_t started, running;
  int stopping;
  member members[]; /* of threads 1, 2, ... */
};

static void *work(void *arg) {
  const member *self = arg;
  team *t = self->of;
  uint64_t seen = 0;
  pthread_mutex_lock(&t->mutex);
  for (;;) {
    while (!t->stopping && t->round == seen) pthread_cond_wait(&t->wake, &t->mutex);
    if (t->stopping) break;
    seen = t->round;
    void (*const task)(void *, uint32_t) = t->task;
    void *const task_arg = t->arg;
    pthread_mutex_unlock(&t->mutex);
    task(task_arg, self->index);
    pthread_mutex_lock(&t->mutex);
    if (--t->running == 0) pthread_cond_signal(&t->done);
  }
  pthread_mutex_unlock(&t->mutex);
  return NULL;
}

static void parallel(void *ctx, void (*task)(void *arg, uint32_t thread), void *arg) {
  team *t = ctx;
  pthread_mutex_lock(&t->mutex);
  t->task = task;
  t->arg = arg;
  t->running = t->started;
  ++t->round;
  pthread_cond_broadcast(&t->wake);
  pthread_mutex_unlock(&t->mutex);
  task(arg, 0);
  pthread_mutex_lock(&t->mutex);
  while (t->running != 0) pthread_cond_wait(&t->done, &t->mutex);
  pthread_mutex_unlock(&t->mutex);
}

/* A thread of higher priority that only yields would never let a lower one run on the same core: after some tries it sleeps. */
static void wait_a_little(void *ctx, uint32_t times) {
  const struct timespec pause = {0, 20000};
  (void)ctx;
  if (times < 32) {
    sched_yield();
  } else {
    nanosleep(&pause, NULL);
  }
}

SHOWN void rnnpack_team_free(team *t) {
  pthread_mutex_lock(&t->mutex);
  t->stopping = 1;
  pthread_cond_broadcast(&t->wake);
  pthread_mutex_unlock(&t->mutex);
  for (uint32_t i = 0; i < t->started; ++i) pthread_join(t->members[i].thread, NULL);
  pthread_cond_destroy(&t->wake);
  pthread_cond_destroy(&t->done);
  pthread_mutex_destroy(&t->mutex);
  free(t);
}

/* NULL when the threads cannot be made. `executor` is filled and points to the team. */
SHOWN team *rnnpack_team_new(uint32_t threads, rnnp_executor *executor) {
  team *t = calloc(1, sizeof *t + (size_t)threads * sizeof *t->members);
  if (t == NULL) return NULL;
  pthread_mutex_init(&t->mutex, NULL);
  pthread_cond_init(&t->wake, NULL);
  pthread_cond_init(&t->done, NULL);
  while (t->started + 1 < threads) {
    member *m = &t->members[t->started];
    m->of = t;
    m->index = t->started + 1;
    if (pthread_create(&m->thread, NULL, work, m) != 0) {
      rnnpack_team_free(t);
      return NULL;
    }
    ++t->started;
  }
  const rnnp_executor made = {sizeof made, threads, t, parallel, wait_a_little};
  *executor = made;
  return t;
}
