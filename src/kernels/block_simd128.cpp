// block_simd128.cpp -- the register blocks for WebAssembly's simd128: vec_simd128.h put under block_body.h.
// Room: kernels; compiled with this instruction set's flags, so it holds blocks and their tables only: no dispatch, no
// initialisers. Contract: block.h. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_SIMD128
#define RNNPACK_SET simd128
#include "kernels/vec_simd128.h"
// The vector words come before the body that uses them.
#include "kernels/block_body.h"

namespace rnnp {

RNNPACK_BLOCKS(nr16_simd128, PanelF32, 16)
RNNPACK_PART_BLOCKS(nr16_simd128, 16)

}  // namespace rnnp

#endif  // RNNPACK_HAVE_SIMD128
