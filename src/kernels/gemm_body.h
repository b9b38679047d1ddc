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
      const float *bias = args->bias + size_t{tile + n / kVectors} * kRow + (first + n % kVectors) * kWidth;
      const F start = args->bias ? Vec::load(bias) : Vec::set1(0.0f);
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

  // As many tiles as fit in registers, at most `left`; returns how many were done.
  template <int kMr, int kTiles>
  static RNNPACK_INLINE uint32_t tiles(const GemmArgs *args, uint32_t row, uint32_t tile, uint32_t left) {
    if constexpr (kTiles > 1) {
      if (left < kTiles) return tiles<kMr, kTiles / 2>(args, row, tile, left);
    }
    block<kMr, kTiles>(args, row, tile);
    return kTiles;
  }

  template <int kMr>
  static RNNPACK_INLINE uint32_t group(const GemmArgs *args, uint32_t row, uint32_t tile) {
    return tiles<kMr, block_tiles(kMr, kTileVectors)>(args, row, tile, args->tile_end - tile);
  }

  static constexpr uint32_t kMaxMr = block_rows(kTileVectors);

  // Blocks of nearly equal height, so that no block is left with a row or two.
  static RNNPACK_INLINE uint32_t rows_of_block(uint32_t left) {
    const uint32_t blocks = (left + kMaxMr - 1) / kMaxMr;
    return (left + blocks - 1) / blocks;
  }

  static RNNPACK_INLINE uint32_t any_rows(const GemmArgs *args, uint32_t row, uint32_t tile, uint32_t mr) {
    switch (mr) {
      case 1:
        return group<1>(args, row, tile);
      case 2:
        return group<2>(args, row, tile);
      case 3:
        return group<3>(args, row, tile);
      case 4:
        return group<4>(args, row, tile);
      case 5:
        return group<5>(args, row, tile);
      case 6:
        return group<6>(args, row, tile);
      case 7:
        return group < kMaxMr >= 7 ? 7 : 1 > (args, row, tile);
      default:
        return group < kMaxMr >= 8 ? 8 : 1 > (args, row, tile);
    }
  }

  // Rows whose share of A is about 256 KiB stay in L2 while all tiles pass over them.
  static RNNPACK_INLINE uint32_t chunk_rows(uint32_t k) {
    const uint32_t rows = 256u * 1024u / 4u / (k == 0 ? 1 : k);
    return rows < 4 * kMaxMr ? 4 * kMaxMr : rows / kMaxMr * kMaxMr;
  }

  static void run(const GemmArgs *args) {
    const uint32_t chunk = chunk_rows(args->k);
    for (uint32_t from = 0; from < args->rows;) {
      const uint32_t left = args->rows - from;
      const uint32_t to = from + (left < chunk ? left : chunk);
      // The last group of a chunk may take fewer tiles; all row blocks of a group take the same ones.
      for (uint32_t tile = args->tile_begin; tile < args->tile_end;) {
        const uint32_t group_end = tile + group_tiles(args->tile_end - tile);
        for (uint32_t row = from; row < to;) {
          const uint32_t mr = rows_of_block(to - row);
          for (uint32_t t = tile; t < group_end;) t += any_rows(args, row, t, mr);
          row += mr;
        }
        tile = group_end;
      }
      from = to;
    }
  }

  // Tiles that pass together over the rows: the widest block there is, so that narrower ones fit in evenly.
  static RNNPACK_INLINE uint32_t group_tiles(uint32_t left) {
    constexpr uint32_t kWidest = block_tiles(1, kTileVectors);
    return left < kWidest ? left : kWidest;
  }
};

template <int kNr>
void gemm_run(const GemmArgs *args) {
  switch (args->gates) {
    case 1:
      return Gemm<kNr, 1>::run(args);
    case 2:
      return Gemm<kNr, 2>::run(args);
    case 3:
      return Gemm<kNr, 3>::run(args);
    default:
      return Gemm<kNr, 4>::run(args);
  }
}

}  // namespace
}  // namespace rnnp
#endif  // RNNPACK_KERNELS_GEMM_BODY_H_
