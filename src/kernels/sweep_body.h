// sweep_body.h -- how one step passes over rows and h-tiles, whatever the cell: blocks of rows, groups of tiles near enough to
// stay. Room: kernels; included by recur_body.h. Touches its arguments, through the code of a cell. Contract: kernels.h, RecurArgs.
// Why so: cells of one shape share it.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_SWEEP_BODY_H_
#define RNNPACK_KERNELS_SWEEP_BODY_H_

#include "kernels/product_body.h"

namespace rnnp {
namespace {

// What a sweep calls of a cell: the cells of rows x tiles of finished pre-activations, and one row's products and cells together,
// of 1.. tiles; nullptr: of none.
constexpr uint32_t kMostFusedTiles = 6;
struct CellCode {
  void (*cells)(const RecurArgs *args, size_t row, size_t tile, uint32_t rows, uint32_t tiles, const float *pre, const float *nx);
  void (*fused[kMostFusedTiles])(const RecurArgs *args, size_t row, size_t tile);
};

template <class Shape, int kNr, template <int> class Blocks>
struct Sweep {
  using Layout = TileLayout<Shape, kNr>;
  static constexpr uint32_t kMaxMr = Layout::kMaxMr;
  // Where gates are few, the blocks of several rows' products do as well.
  static constexpr uint32_t kFusedTiles =
      Layout::kVectors >= 3 || block_tiles(1, Layout::kVectors) < 2 ? block_tiles(1, Layout::kVectors) : 2;
  static_assert(kFusedTiles <= kMostFusedTiles, "");

  const RecurArgs *args;
  const CellCode *code;
  Products<Shape, kNr> products;

  static RNNPACK_INLINE bool panels_are_near(const RecurArgs *args) {
    const size_t k = size_t{args->recurrent_k} + (args->x != nullptr ? args->input_size : 0);
    return k * (args->tile_end - args->tile_begin) * (Layout::kRow * sizeof(float)) <= kNearBytes;
  }

  // Tiles of one row that go together.
  static RNNPACK_INLINE uint32_t tiles_together(const RecurArgs *args) {
    constexpr uint32_t kTiles = block_tiles(1, Layout::kVectors);
    constexpr uint32_t kFarTiles = far_tiles(Layout::kRow) < kTiles ? far_tiles(Layout::kRow) : kTiles;
    return panels_are_near(args) ? kTiles : kFarTiles;
  }

  // `count` tiles for one row, in the sweep's direction: upwards from `tile`, or downwards ending before it.
  RNNPACK_INLINE void sweep_one_row(size_t row, size_t tile, uint32_t count) {
    const uint32_t together = tiles_together(args);
    while (count != 0) {
      const uint32_t done = even_share(count, together);
      if (done > kFusedTiles) {
        sweep_buffered(row, tile, done, 1);
      } else {
        code->fused[done - 1](args, row, args->descending ? tile - done : tile);
      }
      tile = args->descending ? tile - done : tile + done;
      count -= done;
    }
  }

  // The products of one row and kTiles tiles, into buffers.
  template <int kTiles>
  static RNNPACK_NOINLINE void one_row(const RecurArgs *args, size_t row, size_t tile, float *pre, float *nx) {
    Block<Shape, kNr, 1, kTiles, Layout::kVectors> b;
    b.args = args;
    b.row = row;
    b.tile = tile;
    b.run(0, nx);
    RNNPACK_UNROLL
    for (int n = 0; n < kTiles * Layout::kVectors; ++n) Vec::store(pre + n * kWidth, b.acc[0][n]);
  }

  // `count` tiles for mr rows, by way of a buffer.
  RNNPACK_NOINLINE void sweep_buffered(size_t row, size_t tile, uint32_t count, uint32_t mr) {
    alignas(64) float pre[Layout::max_row_tiles() * Layout::kRow];
    alignas(64) float nx[Shape::kSplit ? Layout::max_row_tiles() * kNr : 1];
    while (count != 0) {
      const uint32_t done = products.run(row, tile, count, mr, pre, nx);
      code->cells(args, row, args->descending ? tile - done : tile, mr, done, pre, nx);
      count -= done;
      tile = args->descending ? tile - done : tile + done;
    }
  }

  RNNPACK_INLINE void sweep(size_t row, size_t tile, uint32_t count, uint32_t mr) {
    if (mr == 1 && code->fused[0] != nullptr) return sweep_one_row(row, tile, count);
    sweep_buffered(row, tile, count, mr);
  }

  // Rows in blocks of nearly equal height. All blocks pass over a small group of tiles before the next group: its panels are then
  // near.
  RNNPACK_INLINE void rows_and_tiles() {
    const uint32_t count = args->tile_end - args->tile_begin;
    const size_t start = args->descending ? args->tile_end : args->tile_begin;
    if (args->rows == 1) return sweep(0, start, count, 1);
    const size_t panel_bytes = size_t{args->recurrent_k} * Layout::kRow * sizeof(float);
    const uint8_t *panels = static_cast<const uint8_t *>(static_cast<const void *>(args->r));
    // A panel that fills much of L1 is passed over alone.
    const uint32_t near_group = panel_bytes > kFarPanelBytes && args->far ? 1 : block_tiles(2, Layout::kVectors);
    const uint32_t step = args->rows <= kMaxMr && !args->far ? count : near_group;
    for (uint32_t done = 0; done < count; done += step) {
      const uint32_t group = count - done < step ? count - done : step;
      const uint32_t next = count - done - group < step ? count - done - group : step;
      const size_t tile = args->descending ? start - done : start + done;
      const size_t next_tile = args->descending ? tile - group - next : tile + group;
      products.ahead = {panels + next_tile * panel_bytes, args->far ? next * panel_bytes : 0};
      for (uint32_t row = 0; row < args->rows;) {
        const uint32_t mr = even_share(args->rows - row, kMaxMr);
        sweep(row, tile, group, mr);
        row += mr;
      }
    }
  }

  static RNNPACK_NOINLINE void run(const RecurArgs *args, const CellCode *code) {
    Sweep sweep = {args, code, {args, Blocks<Shape::kGates>::layout, {}}};
    sweep.rows_and_tiles();
  }
};

}  // namespace
}  // namespace rnnp
#endif  // RNNPACK_KERNELS_SWEEP_BODY_H_
