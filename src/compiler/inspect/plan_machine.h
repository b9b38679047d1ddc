// plan_machine.h -- whose plan `inspect --plan` shows.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_INSPECT_PLAN_MACHINE_H_
#define RNNPACK_COMPILER_INSPECT_PLAN_MACHINE_H_

#include <cstdint>

namespace rnnp::compiler {

// The machine and the way it is used. Rates are one core's; `make bench` measures them.
struct PlanMachine {
  uint32_t threads = 1, batch = 1, steps = 100;
  uint32_t l1_kib = 32, l2_kib = 1024, l3_kib = 32768;
  double l1_gbs = 200, l2_gbs = 100, l3_gbs = 25, dram_gbs = 12, gflops = 200;
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_INSPECT_PLAN_MACHINE_H_
