// recur_simd128.cpp -- the recurrent rows for WebAssembly's simd128: vec_simd128.h put under recur_body.h.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_SIMD128
#include "kernels/kernel_rows.h"
#include "kernels/vec_simd128.h"
// The vector words come before the body that uses them.
#include "kernels/recur_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {
namespace {

constexpr Kernel row(KernelFamily family, uint32_t nr, const char *name, RecurFn run) {
  return Kernel(family, DType::kF32, nr, RNNP_ISA_SIMD128, name, run);
}

}  // namespace

const Kernel kKernel_rnn_tanh_f32_nr16_simd128 =
    row(KernelFamily::kRnnTanh, 16, "rnn_tanh_f32_nr16_simd128", recur_run<RnnTanhCell, 16, kBlocks_nr16_simd128>);
const Kernel kKernel_rnn_relu_f32_nr16_simd128 =
    row(KernelFamily::kRnnRelu, 16, "rnn_relu_f32_nr16_simd128", recur_run<RnnReluCell, 16, kBlocks_nr16_simd128>);
const Kernel kKernel_rnn_generic_f32_nr16_simd128 =
    row(KernelFamily::kRnnGeneric, 16, "rnn_generic_f32_nr16_simd128", recur_run<RnnGenericCell, 16, kBlocks_nr16_simd128>);
const Kernel kKernel_lstm_f32_nr16_simd128 =
    row(KernelFamily::kLstm, 16, "lstm_f32_nr16_simd128", recur_run<LstmCell, 16, kBlocks_nr16_simd128>);
const Kernel kKernel_lstm_generic_f32_nr16_simd128 =
    row(KernelFamily::kLstmGeneric, 16, "lstm_generic_f32_nr16_simd128", recur_run<LstmGenericCell, 16, kBlocks_nr16_simd128>);
const Kernel kKernel_gru_linear_f32_nr16_simd128 =
    row(KernelFamily::kGruLinear, 16, "gru_linear_f32_nr16_simd128", recur_run<GruLinearCell, 16, kBlocks_nr16_simd128>);
const Kernel kKernel_gru_linear_generic_f32_nr16_simd128 =
    row(KernelFamily::kGruLinearGeneric, 16, "gru_linear_generic_f32_nr16_simd128",
        recur_run<GruLinearGenericCell, 16, kBlocks_nr16_simd128>);
const Kernel kKernel_gru_gates_f32_nr16_simd128 =
    row(KernelFamily::kGruGates, 16, "gru_gates_f32_nr16_simd128", recur_run<GruGatesCell, 16, kBlocks_nr16_simd128>);
const Kernel kKernel_gru_gates_generic_f32_nr16_simd128 =
    row(KernelFamily::kGruGatesGeneric, 16, "gru_gates_generic_f32_nr16_simd128",
        recur_run<GruGatesGenericCell, 16, kBlocks_nr16_simd128>);
const Kernel kKernel_gru_output_f32_nr16_simd128 =
    row(KernelFamily::kGruOutput, 16, "gru_output_f32_nr16_simd128", recur_run<GruOutputCell, 16, kBlocks_nr16_simd128>);
const Kernel kKernel_gru_output_generic_f32_nr16_simd128 =
    row(KernelFamily::kGruOutputGeneric, 16, "gru_output_generic_f32_nr16_simd128",
        recur_run<GruOutputGenericCell, 16, kBlocks_nr16_simd128>);

}  // namespace rnnp

#endif  // RNNPACK_HAVE_SIMD128
