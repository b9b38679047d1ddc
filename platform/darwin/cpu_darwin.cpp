// cpu_darwin.cpp -- CPU facts on macOS and iOS: sysctl on Arm, the CPU itself on Intel. There the kernel turns on the widest
// registers at their first use and says so to nobody before, so AVX-512 is not found and AVX2 runs.
// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>
#include <sys/sysctl.h>

#include "platform/darwin/facts_darwin.h"
#include "platform/platform.h"
#include "platform/x86/cpuid_x86.h"

namespace rnnp {

#if defined(__x86_64__) || defined(__i386__)

CpuFacts platform_cpu() {
  return x86_facts();
}

#else
namespace {

// Numbers have 4 or 8 bytes, least first.
uint64_t sysctl_number(const char *name) {
  uint64_t value = 0;
  size_t bytes = sizeof value;
  return sysctlbyname(name, &value, &bytes, nullptr, 0) == 0 ? value : 0;
}

}  // namespace

CpuFacts platform_cpu() {
  return darwin_facts(sysctl_number);
}
#endif

}  // namespace rnnp
