// share_tiles.h -- which tiles of products each thread owns, where blocks make tiles of unequal work.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_SHARE_TILES_H_
#define RNNPACK_OPS_SHARE_TILES_H_

#include "ops/op.h"

namespace rnnp {

// Blocks of a product in tiles before `tile`. Of a dense matrix all are there.
inline uint64_t blocks_before(const GemmArgs &g, size_t tile) {
  const size_t column = tile * g.w.gates;
  return g.w.first != nullptr ? g.w.first[column] : uint64_t{column} * ((size_t{g.w.k} + kBlockK - 1) / kBlockK);
}

// The first tile that does not belong to threads before `thread`: as much work lies before it as is theirs, or less than a tile
// more.
inline size_t first_tile(const GemmArgs *const *products, size_t count, size_t tiles, uint32_t threads, uint32_t thread) {
  // What is done once for a tile, as blocks.
  constexpr uint64_t kOfTile = 8;
  const auto work_before = [&](size_t tile) {
    uint64_t work = kOfTile * tile;
    for (size_t i = 0; i < count; ++i) work += blocks_before(*products[i], tile);
    return work;
  };
  const uint64_t all = work_before(tiles);
  size_t low = 0, high = tiles;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (work_before(middle) * threads < all * thread) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// [*begin, *end): the tiles that `thread` of `threads` owns of products that are cut alike; contiguous, of about equal work: as
// many where every matrix is dense, else as many blocks.
inline void share_tiles(const GemmArgs *const *products, size_t count, size_t tiles, uint32_t threads, uint32_t thread,
                        size_t *begin, size_t *end) {
  bool sparse = false;
  for (size_t i = 0; i < count; ++i) sparse = sparse || products[i]->w.first != nullptr;
  if (!kManyThreads || !sparse) {
    split_range(tiles, threads, thread, begin, end);
    return;
  }
  *begin = first_tile(products, count, tiles, threads, thread);
  *end = first_tile(products, count, tiles, threads, thread + 1);
}

}  // namespace rnnp
#endif  // RNNPACK_OPS_SHARE_TILES_H_
