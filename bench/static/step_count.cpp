// step_count.cpp -- a bare-metal Arm program: instructions of one whole step (W and R products and cells) of a layer, per multiply.
// Run under QEMU with -icount shift=0, where SysTick's time is instructions; prints one line per kernel and shape.
// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>
#include <stdio.h>

#include "kernels/kernel_rows.h"

namespace rnnp {
namespace {

constexpr uint32_t kMaxHidden = 64, kGates = 4, kSteps = 50;
constexpr uint32_t kPanel = kMaxHidden * kMaxHidden * kGates;
alignas(64) float r_panel[kPanel], w_panel[kPanel], bias[kMaxHidden * kGates], x[kMaxHidden], h[2][kMaxHidden], c[kMaxHidden],
    y[kMaxHidden];

// QEMU's boards run SysTick from a clock of RNNPACK_TICK_PS picoseconds, and an instruction takes one.
volatile uint32_t *const kSysTick = reinterpret_cast<volatile uint32_t *>(0xe000e010u);
uint32_t ticks() {
  return kSysTick[2];
}

float noise(uint32_t i) {
  return static_cast<float>((i * 2654435761u) >> 20) * (1.0f / 16384.0f) - 0.125f;
}

void report(const Kernel &kernel, const char *layer, uint32_t gates, uint32_t hidden) {
  RecurArgs args = {};
  args.r = r_panel;
  args.w = w_panel;
  args.bias = bias;
  args.r_bias = bias;
  args.x = x;
  args.c = c;
  args.y = y;
  args.state_row_bytes = sizeof(c);
  args.rows = 1;
  args.input_size = args.hidden_size = args.recurrent_k = hidden;
  args.tile_end = (hidden + kernel.nr - 1) / kernel.nr;
  const uint32_t start = ticks();
  for (uint32_t step = 0; step < kSteps; ++step) {
    args.h_prev = h[step % 2];
    args.h_next = h[(step + 1) % 2];
    kernel.recur(&args);
  }
  const uint64_t taken = uint64_t{(start - ticks()) & 0xffffffu} * RNNPACK_TICK_PS / 1000u;
  const uint32_t macs = 2u * hidden * hidden * gates;
  printf("%s | %s | %u | %u | %u | %u.%03u |\n", kernel.name, layer, static_cast<unsigned>(hidden),
         static_cast<unsigned>(taken / kSteps), static_cast<unsigned>(macs), static_cast<unsigned>(taken / kSteps / macs),
         static_cast<unsigned>(taken * 1000u / kSteps / macs % 1000u));
}

void report_all(const Kernel &lstm, const Kernel &gru, const Kernel &rnn) {
  for (uint32_t hidden = 16; hidden <= kMaxHidden; hidden *= 2) {
    report(lstm, "LSTM", 4, hidden);
    report(gru, "GRU", 3, hidden);
    report(rnn, "RNN", 1, hidden);
  }
}

}  // namespace
}  // namespace rnnp

int main() {
  using namespace rnnp;
  for (uint32_t i = 0; i < kPanel; ++i) r_panel[i] = noise(i), w_panel[i] = noise(i + kPanel);
  for (uint32_t i = 0; i < kMaxHidden; ++i) x[i] = noise(i * 7);
  kSysTick[1] = 0xffffffu;
  kSysTick[2] = 0;
  kSysTick[0] = 5;
#ifdef RNNPACK_HAVE_MVE
  report_all(kKernel_lstm_f32_nr4_mve, kKernel_gru_linear_f32_nr4_mve, kKernel_rnn_tanh_f32_nr4_mve);
#endif
#ifdef RNNPACK_HAVE_VFPV4
  report_all(kKernel_lstm_f32_nr4_vfpv4, kKernel_gru_linear_f32_nr4_vfpv4, kKernel_rnn_tanh_f32_nr4_vfpv4);
#endif
  report_all(kKernel_lstm_f32_nr4_ref, kKernel_gru_linear_f32_nr4_ref, kKernel_rnn_tanh_f32_nr4_ref);
  return 0;
}
