// cpuid_x86.h -- CPU facts of x86, asked from the CPU itself: the same on every operating system.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_PLATFORM_X86_CPUID_X86_H_
#define RNNPACK_PLATFORM_X86_CPUID_X86_H_

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#include <stdint.h>

#include "platform/isa_of_cpu.h"
#include "platform/platform.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

// The leaf that lists caches: 4 on Intel, 0x8000001d on AMD, in the same form.
inline uint32_t cache_leaf() {
  uint32_t a, b, c, d;
  if (__get_cpuid(0x80000001u, &a, &b, &c, &d) && (c & (1u << 22)) && __get_cpuid_count(0x8000001du, 0, &a, &b, &c, &d) &&
      (a & 31u) != 0) {
    return 0x8000001du;
  }
  return __get_cpuid_count(4, 0, &a, &b, &c, &d) ? 4 : 0;
}

inline void x86_caches(CpuFacts *facts) {
  const uint32_t leaf = cache_leaf();
  uint32_t a, b, c, d;
  for (uint32_t i = 0; leaf != 0 && i < 8 && __get_cpuid_count(leaf, i, &a, &b, &c, &d) && (a & 31u) != 0; ++i) {
    const bool instructions = (a & 31u) == 2;
    const uint32_t level = (a >> 5) & 7u;
    const uint32_t bytes = ((b >> 22) + 1) * (((b >> 12) & 0x3ffu) + 1) * ((b & 0xfffu) + 1) * (c + 1);
    if (!instructions && level == 1) facts->l1d_bytes = bytes;
    if (!instructions && level == 2) facts->l2_bytes = bytes;
    if (!instructions && level == 3) facts->l3_bytes = bytes;
  }
}

// Cores of two kinds: cpuid tells of the one that asks, so what is told is what the smaller kind has, whichever core that is.
inline bool has_two_kinds_of_cores() {
  uint32_t a, b, c, d;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & (1u << 15)) != 0;
}

inline CpuFacts same_on_all_cores(CpuFacts facts, bool two_kinds) {
  constexpr uint32_t kSmallL1d = 32u << 10, kSmallL2 = 512u << 10;  // of an efficiency core: a quarter of its cluster's L2
  if (!two_kinds) return facts;
  facts.l1d_bytes = kSmallL1d;
  facts.l2_bytes = kSmallL2;
  return facts;
}

inline CpuFacts x86_facts() {
  CpuFacts facts = {};
  facts.isa = isa_of_cpu();
  x86_caches(&facts);
  return same_on_all_cores(facts, has_two_kinds_of_cores());
}

}  // namespace rnnp
#endif

#endif  // RNNPACK_PLATFORM_X86_CPUID_X86_H_
