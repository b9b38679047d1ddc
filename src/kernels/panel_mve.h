// panel_mve.h -- the inner loop of the Helium kernels: out[n] = start[n] + sum over i of a[i] * panel[i][n].
// Room: kernels; shared by *_mve.cpp. Reads a row of start, k floats of a, k rows of the panel; writes a row of out (may be start).
// Contract: one fused multiply-add per term, i ascending.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_PANEL_MVE_H_
#define RNNPACK_KERNELS_PANEL_MVE_H_

#include <stddef.h>

namespace rnnp::RNNPACK_SET {

// A panel row of 4, 8, 12 or 16 floats: one to four gates of four units. k may be 0.
void panel_sum4_mve(float *out, const float *start, const float *a, const float *panel, size_t k);
void panel_sum8_mve(float *out, const float *start, const float *a, const float *panel, size_t k);
void panel_sum12_mve(float *out, const float *start, const float *a, const float *panel, size_t k);
void panel_sum16_mve(float *out, const float *start, const float *a, const float *panel, size_t k);

// Each instruction set has its own.
namespace {

template <int kRow>
inline void panel_sum(float *out, const float *start, const float *a, const float *panel, size_t k) {
  static_assert(kRow == 4 || kRow == 8 || kRow == 12 || kRow == 16, "a row is one to four gates of four units");
  if (kRow == 4) return panel_sum4_mve(out, start, a, panel, k);
  if (kRow == 8) return panel_sum8_mve(out, start, a, panel, k);
  if (kRow == 12) return panel_sum12_mve(out, start, a, panel, k);
  return panel_sum16_mve(out, start, a, panel, k);
}

}  // namespace

}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_PANEL_MVE_H_
