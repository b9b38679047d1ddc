// block_walk.h -- how kernels pass over rows and tiles with the blocks of block.h.
// Room: kernels; included by gemm_sweep.cpp and recur_sweep.cpp. Contract: block.h.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_BLOCK_WALK_H_
#define RNNPACK_KERNELS_BLOCK_WALK_H_

#include "kernels/ahead.h"
#include "kernels/block.h"
#include "kernels/row_bytes.h"

namespace rnnp {
namespace {

// The first of the nearly equal shares into which `left` is cut, none above `most`: no block is left over with a row or tile or
// two.
RNNPACK_INLINE uint32_t even_share(uint32_t left, uint32_t most) {
  if (left <= most) return left;
  if (most < 2 || left >= most * (most - 1)) return most;  // what the divisions give, too
  const uint32_t shares = (left + most - 1) / most;
  return (left + shares - 1) / shares;
}

// Rows of the next block of `tiles` tiles when `left` are to be done.
RNNPACK_INLINE uint32_t next_rows(const BlockLayout &layout, uint32_t tiles, uint32_t left) {
  if (tiles <= layout.tall_tiles) {
    if (left > 3u * layout.tall_rows) return layout.tall_rows;  // shares of so many are tall
    const uint32_t share = even_share(left, layout.tall_rows);
    if (share > layout.most_rows && left >= layout.tall_rows) return layout.tall_rows;
  }
  return even_share(left, layout.most_rows);
}

// Tiles of the next block of `rows` rows when `left` are to be done; no last block is left with a tile or two.
RNNPACK_INLINE uint32_t next_tiles(const BlockLayout &layout, uint32_t rows, uint32_t left) {
  const uint32_t most = layout.most_tiles[rows - 1];
  const uint32_t count = left <= most ? left : left >= 2 * most || !layout.every_count[rows - 1] ? most : (left + 1) / 2;
  return layout.tiles[rows - 1][count - 1];
}

constexpr size_t kFarPanelBytes = 100 * 1000;

// How much blocks of `rows` rows in all ask for while they pass over `tiles` tiles of k: all of as many panels, or nothing, because
// a part takes longer than nothing. panel_bytes 0: nobody asks.
RNNPACK_INLINE AskShare ask_share(const BlockLayout &layout, size_t panel_bytes, uint32_t rows, uint32_t tiles, size_t k) {
  if (!kAsksEvenly || panel_bytes == 0 || rows < uint32_t{kAskingRows}) return kAskAll;
  const uint32_t height = even_share(rows, layout.most_rows), passes = layout.tile_floats / layout.pass[height - 1];
  if (passes == 1) return kAskAll;
  const size_t terms = k * tiles * passes * ((rows + height - 1) / height), wanted = tiles * panel_bytes;
  if (terms * kLineBytes < wanted) return {0, kLineBytes};
  AskShare share = kAskAll;
  while (panel_bytes > kFarPanelBytes && share.step > kLineBytes / 4 && terms * share.step / 2 >= wanted) share.step /= 2;
  return share;
}

// `rows` rows x `tiles` tiles, as next_tiles gave them, in as many passes over the panel as it takes; start, panel and out move.
RNNPACK_INLINE void run_block(const BlockLayout &layout, uint32_t rows, uint32_t tiles, BlockArgs *b, Ahead *ahead) {
  const BlockFn block = layout.blocks[rows - 1][tiles - 1];
  const uint32_t pass = tiles == 1 ? layout.pass[rows - 1] : layout.tile_floats;
  for (uint32_t left = layout.tile_floats;; left -= pass) {
    b->ahead = ask_ahead(ahead, b->k, kAsksEvenly ? b->ahead_step : kLineBytes);
    block(b);
    if (left == pass) return;
    b->start += pass;
    b->panel += size_t{pass} * layout.column_bytes;
    b->out += pass;
    if (b->columns != kAllColumns) b->columns -= pass < b->columns ? pass : b->columns;
  }
}

}  // namespace
}  // namespace rnnp
#endif  // RNNPACK_KERNELS_BLOCK_WALK_H_
