// sweep_tiles.h -- the product of a step with a matrix of R, for layers whose cells do not multiply: over the tiles in the
// direction in which the step sweeps them. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_SWEEP_TILES_H_
#define RNNPACK_OPS_SWEEP_TILES_H_

#include "ops/panel_product.h"
#include "ops/recurrent_plan.h"

namespace rnnp {

// A gemm takes tiles upwards: a sweep downwards goes in pieces.
inline void sweep_tiles(GemmFn gemm, GemmArgs *g, uint32_t piece, const RecurArgs &a) {
  if (!a.descending || a.rows > kQuantisedRows) return gemm(g);
  const uint32_t begin = g->tile_begin, end = g->tile_end;
  while (g->tile_end != begin) {
    const uint32_t left = g->tile_end - begin;
    g->tile_begin = g->tile_end - (left < piece ? left : piece);
    const uint32_t below = g->tile_begin - begin;
    g->w.tiles_below = static_cast<uint8_t>(below < piece ? below : piece);
    gemm(g);
    g->tile_end = g->tile_begin;
    g->prepared = true;
  }
  g->tile_end = end;
}

// Pieces so small that what the step before left in L2 is met before it is gone; of as many vectors as hide the latency of a
// multiply-add, however large those are.
inline uint32_t tiles_of_a_piece(const RecurrentPlan &plan, uint32_t nr, uint32_t gates, uint32_t l2_bytes) {
  constexpr uint32_t kUnits = 128;
  const size_t panel_bytes = plan.recurrent_bytes / (plan.tiles * plan.gates) + 1;
  const uint32_t fit = static_cast<uint32_t>(l2_bytes / 16 / panel_bytes), chains = kUnits / nr;
  const uint32_t panels = fit < chains ? chains : fit;
  return panels < gates ? 1 : panels / gates;
}

// h, or r*h, times a matrix of R, onto pre-activations.
inline GemmArgs product_with(const Matrix &matrix, const RecurrentPlan &plan, uint32_t nr, const RecurArgs &a) {
  GemmArgs g;
  set_product(&g, matrix);
  g.a_row_bytes = a.state_row_bytes;
  g.start_row_bytes = g.out_row_bytes = plan.row_bytes;
  g.start_tile = g.out_tile = static_cast<uint8_t>(plan.gates * nr);
  g.tile_end = plan.tiles;
  g.w.prefetch_next_tile = plan.prefetch_r != 0;
  return g;
}

}  // namespace rnnp
#endif  // RNNPACK_OPS_SWEEP_TILES_H_
