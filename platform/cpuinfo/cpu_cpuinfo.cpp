// cpu_cpuinfo.cpp -- CPU facts from the cpuinfo library, on hosted builds.
// cpuinfo_initialize is idempotent and thread-safe; it may use the C heap once per process, which is why it lives here.
// SPDX-License-Identifier: Apache-2.0
#include <cpuinfo.h>

#include "platform/linux/hwcap_aarch64.h"
#include "platform/platform.h"
#include "platform/x86/cpuid_x86.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

CpuFacts platform_cpu() {
  CpuFacts facts = {};
  if (!cpuinfo_initialize()) return facts;
  if (cpuinfo_has_x86_avx2() && cpuinfo_has_x86_fma3() && cpuinfo_has_x86_f16c()) facts.isa |= RNNP_ISA_AVX2;
#if defined(__x86_64__) || defined(__i386__)
  if ((facts.isa & RNNP_ISA_AVX2) && has_avx_vnni()) facts.isa |= RNNP_ISA_AVX_VNNI;  // cpuinfo 0.0~2022 knows none
#endif
  if (cpuinfo_has_x86_avx512f() && cpuinfo_has_x86_avx512bw() && cpuinfo_has_x86_avx512dq() && cpuinfo_has_x86_avx512vl()) {
    facts.isa |= RNNP_ISA_AVX512;
  }
  if ((facts.isa & RNNP_ISA_AVX512) && cpuinfo_has_x86_avx512vnni()) facts.isa |= RNNP_ISA_AVX512_VNNI;
  if (cpuinfo_has_arm_neon_fma()) facts.isa |= RNNP_ISA_NEON;
  if ((facts.isa & RNNP_ISA_NEON) && cpuinfo_has_arm_neon_dot()) facts.isa |= RNNP_ISA_NEON_DOTPROD;
#if defined(__aarch64__) && defined(__linux__)
  if ((facts.isa & RNNP_ISA_NEON_DOTPROD) && has_i8mm()) facts.isa |= RNNP_ISA_NEON_I8MM;
#endif
  const cpuinfo_cache *l1 = cpuinfo_get_l1d_cache(0);
  const cpuinfo_cache *l2 = cpuinfo_get_l2_cache(0);
  const cpuinfo_cache *l3 = cpuinfo_get_l3_cache(0);
  if (l1 != nullptr) facts.l1d_bytes = l1->size;
  if (l2 != nullptr && l2->processor_count != 0) facts.l2_bytes = l2->size / l2->processor_count;
  if (l3 != nullptr) facts.l3_bytes = l3->size;
  return facts;
}

}  // namespace rnnp
