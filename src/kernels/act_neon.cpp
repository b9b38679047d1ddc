// act_neon.cpp -- activation, two-operand and softmax rows for NEON: vec_neon.h put under act_body.h.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_NEON
#include "kernels/kernel_rows.h"
#include "kernels/vec_neon.h"
// The vector words come before the body that uses them.
#include "kernels/act_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

const Kernel kKernel_act_f32_neon(KernelFamily::kAct, DType::kF32, 0, RNNP_ISA_NEON, "act_f32_neon", act_run);
const Kernel kKernel_binary_f32_neon(KernelFamily::kBinary, DType::kF32, 0, RNNP_ISA_NEON, "binary_f32_neon", binary_run);
const Kernel kKernel_softmax_f32_neon(KernelFamily::kSoftmax, DType::kF32, 0, RNNP_ISA_NEON, "softmax_f32_neon", softmax_run);

}  // namespace rnnp

#endif  // RNNPACK_HAVE_NEON
