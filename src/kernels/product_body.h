// product_body.h -- pre-activations of a block: its start (preact, or bias + x * W) plus h * R, for some rows and h-tiles.
// Room: kernels; included once by recur_<isa>.cpp. Reads arguments; writes registers or the caller's buffer.
// Contract: kernels.h, RecurArgs: W's part first, then R's, one chain per pre-activation.
// Why so: shared by all cells of one shape. Where a block does not fit in registers it is done a few columns of each row at a time.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_PRODUCT_BODY_H_
#define RNNPACK_KERNELS_PRODUCT_BODY_H_

#include "kernels/kernels.h"
#include "kernels/panel_body.h"

namespace rnnp {
namespace {

// Vectors of an h-tile and where they lie.
template <class Shape, int kNr>
struct TileLayout {
  static constexpr int kRow = kNr * Shape::kGates;        // floats per k of an R panel (and of W's, where there is one)
  static constexpr int kPreRow = kNr * Shape::kPreGates;  // floats per tile of preact
  static constexpr int kGateVectors = kNr / kWidth;
  static constexpr int kVectors = kRow / kWidth;
  static constexpr int kSplitFrom = Shape::kSplit ? kVectors - kGateVectors : kVectors;
  static constexpr bool kHasW = Shape::kPreGates == Shape::kGates;  // the two halves of kGru have no W part
  static constexpr int kMaxMr = block_rows(kVectors);
  // The most rows x tiles of any block: what its buffers hold.
  static constexpr int max_row_tiles() {
    int most = 0;
    for (int rows = 1; rows <= kMaxMr; ++rows)
      most = rows * block_tiles(rows, kVectors) > most ? rows * block_tiles(rows, kVectors) : most;
    return most;
  }
};

template <class Shape, int kNr>
RNNPACK_INLINE const float *preact_of(const RecurArgs *args, size_t row, size_t tile) {
  return offset_bytes(args->preact, row * args->preact_row_bytes) + tile * (kNr * Shape::kPreGates) + Shape::kFirst * kNr;
}

template <int kNr>
RNNPACK_INLINE const float *r_bias_of(const RecurArgs *args, size_t row, size_t tile) {
  return offset_bytes(args->r_bias, row * args->r_bias_row_bytes) + tile * kNr;
}

// kMr rows x kTiles tiles, kVectors vectors of each tile from vector `first` on.
template <class Shape, int kNr, int kMr, int kTiles, int kVectors>
struct Block {
  using Layout = TileLayout<Shape, kNr>;
  static constexpr int kRow = Layout::kRow;
  static constexpr int kCount = kTiles * kVectors;
  const RecurArgs *args;
  size_t row, tile;
  F acc[kMr][kCount];

  RNNPACK_INLINE void start_from_preact(int first) {
    RNNPACK_UNROLL
    for (int m = 0; m < kMr; ++m) {
      RNNPACK_UNROLL
      for (int n = 0; n < kCount; ++n) {
        const float *pre = preact_of<Shape, kNr>(args, row + m, tile + n / kVectors);
        acc[m][n] = Vec::load(pre + (first + n % kVectors) * kWidth);
      }
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
    const Rows<kMr> rows = rows_at<kMr>(offset_bytes(args->x, row * args->x_row_bytes), args->x_row_bytes);
    accumulate<kMr, kTiles, kVectors, kRow>(acc, rows, args->w + tile * elems + first * kWidth, elems, args->input_size);
  }

  // Puts the split gate's input part aside in nx[m][t][NR] (it may be in preact already) and starts its recurrent part from r_bias.
  RNNPACK_INLINE void split(int first, float *nx) {
    RNNPACK_UNROLL
    for (int n = 0; n < kCount; ++n) {
      const int v = first + n % kVectors - Layout::kSplitFrom, t = n / kVectors;
      if (v < 0) continue;
      RNNPACK_UNROLL
      for (int m = 0; m < kMr; ++m) {
        if (args->x != nullptr) Vec::store(nx + (m * kTiles + t) * kNr + v * kWidth, acc[m][n]);
        acc[m][n] = Vec::load(r_bias_of<kNr>(args, row + m, tile + t) + v * kWidth);
      }
    }
  }

  RNNPACK_INLINE void run(int first, float *nx) {
    if (Layout::kHasW && args->x != nullptr) {
      start_from_x(first);
    } else {
      start_from_preact(first);
    }
    if (Shape::kSplit) split(first, nx);
    const float *h = Shape::kFirst != 0 ? args->rh : args->h_prev;
    const size_t elems = size_t{args->recurrent_k} * kRow;
    const Rows<kMr> rows = rows_at<kMr>(offset_bytes(h, row * args->state_row_bytes), args->state_row_bytes);
    accumulate<kMr, kTiles, kVectors, kRow>(acc, rows, args->r + tile * elems + first * kWidth, elems, args->recurrent_k);
  }
};

// The products of any block into buffers: pre[m][t][gates * NR], nx[m][t][NR].
template <class Shape, int kNr>
struct Products {
  using Layout = TileLayout<Shape, kNr>;
  static constexpr size_t kRow = Layout::kRow;
  const RecurArgs *args;
  const BlockLayout &layout;
  Ahead ahead;

  // Of b->k terms.
  static RNNPACK_INLINE void place_panel(BlockArgs *b, const float *panels, size_t tile) {
    b->panel_k = kRow * sizeof(float);
    b->panel_tile = b->k * b->panel_k;
    b->panel = static_cast<const uint8_t *>(static_cast<const void *>(panels)) + tile * b->panel_tile;
  }

  // The input's part: bias + x * W.
  RNNPACK_NOINLINE void start_from_x(size_t row, size_t tile, uint32_t rows, uint32_t tiles, float *pre) {
    BlockArgs b;
    b.start = args->bias + tile * kRow;
    b.start_row_bytes = 0;
    b.last_start = nullptr;
    b.a = offset_bytes(args->x, row * args->x_row_bytes);
    b.a_row_bytes = args->x_row_bytes;
    b.k = args->input_size;
    place_panel(&b, args->w, tile);
    b.start_tile = b.out_tile = kRow;
    b.out = pre;
    b.columns = kAllColumns;
    b.out_row_bytes = tiles * kRow * sizeof(float);
    Ahead none = {};
    run_block(layout, rows, tiles, &b, &none);
  }

  // Puts the split gate's input part aside in nx (it may be in preact already), and starts its recurrent part from r_bias.
  RNNPACK_INLINE void split(size_t row, size_t tile, uint32_t rows, uint32_t tiles, float *pre, float *nx) const {
    constexpr int kPlain = static_cast<int>(kRow) - kNr;
    for (uint32_t m = 0; m < rows; ++m) {
      for (uint32_t t = 0; t < tiles; ++t, pre += kRow, nx += kNr) {
        if (args->x != nullptr) {
          copy<kNr>(nx, pre + kPlain);
        } else {
          copy<kPlain>(pre, preact_of<Shape, kNr>(args, row + m, tile + t));
        }
        copy<kNr>(pre + kPlain, r_bias_of<kNr>(args, row + m, tile + t));
      }
    }
  }
  template <int kCount>
  static RNNPACK_INLINE void copy(float *to, const float *from) {
    RNNPACK_UNROLL
    for (int n = 0; n < kCount; n += kWidth) Vec::store(to + n, Vec::load(from + n));
  }

  // `rows` rows from `row`, as many tiles as one block takes of the `left` ones that start at `tile` (descending: end before it).
  RNNPACK_NOINLINE uint32_t run(size_t row, size_t tile, uint32_t left, uint32_t rows, float *pre, float *nx) {
    const uint32_t tiles = next_tiles(layout, rows, left);
    if (args->descending) tile -= tiles;
    const bool from_x = Layout::kHasW && args->x != nullptr;
    // Blocks can start a last gate of one vector from elsewhere.
    const bool splits = Shape::kSplit && (Layout::kGateVectors != 1 || from_x || args->r_bias_row_bytes != 0);
    if (from_x) start_from_x(row, tile, rows, tiles, pre);
    if (splits) split(row, tile, rows, tiles, pre, nx);
    BlockArgs b;
    b.out_tile = kRow;
    b.out = pre;
    b.columns = kAllColumns;
    b.out_row_bytes = tiles * kRow * sizeof(float);
    if (from_x || splits) {
      b.start = pre;
      b.start_row_bytes = b.out_row_bytes;
      b.start_tile = kRow;
    } else {
      b.start = preact_of<Shape, kNr>(args, row, tile);
      b.start_row_bytes = args->preact_row_bytes;
      b.start_tile = kNr * Shape::kPreGates;
    }
    b.last_start = Shape::kSplit && !splits ? args->r_bias + tile * kNr : nullptr;
    b.last_tile = kNr;
    b.a = offset_bytes(Shape::kFirst != 0 ? args->rh : args->h_prev, row * args->state_row_bytes);
    b.a_row_bytes = args->state_row_bytes;
    b.k = args->recurrent_k;
    place_panel(&b, args->r, tile);
    run_block(layout, rows, tiles, &b, &ahead);
    return tiles;
  }
};

}  // namespace
}  // namespace rnnp
#endif  // RNNPACK_KERNELS_PRODUCT_BODY_H_
