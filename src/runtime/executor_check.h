// executor_check.h -- whether an executor runs as many tasks at the same time as it says. Calls it once; touches nothing of the
// session. Inline, so that builds for one core compile none of it. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_RUNTIME_EXECUTOR_CHECK_H_
#define RNNPACK_RUNTIME_EXECUTOR_CHECK_H_

#include "ops/barrier.h"

namespace rnnp {

struct ExecutorTrial {
  const rnnp_executor *executor;
  uint32_t arrived;
  uint32_t given_up;
};

inline bool all_have_arrived(const ExecutorTrial &t) {
  return __atomic_load_n(&t.arrived, __ATOMIC_ACQUIRE) >= t.executor->threads;
}

// A pool that runs the tasks one after the other leaves the first one waiting; the others see that it gave up and return at once.
inline void sync_in_trial(void *arg, uint32_t) {
  ExecutorTrial *t = static_cast<ExecutorTrial *>(arg);
  __atomic_fetch_add(&t->arrived, 1u, __ATOMIC_ACQ_REL);
  for (uint32_t spins = 0; !all_have_arrived(*t); ++spins) {
    if (__atomic_load_n(&t->given_up, __ATOMIC_RELAXED) != 0) return;
    if (spins < RNNP_SPINS_BEFORE_WAIT) {
      cpu_relax();
    } else if (spins < RNNP_SPINS_BEFORE_WAIT + RNNP_EXECUTOR_TRIES) {
      t->executor->wait(t->executor->ctx, spins - RNNP_SPINS_BEFORE_WAIT);
    } else {
      __atomic_store_n(&t->given_up, 1u, __ATOMIC_RELAXED);
    }
  }
}

// True when all tasks have met. False after RNNP_EXECUTOR_TRIES calls of wait by one of them, or when tasks were left out.
inline bool runs_all_at_once(const rnnp_executor &executor) {
  ExecutorTrial t = {&executor, 0, 0};
  executor.parallel(executor.ctx, sync_in_trial, &t);
  return t.given_up == 0 && t.arrived == executor.threads;
}

}  // namespace rnnp
#endif  // RNNPACK_RUNTIME_EXECUTOR_CHECK_H_
