// recur_vfpv4.cpp -- the recurrent rows for the Arm scalar FPU: panel_vfpv4.h and vec_vfpv4.h put under recur_small_body.h.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_VFPV4
#include "kernels/kernel_rows.h"
#include "kernels/panel_vfpv4.h"
#include "kernels/vec_vfpv4.h"
// The vector words and the panel's sum come before the body that uses them.
#include "kernels/recur_small_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {
namespace {

constexpr Kernel row(KernelFamily family, uint32_t nr, const char *name, RecurFn run) {
  return Kernel(family, DType::kF32, nr, RNNP_ISA_VFPV4, name, run);
}

}  // namespace

const Kernel kKernel_rnn_tanh_f32_nr4_vfpv4 = row(KernelFamily::kRnnTanh, 4, "rnn_tanh_f32_nr4_vfpv4", recur_run<RnnTanhCell, 4>);
const Kernel kKernel_rnn_relu_f32_nr4_vfpv4 = row(KernelFamily::kRnnRelu, 4, "rnn_relu_f32_nr4_vfpv4", recur_run<RnnReluCell, 4>);
const Kernel kKernel_rnn_generic_f32_nr4_vfpv4 =
    row(KernelFamily::kRnnGeneric, 4, "rnn_generic_f32_nr4_vfpv4", recur_run<RnnGenericCell, 4>);
const Kernel kKernel_lstm_f32_nr4_vfpv4 = row(KernelFamily::kLstm, 4, "lstm_f32_nr4_vfpv4", recur_run<LstmCell, 4>);
const Kernel kKernel_lstm_generic_f32_nr4_vfpv4 =
    row(KernelFamily::kLstmGeneric, 4, "lstm_generic_f32_nr4_vfpv4", recur_run<LstmGenericCell, 4>);
const Kernel kKernel_gru_linear_f32_nr4_vfpv4 =
    row(KernelFamily::kGruLinear, 4, "gru_linear_f32_nr4_vfpv4", recur_run<GruLinearCell, 4>);
const Kernel kKernel_gru_linear_generic_f32_nr4_vfpv4 =
    row(KernelFamily::kGruLinearGeneric, 4, "gru_linear_generic_f32_nr4_vfpv4", recur_run<GruLinearGenericCell, 4>);
const Kernel kKernel_gru_gates_f32_nr4_vfpv4 =
    row(KernelFamily::kGruGates, 4, "gru_gates_f32_nr4_vfpv4", recur_run<GruGatesCell, 4>);
const Kernel kKernel_gru_gates_generic_f32_nr4_vfpv4 =
    row(KernelFamily::kGruGatesGeneric, 4, "gru_gates_generic_f32_nr4_vfpv4", recur_run<GruGatesGenericCell, 4>);
const Kernel kKernel_gru_output_f32_nr4_vfpv4 =
    row(KernelFamily::kGruOutput, 4, "gru_output_f32_nr4_vfpv4", recur_run<GruOutputCell, 4>);
const Kernel kKernel_gru_output_generic_f32_nr4_vfpv4 =
    row(KernelFamily::kGruOutputGeneric, 4, "gru_output_generic_f32_nr4_vfpv4", recur_run<GruOutputGenericCell, 4>);

}  // namespace rnnp

#endif  // RNNPACK_HAVE_VFPV4
