// recurrent_unfused_step.cpp -- the fast path of a recurrent layer whose h * R is a product of its own. Touches what
// recurrent_step.cpp does, and the rows that products quantise. SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent_unfused_step.h"

#include "ops/recurrent_step.h"

namespace rnnp {

void multiply_tiles(const SplitStep &split, const GemmArgs &g, bool descending) {
  if (!descending || g.rows > kQuantisedRows) return split.gemm(&g);
  const uint32_t most = split.back_panels < g.gates ? 1 : split.back_panels / g.gates;
  GemmArgs piece = g;
  while (piece.tile_end != g.tile_begin) {
    const uint32_t left = piece.tile_end - g.tile_begin;
    piece.tile_begin = piece.tile_end - (left < most ? left : most);
    split.gemm(&piece);
    piece.tile_end = piece.tile_begin;
    piece.prepared = true;
  }
}

namespace {

// Products before the cells.
void run_split_step(void *object) {
  Recurrent &layer = *static_cast<Recurrent *>(object);
  Direction &d = layer.direction[0];
  SplitStep &split = *d.split;
  d.gemm.a = static_cast<const float *>(layer.single.x->data);
  layer.gemm(&d.gemm);
  const uint32_t live = begin_step(layer, &d.args);
  split.r.a = d.args.h_prev;
  const bool back = d.args.descending != 0;
  if (layer.cell == Cell::kGruLinear) {
    split.candidate.a = d.args.h_prev;
    GemmArgs *const products[] = {&split.r, &split.candidate};
    products[back]->prepared = false;
    products[!back]->prepared = split.alike && split.r.rows <= kQuantisedRows;
    multiply_tiles(split, *products[back], back);
    multiply_tiles(split, *products[!back], back);
  } else {
    multiply_tiles(split, split.r, back);
  }
  d.recur(&d.args);
  if (layer.cell == Cell::kGru) {
    multiply_tiles(split, split.candidate, back);
    d.output(&d.args);
  }
  layer.single.h->live = live;
}

}  // namespace

StepFn finish_split(FinishEnv *env, const BlobNode &node, void *object) {
  Recurrent &layer = *static_cast<Recurrent *>(object);
  if (!prepare_step(env, node, &layer)) return nullptr;
  Direction &d = layer.direction[0];
  SplitStep &split = *d.split;
  void *factors = place_scratch(layer, env->scratch, env->max_batch, &d);
  float *preact = d.gemm.out;
  place_product(layer, factors, env->max_batch, &split.r);
  split.r.start = split.r.out = preact;
  place_product(layer, factors, env->max_batch, &split.candidate);
  if (layer.cell == Cell::kGru) {
    split.candidate.a = d.args.rh;
    split.candidate.start = split.candidate.out = preact + 2 * layer.nr;
  } else if (layer.cell == Cell::kGruLinear) {
    split.candidate.out = d.args.z;
    d.args.r_bias = d.args.z;
    d.args.r_bias_row_bytes = d.args.state_row_bytes;
  }
  return run_split_step;
}

}  // namespace rnnp
