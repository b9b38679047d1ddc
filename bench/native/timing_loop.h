/* Times a call many times over, without leaving C. A call shorter than sample_ns is timed several at a time.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RNNPACK_BENCH_TIMING_LOOP_H_
#define RNNPACK_BENCH_TIMING_LOOP_H_

#include <stddef.h>

#include "clock_ns.h"

/* One call; index counts up, so that a stream of inputs can be walked through. 0 is success. */
typedef int (*timed_call)(void *self, uint64_t index);

typedef struct timing_request {
  uint64_t budget_ns, sample_ns;
  size_t max_samples;
} timing_request;

static inline uint64_t timed_batch(timed_call call, void *self, uint32_t calls, uint64_t *index, int *failed) {
  const uint64_t begin = clock_ns();
  for (uint32_t i = 0; i < calls; ++i) *failed |= call(self, (*index)++);
  return clock_ns() - begin;
}

static inline uint32_t calls_per_sample(timed_call call, void *self, uint64_t sample_ns, uint64_t *index, int *failed) {
  uint64_t one = timed_batch(call, self, 1, index, failed);
  if (one > 100 * sample_ns) return 1;
  const uint64_t ten = timed_batch(call, self, 10, index, failed) / 10 + 1;
  if (ten < one) one = ten;
  return one >= sample_ns ? 1u : (uint32_t)(sample_ns / one) + 1u;
}

/* Fills ns with the duration of each sample of *calls calls; *calls 0 is replaced by as many as fill a sample. Returns the number
 * of samples, at least one; 0 when a call failed. */
static inline size_t time_calls(timed_call call, void *self, const timing_request *request, uint64_t *ns, uint32_t *calls) {
  int failed = 0;
  uint64_t index = 0;
  if (!*calls) *calls = calls_per_sample(call, self, request->sample_ns, &index, &failed);
  const uint64_t end = clock_ns() + request->budget_ns;
  size_t count = 0;
  do {
    ns[count++] = timed_batch(call, self, *calls, &index, &failed);
  } while (count < request->max_samples && clock_ns() < end);
  return failed ? 0 : count;
}

#endif /* RNNPACK_BENCH_TIMING_LOOP_H_ */
