/* executor_pthreadpool.h -- an rnnp_executor on a pthreadpool_t. Present in builds with RNNPACK_PTHREADPOOL.
 * The pool belongs to the caller: made before, destroyed after every session that uses the executor.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RNNPACK_EXECUTOR_PTHREADPOOL_H_
#define RNNPACK_EXECUTOR_PTHREADPOOL_H_

#include <pthreadpool.h>

#include "rnnpack/rnnpack.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fill *executor, initialised by RNNP_EXECUTOR_INIT, with all threads of the pool. The thread that calls rnnp_run is thread 0.
 *   cpu_ids  NULL, or one CPU id per thread: each thread, the caller's too, is pinned there now. Pinning keeps a thread's weights
 *            in its core's L2; ids that the operating system refuses give RNNP_E_ARG and leave the threads as they were.
 * While a run is in progress the pool is busy: do not use it from another thread. */
RNNP_NODISCARD RNNP_API rnnp_status rnnp_executor_from_pthreadpool(rnnp_executor *executor, pthreadpool_t pool,
                                                                   const int32_t *cpu_ids);

#ifdef __cplusplus
}
#endif
#endif /* RNNPACK_EXECUTOR_PTHREADPOOL_H_ */
