// threads_windows.cpp -- CPUs, pinning and ticks on Windows. One processor group: the first 64 CPUs.
// SPDX-License-Identifier: Apache-2.0
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include "platform/platform.h"

namespace rnnp {

uint32_t platform_cpu_count() {
  DWORD_PTR process = 0, system = 0;
  if (!GetProcessAffinityMask(GetCurrentProcess(), &process, &system) || process == 0) return 1;
  uint32_t count = 0;
  for (; process != 0; process &= process - 1) ++count;
  return count;
}

bool platform_pin_self(uint32_t cpu) {
  return cpu < sizeof(DWORD_PTR) * 8 && SetThreadAffinityMask(GetCurrentThread(), static_cast<DWORD_PTR>(1) << cpu) != 0;
}

uint64_t platform_ticks() {
  LARGE_INTEGER now;
  QueryPerformanceCounter(&now);
  return static_cast<uint64_t>(now.QuadPart);
}

uint64_t platform_ticks_per_second() {
  LARGE_INTEGER rate;
  QueryPerformanceFrequency(&rate);
  return static_cast<uint64_t>(rate.QuadPart);
}

}  // namespace rnnp
