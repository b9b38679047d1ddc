// recur_neon.cpp -- the recurrent rows for NEON: vec_neon.h put under recur_body.h.
// Room: kernels; compiled with this instruction set's flags, so it holds kernels and their rows only: no dispatch, no initialisers.
// Contract: kernels.h; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#ifdef RNNPACK_HAVE_NEON
#include "kernels/kernel_rows.h"
#include "kernels/vec_neon.h"
// The vector words come before the body that uses them.
#include "kernels/recur_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {
namespace {

constexpr Kernel row(KernelFamily family, uint32_t nr, const char *name, RecurFn run) {
  return Kernel(family, DType::kF32, nr, RNNP_ISA_NEON, name, run);
}

}  // namespace

const Kernel kKernel_rnn_tanh_f32_nr16_neon =
    row(KernelFamily::kRnnTanh, 16, "rnn_tanh_f32_nr16_neon", recur_run<RnnTanhCell, 16, kBlocks_nr16_neon>);
const Kernel kKernel_rnn_relu_f32_nr16_neon =
    row(KernelFamily::kRnnRelu, 16, "rnn_relu_f32_nr16_neon", recur_run<RnnReluCell, 16, kBlocks_nr16_neon>);
const Kernel kKernel_rnn_generic_f32_nr16_neon =
    row(KernelFamily::kRnnGeneric, 16, "rnn_generic_f32_nr16_neon", recur_run<RnnGenericCell, 16, kBlocks_nr16_neon>);
const Kernel kKernel_lstm_f32_nr16_neon =
    row(KernelFamily::kLstm, 16, "lstm_f32_nr16_neon", recur_run<LstmCell, 16, kBlocks_nr16_neon>);
const Kernel kKernel_lstm_generic_f32_nr16_neon =
    row(KernelFamily::kLstmGeneric, 16, "lstm_generic_f32_nr16_neon", recur_run<LstmGenericCell, 16, kBlocks_nr16_neon>);
const Kernel kKernel_gru_linear_f32_nr16_neon =
    row(KernelFamily::kGruLinear, 16, "gru_linear_f32_nr16_neon", recur_run<GruLinearCell, 16, kBlocks_nr16_neon>);
const Kernel kKernel_gru_linear_generic_f32_nr16_neon = row(KernelFamily::kGruLinearGeneric, 16, "gru_linear_generic_f32_nr16_neon",
                                                            recur_run<GruLinearGenericCell, 16, kBlocks_nr16_neon>);
const Kernel kKernel_gru_gates_f32_nr16_neon =
    row(KernelFamily::kGruGates, 16, "gru_gates_f32_nr16_neon", recur_run<GruGatesCell, 16, kBlocks_nr16_neon>);
const Kernel kKernel_gru_gates_generic_f32_nr16_neon = row(KernelFamily::kGruGatesGeneric, 16, "gru_gates_generic_f32_nr16_neon",
                                                           recur_run<GruGatesGenericCell, 16, kBlocks_nr16_neon>);
const Kernel kKernel_gru_output_f32_nr16_neon =
    row(KernelFamily::kGruOutput, 16, "gru_output_f32_nr16_neon", recur_run<GruOutputCell, 16, kBlocks_nr16_neon>);
const Kernel kKernel_gru_output_generic_f32_nr16_neon = row(KernelFamily::kGruOutputGeneric, 16, "gru_output_generic_f32_nr16_neon",
                                                            recur_run<GruOutputGenericCell, 16, kBlocks_nr16_neon>);

#ifdef __arm__
const Kernel kKernel_rnn_tanh_f32_nr8_neon =
    row(KernelFamily::kRnnTanh, 8, "rnn_tanh_f32_nr8_neon", recur_run<RnnTanhCell, 8, kBlocks_nr8_neon>);
const Kernel kKernel_rnn_relu_f32_nr8_neon =
    row(KernelFamily::kRnnRelu, 8, "rnn_relu_f32_nr8_neon", recur_run<RnnReluCell, 8, kBlocks_nr8_neon>);
const Kernel kKernel_rnn_generic_f32_nr8_neon =
    row(KernelFamily::kRnnGeneric, 8, "rnn_generic_f32_nr8_neon", recur_run<RnnGenericCell, 8, kBlocks_nr8_neon>);
const Kernel kKernel_lstm_f32_nr8_neon = row(KernelFamily::kLstm, 8, "lstm_f32_nr8_neon", recur_run<LstmCell, 8, kBlocks_nr8_neon>);
const Kernel kKernel_lstm_generic_f32_nr8_neon =
    row(KernelFamily::kLstmGeneric, 8, "lstm_generic_f32_nr8_neon", recur_run<LstmGenericCell, 8, kBlocks_nr8_neon>);
const Kernel kKernel_gru_linear_f32_nr8_neon =
    row(KernelFamily::kGruLinear, 8, "gru_linear_f32_nr8_neon", recur_run<GruLinearCell, 8, kBlocks_nr8_neon>);
const Kernel kKernel_gru_linear_generic_f32_nr8_neon = row(KernelFamily::kGruLinearGeneric, 8, "gru_linear_generic_f32_nr8_neon",
                                                           recur_run<GruLinearGenericCell, 8, kBlocks_nr8_neon>);
const Kernel kKernel_gru_gates_f32_nr8_neon =
    row(KernelFamily::kGruGates, 8, "gru_gates_f32_nr8_neon", recur_run<GruGatesCell, 8, kBlocks_nr8_neon>);
const Kernel kKernel_gru_gates_generic_f32_nr8_neon =
    row(KernelFamily::kGruGatesGeneric, 8, "gru_gates_generic_f32_nr8_neon", recur_run<GruGatesGenericCell, 8, kBlocks_nr8_neon>);
const Kernel kKernel_gru_output_f32_nr8_neon =
    row(KernelFamily::kGruOutput, 8, "gru_output_f32_nr8_neon", recur_run<GruOutputCell, 8, kBlocks_nr8_neon>);
const Kernel kKernel_gru_output_generic_f32_nr8_neon = row(KernelFamily::kGruOutputGeneric, 8, "gru_output_generic_f32_nr8_neon",
                                                           recur_run<GruOutputGenericCell, 8, kBlocks_nr8_neon>);
#endif

}  // namespace rnnp

#endif  // RNNPACK_HAVE_NEON
