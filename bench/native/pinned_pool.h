/* A pool of pinned threads that lends itself as an rnnp_executor: the bench's stand-in for an application's own.
 * The helpers spin for a while between two calls, as the peers' pools do, then sleep. Not rnnp_threads, which sleeps at once: its
 * call takes 34 us to begin and end, this pool's 0.5 us (two threads, EPYC Zen 4), so wake-ups would be compared, not kernels.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RNNPACK_BENCH_PINNED_POOL_H_
#define RNNPACK_BENCH_PINNED_POOL_H_

#include <rnnpack/rnnpack.h>

typedef struct pinned_pool pinned_pool;

/* threads >= 1; the caller is thread 0 and is pinned too. Thread i goes to cpus[i % cpu_count]. NULL when there is no memory. */
pinned_pool *pinned_pool_create(uint32_t threads, const int *cpus, uint32_t cpu_count);
rnnp_executor pinned_pool_executor(pinned_pool *pool);
void pinned_pool_destroy(pinned_pool *pool);

#endif /* RNNPACK_BENCH_PINNED_POOL_H_ */
