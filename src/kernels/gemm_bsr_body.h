// gemm_bsr_body.h -- rows against the blocks of a sparse matrix. Room: kernels; included by gemm_bsr_<isa>.cpp after a
// vec_<isa>.h. Writes out and its scratch. Contract: kernels.h, GemmArgs; docs/KERNELS.md, "Sparse".
// Entries: Scratch puts rows where they can be read beyond K; factor<kStrips, kPart> is what the units of vector kPart of an entry
// are multiplied by, kStrips blocks being side by side in it; Sum takes entries one after the other, kChains of them in turn, and
// ends as floats that are worth a row's and their units' scales. The entries of all gates and tiles lie one after the other, and
// columns of a few entries are the rule: one function goes through them all, so that the next column's begin while this one's sums
// are still on their way.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_GEMM_BSR_BODY_H_
#define RNNPACK_KERNELS_GEMM_BSR_BODY_H_

#include "kernels/finish_body.h"
#include "pack/panel_format.h"

namespace rnnp::RNNPACK_SET {
namespace {

constexpr size_t kEntryUnits = 16;
constexpr int kEntryParts = static_cast<int>(kEntryUnits) / kWidth;

// Some tiles, and some of the rows in the scratch.
template <class Entries>
struct BlockRows {
  const GemmArgs *args;
  typename Entries::Scratch scratch;
  size_t tile_begin, tile_end;
  size_t row, first_row;  // among those in the scratch, and where these begin
};

// kCount entries, one for each chain.
template <class Entries, int kCount, int kMr, int kStrips>
RNNPACK_INLINE void add_entries(typename Entries::Sum (&sum)[Entries::kChains][kMr][kEntryParts],
                                const typename Entries::Element *const (&rows)[kMr], const uint16_t *quad, const uint8_t *weights) {
  RNNPACK_UNROLL
  for (int c = 0; c < kCount; ++c, quad += kStrips, weights += Entries::kEntryBytes) {
    RNNPACK_UNROLL
    for (int m = 0; m < kMr; ++m) {
      const auto factors = Entries::template factors<kStrips>(rows[m], quad);
      RNNPACK_UNROLL
      for (int p = 0; p < kEntryParts; ++p) sum[c][m][p].add(factors.of[p], weights + static_cast<size_t>(p) * Entries::kPartBytes);
    }
  }
}

// What is slow_path: rows of floats that end within a tile, and R's diagonal.
RNNPACK_NOINLINE void finish_slow_path(const GemmArgs &g, const VectorPlace &place, F value, F worth) {
  finish_vector(g, place, value, worth);
}

template <class Entries, int kMr, int kStrips>
RNNPACK_NOINLINE void add_columns(const BlockRows<Entries> &b) {
  constexpr int kChains = Entries::kChains;
  const GemmArgs &g = *b.args;
  const size_t gates = g.w.gates, width = gates * kEntryUnits;
  const size_t start_tile = g.start_tile != 0 ? g.start_tile : width, out_tile = g.out_tile != 0 ? g.out_tile : width;
  const size_t start_row_bytes = g.start_row_bytes, out_row_bytes = g.out_row_bytes;
  const bool slow_path = g.units != 0 || g.w.diagonal != nullptr || g.start == nullptr;
  const uint32_t *first = g.w.first + b.tile_begin * gates;
  const uint16_t *quad = g.w.quads + size_t{*first} * kStrips;
  const uint8_t *weights = static_cast<const uint8_t *>(g.w.panels) + *first * Entries::kEntryBytes;
  const size_t first_row = b.first_row + b.row;
  const float *start = offset_bytes(g.start, first_row * start_row_bytes) + b.tile_begin * start_tile;
  float *out = offset_bytes(g.out, first_row * out_row_bytes) + b.tile_begin * out_tile;
  const typename Entries::Element *rows[kMr];
  F scale[kMr];
  RNNPACK_UNROLL
  for (int m = 0; m < kMr; ++m) {
    rows[m] = b.scratch.row(b.row + static_cast<size_t>(m));
    scale[m] = Vec::set1(b.scratch.scale(b.row + static_cast<size_t>(m)));
  }
  size_t column = b.tile_begin * width;
  for (size_t tile = b.tile_begin; tile < b.tile_end; ++tile, start += start_tile - width, out += out_tile - width) {
    for (size_t gate = gates; gate != 0; --gate, ++first, column += kEntryUnits, start += kEntryUnits, out += kEntryUnits) {
      typename Entries::Sum sum[kChains][kMr][kEntryParts];
      RNNPACK_UNROLL
      for (int i = 0; i < kChains * kMr * kEntryParts; ++i) {
        const int c = i / (kMr * kEntryParts), p = i % kEntryParts;
        if (c == 0) {
          sum[0][i / kEntryParts % kMr][p].begin(g, column + static_cast<size_t>(p * kWidth));
        } else {
          sum[c][i / kEntryParts % kMr][p].clear();
        }
      }
      size_t left = first[1] - first[0];
      for (; left >= kChains; left -= kChains, quad += kChains * kStrips, weights += kChains * Entries::kEntryBytes)
        add_entries<Entries, kChains, kMr, kStrips>(sum, rows, quad, weights);
      if constexpr (kChains != 1) {
        for (; left != 0; --left, quad += kStrips, weights += Entries::kEntryBytes)
          add_entries<Entries, 1, kMr, kStrips>(sum, rows, quad, weights);
      }
      RNNPACK_UNROLL
      for (int i = 0; i < kMr * kEntryParts; ++i) {
        const int m = i / kEntryParts, p = i % kEntryParts;
        RNNPACK_UNROLL
        for (int c = 1; c < kChains; ++c) sum[0][m][p].join(sum[c][m][p]);
        const F value = sum[0][m][p].floats(), worth = Entries::worth(g, column + static_cast<size_t>(p * kWidth), scale[m]);
        if (slow_path) {
          finish_slow_path(
              g, {first_row + static_cast<size_t>(m), tile, (gates - gate) * kEntryUnits + static_cast<size_t>(p * kWidth), width},
              value, worth);
        } else {
          const F from = Vec::load(offset_bytes(start, static_cast<size_t>(m) * start_row_bytes) + p * kWidth);
          Vec::store(offset_bytes(out, static_cast<size_t>(m) * out_row_bytes) + p * kWidth, Vec::fma(value, worth, from));
        }
      }
    }
  }
}

// One row goes through all tiles at once; more share the entries of a tile while these are near.
template <class Entries, int kStrips>
RNNPACK_NOINLINE void add_rows(const GemmArgs *args, BlockRows<Entries> b, size_t rows) {
  const size_t end = args->tile_end, step = rows == 1 ? end - args->tile_begin : 1;
  for (b.tile_begin = args->tile_begin; b.tile_begin < end; b.tile_begin = b.tile_end) {
    b.tile_end = b.tile_begin + step;
    for (b.row = 0; b.row + Entries::kMostRows <= rows; b.row += Entries::kMostRows)
      add_columns<Entries, Entries::kMostRows, kStrips>(b);
    for (; b.row < rows; ++b.row) add_columns<Entries, 1, kStrips>(b);
  }
}

// As many rows as the scratch holds at a time: `add` takes them and their number.
template <class Entries, class Add>
RNNPACK_INLINE void for_rows(const GemmArgs *args, const Add &add) {
  BlockRows<Entries> b = {args, typename Entries::Scratch(*args), 0, 0, 0, 0};
  for (b.first_row = 0; b.first_row < args->rows; b.first_row += kQuantisedRows) {
    const size_t left = args->rows - b.first_row, rows = left < kQuantisedRows ? left : kQuantisedRows;
    for (size_t m = 0; m < rows && !args->prepared; ++m) b.scratch.take(*args, b.first_row + m, m);
    add(b, rows);
  }
}

template <class Entries>
void gemm_bsr_run(const GemmArgs *args) {
  for_rows<Entries>(args, [&](const BlockRows<Entries> &b, size_t rows) {
    const uint32_t strips = args->w.index_bytes / 2u;
    if (strips == 1) {
      add_rows<Entries, 1>(args, b, rows);
    } else if (strips == 2) {
      add_rows<Entries, 2>(args, b, rows);
    } else {
      add_rows<Entries, 4>(args, b, rows);
    }
  });
}

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_GEMM_BSR_BODY_H_
