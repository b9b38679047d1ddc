// gemm_vfpv4.cpp -- the gemm rows for the Arm scalar FPU: panel_vfpv4.h put under gemm_small_body.h.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_VFPV4
#define RNNPACK_SET vfpv4
#include "kernels/kernel_rows.h"
#include "kernels/panel_vfpv4.h"
#include "kernels/vec_vfpv4.h"
// The vector words and the panel's sum come before the body that uses them.
#include "kernels/gemm_small_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

#define RNNPACK_IN_gemm_vfpv4 , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) vfpv4::gemm_run<gemm_gates(KernelFamily::family) * nr>
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif  // RNNPACK_HAVE_VFPV4
