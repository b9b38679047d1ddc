// half_count.cpp -- a Linux program: steps of an LSTM of 64 units and inputs whose weights are f16 or bf16, by the kernels of one
// row of kernels.inc. half_count.sh runs it under QEMU, which counts instructions. Arguments: the gemm row's name, how many steps.
// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "kernels/kernel_rows.h"

namespace rnnp {
namespace {

constexpr uint32_t kHidden = 64, kGates = 4, kRow = kHidden * kGates;
alignas(64) uint16_t panels[2][kHidden * kRow];
alignas(64) float x[kHidden], h[2][kHidden], c[kHidden], bias[kRow], preact[kRow];

void multiply(const Kernel &gemm, const uint16_t *weights, const float *a, const float *start) {
  GemmArgs args = {};
  args.a = a;
  args.a_row_bytes = sizeof x;
  args.w.panels = weights;
  args.start = start;
  args.out = preact;
  args.start_row_bytes = args.out_row_bytes = sizeof preact;
  args.rows = 1;
  args.w.k = kHidden;
  args.w.gates = kGates;
  args.tile_end = kHidden / gemm.nr;
  gemm.gemm(&args);
}

void step(const Kernel &gemm, const Kernel &cell, uint32_t t) {
  multiply(gemm, panels[0], x, bias);
  multiply(gemm, panels[1], h[t % 2], preact);
  RecurArgs args = {};
  args.preact = preact;
  args.preact_row_bytes = sizeof preact;
  args.h_prev = h[t % 2];
  args.h_next = h[(t + 1) % 2];
  args.c = c;
  args.state_row_bytes = sizeof c;
  args.rows = 1;
  args.hidden_size = kHidden;
  args.tile_end = kHidden / cell.nr;
  cell.recur(&args);
}

// The plain row, and the one of this instruction set, each with this set's cells.
struct Row {
  const Kernel &gemm, &cell;
};
const Row kRows[] = {
#ifdef RNNPACK_HAVE_RVV
    {kKernel_gemm_f16_nr16_ref, kKernel_lstm_f32_nr16_rvv},
    {kKernel_gemm_bf16_nr16_ref, kKernel_lstm_f32_nr16_rvv},
    {kKernel_gemm_f16_nr16_rvv, kKernel_lstm_f32_nr16_rvv},
    {kKernel_gemm_bf16_nr16_rvv, kKernel_lstm_f32_nr16_rvv},
#else
    {kKernel_gemm_f16_nr8_ref, kKernel_lstm_f32_nr8_neon},    {kKernel_gemm_bf16_nr8_ref, kKernel_lstm_f32_nr8_neon},
    {kKernel_gemm_f16_nr8_neon, kKernel_lstm_f32_nr8_neon},   {kKernel_gemm_bf16_nr8_neon, kKernel_lstm_f32_nr8_neon},
    {kKernel_gemm_f16_nr16_neon, kKernel_lstm_f32_nr16_neon}, {kKernel_gemm_bf16_nr16_neon, kKernel_lstm_f32_nr16_neon},
#endif
};

}  // namespace
}  // namespace rnnp

int main(int argc, char **argv) {
  using namespace rnnp;
  if (argc != 3) return 2;
  for (uint32_t i = 0; i < kHidden * kRow; ++i) panels[0][i] = panels[1][i] = static_cast<uint16_t>(0x2800 + i % 1024);
  for (uint32_t i = 0; i < kHidden; ++i) x[i] = static_cast<float>(i) * 0.01f;
  for (const Row &row : kRows) {
    if (strcmp(row.gemm.name, argv[1]) != 0) continue;
    for (int t = 0; t < atoi(argv[2]); ++t) step(row.gemm, row.cell, static_cast<uint32_t>(t));
    return 0;
  }
  return 1;
}
