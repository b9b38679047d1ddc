// gemm_body.h -- many rows against panels: out[m][tile][g][n] = bias + sum over k of a[m][k] * panel[tile][k][g][n].
// Room: kernels; included once by gemm_<isa>.cpp. Reads a, panels, bias; writes out, masked at the last tile of a dense row.
// Contract: kernels.h, GemmArgs.
// Why so: rows go in chunks that stay in L2 while tiles pass; within a chunk a panel stays in L1 or L2 while row blocks pass.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_GEMM_BODY_H_
#define RNNPACK_KERNELS_GEMM_BODY_H_

#include "kernels/kernels.h"
#include "kernels/panel_body.h"

namespace rnnp {
namespace {

template <int kNr, int kGates>
struct Gemm {
  static constexpr int kRow = kNr * kGates;
  static constexpr int kTileVectors = kRow / kWidth;

  // One pass: vectors [first, first + kVectors) of each of kTiles tiles, for kMr rows.
  template <int kMr, int kTiles, int kVectors>
  static RNNPACK_INLINE void pass(const GemmArgs *args, uint32_t row, uint32_t tile, int first) {
    constexpr int kBlock = kTiles * kVectors;
    F acc[kMr][kBlock];
    RNNPACK_UNROLL
    for (int n = 0; n < kBlock; ++n) {
      const size_t column = (size_t{tile} + n / kVectors) * kRow + (first + n % kVectors) * kWidth;
      const F start = args->bias != nullptr ? Vec::load(args->bias + column) : Vec::set1(0.0f);
      RNNPACK_UNROLL
      for (int m = 0; m < kMr; ++m) acc[m][n] = start;
    }
    const size_t tile_elems = size_t{args->k} * kRow;
    accumulate<kMr, kTiles, kVectors, kRow>(acc, rows_at<kMr>(offset_bytes(args->a, row * args->a_row_bytes), args->a_row_bytes),
                                            args->panels + tile * tile_elems + first * kWidth, tile_elems, args->k);
    RNNPACK_UNROLL
    for (int n = 0; n < kBlock; ++n) {
      const size_t column = size_t{tile + n / kVectors} * kRow + (first + n % kVectors) * kWidth;
      float *out = offset_bytes(args->out, row * args->out_row_bytes) + column;
      RNNPACK_UNROLL
      for (int m = 0; m < kMr; ++m) store(args, offset_bytes(out, m * args->out_row_bytes), column, acc[m][n]);
    }
  }

  static RNNPACK_INLINE void store(const GemmArgs *args, float *out, size_t column, F value) {
    if (kGates != 1 || args->units == 0 || column + kWidth <= args->units) {
      Vec::store(out, value);
    } else if (column < args->units) {
      Vec::store_first(out, value, args->units - column);
    }
  }

  template <int kMr, int kTiles>
  static RNNPACK_NOINLINE void block(const GemmArgs *args, uint32_t row, uint32_t tile) {
    constexpr int kVectors = kTiles == 1 ? pass_vectors(kMr, kTileVectors) : kTileVectors;
    RNNPACK_NO_UNROLL
    for (int first = 0; first < kTileVectors; first += kVectors) pass<kMr, kTiles, kVectors>(args, row, tile, first);
  }

  // The widest block that `count` tiles fill; returns its tiles.
  template <int kMr, int kTiles>
  static RNNPACK_INLINE uint32_t widest(const GemmArgs *args, uint32_t row, uint32_t tile, uint32_t count) {
    if constexpr (kTiles > 1) {
      if (count < kTiles) return widest<kMr, fewer_tiles(kMr, kTiles)>(args, row, tile, count);
    }
    block<kMr, kTiles>(args, row, tile);
    return kTiles;
  }

  // All of `count` tiles for kMr rows.
  template <int kMr>
  static RNNPACK_INLINE void group(const GemmArgs *args, uint32_t row, uint32_t tile, uint32_t count) {
    constexpr int kTiles = block_tiles(kMr, kTileVectors);
    for (uint32_t left = count; left != 0;) {
      const uint32_t done = widest<kMr, kTiles>(args, row, tile, every_count(kMr) ? even_share(left, kTiles) : left);
      tile += done;
      left -= done;
    }
  }

  static constexpr uint32_t kMaxMr = block_rows(kTileVectors);

  static RNNPACK_INLINE void any_rows(const GemmArgs *args, uint32_t row, uint32_t tile, uint32_t count, uint32_t mr) {
    switch (mr) {
      case 1:
        return group<1>(args, row, tile, count);
      case 2:
        return group<2>(args, row, tile, count);
      case 3:
        return group<3>(args, row, tile, count);
      case 4:
        return group<4>(args, row, tile, count);
      case 5:
        return group < kMaxMr >= 5 ? 5 : 1 > (args, row, tile, count);
      case 6:
        return group < kMaxMr >= 6 ? 6 : 1 > (args, row, tile, count);
      case 7:
        return group < kMaxMr >= 7 ? 7 : 1 > (args, row, tile, count);
      default:
        return group < kMaxMr >= 8 ? 8 : 1 > (args, row, tile, count);
    }
  }

  // Rows whose share of A is about 256 KiB stay in L2 while all tiles pass over them.
  static RNNPACK_INLINE uint32_t chunk_rows(uint32_t k) {
    const uint32_t rows = 256u * 1024u / 4u / (k == 0 ? 1 : k);
    return rows < 4 * kMaxMr ? 4 * kMaxMr : rows / kMaxMr * kMaxMr;
  }

  // Tiles whose panels stay in L2 beside those rows while all row blocks pass.
  static RNNPACK_INLINE uint32_t group_tiles(uint32_t k) {
    uint32_t tiles = block_tiles(1, kTileVectors);
    while (tiles > 1 && size_t{tiles} * k * (kRow * sizeof(float)) > 256u * 1024u) --tiles;
    return tiles;
  }

  // Within a chunk all row blocks pass over a group of tiles before the next group.
  static void run(const GemmArgs *args) {
    const uint32_t most = group_tiles(args->k);
    const uint32_t chunk = chunk_rows(args->k);
    for (uint32_t from = 0; from < args->rows;) {
      const uint32_t to = from + even_share(args->rows - from, chunk);
      for (uint32_t tile = args->tile_begin; tile < args->tile_end;) {
        const uint32_t count = even_share(args->tile_end - tile, most);
        for (uint32_t row = from; row < to;) {
          const uint32_t mr = even_share(to - row, kMaxMr);
          any_rows(args, row, tile, count, mr);
          row += mr;
        }
        tile += count;
      }
      from = to;
    }
  }
};

template <int kNr>
void gemm_run(const GemmArgs *args) {
  switch (args->gates) {
    case 1:
      return Gemm<kNr, 1>::run(args);
    case 3:
      return Gemm<kNr, 3>::run(args);
    default:
      return Gemm<kNr, 4>::run(args);
  }
}

}  // namespace
}  // namespace rnnp
#endif  // RNNPACK_KERNELS_GEMM_BODY_H_
