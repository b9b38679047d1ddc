// gemm_body.h -- many rows against panels: out[m][tile][g][n] = bias + sum over k of a[m][k] * panel[tile][k][g][n].
// Room: kernels; included once by gemm_<isa>.cpp. Reads a, panels, bias; writes out, masked at the last tile of a dense row.
// Contract: kernels.h, GemmArgs.
// Why so: rows go in chunks that stay in L2 while tiles pass; within a chunk a panel stays in L1 or L2 while row blocks pass.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_GEMM_BODY_H_
#define RNNPACK_KERNELS_GEMM_BODY_H_

#include "kernels/gemm_few_body.h"
#include "kernels/kernels.h"
#include "kernels/panel_body.h"

namespace rnnp {
namespace {

alignas(64) constexpr float kZeros[64] = {};

template <int kTileVectors>
struct Gemm {
  static constexpr uint32_t kMaxMr = block_rows(kTileVectors), kRow = kTileVectors * kWidth;
  const GemmArgs *args;
  const BlockLayout &layout;
  Ahead ahead;
  BlockArgs b;

  // What all blocks have in common.
  RNNPACK_INLINE void prepare() {
    b.start_row_bytes = 0;
    b.start_tile = args->bias != nullptr ? kRow : 0;
    b.last_start = nullptr;
    b.a_row_bytes = args->a_row_bytes;
    b.panel_tile = size_t{args->k} * kRow;
    b.panel_k = kRow;
    b.k = args->k;
    b.out_row_bytes = args->out_row_bytes;
    b.out_tile = kRow;
  }

  // All of `count` tiles for some rows that one block can take.
  RNNPACK_INLINE void group(uint32_t row, uint32_t tile, uint32_t count, uint32_t rows) {
    const float *a = offset_bytes(args->a, row * args->a_row_bytes);
    while (count != 0) {
      const uint32_t tiles = next_tiles(layout, rows, count);
      const size_t column = size_t{tile} * kRow;
      b.start = args->bias != nullptr ? args->bias + column : kZeros;
      b.a = a;
      b.panel = args->panels + tile * b.panel_tile;
      b.out = offset_bytes(args->out, row * args->out_row_bytes) + column;
      b.columns = args->units != 0 ? args->units - column : kAllColumns;
      run_block(layout, rows, tiles, &b, &ahead);
      tile += tiles;
      count -= tiles;
    }
  }

  // Rows whose share of A is about 256 KiB stay in L2 while all tiles pass over them.
  RNNPACK_INLINE uint32_t chunk_rows() const {
    const uint32_t rows = 256u * 1024u / 4u / (args->k == 0 ? 1 : args->k);
    return rows < 4 * kMaxMr ? 4 * kMaxMr : rows / kMaxMr * kMaxMr;
  }

  // Tiles whose panels stay in L2 beside those rows while all row blocks pass.
  RNNPACK_INLINE uint32_t group_tiles() const {
    uint32_t tiles = block_tiles(1, kTileVectors);
    while (tiles > 1 && size_t{tiles} * args->k * (kRow * sizeof(float)) > 256u * 1024u) --tiles;
    return tiles;
  }

  // Within a chunk all row blocks pass over a group of tiles before the next group.
  void run(uint32_t done) {
    prepare();
    const size_t panel_bytes = size_t{args->k} * kRow * sizeof(float);
    const uint32_t most = group_tiles(), chunk = chunk_rows();
    for (uint32_t from = done; from < args->rows;) {
      const uint32_t to = from + even_share(args->rows - from, chunk);
      for (uint32_t tile = args->tile_begin; tile < args->tile_end;) {
        const uint32_t count = even_share(args->tile_end - tile, most);
        const uint32_t next = args->tile_end - tile - count;
        ahead.at = offset_bytes(args->panels, (tile + count) * panel_bytes);
        ahead.bytes = args->far ? (next < count ? next : count) * panel_bytes : 0;
        for (uint32_t row = from; row < to;) {
          const uint32_t rows = even_share(to - row, kMaxMr);
          group(row, tile, count, rows);
          row += rows;
        }
        tile += count;
      }
      from = to;
    }
  }
};

template <template <int> class Blocks, int kGates, int kNr>
void gemm_run(const GemmArgs *args) {
  Gemm<kGates *kNr / kWidth> gemm = {args, Blocks<kGates>::layout, {}, {}};
  uint32_t done = 0;
  if constexpr (kGates == 1 && Vec::kColumns) {
    if (args->units - 1 < kFewUnits && args->tile_end == 1) done = few_units<kNr, Vec>(args);
  }
  gemm.run(done);
}

}  // namespace
}  // namespace rnnp
#endif  // RNNPACK_KERNELS_GEMM_BODY_H_
