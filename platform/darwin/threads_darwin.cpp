// threads_darwin.cpp -- CPUs and ticks on macOS and iOS, which pin no threads: QoS classes say what runs where (README.md).
// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>
#include <sys/sysctl.h>
#include <time.h>

#include "platform/platform.h"

namespace rnnp {

// The fast cores: threads that meet at a barrier every step would wait for the slow ones.
uint32_t platform_cpu_count() {
  int32_t count = 0;
  size_t bytes = sizeof count;
  if (sysctlbyname("hw.perflevel0.logicalcpu", &count, &bytes, nullptr, 0) == 0 && count > 0) return static_cast<uint32_t>(count);
  bytes = sizeof count;
  return sysctlbyname("hw.activecpu", &count, &bytes, nullptr, 0) == 0 && count > 0 ? static_cast<uint32_t>(count) : 1;
}

bool platform_pin_self(uint32_t) {
  return false;
}

uint64_t platform_ticks() {
  return clock_gettime_nsec_np(CLOCK_UPTIME_RAW);
}

uint64_t platform_ticks_per_second() {
  return 1000000000u;
}

}  // namespace rnnp
