// recur_rvf.cpp -- the recurrent rows for RISC-V's scalar FPU: panel_rvf.h and vec_rvf.h put under recur_small_body.h.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_RVF
#include "kernels/kernel_rows.h"
#include "kernels/panel_rvf.h"
#include "kernels/vec_rvf.h"
// The vector words and the panel's sum come before the body that uses them.
#include "kernels/recur_small_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {
namespace {

constexpr Kernel row(KernelFamily family, uint32_t nr, const char *name, RecurFn run) {
  return Kernel(family, DType::kF32, nr, RNNP_ISA_RVF, name, run);
}

}  // namespace

const Kernel kKernel_rnn_tanh_f32_nr4_rvf = row(KernelFamily::kRnnTanh, 4, "rnn_tanh_f32_nr4_rvf", recur_run<RnnTanhCell, 4>);
const Kernel kKernel_rnn_relu_f32_nr4_rvf = row(KernelFamily::kRnnRelu, 4, "rnn_relu_f32_nr4_rvf", recur_run<RnnReluCell, 4>);
const Kernel kKernel_rnn_generic_f32_nr4_rvf =
    row(KernelFamily::kRnnGeneric, 4, "rnn_generic_f32_nr4_rvf", recur_run<RnnGenericCell, 4>);
const Kernel kKernel_lstm_f32_nr4_rvf = row(KernelFamily::kLstm, 4, "lstm_f32_nr4_rvf", recur_run<LstmCell, 4>);
const Kernel kKernel_lstm_generic_f32_nr4_rvf =
    row(KernelFamily::kLstmGeneric, 4, "lstm_generic_f32_nr4_rvf", recur_run<LstmGenericCell, 4>);
const Kernel kKernel_gru_linear_f32_nr4_rvf =
    row(KernelFamily::kGruLinear, 4, "gru_linear_f32_nr4_rvf", recur_run<GruLinearCell, 4>);
const Kernel kKernel_gru_linear_generic_f32_nr4_rvf =
    row(KernelFamily::kGruLinearGeneric, 4, "gru_linear_generic_f32_nr4_rvf", recur_run<GruLinearGenericCell, 4>);
const Kernel kKernel_gru_gates_f32_nr4_rvf = row(KernelFamily::kGruGates, 4, "gru_gates_f32_nr4_rvf", recur_run<GruGatesCell, 4>);
const Kernel kKernel_gru_gates_generic_f32_nr4_rvf =
    row(KernelFamily::kGruGatesGeneric, 4, "gru_gates_generic_f32_nr4_rvf", recur_run<GruGatesGenericCell, 4>);
const Kernel kKernel_gru_output_f32_nr4_rvf =
    row(KernelFamily::kGruOutput, 4, "gru_output_f32_nr4_rvf", recur_run<GruOutputCell, 4>);
const Kernel kKernel_gru_output_generic_f32_nr4_rvf =
    row(KernelFamily::kGruOutputGeneric, 4, "gru_output_generic_f32_nr4_rvf", recur_run<GruOutputGenericCell, 4>);

}  // namespace rnnp

#endif  // RNNPACK_HAVE_RVF
