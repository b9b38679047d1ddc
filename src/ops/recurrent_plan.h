// recurrent_plan.h -- how one recurrent layer is cut up: tiles, owners, steps per input GEMM, bytes. Pure arithmetic.
// The same numbers drive the session, `rnnpack inspect --plan` and the planner's test table.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_RECURRENT_PLAN_H_
#define RNNPACK_OPS_RECURRENT_PLAN_H_

#include <stddef.h>
#include <stdint.h>

#include "format/recurrent_panels.h"
#include "ops/node_costs.h"

namespace rnnp {

struct RecurrentShape {
  Cell cell;
  uint32_t input_size, hidden_size;
  PanelFormat w, r;  // of panels
  uint32_t directions;
};

// What a layer is run by.
struct RecurrentCut {
  uint32_t tiles;
  uint32_t chunk_steps;  // steps per input GEMM
  size_t preact_bytes;   // pre-activations of one chunk; 0 where the step takes its input itself
  size_t gate_bytes;     // kGru: z, and again r*h, of one step; kGruLinear, not fused: gate h's h * R; kLstmNorm: c,
                         // and all of h * R; else 0
  size_t factor_bytes;   // what a thread's products quantise their rows in
  size_t team_bytes;     // scratch of one team: preact, gates, factors
  uint8_t teams;         // 2: the directions run side by side, each on its half of the threads
  uint8_t serpentine;    // 1: odd steps sweep the tiles backwards: what the last step left in L1, and in L2, is used again
  bool fused;            // the recurrent kernels multiply by R
  bool takes_input;      // and by W, in single steps
};

struct RecurrentPlan : RecurrentCut {
  uint32_t gates;
  uint32_t team_threads;            // threads of the smallest team
  uint32_t prefetch_r, prefetch_w;  // 1: a thread's share of R, of W, lies beyond L2
  size_t row_bytes;                 // of pre-activations, per (step, row)
  size_t recurrent_bytes;           // R of one direction
  size_t scratch_bytes;             // all of the layer's scratch
};

constexpr uint32_t cell_gates(Cell cell) {
  return has_c(cell) ? 4 : cell == Cell::kRnn ? 1 : 3;
}

// Steps per input GEMM for rows of `row_bytes` pre-activations and weights of `weight_bytes`; 1 when L2 is unknown (0).
uint32_t choose_chunk_steps(size_t row_bytes, size_t weight_bytes, uint32_t batch, uint32_t l2_bytes);

// Pre-activations of a step of a row, whatever the cell.
constexpr size_t widest_row_bytes(uint32_t hidden_size) {
  return size_t{hidden_size} * cell_gates(Cell::kLstm) * sizeof(float);
}

// kGru's candidate needs all of r*h, kLstmNorm's norms all of the gates, then all of c.
constexpr uint32_t syncs_per_step(Cell cell) {
  return cell == Cell::kGru ? 2 : cell == Cell::kLstmNorm ? 3 : 1;
}

// Multiply-accumulates of a layer's recurrence, per row, from one barrier of its threads to the next.
uint64_t macs_per_sync(Cell cell, uint32_t hidden_size, uint32_t directions);

// Meeting once per step costs a thread about as much as this work.
constexpr uint64_t kFewestMacsPerThread = 6000;
// Starting a team, once per call, as much as this.
constexpr uint64_t kFewestMacsPerCall = 50000;

// As many of the executor's threads as have kFewestMacsPerThread each, of `macs` multiply-accumulates between two barriers times
// `batch` rows; at least one.
uint32_t choose_threads(uint64_t macs, uint32_t batch, uint32_t available);

// Fewest steps of one call for which starting the threads pays, when a step is `macs` multiply-accumulates in all.
uint32_t choose_parallel_steps(uint64_t macs, uint32_t batch);

// Whether weights that a thread reads again and again come from beyond its L2; what else is used needs some of it.
bool is_far(size_t bytes, uint32_t l2_bytes);

RecurrentPlan plan_recurrent(const RecurrentShape &shape, const PlanLimits &limits);

}  // namespace rnnp
#endif  // RNNPACK_OPS_RECURRENT_PLAN_H_
