// executor_check.h -- whether an executor runs as many tasks at the same time as it says. Calls it once; touches nothing of the
// session. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_RUNTIME_EXECUTOR_CHECK_H_
#define RNNPACK_RUNTIME_EXECUTOR_CHECK_H_

#include "rnnpack/rnnpack.h"

namespace rnnp {

// True when all tasks have met. False after RNNP_EXECUTOR_TRIES calls of wait by one of them, or when tasks were left out.
bool runs_all_at_once(const rnnp_executor &executor);

}  // namespace rnnp
#endif  // RNNPACK_RUNTIME_EXECUTOR_CHECK_H_
