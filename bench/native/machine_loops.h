// The two loops that find a machine's limits: reading memory and multiplying. One set per instruction set.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_BENCH_MACHINE_LOOPS_H_
#define RNNPACK_BENCH_MACHINE_LOOPS_H_

#include <cstddef>

struct MachineLoops {
  const char *isa;
  // Reads `bytes` (a multiple of 4096) from p, `times` over; the result only keeps the reads alive.
  long long (*read)(const void *p, size_t bytes, size_t times);
  // Does `times` rounds of independent fused multiply-adds; flops_per_round each.
  float (*multiply)(size_t times);
  size_t flops_per_round;
};

// The widest set this CPU can run.
MachineLoops best_machine_loops();

#endif  // RNNPACK_BENCH_MACHINE_LOOPS_H_
