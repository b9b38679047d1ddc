// resident_cluster_f32.h -- the resident recurrence on f32 weights in a thread block cluster: as resident_cluster.h, but a warp has
// kRows rows and all of k, so all warps wait for all of h, and no barrier of the block is needed. A cluster has one row of the
// batch. Bits are those of resident_f32. kGroups: of 64 columns, at most; all weights live in registers.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_KERNELS_RESIDENT_CLUSTER_F32_H_
#define RNNPACK_CUDA_KERNELS_RESIDENT_CLUSTER_F32_H_

#include "cuda/kernels/resident_cluster.h"
#include "cuda/kernels/resident_f32.h"

namespace rnnp {
namespace cuda {

#if SIMT_CLUSTERS

// Pair `pair` of the rows of a warp that has units of its own number (cluster_f32_units), which a warp of the image may not have.
template <uint32_t kGates, uint32_t kRows>
SIMT_FN Floats4 pair_of_rows(const uint8_t *image, uint32_t hidden, uint32_t warp, uint32_t pair, uint32_t k) {
  constexpr uint32_t kUnits = cluster_f32_units(kRows);
  const Shape s = {kGates, hidden, kWarps * kUnits};
  if constexpr (kUnits == kRows / kGates) {
    return *reinterpret_cast<const Floats4 *>(image + f32_place(s, warp * kRows + 2 * pair, k));
  } else {
    static_assert(kUnits * kGates % 2 == 0, "no pair is half a pair");
    Floats2 rows[2];
    SIMT_UNROLL for (uint32_t i = 0; i < 2; ++i) {
      const uint32_t row = 2 * pair + i, of = row_of_gate(Weights::kF32, s, warp * kUnits + row / kGates, row % kGates);
      rows[i] = *reinterpret_cast<const Floats2 *>(image + f32_place(s, of, k));
    }
    return {rows[0].x, rows[0].y, rows[1].x, rows[1].y};
  }
}

template <Cell kCell, int kRows, int kGroups>
SIMT_FN void resident_cluster_f32_block(const RecurrentArgs &a) {
  constexpr uint32_t G = gates_of(kCell), kUnits = cluster_f32_units(kRows), kPairs = cluster_f32_pairs(G, kRows);
  constexpr uint32_t kLanesOfSum = kLanes / kRows;
  constexpr ClusterF32Shared at = resident_cluster_f32_shared(kGroups);
  const ClusterRows rows = rows_of_cluster<kWarps * kUnits>(a);
  uint32_t lane = simt::thread() % kLanes;
  const uint32_t warp = simt::thread() / kLanes, groups = column_groups(a.hidden);
  float *slots = reinterpret_cast<float *>(simt::shared());
  uint64_t *counters = reinterpret_cast<uint64_t *>(simt::shared() + at.counters);

  const Shape s = {G, a.hidden, kWarps * kUnits};
  const uint8_t *image = a.r + rows.block * f32_image_bytes(s);
  Floats4 held[kGroups][kPairs];
  SIMT_UNROLL for (uint32_t i = 0; i < kGroups; ++i) SIMT_UNROLL for (uint32_t r = 0; r < kPairs; ++r) held[i][r] =
      i < groups ? pair_of_rows<G, kRows>(image, a.hidden, warp, r, i * 64 + 2 * lane) : Floats4{0, 0, 0, 0};
  const float *h = a.h + state_place(a, rows.first);
  SIMT_ROLLED for (uint32_t i = simt::thread(); i < 2 * kGroups * 64; i += kThreads) slots[i] = i < a.hidden ? h[i] : 0.0f;
  if (simt::thread() < 2) simt::counter_begin(counters + simt::thread());

  const uint32_t row = row_of_sum<kRows>(lane), u = row / G, first_unit = (rows.block * kWarps + warp) * kUnits;
  const bool first_lane = lane % kLanesOfSum == 0 && row % G == 0;
  const uint32_t row_of_block = row_of_gate(Weights::kF32, s, warp * kUnits + u, row % G);
  ClusterLane l = cluster_lane_of<kCell, kWarps * kRows>(a, rows, {u * G * kLanesOfSum, kLanesOfSum, row % G}, u < kUnits,
                                                         first_lane, 0, row_of_block, first_unit + u);
  HalfTile out = {};
  out.sends = first_unit < a.hidden && lane < rows.blocks;
  if (out.sends) out.to = simt::in_block(slots + first_unit, lane), out.counter = simt::in_block(counters, lane);
  const float *column = slots;
  uint64_t *counter = counters;
  const uint32_t coming = ceil_div(a.hidden, kUnits) * kUnits * 4;
  simt::keep(&lane), simt::keep(&out.to), simt::keep(&out.counter), simt::keep(&l.y_step), simt::keep(&l.preact_step);
  simt::keep_shared(&column), simt::keep_shared(&counter);
  float pre = l.exists ? *l.preact : 0.0f;
  // All have begun and read h, and none sends into what is not ready.
  RNNPACK_CUDA_FAULT == 6 ? simt::sync_block() : simt::sync_cluster();

  PhaseClock clock;
  PhaseClock::begin(&clock);
  bool failed = false;
  // A warp without units reads nothing: nobody would know when it has.
  SIMT_ROLLED for (uint32_t t = 0; first_unit < a.hidden && t < a.steps; ++t) {
    const uint32_t slot = slot_of(t), next = slot_of(t + 1);
    const bool more = t + 1 < a.steps;
    const float *now = column + slot * (at.slot / 4);
    uint64_t *full = counter + slot;
    simt::Remote h_to = simt::behind(out.to, next * at.slot), told = simt::behind(out.counter, next * 8);
    simt::keep_shared(&now), simt::keep_shared(&full), simt::keep(&h_to), simt::keep(&told);
    if (t != 0) failed = !wait_for_slice(a, full, (t - 1) / 2);
    if (failed) break;
    if (simt::thread() == 0 && more) simt::counter_expect(counters + next, coming);
    PhaseClock::end(&clock, kPoll);
    const float rec = multiply_held<kRows, kPairs, kGroups, 1>(held, nullptr, 0, kGroups, now, 0, 1, lane);
    PhaseClock::end(&clock, kProducts);
    float c_new = l.state.c, h_new = finish_cell<kCell, false>(a.rules, l.gate, pre, rec, l.state, &c_new);
    const bool ended = l.length <= l.step;
    if (ended) h_new = l.state.h, c_new = l.state.c;
    PhaseClock::end(&clock, kCells);
    const float own = l.exists ? h_new : 0.0f;
    uint32_t sent[kUnits];
    SIMT_UNROLL for (uint32_t i = 0; i < kUnits; ++i) {
      const float of_unit = simt::shuffle(own, i * G * kLanesOfSum);
      memcpy(&sent[i], &of_unit, sizeof of_unit);
    }
    simt::sync_warp();  // all lanes have read h
    if (out.sends && more) simt::store_counted<kUnits>(h_to, told, sent);
    PhaseClock::end(&clock, kPublish);
    go_on(&l, h_new, c_new, ended);
    if (l.exists && more) pre = *l.preact;
    PhaseClock::end(&clock, kStore);
  }
  PhaseClock::store(clock);
  if (failed && lane == 0) tell_time_out(a);
  if (!failed) store_state<kCell>(a, l);
  // Nobody leaves while others may store into its memory.
  if (RNNPACK_CUDA_FAULT != 7) simt::sync_cluster();
}

#endif

template <Cell kCell, int kRows, int kGroups>
SIMT_KERNEL(256)
resident_cluster_f32(const RecurrentArgs a) {
#if SIMT_CLUSTERS
  resident_cluster_f32_block<kCell, kRows, kGroups>(a);
#else
  simt::fail();  // gpu_load refuses it
#endif
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_KERNELS_RESIDENT_CLUSTER_F32_H_
