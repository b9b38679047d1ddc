// gemm_dot_body.h -- rows rounded to bf16 against panels of bf16, in the order of TDPBF16PS: of each block of k two accumulators,
// of even and of odd k. Room: kernels; included once by gemm_dot_<isa>.cpp, after Dot, the words on bf16. Writes out and its
// scratch. Contract: kernels.h, GemmArgs, kGemmDot. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_GEMM_DOT_BODY_H_
#define RNNPACK_KERNELS_GEMM_DOT_BODY_H_

#include "kernels/ahead.h"
#include "kernels/kernels.h"
#include "kernels/rows_body.h"
#include "pack/panel_format.h"

namespace rnnp::RNNPACK_SET {
namespace {

constexpr int kDotVectors = 16 / kWidth;  // of a column: 16 units of one gate
constexpr size_t kDotPairBytes = 4, kDotColumnBytes = 16 * kDotPairBytes, kDotBlockPairs = kDotBlock / 2;
constexpr size_t kDotStepWords = Dot::kBlockWords * Dot::kPairs / kDotBlockPairs;
constexpr size_t kMostDotColumns = 4;

// What one block of rows and columns needs. A prepared row is Dot::kBlockWords words for each block of k.
struct DotBlock {
  const float *rows;
  size_t row_words, panel_k, pairs;
  size_t start_row_bytes, out_row_bytes;
  const uint8_t *panel[kMostDotColumns];
  const float *start[kMostDotColumns];
  float *out[kMostDotColumns];
  size_t units[kMostDotColumns];  // 16, or those before the end of a dense row
  const uint8_t *ahead;           // lines to ask for, one a step; or nullptr
  size_t first;                   // of the columns
  bool has_start;
};

// The floats of vector v of a column of `units`.
RNNPACK_INLINE size_t dot_lanes(size_t units, size_t v) {
  const size_t before = v * kWidth;
  return units <= before ? 0 : units - before;
}

// Of four lanes; inside, their branches are most of a block.
RNNPACK_NOINLINE F load_dot_lanes(const float *from, size_t lanes) {
  return Vec::load_first(from, lanes);
}
RNNPACK_NOINLINE void store_dot_lanes(float *to, F x, size_t lanes) {
  Vec::store_first(to, x, lanes);
}

// A column is one vector, whose lanes are a mask.
constexpr bool kManyDots = kDotVectors == 1 && Vec::kRegisters == 32;

// As many accumulators as registers hold, two for each output; what those are added to at the end of a block lies in memory. Many
// rows share what a vector of weights takes to bring into pairs, so four rows and more pass over one column at a time.
constexpr int kDotRows = kManyDots ? 12 : 2;
constexpr int dot_columns(int rows) {
  return kManyDots ? (rows <= 2 ? 4 : rows == 3 ? 2 : 1) : rows == 1 && (kDotVectors <= 2 || Vec::kRegisters == 32) ? 2 : 1;
}
constexpr bool kDotAsks = kDotRows >= kAskingRows;

template <int kRows, int kColumns>
struct DotSums {
  static constexpr int kCount = kColumns * kDotVectors;
  F v[kRows][kCount];

  RNNPACK_INLINE void zero() {
    RNNPACK_UNROLL
    for (int i = 0; i < kRows * kCount; ++i) v[i / kCount][i % kCount] = Vec::set1(0.0f);
  }
  // What fills a block up: of a sum that was rounded to -0 it makes 0.
  RNNPACK_INLINE void add_zero() {
    RNNPACK_UNROLL
    for (int i = 0; i < kRows * kCount; ++i) v[i / kCount][i % kCount] = Vec::add(v[i / kCount][i % kCount], Vec::set1(0.0f));
  }
  RNNPACK_INLINE void add(const DotSums &even, const DotSums &odd) {
    RNNPACK_UNROLL
    for (int i = 0; i < kRows * kCount; ++i) {
      const int m = i / kCount, n = i % kCount;
      v[m][n] = Vec::add(v[m][n], Vec::add(even.v[m][n], odd.v[m][n]));
    }
  }
  RNNPACK_INLINE void load(const DotBlock &b) {
    zero();
    if (!b.has_start) return;
    RNNPACK_UNROLL
    for (int n = 0; n < kCount; ++n) {
      const size_t lanes = dot_lanes(b.units[b.first + n / kDotVectors], n % kDotVectors);
      RNNPACK_UNROLL
      for (int m = 0; m < kRows; ++m) {
        const float *from = offset_bytes(b.start[b.first + n / kDotVectors], m * b.start_row_bytes) + n % kDotVectors * kWidth;
        if (kManyDots) {
          v[m][n] = Vec::load_first(from, lanes);
          continue;
        }
        if (lanes >= kWidth) v[m][n] = Vec::load(from);
        if (lanes != 0 && lanes < kWidth) v[m][n] = kWidth == 4 ? load_dot_lanes(from, lanes) : Vec::load_first(from, lanes);
      }
    }
  }
  RNNPACK_INLINE void store(const DotBlock &b) const {
    RNNPACK_UNROLL
    for (int n = 0; n < kCount; ++n) {
      const size_t lanes = dot_lanes(b.units[b.first + n / kDotVectors], n % kDotVectors);
      RNNPACK_UNROLL
      for (int m = 0; m < kRows; ++m) {
        float *to = offset_bytes(b.out[b.first + n / kDotVectors], m * b.out_row_bytes) + n % kDotVectors * kWidth;
        if (kManyDots) {
          Vec::store_first(to, v[m][n], lanes);
          continue;
        }
        if (lanes >= kWidth) Vec::store(to, v[m][n]);
        if (lanes != 0 && lanes < kWidth) kWidth == 4 ? store_dot_lanes(to, v[m][n], lanes) : Vec::store_first(to, v[m][n], lanes);
      }
    }
  }
};

// What does not change within a block of rows and columns, in registers.
template <int kColumns>
struct DotSteps {
  const uint8_t *panel[kColumns];
  size_t row_words, panel_k;

  RNNPACK_INLINE explicit DotSteps(const DotBlock &b) : row_words(b.row_words), panel_k(b.panel_k) {
    RNNPACK_UNROLL
    for (int n = 0; n < kColumns; ++n) panel[n] = b.panel[b.first + n];
  }

  // The weights of one step of column n / kDotVectors; kLast: one pair, where there is no other.
  template <bool kLast>
  RNNPACK_INLINE typename Dot::Weights load(int n, size_t at) const {
    return Dot::template load<kLast>(panel[n / kDotVectors] + at + n % kDotVectors * (kWidth * kDotPairBytes), panel_k);
  }

  // The k of one step, Dot::kPairs pairs of them. Of rows and panel vectors the fewer are held in registers, the others pass.
  template <int kRows, bool kLast>
  RNNPACK_INLINE void add(const float *words, size_t at, DotSums<kRows, kColumns> *even, DotSums<kRows, kColumns> *odd) const {
    constexpr int kCount = kColumns * kDotVectors, kHeld = kRows < kCount ? 1 : kCount;
    typename Dot::Weights w[kHeld];
    if constexpr (kHeld == kCount) {
      RNNPACK_UNROLL
      for (int n = 0; n < kCount; ++n) w[n] = load<kLast>(n, at);
      RNNPACK_UNROLL
      for (int i = 0; i < kRows * kCount; ++i) {
        const int m = i / kCount, n = i % kCount;
        Dot::add(words + m * row_words, w[n], &even->v[m][n], &odd->v[m][n]);
      }
    } else {
      RNNPACK_UNROLL
      for (int n = 0; n < kCount; ++n) {
        w[0] = load<kLast>(n, at);
        RNNPACK_UNROLL
        for (int m = 0; m < kRows; ++m) Dot::add(words + m * row_words, w[0], &even->v[m][n], &odd->v[m][n]);
      }
    }
  }
};

template <int kRows, int kColumns>
RNNPACK_NOINLINE void run_dot_block(const DotBlock *b) {
  const DotSteps<kColumns> steps(*b);
  DotSums<kRows, kColumns> sums, even, odd;
  sums.load(*b);
  const float *words = b->rows;
  const uint8_t *line = b->ahead != nullptr ? b->ahead : steps.panel[0];
  const size_t next_line = b->ahead != nullptr ? 64 : 0;
  size_t at = 0;
  RNNPACK_NO_UNROLL
  for (size_t left = b->pairs; left != 0;) {
    const size_t pairs = left < kDotBlockPairs ? left : kDotBlockPairs;
    even.zero();
    odd.zero();
    RNNPACK_NO_UNROLL
    for (size_t i = pairs / Dot::kPairs; i != 0; --i) {
      if constexpr (kDotAsks && kRows >= kAskingRows) {
        __builtin_prefetch(line, 0, 2);
        line += next_line;
      }
      steps.template add<kRows, false>(words, at, &even, &odd);
      words += kDotStepWords;
      at += Dot::kPairs * steps.panel_k;
    }
    if (Dot::kPairs > 1 && pairs % Dot::kPairs != 0) steps.template add<kRows, true>(words, at, &even, &odd);
    if (pairs != kDotBlockPairs) {
      even.add_zero();
      odd.add_zero();
    }
    sums.add(even, odd);
    left -= pairs;
  }
  sums.store(*b);
}

template <int kRows>
RNNPACK_INLINE void run_dot_columns(const DotBlock &b, size_t columns) {
  constexpr int kMost = dot_columns(kRows);
  if constexpr (kMost == 4) {
    if (columns == 4) return run_dot_block<kRows, 4>(&b);
  }
  if constexpr (kMost >= 2) {
    if (columns == 2) return run_dot_block<kRows, 2>(&b);
  }
  run_dot_block<kRows, 1>(&b);
}

RNNPACK_INLINE void run_dot_rows(const DotBlock &b, size_t rows, size_t columns) {
  if constexpr (kDotRows == 12) {
    if (rows == 3) return run_dot_columns<3>(b, columns);
    if (rows == 4) return run_dot_columns<4>(b, columns);
    if (rows == 5) return run_dot_columns<5>(b, columns);
    if (rows == 6) return run_dot_columns<6>(b, columns);
    if (rows == 8) return run_dot_columns<8>(b, columns);
    if (rows == 10) return run_dot_columns<10>(b, columns);
    if (rows == 12) return run_dot_columns<12>(b, columns);
  }
  rows == 1 ? run_dot_columns<1>(b, columns) : run_dot_columns<2>(b, columns);
}

// Rows of nearly equal blocks; above six they are even, which is less code.
RNNPACK_INLINE size_t next_dot_rows(size_t left) {
  const size_t blocks = (left + kDotRows - 1) / kDotRows, share = (left + blocks - 1) / blocks;
  if (share <= 6 || share % 2 == 0) return share;
  return blocks > 1 ? share + 1 : (share + 1) / 2;
}

// The prepared rows against columns that lie one after the other, whatever tile they belong to.
struct DotSweep {
  const GemmArgs &g;
  size_t start_tile, out_tile, panel_bytes, group;  // group: columns at a time
  Ahead ahead;
  DotBlock b;

  RNNPACK_INLINE explicit DotSweep(const GemmArgs &args) : g(args) {
    const size_t width = size_t{g.w.gates} * 16;
    start_tile = g.start_tile != 0 ? g.start_tile : width;
    out_tile = g.out_tile != 0 ? g.out_tile : width;
    group = static_cast<size_t>(dot_columns(g.rows < kDotRows ? static_cast<int>(g.rows) : kDotRows));
    b = {};
    b.row_words = (size_t{g.w.k} + kDotBlock - 1) / kDotBlock * Dot::kBlockWords;
    b.panel_k = width * kDotPairBytes;
    b.pairs = (size_t{g.w.k} + 1) / 2;
    b.start_row_bytes = g.start_row_bytes;
    b.out_row_bytes = g.out_row_bytes;
    b.has_start = g.start != nullptr;
    panel_bytes = b.pairs * b.panel_k;
    ahead = {};
  }

  RNNPACK_INLINE void set_column(size_t i, size_t tile, size_t gate, size_t row) {
    b.panel[i] = static_cast<const uint8_t *>(g.w.panels) + tile * panel_bytes + gate * kDotColumnBytes;
    if (b.has_start) b.start[i] = offset_bytes(g.start, row * g.start_row_bytes) + tile * start_tile + gate * 16;
    b.out[i] = offset_bytes(g.out, row * g.out_row_bytes) + tile * out_tile + gate * 16;
    const size_t left = g.units == 0 ? 16 : g.units - tile * 16;
    b.units[i] = left < 16 ? left : 16;
  }

  // The panels behind those of a tile, where they come from beyond L2.
  RNNPACK_INLINE void ask_behind(size_t tile) {
    const size_t next = tile + 1 < g.tile_end ? tile + 1 : g.tile_begin - g.w.tiles_below;
    ahead.at = static_cast<const uint8_t *>(g.w.panels) + next * panel_bytes;
    ahead.bytes = g.w.prefetch_next_tile && next != g.tile_begin ? panel_bytes : 0;
  }

  // Where the columns behind these start: each row's is a line of its own, which may lie beyond L2, too.
  RNNPACK_INLINE void ask_for_starts(size_t rows, size_t columns) const {
    if (!g.w.prefetch_next_tile || !b.has_start || b.start_row_bytes == 0 || rows < kAskingRows) return;
    const float *next = b.start[0] + columns * 16;
    for (size_t m = 0; m < rows; ++m) __builtin_prefetch(offset_bytes(next, m * b.start_row_bytes), 0, 3);
  }

  // All rows pass over some columns, whose panels stay near.
  RNNPACK_INLINE void run_group(const float *prepared, size_t rows, size_t columns) {
    for (size_t row = 0; row < rows;) {
      const size_t some = next_dot_rows(rows - row);
      b.rows = prepared + row * b.row_words;
      for (b.first = 0; b.first < columns;) {
        const size_t left = columns - b.first, next = left >= group ? group : left >= 2 && group > 2 ? 2 : 1;
        if constexpr (kDotAsks) b.ahead = ask_ahead(&ahead, b.pairs / Dot::kPairs);
        run_dot_rows(b, some, next);
        b.first += next;
      }
      for (size_t i = 0; i < columns; ++i) {
        if (b.has_start) b.start[i] = offset_bytes(b.start[i], some * b.start_row_bytes);
        b.out[i] = offset_bytes(b.out[i], some * b.out_row_bytes);
      }
      row += some;
    }
  }

  RNNPACK_INLINE void run(size_t first_row, size_t rows) {
    float *prepared = static_cast<float *>(g.scratch);
    for (size_t m = 0; m < rows && !g.prepared; ++m)
      Dot::round_row(offset_bytes(g.a, (first_row + m) * g.a_row_bytes), g.w.k, prepared + m * b.row_words);
    size_t tile = g.tile_begin, gate = 0;
    while (tile < g.tile_end) {
      if (kDotAsks && gate == 0) ask_behind(tile);
      size_t columns = 0;
      while (columns < group && tile < g.tile_end) {
        set_column(columns++, tile, gate, first_row);
        if (++gate == g.w.gates) gate = 0, ++tile;
      }
      if constexpr (kDotAsks) ask_for_starts(rows, columns);
      run_group(prepared, rows, columns);
    }
  }
};

void gemm_dot_run(const GemmArgs *args) {
  DotSweep sweep(*args);
  for (size_t row = 0; row < args->rows; row += kQuantisedRows) {
    const size_t left = args->rows - row;
    sweep.run(row, left < kQuantisedRows ? left : kQuantisedRows);
  }
}

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_GEMM_DOT_BODY_H_
