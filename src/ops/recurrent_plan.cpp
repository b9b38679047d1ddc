// recurrent_plan.cpp -- see recurrent_plan.h.
// SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent_plan.h"

#include "base/arena.h"
#include "ops/panel_product.h"
#include "pack/layout.h"

namespace rnnp {

// Keeps rows of power-of-two width off one another's cache sets; a handful of short ones fit in any case.
constexpr size_t kRowPadBytes = 64, kPaddedRowBytes = 1024;

// The input GEMM wants many rows per reading of a W that is not in L2, and each one costs a refill of the L2 it sweeps out.
// Pre-activations are read once, in order, so they need not stay in L2: two of it bound the memory. Weights of many L2s come from
// so far that twice of both pays. Where the weights stay in L2 more rows only spread what a chunk costs by itself, so half of a
// small L1 of them is enough.
constexpr uint32_t kChunkRows = 128, kFewestChunkRows = 32;
constexpr size_t kFarL2s = 4, kChunkL2s = 2, kNearChunkBytes = 16 << 10;

static uint32_t chunk_rows_wanted(size_t row_bytes, size_t weight_bytes, uint32_t l2_bytes) {
  const size_t near = kNearChunkBytes / row_bytes;
  if (weight_bytes > l2_bytes || near > kChunkRows) return kChunkRows;
  return near > kFewestChunkRows ? static_cast<uint32_t>(near) : kFewestChunkRows;
}

uint32_t choose_chunk_steps(size_t row_bytes, size_t weight_bytes, uint32_t batch, uint32_t l2_bytes) {
  const size_t step_bytes = mul_sat(row_bytes, batch);
  if (step_bytes == 0 || step_bytes == kSizeOverflow) return 1;
  const uint32_t times = weight_bytes / kFarL2s > l2_bytes ? 2 : 1;
  const size_t fit = mul_sat(l2_bytes, times * kChunkL2s) / step_bytes;
  const uint32_t wanted = (times * chunk_rows_wanted(row_bytes, weight_bytes, l2_bytes) + batch - 1) / batch;
  return fit < 1 ? 1 : fit < wanted ? static_cast<uint32_t>(fit) : wanted;
}

uint64_t macs_per_sync(Cell cell, uint32_t hidden_size, uint32_t directions) {
  const uint64_t macs = uint64_t{cell_gates(cell)} * hidden_size * hidden_size * directions;
  return syncs_per_step(cell) != 1 ? macs / 2 : macs;
}

uint32_t choose_threads(uint64_t macs, uint32_t batch, uint32_t available) {
  // Compared as products: small CPUs cannot divide 64 bits.
  uint32_t threads = available;
  while (threads > 1 && macs * batch < uint64_t{kFewestMacsPerThread} * threads) --threads;
  return threads;
}

uint32_t choose_parallel_steps(uint64_t macs, uint32_t batch) {
  const uint64_t step = macs > UINT32_MAX ? UINT32_MAX : macs * batch;
  if (step == 0 || step >= kFewestMacsPerCall) return 1;
  const uint32_t macs32 = static_cast<uint32_t>(step);  // below kFewestMacsPerCall
  return (static_cast<uint32_t>(kFewestMacsPerCall) + macs32 - 1) / macs32;
}

// Sweeping back uses what the last step left near. It gains nothing where all stays in L1, and it costs where much of R comes from
// memory: a last level of victims keeps less of what is read back and forth than of what is read in a round.
static bool sweeps_back(const RecurrentPlan &p, size_t w_bytes, const PlanLimits &limits) {
  if (limits.l1d_bytes == 0 || add_sat(p.recurrent_bytes, w_bytes) / p.team_threads <= limits.l1d_bytes / 2) return false;
  return !kManyThreads || limits.l3_bytes == 0 || mul_sat(p.recurrent_bytes, p.teams) <= limits.l3_bytes / 8 * 7;
}

bool is_far(size_t bytes, uint32_t l2_bytes) {
  return l2_bytes != 0 && bytes > l2_bytes / 8 * 7;
}

// One row's few inputs cost the step less than writing pre-activations and reading them again. Of a small cell more sums are
// hidden: they do not wait for the last step, and are added while it ends; a large one of one gate reads its pre-activations
// faster.
static bool takes_input_in_step(const RecurrentShape &shape, uint32_t batch) {
  if (batch != 1 || shape.cell == Cell::kGru) return false;
  if (shape.hidden_size <= 16) return shape.input_size <= 16;
  if (shape.hidden_size <= 32) return shape.input_size <= shape.hidden_size / 4;
  return shape.input_size <= 2 && shape.cell != Cell::kRnn;
}

RecurrentPlan plan_recurrent(const RecurrentShape &shape, const PlanLimits &limits) {
  RecurrentPlan p = {};
  p.gates = cell_gates(shape.cell);
  const MatrixShape w = {p.gates, shape.hidden_size, shape.input_size, shape.input_size};
  const MatrixShape r = {p.gates, shape.hidden_size, shape.hidden_size, shape.hidden_size};
  p.tiles = panel_count(shape.w, shape.hidden_size);
  p.fused = is_fused(shape.r) && shape.cell != Cell::kLstmNorm;
  p.takes_input = p.fused && is_fused(shape.w) && shape.cell != Cell::kGru;
  p.teams = kManyThreads && shape.directions == 2 && limits.threads >= 2 ? 2 : 1;
  p.team_threads = kManyThreads ? limits.threads / p.teams : 1;
  p.row_bytes = vector_bytes(shape.w, w);
  if (has_many_threads(limits.machine) && p.row_bytes >= kPaddedRowBytes) p.row_bytes = add_sat(p.row_bytes, kRowPadBytes);
  p.recurrent_bytes = panels_bytes(shape.r, r);
  const size_t w_bytes = panels_bytes(shape.w, w);
  const uint32_t chunk = limits.layer_chunk_steps ? limits.layer_chunk_steps
                                                  : choose_chunk_steps(p.row_bytes, add_sat(p.recurrent_bytes, w_bytes),
                                                                       limits.max_batch, limits.l2_bytes);
  p.chunk_steps = chunk < limits.chunk_steps ? chunk : limits.chunk_steps;
  // Steps one by one take their input inside the recurrent kernel, where it can.
  const bool buffered = !p.takes_input || (p.chunk_steps > 1 && !takes_input_in_step(shape, limits.max_batch));
  p.preact_bytes = buffered ? arena_align_up(mul_sat(mul_sat(p.row_bytes, limits.max_batch), p.chunk_steps), limits.machine) : 0;
  p.prefetch_r = is_far(p.recurrent_bytes / p.team_threads, limits.l2_bytes);
  p.serpentine = (p.fused || p.prefetch_r != 0) && sweeps_back(p, w_bytes, limits);
  p.prefetch_w = is_far(w_bytes / p.team_threads, limits.l2_bytes);
  const bool normed = shape.cell == Cell::kLstmNorm;
  const size_t gate_row = normed ? p.row_bytes : size_t{state_row_elems(shape.hidden_size)} * sizeof(float);
  const bool buffers = normed || candidate_is_apart(shape.cell, shape.r);
  p.gate_bytes = buffers ? arena_align_up(mul_sat(gate_row, limits.max_batch), limits.machine) : 0;
  const size_t rows = mul_sat(limits.max_batch, p.chunk_steps), x_factors = product_scratch_bytes(shape.w, shape.input_size, rows);
  const size_t h_factors = product_scratch_bytes(shape.r, shape.hidden_size, limits.max_batch);
  p.factor_bytes = x_factors > h_factors ? x_factors : h_factors;
  p.team_bytes = add_sat(add_sat(p.preact_bytes, mul_sat(p.gate_bytes, 2)), mul_sat(p.factor_bytes, limits.threads));
  p.scratch_bytes = mul_sat(p.team_bytes, p.teams);
  return p;
}

}  // namespace rnnp
