// resident_nibbles.h -- the resident recurrence on weights of int4: as resident_mma.h, but a warp has whole row tiles and all of
// their k, for a row's groups are added in a chain (products_nibbles.h). Weights stay in registers and shared memory as they are
// stored, scales in shared memory. kTiles: row tiles of a warp; kHeld: their k-tiles that live in registers.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_KERNELS_RESIDENT_NIBBLES_H_
#define RNNPACK_CUDA_KERNELS_RESIDENT_NIBBLES_H_

#include "cuda/kernels/resident_units.h"

namespace rnnp {
namespace cuda {

// What a warp has of the matrix. rest: k-tiles beyond those held, [tile][k-tile]; scales alike, of all k-tiles.
template <int kTiles, int kHeld>
struct NibbleRows {
  Bits2 held[kHeld][kTiles];
  const uint8_t *rest;
  const float *scales;
  uint32_t tiles, k_tiles;  // tiles: of the warp's, those that there are
};

template <int kTiles, int kHeld>
SIMT_FN void hold_nibbles(const RecurrentArgs &a, const ResidentBlock &b, const Shape &s, uint8_t *rest, float *scales,
                          NibbleRows<kTiles, kHeld> *rows) {
  const uint32_t all = k_tiles(s), behind = all > kHeld ? all - kHeld : 0;
  const uint8_t *image = a.r + size_t{b.block} * nibble_image_bytes(s);
  rows->rest = rest, rows->scales = scales, rows->k_tiles = all, rows->tiles = 0;
  SIMT_UNROLL for (uint32_t m = 0; m < kTiles; ++m) {
    const uint32_t tile = b.warp + m * kWarps;
    const bool there = tile < row_tiles(s);
    const uint8_t *from = image + nibble_tile(s, there ? tile : 0, 0);
    if (there) ++rows->tiles;
    SIMT_UNROLL for (uint32_t i = 0; i < kHeld; ++i) {
      Bits2 v = {0, 0};
      if (there && i < all) v = *reinterpret_cast<const Bits2 *>(from + i * kNibbleTile + b.lane * 8);
      rows->held[i][m] = v;
    }
    copy_pieces(reinterpret_cast<Bits2 *>(rest + m * behind * kNibbleWords) + b.lane, kNibbleWords / 8,
                reinterpret_cast<const Bits2 *>(from + kHeld * kNibbleTile) + b.lane, kNibbleTile / 8, there ? behind : 0);
    SIMT_UNROLLED_BY_8 for (uint32_t i = b.lane; i < (there ? all * 16 : 0); i += kLanes) {
      const uint8_t *scale = from + i / 16 * kNibbleTile + kNibbleWords;
      scales[m * all * 16 + i] = reinterpret_cast<const float *>(scale)[i % 16];
    }
  }
}

// The warp's rows times the columns in shared memory.
template <int kTiles, int kHeld>
SIMT_FN void multiply_rows_of_nibbles(NibbleRows<kTiles, kHeld> *rows, const uint32_t *words, bool column, uint32_t of_group,
                                      uint32_t lane, NibbleSums sums[kTiles]) {
  const uint32_t all = rows->k_tiles, behind = all > kHeld ? all - kHeld : 0;
  uint32_t left = of_group;
  const auto end_groups = [&](uint32_t i) {
    if (--left != 0 && i + 1 != all) return;
    left = of_group;
    SIMT_UNROLL for (uint32_t m = 0; m < kTiles; ++m) NibbleSums::end_group(&sums[m], rows->scales + (m * all + i) * 16, lane);
  };
  SIMT_UNROLL for (uint32_t m = 0; m < kTiles; ++m) NibbleSums::clear(&sums[m]);
  SIMT_UNROLL for (uint32_t i = 0; i < kHeld; ++i) {
    if (i >= all) break;
    uint32_t b[2];
    load_nibble_column(words, column, i, b);
    SIMT_UNROLL for (uint32_t m = 0; m < kTiles; ++m) {
      simt::renew(&rows->held[i][m].x);
      simt::renew(&rows->held[i][m].y);
      NibbleSums::multiply(&sums[m], rows->held[i][m], b);
    }
    end_groups(i);
  }
  SIMT_ROLLED for (uint32_t i = kHeld; i < all; ++i) {
    uint32_t b[2];
    load_nibble_column(words, column, i, b);
    SIMT_UNROLL for (uint32_t m = 0; m < kTiles; ++m) {
      const uint8_t *from = rows->rest + (m * behind + i - kHeld) * kNibbleWords + lane * 8;
      NibbleSums::multiply(&sums[m], *reinterpret_cast<const Bits2 *>(from), b);
    }
    end_groups(i);
  }
}

template <Cell kCell, int kTiles, int kHeld>
SIMT_KERNEL(256)
resident_nibbles(const RecurrentArgs a) {
  constexpr Weights kWeights = Weights::kI4;
  constexpr uint32_t G = gates_of(kCell), kPasses = kCell == Cell::kGru ? 2 : 1;
  constexpr uint32_t kUnitsPerWarp = units_of_cells<kWeights, kCell>();
  const Shape s = in_halves(kWeights, {G, a.hidden, a.units});
  const NibblesShared at = resident_nibbles_shared(s, a.batch, a.columns, kTiles, kHeld);
  constexpr Spare kSpare = spare_beside(2 * kTiles * kHeld);
  const ResidentBlock b = place_block<kWeights, kSpare>(a, simt::block(), at.input, at.c, at.h, at.z, column_stride(s.k) / 2);
  const uint32_t groups = ceil_div(a.units, kUnitsPerWarp), stride = partial_stride(s), of_group = a.r_bytes.group_k / kNibbleTileK;
  float *sums = reinterpret_cast<float *>(simt::shared() + at.sums);
  uint16_t *input = reinterpret_cast<uint16_t *>(b.input);
  const uint32_t *words = nibble_columns(input, s.k, b.lane);

  const uint32_t of_warp = (at.bytes - at.weights) / kWarps, scales_of_warp = (at.weights - at.scales) / kWarps;
  NibbleRows<kTiles, kHeld> rows;
  hold_nibbles(a, b, s, simt::shared() + at.weights + b.warp * of_warp,
               reinterpret_cast<float *>(simt::shared() + at.scales + b.warp * scales_of_warp), &rows);
  load_units<kCell>(a, b.block, b.h, b.c);
  uint32_t base;
  if (!begin_epochs(a, all_blocks(), &base)) return time_out(a);
  simt::sync_block();  // the units' states are there

  ResidentStep now = {base, 0, 0, 0, 0, 0};
  CellLane cells = {};
  PhaseClock clock;
  PhaseClock::begin(&clock);
  for (; now.t < a.steps; next_columns(a, &now)) {
    begin_columns(a, &now);
    SIMT_ROLLED for (now.pass = 0; now.pass < kPasses; ++now.pass) {
      const KnownCell known = ask_for_cells<kWeights, kCell, false, kSpare>(a, b, now, groups, &cells);
      PhaseClock::end(&clock, kAsk);
      bool failed = false;
      if (now.t != 0 || now.pass != 0) {
        failed = !receive<kWeights>(a, b, now);
      } else {
        load_columns<kWeights>(input, nullptr, a.r_bytes.factor, a.hidden, now.live,
                               [&](uint32_t n) { return a.h + state_place(a, now.first + n); });
        simt::reads_are_told(a.words);
      }
      PhaseClock::end(&clock, kPoll);
      if (sync_after_poll(failed)) return time_out(a);
      PhaseClock::end(&clock, kBarrier);

      NibbleSums sum[kTiles];
      multiply_rows_of_nibbles(&rows, words, b.lane / 4 < now.live, of_group, b.lane, sum);
      SIMT_UNROLL for (uint32_t m = 0; m < kTiles; ++m) {
        if (m < rows.tiles) store_sums<1>(&sum[m].total, sums, b.warp + m * kWarps, stride, 1, now.live, 0, b.lane);
      }
      PhaseClock::end(&clock, kProducts);
      simt::sync_block();  // all rows are there
      finish_units<kWeights, kCell, false, kSpare>(a, b, now, groups, cells, known, &clock,
                                                   [&](uint32_t column, uint32_t row) { return sums[column * stride + row]; });
      PhaseClock::end(&clock, kStore);
    }
  }
  PhaseClock::store(clock);
  simt::sync_block();
  store_units<kCell>(a, b.block, b.h, b.c);
  end_epochs(a, all_blocks(), base);
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_KERNELS_RESIDENT_NIBBLES_H_
