/* See open_session.h.
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "open_session.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "file_bytes.h"

static rnnp_status init_session(const open_options *options, open_session *opened) {
  rnnp_session_options session_options;
  rnnp_session_options_init(&session_options, sizeof session_options);
  session_options.max_batch = options->batch;
  session_options.max_steps = options->steps;
  session_options.executor = opened->pool ? &opened->executor : NULL;
  rnnp_memory sizes = RNNP_MEMORY_INIT;
  rnnp_status status = rnnp_session_memory(&opened->model, &session_options, &sizes);
  if (status != RNNP_OK) return status;
  const size_t align = sizes.alignment > sizeof(void *) ? sizes.alignment : sizeof(void *);
  opened->memory = aligned_alloc(align, (sizes.session_bytes / align + 1) * align);
  if (!opened->memory) return RNNP_E_SMALL_MEMORY;
  return rnnp_session_init(&opened->session, &opened->model, &session_options, opened->memory, sizes.session_bytes);
}

static void pin_caller(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((unsigned)cpu, &set);
  (void)sched_setaffinity(0, sizeof set, &set);
}

const char *open_session_from(const char *path, const open_options *options, open_session *opened) {
  memset(opened, 0, sizeof *opened);
  size_t bytes = 0;
  opened->blob = read_file(path, &bytes);
  if (!opened->blob) return "cannot read the blob";
  pin_caller(options->cpus[0]);
  if (options->threads > 1) {
    opened->pool = pinned_pool_create(options->threads, options->cpus, options->cpu_count);
    if (!opened->pool) return "cannot make the thread pool";
    opened->executor = pinned_pool_executor(opened->pool);
  }
  rnnp_status status = rnnp_model_open(&opened->model, opened->blob, bytes, 0);
  if (status == RNNP_OK) status = init_session(options, opened);
  if (status == RNNP_OK) return NULL;
  open_session_close(opened);
  return rnnp_status_string(status);
}

void open_session_close(open_session *opened) {
  if (opened->pool) pinned_pool_destroy(opened->pool);
  free(opened->memory);
  free(opened->blob);
  memset(opened, 0, sizeof *opened);
}
