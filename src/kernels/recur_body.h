// recur_body.h -- the code of a cell that a sweep calls (recur_sweep.h): its cells from buffers, and one row's products and cells
// together. Room: kernels; included once by recur_<isa>.cpp. Touches only its arguments; state is written once, padded to whole
// tiles. Contract: kernels.h, RecurArgs.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_RECUR_BODY_H_
#define RNNPACK_KERNELS_RECUR_BODY_H_

#include "kernels/cell_body.h"
#include "kernels/next_step.h"
#include "kernels/product_body.h"
#include "kernels/recur_sweep.h"

namespace rnnp::RNNPACK_SET {
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

// What the sweep has to know of the cells of one shape.
template <class Shape, int kNr, template <int> class Blocks>
struct Swept {
  using Layout = TileLayout<Shape, kNr>;
  static constexpr uint32_t kTiles = block_tiles(1, Layout::kVectors);
  static constexpr uint32_t kFarTiles = far_tiles(Layout::kRow) < kTiles ? far_tiles(Layout::kRow) : kTiles;
  // Where gates are few, the blocks of several rows' products do as well.
  static constexpr uint32_t kFusedTiles = Layout::kVectors >= 3 || kTiles < 2 ? kTiles : 2;
  static_assert(kFusedTiles <= kMostFusedTiles, "");
  static_assert(Layout::max_row_tiles() * Layout::kRow <= kSweepFloats, "");
  static_assert(!Shape::kSplit || Layout::max_row_tiles() * kNr <= kSweepSplitFloats, "");

  static constexpr SweepShape shape() {
    SweepShape s = {};
    s.blocks = &Blocks<Shape::kGates>::layout;
    if constexpr (Shape::kSplit) s.split = split_block<Shape, kNr>;
    s.blocks_split = Layout::kGateVectors == 1;
    s.has_w = Layout::kHasW;
    s.nr = kNr;
    s.far_tiles = kFarTiles;
    s.pre_floats = Layout::kPreRow;
    s.pre_first = Shape::kFirst * kNr;
    return s;
  }
  static constexpr SweepShape kShape = shape();

  // The products of one row and kTilesOf tiles, into buffers.
  template <int kTilesOf>
  static RNNPACK_NOINLINE void one_row(const RecurArgs *args, size_t row, size_t tile, float *pre, float *nx) {
    Block<Shape, kNr, 1, kTilesOf, Layout::kVectors> b;
    b.args = args;
    b.row = row;
    b.tile = tile;
    b.run(0, nx);
    RNNPACK_UNROLL
    for (int n = 0; n < kTilesOf * Layout::kVectors; ++n) Vec::store(pre + n * kWidth, b.acc[0][n]);
  }
};

template <class Cell, int kNr, template <int> class Blocks>
struct Recur {
  using Shape = typename Cell::Shape;
  using Layout = TileLayout<Shape, kNr>;
  static constexpr int kGates = Shape::kGates;
  using Sweep = Swept<Shape, kNr, Blocks>;
  // A tile that does not fit in registers goes through the buffers, some of its vectors at a time.
  static constexpr bool kFused = Cell::kFused && Layout::kVectors <= kBlockVectors;

  // Vector v of a tile's units, or where V is half as wide the half of it. nx: the split gate's input part of the tile, where it is
  // not in preact.
  template <class V = Vec>
  static RNNPACK_INLINE void cell(const RecurArgs *args, size_t row, size_t tile, int v, const typename V::F (&gates)[kGates],
                                  const float *nx) {
    const size_t unit = tile * kNr + v * kWidth;
    const ptrdiff_t left = static_cast<ptrdiff_t>(args->hidden_size) - static_cast<ptrdiff_t>(unit);
    const float *peephole = args->peephole ? args->peephole + tile * (3 * kNr) + v * kWidth : nullptr;
    if (Shape::kSplit) {
      if (args->x == nullptr) nx = preact_of<Shape, kNr>(args, row, tile) + Layout::kSplitFrom * kWidth;
      nx += v * kWidth;
    }
    Cell::finish(PlaceOf<V>{args, row, unit, left, peephole, kNr}, gates, nx);
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
      Sweep::template one_row<kTiles>(args, row, tile, pre, nx);
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

  // Where factors are no lanes and loops are not written out, a tile's vectors that have no unit can be left out.
  static constexpr bool kLeavesOut = !Vec::kLanes && !Vec::kWalks;

  // One row, kUnits vectors of units and kHalf halves. More than two go by way of a buffer, to have the cell's code once.
  template <int kUnits, int kHalf>
  static RNNPACK_INLINE void units_step(const RecurArgs *args, size_t tile) {
    constexpr int kOfTile = Layout::kGateVectors;
    alignas(64) float nx[Shape::kSplit ? (kUnits + kHalf) * kWidth : 1];
    UnitProducts<Vec::Half, Shape, kNr, kUnits, kHalf> products;
    products.run(args, tile, nx);
    const auto finish = [&](int u, const F(&gates)[kGates]) {
      cell(args, 0, tile + u / kOfTile, u % kOfTile, gates, Shape::kSplit ? nx + u / kOfTile * kNr : nullptr);
    };
    if constexpr (kUnits <= 2) {
      RNNPACK_UNROLL
      for (int u = 0; u < kUnits; ++u) finish(u, products.acc[u]);
    } else {
      alignas(64) float pre[kUnits * kGates * kWidth];
      RNNPACK_UNROLL
      for (int n = 0; n < kUnits * kGates; ++n) Vec::store(pre + n * kWidth, products.acc[n / kGates][n % kGates]);
      RNNPACK_NO_UNROLL
      for (int u = 0; u < kUnits; ++u) {
        F gates[kGates];
        RNNPACK_UNROLL
        for (int g = 0; g < kGates; ++g) gates[g] = Vec::load(pre + (u * kGates + g) * kWidth);
        finish(u, gates);
      }
    }
    if constexpr (kHalf != 0)
      cell<Vec::Half>(args, 0, tile + kUnits / kOfTile, kUnits % kOfTile, products.half,
                      Shape::kSplit ? nx + kUnits / kOfTile * kNr : nullptr);
  }

  // All steps of a layer of one row, whose units fill up to kUnits vectors and kHalf halves: what stays the same from step to step
  // stays in registers. Cells of one gate are short, and have little that stays.
  template <int kUnits, int kHalf>
  static RNNPACK_NOINLINE void fused_steps(const RecurArgs *args) {
    RecurArgs step = *args;
    for (;; next_step(&step)) {
      if constexpr (kLeavesOut) {
        units_step<kUnits, kHalf>(&step, args->tile_begin);
      } else {
        fused_step<kUnits / Layout::kGateVectors>(&step, 0, args->tile_begin);
      }
      if (step.steps <= 1) return;
    }
  }

  // The code for as many units as kParts times kStepUnits, at most two tiles, where it is not too long and its sums fit in
  // registers.
  static constexpr int kStepUnits = kLeavesOut ? Vec::Half::kWidth : kNr;
  template <int kParts>
  static constexpr StepsFn steps_of() {
    constexpr int kTiles = (kParts * kStepUnits + kNr - 1) / kNr, kUnits = kParts * kStepUnits / kWidth;
    constexpr int kHalf = kParts * kStepUnits % kWidth != 0;
    constexpr bool kFits = kLeavesOut ? kTiles <= 2 && kUnits + kHalf <= 3 && 3 * kGates <= kBlockVectors
                                      : !is_buffered(kTiles) && kTiles <= int{Sweep::kFusedTiles};
    if constexpr (kFused && kGates >= 3 && !is_buffered(1) && kFits) return fused_steps<kUnits, kHalf>;
    return nullptr;
  }

  template <uint32_t... kTiles>
  static constexpr void add_fused(CellCode *code, TileCounts<kTiles...>) {
    code->fused_tiles = sizeof...(kTiles);
    ((code->fused[kTiles - 1] = fused<kTiles>), ...);
  }
  static constexpr CellCode code() {
    CellCode code = {};
    code.shape = &Sweep::kShape;
    code.cells = cells;
    if constexpr (kFused) add_fused(&code, typename CountTo<Sweep::kFusedTiles>::Counts());
    code.step_units = kStepUnits;
    code.steps[0] = steps_of<1>();
    code.steps[1] = steps_of<2>();
    code.steps[2] = steps_of<3>();
    code.steps[3] = steps_of<4>();
    return code;
  }
  static constexpr CellCode kCode = code();
};

template <class Cell, int kNr, template <int> class Blocks>
void recur_run(const RecurArgs *args) {
  recur_sweep(args, &Recur<Cell, kNr, Blocks>::kCode);
}

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_RECUR_BODY_H_
