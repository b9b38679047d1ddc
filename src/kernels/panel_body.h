// panel_body.h -- the one inner loop: acc[m][n] += sum over k of a[m][k] * panel[k][n], for a block of rows and vectors.
// Room: kernels; included once per gemm_<isa>.cpp and recur_<isa>.cpp. Reads k floats of each row and k rows of each panel.
// Contract: one fused multiply-add per term, k ascending, so a block's shape never shows in the bits.
// Why so: the block lives in registers; a panel row is loaded once for all rows of the block.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_PANEL_BODY_H_
#define RNNPACK_KERNELS_PANEL_BODY_H_

#include "kernels/block_walk.h"
#include "kernels/lane_body.h"
#include "kernels/walk_body.h"

namespace rnnp {
namespace {

// One row of each of kTiles panels, tile_elems floats apart: kVectors vectors of each.
template <int kTiles, int kVectors>
RNNPACK_INLINE void load_panel(F (&p)[kTiles * kVectors], const float *panel, size_t tile_elems) {
  RNNPACK_UNROLL
  for (int t = 0; t < kTiles; ++t) {
    RNNPACK_UNROLL
    for (int v = 0; v < kVectors; ++v) p[t * kVectors + v] = Vec::load(panel + t * tile_elems + v * kWidth);
  }
}

// One k. Of rows and panel vectors the fewer are held in registers beside the block, the others pass one at a time.
template <int kMr, int kTiles, int kVectors>
RNNPACK_INLINE void accumulate_one(F (&acc)[kMr][kTiles * kVectors], const Rows<kMr> &rows, size_t i, const float *panel,
                                   size_t tile_elems) {
  constexpr int kCount = kTiles * kVectors;
  if constexpr (kMr < kCount) {
    F a[kMr];
    RNNPACK_UNROLL
    for (int m = 0; m < kMr; ++m) a[m] = Vec::broadcast(rows.at[m] + i);
    RNNPACK_UNROLL
    for (int n = 0; n < kCount; ++n) {
      const F p = Vec::load(panel + n / kVectors * tile_elems + n % kVectors * kWidth);
      RNNPACK_UNROLL
      for (int m = 0; m < kMr; ++m) acc[m][n] = Vec::fma(a[m], p, acc[m][n]);
    }
  } else {
    F p[kCount];
    load_panel<kTiles, kVectors>(p, panel, tile_elems);
    RNNPACK_UNROLL
    for (int m = 0; m < kMr; ++m) {
      const F a = Vec::broadcast(rows.at[m] + i);
      RNNPACK_UNROLL
      for (int n = 0; n < kCount; ++n) acc[m][n] = Vec::fma(a, p[n], acc[m][n]);
    }
  }
}

// kTiles panels, tile_elems floats apart; from each kVectors vectors of a row that is kRow floats long.
template <int kMr, int kTiles, int kVectors, int kRow, class V = Vec>
RNNPACK_INLINE void accumulate(F (&acc)[kMr][kTiles * kVectors], const Rows<kMr> &rows, const float *panel, size_t tile_elems,
                               size_t k) {
  size_t i = 0;
  if constexpr (V::kWalks) {
    WalkTurns<kMr, kTiles, kVectors, kRow, V> turns;
    turns.rows = rows;
    turns.run(acc, panel, tile_elems, k);
    return;
  }
  if constexpr (V::kLanes) {
    LaneTurns<kMr, kTiles, kVectors, kRow, V> turns{acc, {}, {}};
    i = turns.run(rows, panel, tile_elems, k);
    panel += i * kRow;
  }
  RNNPACK_NO_UNROLL
  for (; i < k; ++i, panel += kRow) accumulate_one<kMr, kTiles, kVectors>(acc, rows, i, panel, tile_elems);
}

// Blocks of fewer rows have no time to ask for what comes next: memory is all they wait for.
constexpr int kAskingRows = 4;

// The same with rows of panels `panel_k` floats apart; `ahead`: lines to ask for, one a k.
template <int kMr, int kTiles, int kVectors>
RNNPACK_INLINE void accumulate_strided(F (&acc)[kMr][kTiles * kVectors], const Rows<kMr> &rows, const float *panel,
                                       size_t tile_elems, size_t panel_k, size_t k, const void *ahead) {
  if constexpr (kMr >= kAskingRows) {
    if (ahead != nullptr) {
      const char *line = static_cast<const char *>(ahead);
      RNNPACK_NO_UNROLL
      for (size_t i = 0; i < k; ++i, panel += panel_k, line += 64) {
        __builtin_prefetch(line, 0, 2);
        accumulate_one<kMr, kTiles, kVectors>(acc, rows, i, panel, tile_elems);
      }
      return;
    }
  }
  RNNPACK_NO_UNROLL
  for (size_t i = 0; i < k; ++i, panel += panel_k) accumulate_one<kMr, kTiles, kVectors>(acc, rows, i, panel, tile_elems);
}

// The largest number of vectors, dividing `vectors`, whose block of `rows` rows fits in the registers left beside operands.
constexpr int kBlockVectors = Vec::kRegisters >= 32 ? 24 : Vec::kRegisters >= 16 ? 12 : 6;
constexpr int pass_vectors(int rows, int vectors) {
  int best = 1;
  for (int n = 1; n <= vectors; ++n)
    if (vectors % n == 0 && rows * n <= kBlockVectors) best = n;
  return best;
}

// The most tiles of `vectors` vectors that a block of `rows` rows takes at once: enough chains to hide the latency of a
// multiply-add at one row, and a full register block at many. Up to two rows, where chains are few, there is a block for every
// number of tiles; above, to spare code, for powers of two.
constexpr bool every_count(int rows) {
  return rows <= 2;
}
constexpr int block_tiles(int rows, int vectors) {
  const int most = (rows == 1 && kBlockVectors > 12 ? 12 : kBlockVectors) / (rows * vectors);
  if (every_count(rows)) return most < 1 ? 1 : most > 8 ? 8 : most;
  int tiles = 1;
  while (tiles < 8 && tiles * 2 <= most) tiles *= 2;
  return tiles;
}
constexpr int fewer_tiles(int rows, int tiles) {
  return every_count(rows) ? tiles - 1 : tiles / 2;
}

// The same at one row when most of the panels come from beyond L1: 64 floats per k keep up with the next cache, and fewer streams
// read faster.
constexpr int far_tiles(int row_elems) {
  return row_elems >= 64 ? 1 : (64 + row_elems - 1) / row_elems;
}
constexpr size_t kNearBytes = 72 * 1024;
constexpr size_t kFarPanelBytes = 100 * 1000;

// The most rows of one block: as many as leave room for four vectors of each (two with 16 registers; three where that divides).
constexpr int block_rows(int vectors) {
  const int per_row = vectors == 3 ? 3 : Vec::kRegisters >= 32 ? 4 : 2;
  return kBlockVectors / per_row;
}

}  // namespace
}  // namespace rnnp
#endif  // RNNPACK_KERNELS_PANEL_BODY_H_
