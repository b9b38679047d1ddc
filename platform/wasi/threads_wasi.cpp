// threads_wasi.cpp -- one thread and a monotonic clock on WASI.
// SPDX-License-Identifier: Apache-2.0
#include <wasi/api.h>

#include "platform/platform.h"

namespace rnnp {

uint32_t platform_cpu_count() {
  return 1;
}
bool platform_pin_self(uint32_t) {
  return false;
}

uint64_t platform_ticks() {
  __wasi_timestamp_t now = 0;
  return __wasi_clock_time_get(__WASI_CLOCKID_MONOTONIC, 1, &now) == __WASI_ERRNO_SUCCESS ? now : 0;
}

uint64_t platform_ticks_per_second() {
  return 1000000000u;
}

}  // namespace rnnp
