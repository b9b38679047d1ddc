// recur_body.h -- one step of one layer: blocks of rows and h-tiles, the products of each and then its cells.
// Room: kernels; included once by recur_<isa>.cpp. Touches only its arguments; state is written once, padded to whole tiles.
// Contract: kernels.h, RecurArgs.
// Why so: at one row the panels stream past once and several tiles together give enough chains of multiply-adds; with more rows a
// tile's panel is taken from the nearest cache by each block of rows.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_RECUR_BODY_H_
#define RNNPACK_KERNELS_RECUR_BODY_H_

#include "kernels/cell_body.h"
#include "kernels/product_body.h"

namespace rnnp {
namespace {

template <class Cell, int kNr, template <int> class Blocks>
struct Recur {
  using Shape = typename Cell::Shape;
  using Layout = TileLayout<Shape, kNr>;
  static constexpr int kGates = Shape::kGates;
  static constexpr uint32_t kMaxMr = Layout::kMaxMr;
  // A tile that does not fit in registers goes through the buffers, some of its vectors at a time.
  static constexpr bool kFused = Cell::kFused && Layout::kVectors <= kBlockVectors;

  // Vector v of a tile's units. nx: the split gate's input part of the tile, where it is not in preact.
  static RNNPACK_INLINE void cell(const RecurArgs *args, size_t row, size_t tile, int v, const F (&gates)[kGates],
                                  const float *nx) {
    const size_t unit = tile * kNr + v * kWidth;
    const ptrdiff_t left = static_cast<ptrdiff_t>(args->hidden_size) - static_cast<ptrdiff_t>(unit);
    const float *peephole = args->peephole ? args->peephole + tile * (3 * kNr) + v * kWidth : nullptr;
    if (Shape::kSplit) {
      if (args->x == nullptr) nx = preact_of<Shape, kNr>(args, row, tile) + Layout::kSplitFrom * kWidth;
      nx += v * kWidth;
    }
    Cell::finish({args, row, unit, left, peephole, kNr}, gates, nx);
  }

  // The cells of mr rows x `count` tiles, from buffers.
  static RNNPACK_NOINLINE void cells(const RecurArgs *args, size_t row, size_t tile, uint32_t mr, uint32_t count, const float *pre,
                                     const float *nx) {
    for (uint32_t m = 0; m < mr; ++m) {
      for (uint32_t t = 0; t < count; ++t, pre += Layout::kRow, nx += Shape::kSplit ? kNr : 0) {
        RNNPACK_NO_UNROLL
        for (int v = 0; v < Layout::kGateVectors; ++v) {
          F gates[kGates];
          RNNPACK_UNROLL
          for (int g = 0; g < kGates; ++g) gates[g] = Vec::load(pre + g * kNr + v * kWidth);
          cell(args, row + m, tile + t, v, gates, nx);
        }
      }
    }
  }

  // One row: straight from the accumulators into the cell. With more than two tiles by way of a buffer, to have the cell's code
  // once; where gates are few, the blocks of several rows' products do as well.
  static constexpr uint32_t kFusedTiles =
      Layout::kVectors >= 3 || block_tiles(1, Layout::kVectors) < 2 ? block_tiles(1, Layout::kVectors) : 2;
  template <int kTiles>
  static RNNPACK_NOINLINE void fused(const RecurArgs *args, size_t row, size_t tile) {
    constexpr bool kBuffered = kTiles > 2;
    alignas(64) float nx[Shape::kSplit ? kTiles * kNr : 1];
    alignas(64) float pre[kBuffered ? kTiles * Layout::kRow : 1];
    Block<Shape, kNr, 1, kTiles, Layout::kVectors> b;
    b.args = args;
    b.row = row;
    b.tile = tile;
    b.run(0, nx);
    if constexpr (kBuffered) {
      RNNPACK_UNROLL
      for (int n = 0; n < kTiles * Layout::kVectors; ++n) Vec::store(pre + n * kWidth, b.acc[0][n]);
      return cells(args, row, tile, 1, kTiles, pre, nx);
    }
    RNNPACK_UNROLL
    for (int t = 0; t < kTiles && !kBuffered; ++t) {
      RNNPACK_UNROLL
      for (int v = 0; v < Layout::kGateVectors; ++v) {
        F gates[kGates];
        RNNPACK_UNROLL
        for (int g = 0; g < kGates; ++g) gates[g] = b.acc[0][t * Layout::kVectors + g * Layout::kGateVectors + v];
        cell(args, row, tile + t, v, gates, Shape::kSplit ? nx + t * kNr : nullptr);
      }
    }
  }

  // A fused block of `count` tiles, count <= kTiles.
  template <int kTiles>
  static RNNPACK_INLINE void fused_blocks(const RecurArgs *args, size_t row, size_t tile, uint32_t count) {
    if constexpr (kTiles > 1) {
      if (count < kTiles) return fused_blocks<kTiles - 1>(args, row, tile, count);
    }
    fused<kTiles>(args, row, tile);
  }

  static RNNPACK_INLINE bool panels_are_near(const RecurArgs *args) {
    const size_t k = size_t{args->hidden_size} + (args->x != nullptr ? args->input_size : 0);
    return k * (args->tile_end - args->tile_begin) * (Layout::kRow * sizeof(float)) <= kNearBytes;
  }

  // `count` tiles for one row, in the sweep's direction: upwards from `tile`, or downwards ending before it.
  static RNNPACK_INLINE void sweep_one_row(Products<Shape, kNr> *products, size_t row, size_t tile, uint32_t count) {
    constexpr uint32_t kTiles = block_tiles(1, Layout::kVectors);
    constexpr uint32_t kFarTiles = far_tiles(Layout::kRow) < kTiles ? far_tiles(Layout::kRow) : kTiles;
    const RecurArgs *args = products->args;
    const bool near = panels_are_near(args);
    while (count != 0) {
      const uint32_t done = near ? even_share(count, kTiles) : even_share(count, kFarTiles);
      if (done > kFusedTiles) {
        sweep_buffered(products, row, tile, done, 1);
      } else {
        fused_blocks<kFusedTiles>(args, row, args->descending ? tile - done : tile, done);
      }
      tile = args->descending ? tile - done : tile + done;
      count -= done;
    }
  }

  // `count` tiles for mr rows, by way of a buffer.
  static RNNPACK_NOINLINE void sweep_buffered(Products<Shape, kNr> *products, size_t row, size_t tile, uint32_t count,
                                              uint32_t mr) {
    alignas(64) float pre[Layout::max_row_tiles() * Layout::kRow];
    alignas(64) float nx[Shape::kSplit ? Layout::max_row_tiles() * kNr : 1];
    const RecurArgs *args = products->args;
    while (count != 0) {
      const uint32_t done = products->run(row, tile, count, mr, pre, nx);
      cells(args, row, args->descending ? tile - done : tile, mr, done, pre, nx);
      count -= done;
      tile = args->descending ? tile - done : tile + done;
    }
  }

  static RNNPACK_INLINE void sweep(Products<Shape, kNr> *products, size_t row, size_t tile, uint32_t count, uint32_t mr) {
    if constexpr (kFused) {
      if (mr == 1) return sweep_one_row(products, row, tile, count);
    }
    sweep_buffered(products, row, tile, count, mr);
  }

  // Rows in blocks of nearly equal height. All blocks pass over a small group of tiles before the next group: its panels are then
  // near.
  static void run(const RecurArgs *args) {
    const uint32_t count = args->tile_end - args->tile_begin;
    const size_t start = args->descending ? args->tile_end : args->tile_begin;
    Products<Shape, kNr> products = {args, Blocks<kGates>::layout, {}};
    if constexpr (kFused) {
      if (args->rows == 1) return sweep_one_row(&products, 0, start, count);
    }
    const size_t panel_elems = size_t{args->hidden_size} * Layout::kRow;
    // A panel that fills much of L1 is passed over alone.
    const uint32_t near_group = panel_elems * sizeof(float) > kFarPanelBytes && args->far ? 1 : block_tiles(2, Layout::kVectors);
    const uint32_t step = args->rows <= kMaxMr && !args->far ? count : near_group;
    for (uint32_t done = 0; done < count; done += step) {
      const uint32_t group = count - done < step ? count - done : step;
      const uint32_t next = count - done - group < step ? count - done - group : step;
      const size_t tile = args->descending ? start - done : start + done;
      const size_t next_tile = args->descending ? tile - group - next : tile + group;
      products.ahead = {args->r + next_tile * panel_elems, args->far ? next * panel_elems * sizeof(float) : 0};
      for (uint32_t row = 0; row < args->rows;) {
        const uint32_t mr = even_share(args->rows - row, kMaxMr);
        sweep(&products, row, tile, group, mr);
        row += mr;
      }
    }
  }
};

template <class Cell, int kNr, template <int> class Blocks>
void recur_run(const RecurArgs *args) {
  Recur<Cell, kNr, Blocks>::run(args);
}

}  // namespace
}  // namespace rnnp
#endif  // RNNPACK_KERNELS_RECUR_BODY_H_
