// resident_f32.h -- the resident recurrence on f32 weights. As resident_mma.h, but a warp has kRows rows and all of k: no partial
// sums and one barrier per step, for which what is multiplied has two places in shared memory. kRegGroups: groups of 64 columns
// whose weights live in registers. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_KERNELS_RESIDENT_F32_H_
#define RNNPACK_CUDA_KERNELS_RESIDENT_F32_H_

#include "cuda/kernels/cell.h"
#include "cuda/kernels/exchange.h"
#include "cuda/kernels/phase_clock.h"
#include "cuda/kernels/products_f32.h"
#include "cuda/kernels/resident_mma.h"

namespace rnnp {
namespace cuda {

// Of a warp's rows: kPairs of them have units in the kernel's shape, `used` in this warp; `rest` has these alone. kColumns columns,
// `live` of them there, are multiplied side by side. A lane ends with the sum of row_of_sum: [column][row].
template <int kRows, int kPairs, int kRegGroups, int kColumns>
SIMT_FN float multiply_held(const Floats4 held[][kPairs], const Floats4 *rest, uint32_t used, uint32_t groups, const float *column,
                            uint32_t stride, uint32_t live, uint32_t lane) {
  float acc[kColumns * kRows];
  SIMT_UNROLL for (uint32_t r = 0; r < kColumns * kRows; ++r) acc[r] = 0.0f;
  const Floats2 *mine[kColumns];
  SIMT_UNROLL for (uint32_t n = 0; n < kColumns; ++n) mine[n] =
      reinterpret_cast<const Floats2 *>(column + (n < live ? n : 0) * stride) + lane;
  // Of one column four loads are under way. A group that is not there has weights of 0, and 0 times -0 changes no sum, not even -0.
  constexpr uint32_t kAtOnce = kColumns == 1 ? 4 : 1;
  SIMT_UNROLL for (uint32_t first = 0; first < kRegGroups; first += kAtOnce) {
    if (first >= groups) break;
    SIMT_UNROLL for (uint32_t n = 0; n < kColumns; ++n) {
      Floats2 v[kAtOnce];
      SIMT_UNROLL for (uint32_t j = 0; j < kAtOnce; ++j) v[j] =
          j == 0 || first + j < groups ? mine[n][(first + j) * 32] : Floats2{-0.0f, -0.0f};
      SIMT_UNROLL for (uint32_t j = 0; j < kAtOnce; ++j) {
        if (first + j >= kRegGroups) break;
        SIMT_UNROLL for (uint32_t r = 0; r < kPairs; ++r)
            multiply_pair(held[first + j][r], v[j].x, v[j].y, &acc[n * kRows + 2 * r], &acc[n * kRows + 2 * r + 1]);
      }
    }
  }
  SIMT_ROLLED for (uint32_t i = kRegGroups; i < groups; ++i) {
    SIMT_UNROLL for (uint32_t r = 0; r < kPairs; ++r) {
      if (r >= used) break;
      const Floats4 w = rest[((i - kRegGroups) * used + r) * 32 + lane];
      SIMT_UNROLL for (uint32_t n = 0; n < kColumns; ++n) {
        const Floats2 v = mine[n][i * 32];
        multiply_pair(w, v.x, v.y, &acc[n * kRows + 2 * r], &acc[n * kRows + 2 * r + 1]);
      }
    }
  }
  return add_lanes<kColumns * kRows>(acc, lane);
}

// What a lane has of its warp's cells: a gate of a unit of each kColumns-th column.
struct F32Lane {
  uint32_t column, unit, own;  // own: of the first of its columns
  bool owned, exists, leads;
  uint64_t *word;   // of h's first slot
  uint32_t preact;  // its place in a row of them
  float r_bias;
};

// Where a block's weights and the numbers of its units lie.
template <int kPairs, int kRegGroups>
struct F32Block {
  Floats4 held[kRegGroups][kPairs];
  const Floats4 *rest;
  float *input, *c, *h, *z;
  uint32_t block, lane, warp, used, base;
};

// All steps, kColumns columns at a time. False: time-out.
template <Cell kCell, int kRows, int kRegGroups, bool kGeneric, int kColumns>
SIMT_FN bool run_f32_steps(const RecurrentArgs &a, const F32Block<pairs_of_warp(gates_of(kCell), kRows), kRegGroups> &at) {
  constexpr uint32_t G = gates_of(kCell), kUnits = kRows / G, kPairs = pairs_of_warp(G, kRows),
                     kPasses = kCell == Cell::kGru ? 2 : 1, kLanesOfSum = kLanes / (kRows * kColumns);
  const uint32_t lane = at.lane, warp = at.warp, block = at.block, B = a.batch, H = a.hidden;
  const uint32_t groups = column_groups(H), stride = groups * 64, blocks = ceil_div(H, a.units);
  const uint32_t row_words = (H + 1) & ~1u, slot_words = B * row_words, base = at.base;
  const uint32_t sum = row_of_sum<kRows * kColumns>(lane), row = sum % kRows, u = warp * kUnits + row / G;
  const uint32_t preact_row = blocks * kWarps * kRows;
  const GateLane gate = {(sum - row + row / G * G) * kLanesOfSum, kLanesOfSum, row % G};
  F32Lane l = {};
  l.column = sum / kRows, l.unit = block * a.units + u, l.own = l.column * a.units + u;
  l.owned = row / G < kUnits && u < a.units && l.column < B;
  l.exists = l.owned && l.unit < H;
  l.leads = l.exists && lane % kLanesOfSum == 0 && row % G == 0;
  l.word = a.words + l.column * row_words + l.unit;
  l.preact = (block * kWarps + warp) * kRows + row;
  if (kCell == Cell::kGruLinear && l.exists) l.r_bias = a.r_bias[l.unit];
  PhaseClock clock;
  PhaseClock::begin(&clock);
  for (uint32_t t = 0; t < a.steps; ++t) {
    const uint32_t step = step_at(a, t), epoch = base + t + 1, slot = slot_of(epoch) * slot_words;
    const bool more = t + 1 < a.steps;
    SIMT_ROLLED for (uint32_t pass = 0; pass < kPasses; ++pass) {
      const bool gates_only = kCell == Cell::kGru && pass == 0;
      const uint32_t tell = gates_only ? slot + 2 * slot_words : slot;
      // Two places in turn: what is written now was last read before the barrier that all have left.
      float *now = at.input + ((kPasses * t + pass) & 1) * B * stride;
      const auto preact_of = [&](uint32_t n) { return a.preact[(uint64_t{step} * B + n) * preact_row + l.preact]; };
      float pre = l.exists ? preact_of(l.column) : 0.0f;  // asked for before the wait
      PhaseClock::end(&clock, kAsk);
      bool failed = false;
      if (t != 0 || pass != 0) {
        const uint64_t *words = pass == 0 ? a.words + slot_of(epoch - 1) * slot_words : a.words + slot + 2 * slot_words;
        const auto place = [&](uint32_t i) {
          const uint32_t n = B == 1 ? 0 : i / row_words;
          return n * stride + i - n * row_words;
        };
        const auto take = [&](uint32_t to, uint32_t first, uint32_t second) {
          const Bits2 both = {first, second};
          memcpy(now + to, &both, sizeof both);
        };
        failed = !poll_together(a, words, slot_words, pass == 0 ? epoch - 1 : epoch, place, take);
      }
      PhaseClock::end(&clock, kPoll);
      if (sync_after_poll(failed)) return false;
      PhaseClock::end(&clock, kBarrier);
      SIMT_ROLLED for (uint32_t first = 0; first < B; first += kColumns) {
        const float rec = multiply_held<kRows, kPairs, kRegGroups, kColumns>(at.held, at.rest, at.used, groups,
                                                                             now + first * stride, stride, B - first, lane);
        PhaseClock::end(&clock, kProducts);
        const uint32_t n = first + l.column, own = l.own + first * a.units;
        const bool there = kColumns == 1 || n < B, exists = l.exists && there, leads = l.leads && there;
        UnitState state = {0.0f, 0.0f, l.r_bias, {0.0f, 0.0f, 0.0f}};
        if (l.owned && there) state.h = at.h[own], state.c = at.c[own];
        if (exists) load_peephole<kCell, kGeneric>(a, l.unit, &state);
        float c_new = state.c, h_new;
        if (gates_only) {
          float z;
          h_new = gru_gates<kGeneric>(a.rules, gate, pre, rec, state.h, &z);
          if (leads) at.z[own] = z;
        } else if constexpr (kCell == Cell::kGru) {
          h_new = gru_output<kGeneric>(a.rules, gate, pre, rec, state.h, l.owned && there ? at.z[own] : 0.0f);
        } else {
          h_new = finish_cell<kCell, kGeneric>(a.rules, gate, pre, rec, state, &c_new);
        }
        const bool ended = !gates_only && there && row_has_ended(a, step, n);
        if (ended) h_new = state.h, c_new = state.c;
        PhaseClock::end(&clock, kCells);
        if (leads && (gates_only || more)) {
          uint32_t bits;
          memcpy(&bits, &h_new, sizeof bits);
          simt::ll_store(l.word + tell + first * row_words, bits, epoch);
        }
        PhaseClock::end(&clock, kPublish);
        simt::sync_warp();  // all lanes of the unit have read the old state; z is read by all
        if (leads && !gates_only) {
          at.h[own] = h_new, at.c[own] = c_new;
          if (a.y != nullptr) a.y[(uint64_t{step} * B + n) * a.y_row + l.unit] = ended ? 0.0f : h_new;
        }
        if (first + kColumns < B && l.exists && n + kColumns < B) pre = preact_of(n + kColumns);
      }
      PhaseClock::end(&clock, kStore);
      // A word that only makes a row's number even has no writer: the last block keeps it company.
      if (H % 2 != 0 && block == blocks - 1 && simt::thread() < B && (gates_only || more))
        simt::ll_store(a.words + tell + simt::thread() * row_words + H, 0, epoch);
    }
  }
  PhaseClock::store(clock);
  return true;
}

template <Cell kCell, int kRows, int kRegGroups, bool kGeneric>
SIMT_FN void resident_f32_block(const RecurrentArgs &a, const BlockOf &of) {
  constexpr uint32_t G = gates_of(kCell), kPairs = pairs_of_warp(G, kRows);
  const Shape s = {G, a.hidden, a.units};
  const ResidentShared place = resident_f32_shared(s, a.batch, kRegGroups);
  const uint32_t B = a.batch, H = a.hidden, groups = column_groups(H), stride = groups * 64;
  F32Block<kPairs, kRegGroups> b;
  b.block = of.block, b.lane = simt::thread() % kLanes, b.warp = simt::thread() / kLanes;
  b.input = reinterpret_cast<float *>(simt::shared() + place.input), b.c = reinterpret_cast<float *>(simt::shared() + place.c);
  b.h = reinterpret_cast<float *>(simt::shared() + place.h), b.z = reinterpret_cast<float *>(simt::shared() + place.z);
  b.used = used_pairs(G, kRows, a.units, b.warp);
  const uint32_t full = used_pairs(G, kRows, a.units, 0);
  Floats4 *rest =
      reinterpret_cast<Floats4 *>(simt::shared() + place.weights) +
      b.warp * full * (groups > kRegGroups ? groups - kRegGroups : 0) * kLanes;  // only warps without units follow one with few
  b.rest = rest;
  const Floats4 *mine =
      reinterpret_cast<const Floats4 *>(a.r + b.block * f32_image_bytes(s)) + uint64_t{b.warp} * groups * kPairs * kLanes + b.lane;
  SIMT_UNROLL for (uint32_t i = 0; i < kRegGroups; ++i) SIMT_UNROLL for (uint32_t r = 0; r < kPairs; ++r) b.held[i][r] =
      i < groups ? mine[(i * kPairs + r) * kLanes] : Floats4{0, 0, 0, 0};
  SIMT_ROLLED for (uint32_t r = 0; r < b.used; ++r)
      copy_pieces(rest + r * kLanes + b.lane, b.used * kLanes, mine + (kRegGroups * kPairs + r) * kLanes, kPairs * kLanes,
                  groups > kRegGroups ? groups - kRegGroups : 0);
  SIMT_ROLLED for (uint32_t i = simt::thread(); i < 2 * B * stride; i += kThreads) b.input[i] =
      i % stride < H && i < B * stride ? a.h[state_place(a, i / stride) + i % stride] : 0.0f;
  simt::reads_are_told(a.words);
  load_units<kCell>(a, b.block, b.h, b.c);
  if (!begin_epochs(a, of, &b.base)) return time_out(a);
  // As many columns at a time as lanes have sums for; one where there is no other.
  const bool ended = a.batch == 1 ? run_f32_steps<kCell, kRows, kRegGroups, kGeneric, 1>(a, b)
                                  : run_f32_steps<kCell, kRows, kRegGroups, kGeneric, kMostWarpRows / kRows>(a, b);
  if (!ended) return time_out(a);
  simt::sync_block();
  store_units<kCell>(a, b.block, b.h, b.c);
  end_epochs(a, of, b.base);
}

template <Cell kCell, int kRows, int kRegGroups, bool kGeneric>
SIMT_KERNEL(256)
resident_f32(const RecurrentArgs a) {
  resident_f32_block<kCell, kRows, kRegGroups, kGeneric>(a, all_blocks());
}

template <Cell kCell, int kRows, int kRegGroups>
SIMT_KERNEL(256)
resident_f32_both(const SIMT_PARAMETER BothArgs both) {
  const uint32_t blocks = simt::block_count() / 2, second = simt::block() >= blocks;
  resident_f32_block<kCell, kRows, kRegGroups, false>(both.direction[second], {simt::block() - second * blocks, blocks});
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_KERNELS_RESIDENT_F32_H_
