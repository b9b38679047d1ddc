// act_rvv.cpp -- activation, two-operand and softmax rows for RISC-V vectors: vec_rvv.h put under act_body.h.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_RVV
#include "kernels/kernel_rows.h"
#include "kernels/vec_rvv.h"
// The vector words come before the body that uses them.
#include "kernels/act_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

const Kernel kKernel_act_f32_rvv(KernelFamily::kAct, DType::kF32, 0, RNNP_ISA_RVV, "act_f32_rvv", act_run);
const Kernel kKernel_binary_f32_rvv(KernelFamily::kBinary, DType::kF32, 0, RNNP_ISA_RVV, "binary_f32_rvv", binary_run);
const Kernel kKernel_softmax_f32_rvv(KernelFamily::kSoftmax, DType::kF32, 0, RNNP_ISA_RVV, "softmax_f32_rvv", softmax_run);

}  // namespace rnnp

#endif  // RNNPACK_HAVE_RVV
