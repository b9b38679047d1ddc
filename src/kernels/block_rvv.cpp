// block_rvv.cpp -- the register blocks for RISC-V vectors: vec_rvv.h put under block_body.h.
// Room: kernels; compiled with this instruction set's flags, so it holds blocks and their tables only: no dispatch, no
// initialisers. Contract: block.h. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_RVV
#define RNNPACK_SET rvv
#include "kernels/vec_rvv.h"
// The vector words come before the body that uses them.
#include "kernels/block_body.h"

namespace rnnp {

RNNPACK_BLOCKS(nr16_rvv, PanelF32, 16)
RNNPACK_PART_BLOCKS(nr16_rvv, 16)

}  // namespace rnnp

#endif  // RNNPACK_HAVE_RVV
