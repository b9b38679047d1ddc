// gemm_small_body.h -- rows against panels in little code: a row and a tile at a time.
// Room: kernels; included once by gemm_<isa>.cpp after a panel_sum<floats of a panel row>. Touches only its arguments.
// Contract: kernels.h, GemmArgs; the bits of gemm_body.h.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_GEMM_SMALL_BODY_H_
#define RNNPACK_KERNELS_GEMM_SMALL_BODY_H_

#include "kernels/kernels.h"
#include "kernels/panel_body.h"

namespace rnnp::RNNPACK_SET {
namespace {

// A row whose factors lie in parts.
template <int kRow>
RNNPACK_NOINLINE void sum_parts(float *sums, const float *start, const GemmArgs *args, size_t row, const float *panel) {
  const GemmTap *tap = args->taps;
  for (size_t left = args->w.k; left != 0; left -= tap->k, ++tap) {
    panel_sum<kRow>(sums, start, offset_bytes(tap->a, row * tap->row_bytes), panel, tap->k);
    panel += tap->k * kRow;
    start = sums;
  }
}

template <int kRow>
void gemm_run(const GemmArgs *args) {
  constexpr bool kMayBeParts = kRow == 4;  // one gate
  float zeros[kRow] = {}, edge[kRow];
  const size_t start_tile = args->start_tile != 0 ? args->start_tile : kRow, out_tile = args->out_tile != 0 ? args->out_tile : kRow;
  for (size_t tile = args->tile_begin; tile < args->tile_end; ++tile) {
    const float *panel = static_cast<const float *>(args->w.panels) + tile * args->w.k * kRow;
    const size_t left = args->units - tile * kRow;
    const bool whole = args->units == 0 || left >= kRow;
    for (size_t row = 0; row < args->rows; ++row) {
      const float *start = zeros;
      if (args->start != nullptr) start = offset_bytes(args->start, row * args->start_row_bytes) + tile * start_tile;
      float *out = offset_bytes(args->out, row * args->out_row_bytes) + tile * out_tile;
      float *sums = whole ? out : edge;
      bool in_parts = false;
      if constexpr (kMayBeParts) {
        in_parts = args->in_parts;
        if (in_parts) sum_parts<kRow>(sums, start, args, row, panel);
      }
      if (!in_parts) panel_sum<kRow>(sums, start, offset_bytes(args->a, row * args->a_row_bytes), panel, args->w.k);
      for (size_t n = 0; !whole && n < left; ++n) out[n] = edge[n];
    }
  }
}

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_GEMM_SMALL_BODY_H_
