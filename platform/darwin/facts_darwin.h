// facts_darwin.h -- CPU facts from sysctl's names, as macOS, iOS and their kin have them. `read(name)` gives a number, 0 where
// there is no such name: the system's own (cpu_darwin.cpp), or a table in tests. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_PLATFORM_DARWIN_FACTS_DARWIN_H_
#define RNNPACK_PLATFORM_DARWIN_FACTS_DARWIN_H_

#include <stdint.h>

#include "platform/platform.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

// Level 0 are the fast cores. A library call may be on any core: their kernels' sets are the same, the caches of the fast ones
// count. What a cluster shares is split, as platform.h wants what a core has for itself. The last cache of Apple's chips has no
// name.
template <class Read>
CpuFacts darwin_facts(Read read) {
  CpuFacts facts = {};
  const auto either = [&](const char *fast, const char *any) {
    const uint64_t found = read(fast);
    return found != 0 ? found : read(any);
  };
  const uint64_t sharers = read("hw.perflevel0.cpusperl2");
  facts.l1d_bytes = static_cast<uint32_t>(either("hw.perflevel0.l1dcachesize", "hw.l1dcachesize"));
  facts.l2_bytes = static_cast<uint32_t>(either("hw.perflevel0.l2cachesize", "hw.l2cachesize") / (sharers != 0 ? sharers : 1));
  facts.l3_bytes = static_cast<uint32_t>(read("hw.l3cachesize"));
  facts.isa = RNNP_ISA_NEON;
  if (read("hw.optional.arm.FEAT_DotProd") != 0) {
    facts.isa |= RNNP_ISA_NEON_DOTPROD;
    if (read("hw.optional.arm.FEAT_I8MM") != 0) facts.isa |= RNNP_ISA_NEON_I8MM;
  }
  if (read("hw.optional.arm.FEAT_BF16") != 0) facts.isa |= RNNP_ISA_NEON_BF16;
  return facts;
}

}  // namespace rnnp
#endif  // RNNPACK_PLATFORM_DARWIN_FACTS_DARWIN_H_
