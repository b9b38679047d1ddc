// tile_columns_body.h -- prepared rows against panels by tiles: panels are the tiles of the right side as they are, prepared rows
// those of the left. Room: kernels; included after TileProduct, the product of two tiles. Tiles are configured and released within
// a call: none is in use while a thread waits for others. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_TILE_COLUMNS_BODY_H_
#define RNNPACK_KERNELS_TILE_COLUMNS_BODY_H_

#include <immintrin.h>

#include "kernels/kernels.h"
#include "kernels/tiles_amx.h"
#include "pack/panel_format.h"

namespace rnnp::RNNPACK_SET {
namespace {

// Below so many rows dot products of single rows take less time.
constexpr uint32_t kFewestTileRows = 8;
constexpr size_t kTileRows = 16, kTileBytes = 64;  // of a row: 16 units with four bytes each, or the bytes of 16 groups of k
constexpr size_t kTileGroups = kTileRows;          // of four k of int8, two of bf16

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
  size_t panel_k, panel_bytes;  // of a group of k, and of a panel
  const uint8_t *at(size_t column) const {
    const size_t tile = column / args->w.gates, gate = column % args->w.gates;
    return static_cast<const uint8_t *>(args->w.panels) + tile * panel_bytes + gate * kTileBytes;
  }
};

template <int kRowTiles, int kColumn>
RNNPACK_INLINE void add_column(const uint8_t *panel, size_t panel_k) {
  constexpr int kB = kPanelTile + kColumn % 2;
  Tiles::load<kB>(panel, panel_k);
  TileProduct::add<kColumn, kRowTile, kB>();
  if constexpr (kRowTiles == 2) TileProduct::add<2 + kColumn, kRowTile + 1, kB>();
}

// What is left of a panel behind whole tiles, and zeros: a tile may not reach beyond the last panel.
template <int kRowTiles, int kColumn>
RNNPACK_INLINE void add_rest(const uint8_t *panel, size_t panel_k, size_t groups) {
  alignas(64) uint8_t rest[kTileGroups * kTileBytes];
  RNNPACK_NO_UNROLL
  for (size_t i = 0; i < kTileGroups; ++i) {
    const __m512i line = i < groups ? _mm512_loadu_si512(panel + i * panel_k) : _mm512_setzero_si512();
    _mm512_store_si512(rest + i * kTileBytes, line);
  }
  add_column<kRowTiles, kColumn>(rest, kTileBytes);
}

// The products of all k of prepared rows and some columns onto the sums. rows: of each block of rows.
template <int kRowTiles, int kColumns>
RNNPACK_INLINE void add_tiles(const uint8_t *const (&rows)[2], size_t row_bytes, const uint8_t *const (&panel)[4], size_t panel_k,
                              size_t groups) {
  for (size_t k = 0; k < groups; k += kTileGroups) {
    Tiles::load<kRowTile>(rows[0] + k * 4, row_bytes);
    if constexpr (kRowTiles == 2) Tiles::load<kRowTile + 1>(rows[1] + k * 4, row_bytes);
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
}

// All columns of the call's tiles for prepared rows, some at a time: Block::run<row tiles, columns>(column).
template <class Block>
RNNPACK_INLINE void sweep_columns(const GemmArgs &g, size_t rows, Block *b) {
  const size_t end = size_t{g.tile_end} * g.w.gates, at_once = rows > kTileRows ? 2 : 4;
  for (size_t column = size_t{g.tile_begin} * g.w.gates; column < end;) {
    const size_t left = end - column, count = left < at_once ? left : at_once;
    if (rows > kTileRows) {
      count == 2 ? b->template run<2, 2>(column) : b->template run<2, 1>(column);
    } else if (count == 4) {
      b->template run<1, 4>(column);
    } else if (count == 3) {
      b->template run<1, 3>(column);
    } else {
      count == 2 ? b->template run<1, 2>(column) : b->template run<1, 1>(column);
    }
    column += count;
  }
}

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_TILE_COLUMNS_BODY_H_
