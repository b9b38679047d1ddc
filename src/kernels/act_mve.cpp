// act_mve.cpp -- activation, two-operand and softmax rows for Helium (MVE): vec_mve.h put under act_body.h.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_MVE
#include "kernels/kernel_rows.h"
#include "kernels/vec_mve.h"
// The vector words come before the body that uses them.
#include "kernels/act_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

const Kernel kKernel_act_f32_mve(KernelFamily::kAct, DType::kF32, 0, RNNP_ISA_MVE, "act_f32_mve", act_run);
const Kernel kKernel_act_plain_f32_mve(KernelFamily::kActPlain, DType::kF32, 0, RNNP_ISA_MVE, "act_plain_f32_mve", act_plain_run);
const Kernel kKernel_binary_f32_mve(KernelFamily::kBinary, DType::kF32, 0, RNNP_ISA_MVE, "binary_f32_mve", binary_run);
const Kernel kKernel_softmax_f32_mve(KernelFamily::kSoftmax, DType::kF32, 0, RNNP_ISA_MVE, "softmax_f32_mve", softmax_run);

}  // namespace rnnp

#endif  // RNNPACK_HAVE_MVE
