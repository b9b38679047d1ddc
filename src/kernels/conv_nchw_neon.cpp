// conv_nchw_neon.cpp -- convolutions of planes for NEON: vec_neon.h put under conv_nchw_body.h.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_NEON
#define RNNPACK_SET neon
#include "kernels/kernel_rows.h"
#include "kernels/vec_neon.h"
// The vector words come before the body that uses them.
#include "kernels/conv_nchw_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_conv_nchw_neon , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) neon::conv_nchw_run
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif  // RNNPACK_HAVE_NEON
