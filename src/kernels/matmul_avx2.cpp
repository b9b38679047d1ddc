// matmul_avx2.cpp -- matmul rows for AVX2 and FMA: vec_avx2.h put under matmul_body.h.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_AVX2
#define RNNPACK_SET avx2
#include "kernels/kernel_rows.h"
#include "kernels/vec_avx2.h"
// The vector words come before the body that uses them.
#include "kernels/matmul_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_matmul_avx2 , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) avx2::matmul_run
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif  // RNNPACK_HAVE_AVX2
