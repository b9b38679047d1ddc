// panel_vfpv4.h -- the inner loop of the scalar-FPU kernels: out[n] = start[n] + sum over i of a[i] * panel[i][n].
// Room: kernels; shared by *_vfpv4.cpp. Reads a row of start, k floats of a, k rows of the panel; writes a row of out (may be
// start). Contract: one fused multiply-add per term, i ascending. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_PANEL_VFPV4_H_
#define RNNPACK_KERNELS_PANEL_VFPV4_H_

#include <stddef.h>

namespace rnnp::RNNPACK_SET {

// A panel row of 4, 8, 12 or 16 floats: one to four gates of four units. k may be 0.
void panel_sum4_vfpv4(float *out, const float *start, const float *a, const float *panel, size_t k);
void panel_sum8_vfpv4(float *out, const float *start, const float *a, const float *panel, size_t k);
void panel_sum12_vfpv4(float *out, const float *start, const float *a, const float *panel, size_t k);
void panel_sum16_vfpv4(float *out, const float *start, const float *a, const float *panel, size_t k);

// Each instruction set has its own.
namespace {

template <int kRow>
inline void panel_sum(float *out, const float *start, const float *a, const float *panel, size_t k) {
  static_assert(kRow == 4 || kRow == 8 || kRow == 12 || kRow == 16, "a row is one to four gates of four units");
  if (kRow == 4) return panel_sum4_vfpv4(out, start, a, panel, k);
  if (kRow == 8) return panel_sum8_vfpv4(out, start, a, panel, k);
  if (kRow == 12) return panel_sum12_vfpv4(out, start, a, panel, k);
  return panel_sum16_vfpv4(out, start, a, panel, k);
}

}  // namespace

}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_PANEL_VFPV4_H_
