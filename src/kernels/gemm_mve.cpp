// gemm_mve.cpp -- the gemm rows for Helium (MVE): panel_mve.h put under gemm_small_body.h.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_MVE
#include "kernels/kernel_rows.h"
#include "kernels/panel_mve.h"
#include "kernels/vec_mve.h"
// The vector words and the panel's sum come before the body that uses them.
#include "kernels/gemm_small_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

const Kernel kKernel_gemm_f32_nr4_mve(KernelFamily::kGemm, DType::kF32, 4, RNNP_ISA_MVE, "gemm_f32_nr4_mve", gemm_run<4>);

}  // namespace rnnp

#endif  // RNNPACK_HAVE_MVE
