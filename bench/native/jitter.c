/* A million single steps, each timed by itself: the tail a real-time caller has to live with. Prints one line of JSON.
 * Usage: rnnpack_jitter model.rnnp [steps] [cpu]
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "clock_ns.h"
#include "open_session.h"

enum { STREAM_STEPS = 64, WARM_STEPS = 1000 };

static int by_value(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static void fill_random(float *values, size_t count) {
  uint32_t state = 12345;
  for (size_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    values[i] = (float)(state >> 8) / 8388608.0f - 1.0f;
  }
}

static int time_steps(open_session *opened, const float *x, size_t x_elems, float *y, uint32_t *ns, size_t steps) {
  for (size_t i = 0; i < WARM_STEPS; ++i) {
    if (rnnp_step(opened->session, x + i % STREAM_STEPS * x_elems, y) != RNNP_OK) return 1;
  }
  for (size_t i = 0; i < steps; ++i) {
    const uint64_t begin = clock_ns();
    if (rnnp_step(opened->session, x + i % STREAM_STEPS * x_elems, y) != RNNP_OK) return 1;
    ns[i] = (uint32_t)(clock_ns() - begin);
  }
  return 0;
}

/* What reading the clock twice costs; it is in every figure. */
static uint32_t clock_cost_ns(void) {
  uint32_t least = UINT32_MAX;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t begin = clock_ns();
    const uint32_t cost = (uint32_t)(clock_ns() - begin);
    if (cost < least) least = cost;
  }
  return least;
}

static void print_percentiles(uint32_t *ns, size_t steps) {
  qsort(ns, steps, sizeof *ns, by_value);
  printf(
      "{\"steps\": %zu, \"clock_ns\": %u, \"min_ns\": %u, \"p50_ns\": %u, \"p99_ns\": %u, \"p99_9_ns\": %u, \"p99_99_ns\": %u, "
      "\"max_ns\": %u}\n",
      steps, clock_cost_ns(), ns[0], ns[steps / 2], ns[steps / 100 * 99], ns[steps / 1000 * 999], ns[steps / 10000 * 9999],
      ns[steps - 1]);
}

int main(int argc, char **argv) {
  if (argc < 2) return fprintf(stderr, "usage: %s model.rnnp [steps] [cpu]\n", argv[0]), 2;
  const size_t steps = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000000;
  const int cpu = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 0;
  const open_options options = {.batch = 1, .steps = 1, .threads = 1, .cpus = &cpu, .cpu_count = 1};
  open_session opened;
  const char *error = open_session_from(argv[1], &options, &opened);
  if (error) return fprintf(stderr, "%s: %s\n", argv[1], error), 1;
  rnnp_tensor_info in = RNNP_TENSOR_INFO_INIT, out = RNNP_TENSOR_INFO_INIT;
  if (rnnp_model_get_input(&opened.model, 0, &in) != RNNP_OK || rnnp_model_get_output(&opened.model, 0, &out) != RNNP_OK) return 1;
  float *x = calloc((size_t)STREAM_STEPS * in.row_elems, sizeof *x);
  float *y = calloc(out.row_elems, sizeof *y);
  uint32_t *ns = calloc(steps, sizeof *ns);
  if (!x || !y || !ns) return 1;
  fill_random(x, (size_t)STREAM_STEPS * in.row_elems);
  const int failed = time_steps(&opened, x, in.row_elems, y, ns, steps);
  if (!failed) print_percentiles(ns, steps);
  free(ns);
  free(y);
  free(x);
  open_session_close(&opened);
  return failed;
}
