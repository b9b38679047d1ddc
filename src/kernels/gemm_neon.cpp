// gemm_neon.cpp -- the gemm rows for NEON: vec_neon.h put under gemm_body.h.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_NEON
#include "kernels/kernel_rows.h"
#include "kernels/vec_neon.h"
// The vector words come before the body that uses them.
#include "kernels/gemm_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

const Kernel kKernel_gemm_f32_nr16_neon(KernelFamily::kGemm, DType::kF32, 16, RNNP_ISA_NEON, "gemm_f32_nr16_neon",
                                        gemm_run<kBlocks_nr16_neon, 16>);
#ifdef __arm__
const Kernel kKernel_gemm_f32_nr8_neon(KernelFamily::kGemm, DType::kF32, 8, RNNP_ISA_NEON, "gemm_f32_nr8_neon",
                                       gemm_run<kBlocks_nr8_neon, 8>);
#endif

}  // namespace rnnp

#endif  // RNNPACK_HAVE_NEON
