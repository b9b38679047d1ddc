// gemm_half_avx512.cpp -- the blocks and gemm rows of f16 and bf16 panels: vec_avx512.h put under block_body.h and gemm_body.h.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_AVX512
#define RNNPACK_SET avx512
#include "kernels/kernel_rows.h"
#include "kernels/vec_avx512.h"
// The vector words come before the bodies that use them.
#include "kernels/block_body.h"
#include "kernels/gemm_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

RNNPACK_BLOCKS(kF16_nr16_avx512, PanelF16, 16)
RNNPACK_BLOCKS(kBf16_nr16_avx512, PanelBf16, 16)

#define RNNPACK_IN_gemm_half_avx512 , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) avx512::gemm_run_any<Blocks_##dtype##_nr##nr##_avx512>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif
