// gemm_apart_body.h -- rows against int8 panels of four units whose gates lie one behind the other: all columns of a row in one go,
// where results and what they are added to lie side by side. Room: kernels; included once by gemm_<format>_<isa>.cpp after a
// vec_<isa>.h and Bytes: its Columns, how a row becomes bytes, and what multiplies it by columns, which steps `scales`, `start`,
// `out` and `panel` on. Contract: kernels.h, GemmArgs; docs/KERNELS.md, "Int8". SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_GEMM_APART_BODY_H_
#define RNNPACK_KERNELS_GEMM_APART_BODY_H_

#include "base/checked.h"
#include "kernels/kernels.h"
#include "kernels/rows_body.h"

namespace rnnp::RNNPACK_SET {
namespace {

constexpr size_t kTileUnits = 4, kMostGates = 4;

RNNPACK_NOINLINE void add_diagonal(const GemmArgs &g, const float *a, size_t tile, float *out, size_t width) {
  const float *diagonal = g.w.diagonal + tile * width;
  for (size_t n = 0; n < width; ++n) {
    const size_t unit = tile * kTileUnits + n % kTileUnits;
    if (unit < g.w.k) out[n] = __builtin_fmaf(a[unit], diagonal[n], out[n]);
  }
}

// Tiles one by one: they, or what they start from, are not side by side, or the last one is not whole.
RNNPACK_NOINLINE void single_tiles(const GemmArgs &g, Bytes::Columns *columns, size_t row, size_t start_tile, size_t out_tile) {
  static const float kZeros[kMostGates * kTileUnits] = {};
  const size_t width = g.w.gates * kTileUnits;
  const float *start = g.start == nullptr ? kZeros : columns->start;
  float *out = columns->out;
  for (size_t tile = g.tile_begin; tile < g.tile_end; ++tile, start += start_tile, out += out_tile) {
    float edge[kMostGates * kTileUnits];
    const size_t left = g.units == 0 ? width : g.units - tile * width;
    float *const results = left < width ? edge : out;
    columns->start = start;
    columns->out = results;
    columns->count = g.w.gates;
    Bytes::run(g, columns);
    if (g.w.diagonal != nullptr) add_diagonal(g, offset_bytes(g.a, row * g.a_row_bytes), tile, results, width);
    for (size_t n = 0; left < width && n < left; ++n) out[n] = edge[n];
  }
}

template <int kNr>
void gemm_apart_run(const GemmArgs *args) {
  static_assert(kNr == kTileUnits, "a column is four units");
  const GemmArgs &g = *args;
  const size_t width = g.w.gates * kTileUnits, out_tile = g.out_tile != 0 ? g.out_tile : width;
  const size_t start_tile = g.start == nullptr ? 0 : g.start_tile != 0 ? g.start_tile : width;
  const bool whole = g.units == 0 || g.units >= g.tile_end * width;
  const bool together = start_tile == width && out_tile == width && whole && g.w.diagonal == nullptr;
  const size_t panel_bytes = align_up(g.w.k, Bytes::kGroup) * width;
  for (size_t row = 0; row < g.rows; ++row) {
    Bytes::Columns columns;
    columns.step = Bytes::quantise(g, offset_bytes(g.a, row * g.a_row_bytes));
    columns.scales = g.w.scales + g.tile_begin * width;
    columns.panel = static_cast<const uint8_t *>(g.w.panels) + g.tile_begin * panel_bytes;
    columns.start = g.start;
    if (g.start != nullptr) columns.start = offset_bytes(g.start, row * g.start_row_bytes) + g.tile_begin * start_tile;
    columns.out = offset_bytes(g.out, row * g.out_row_bytes) + g.tile_begin * out_tile;
    if (together) {
      columns.count = (g.tile_end - g.tile_begin) * g.w.gates;
      Bytes::run(g, &columns);
    } else {
      single_tiles(g, &columns, row, start_tile, out_tile);
    }
  }
}

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_GEMM_APART_BODY_H_
