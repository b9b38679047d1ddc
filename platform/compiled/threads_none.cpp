// threads_none.cpp -- one CPU, no clock: bare metal, where ticks belong to the board (platform/board), and systems not described
// yet. SPDX-License-Identifier: Apache-2.0
#include "platform/platform.h"

namespace rnnp {

uint32_t platform_cpu_count() {
  return 1;
}
bool platform_pin_self(uint32_t) {
  return false;
}
uint64_t platform_ticks() {
  return 0;
}
uint64_t platform_ticks_per_second() {
  return 0;
}

}  // namespace rnnp
