// resident_cluster.h -- the resident recurrence in a thread block cluster (sm_90 and later): as resident_mma.h, but h goes into the
// shared memory of every block as it is multiplied there, and each warp waits for the bytes of its own slice of k, which a counter
// there is told of: no words, no epochs, no polls of memory. A warp finishes the same 8 units of one batch row in all steps, so
// their states stay in its registers, and all weights stay in registers, too.
//
//   a step:  wait for this warp's part of h(t-1) | products | partial sums | barrier | cells | send h(t) to all blocks, write y
//
// Two slots of h suffice: h(t+1) is sent after all of h(t) has come, and a block sends h(t) after all its warps have multiplied
// h(t-1). So do two places of partial sums. Bits are those of resident_mma. Each cluster has a.columns rows of the batch for
// itself. kHalfTiles: row tiles of 8 rows, of whole groups of 8 units. kTiles: of k, of a warp, at most.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_KERNELS_RESIDENT_CLUSTER_H_
#define RNNPACK_CUDA_KERNELS_RESIDENT_CLUSTER_H_

#include "cuda/kernels/resident_mma.h"

namespace rnnp {
namespace cuda {

#if SIMT_CLUSTERS

// What a warp sends, and where: its 8 units are half of a k-tile, 16 bytes, of one column. receivers: blocks, 0 where it sends
// none.
struct HalfTile {
  bool sends;  // this lane, to the block of its number in the cluster
  simt::Remote to, counter;
};
template <uint32_t kTiles>
SIMT_FN HalfTile half_tile_of(const ClusterShared &at, uint32_t column, uint32_t unit, uint32_t receivers, uint32_t lane) {
  const uint32_t half = unit / kClusterUnits, slice = half / 2 % kWarps;
  HalfTile h = {};
  h.sends = lane < receivers;
  if (!h.sends) return h;
  h.to = simt::in_block(simt::shared() + column * column_stride(kTiles * 128) * 2 + half * 16, lane);
  h.counter = simt::in_block(simt::shared() + at.counters + slice * 8, lane);
  return h;
}
// Bytes that come into a slice of k in a step.
SIMT_FN uint32_t bytes_of_slice(uint32_t hidden, uint32_t rows, uint32_t slice) {
  const uint32_t halves = ceil_div(hidden, kClusterUnits), first = 2 * slice, left = halves > first ? halves - first : 0;
  const uint32_t rest = left % (2 * kWarps);
  return rows * 16 * (left / (2 * kWarps) * 2 + (rest < 2 ? rest : 2));
}

SIMT_FN bool wait_for_slice(const RecurrentArgs &a, uint64_t *counter, uint32_t round) {
  SIMT_ROLLED for (uint32_t tries = 0; tries < a.spin_limit; ++tries) {
    if (simt::counter_is_full(counter, round)) return true;
  }
  return false;
}

// Which rows of the batch a cluster has, and which of its blocks this one is.
struct ClusterRows {
  uint32_t first, count, block, blocks;
};
template <uint32_t kUnits>
SIMT_FN ClusterRows rows_of_cluster(const RecurrentArgs &a) {
  const uint32_t blocks = ceil_div(a.hidden, kUnits), first = simt::block() / blocks * a.columns, left = a.batch - first;
  return {first, left < a.columns ? left : a.columns, simt::block() % blocks, blocks};
}

// h before the first step to the first slot, zeros behind it and in the other slot.
template <Weights kWeights>
SIMT_FN void load_first_columns(const RecurrentArgs &a, const ClusterRows &rows, uint32_t *slots, uint32_t slot_words,
                                uint32_t column_words) {
  SIMT_ROLLED for (uint32_t i = simt::thread(); i < rows.count * column_words; i += kThreads) {
    const float *row = a.h + state_place(a, rows.first + i / column_words);
    const uint32_t unit = i % column_words * 2;
    const float one = unit < a.hidden ? row[unit] : 0.0f, two = unit + 1 < a.hidden ? row[unit + 1] : 0.0f;
    slots[i] = MatrixUnits<kWeights>::pair(one, two);
    slots[slot_words + i] = 0;
  }
}

// This warp's k-tiles times all columns. to: place_of_sums().
template <Weights kWeights, int kHalfTiles, int kTiles>
SIMT_FN void multiply_slice(const HeldWeights<kHalfTiles, kTiles> &held, const uint32_t *words, uint32_t live, uint32_t lane,
                            typename MatrixUnits<kWeights>::Sum *to) {
  using Held = HeldWeights<kHalfTiles, kTiles>;
  typename MatrixUnits<kWeights>::Sum acc[Held::kTiles][4];
  SIMT_UNROLL for (uint32_t m = 0; m < Held::kTiles; ++m) acc[m][0] = acc[m][1] = acc[m][2] = acc[m][3] = 0;
  uint32_t b[kTiles][2];
  SIMT_UNROLL for (uint32_t i = 0; i < kTiles; ++i) b[i][0] = words[i * 64], b[i][1] = words[i * 64 + 4];
  SIMT_UNROLL for (uint32_t i = 0; i < kTiles; ++i) SIMT_UNROLL for (uint32_t m = 0; m < Held::kTiles; ++m) {
    uint32_t f[4];
    Held::fragment(held, i, m, f);
    MatrixUnits<kWeights>::multiply(acc[m], f, b[i]);
  }
  store_sums_at<Held::kTiles>(acc, to, kWarps * partial_stride_of(kHalfTiles), live, lane);
}

// What a lane has in all steps: a gate of one of its warp's units, and what a step adds to where it reads and writes.
struct ClusterLane {
  UnitState state;
  GateLane gate;
  bool exists, leads;
  int32_t length;        // of its row
  int32_t step, onward;  // of the call; from step to step, 1 or -1
  uint64_t state_at;
  const float *preact;
  float *y;  // nullptr: none
  int64_t preact_step, y_step;
};
// owned: the lane has a gate, of `unit` of the layer and `row` of the block's; leads: its unit's first. column: of the cluster's.
template <Cell kCell, uint32_t kRows>
SIMT_FN ClusterLane cluster_lane_of(const RecurrentArgs &a, const ClusterRows &rows, const GateLane &gate, bool owned, bool leads,
                                    uint32_t column, uint32_t row, uint32_t unit) {
  const uint32_t first = step_at(a, 0), n = rows.first + column;
  ClusterLane l = {};
  l.gate = gate;
  l.exists = owned && column < rows.count && unit < a.hidden;
  l.leads = l.exists && leads;
  l.length = l.exists && a.lengths != nullptr ? a.lengths[n] : INT32_MAX;
  l.step = static_cast<int32_t>(a.first_step + first), l.onward = a.reverse ? -1 : 1;
  l.preact = a.preact + ((uint64_t{first} * a.batch + n) * rows.blocks + rows.block) * kRows + row;
  l.preact_step = l.onward * static_cast<int64_t>(uint64_t{a.batch} * rows.blocks * kRows);
  if (l.leads && a.y != nullptr) l.y = a.y + (uint64_t{first} * a.batch + n) * a.y_row + unit;
  l.y_step = l.onward * static_cast<int64_t>(a.batch * a.y_row);
  if (!l.exists) return l;
  l.state_at = state_place(a, n) + unit;
  l.state.h = a.h[l.state_at];
  if (kCell == Cell::kLstm) l.state.c = a.c[l.state_at];
  if (kCell == Cell::kGruLinear) l.state.r_bias = a.r_bias[unit];
  return l;
}

// After a step: y, and on to the next one's places.
SIMT_FN void go_on(ClusterLane *l, float h, float c, bool ended) {
  l->state.h = h, l->state.c = c;
  if (l->y != nullptr) *l->y = ended ? 0.0f : h, l->y += l->y_step;
  l->preact += l->preact_step, l->step += l->onward;
}
template <Cell kCell>
SIMT_FN void store_state(const RecurrentArgs &a, const ClusterLane &l) {
  if (!l.leads) return;
  a.h[l.state_at] = l.state.h;
  if (kCell == Cell::kLstm) a.c[l.state_at] = l.state.c;
}

template <Weights kWeights, Cell kCell, int kHalfTiles, int kTiles>
SIMT_FN void resident_cluster_block(const RecurrentArgs &a) {
  using Sum = typename MatrixUnits<kWeights>::Sum;
  constexpr uint32_t G = gates_of(kCell), kUnits = kHalfTiles * 8 / G, kGroups = kUnits / kClusterUnits;
  constexpr uint32_t kColumnWords = column_stride(kTiles * 128) / 2, kStride = partial_stride_of(kHalfTiles);
  const ClusterShared at = resident_cluster_shared(kHalfTiles, a.columns, kTiles);
  const ClusterRows rows = rows_of_cluster<kUnits>(a);
  uint32_t lane = simt::thread() % kLanes;
  const uint32_t warp = simt::thread() / kLanes;
  uint32_t *slots = reinterpret_cast<uint32_t *>(simt::shared());
  Sum *partials = reinterpret_cast<Sum *>(simt::shared() + at.partial);
  uint64_t *counters = reinterpret_cast<uint64_t *>(simt::shared() + at.counters);

  const Shape s = {G, a.hidden, kUnits};
  HeldWeights<kHalfTiles, kTiles> held;
  hold_weights(&held, a.r + size_t{rows.block} * mma_image_bytes(s) + size_t{warp} * k_tiles_per_warp(s) * step_bytes(s),
               k_tiles_per_warp(s), step_bytes(s), lane);
  load_first_columns<kWeights>(a, rows, slots, at.slot / 4, kColumnWords);
  if (simt::thread() < 2 * kWarps) simt::counter_begin(counters + simt::thread());

  const uint32_t n = warp / kGroups, group = warp % kGroups * kClusterUnits, first_unit = rows.block * kUnits + group;
  uint32_t finishes = n < rows.count && first_unit < a.hidden, live = rows.count;
  ClusterLane l = cluster_lane_of<kCell, kUnits * G>(a, rows, {lane / G * G, 1, lane % G}, lane < kClusterUnits * G, lane % G == 0,
                                                     n, group * G + lane, first_unit + lane / G);
  HalfTile half = half_tile_of<kTiles>(at, n, first_unit, finishes != 0 ? rows.blocks : 0, lane);
  // Kept, so that a step has to find nothing but which slot is its own.
  uint32_t coming = bytes_of_slice(a.hidden, live, warp), slot_words = at.slot / 4, place_sums = at.place / 4;
  const uint32_t *words = slots + (lane / 4 < live ? lane / 4 : 0) * kColumnWords + lane % 4 + warp * kTileWords;
  Sum *to = place_of_sums(partials, kStride, kWarps, warp, lane);
  const Sum *sums = partials + (l.exists ? n * kWarps * kStride + group * G + lane : 0);
  uint64_t *counter = counters + warp;
  simt::keep(&coming), simt::keep(&slot_words), simt::keep(&place_sums), simt::keep(&half.to), simt::keep(&half.counter);
  simt::keep(&l.y_step), simt::keep(&l.preact_step), simt::keep(&lane), simt::keep(&finishes);
  simt::keep(&live);
  simt::keep_shared(&words), simt::keep_shared(&to), simt::keep_shared(&sums), simt::keep_shared(&counter);
  float pre = l.exists ? *l.preact : 0.0f;
  // All have begun and read h, and none sends into what is not ready.
  RNNPACK_CUDA_FAULT == 6 ? simt::sync_block() : simt::sync_cluster();

  PhaseClock clock;
  PhaseClock::begin(&clock);
  bool failed = false;
  SIMT_ROLLED for (uint32_t t = 0; t < a.steps; ++t) {
    const uint32_t slot = slot_of(t), next = slot_of(t + 1);
    const uint32_t *now = words + slot * slot_words;
    Sum *sums_to = to + slot * place_sums;
    const Sum *sums_from = sums + slot * place_sums;
    simt::Remote h_to = simt::behind(half.to, next * slot_words * 4), told = simt::behind(half.counter, next * kWarps * 8);
    uint64_t *mine = counter + slot * kWarps;
    simt::keep_shared(&now), simt::keep_shared(&sums_to), simt::keep_shared(&sums_from), simt::keep_shared(&mine);
    simt::keep(&h_to), simt::keep(&told);
    if (t != 0) {
      if (lane == 0) simt::counter_expect(mine, coming);
      failed = !wait_for_slice(a, mine, (t - 1) / 2);
    }
    PhaseClock::end(&clock, kPoll);
    multiply_slice<kWeights>(held, now, live, lane, sums_to);
    PhaseClock::end(&clock, kProducts);
    failed = sync_after_poll(failed);
    if (failed) break;
    PhaseClock::end(&clock, kBarrier);
    if (finishes == 0) continue;
    const float rec = sum_slices<kWeights>(sums_from, 0, 0, kStride);
    float c_new = l.state.c, h_new = finish_cell<kCell, false>(a.rules, l.gate, pre, rec, l.state, &c_new);
    const bool ended = l.length <= l.step, more = t + 1 < a.steps;
    if (ended) h_new = l.state.h, c_new = l.state.c;
    PhaseClock::end(&clock, kCells);
    const float own = l.exists ? h_new : 0.0f, other = simt::shuffle(own, (lane + G) & 31);
    const int32_t pair = static_cast<int32_t>(MatrixUnits<kWeights>::pair(own, other));
    uint32_t sent[4];
    SIMT_UNROLL for (uint32_t i = 0; i < 4; ++i) sent[i] = static_cast<uint32_t>(simt::shuffle_word(pair, 2 * i * G));
    if (half.sends && more) simt::store_counted<4>(h_to, told, sent);
    PhaseClock::end(&clock, kPublish);
    go_on(&l, h_new, c_new, ended);
    if (l.exists && more) pre = *l.preact;
    PhaseClock::end(&clock, kStore);
  }
  PhaseClock::store(clock);
  if (failed) time_out(a);
  if (!failed) store_state<kCell>(a, l);
  // Nobody leaves while others may store into its memory.
  if (RNNPACK_CUDA_FAULT != 7) simt::sync_cluster();
}

#endif

template <Weights kWeights, Cell kCell, int kHalfTiles, int kTiles>
SIMT_KERNEL(256)
resident_cluster(const RecurrentArgs a) {
#if SIMT_CLUSTERS
  resident_cluster_block<kWeights, kCell, kHalfTiles, kTiles>(a);
#else
  simt::fail();  // gpu_load refuses it
#endif
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_KERNELS_RESIDENT_CLUSTER_H_
