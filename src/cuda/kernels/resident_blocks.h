// resident_blocks.h -- the resident recurrence on the blocks of a sparse matrix: as resident_mma.h, but a lane has a row and
// gathers what it multiplies from shared memory, slot after slot (gather_layout.h: no two lanes of a slot meet in a bank). Slots
// stay in registers and shared memory. Sums are those of the CPU's kernels (docs/KERNELS.md, "Sparse"), so they have the bits of
// step_blocks.h: of floats each of four warps has a chain of its own, of bytes each a part of the whole sum.
// kColumns: batch rows at a time. kHeld: bundles per warp that live in registers. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_KERNELS_RESIDENT_BLOCKS_H_
#define RNNPACK_CUDA_KERNELS_RESIDENT_BLOCKS_H_

#include "cuda/gather_layout.h"
#include "cuda/kernels/resident_units.h"
#include "cuda/kernels/step_blocks.h"

namespace rnnp {
namespace cuda {

// A lane's part of a bundle: four weights, and two words' numbers in each of two.
struct LaneBundle {
  Bits4 weights;
  Bits2 words;
};
SIMT_FN LaneBundle load_bundle(const uint8_t *bundle, uint32_t lane) {
  return {*reinterpret_cast<const Bits4 *>(bundle + weight_in_bundle(lane, 0)),
          *reinterpret_cast<const Bits2 *>(bundle + index_in_bundle(lane, 0))};
}

// Sums of a lane's row.
template <Weights kWeights, int kColumns>
struct GatherSums {
  using Sum = typename BlockSums<kWeights>::Sum;
  Sum v[kColumns];
};

SIMT_FN int32_t multiply_slot(uint32_t weight, uint32_t factor, int32_t sum) {
  return simt::dot4(factor, weight, sum);
}
SIMT_FN float multiply_slot(uint32_t weight, uint32_t factor, float sum) {
  float a, b;
  memcpy(&a, &factor, sizeof a);
  memcpy(&b, &weight, sizeof b);
  return fmaf(a, b, sum);
}

template <Weights kWeights, int kColumns>
SIMT_FN void multiply_bundle(const LaneBundle &b, const uint32_t *plane, uint32_t column_words, uint32_t live,
                             GatherSums<kWeights, kColumns> *sums) {
  const uint32_t weight[kBundleSlots] = {b.weights.x, b.weights.y, b.weights.z, b.weights.w};
  const uint32_t word[kBundleSlots] = {b.words.x & (kLastBundle - 1), b.words.x >> 16, b.words.y & 0xffff, b.words.y >> 16};
  SIMT_UNROLL for (uint32_t n = 0; n < kColumns; ++n) {
    if (n != 0 && n >= live) break;
    const uint32_t *column = plane + n * column_words;
    SIMT_UNROLL for (uint32_t i = 0; i < kBundleSlots; ++i) sums->v[n] = multiply_slot(weight[i], column[word[i]], sums->v[n]);
  }
}

// A warp's walk over its row groups. to: where the sums of this part and lane go, [column][gate][unit].
template <Weights kWeights, Cell kCell, int kColumns>
struct GatherWalk {
  using Sums = GatherSums<kWeights, kColumns>;
  typename Sums::Sum *to;
  uint32_t group, gate_stride, live;
  Sums sums;

  SIMT_FN void clear(GatherWalk *w) { SIMT_UNROLL for (uint32_t n = 0; n < kColumns; ++n) w->sums.v[n] = 0; }
  // After a bundle: sums that are whole are kept.
  SIMT_FN void look(GatherWalk *w, const LaneBundle &b) {
    constexpr uint32_t G = gates_of(kCell);
    if (!(b.words.x & kLastBundle)) return;
    SIMT_UNROLL for (uint32_t n = 0; n < kColumns; ++n) {
      if (n != 0 && n >= w->live) break;
      w->to[(n * G + w->group % G) * w->gate_stride + w->group / G * kGroupUnits] = w->sums.v[n];
    }
    clear(w);
    w->group += kRowSets;
  }
};

template <Weights kWeights>
SIMT_FN void load_planes(const RecurrentArgs &a, const ResidentBlock &b, const ResidentStep &now) {
  const auto row = [&](uint32_t n) { return a.h + state_place(a, now.first + n); };
  if constexpr (are_bytes(kWeights)) {
    quantise_columns(reinterpret_cast<int8_t *>(b.input), b.column_words * 4, nullptr, a.r_bytes.factor, a.hidden, now.live, row);
  } else {
    SIMT_ROLLED for (uint32_t n = 0; n < now.live; ++n) {
      const float *from = row(n);
      SIMT_ROLLED for (uint32_t i = simt::thread(); i < b.column_words; i += kThreads) {
        const float v = i < a.hidden ? from[i] : 0.0f;
        memcpy(input_word<kWeights>(b, n, i), &v, sizeof v);
      }
    }
  }
}

// A row's sum of its four parts.
template <class Sum>
SIMT_FN Sum sum_parts(const Sum *sums, uint32_t apart) {
  return (sums[0] + sums[apart]) + (sums[2 * apart] + sums[3 * apart]);
}

template <Weights kWeights, Cell kCell, int kColumns, int kHeld>
SIMT_KERNEL(256)
resident_blocks(const RecurrentArgs a) {
  using Walk = GatherWalk<kWeights, kCell, kColumns>;
  using Sum = typename Walk::Sums::Sum;
  constexpr uint32_t G = gates_of(kCell), kUnitsPerWarp = units_of_cells<kWeights, kCell>(), kPasses = kCell == Cell::kGru ? 2 : 1;
  const GatherShape s = {G, a.hidden, a.units, {a.bundles[0], a.bundles[1], a.bundles[2], a.bundles[3]}};
  const GatherShared at = gather_shared(kWeights, s, a.batch, a.columns, kHeld);
  constexpr Spare kSpare = spare_beside(6 * kHeld);
  const ResidentBlock b =
      place_block<kWeights, kSpare>(a, simt::block(), at.input, at.c, at.h, at.z, planes(kWeights) * plane_words(a.hidden));
  const uint32_t set = b.warp / kParts, part = b.warp % kParts, bundles = bundles_of_warp(s, set);
  const uint32_t groups = ceil_div(a.units, kUnitsPerWarp), part_sums = a.columns * G * gate_stride(s);
  const uint32_t *plane = b.input + (planes(kWeights) == 1 ? 0 : part) * plane_words(a.hidden);
  Sum *sums = reinterpret_cast<Sum *>(simt::shared() + at.sums);

  const uint8_t *mine = a.r + b.block * gather_block_bytes(s) + place_of_warp(s, set, part);
  const uint32_t most = most_bundles(s);
  uint8_t *rest = simt::shared() + at.bundles + size_t{b.warp} * (most > kHeld ? most - kHeld : 0) * kBundleBytes;
  LaneBundle held[kHeld];
  SIMT_UNROLL for (uint32_t i = 0; i < kHeld; ++i) held[i] =
      i < bundles ? load_bundle(mine + i * kBundleBytes, b.lane) : LaneBundle{{0, 0, 0, 0}, {0, 0}};
  if (bundles > kHeld) copy_bytes_of_warp(rest, mine + kHeld * kBundleBytes, (bundles - kHeld) * kBundleBytes, b.lane);
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
        load_planes<kWeights>(a, b, now);
        simt::reads_are_told(a.words);
      }
      PhaseClock::end(&clock, kPoll);
      if (sync_after_poll(failed)) return time_out(a);
      PhaseClock::end(&clock, kBarrier);

      Walk walk = {sums + part * part_sums + b.lane, set, gate_stride(s), now.live, {}};
      Walk::clear(&walk);
      SIMT_UNROLL for (uint32_t i = 0; i < kHeld; ++i) {
        if (i >= bundles) break;
        simt::renew(&held[i].words.x);
        simt::renew(&held[i].words.y);
        multiply_bundle(held[i], plane, b.column_words, now.live, &walk.sums);
        Walk::look(&walk, held[i]);
      }
      SIMT_ROLLED for (uint32_t i = kHeld; i < bundles; ++i) {
        const LaneBundle bundle = load_bundle(rest + (i - kHeld) * kBundleBytes, b.lane);
        multiply_bundle(bundle, plane, b.column_words, now.live, &walk.sums);
        Walk::look(&walk, bundle);
      }
      PhaseClock::end(&clock, kProducts);
      simt::sync_block();  // all parts are there
      finish_units<kWeights, kCell, false, kSpare>(a, b, now, groups, cells, known, &clock, [&](uint32_t column, uint32_t row) {
        return sum_parts(sums + (column * G + row % G) * gate_stride(s) + row / G, part_sums);
      });
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
#endif  // RNNPACK_CUDA_KERNELS_RESIDENT_BLOCKS_H_
