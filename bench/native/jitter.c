/* A million single steps, each timed by itself: the tail a real-time caller has to live with. After each step a loop in registers
 * that takes as long: what its tail has is not the library's. Prints one line of JSON.
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

/* A chain of multiplications; no memory. */
static volatile uint64_t sink;
static uint32_t time_loop(uint32_t turns) {
  const uint64_t begin = clock_ns();
  uint64_t v = begin;
  for (uint32_t i = 0; i < turns; ++i) v = v * 6364136223846793005u + 1442695040888963407u;
  sink = v;
  return (uint32_t)(clock_ns() - begin);
}

/* of_loop: of the same number of loops, one after each step. */
static int time_steps(open_session *opened, const float *x, size_t x_elems, float *y, uint32_t *ns, uint32_t *of_loop,
                      size_t steps) {
  uint32_t least = UINT32_MAX, turns = 100;
  for (size_t i = 0; i < WARM_STEPS; ++i) {
    const uint64_t begin = clock_ns();
    if (rnnp_step(opened->session, x + i % STREAM_STEPS * x_elems, y) != RNNP_OK) return 1;
    const uint32_t took = (uint32_t)(clock_ns() - begin);
    if (took < least) least = took;
  }
  while (turns < 1000000 && time_loop(turns) < least) turns += turns / 16;
  for (size_t i = 0; i < steps; ++i) {
    const uint64_t begin = clock_ns();
    if (rnnp_step(opened->session, x + i % STREAM_STEPS * x_elems, y) != RNNP_OK) return 1;
    ns[i] = (uint32_t)(clock_ns() - begin);
    of_loop[i] = time_loop(turns);
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

static void print_percentiles(const char *what, uint32_t *ns, size_t steps) {
  qsort(ns, steps, sizeof *ns, by_value);
  printf(", \"%smin_ns\": %u, \"%sp50_ns\": %u, \"%sp99_ns\": %u, \"%sp99_9_ns\": %u, \"%sp99_99_ns\": %u, \"%smax_ns\": %u", what,
         ns[0], what, ns[steps / 2], what, ns[steps / 100 * 99], what, ns[steps / 1000 * 999], what, ns[steps / 10000 * 9999], what,
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
  uint32_t *ns = calloc(steps, sizeof *ns), *of_loop = calloc(steps, sizeof *of_loop);
  if (!x || !y || !ns || !of_loop) return 1;
  fill_random(x, (size_t)STREAM_STEPS * in.row_elems);
  const int failed = time_steps(&opened, x, in.row_elems, y, ns, of_loop, steps);
  if (!failed) {
    printf("{\"steps\": %zu, \"clock_ns\": %u", steps, clock_cost_ns());
    print_percentiles("", ns, steps);
    print_percentiles("loop_", of_loop, steps);
    printf("}\n");
  }
  free(of_loop);
  free(ns);
  free(y);
  free(x);
  open_session_close(&opened);
  return failed;
}
