// recur_body.h -- one step of one layer: for blocks of rows and h-tiles, panel products and then the cell, all in registers.
// Room: kernels; included once by recur_<isa>.cpp. Touches only its arguments; state is written once, padded to whole tiles.
// Contract: kernels.h, RecurArgs.
// Why so: at one row the panels stream past once and several tiles give enough chains of multiply-adds; with more rows a tile's
// panel is taken from the nearest cache by each block of rows. Where a block does not fit in registers, it is done a few columns at
// a time. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_RECUR_BODY_H_
#define RNNPACK_KERNELS_RECUR_BODY_H_

#include "kernels/cell_body.h"
#include "kernels/kernels.h"
#include "kernels/panel_body.h"

namespace rnnp {
namespace {

template <class Cell, int kNr>
struct Recur {
  static constexpr int kGates = Cell::kGates;
  static constexpr int kRow = kNr * kGates;              // floats per k of an R panel
  static constexpr int kPreRow = kNr * Cell::kPreGates;  // floats per tile of preact, bias, and per k of a W panel
  static constexpr int kGateVectors = kNr / kWidth;
  static constexpr int kTileVectors = kRow / kWidth;
  static constexpr int kSplitFrom = Cell::kSplit ? kTileVectors - kGateVectors : kTileVectors;
  static constexpr uint32_t kMaxMr = block_rows(kTileVectors);
  static constexpr bool kHasW = Cell::kPreGates == Cell::kGates;  // the two halves of kGru have no W part

  // A block: kMr rows x kTiles tiles, kVectors vectors of each tile per pass.
  template <int kMr, int kTiles, int kVectors>
  struct Block {
    static constexpr int kCount = kTiles * kVectors;
    static constexpr bool kSplit = Cell::kSplit;
    const RecurArgs *args;
    size_t row, tile;
    F acc[kMr][kCount];
    // The input part of a split gate, kept apart until the cell.
    alignas(64) float nx[kSplit ? kMr * kTiles * kNr : 1];

    RNNPACK_INLINE const float *preact(int m, int t) const {
      return offset_bytes(args->preact, (row + m) * args->preact_row_bytes) + (tile + t) * kPreRow + Cell::kFirst * kNr;
    }

    RNNPACK_INLINE void start_from_preact(int first) {
      RNNPACK_UNROLL
      for (int m = 0; m < kMr; ++m) {
        RNNPACK_UNROLL
        for (int n = 0; n < kCount; ++n) acc[m][n] = Vec::load(preact(m, n / kVectors) + (first + n % kVectors) * kWidth);
      }
    }

    RNNPACK_INLINE void start_from_x(int first) {
      RNNPACK_UNROLL
      for (int n = 0; n < kCount; ++n) {
        const F b = Vec::load(args->bias + (tile + n / kVectors) * kRow + (first + n % kVectors) * kWidth);
        RNNPACK_UNROLL
        for (int m = 0; m < kMr; ++m) acc[m][n] = b;
      }
      const size_t elems = size_t{args->input_size} * kRow;
      accumulate<kMr, kTiles, kVectors, kRow>(acc, rows_at<kMr>(offset_bytes(args->x, row * args->x_row_bytes), args->x_row_bytes),
                                              args->w + tile * elems + first * kWidth, elems, args->input_size);
    }

    // Puts the split gate's input part aside (when it is not in preact already) and starts its recurrent part from r_bias.
    RNNPACK_INLINE void split(int first) {
      RNNPACK_UNROLL
      for (int n = 0; n < kCount; ++n) {
        const int v = first + n % kVectors - kSplitFrom, t = n / kVectors;
        if (v < 0) continue;
        const F b = Vec::load(args->r_bias + (tile + t) * kNr + v * kWidth);
        RNNPACK_UNROLL
        for (int m = 0; m < kMr; ++m) {
          if (args->x != nullptr) Vec::store(nx + (m * kTiles + t) * kNr + v * kWidth, acc[m][n]);
          acc[m][n] = b;
        }
      }
    }

    RNNPACK_INLINE void product(int first) {
      if (kHasW && args->x != nullptr) {
        start_from_x(first);
      } else {
        start_from_preact(first);
      }
      if (kSplit) split(first);
      const float *h = Cell::kFirst != 0 ? args->rh : args->h_prev;
      const size_t elems = size_t{args->hidden_size} * kRow;
      accumulate<kMr, kTiles, kVectors, kRow>(acc,
                                              rows_at<kMr>(offset_bytes(h, row * args->state_row_bytes), args->state_row_bytes),
                                              args->r + tile * elems + first * kWidth, elems, args->hidden_size);
    }

    RNNPACK_INLINE const float *input_part(int m, int t, int v) const {
      if (!kSplit) return nullptr;
      const float *from = args->x != nullptr ? nx + (m * kTiles + t) * kNr : preact(m, t) + kSplitFrom * kWidth;
      return from + v * kWidth;
    }

    // The cell of row m, tile t, on pre-activations `pre` (all of the tile's vectors).
    RNNPACK_INLINE void finish(int m, int t, const F *pre) {
      RNNPACK_UNROLL
      for (int v = 0; v < kGateVectors; ++v) {
        F gates[kGates];
        RNNPACK_UNROLL
        for (int g = 0; g < kGates; ++g) gates[g] = pre[g * kGateVectors + v];
        const size_t unit = (tile + t) * kNr + v * kWidth;
        const float *peephole = args->peephole ? args->peephole + (tile + t) * 3 * kNr + v * kWidth : nullptr;
        const Place at{args,     row + m, unit, static_cast<ptrdiff_t>(args->hidden_size) - static_cast<ptrdiff_t>(unit),
                       peephole, kNr};
        Cell::finish(at, gates, input_part(m, t, v));
      }
    }
  };

  // One row: straight from accumulators into the cell.
  template <int kTiles>
  static RNNPACK_NOINLINE void single(const RecurArgs *args, size_t row, size_t tile) {
    Block<1, kTiles, kTileVectors> b;
    b.args = args;
    b.row = row;
    b.tile = tile;
    b.product(0);
    RNNPACK_UNROLL
    for (int t = 0; t < kTiles; ++t) b.finish(0, t, b.acc[0] + t * kTileVectors);
  }

  // Several rows: pre-activations pass through a buffer, so that the cell's code is there once and not once per row.
  template <int kMr, int kTiles>
  static RNNPACK_NOINLINE void several(const RecurArgs *args, size_t row, size_t tile) {
    constexpr int kVectors = kTiles == 1 ? pass_vectors(kMr, kTileVectors) : kTileVectors;
    alignas(64) float pre[kMr * kTiles * kRow];
    Block<kMr, kTiles, kVectors> b;
    b.args = args;
    b.row = row;
    b.tile = tile;
    RNNPACK_NO_UNROLL
    for (int first = 0; first < kTileVectors; first += kVectors) {
      b.product(first);
      RNNPACK_UNROLL
      for (int m = 0; m < kMr; ++m) {
        RNNPACK_UNROLL
        for (int n = 0; n < kTiles * kVectors; ++n)
          Vec::store(pre + (m * kTiles + n / kVectors) * kRow + (first + n % kVectors) * kWidth, b.acc[m][n]);
      }
    }
    RNNPACK_NO_UNROLL
    for (int m = 0; m < kMr; ++m) {
      RNNPACK_NO_UNROLL
      for (int t = 0; t < kTiles; ++t) {
        F gates[kTileVectors];
        RNNPACK_UNROLL
        for (int v = 0; v < kTileVectors; ++v) gates[v] = Vec::load(pre + (m * kTiles + t) * kRow + v * kWidth);
        b.finish(m, t, gates);
      }
    }
  }

  // As many tiles from `left` as a block takes, in the sweep's direction: upwards from `tile`, or downwards ending before it.
  template <int kMr, int kTiles>
  static RNNPACK_INLINE uint32_t tiles(const RecurArgs *args, size_t row, size_t tile, uint32_t left) {
    if constexpr (kTiles > 1) {
      if (left < kTiles) return tiles<kMr, kTiles / 2>(args, row, tile, left);
    }
    const size_t from = args->descending ? tile - kTiles : tile;
    if constexpr (kMr == 1) {
      single<kTiles>(args, row, from);
    } else {
      several<kMr, kTiles>(args, row, from);
    }
    return kTiles;
  }

  // `count` tiles from `tile` in the sweep's direction for kMr rows.
  template <int kMr>
  static RNNPACK_INLINE void sweep(const RecurArgs *args, size_t row, size_t tile, uint32_t count) {
    while (count != 0) {
      const uint32_t done = tiles<kMr, block_tiles(kMr, kTileVectors)>(args, row, tile, count);
      count -= done;
      tile = args->descending ? tile - done : tile + done;
    }
  }

  static RNNPACK_INLINE void any_rows(const RecurArgs *args, size_t row, size_t tile, uint32_t count, uint32_t mr) {
    switch (mr) {
      case 1:
        return sweep<1>(args, row, tile, count);
      case 2:
        return sweep<2>(args, row, tile, count);
      case 3:
        return sweep<3>(args, row, tile, count);
      case 4:
        return sweep<4>(args, row, tile, count);
      case 5:
        return sweep < kMaxMr >= 5 ? 5 : 1 > (args, row, tile, count);
      case 6:
        return sweep < kMaxMr >= 6 ? 6 : 1 > (args, row, tile, count);
      case 7:
        return sweep < kMaxMr >= 7 ? 7 : 1 > (args, row, tile, count);
      default:
        return sweep < kMaxMr >= 8 ? 8 : 1 > (args, row, tile, count);
    }
  }

  // Rows in blocks of nearly equal height. All blocks pass over a small group of tiles before the next group: its panels are then
  // near.
  static void run(const RecurArgs *args) {
    const uint32_t count = args->tile_end - args->tile_begin;
    const size_t start = args->descending ? args->tile_end : args->tile_begin;
    if (args->rows <= kMaxMr) return any_rows(args, 0, start, count, args->rows);
    constexpr uint32_t kGroup = block_tiles(2, kTileVectors);
    for (uint32_t done = 0; done < count; done += kGroup) {
      const uint32_t group = count - done < kGroup ? count - done : kGroup;
      const size_t tile = args->descending ? start - done : start + done;
      for (uint32_t row = 0; row < args->rows;) {
        const uint32_t left = args->rows - row, blocks = (left + kMaxMr - 1) / kMaxMr;
        const uint32_t mr = (left + blocks - 1) / blocks;
        any_rows(args, row, tile, group, mr);
        row += mr;
      }
    }
  }
};

template <class Cell, int kNr>
void recur_run(const RecurArgs *args) {
  Recur<Cell, kNr>::run(args);
}

}  // namespace
}  // namespace rnnp
#endif  // RNNPACK_KERNELS_RECUR_BODY_H_
