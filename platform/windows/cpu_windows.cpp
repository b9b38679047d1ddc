// cpu_windows.cpp -- CPU facts on Windows: cpuid on x86; Arm builds rely on what the compiler was told (NEON is always there).
// SPDX-License-Identifier: Apache-2.0
#include "platform/platform.h"
#include "platform/x86/cpuid_x86.h"

namespace rnnp {

CpuFacts platform_cpu() {
#if defined(__x86_64__) || defined(__i386__)
  return x86_facts();
#else
  return {};
#endif
}

}  // namespace rnnp
