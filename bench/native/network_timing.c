/* librnnpack_network_bench: runs and times a model with any number of inputs and outputs; the loop is here, in C, around
 * rnnp_run_io, or where a stream's one input has one step and there is one output around rnnp_step, as audio plugins call it.
 * Tensors are packed, in the library's order, one array each; a NULL array leaves an optional tensor out. Errors are texts.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "open_session.h"
#include "timing_loop.h"

#define EXPORT __attribute__((visibility("default")))
#define MAX_TENSORS 32u

typedef struct timed_network {
  open_session opened;
  rnnp_const_buffer inputs[MAX_TENSORS];
  rnnp_buffer outputs[MAX_TENSORS];
  rnnp_io io;
  int reset; /* each call starts from the initial state */
} timed_network;

/* A thread on each of `cpus`, the caller's on the first. */
EXPORT const char *rnnpack_network_open(timed_network **handle, const char *path, uint32_t steps, uint32_t rows, const int *cpus,
                                        uint32_t threads, int reset);
EXPORT const char *rnnpack_network_bind(timed_network *self, int output, uint32_t index, void *data);
EXPORT const char *rnnpack_network_run(timed_network *self);
EXPORT size_t rnnpack_network_time(timed_network *self, uint64_t budget_ns, uint64_t sample_ns, size_t max_samples, uint64_t *ns,
                                   uint32_t *calls);
EXPORT void rnnpack_network_close(timed_network *self);

const char *rnnpack_network_open(timed_network **handle, const char *path, uint32_t steps, uint32_t rows, const int *cpus,
                                 uint32_t threads, int reset) {
  timed_network *self = calloc(1, sizeof *self);
  if (!self) return "no memory";
  const open_options options = {.batch = rows, .steps = steps, .threads = threads, .cpus = cpus, .cpu_count = threads};
  const char *error = open_session_from(path, &options, &self->opened);
  rnnp_model_info facts = RNNP_MODEL_INFO_INIT;
  if (!error && rnnp_model_get_info(&self->opened.model, &facts) != RNNP_OK) error = "the model has no facts";
  if (!error && (facts.input_count > MAX_TENSORS || facts.output_count > MAX_TENSORS)) error = "too many tensors";
  if (error) {
    free(self);
    return error;
  }
  self->reset = reset;
  self->io = (rnnp_io)RNNP_IO_INIT;
  self->io.steps = steps;
  self->io.batch = rows;
  self->io.inputs = self->inputs;
  self->io.input_count = facts.input_count;
  self->io.outputs = self->outputs;
  self->io.output_count = facts.output_count;
  *handle = self;
  return NULL;
}

const char *rnnpack_network_bind(timed_network *self, int output, uint32_t index, void *data) {
  if (index >= (output ? self->io.output_count : self->io.input_count)) return "no such tensor";
  if (output) {
    self->outputs[index].data = data;
  } else {
    self->inputs[index].data = data;
  }
  return NULL;
}

static int run_once(void *context, uint64_t index) {
  timed_network *self = context;
  (void)index;
  if (self->reset && rnnp_state_reset(self->opened.session, RNNP_ALL_ROWS) != RNNP_OK) return 1;
  if (!self->reset && self->io.steps == 1 && self->io.batch == 1 && self->io.input_count == 1 && self->io.output_count == 1)
    return rnnp_step(self->opened.session, self->inputs[0].data, self->outputs[0].data) != RNNP_OK;
  return rnnp_run_io(self->opened.session, &self->io) != RNNP_OK;
}

const char *rnnpack_network_run(timed_network *self) {
  rnnp_status status = rnnp_state_reset(self->opened.session, RNNP_ALL_ROWS);
  if (status == RNNP_OK) status = rnnp_run_io(self->opened.session, &self->io);
  return status == RNNP_OK ? NULL : rnnp_status_string(status);
}

size_t rnnpack_network_time(timed_network *self, uint64_t budget_ns, uint64_t sample_ns, size_t max_samples, uint64_t *ns,
                            uint32_t *calls) {
  const timing_request request = {budget_ns, sample_ns, max_samples};
  return time_calls(run_once, self, &request, ns, calls);
}

void rnnpack_network_close(timed_network *self) {
  open_session_close(&self->opened);
  free(self);
}
