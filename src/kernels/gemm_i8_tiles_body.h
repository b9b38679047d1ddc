// gemm_i8_tiles_body.h -- rows against panels of int8 by tiles: panels are the tiles of the right side as they are, quantised rows
// those of the left. Room: kernels; included once, after Int, the words on bytes. Writes out and its scratch. Contract: kernels.h,
// GemmArgs; docs/KERNELS.md, "Int8". Sums are whole, so bits are those of any other block. Tiles are configured and released within
// a call: none is in use while a thread waits for others. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_GEMM_I8_TILES_BODY_H_
#define RNNPACK_KERNELS_GEMM_I8_TILES_BODY_H_

#include "kernels/finish_bytes_body.h"
#include "kernels/tiles_amx.h"

namespace rnnp {
namespace {

// Below so many rows dot products of single rows take less time.
constexpr uint32_t kFewestTileRows = 8;
constexpr size_t kTileRows = 16, kTileBytes = 64;  // of a row: 16 units with four k each, or 64 k
constexpr size_t kTileGroups = kTileRows;          // of four k

// Tiles 0 to 3 are sums: of one block of rows and four columns, or of two and two. 4 and 5 are rows, 6 and 7 panels.
constexpr int kRowTile = 4, kPanelTile = 6;
static_assert(kQuantisedRows == 2 * kTileRows, "two blocks of rows at a time");

RNNPACK_INLINE void shape_tiles(size_t rows) {
  TileShapes shapes = {};
  shapes.palette = 1;
  const size_t first = rows < kTileRows ? rows : kTileRows, second = rows - first;
  const size_t other = second != 0 ? second : first;
  const size_t of_tile[] = {first, first, other, other, first, other, kTileRows, kTileRows};
  RNNPACK_NO_UNROLL
  for (int t = 0; t < 8; ++t) {
    shapes.row_bytes[t] = kTileBytes;
    shapes.rows[t] = static_cast<uint8_t>(of_tile[t]);
  }
  Tiles::begin(shapes);
}

RNNPACK_INLINE void touch_tiles() {
  shape_tiles(kFewestTileRows);
  Tiles::zero<0>();
  Tiles::end();
}

// The columns of a product one after the other: 16 units of one gate each, whatever tile they belong to.
struct TileColumns {
  const GemmArgs *args;
  size_t panel_k, panel_bytes;  // of four k, and of a panel
  const uint8_t *at(size_t column) const {
    const size_t tile = column / args->w.gates, gate = column % args->w.gates;
    return static_cast<const uint8_t *>(args->w.panels) + tile * panel_bytes + gate * kTileBytes;
  }
};

template <int kRowTiles, int kColumn>
RNNPACK_INLINE void add_column(const uint8_t *panel, size_t panel_k) {
  constexpr int kB = kPanelTile + kColumn % 2;
  Tiles::load<kB>(panel, panel_k);
  Tiles::add_dots<kColumn, kRowTile, kB>();
  if constexpr (kRowTiles == 2) Tiles::add_dots<2 + kColumn, kRowTile + 1, kB>();
}

// What is left of a panel behind whole tiles, and zeros: a tile may not reach beyond the last panel.
template <int kRowTiles, int kColumn>
RNNPACK_INLINE void add_rest(const uint8_t *panel, size_t panel_k, size_t groups) {
  alignas(64) uint8_t rest[kTileGroups * kTileBytes];
  RNNPACK_NO_UNROLL
  for (size_t i = 0; i < kTileGroups; ++i) {
    const I line = i < groups ? _mm512_loadu_si512(panel + i * panel_k) : Int::zero();
    _mm512_store_si512(rest + i * kTileBytes, line);
  }
  add_column<kRowTiles, kColumn>(rest, kTileBytes);
}

template <int kRowTiles, int kColumns>
RNNPACK_NOINLINE void sum_tiles(const ByteRows &rows, const uint8_t *const (&panel)[4], size_t panel_k, size_t groups,
                                I (&sums)[4][kTileRows]) {
  Tiles::zero<0>();
  Tiles::zero<1>();
  Tiles::zero<2>();
  Tiles::zero<3>();
  for (size_t k = 0; k < groups; k += kTileGroups) {
    Tiles::load<kRowTile>(rows.bytes(0) + k * 4, rows.row_bytes);
    if constexpr (kRowTiles == 2) Tiles::load<kRowTile + 1>(rows.bytes(kTileRows) + k * 4, rows.row_bytes);
    const size_t at = k * panel_k;
    if (k + kTileGroups <= groups) {
      add_column<kRowTiles, 0>(panel[0] + at, panel_k);
      if constexpr (kColumns > 1) add_column<kRowTiles, 1>(panel[1] + at, panel_k);
      if constexpr (kColumns > 2) add_column<kRowTiles, 2>(panel[2] + at, panel_k);
      if constexpr (kColumns > 3) add_column<kRowTiles, 3>(panel[3] + at, panel_k);
    } else {
      add_rest<kRowTiles, 0>(panel[0] + at, panel_k, groups - k);
      if constexpr (kColumns > 1) add_rest<kRowTiles, 1>(panel[1] + at, panel_k, groups - k);
      if constexpr (kColumns > 2) add_rest<kRowTiles, 2>(panel[2] + at, panel_k, groups - k);
      if constexpr (kColumns > 3) add_rest<kRowTiles, 3>(panel[3] + at, panel_k, groups - k);
    }
  }
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
template <int kRowTiles, int kColumns>
RNNPACK_INLINE void tile_columns(const TileColumns &columns, ByteBlock *b, size_t column, size_t rows) {
  const uint8_t *panel[4] = {};
  for (size_t c = 0; c < kColumns; ++c) panel[c] = columns.at(column + c);
  I sums[4][kTileRows];
  sum_tiles<kRowTiles, kColumns>(b->rows, panel, columns.panel_k, b->groups, sums);
  for (size_t c = 0; c < kColumns; ++c) {
    b->tile = (column + c) / b->args->w.gates;
    b->column = (column + c) % b->args->w.gates * kWidth;
    b->row = 0;
    finish_tile_column(*b, sums[c], rows < kTileRows ? rows : kTileRows);
    if constexpr (kRowTiles == 2) {
      b->row = kTileRows;
      finish_tile_column(*b, sums[2 + c], rows - kTileRows);
    }
  }
}

RNNPACK_INLINE void sweep_columns(const TileColumns &columns, ByteBlock *b, size_t rows) {
  const size_t end = size_t{b->args->tile_end} * b->args->w.gates, at_once = rows > kTileRows ? 2 : 4;
  for (size_t column = size_t{b->args->tile_begin} * b->args->w.gates; column < end;) {
    const size_t left = end - column, count = left < at_once ? left : at_once;
    if (rows > kTileRows) {
      count == 2 ? tile_columns<2, 2>(columns, b, column, rows) : tile_columns<2, 1>(columns, b, column, rows);
    } else if (count == 4) {
      tile_columns<1, 4>(columns, b, column, rows);
    } else if (count == 3) {
      tile_columns<1, 3>(columns, b, column, rows);
    } else {
      count == 2 ? tile_columns<1, 2>(columns, b, column, rows) : tile_columns<1, 1>(columns, b, column, rows);
    }
    column += count;
  }
}

void gemm_i8_tiles_run(const GemmArgs *args) {
  ByteBlock b = {};
  b.args = args;
  b.rows = byte_rows(*args, false);
  b.width = size_t{args->w.gates} * kWidth;
  b.panel_k = b.width * kColumnBytes;
  b.groups = (size_t{args->w.k} + 3) / 4;
  const TileColumns columns = {args, b.panel_k, b.groups * b.panel_k};
  for (b.first_row = 0; b.first_row < args->rows; b.first_row += kQuantisedRows) {
    const size_t left = args->rows - b.first_row, rows = left < kQuantisedRows ? left : kQuantisedRows;
    for (size_t m = 0; m < rows && !args->prepared; ++m) quantise_row(args, b.first_row + m, b.rows, m, Int::kZero);
    shape_tiles(rows);
    sweep_columns(columns, &b, rows);
  }
  Tiles::end();
}

}  // namespace
}  // namespace rnnp
#endif  // RNNPACK_KERNELS_GEMM_I8_TILES_BODY_H_
