// product_body.h -- pre-activations of a block: its start (preact, or bias + x * W) plus h * R, for some rows and h-tiles.
// Room: kernels; included once by recur_<isa>.cpp. Reads arguments; writes registers or the caller's buffer.
// Contract: kernels.h, RecurArgs: W's part first, then R's, one chain per pre-activation.
// Why so: shared by all cells of one shape. Where a block does not fit in registers it is done a few columns of each row at a time.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_PRODUCT_BODY_H_
#define RNNPACK_KERNELS_PRODUCT_BODY_H_

#include "kernels/kernels.h"
#include "kernels/panel_body.h"

namespace rnnp::RNNPACK_SET {
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

template <int kCount>
RNNPACK_INLINE void copy(float *to, const float *from) {
  RNNPACK_UNROLL
  for (int n = 0; n < kCount; n += kWidth) Vec::store(to + n, Vec::load(from + n));
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

// The same of one row and kUnits vectors of units, each with its gates, and kHalf more: a vector half as wide. Units that fill no
// whole tile need not all of its vectors.
template <class Half, class Shape, int kNr, int kUnits, int kHalf>
struct UnitProducts {
  using Layout = TileLayout<Shape, kNr>;
  static constexpr int kGates = Shape::kGates, kRow = Layout::kRow;
  F acc[kUnits != 0 ? kUnits : 1][kGates];
  typename Half::F half[kGates];

  // Where a vector of units of one gate lies in tiles that are tile_elems floats apart.
  static RNNPACK_INLINE size_t place(int unit, int gate, size_t tile_elems) {
    return unit / Layout::kGateVectors * tile_elems + gate * kNr + unit % Layout::kGateVectors * kWidth;
  }
  RNNPACK_INLINE void load(const float *from, size_t tile_elems) {
    RNNPACK_UNROLL
    for (int u = 0; u < kUnits; ++u) {
      RNNPACK_UNROLL
      for (int g = 0; g < kGates; ++g) acc[u][g] = Vec::load(from + place(u, g, tile_elems));
    }
    RNNPACK_UNROLL
    for (int g = 0; g < kHalf * kGates; ++g) half[g] = Half::load(from + place(kUnits, g, tile_elems));
  }
  RNNPACK_INLINE void add(const float *factors, const float *panels, size_t k) {
    const size_t elems = k * kRow;
    RNNPACK_NO_UNROLL
    for (size_t i = 0; i < k; ++i, panels += kRow) {
      const F a = Vec::broadcast(factors + i);
      RNNPACK_UNROLL
      for (int u = 0; u < kUnits; ++u) {
        RNNPACK_UNROLL
        for (int g = 0; g < kGates; ++g) acc[u][g] = Vec::fma(a, Vec::load(panels + place(u, g, elems)), acc[u][g]);
      }
      if constexpr (kHalf != 0) {
        RNNPACK_UNROLL
        for (int g = 0; g < kGates; ++g) half[g] = Half::fma(Half::low(a), Half::load(panels + place(kUnits, g, elems)), half[g]);
      }
    }
  }

  // nx: of the units, the split gate's input part.
  RNNPACK_INLINE void run(const RecurArgs *args, size_t tile, float *nx) {
    const bool from_x = Layout::kHasW && args->x != nullptr;
    if (from_x) {
      load(args->bias + tile * kRow, kRow);
      add(args->x, args->w + tile * args->input_size * kRow, args->input_size);
    } else {
      load(preact_of<Shape, kNr>(args, 0, tile), Layout::kPreRow);
    }
    if constexpr (Shape::kSplit) {
      const float *bias = r_bias_of<kNr>(args, 0, tile);
      RNNPACK_UNROLL
      for (int u = 0; u < kUnits; ++u) {
        if (from_x) Vec::store(nx + u * kWidth, acc[u][kGates - 1]);
        acc[u][kGates - 1] = Vec::load(bias + u * kWidth);
      }
      if constexpr (kHalf != 0) {
        if (from_x) Half::store(nx + kUnits * kWidth, half[kGates - 1]);
        half[kGates - 1] = Half::load(bias + kUnits * kWidth);
      }
    }
    add(Shape::kFirst != 0 ? args->rh : args->h_prev, args->r + tile * args->recurrent_k * kRow, args->recurrent_k);
  }
};

// The same of a block in buffers: pre[m][t][gates * NR], nx[m][t][NR].
template <class Shape, int kNr>
void split_block(const RecurArgs *args, size_t row, size_t tile, uint32_t rows, uint32_t tiles, float *pre, float *nx) {
  constexpr int kRow = TileLayout<Shape, kNr>::kRow, kPlain = kRow - kNr;
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

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_PRODUCT_BODY_H_
