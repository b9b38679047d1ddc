// gemm_sweep.cpp -- rows in chunks, tiles in groups, blocks of both. Room: kernels. Contract: gemm_sweep.h.
// Why so: rows go in chunks that stay in L2 while tiles pass; within a chunk a panel stays in L1 or L2 while row blocks pass.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm_sweep.h"

#include "kernels/block_walk.h"

namespace rnnp {
namespace {

alignas(64) constexpr float kZeros[64] = {};
constexpr uint32_t kNearRowsBytes = 256 << 10, kFarRowsBytes = 2 << 20;  // of A
constexpr size_t kMostPanelBytes = 210 * 1000;                           // two of them lie in an L2 of 512 KiB

// From tile to tile of panels of k.
size_t panel_bytes(const BlockLayout &layout, size_t k) {
  const size_t columns = layout.kr == 1 ? k : (k + layout.kr - 1) / layout.kr;  // small products feel a division
  return columns * layout.column_bytes * layout.tile_floats;
}

struct Gemm {
  const GemmArgs *args;
  const BlockLayout &layout;
  Ahead ahead;
  BlockArgs b;
  size_t first_k;  // where it asks evenly

  // run() sets the rest: zeros for it first are a twentieth of a small product.
  // NOLINTNEXTLINE(clang-analyzer-optin.cplusplus.UninitializedObject)
  RNNPACK_INLINE Gemm(const GemmArgs *a, const BlockLayout &l) : args(a), layout(l) {}

  RNNPACK_INLINE const uint8_t *panel(size_t tile) const {
    return static_cast<const uint8_t *>(args->w.panels) + tile * b.panel_tile;
  }

  // What all blocks have in common.
  RNNPACK_INLINE void prepare() {
    const size_t row = layout.tile_floats;
#ifndef NDEBUG
    if (args->start == nullptr && args->start_row_bytes != 0) __builtin_trap();  // kZeros are one row
#endif
    take(0, args->w.k);
    b.last_start = nullptr;
    b.a_row_bytes = args->a_row_bytes;
    b.gemm = args;
    b.panel_tile = panel_bytes(layout, args->w.k);
    b.panel_k = row * layout.column_bytes;
    b.out_row_bytes = args->out_row_bytes;
    b.out_tile = args->out_tile != 0 ? args->out_tile : row;
  }

  RNNPACK_INLINE size_t taken_k() const {
    return kAsksEvenly ? first_k : 0;
  }

  // k terms from k0 on, added to what out has of those before.
  RNNPACK_INLINE void take(size_t k0, size_t k) {
    if (kAsksEvenly) first_k = k0;
    b.k = k;
    b.start_row_bytes = k0 != 0 ? b.out_row_bytes : args->start_row_bytes;
    b.start_tile = k0 != 0                  ? b.out_tile
                   : args->start == nullptr ? 0
                   : args->start_tile != 0  ? args->start_tile
                                            : layout.tile_floats;
  }

  // All of `count` tiles for some rows that one block can take.
  RNNPACK_INLINE void group(uint32_t row, uint32_t tile, uint32_t count, uint32_t rows) {
    const float *a = offset_bytes(args->a, row * args->a_row_bytes) + taken_k();
    b.row = row;
    while (count != 0) {
      const uint32_t tiles = next_tiles(layout, rows, count);
      const size_t column = tile * b.out_tile;
      b.start = kZeros;
      if (args->start != nullptr) b.start = offset_bytes(args->start, row * args->start_row_bytes) + tile * b.start_tile;
      b.a = a;
      b.panel = panel(tile) + taken_k() * b.panel_k;
      b.out = offset_bytes(args->out, row * args->out_row_bytes) + column;
      if (taken_k() != 0) b.start = b.out;
      b.columns = args->units != 0 ? args->units - column : kAllColumns;
      run_block(layout, rows, tiles, &b, &ahead);
      tile += tiles;
      count -= tiles;
    }
  }

  // Rows whose share of A is about 256 KiB stay in L2 while all tiles pass over them; four blocks' rows do in any case. Where
  // panels come from beyond L2 each reading should serve many rows: these are read again in order, which caches see ahead of time.
  RNNPACK_INLINE uint32_t chunk_rows() const {
    const uint32_t most = layout.most_rows;
    if (args->rows <= 4 * most) return 4 * most;
    const uint32_t floats = (args->w.prefetch_next_tile ? kFarRowsBytes : kNearRowsBytes) / sizeof(float);
    const uint32_t rows = floats / (args->w.k == 0 ? 1 : args->w.k);
    return rows < 4 * most ? 4 * most : rows / most * most;
  }

  // Tiles whose panels stay in L2 beside those rows while all row blocks pass.
  RNNPACK_INLINE uint32_t group_tiles() const {
    uint32_t tiles = layout.most_tiles[0];
    while (tiles > 1 && tiles * b.panel_tile > 256u * 1024u) --tiles;
    return tiles;
  }

  // Terms that go together: of a panel that would not lie in a small L2 beside the next one, even parts, where blocks pass over it
  // several times. A row that ends within a tile has no place for its sums.
  RNNPACK_INLINE size_t part_of_k() const {
    const size_t k = args->w.k;
    const bool once = layout.pass[layout.most_rows - 1] == layout.tile_floats || args->rows <= layout.most_rows;
    if (!kAsksEvenly || once || b.panel_tile <= kMostPanelBytes || layout.kr != 1 || args->units != 0 || args->in_parts) return k;
    const size_t parts = (b.panel_tile + kMostPanelBytes - 1) / kMostPanelBytes;
    return (k + parts - 1) / parts;
  }

  // All row blocks pass over a group of tiles, part after part where panels are cut; `next` tiles lie behind it.
  RNNPACK_INLINE void parts(uint32_t from, uint32_t to, uint32_t tile, uint32_t count, uint32_t next, size_t part,
                            size_t part_bytes, const AskShare &share) {
    size_t left = kAsksEvenly ? args->w.k : 0;
    for (size_t k0 = 0;; k0 += b.k) {
      if (kAsksEvenly) {
        take(k0, left < part ? left : part);
        left -= b.k;
      }
      const bool last = !kAsksEvenly || left == 0;
      const size_t one = !kAsksEvenly ? b.panel_tile : last || left > part ? part_bytes : left * b.panel_k;
      const uint8_t *at = last ? panel(size_t{tile} + count) : panel(tile) + (k0 + b.k) * b.panel_k;
      ahead = ahead_of(share, at, !args->w.prefetch_next_tile ? 0 : !last ? one : (next < count ? next : count) * one);
      for (uint32_t row = from; row < to;) {
        const uint32_t rows = next_rows(layout, count, to - row);
        group(row, tile, count, rows);
        row += rows;
      }
      if (last) return;
    }
  }

  // Within a chunk all row blocks pass over a group of tiles before the next group.
  void run(uint32_t done) {
    prepare();
    const uint32_t most = group_tiles(), chunk = chunk_rows();
    const size_t part = part_of_k(), part_bytes = !kAsksEvenly || part == args->w.k ? b.panel_tile : part * b.panel_k;
    for (uint32_t from = done; from < args->rows;) {
      const uint32_t to = from + even_share(args->rows - from, chunk);
      const AskShare share = ask_share(layout, args->w.prefetch_next_tile ? part_bytes : 0, to - from, most, part);
      if (kAsksEvenly) b.ahead_step = share.step;
      for (uint32_t tile = args->tile_begin; tile < args->tile_end;) {
        const uint32_t count = even_share(args->tile_end - tile, most);
        parts(from, to, tile, count, args->tile_end - tile - count, part, part_bytes, share);
        tile += count;
      }
      from = to;
    }
  }
};

// One row and one tile, both the first, in one pass: of few units much of the time would go by in what run() does. What leads to
// other rows and tiles no block of one reads.
void run_first(const GemmArgs *args, const BlockLayout *layout) {
  BlockArgs b;
  b.start = args->start != nullptr ? args->start : kZeros;
  b.last_start = nullptr;
  b.a = args->a;
  b.panel = static_cast<const uint8_t *>(args->w.panels);
  b.panel_k = size_t{layout->tile_floats} * layout->column_bytes;
  b.k = args->w.k;
  b.gemm = args;
  b.row = 0;
  b.out = args->out;
  b.columns = args->units != 0 ? args->units : kAllColumns;
  b.ahead = nullptr;
  layout->blocks[0][0](&b);
}

}  // namespace

void gemm_sweep(const GemmArgs *args, const BlockLayout *layout, uint32_t row) {
  const bool first = args->rows == 1 && args->tile_begin == 0 && args->tile_end == 1 && row == 0;
  if (first && layout->pass[0] == layout->tile_floats) return run_first(args, layout);
  Gemm gemm(args, *layout);
  gemm.run(row);
}

}  // namespace rnnp
