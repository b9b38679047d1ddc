// panel_rvf.h -- the inner loop of the kernels for RISC-V's scalar FPU: out[n] = start[n] + sum over i of a[i] * panel[i][n].
// Room: kernels; included by *_rvf.cpp. Reads a row of start, k floats of a, k rows of the panel; writes a row of out (may be
// start).
// Contract: one fused multiply-add per term, i ascending; k may be 0.
// Why so: the sums stay in registers, of which there are 32; two rows a turn, so that loads are behind multiply-adds of the other
// row. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_PANEL_RVF_H_
#define RNNPACK_KERNELS_PANEL_RVF_H_

#include <stddef.h>

#include "kernels/inlining.h"

namespace rnnp::RNNPACK_SET {
namespace {

template <int kRow>
RNNPACK_INLINE void panel_row(float (&sum)[kRow], float factor, const float *panel) {
  RNNPACK_UNROLL
  for (int n = 0; n < kRow; ++n) sum[n] = __builtin_fmaf(factor, panel[n], sum[n]);
}

template <int kRow>
RNNPACK_NOINLINE void panel_sum(float *out, const float *start, const float *a, const float *panel, size_t k) {
  float sum[kRow];
  RNNPACK_UNROLL
  for (int n = 0; n < kRow; ++n) sum[n] = start[n];
  RNNPACK_NO_UNROLL
  for (; k >= 2; k -= 2, a += 2, panel += 2 * kRow) {
    panel_row<kRow>(sum, a[0], panel);
    panel_row<kRow>(sum, a[1], panel + kRow);
  }
  if (k != 0) panel_row<kRow>(sum, a[0], panel);
  RNNPACK_UNROLL
  for (int n = 0; n < kRow; ++n) out[n] = sum[n];
}

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_PANEL_RVF_H_
