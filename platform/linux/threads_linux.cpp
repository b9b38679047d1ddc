// threads_linux.cpp -- CPUs, pinning and ticks on Linux.
// SPDX-License-Identifier: Apache-2.0
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1  // CPU sets
#endif
#include <sched.h>
#include <time.h>

#include "platform/platform.h"

namespace rnnp {

uint32_t platform_cpu_count() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<uint32_t>(CPU_COUNT(&set));
}

bool platform_pin_self(uint32_t cpu) {
  if (cpu >= CPU_SETSIZE) return false;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

uint64_t platform_ticks() {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

uint64_t platform_ticks_per_second() {
  return 1000000000u;
}

}  // namespace rnnp
