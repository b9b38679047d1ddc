// recur_body.h -- one step of one layer: blocks of rows and h-tiles, the products of each and then its cells.
// Room: kernels; included once by recur_<isa>.cpp. Touches only its arguments; state is written once, padded to whole tiles.
// Contract: kernels.h, RecurArgs.
// Why so: at one row the panels stream past once and several tiles together give enough chains of multiply-adds; with more rows a
// tile's panel is taken from the nearest cache by each block of rows.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_RECUR_BODY_H_
#define RNNPACK_KERNELS_RECUR_BODY_H_

#include "kernels/cell_body.h"
#include "kernels/sweep_body.h"

namespace rnnp {
namespace {

// The numbers 1.. kCount as a type's arguments.
template <uint32_t... kTiles>
struct TileCounts {};
template <uint32_t kCount, uint32_t... kTiles>
struct CountTo : CountTo<kCount - 1, kCount, kTiles...> {};
template <uint32_t... kTiles>
struct CountTo<0, kTiles...> {
  using Counts = TileCounts<kTiles...>;
};

template <class Cell, int kNr, template <int> class Blocks>
struct Recur {
  using Shape = typename Cell::Shape;
  using Layout = TileLayout<Shape, kNr>;
  static constexpr int kGates = Shape::kGates;
  using Swept = Sweep<Shape, kNr, Blocks>;
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

  // One row: straight from the accumulators into the cell. With more than two vectors of units by way of a buffer, to have the
  // cell's code once.
  static constexpr bool is_buffered(int tiles) { return tiles * Layout::kGateVectors > 2; }
  template <int kTiles>
  static RNNPACK_INLINE void fused_step(const RecurArgs *args, size_t row, size_t tile) {
    constexpr bool kBuffered = is_buffered(kTiles);
    alignas(64) float nx[Shape::kSplit ? kTiles * kNr : 1];
    alignas(64) float pre[kBuffered ? kTiles * Layout::kRow : 1];
    if constexpr (kBuffered) {
      Swept::template one_row<kTiles>(args, row, tile, pre, nx);
      return cells(args, row, tile, 1, kTiles, pre, nx);
    }
    Block<Shape, kNr, 1, kTiles, Layout::kVectors> b;
    b.args = args;
    b.row = row;
    b.tile = tile;
    b.run(0, nx);
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

  template <int kTiles>
  static RNNPACK_NOINLINE void fused(const RecurArgs *args, size_t row, size_t tile) {
    fused_step<kTiles>(args, row, tile);
  }

  // One step fewer, of the same row.
  static RNNPACK_INLINE void next_step(RecurArgs *args) {
    float *const free = const_cast<float *>(args->h_prev);
    args->h_prev = args->h_next;
    args->h_next = free;
    args->steps -= 1;
    if (args->x != nullptr) {
      args->x = offset_bytes(args->x, args->x_row_bytes);
    } else {
      args->preact = offset_bytes(args->preact, args->preact_row_bytes);
    }
    if (args->y != nullptr) args->y = offset_bytes(args->y, args->y_row_bytes);
  }

  // All steps of a layer that is one small block: what stays the same from step to step stays in registers. Cells of one gate are
  // short, and have little that stays.
  static constexpr uint32_t kStepsTiles = Swept::kFusedTiles >= 2 && !is_buffered(2) ? 2 : 1;
  template <int kTiles>
  static RNNPACK_NOINLINE void fused_steps(const RecurArgs *args) {
    RecurArgs step = *args;
    for (; step.steps != 0; next_step(&step)) fused_step<kTiles>(&step, 0, args->tile_begin);
  }

  template <uint32_t... kTiles>
  static constexpr CellCode code_of(TileCounts<kTiles...>) {
    return {cells, {fused<kTiles>...}};
  }
  static constexpr CellCode code() {
    if constexpr (kFused) return code_of(typename CountTo<Swept::kFusedTiles>::Counts());
    return {cells, {}};
  }
  static constexpr CellCode kCode = code();

  static void run(const RecurArgs *args) {
    const uint32_t count = args->tile_end - args->tile_begin;
    if (args->steps <= 1) {
      if constexpr (kFused) {
        const bool together = count <= Swept::kFusedTiles && count <= Swept::tiles_together(args);
        if (args->rows == 1 && together) return kCode.fused[count - 1](args, 0, args->tile_begin);
      }
      return Swept::run(args, &kCode);
    }
    if constexpr (kFused && kGates >= 3 && !is_buffered(1)) {
      if (count == 1) return fused_steps<1>(args);
      if (count == kStepsTiles && count <= Swept::tiles_together(args)) return fused_steps<kStepsTiles>(args);
    }
    RecurArgs step = *args;
    for (; step.steps != 0; next_step(&step)) Swept::run(&step, &kCode);
  }
};

template <class Cell, int kNr, template <int> class Blocks>
void recur_run(const RecurArgs *args) {
  Recur<Cell, kNr, Blocks>::run(args);
}

}  // namespace
}  // namespace rnnp
#endif  // RNNPACK_KERNELS_RECUR_BODY_H_
