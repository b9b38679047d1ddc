// recurrent_step.cpp -- the fast path of a recurrent layer: one step of all rows on the caller's thread, every argument but x, y,
// h and the sweep set beforehand. Touches its object, its states, its outputs and, for kGru, the scratch. Why so: at small sizes a
// step takes less time than finding out what it is about. SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent_step.h"

namespace rnnp {
namespace {

void run_step(void *object) {
  Recurrent &layer = *static_cast<Recurrent *>(object);
  Direction &d = layer.direction[0];
  const uint32_t live = begin_step(layer, &d.args);
  d.args.x = static_cast<const float *>(layer.single.x->data);
  d.recur(&d.args);
  layer.single.h->live = live;
}

// kGru takes its input from preact, and its candidate needs all of r*h.
void run_gru_step(void *object) {
  Recurrent &layer = *static_cast<Recurrent *>(object);
  Direction &d = layer.direction[0];
  d.gemm.a = static_cast<const float *>(layer.single.x->data);
  layer.gemm(&d.gemm);
  const uint32_t live = begin_step(layer, &d.args);
  d.recur(&d.args);
  const float *gates_r = d.args.r;
  d.args.r = d.output_r;
  d.output(&d.args);
  d.args.r = gates_r;
  layer.single.h->live = live;
}

// Forward, one direction, no optional input or final state.
bool is_plain(const Model &m, const BlobNode &node, const Recurrent &layer) {
  for (uint32_t i = 1; i < node.input_count; ++i) {
    if (m.node_input(node, i) != kNone) return false;
  }
  for (uint32_t i = 1; i < node.output_count; ++i) {
    if (m.node_output(node, i) != kNone) return false;
  }
  return layer.direction_count == 1 && m.node_output(node, 0) != kNone;
}

}  // namespace

void place_product(const Recurrent &layer, void *factors, uint32_t rows, GemmArgs *g) {
  g->rows = rows;
  g->tile_begin = 0;
  g->tile_end = layer.plan.tiles;
  g->scratch = factors;
}

void *place_scratch(const Recurrent &layer, void *scratch, uint32_t rows, Direction *d) {
  uint8_t *at = static_cast<uint8_t *>(scratch), *factors = at + layer.plan.preact_bytes + 2 * layer.plan.gate_bytes;
  d->args.preact = d->gemm.out = view_as<float>(at);
  d->args.z = view_as<float>(at + layer.plan.preact_bytes);
  d->args.rh = view_as<float>(at + layer.plan.preact_bytes + layer.plan.gate_bytes);
  d->gemm.a_row_bytes = layer.single.x->row_bytes;
  place_product(layer, factors, rows, &d->gemm);
  return factors;
}

bool prepare_step(FinishEnv *env, const BlobNode &node, Recurrent *layer) {
  const Model &m = *env->model;
  Direction &d = layer->direction[0];
  if (env->threads != 1 || !is_plain(m, node, *layer)) return false;
  layer->single = {&env->states[d.state_h], &env->values[m.node_input(node, 0)], &env->values[m.node_output(node, 0)]};
  d.args.x_row_bytes = layer->single.x->row_bytes;
  d.args.y_row_bytes = layer->single.y->row_bytes;
  d.args.c = d.state_c != kNone ? env->states[d.state_c].buffer[0] : nullptr;
  d.args.rows = env->max_batch;
  d.args.tile_begin = 0;
  d.args.tile_end = layer->plan.tiles;
  return true;
}

StepFn finish_recurrent(FinishEnv *env, const BlobNode &node, void *object) {
  Recurrent &layer = *static_cast<Recurrent *>(object);
  if (!prepare_step(env, node, &layer)) return nullptr;
  if (layer.plan.takes_input) return run_step;
  if (layer.cell != Cell::kGru) return nullptr;
  place_scratch(layer, env->scratch, env->max_batch, &layer.direction[0]);
  return run_gru_step;
}

}  // namespace rnnp
