// platform.h -- all that differs per operating system or board, in one page: CPU features, private caches, CPUs, pinning, ticks.
// Room: sees nothing of src. One of the folders beside this file is built; one that knows nothing returns zeros (compiled/).
// Only platform_cpu is called by the library itself; the rest is for executors, benchmarks and firmware.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_PLATFORM_PLATFORM_H_
#define RNNPACK_PLATFORM_PLATFORM_H_

#include <stdint.h>

namespace rnnp {

struct CpuFacts {
  uint32_t isa;        // RNNP_ISA_* bits this CPU and its operating system can run, beyond those the compiler was told of
  uint32_t l1d_bytes;  // per core; 0 unknown
  uint32_t l2_bytes;   // per core, private; 0 unknown or none
  uint32_t l3_bytes;   // the instance a core can use, shared or not; 0 unknown or none
};

CpuFacts platform_cpu();

// CPUs that this process may run on; 1 where there is no operating system.
uint32_t platform_cpu_count();

// Keep the calling thread on one CPU. False where that is impossible or the CPU is not ours.
bool platform_pin_self(uint32_t cpu);

// A counter that only goes up, and how much it counts in a second; 0 and 0 where the board has to supply one.
uint64_t platform_ticks();
uint64_t platform_ticks_per_second();

}  // namespace rnnp
#endif  // RNNPACK_PLATFORM_PLATFORM_H_
