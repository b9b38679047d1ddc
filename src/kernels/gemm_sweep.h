// gemm_sweep.h -- how a gemm passes over rows and tiles with the blocks of any instruction set: many rows against panels,
// out[m][tile][g][n] = start + sum over k of a[m][k] * panel[tile][k][g][n]. Room: kernels. Reads a, panels, start; writes out,
// masked at the last tile of a dense row. Contract: kernels.h, GemmArgs. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_GEMM_SWEEP_H_
#define RNNPACK_KERNELS_GEMM_SWEEP_H_

#include "kernels/block.h"
#include "kernels/kernels.h"

namespace rnnp {

// The rows from `row` on.
void gemm_sweep(const GemmArgs *args, const BlockLayout *layout, uint32_t row);

}  // namespace rnnp
#endif  // RNNPACK_KERNELS_GEMM_SWEEP_H_
