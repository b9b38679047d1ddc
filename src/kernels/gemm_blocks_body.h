// gemm_blocks_body.h -- rows against the blocks of a sparse matrix. Room: kernels; included by gemm_blocks_<isa>.cpp after a
// vec_<isa>.h. Writes out and its scratch. Contract: kernels.h, GemmArgs; docs/KERNELS.md, "Blocks".
// Entries: Scratch puts rows where they can be read beyond K; factor<kStrips> is what a vector's units, kStrips blocks side by
// side, are multiplied by; Sum takes entries one after the other, kChains of them in turn; finish stores what they come to.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_GEMM_BLOCKS_BODY_H_
#define RNNPACK_KERNELS_GEMM_BLOCKS_BODY_H_

#include "kernels/finish_body.h"
#include "pack/panel_format.h"

namespace rnnp {
namespace {

constexpr size_t kEntryUnits = 16;

// One gate of one panel, and some of the rows in the scratch.
template <class Entries>
struct BlockColumn {
  const GemmArgs *args;
  typename Entries::Scratch scratch;
  size_t tile, gate;
  size_t row, first_row;  // among those in the scratch, and where these begin
};

template <class Entries, int kMr, int kStrips>
RNNPACK_INLINE void add_part(const BlockColumn<Entries> &b, size_t part) {
  constexpr int kParts = kEntryUnits / kWidth, kChains = Entries::kChains, kOfPart = kStrips < kParts ? 1 : kStrips / kParts;
  const GemmArgs &g = *b.args;
  const uint32_t *first = g.first + b.tile * g.gates + b.gate;
  const uint16_t *quad = g.quads + size_t{first[0]} * kStrips + part * kStrips / kParts;
  const uint8_t *weights = static_cast<const uint8_t *>(g.panels) + first[0] * Entries::kEntryBytes + part * Entries::kPartBytes;
  typename Entries::Sum sum[kChains][kMr];
  RNNPACK_UNROLL
  for (int i = 0; i < kChains * kMr; ++i) sum[i / kMr][i % kMr].clear();
  size_t left = first[1] - first[0];
  for (; left >= kChains; left -= kChains) {
    RNNPACK_UNROLL
    for (int c = 0; c < kChains; ++c, quad += kStrips, weights += Entries::kEntryBytes) {
      RNNPACK_UNROLL
      for (int m = 0; m < kMr; ++m)
        sum[c][m].add(Entries::template factor<kOfPart>(b.scratch.row(b.row + static_cast<size_t>(m)), quad), weights);
    }
  }
  for (; left != 0; --left, quad += kStrips, weights += Entries::kEntryBytes) {
    RNNPACK_UNROLL
    for (int m = 0; m < kMr; ++m)
      sum[0][m].add(Entries::template factor<kOfPart>(b.scratch.row(b.row + static_cast<size_t>(m)), quad), weights);
  }
  VectorPlace place = {0, b.tile, b.gate * kEntryUnits + part * kWidth, g.gates * kEntryUnits};
  RNNPACK_UNROLL
  for (int m = 0; m < kMr; ++m) {
    if constexpr (kChains != 1) {
      RNNPACK_UNROLL
      for (int c = 1; c < kChains; ++c) sum[0][m].add(sum[c][m]);
    }
    const size_t row = b.row + static_cast<size_t>(m);
    place.row = b.first_row + row;
    Entries::finish(g, place, sum[0][m], b.scratch.scale(row));
  }
}

template <class Entries, int kMr, int kStrips>
RNNPACK_NOINLINE void add_column(const BlockColumn<Entries> &b) {
  RNNPACK_NO_UNROLL
  for (size_t part = 0; part < kEntryUnits / kWidth; ++part) add_part<Entries, kMr, kStrips>(b, part);
}

template <class Entries, int kStrips>
RNNPACK_NOINLINE void add_rows(BlockColumn<Entries> b, size_t rows) {
  for (b.row = 0; b.row + Entries::kMostRows <= rows; b.row += Entries::kMostRows)
    add_column<Entries, Entries::kMostRows, kStrips>(b);
  for (; b.row < rows; ++b.row) add_column<Entries, 1, kStrips>(b);
}

template <class Entries>
void gemm_blocks_run(const GemmArgs *args) {
  BlockColumn<Entries> b = {args, typename Entries::Scratch(*args), 0, 0, 0, 0};
  for (b.first_row = 0; b.first_row < args->rows; b.first_row += kQuantisedRows) {
    const size_t left = args->rows - b.first_row, rows = left < kQuantisedRows ? left : kQuantisedRows;
    for (size_t m = 0; m < rows; ++m) b.scratch.take(*args, b.first_row + m, m);
    for (b.tile = args->tile_begin; b.tile < args->tile_end; ++b.tile) {
      for (b.gate = 0; b.gate < args->gates; ++b.gate) {
        if (args->strips == 1) {
          add_rows<Entries, 1>(b, rows);
        } else if (args->strips == 2) {
          add_rows<Entries, 2>(b, rows);
        } else {
          add_rows<Entries, 4>(b, rows);
        }
      }
    }
  }
}

}  // namespace
}  // namespace rnnp
#endif  // RNNPACK_KERNELS_GEMM_BLOCKS_BODY_H_
