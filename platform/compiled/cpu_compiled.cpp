// cpu_compiled.cpp -- CPU facts fixed when the library is compiled: what the compiler's target flags promise, and no cache sizes.
// For bare metal and for hosted builds without cpuinfo. On x86 the CPU is still asked (cpuid needs no operating system).
// SPDX-License-Identifier: Apache-2.0
#include "platform/platform.h"
#include "rnnpack/rnnpack.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

namespace rnnp {

#if defined(__x86_64__) || defined(__i386__)
namespace {

// The states that the operating system saves (XCR0): AVX needs bits 1 and 2, AVX-512 bits 5 to 7 too.
uint32_t enabled_states() {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

uint32_t x86_isa() {
  uint32_t a, b, c, d, b7, c7, d7;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE) || !(c & bit_FMA)) return 0;
  if (!__get_cpuid_count(7, 0, &a, &b7, &c7, &d7)) return 0;
  const uint32_t states = enabled_states();
  uint32_t isa = 0;
  if ((states & 0x6u) == 0x6u && (b7 & bit_AVX2)) isa |= RNNP_ISA_AVX2;
  const uint32_t avx512 = bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL;
  if ((states & 0xe6u) == 0xe6u && (b7 & avx512) == avx512) isa |= RNNP_ISA_AVX512;
  return isa;
}

}  // namespace
#endif

CpuFacts platform_cpu() {
  CpuFacts facts = {};
#if defined(__x86_64__) || defined(__i386__)
  facts.isa = x86_isa();
#endif
#if defined(__aarch64__) || (defined(__ARM_NEON) && defined(__ARM_FEATURE_FMA))
  facts.isa |= RNNP_ISA_NEON;
#endif
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
  facts.isa |= RNNP_ISA_MVE;
#endif
#if defined(__riscv_vector)
  facts.isa |= RNNP_ISA_RVV;
#endif
#if defined(__wasm_simd128__)
  facts.isa |= RNNP_ISA_SIMD128;
#endif
  return facts;
}

}  // namespace rnnp
