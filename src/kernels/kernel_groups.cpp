// kernel_groups.cpp -- the groups of rnnpack/registry.h: for each family and layout its rows of kernels.inc, chosen by the
// compiler. Room: kernels. Constants only. A group ends with the first row that every CPU of this build can run: the rows after it
// could not be chosen, and firmware would carry them for nothing. Contract: kernels.h. SPDX-License-Identifier: Apache-2.0
#include "base/compiled_isa.h"
#include "kernels/kernel_rows.h"

namespace rnnp {
namespace {

struct Entry {
  KernelFamily family;
  DType dtype;
  uint32_t nr, isa;
  const Kernel *row;
};

constexpr Entry kEntries[] = {
#define RNNPACK_KERNEL(name, family, dtype, nr, isa, file) {KernelFamily::family, DType::dtype, nr, isa, &kKernel_##name},
#include "kernels/kernels.inc"
#undef RNNPACK_KERNEL
};

constexpr uint32_t kMostRows = 8;

struct Found {
  const Kernel *rows[kMostRows];
  uint32_t count;
};

constexpr Found find_rows(KernelFamily family, DType dtype, uint32_t nr) {
  Found f = {};
  for (const Entry &e : kEntries) {
    if (e.family != family || e.dtype != dtype || e.nr != nr) continue;
    f.rows[f.count++] = e.row;
    if ((e.isa & ~kCompiledIsa) == 0) break;
  }
  return f;
}

}  // namespace

#define RNNPACK_GROUP_OF(name, family, dtype, nr)                                   \
  namespace {                                                                       \
  constexpr Found kFound_##name = find_rows(family, DType::dtype, nr);              \
  static_assert(kFound_##name.count != 0, "a group without a row");                 \
  }                                                                                 \
  extern "C" {                                                                      \
  extern const KernelList rnnp_kernels_##name;                                      \
  const KernelList rnnp_kernels_##name = {kFound_##name.rows, kFound_##name.count}; \
  }
#define RNNPACK_GROUP(name, family, dtype, nr) RNNPACK_GROUP_OF(name, KernelFamily::family, dtype, nr)

#define RNNPACK_LAYOUT_GROUPS(name, family)        \
  RNNPACK_GROUP(name##_f32_nr16, family, kF32, 16) \
  RNNPACK_GROUP(name##_f32_nr8, family, kF32, 8)   \
  RNNPACK_GROUP(name##_f32_nr4, family, kF32, 4)

RNNPACK_LAYOUT_GROUPS(gemm3, kGemm3)
RNNPACK_LAYOUT_GROUPS(gemm4, kGemm4)
// Products with panels of each format; of NR 0 there are none.
#define RNNPACK_PANEL_FORMAT(name, id, weight, factor, nr, kr, scales, index_bytes, pack, gemm) \
  RNNPACK_GEMM_GROUP_##nr(name, KernelFamily::gemm, weight)
#define RNNPACK_GEMM_GROUP_0(name, family, weight)
#define RNNPACK_GEMM_GROUP_4(name, family, weight) RNNPACK_GROUP_OF(gemm_##name, family, weight, 4)
#define RNNPACK_GEMM_GROUP_8(name, family, weight) RNNPACK_GROUP_OF(gemm_##name, family, weight, 8)
#define RNNPACK_GEMM_GROUP_16(name, family, weight) RNNPACK_GROUP_OF(gemm_##name, family, weight, 16)
#include "pack/panel_formats.inc"
#undef RNNPACK_PANEL_FORMAT

RNNPACK_LAYOUT_GROUPS(rnn_tanh, kRnnTanh)
RNNPACK_LAYOUT_GROUPS(rnn_relu, kRnnRelu)
RNNPACK_LAYOUT_GROUPS(rnn_generic, kRnnGeneric)
RNNPACK_LAYOUT_GROUPS(lstm, kLstm)
RNNPACK_LAYOUT_GROUPS(lstm_generic, kLstmGeneric)
RNNPACK_LAYOUT_GROUPS(gru_linear, kGruLinear)
RNNPACK_LAYOUT_GROUPS(gru_linear_generic, kGruLinearGeneric)
RNNPACK_LAYOUT_GROUPS(gru_gates, kGruGates)
RNNPACK_LAYOUT_GROUPS(gru_gates_generic, kGruGatesGeneric)
RNNPACK_LAYOUT_GROUPS(gru_output, kGruOutput)
RNNPACK_LAYOUT_GROUPS(gru_output_generic, kGruOutputGeneric)
// Cells in integers are one row of all widths.
RNNPACK_GROUP(rnn_tanh_i8, kRnnTanh, kI8, 0)
RNNPACK_GROUP(lstm_i8, kLstm, kI8, 0)
RNNPACK_GROUP(gru_linear_i8, kGruLinear, kI8, 0)
RNNPACK_GROUP(gru_gates_i8, kGruGates, kI8, 0)
RNNPACK_GROUP(gru_output_i8, kGruOutput, kI8, 0)
RNNPACK_GROUP(act_f32, kAct, kF32, 0)
RNNPACK_GROUP(act_plain_f32, kActPlain, kF32, 0)
RNNPACK_GROUP(binary_f32, kBinary, kF32, 0)
RNNPACK_GROUP(softmax_f32, kSoftmax, kF32, 0)
RNNPACK_GROUP(depthwise_f32, kDepthwise, kF32, 0)
RNNPACK_GROUP(matmul_f32, kMatMul, kF32, 0)
RNNPACK_GROUP(conv_nchw_f32, kConvNchw, kF32, 0)
RNNPACK_GROUP(conv_winograd_f32, kConvWinograd, kF32, 0)

}  // namespace rnnp
