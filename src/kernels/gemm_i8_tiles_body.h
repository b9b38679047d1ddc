// gemm_i8_tiles_body.h -- quantised rows against panels of int8 by tiles. Room: kernels; included once, after Int, the words on
// bytes, and TileProduct. Writes out and its scratch. Contract: kernels.h, GemmArgs; docs/KERNELS.md, "Int8". Sums are whole, so
// bits are those of any other block. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_GEMM_I8_TILES_BODY_H_
#define RNNPACK_KERNELS_GEMM_I8_TILES_BODY_H_

#include "kernels/finish_bytes_body.h"
#include "kernels/tile_columns_body.h"

namespace rnnp::RNNPACK_SET {
namespace {

template <int kRowTiles, int kColumns>
RNNPACK_NOINLINE void sum_tiles(const ByteRows &rows, const uint8_t *const (&panel)[4], size_t panel_k, size_t groups,
                                I (&sums)[4][kTileRows]) {
  Tiles::zero<0>();
  Tiles::zero<1>();
  Tiles::zero<2>();
  Tiles::zero<3>();
  const uint8_t *const of_block[2] = {rows.bytes(0), rows.bytes(kTileRows)};
  add_tiles<kRowTiles, kColumns>(of_block, rows.row_bytes, panel, panel_k, groups);
  Tiles::store<0>(sums[0], kTileBytes);
  if constexpr (kColumns > 1) Tiles::store<1>(sums[1], kTileBytes);
  if constexpr (kColumns > 2 || kRowTiles == 2) Tiles::store<2>(sums[2], kTileBytes);
  if constexpr (kColumns > 3 || (kColumns > 1 && kRowTiles == 2)) Tiles::store<3>(sums[3], kTileBytes);
}

// A column of whole sums of some rows: as finish_row, with what its rows share loaded once.
RNNPACK_INLINE void finish_tile_column(const ByteBlock &b, const I *sum, size_t rows) {
  const GemmArgs &g = *b.args;
  if (is_slow_path(g)) return finish_slow_path(b, sum, rows, 1);
  const size_t start_tile = g.start_tile != 0 ? g.start_tile : b.width, out_tile = g.out_tile != 0 ? g.out_tile : b.width;
  const size_t of_unit = b.tile * b.width + b.column, at = b.first_row + b.row;
  const float *start = offset_bytes(g.start, at * g.start_row_bytes) + b.tile * start_tile + b.column;
  float *out = offset_bytes(g.out, at * g.out_row_bytes) + b.tile * out_tile + b.column;
  const F unit_scale = Vec::load(g.w.scales + of_unit);
  const I excess = Int::start(g.w.unit_sums + of_unit);
  RNNPACK_NO_UNROLL
  for (size_t m = 0; m < rows; ++m) {
    const F scale = Vec::mul(unit_scale, Vec::set1(*b.rows.scale(b.row + m)));
    Vec::store(out, Vec::fma(Int::floats(Int::add(sum[m], excess)), scale, Vec::load(start)));
    start = offset_bytes(start, g.start_row_bytes);
    out = offset_bytes(out, g.out_row_bytes);
  }
}

// All of the quantised rows against some columns.
struct ByteTiles {
  TileColumns columns;
  ByteBlock b;
  size_t rows;

  template <int kRowTiles, int kColumns>
  RNNPACK_INLINE void run(size_t column) {
    const uint8_t *panel[4] = {};
    for (size_t c = 0; c < kColumns; ++c) panel[c] = columns.at(column + c);
    I sums[4][kTileRows];
    sum_tiles<kRowTiles, kColumns>(b.rows, panel, columns.panel_k, b.groups, sums);
    for (size_t c = 0; c < kColumns; ++c) {
      b.tile = (column + c) / b.args->w.gates;
      b.column = (column + c) % b.args->w.gates * kWidth;
      b.row = 0;
      finish_tile_column(b, sums[c], rows < kTileRows ? rows : kTileRows);
      if constexpr (kRowTiles == 2) {
        b.row = kTileRows;
        finish_tile_column(b, sums[2 + c], rows - kTileRows);
      }
    }
  }
};

void gemm_i8_tiles_run(const GemmArgs *args) {
  ByteTiles t = {};
  ByteBlock &b = t.b;
  b.args = args;
  b.rows = byte_rows(*args, false);
  b.width = size_t{args->w.gates} * kWidth;
  b.panel_k = b.width * kColumnBytes;
  b.groups = (size_t{args->w.k} + 3) / 4;
  t.columns = {args, b.panel_k, b.groups * b.panel_k};
  for (b.first_row = 0; b.first_row < args->rows; b.first_row += kQuantisedRows) {
    const size_t left = args->rows - b.first_row;
    t.rows = left < kQuantisedRows ? left : kQuantisedRows;
    for (size_t m = 0; m < t.rows && !args->prepared; ++m) quantise_row(args, b.first_row + m, b.rows, m, Int::kZero);
    shape_tiles(t.rows);
    sweep_columns(*args, t.rows, &t);
  }
  Tiles::end();
}

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_GEMM_I8_TILES_BODY_H_
