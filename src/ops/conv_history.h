// conv_history.h -- what a convolution reads along time: rows of this chunk, of earlier runs, or nothing (zeros).
// Earlier rows are a state: a ring of `lead` rows of x and, behind them, the place of the oldest one, a word. The place counts the
// rows that a stream has seen, modulo the ring, so a saved state does not depend on how the stream was cut.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_CONV_HISTORY_H_
#define RNNPACK_OPS_CONV_HISTORY_H_

#include "ops/window.h"

namespace rnnp {

// One channel in and out per group, weights side by side in one row: depthwise.cpp runs it.
bool is_depthwise(const Model &m, const BlobNode &node);

// Its result's channels lie one behind the other: conv_nchw.cpp runs it.
bool is_nchw(const Model &m, const BlobNode &node);

// Whose weights are the 16 points of F(2x2, 3x3), or where no planes are the 4 of F(2, 3): conv_winograd.cpp runs it.
bool has_winograd_weights(const Model &m, const BlobNode &node);

// Of any.
NodeCosts conv_costs(const Model &m, const BlobNode &node);

// Everything in the attributes but the layout of the weights: window, time taps, state, kinds of x and y, activation.
rnnp_status check_conv(const Model &m, const BlobNode &node, const AttrConv *a);

// What is_nchw asks for beside that: nothing of other steps, f32 weights of `k` for each unit.
rnnp_status check_planes(const Model &m, const AttrConv &a, uint32_t k);

// A matrix for each group, and a bias.
rnnp_status check_conv_matrix(const Model &m, const AttrConv &a);

// Taps of the whole kernel times channels of one group; at most kWindowMost after check_conv.
inline uint32_t conv_depth(const AttrConv &a) {
  return a.time_taps * a.window.kernel[0] * a.window.kernel[1] * a.in_channels;
}

inline bool reads_ahead(const AttrConv &a) {
  return int64_t{a.time_taps - 1} * a.time_dilation > a.lead;
}

// The row of x that a time tap reads at a step, nullptr for zeros, and how many steps' rows, this one's included, follow each
// other: in the ring side by side, else a step of x apart.
struct TapRows {
  const float *first;
  uint32_t steps;
  bool in_ring;
};
TapRows tap_rows(const RunEnv &env, const AttrConv &a, const ValueSlot &x, const Position &p, uint32_t tap);

inline const float *tap_row(const RunEnv &env, const AttrConv &a, const ValueSlot &x, const Position &p, uint32_t tap) {
  return tap_rows(env, a, x, p, tap).first;
}

// A ring in the state of one batch row: its rows of x, and a word behind them, the place of the oldest.
struct Ring {
  float *rows;
  float *place;
};

inline Ring ring_in(const StateSlot &state, uint32_t batch_row) {
  float *rows = state.buffer[state.live] + size_t{batch_row} * state.row_elems;
  return {rows, rows + state.elems - 1};
}

// A loaded state may hold anything.
inline uint32_t oldest_row(const AttrConv &a, const Ring &ring) {
  const uint32_t place = read_word(ring.place);
  return place < static_cast<uint32_t>(a.lead) ? place : 0;
}

// Which row of the ring is that of `age` steps before the present one, from 1 to lead.
inline uint32_t row_of_age(const AttrConv &a, uint32_t oldest, uint32_t age) {
  return oldest >= age ? oldest - age : oldest + static_cast<uint32_t>(a.lead) - age;
}

// Whether the rings of all batch rows have their oldest row in the same place.
bool rings_are_even(const RunEnv &env, const AttrConv &a);

// After the node's last reading: every thread of the team calls this, waits for the others and keeps its share of the new rows.
void keep_history(const RunEnv &env, const AttrConv &a, const ValueSlot &x, uint32_t thread);

}  // namespace rnnp
#endif  // RNNPACK_OPS_CONV_HISTORY_H_
