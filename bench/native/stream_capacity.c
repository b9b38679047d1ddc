/* rnnpack_streams MODEL.rnnp STEPS PERIOD_NS: how many streams one core serves in real time. A call runs STEPS steps of every
 * stream; the answer is the largest number of streams whose calls, but for the slowest in ten, take no longer than PERIOD_NS.
 * Prints one line of JSON. Inputs are made up; the core is the first that the process may use. SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock_ns.h"
#include "open_session.h"

#define MAX_TENSORS 32u
#define MOST_STREAMS 4096u
#define CALLS 200u
#define BUDGET_NS 300000000u

typedef struct timed {
  double median_ns, slow_ns; /* slow: nine in ten are faster */
} timed;

static int by_value(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static void fail(const char *what) {
  fprintf(stderr, "rnnpack_streams: %s\n", what);
  exit(1);
}

static int first_cpu(void) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET((unsigned)cpu, &set)) return cpu;
  }
  return 0;
}

static size_t tensor_elems(const rnnp_tensor_info *facts, uint32_t steps, uint32_t batch) {
  return (size_t)facts->row_elems * batch * (facts->role == RNNP_ROLE_SEQUENCE ? steps : 1u);
}

/* A buffer of small numbers; optional inputs are left out. */
static void *made_up(const rnnp_tensor_info *facts, uint32_t steps, uint32_t batch) {
  if (facts->role == RNNP_ROLE_STATE || facts->role == RNNP_ROLE_LENGTHS) return NULL;
  const size_t elems = tensor_elems(facts, steps, batch);
  float *data = malloc(elems * sizeof *data);
  if (!data) fail("no memory");
  for (size_t i = 0; i < elems; ++i) data[i] = (float)(i * 37u % 201u) / 1000.0f - 0.1f;
  return data;
}

static timed time_calls_of(open_session *opened, const rnnp_io *io) {
  static uint64_t ns[CALLS];
  uint32_t count = 0;
  for (int warm = 0; warm < 5; ++warm) {
    if (rnnp_run_io(opened->session, io) != RNNP_OK) fail("the run failed");
  }
  for (const uint64_t end = clock_ns() + BUDGET_NS; count < CALLS && (count < 20 || clock_ns() < end); ++count) {
    const uint64_t start = clock_ns();
    if (rnnp_run_io(opened->session, io) != RNNP_OK) fail("the run failed");
    ns[count] = clock_ns() - start;
  }
  qsort(ns, count, sizeof *ns, by_value);
  const timed result = {(double)ns[count / 2], (double)ns[count - 1 - count / 10]};
  return result;
}

static timed time_streams(const char *path, uint32_t steps, uint32_t streams, int cpu) {
  open_session opened;
  const open_options options = {.batch = streams, .steps = steps, .threads = 1, .cpus = &cpu, .cpu_count = 1};
  const char *error = open_session_from(path, &options, &opened);
  if (error) fail(error);
  rnnp_const_buffer in[MAX_TENSORS] = {{0}};
  rnnp_buffer out[MAX_TENSORS] = {{0}};
  rnnp_model_info facts = RNNP_MODEL_INFO_INIT;
  rnnp_tensor_info tensor = RNNP_TENSOR_INFO_INIT;
  if (rnnp_model_get_info(&opened.model, &facts) != RNNP_OK || facts.input_count > MAX_TENSORS || facts.output_count > MAX_TENSORS)
    fail("the model has too many tensors");
  for (uint32_t i = 0; i < facts.input_count; ++i) {
    if (rnnp_model_get_input(&opened.model, i, &tensor) != RNNP_OK) fail("an input");
    in[i].data = made_up(&tensor, steps, streams);
  }
  for (uint32_t i = 0; i < facts.output_count; ++i) {
    if (rnnp_model_get_output(&opened.model, i, &tensor) != RNNP_OK) fail("an output");
    out[i].data = made_up(&tensor, steps, streams);
  }
  rnnp_io io = RNNP_IO_INIT;
  io.steps = steps;
  io.batch = streams;
  io.input_count = facts.input_count;
  io.output_count = facts.output_count;
  io.inputs = in;
  io.outputs = out;
  const timed result = time_calls_of(&opened, &io);
  for (uint32_t i = 0; i < MAX_TENSORS; ++i) {
    free((void *)in[i].data);
    free(out[i].data);
  }
  open_session_close(&opened);
  return result;
}

int main(int argc, char **argv) {
  if (argc != 4) fail("usage: rnnpack_streams MODEL.rnnp STEPS PERIOD_NS");
  const uint32_t steps = (uint32_t)strtoul(argv[2], NULL, 10);
  const double period = strtod(argv[3], NULL);
  const int cpu = first_cpu();
  const timed one = time_streams(argv[1], steps, 1, cpu);
  uint32_t good = one.slow_ns <= period ? 1 : 0, bad = 2;
  timed at = one;
  while (good != 0 && bad <= MOST_STREAMS) {
    const timed next = time_streams(argv[1], steps, bad, cpu);
    if (next.slow_ns > period) break;
    at = next;
    good = bad;
    bad *= 2;
  }
  while (good != 0 && good < MOST_STREAMS && bad - good > 1 + good / 16) {
    const uint32_t middle = good + (bad - good) / 2;
    const timed next = time_streams(argv[1], steps, middle, cpu);
    if (next.slow_ns > period) {
      bad = middle;
    } else {
      good = middle;
      at = next;
    }
  }
  printf("{\"one_ns\": %.0f, \"streams\": %u, \"call_ns\": %.0f}\n", one.median_ns, good, at.median_ns);
  return 0;
}
