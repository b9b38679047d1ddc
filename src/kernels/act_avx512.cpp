// act_avx512.cpp -- activation, two-operand and softmax rows for AVX-512: vec_avx512.h put under act_body.h.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_AVX512
#define RNNPACK_SET avx512
#include "kernels/kernel_rows.h"
#include "kernels/vec_avx512.h"
// The vector words come before the body that uses them.
#include "kernels/act_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_act_avx512 , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) avx512::act_function<KernelFamily::family>()
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif  // RNNPACK_HAVE_AVX512
