// block_neon.cpp -- the register blocks for NEON: vec_neon.h put under block_body.h.
// Room: kernels; compiled with this instruction set's flags, so it holds blocks and their tables only: no dispatch, no
// initialisers. Contract: block.h. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_NEON
#define RNNPACK_SET neon
#include "kernels/vec_neon.h"
// The vector words come before the body that uses them.
#include "kernels/block_body.h"

namespace rnnp {

RNNPACK_BLOCKS(nr16_neon, PanelF32, 16)
RNNPACK_PART_BLOCKS(nr16_neon, 16)
#ifdef __arm__
RNNPACK_BLOCKS(nr8_neon, PanelF32, 8)
RNNPACK_PART_BLOCKS(nr8_neon, 8)
#endif

}  // namespace rnnp

#endif  // RNNPACK_HAVE_NEON
