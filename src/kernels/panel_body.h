// panel_body.h -- the one inner loop: acc[m][n] += sum over k of a[m][k] * panel[k][n], for a block of rows and vectors.
// Room: kernels; included once per gemm_<isa>.cpp and recur_<isa>.cpp. Reads k floats of each row and k rows of each panel.
// Contract: one fused multiply-add per term, k ascending, so a block's shape never shows in the bits.
// Why so: the block lives in registers; a panel row is loaded once for all rows of the block.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_PANEL_BODY_H_
#define RNNPACK_KERNELS_PANEL_BODY_H_

#include "kernels/ahead.h"
#include "kernels/lane_body.h"
#include "kernels/panel_types.h"
#include "kernels/walk_body.h"
#include "kernels/walk_half_body.h"

namespace rnnp::RNNPACK_SET {
namespace {

// kTerms of the k that lie together. Of rows and panel vectors the fewer are held in registers beside the block, the others pass
// one at a time.
template <class Panel, int kTerms, int kMr, int kTiles, int kVectors>
RNNPACK_INLINE void accumulate_terms(F (&acc)[kMr][kTiles * kVectors], const Rows<kMr> &rows, size_t i, const uint8_t *panel,
                                     size_t tile_bytes) {
  constexpr int kCount = kTiles * kVectors;
  const auto load = [&](int n, F(&w)[Panel::kKr]) {
    Panel::load(panel + n / kVectors * tile_bytes + n % kVectors * (kWidth * Panel::kColumnBytes), w);
  };
  if constexpr (kMr < kCount) {
    F a[kMr][kTerms];
    RNNPACK_UNROLL
    for (int m = 0; m < kMr; ++m) {
      RNNPACK_UNROLL
      for (int t = 0; t < kTerms; ++t) a[m][t] = Vec::broadcast(rows.at[m] + i + t);
    }
    RNNPACK_UNROLL
    for (int n = 0; n < kCount; ++n) {
      F w[Panel::kKr];
      load(n, w);
      RNNPACK_UNROLL
      for (int t = 0; t < kTerms; ++t) {
        RNNPACK_UNROLL
        for (int m = 0; m < kMr; ++m) acc[m][n] = Vec::fma(a[m][t], w[t], acc[m][n]);
      }
    }
  } else {
    F w[kCount][Panel::kKr];
    RNNPACK_UNROLL
    for (int n = 0; n < kCount; ++n) load(n, w[n]);
    RNNPACK_UNROLL
    for (int m = 0; m < kMr; ++m) {
      RNNPACK_UNROLL
      for (int t = 0; t < kTerms; ++t) {
        const F a = Vec::broadcast(rows.at[m] + i + t);
        RNNPACK_UNROLL
        for (int n = 0; n < kCount; ++n) acc[m][n] = Vec::fma(a, w[n][t], acc[m][n]);
      }
    }
  }
}

// kTiles panels, tile_elems floats apart; from each kVectors vectors of a row that is kRow floats long (0: `row`, where factors are
// lanes).
template <int kMr, int kTiles, int kVectors, int kRow, class V = Vec>
RNNPACK_INLINE void accumulate(F (&acc)[kMr][kTiles * kVectors], const Rows<kMr> &rows, const float *panel, size_t tile_elems,
                               size_t k, size_t row = kRow) {
  size_t i = 0;
  if constexpr (V::kWalks) {
    WalkTurns<kMr, kTiles, kVectors, kRow, V> turns;
    turns.rows = rows;
    turns.run(acc, panel, tile_elems, k);
    return;
  }
  if constexpr (V::kLanes) {
    LaneTurns<kMr, kTiles, kVectors, kRow, V> turns{acc, {}, {}, row};
    i = turns.run(rows, panel, tile_elems, k);
    panel += i * row;
  }
  const uint8_t *at = static_cast<const uint8_t *>(static_cast<const void *>(panel));
  RNNPACK_NO_UNROLL
  for (; i < k; ++i, at += row * sizeof(float))
    accumulate_terms<PanelF32, 1, kMr, kTiles, kVectors>(acc, rows, i, at, tile_elems * sizeof(float));
}

// One or two tiles of one vector are too few chains in blocks of fewer rows. Each row of such a block is a load in every term, so
// there is no time left to count terms.
constexpr int kTallRows = 8;
constexpr bool is_tall(int rows, int vectors) {
  return Vec::kRegisters >= 32 && !Vec::kLanes && rows == kTallRows && vectors == 1;
}

// A block of so many sums has time for a prefetch that brings nothing, and one loop is less code than two.
constexpr bool asks_always(int rows, int tiles, int vectors) {
  return Vec::kRegisters >= 32 && rows * tiles * vectors >= 12 && !is_tall(rows, vectors);
}

// The same with panels of any type, each KR of k `panel_k` bytes apart; `ahead`: what to ask for, ahead_step bytes from k to k.
template <class Panel, int kMr, int kTiles, int kVectors, bool kEvenly = false, class V = Vec>
RNNPACK_INLINE void accumulate_strided(F (&acc)[kMr][kTiles * kVectors], const Rows<kMr> &rows, const uint8_t *panel,
                                       size_t tile_bytes, size_t panel_k, size_t k, const void *ahead, size_t ahead_step) {
  constexpr size_t kKr = Panel::kKr;
  size_t i = 0;
  if constexpr (V::kWalks) {
    WalkHalfTurns<Panel, kMr, kTiles, kVectors, V> turns;
    turns.rows = rows;
    turns.run(acc, panel, tile_bytes, panel_k, k);
    return;
  }
  constexpr bool kAsks = kMr >= kAskingRows && kKr == 1;
  if constexpr (kAsks && kEvenly) {
    if (ahead != nullptr && ahead_step != kLineBytes) {
      const char *line = static_cast<const char *>(ahead);
      RNNPACK_NO_UNROLL
      for (; i + 2 <= k; i += 2, panel += 2 * panel_k, line += 2 * ahead_step) {
        __builtin_prefetch(line, 0, 2);
        accumulate_terms<Panel, 1, kMr, kTiles, kVectors>(acc, rows, i, panel, tile_bytes);
        accumulate_terms<Panel, 1, kMr, kTiles, kVectors>(acc, rows, i + 1, panel + panel_k, tile_bytes);
      }
      if (i < k) accumulate_terms<Panel, 1, kMr, kTiles, kVectors>(acc, rows, i, panel, tile_bytes);
      return;
    }
  }
  if constexpr (kAsks) {
    if (asks_always(kMr, kTiles, kVectors) || ahead != nullptr) {
      const void *line = ahead != nullptr ? ahead : panel;
      const size_t next = ahead != nullptr ? kLineBytes : 0;
      RNNPACK_NO_UNROLL
      for (; i < k; ++i, panel += panel_k, line = static_cast<const char *>(line) + next) {
        __builtin_prefetch(line, 0, 2);
        accumulate_terms<Panel, 1, kMr, kTiles, kVectors>(acc, rows, i, panel, tile_bytes);
      }
      return;
    }
  }
  if constexpr (is_tall(kMr, kVectors)) {
    constexpr size_t kLine = kWidth * sizeof(float);  // so wide are its tiles
    Rows<kMr> at = rows;
    RNNPACK_NO_UNROLL
    for (; i + 2 <= k; i += 2, panel += 2 * kLine) {
      accumulate_terms<Panel, 1, kMr, kTiles, kVectors>(acc, at, 0, panel, tile_bytes);
      accumulate_terms<Panel, 1, kMr, kTiles, kVectors>(acc, at, 1, panel + kLine, tile_bytes);
      RNNPACK_UNROLL
      for (int m = 0; m < kMr; ++m) {
        at.at[m] += 2;
        __asm__("" : "+r"(at.at[m]));  // else GCC makes them one index, and each load takes a turn more
      }
    }
  }
  RNNPACK_NO_UNROLL
  for (; i + kKr <= k; i += kKr, panel += panel_k)
    accumulate_terms<Panel, kKr, kMr, kTiles, kVectors>(acc, rows, i, panel, tile_bytes);
  if constexpr (kKr > 1) {
    if (i < k) accumulate_terms<Panel, 1, kMr, kTiles, kVectors>(acc, rows, i, panel, tile_bytes);
  }
}

// The most sums of a block, for registers to be left for operands: there are two of each where two k lie together, and of eight
// registers two make a number of low precision.
constexpr int kBlockVectors = Vec::kRegisters >= 32 ? 24 : Vec::kRegisters >= 16 ? 12 : 6;
constexpr int block_vectors(bool f32, int kr) {
  return f32 ? kBlockVectors : Vec::kRegisters < 16 ? 4 : kr > 1 && Vec::kRegisters == 16 ? 8 : kBlockVectors;
}

// The largest number of vectors, dividing `vectors`, of which a block of `rows` rows has no more sums than that.
constexpr int pass_vectors(int rows, int vectors, bool f32, int kr) {
  int best = 1;
  for (int n = 1; n <= vectors; ++n)
    if (vectors % n == 0 && rows * n <= block_vectors(f32, kr)) best = n;
  return best;
}

// The most tiles of `vectors` vectors that a block of `rows` rows takes at once: enough chains to hide the latency of a
// multiply-add at one row, and a full register block at many. Of f32, up to two rows, where chains are few, there is a block for
// every number of tiles; else, to spare code, for powers of two. Of 16 bits no block has more than 16 chains: eight hide the
// latency, and more would only be more code.
constexpr bool every_count(int rows, bool f32 = true) {
  return rows <= 2 && f32;
}
constexpr int block_tiles(int rows, int vectors, bool f32 = true, int kr = 1) {
  const int chains = kBlockVectors <= 12 ? block_vectors(f32, kr) : rows == 1 ? 12 : f32 ? kBlockVectors : 16;
  const int most = chains / (rows * vectors);
  if (every_count(rows, f32)) return most < 1 ? 1 : most > 8 ? 8 : most;
  int tiles = 1;
  while (tiles < 8 && tiles * 2 <= most) tiles *= 2;
  return tiles;
}
constexpr int fewer_tiles(int rows, int tiles, bool f32) {
  return every_count(rows, f32) ? tiles - 1 : tiles / 2;
}

// The same at one row when most of the panels come from beyond L1: 64 floats per k keep up with the next cache, and fewer streams
// read faster.
constexpr int far_tiles(int row_elems) {
  return row_elems >= 64 ? 1 : (64 + row_elems - 1) / row_elems;
}

// The most rows of one block: as many as leave room for four vectors of each (two with 16 registers; three where that divides).
constexpr int block_rows(int vectors) {
  const int per_row = vectors == 3 ? 3 : Vec::kRegisters >= 32 ? 4 : 2;
  return kBlockVectors / per_row;
}

constexpr bool has_tall_blocks(int vectors) {
  return block_rows(vectors) < kTallRows && is_tall(kTallRows, vectors);
}

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_PANEL_BODY_H_
