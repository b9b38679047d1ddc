// executor_check.cpp -- Contract: executor_check.h.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor_check.h"

#include "ops/barrier.h"

namespace rnnp {
namespace {

struct Trial {
  const rnnp_executor *executor;
  uint32_t arrived;
  uint32_t given_up;
};

bool all_have_arrived(const Trial &t) {
  return __atomic_load_n(&t.arrived, __ATOMIC_ACQUIRE) >= t.executor->threads;
}

// A pool that runs the tasks one after the other leaves the first one waiting; the others see that it gave up and return at once.
void meet(void *arg, uint32_t) {
  Trial *t = static_cast<Trial *>(arg);
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

}  // namespace

bool runs_all_at_once(const rnnp_executor &executor) {
  Trial t = {&executor, 0, 0};
  executor.parallel(executor.ctx, meet, &t);
  return t.given_up == 0 && t.arrived == executor.threads;
}

}  // namespace rnnp
