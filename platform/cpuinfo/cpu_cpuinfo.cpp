// cpu_cpuinfo.cpp -- CPU facts on hosted builds: caches from the cpuinfo library, instruction sets as everywhere.
// cpuinfo_initialize is idempotent and thread-safe; it may use the C heap once per process, which is why it lives here.
// SPDX-License-Identifier: Apache-2.0
#include <cpuinfo.h>

#include "platform/isa_of_cpu.h"
#include "platform/platform.h"

namespace rnnp {

CpuFacts platform_cpu() {
  CpuFacts facts = {};
  if (!cpuinfo_initialize()) return facts;
  facts.isa = isa_of_cpu();
  const cpuinfo_cache *l1 = cpuinfo_get_l1d_cache(0);
  const cpuinfo_cache *l2 = cpuinfo_get_l2_cache(0);
  const cpuinfo_cache *l3 = cpuinfo_get_l3_cache(0);
  if (l1 != nullptr) facts.l1d_bytes = l1->size;
  if (l2 != nullptr && l2->processor_count != 0) facts.l2_bytes = l2->size / l2->processor_count;
  if (l3 != nullptr) facts.l3_bytes = l3->size;
  return facts;
}

}  // namespace rnnp
