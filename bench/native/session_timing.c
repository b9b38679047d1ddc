/* librnnpack_bench: what the driver calls to run and time our library; the loop around rnnp_run and rnnp_step is here, in C.
 * Errors are texts, NULL is success.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "open_session.h"
#include "timing_loop.h"

#define EXPORT __attribute__((visibility("default")))

typedef struct timed_session {
  open_session opened;
  size_t steps, x_row_elems, batch;
  char note[64];
  /* of the timing under way */
  const float *x;
  float *y;
  uint64_t stream_mask;
} timed_session;

EXPORT const char *rnnpack_bench_version(void);
EXPORT const char *rnnpack_bench_open(timed_session **handle, const char *path, int batch, int steps, int threads, const int *cpus,
                                      int cpu_count);
EXPORT const char *rnnpack_bench_run(timed_session *self, const float *x, float *y);
EXPORT size_t rnnpack_bench_time(timed_session *self, const float *x, float *y, uint32_t stream_steps, uint64_t budget_ns,
                                 uint64_t sample_ns, size_t max_samples, uint64_t *ns, uint32_t *calls);
EXPORT const char *rnnpack_bench_note(timed_session *self);
EXPORT void rnnpack_bench_close(timed_session *self);

const char *rnnpack_bench_version(void) {
  static char text[32];
  const uint32_t version = rnnp_version();
  snprintf(text, sizeof text, "%u.%u.%u", version / 10000u, version / 100u % 100u, version % 100u);
  return text;
}

static void describe(timed_session *self) {
  rnnp_session_info facts = RNNP_SESSION_INFO_INIT;
  if (rnnp_session_get_info(self->opened.session, &facts) != RNNP_OK) return;
  snprintf(self->note, sizeof self->note, "isa bits %u, chunk %u steps, %u threads", facts.isa, facts.chunk_steps, facts.threads);
}

const char *rnnpack_bench_open(timed_session **handle, const char *path, int batch, int steps, int threads, const int *cpus,
                               int cpu_count) {
  timed_session *self = calloc(1, sizeof *self);
  if (!self) return "no memory";
  const open_options options = {.batch = (uint32_t)batch,
                                .steps = (uint32_t)steps,
                                .threads = (uint32_t)threads,
                                .cpus = cpus,
                                .cpu_count = (uint32_t)cpu_count};
  const char *error = open_session_from(path, &options, &self->opened);
  rnnp_tensor_info x = RNNP_TENSOR_INFO_INIT;
  if (!error && rnnp_model_get_input(&self->opened.model, 0, &x) != RNNP_OK) error = "the model has no input";
  if (error) {
    free(self);
    return error;
  }
  self->steps = (size_t)steps;
  self->batch = (size_t)batch;
  self->x_row_elems = x.row_elems;
  describe(self);
  *handle = self;
  return NULL;
}

const char *rnnpack_bench_run(timed_session *self, const float *x, float *y) {
  rnnp_status status = rnnp_state_reset(self->opened.session, RNNP_ALL_ROWS);
  if (status == RNNP_OK) status = rnnp_run(self->opened.session, self->steps, x, y);
  return status == RNNP_OK ? NULL : rnnp_status_string(status);
}

/* A sequence starts from the initial state each time, as it does in the peers. */
static int run_sequence(void *context, uint64_t index) {
  timed_session *self = context;
  (void)index;
  if (rnnp_state_reset(self->opened.session, RNNP_ALL_ROWS) != RNNP_OK) return 1;
  return rnnp_run(self->opened.session, self->steps, self->x, self->y) != RNNP_OK;
}

/* A single step continues the stream, as an audio callback does. */
static int run_step(void *context, uint64_t index) {
  timed_session *self = context;
  const size_t offset = (size_t)(index & self->stream_mask) * self->batch * self->x_row_elems;
  return rnnp_step(self->opened.session, self->x + offset, self->y) != RNNP_OK;
}

/* stream_steps: 0 for sequences, else how many different inputs x holds for single steps, a power of two. */
size_t rnnpack_bench_time(timed_session *self, const float *x, float *y, uint32_t stream_steps, uint64_t budget_ns,
                          uint64_t sample_ns, size_t max_samples, uint64_t *ns, uint32_t *calls) {
  self->x = x;
  self->y = y;
  self->stream_mask = stream_steps ? stream_steps - 1u : 0u;
  const timing_request request = {budget_ns, sample_ns, max_samples};
  return time_calls(stream_steps ? run_step : run_sequence, self, &request, ns, calls);
}

const char *rnnpack_bench_note(timed_session *self) {
  return self->note;
}

void rnnpack_bench_close(timed_session *self) {
  open_session_close(&self->opened);
  free(self);
}
