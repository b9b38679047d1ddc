// act_simd128.cpp -- activation, two-operand and softmax rows for WebAssembly's simd128: vec_simd128.h put under act_body.h.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_SIMD128
#include "kernels/kernel_rows.h"
#include "kernels/vec_simd128.h"
// The vector words come before the body that uses them.
#include "kernels/act_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {

const Kernel kKernel_act_f32_simd128(KernelFamily::kAct, DType::kF32, 0, RNNP_ISA_SIMD128, "act_f32_simd128", act_run);
const Kernel kKernel_binary_f32_simd128(KernelFamily::kBinary, DType::kF32, 0, RNNP_ISA_SIMD128, "binary_f32_simd128", binary_run);
const Kernel kKernel_softmax_f32_simd128(KernelFamily::kSoftmax, DType::kF32, 0, RNNP_ISA_SIMD128, "softmax_f32_simd128",
                                         softmax_run);

}  // namespace rnnp

#endif  // RNNPACK_HAVE_SIMD128
