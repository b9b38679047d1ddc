// isa_of_cpu.h -- the RNNP_ISA_* bits that this CPU and its operating system can run, beyond those the compiler was told of: each
// row of base/isa.inc is tested. x86 is asked itself, Linux elsewhere; nobody else reports any here (sysctl: platform/darwin).
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_PLATFORM_ISA_OF_CPU_H_
#define RNNPACK_PLATFORM_ISA_OF_CPU_H_

#include <stdint.h>

#include "rnnpack/rnnpack.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

#include "platform/x86/tile_permission.h"
#elif defined(__linux__)
#include <sys/auxv.h>
#endif

#define RNNPACK_X86(...)
#define RNNPACK_AARCH64(...)
#define RNNPACK_ARM(...)
#define RNNPACK_RISCV(...)

namespace rnnp {

#if defined(__x86_64__) || defined(__i386__)
#undef RNNPACK_X86
#define RNNPACK_X86(...) __VA_ARGS__

// ECX of leaf 1; EBX and ECX of leaf 7; EAX of leaf 7, 1; the states that the operating system saves (XCR0): AVX needs bits 1 and
// 2, AVX-512 bits 5 to 7 too, tiles bits 17 and 18; EDX of leaf 7, its tiles only where this process may use them.
struct CpuWords {
  uint32_t words[6];
};
constexpr uint32_t kTileBits = 1u << 22 | 1u << 24 | 1u << 25;  // of EDX: with bf16, at all, with int8

// All 0 where the operating system does not say which states it saves. Leaf 7 says how many follow: what an older CPU answers to a
// leaf that it lacks means nothing.
inline CpuWords words_of_cpu() {
  CpuWords cpu = {};
  uint32_t a, b, c, d, high;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return cpu;
  cpu.words[0] = c;
  __asm__ volatile("xgetbv" : "=a"(cpu.words[4]), "=d"(high) : "c"(0));
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return cpu;
  cpu.words[1] = b;
  cpu.words[2] = c;
  cpu.words[5] = (d & kTileBits) != 0 && !may_use_tiles() ? d & ~kTileBits : d;
  if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d)) cpu.words[3] = a;
  return cpu;
}
#else

// AT_HWCAP and AT_HWCAP2. Their bits are fixed by the kernel's ABI; spelled out because not every C library names them.
struct CpuWords {
  uint32_t words[2];
};

inline CpuWords words_of_cpu() {
#ifdef __linux__
  return {{static_cast<uint32_t>(getauxval(AT_HWCAP)), static_cast<uint32_t>(getauxval(AT_HWCAP2))}};
#else
  return {};
#endif
}
#if defined(__linux__) && defined(__aarch64__)
#undef RNNPACK_AARCH64
#define RNNPACK_AARCH64(...) __VA_ARGS__
#elif defined(__linux__) && defined(__arm__)
#undef RNNPACK_ARM
#define RNNPACK_ARM(...) __VA_ARGS__
#elif defined(__linux__) && defined(__riscv)
#undef RNNPACK_RISCV
#define RNNPACK_RISCV(...) __VA_ARGS__
#endif
#endif

// Without a bit to look for the CPU does not tell.
inline bool has_words(const CpuWords &cpu, const CpuWords &wanted) {
  uint32_t any = 0, missing = 0;
  for (unsigned i = 0; i < sizeof wanted.words / sizeof wanted.words[0]; ++i) {
    any |= wanted.words[i];
    missing |= wanted.words[i] & ~cpu.words[i];
  }
  return any != 0 && missing == 0;
}

inline uint32_t isa_of_cpu() {
  const CpuWords cpu = words_of_cpu();
  uint32_t isa = 0;
#define RNNPACK_ISA(set, bit, text, builds_on, flags, qemu, test) \
  if (has_words(cpu, {{test}})) isa |= RNNP_ISA_##bit;
#include "base/isa.inc"
#undef RNNPACK_ISA
  return isa;
}

}  // namespace rnnp

#undef RNNPACK_X86
#undef RNNPACK_AARCH64
#undef RNNPACK_ARM
#undef RNNPACK_RISCV
#endif  // RNNPACK_PLATFORM_ISA_OF_CPU_H_
