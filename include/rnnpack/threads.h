/* threads.h -- an rnnp_executor on plain threads (POSIX or Windows), in memory that the caller owns. Not in builds for bare metal
 * and WASI, or with RNNPACK_THREADS=OFF.
 *
 *   static _Alignas(64) unsigned char memory[RNNP_THREADS_BYTES(4)];
 *   rnnp_executor executor = RNNP_EXECUTOR_INIT;
 *   if (rnnp_threads_start(&executor, 4, NULL, memory, sizeof memory) != RNNP_OK) ...
 *   options.executor = &executor;                       sessions of one caller's thread at a time
 *   ...
 *   rnnp_threads_stop(&executor);                       after the last session that uses it
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RNNPACK_THREADS_H_
#define RNNPACK_THREADS_H_

#include "rnnpack/rnnpack.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes that a team of so many threads takes, aligned to 64. */
#define RNNP_THREADS_BYTES(threads) (512u + 64u * (threads))

/* Starts threads - 1 threads; the caller of rnnp_run is thread 0. Fills *executor, initialised by RNNP_EXECUTOR_INIT.
 *   threads  1 to RNNP_MAX_THREADS. More than the machine has cores makes every step slower
 *   cpu_ids  NULL, or one CPU number per thread: each thread is pinned there, the calling one too. RNNP_E_UNSUPPORTED where the
 *            system has no pinning, RNNP_E_ARG where it refuses a number
 *   mem      at least RNNP_THREADS_BYTES(threads), aligned to 64, in place until rnnp_threads_stop
 * The threads sleep between calls and inherit the caller's scheduling policy. Several sessions may use the executor, one call at a
 * time. RNNP_E_SMALL_MEMORY: mem is too small, or the system has no room for the threads. After an error no thread is left. */
RNNP_NODISCARD RNNP_API rnnp_status rnnp_threads_start(rnnp_executor *executor, uint32_t threads, const int32_t *cpu_ids, void *mem,
                                                       size_t bytes);

/* Ends and joins the threads; no call may be in progress. *executor then has one thread and no parallel. NULL is allowed. */
RNNP_API void rnnp_threads_stop(rnnp_executor *executor);

#ifdef __cplusplus
}
#endif
#endif /* RNNPACK_THREADS_H_ */
