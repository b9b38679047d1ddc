// conv_winograd_simd128.cpp -- 3x3 convolutions of planes by F(2x2, 3x3) for WebAssembly's simd128: vec_simd128.h put under
// conv_winograd_body.h. Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no
// dispatch, no initialisers. Contract: kernels.h; rows in kernels.inc. SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_SIMD128
#define RNNPACK_SET simd128
#include "kernels/kernel_rows.h"
#include "kernels/vec_simd128.h"
// The vector words come before the body that uses them.
#include "kernels/conv_winograd_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_conv_winograd_simd128 , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) simd128::conv_winograd_run
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif  // RNNPACK_HAVE_SIMD128
