// block_body.h -- the blocks of block.h in the words of one instruction set, and the tables of them.
// Room: kernels; included once by block_<isa>.cpp after a vec_<isa>.h. Touches only its arguments.
// Contract: block.h.
// Why so: code for a block is the larger the more of its shape is fixed; rows and vectors must be, to be registers, strides need
// not. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_BLOCK_BODY_H_
#define RNNPACK_KERNELS_BLOCK_BODY_H_

#include "kernels/block.h"
#include "kernels/panel_body.h"

namespace rnnp::RNNPACK_SET {
namespace {

// Where loops are written out in a fixed order, the distance from one k to the next is part of the instructions, but for blocks of
// so many rows that an addition a k is hidden: one serves tiles of any width.
constexpr bool kFixedRows = Vec::kLanes || Vec::kWalks;
constexpr int fixed_row(int rows, int tiles, int row) {
  return Vec::kLanes && rows >= 5 && tiles == 1 ? 0 : row;
}

template <class Panel>
constexpr bool kIsF32 = false;
template <>
constexpr bool kIsF32<PanelF32> = true;

// The columns there are of `rows` rows of `row` floats.
RNNPACK_NOINLINE void store_columns(const BlockArgs *b, const float *from, size_t rows, size_t row) {
  float *out = b->out;
  for (; rows != 0; --rows, from += row, out = offset_bytes(out, b->out_row_bytes)) {
    size_t n = 0;
    for (; n + kWidth <= b->columns; n += kWidth) Vec::store(out + n, Vec::load(from + n));
    if (n < b->columns) Vec::store_first(out + n, Vec::load(from + n), b->columns - n);
  }
}

template <int kMr, int kTiles, int kVectors>
RNNPACK_INLINE void store_rows(const F (&acc)[kMr][kTiles * kVectors], float *to, size_t row_bytes, size_t tile) {
  RNNPACK_UNROLL
  for (int m = 0; m < kMr; ++m, to = offset_bytes(to, row_bytes)) {
    RNNPACK_UNROLL
    for (int n = 0; n < kTiles * kVectors; ++n) Vec::store(to + n / kVectors * tile + n % kVectors * kWidth, acc[m][n]);
  }
}

// A row that ends within the block goes by way of a buffer: rows of one gate can.
template <int kMr, int kTiles, int kVectors>
RNNPACK_INLINE void store_block(const BlockArgs *b, const F (&acc)[kMr][kTiles * kVectors]) {
  constexpr size_t kFloats = kTiles * kVectors * kWidth;
  if constexpr (kTiles * kVectors == 1 && kMasksCostNothing) {
    const size_t columns = b->columns < kFloats ? b->columns : kFloats;
    float *out = b->out;
    RNNPACK_UNROLL
    for (int m = 0; m < kMr; ++m, out = offset_bytes(out, b->out_row_bytes)) Vec::store_first(out, acc[m][0], columns);
  } else if constexpr (kTiles * kVectors == 1) {
    float *out = b->out;
    RNNPACK_UNROLL
    for (int m = 0; m < kMr; ++m, out = offset_bytes(out, b->out_row_bytes)) {
      if (b->columns >= kFloats) {
        Vec::store(out, acc[m][0]);
      } else if (b->columns != 0) {
        Vec::store_first(out, acc[m][0], b->columns);
      }
    }
  } else if constexpr (kVectors * kWidth <= 16) {
    float whole[kMr * kFloats];
    const bool all = b->columns >= kFloats;
    store_rows<kMr, kTiles, kVectors>(acc, all ? b->out : whole, all ? b->out_row_bytes : kFloats * sizeof(float),
                                      all ? b->out_tile : kVectors * kWidth);
    if (!all) store_columns(b, whole, kMr, kFloats);
  } else {
    store_rows<kMr, kTiles, kVectors>(acc, b->out, b->out_row_bytes, b->out_tile);
  }
}

template <int kMr, int kTiles, int kVectors>
RNNPACK_INLINE void load_start(const BlockArgs *b, F (&acc)[kMr][kTiles * kVectors]) {
  RNNPACK_UNROLL
  for (int m = 0; m < kMr; ++m) {
    const float *start = offset_bytes(b->start, m * b->start_row_bytes);
    RNNPACK_UNROLL
    for (int n = 0; n < kTiles * kVectors; ++n) acc[m][n] = Vec::load(start + n / kVectors * b->start_tile + n % kVectors * kWidth);
  }
}

// k terms of rows whose factors lie at `a`. kRow: floats from one k to the next; 0: an argument.
template <class Panel, int kMr, int kTiles, int kVectors, int kRow, bool kEvenly = false>
RNNPACK_INLINE void add_terms(const BlockArgs *b, F (&acc)[kMr][kTiles * kVectors], const float *a, size_t a_row_bytes,
                              const uint8_t *panel, size_t k) {
  const Rows<kMr> rows = rows_at<kMr>(a, a_row_bytes);
  if constexpr (kFixedRows && kIsF32<Panel>) {
    accumulate<kMr, kTiles, kVectors, kRow>(acc, rows, static_cast<const float *>(static_cast<const void *>(panel)),
                                            b->panel_tile / sizeof(float), k,
                                            kRow != 0 ? size_t{kRow} : b->panel_k / sizeof(float));
  } else {
    accumulate_strided<Panel, kMr, kTiles, kVectors, kEvenly>(acc, rows, panel, b->panel_tile, b->panel_k, k, b->ahead,
                                                              kEvenly && b->ahead != nullptr ? b->ahead_step : kLineBytes);
  }
}

template <class Panel, int kMr, int kTiles, int kVectors, int kRow>
RNNPACK_NOINLINE void block(const BlockArgs *b) {
  constexpr int kCount = kTiles * kVectors;
  F acc[kMr][kCount];
  load_start<kMr, kTiles, kVectors>(b, acc);
  if constexpr (kVectors == 3) {
    if (b->last_start != nullptr) {
      RNNPACK_UNROLL
      for (int n = 2; n < kCount; n += 3) {
        const F start = Vec::load(b->last_start + n / 3 * b->last_tile);
        RNNPACK_UNROLL
        for (int m = 0; m < kMr; ++m) acc[m][n] = start;
      }
    }
  }
  add_terms<Panel, kMr, kTiles, kVectors, kRow, kAsksEvenly && Vec::kRegisters == 16>(b, acc, b->a, b->a_row_bytes, b->panel, b->k);
  store_block<kMr, kTiles, kVectors>(b, acc);
}

// The same of rows in parts, of f32.
template <int kMr, int kTiles, int kVectors, int kRow>
RNNPACK_NOINLINE void block_of_parts(const BlockArgs *b) {
  F acc[kMr][kTiles * kVectors];
  load_start<kMr, kTiles, kVectors>(b, acc);
  const uint8_t *panel = b->panel;
  const GemmTap *tap = b->gemm->taps;
  for (size_t left = b->k; left != 0; left -= tap->k, ++tap) {
    add_terms<PanelF32, kMr, kTiles, kVectors, kRow>(b, acc, offset_bytes(tap->a, b->row * tap->row_bytes), tap->row_bytes, panel,
                                                     tap->k);
    panel += tap->k * b->panel_k;
  }
  store_block<kMr, kTiles, kVectors>(b, acc);
}

template <class Panel, int kTileVectors, bool kOfParts, int kMr, int kTiles>
constexpr void add_blocks(BlockLayout *layout) {
  constexpr int kVectors = kTiles == 1 ? pass_vectors(kMr, kTileVectors, kIsF32<Panel>, Panel::kKr) : kTileVectors;
  constexpr int kRow = kFixedRows && kIsF32<Panel> ? fixed_row(kMr, kTiles, kTileVectors * kWidth) : 0;
  if constexpr (kOfParts) {
    layout->blocks[kMr - 1][kTiles - 1] = block_of_parts<kMr, kTiles, kVectors, kRow>;
  } else {
    layout->blocks[kMr - 1][kTiles - 1] = block<Panel, kMr, kTiles, kVectors, kRow>;
  }
  if constexpr (kTiles > 1)
    add_blocks<Panel, kTileVectors, kOfParts, kMr, fewer_tiles(kMr, kTiles, kIsF32<Panel> && !kOfParts)>(layout);
}

// The blocks of kMr rows and up to kTiles tiles.
template <class Panel, int kTileVectors, bool kOfParts, int kMr, int kTiles>
constexpr void add_height(BlockLayout *layout) {
  add_blocks<Panel, kTileVectors, kOfParts, kMr, kTiles>(layout);
  layout->pass[kMr - 1] = pass_vectors(kMr, kTileVectors, kIsF32<Panel>, Panel::kKr) * kWidth;
  layout->every_count[kMr - 1] = every_count(kMr, kIsF32<Panel> && !kOfParts);
  layout->most_tiles[kMr - 1] = kTiles;
  uint8_t widest = 1;
  for (int t = 0; t < kTiles; ++t) {
    if (layout->blocks[kMr - 1][t] != nullptr) widest = static_cast<uint8_t>(t + 1);
    layout->tiles[kMr - 1][t] = widest;
  }
}

// Blocks of parts are of one tile but where rows are few: chains enough, in little code.
constexpr int part_tiles(int rows, int tiles) {
  const int most = rows == 1 ? 4 : rows == 2 ? 2 : 1;
  return tiles < most ? tiles : most;
}

template <class Panel, int kTileVectors, bool kOfParts, int kMr>
constexpr void add_rows(BlockLayout *layout) {
  constexpr int kTiles = block_tiles(kMr, kTileVectors, kIsF32<Panel>, Panel::kKr);
  add_height<Panel, kTileVectors, kOfParts, kMr, kOfParts ? part_tiles(kMr, kTiles) : kTiles>(layout);
  if constexpr (kMr > 1) add_rows<Panel, kTileVectors, kOfParts, kMr - 1>(layout);
}

template <class Panel, int kTileVectors, bool kOfParts = false>
constexpr BlockLayout block_layout() {
  constexpr int kMost = kIsF32<Panel> ? block_rows(kTileVectors) : Panel::kMostRows;
  BlockLayout layout = {};
  layout.tile_floats = kTileVectors * kWidth;
  layout.kr = Panel::kKr;
  layout.column_bytes = Panel::kColumnBytes;
  layout.most_rows = kMost;
  add_rows<Panel, kTileVectors, kOfParts, kMost>(&layout);
  if constexpr (has_tall_blocks(kTileVectors) && kIsF32<Panel>) {
    add_height<Panel, kTileVectors, kOfParts, kTallRows, kOfParts ? 1 : 2>(&layout);
    layout.tall_rows = kTallRows;
    layout.tall_tiles = kOfParts ? BlockLayout::kMostTiles : 2;
  }
  return layout;
}

}  // namespace
}  // namespace rnnp::RNNPACK_SET

#define RNNPACK_BLOCKS_OF(name, panel, gates, nr)  \
  template <>                                      \
  const BlockLayout Blocks_##name<gates>::layout = \
      RNNPACK_SET::block_layout<RNNPACK_SET::panel, gates *(nr) / RNNPACK_SET::kWidth>();
// Of one gate, of f32, rows in parts.
#define RNNPACK_PART_BLOCKS(name, nr)               \
  template <>                                       \
  const BlockLayout Blocks_##name<kParts>::layout = \
      RNNPACK_SET::block_layout<RNNPACK_SET::PanelF32, (nr) / RNNPACK_SET::kWidth, true>();
#define RNNPACK_BLOCKS(name, panel, nr) \
  RNNPACK_BLOCKS_OF(name, panel, 1, nr) \
  RNNPACK_BLOCKS_OF(name, panel, 2, nr) \
  RNNPACK_BLOCKS_OF(name, panel, 3, nr) \
  RNNPACK_BLOCKS_OF(name, panel, 4, nr)

#endif  // RNNPACK_KERNELS_BLOCK_BODY_H_
