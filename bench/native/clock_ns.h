/* The clock of all timings here: monotonic nanoseconds.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RNNPACK_BENCH_CLOCK_NS_H_
#define RNNPACK_BENCH_CLOCK_NS_H_

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif /* RNNPACK_BENCH_CLOCK_NS_H_ */
