// kernel_sync.h -- which threads of a kernel wait for one another. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_KERNEL_MEETS_H_
#define RNNPACK_CUDA_KERNEL_MEETS_H_

#include <stdint.h>

namespace simt {

// Those of a whole grid must all be resident at the same time: a cooperative launch; of kCluster, those of each cluster. kWarp:
// of a plain operator, those of a warp or of a block that knows no session.
enum class Sync : uint8_t { kNobody, kWarp, kBlock, kGrid, kCluster };

}  // namespace simt
#endif  // RNNPACK_CUDA_KERNEL_MEETS_H_
