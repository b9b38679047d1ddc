// gemm_apart_body.h -- rows against int8 panels of four units whose gates lie one behind the other: all columns of a row in one go,
// where results and what they are added to lie side by side. Room: kernels; included once by gemm_<format>_<isa>.cpp after a
// vec_<isa>.h and Bytes: its Columns, how a row becomes bytes, and what multiplies it by columns, which steps `scales`, `start`,
// `out` and `panel` on, and goes over tiles that lie apart. Contract: kernels.h, GemmArgs; docs/KERNELS.md,
// "Int8". SPDX-License-Identifier: Apache-2.0
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

// The tiles from `first` on, one by one: they, or what they start from, are not evenly apart, or the last one is not whole.
RNNPACK_NOINLINE void single_tiles(const GemmArgs &g, Bytes::Columns *columns, size_t row, size_t first, size_t start_tile,
                                   size_t out_tile) {
  static const float kZeros[kMostGates * kTileUnits] = {};
  const size_t width = g.w.gates * kTileUnits;
  const float *start = g.start == nullptr ? kZeros : columns->start;
  float *out = columns->out;
  columns->count = g.w.gates;
  columns->tiles = 1;
  columns->skip = 0;
  for (size_t tile = first; tile < g.tile_end; ++tile, start += start_tile, out += out_tile) {
    float edge[kMostGates * kTileUnits];
    const size_t left = g.units == 0 ? width : g.units - tile * width;
    float *const results = left < width ? edge : out;
    columns->start = start;
    columns->out = results;
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
  // Tiles that go together: whole ones, evenly apart.
  size_t end = g.units == 0 || g.units >= g.tile_end * width ? g.tile_end : g.units / width;
  if (start_tile != out_tile || g.w.diagonal != nullptr || end < g.tile_begin) end = g.tile_begin;
  const size_t together = end - g.tile_begin, panel_bytes = align_up(g.w.k, Bytes::kGroup) * width;
  const bool again = g.prepared && g.rows == 1 && g.w.lhs_scale != 0.0f;
  for (size_t row = 0; row < g.rows; ++row) {
    Bytes::Columns columns;
    columns.step = again ? g.w.lhs_scale : Bytes::quantise(g, offset_bytes(g.a, row * g.a_row_bytes));
    columns.scales = g.w.scales + g.tile_begin * width;
    columns.panel = static_cast<const uint8_t *>(g.w.panels) + g.tile_begin * panel_bytes;
    columns.start = g.start;
    if (g.start != nullptr) columns.start = offset_bytes(g.start, row * g.start_row_bytes) + g.tile_begin * start_tile;
    columns.out = offset_bytes(g.out, row * g.out_row_bytes) + g.tile_begin * out_tile;
    columns.skip = (out_tile - width) * sizeof(float);
    columns.tiles = columns.skip == 0 ? 1 : together;
    columns.count = columns.skip == 0 ? together * g.w.gates : g.w.gates;
    if (together != 0) Bytes::run(g, &columns);
    if (end != g.tile_end) single_tiles(g, &columns, row, end, start_tile, out_tile);
  }
}

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_GEMM_APART_BODY_H_
