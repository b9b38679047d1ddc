// gemm_half_rvv.cpp -- the blocks and gemm rows of f16 and bf16 panels: vec_rvv.h put under block_body.h and gemm_body.h.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_RVV
#define RNNPACK_SET rvv
#include "kernels/kernel_rows.h"
#include "kernels/vec_rvv.h"
// The vector words come before the bodies that use them.
#include "kernels/block_body.h"
#include "kernels/gemm_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

RNNPACK_BLOCKS(kF16_nr16_rvv, PanelF16, 16)
RNNPACK_BLOCKS(kBf16_nr16_rvv, PanelBf16, 16)

#define RNNPACK_IN_gemm_half_rvv , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) rvv::gemm_run_any<Blocks_##dtype##_nr##nr##_rvv>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif
