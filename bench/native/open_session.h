/* A session opened from a .rnnp file with everything the library asks for: blob, pool, memory.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RNNPACK_BENCH_OPEN_SESSION_H_
#define RNNPACK_BENCH_OPEN_SESSION_H_

#include <rnnpack/rnnpack.h>

#include "pinned_pool.h"

typedef struct open_session {
  void *blob, *memory;
  pinned_pool *pool; /* NULL with one thread: the library runs serially on the caller */
  rnnp_executor executor;
  rnnp_model model;
  rnnp_session *session;
} open_session;

typedef struct open_options {
  uint32_t batch, steps, threads, cpu_count;
  const int *cpus;
} open_options;

/* NULL, or what went wrong; then *opened holds nothing. */
const char *open_session_from(const char *path, const open_options *options, open_session *opened);
void open_session_close(open_session *opened);

#endif /* RNNPACK_BENCH_OPEN_SESSION_H_ */
