// cpu_compiled.cpp -- a system nobody has described yet: no facts beyond what the compiler's flags promise.
// On x86 the CPU is still asked: cpuid needs no operating system.
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
