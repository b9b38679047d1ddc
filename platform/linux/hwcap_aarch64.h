// hwcap_aarch64.h -- what Linux says of an AArch64 CPU that cpuinfo of Debian does not know.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_PLATFORM_LINUX_HWCAP_AARCH64_H_
#define RNNPACK_PLATFORM_LINUX_HWCAP_AARCH64_H_

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>

namespace rnnp {

// A bit of AT_HWCAP2, fixed by the kernel's ABI; spelled out because not every C library names it.
inline bool has_i8mm() {
  return (getauxval(AT_HWCAP2) & (1ul << 13)) != 0;
}

}  // namespace rnnp
#endif

#endif  // RNNPACK_PLATFORM_LINUX_HWCAP_AARCH64_H_
