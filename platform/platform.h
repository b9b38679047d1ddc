// platform.h -- what differs per operating system or board: CPU features and private cache sizes.
// Room: sees nothing of src. One of the folders beside this file is built; a board that knows nothing returns zeros.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_PLATFORM_PLATFORM_H_
#define RNNPACK_PLATFORM_PLATFORM_H_

#include <stdint.h>

namespace rnnp {

struct CpuFacts {
  uint32_t isa;        // RNNP_ISA_* bits this CPU and its operating system can run
  uint32_t l1d_bytes;  // per core; 0 unknown
  uint32_t l2_bytes;   // per core, private; 0 unknown or none
};

CpuFacts platform_cpu();

}  // namespace rnnp
#endif  // RNNPACK_PLATFORM_PLATFORM_H_
