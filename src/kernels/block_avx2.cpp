// block_avx2.cpp -- the register blocks for AVX2 and FMA: vec_avx2.h put under block_body.h.
// Room: kernels; compiled with this instruction set's flags, so it holds blocks and their tables only: no dispatch, no
// initialisers. Contract: block.h. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_AVX2
#define RNNPACK_SET avx2
#include "kernels/vec_avx2.h"
// The vector words come before the body that uses them.
#include "kernels/block_body.h"

namespace rnnp {

RNNPACK_BLOCKS(nr16_avx2, PanelF32, 16)
RNNPACK_PART_BLOCKS(nr16_avx2, 16)

}  // namespace rnnp

#endif  // RNNPACK_HAVE_AVX2
