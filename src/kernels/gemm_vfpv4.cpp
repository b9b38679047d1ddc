// gemm_vfpv4.cpp -- the gemm rows for the Arm scalar FPU: panel_vfpv4.h put under gemm_small_body.h.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_VFPV4
#include "kernels/kernel_rows.h"
#include "kernels/panel_vfpv4.h"
#include "kernels/vec_vfpv4.h"
// The vector words and the panel's sum come before the body that uses them.
#include "kernels/gemm_small_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

const Kernel kKernel_gemm_f32_nr4_vfpv4(KernelFamily::kGemm, DType::kF32, 4, RNNP_ISA_VFPV4, "gemm_f32_nr4_vfpv4", gemm_run<4>);

}  // namespace rnnp

#endif  // RNNPACK_HAVE_VFPV4
