// resident_mma.h -- the resident recurrence on the matrix units, weights of f16, bf16 or int8: one launch for many steps, one block
// per SM. Weights stay in registers and shared memory, c and h of a block's units never leave it, h of all others comes as words
// (exchange.h).
//
//   a step:  ask for preact(t) | poll this warp's part of h(t-1) | products | partial sums | barrier | cells | publish h(t), write
//   y
//
// A GRU that resets h before it multiplies does this twice: z, r and r h first, then the candidate from the words of r h; all rows
// are multiplied both times. Batches of more than 8 go group by group; the others' words travel meanwhile.
// kHalfTiles: row tiles of 8 rows, exactly those of the block's shape. kRegSteps: k-tiles per warp whose weights live in registers.
// kGeneric: activations by name, clip, peepholes and coupled gates (cell.h).
//
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_KERNELS_RESIDENT_MMA_H_
#define RNNPACK_CUDA_KERNELS_RESIDENT_MMA_H_

#include "cuda/kernels/resident_units.h"

namespace rnnp {
namespace cuda {

// The weights of this warp that live in registers. Indexed by constants only.
template <int kHalfTiles, int kRegSteps>
struct HeldWeights {
  static constexpr uint32_t kTiles = (kHalfTiles + 1) / 2;
  uint32_t w[kRegSteps][kHalfTiles * 2];

  static constexpr bool is_half(uint32_t tile) { return kHalfTiles % 2 != 0 && tile == kTiles - 1; }
  // Of k-tile i; both numbers constants.
  SIMT_FN void fragment(const HeldWeights &held, uint32_t i, uint32_t tile, uint32_t f[4]) {
    constexpr uint32_t kLast = kHalfTiles * 2 - 1;
    const bool half = is_half(tile);
    f[0] = held.w[i][4 * tile], f[1] = half ? 0 : held.w[i][4 * tile + 1];
    f[2] = held.w[i][half ? 4 * tile + 1 : 4 * tile + 2], f[3] = half ? 0 : held.w[i][half ? kLast : 4 * tile + 3];
  }
};

template <int kHalfTiles, int kRegSteps>
SIMT_FN void hold_weights(HeldWeights<kHalfTiles, kRegSteps> *held, const uint8_t *mine, uint32_t steps, uint32_t bytes,
                          uint32_t lane) {
  using Held = HeldWeights<kHalfTiles, kRegSteps>;
  SIMT_UNROLL for (uint32_t i = 0; i < kRegSteps; ++i) {
    SIMT_UNROLL for (uint32_t m = 0; m < Held::kTiles; ++m) {
      const uint8_t *from = mine + i * bytes + m * 512;
      if (Held::is_half(m)) {
        Bits2 v = {0, 0};
        if (i < steps) v = *reinterpret_cast<const Bits2 *>(from + lane * 8);
        held->w[i][4 * m] = v.x, held->w[i][4 * m + 1] = v.y;
      } else {
        Bits4 v = {0, 0, 0, 0};
        if (i < steps) v = *reinterpret_cast<const Bits4 *>(from + lane * 16);
        held->w[i][4 * m] = v.x, held->w[i][4 * m + 1] = v.y, held->w[i][4 * m + 2] = v.z, held->w[i][4 * m + 3] = v.w;
      }
    }
  }
}

// Row tiles whose sums are in registers at the same time: more of them take turns, and so do fewer beside many weights.
constexpr uint32_t kManyWeights = 165, kMostWeights = 190;
constexpr uint32_t tiles_at_once(uint32_t tiles, uint32_t held_registers) {
  return ceil_div(tiles, ceil_div(tiles, held_registers >= kMostWeights ? 2 : held_registers >= kManyWeights ? 4 : 8));
}

// This warp's k-tiles, of row tiles from kFirst on, times the columns in shared memory: those in registers, then the rest from
// shared memory.
template <Weights kWeights, int kHalfTiles, int kRegSteps, int kFirst, int kTiles>
SIMT_FN void multiply_held(const HeldWeights<kHalfTiles, kRegSteps> &held, const uint8_t *rest, const uint32_t *words, bool column,
                           uint32_t steps, uint32_t bytes, uint32_t lane, typename MatrixUnits<kWeights>::Sum acc[kTiles][4]) {
  using Held = HeldWeights<kHalfTiles, kRegSteps>;
  SIMT_UNROLL for (uint32_t m = 0; m < kTiles; ++m) acc[m][0] = acc[m][1] = acc[m][2] = acc[m][3] = 0;
  uint32_t b[2], next[2];
  next_column(words, column, 0, steps, next);
  SIMT_UNROLL for (uint32_t i = 0; i < kRegSteps; ++i) {
    if (i >= steps) break;
    b[0] = next[0], b[1] = next[1];
    next_column(words, column, i + 1, steps, next);
    SIMT_UNROLL for (uint32_t m = 0; m < kTiles; ++m) {
      uint32_t f[4];
      Held::fragment(held, i, kFirst + m, f);
      MatrixUnits<kWeights>::multiply(acc[m], f, b);
    }
  }
  SIMT_ROLLED for (uint32_t i = kRegSteps; i < steps; ++i) {
    b[0] = next[0], b[1] = next[1];
    next_column(words, column, i + 1, steps, next);
    SIMT_UNROLL for (uint32_t m = 0; m < kTiles; ++m) {
      uint32_t f[4];
      load_fragment(rest + (i - kRegSteps) * bytes + (kFirst + m) * 512, Held::is_half(kFirst + m), lane, f);
      MatrixUnits<kWeights>::multiply(acc[m], f, b);
    }
  }
}

// What a warp multiplies in a step.
struct HeldColumns {
  const uint8_t *rest;
  const uint32_t *words;
  uint32_t steps, bytes, live;
};
// All row tiles, as many at once as have room for their sums.
template <Weights kWeights, int kHalfTiles, int kRegSteps, int kFirst = 0>
SIMT_FN void multiply_tiles(const HeldWeights<kHalfTiles, kRegSteps> &held, const HeldColumns &in, const ResidentBlock &b,
                            typename MatrixUnits<kWeights>::Sum *partial) {
  constexpr int kAll = HeldWeights<kHalfTiles, kRegSteps>::kTiles, kAtOnce = tiles_at_once(kAll, 2 * kHalfTiles * kRegSteps);
  constexpr int kTiles = kAll - kFirst < kAtOnce ? kAll - kFirst : kAtOnce;
  typename MatrixUnits<kWeights>::Sum acc[kTiles][4];
  multiply_held<kWeights, kHalfTiles, kRegSteps, kFirst, kTiles>(held, in.rest, in.words, b.lane / 4 < in.live, in.steps, in.bytes,
                                                                 b.lane, acc);
  store_sums<kTiles>(acc, partial, kFirst, partial_stride_of(kHalfTiles), kWarps, in.live, b.warp, b.lane);
  if constexpr (kFirst + kTiles < kAll) multiply_tiles<kWeights, kHalfTiles, kRegSteps, kFirst + kTiles>(held, in, b, partial);
}

// Where the block's warps finish all cells in one round, and a warp's lanes ask for all its words at once, what a lane reads,
// multiplies and finishes is the same in all steps: it is found once, states stay in registers, and h goes from words to products
// by shuffles. Words are paired for that, i and i + 4 of a k-tile, and k-tiles are whole.
constexpr uint32_t kShuffledTiles = 4;  // whose shuffles are under way together
constexpr uint32_t kTilePairs = kTileWords / 2;
SIMT_FN uint32_t place_in_pairs(const ResidentBlock &b, uint32_t word) {
  const uint32_t tile = word / kTileWords, second = word / kTilePairs % 2;
  return tile % kWarps * b.warp_words + tile / kWarps * kTileWords + 2 * (word % kTilePairs) + second;
}
template <int kHalfTiles, int kRegSteps>
constexpr bool has_rounds() {
  constexpr int kAll = HeldWeights<kHalfTiles, kRegSteps>::kTiles;
  return tiles_at_once(kAll, 2 * kHalfTiles * kRegSteps) == kAll;
}
SIMT_FN bool is_one_round(const RecurrentArgs &a, const ResidentBlock &b, uint32_t groups, uint32_t k_tiles) {
  return !b.alone && a.places == 2 && b.words % kTileWords == 0 && a.batch * groups <= kWarps &&
         a.batch * k_tiles * kTilePairs <= kLanes;
}

// The pair of words that a lane asks for, and where those lie that it multiplies: of k-tile i in lane `from` + 4 i.
struct LanePair {
  bool asks;
  uint32_t from;
  const uint64_t *words;
  uint32_t first, second;  // payloads
};
SIMT_FN LanePair lane_pair_of(const RecurrentArgs &a, const ResidentBlock &b, uint32_t k_tiles) {
  const uint32_t of_column = k_tiles * kTilePairs, n = b.lane / of_column, p = b.lane % of_column, pair = p % kTilePairs;
  const uint32_t word = (p / kTilePairs * kWarps + b.warp) * kTileWords + pair;
  LanePair l = {};
  l.asks = n < a.batch && word < b.words;
  l.from = (b.lane / 4 < a.batch ? b.lane / 4 * of_column : 0) + b.lane % 4;
  l.words = a.words + n * b.row_words + b.warp * b.warp_words + p / kTilePairs * kTileWords + 2 * pair;
  const uint32_t *in = b.input + n * b.column_words + word;
  if (l.asks) l.first = in[0], l.second = in[kTilePairs];
  return l;
}

// What a warp multiplies in a round. to: place_of_sums().
template <Weights kWeights, int kHalfTiles, int kRegSteps>
SIMT_FN void multiply_pairs(const HeldWeights<kHalfTiles, kRegSteps> &held, const LanePair &in, const uint8_t *rest,
                            uint32_t k_tiles, uint32_t bytes, uint32_t batch, uint32_t lane,
                            typename MatrixUnits<kWeights>::Sum *to) {
  using Held = HeldWeights<kHalfTiles, kRegSteps>;
  constexpr uint32_t kTiles = Held::kTiles, kMost = kLanes / kTilePairs;
  typename MatrixUnits<kWeights>::Sum acc[kTiles][4];
  SIMT_UNROLL for (uint32_t m = 0; m < kTiles; ++m) acc[m][0] = acc[m][1] = acc[m][2] = acc[m][3] = 0;
  SIMT_UNROLL for (uint32_t first = 0; first < kMost; first += kShuffledTiles) {
    if (first >= k_tiles) break;
    uint32_t b[kShuffledTiles][2];
    SIMT_UNROLL for (uint32_t j = 0; j < kShuffledTiles; ++j) {
      const uint32_t from = (in.from + (first + j) * kTilePairs) & 31;
      b[j][0] = static_cast<uint32_t>(simt::shuffle_word(static_cast<int32_t>(in.first), from));
      b[j][1] = static_cast<uint32_t>(simt::shuffle_word(static_cast<int32_t>(in.second), from));
    }
    SIMT_UNROLL for (uint32_t j = 0; j < kShuffledTiles; ++j) {
      const uint32_t i = first + j;
      if (i >= k_tiles) break;
      SIMT_UNROLL for (uint32_t m = 0; m < kTiles; ++m) {
        uint32_t f[4];
        if (i < kRegSteps) {
          Held::fragment(held, i < kRegSteps ? i : 0, m, f);
        } else {
          load_fragment(rest + (i - kRegSteps) * bytes + m * 512, Held::is_half(m), lane, f);
        }
        MatrixUnits<kWeights>::multiply(acc[m], f, b[j]);
      }
    }
  }
  store_sums_at<kTiles>(acc, to, kWarps * partial_stride_of(kHalfTiles), batch, lane);
}

// All steps; b.input has h before the first. False: time-out.
template <Weights kWeights, Cell kCell, int kHalfTiles, int kRegSteps, bool kGeneric, uint32_t kGroups>
SIMT_FN bool run_rounds(const RecurrentArgs &a, ResidentBlock b, const HeldWeights<kHalfTiles, kRegSteps> &held,
                        const uint8_t *rest, uint32_t k_tiles, uint32_t bytes, typename MatrixUnits<kWeights>::Sum *partials,
                        uint32_t base) {
  using Sum = typename MatrixUnits<kWeights>::Sum;
  constexpr uint32_t G = gates_of(kCell), kPasses = kCell == Cell::kGru ? 2 : 1, kStride = partial_stride_of(kHalfTiles);
  const ResidentStep begin = {base, 0, step_at(a, 0), 0, a.batch, 0};
  b.alone = 0;
  LanePair pair = lane_pair_of(a, b, k_tiles);
  CellLane l = cells_of<kWeights, kCell>(a, b, begin, kGroups, b.warp);
  l.word = a.words + l.n * b.row_words + place_in_pairs(b, l.unit / units_of_word<kWeights>());
  UnitState state = {l.owned ? b.h[l.own] : 0.0f, l.owned ? b.c[l.own] : 0.0f, l.r_bias, {0.0f, 0.0f, 0.0f}};
  if (l.exists) load_peephole<kCell, kGeneric>(a, l.unit, &state);
  float pre = l.owned ? *l.preact : 0.0f, z = 0.0f;
  const int32_t length = l.owned && a.lengths != nullptr ? a.lengths[l.n] : INT32_MAX, onward = a.reverse ? -1 : 1;
  int32_t step = static_cast<int32_t>(a.first_step + begin.step);
  uint32_t finishes = b.warp < a.batch * kGroups, place_sums = kWarps * a.batch * kStride, lane = b.lane, slot_words = b.slot_words;
  Sum *to = place_of_sums(partials, kStride, kWarps, b.warp, lane);
  const Sum *sums = partials + (l.owned ? l.column * kWarps * kStride + l.row : 0);
  float *y = l.leads ? l.y : nullptr;
  simt::keep(&finishes), simt::keep(&place_sums), simt::keep(&lane), simt::keep(&slot_words), simt::keep(&pair.words);
  simt::keep(&pair.from), simt::keep(&l.word), simt::keep(&l.preact_step), simt::keep(&l.y_step);
  simt::keep_shared(&to), simt::keep_shared(&sums);
  PhaseClock clock;
  PhaseClock::begin(&clock);
  SIMT_ROLLED for (uint32_t t = 0; t < a.steps; ++t) {
    const bool more = t + 1 < a.steps;
    SIMT_UNROLL for (uint32_t pass = 0; pass < kPasses; ++pass) {
      const bool gates_only = kCell == Cell::kGru && pass == 0;
      const uint32_t epoch = base + t + 1, here = slot_of(epoch), asked = pass == 1 ? epoch : epoch - 1;
      const uint32_t place = kPasses == 2 ? pass : t & 1;
      const uint64_t *words = pair.words + slot_of(asked) * slot_words + (pass == 1 ? 2 * slot_words : 0);
      uint64_t *word = l.word + here * slot_words + (gates_only ? 2 * slot_words : 0);
      Sum *sums_to = to + place * place_sums;
      const Sum *sums_from = sums + place * place_sums;
      simt::keep(&words), simt::keep(&word), simt::keep_shared(&sums_to), simt::keep_shared(&sums_from);
      PhaseClock::end(&clock, kAsk);
      bool failed = false;
      if ((t != 0 || pass != 0) && pair.asks) {
        const auto there = [&](uint32_t) { return PairPlace{0, 0}; };
        const auto take = [&](uint32_t, uint32_t first, uint32_t second) { pair.first = first, pair.second = second; };
        failed = !poll_pair(a, words, 0, asked, there, take);
      }
      simt::sync_warp();
      PhaseClock::end(&clock, kPoll);
      multiply_pairs<kWeights>(held, pair, rest, k_tiles, bytes, a.batch, lane, sums_to);
      PhaseClock::end(&clock, kProducts);
      if (sync_after_poll(failed)) return false;
      PhaseClock::end(&clock, kBarrier);
      if (finishes == 0) continue;
      const Sum sum = sum_slices<kWeights>(sums_from, 0, 0, kStride);
      CellValues v = cell_of<kWeights, kCell, kGeneric>(a, b, pass, l, pre, state, z, sum);
      const bool ended = length <= step;
      if (!gates_only && ended) v.h = state.h, v.c = state.c;
      PhaseClock::end(&clock, kCells);
      publish<kWeights>(b, l, word, l.tells && (gates_only || more), v.h, G, gates_only ? b.to_candidate_byte : b.to_byte, epoch);
      PhaseClock::end(&clock, kPublish);
      z = v.z;
      if (gates_only) continue;
      state.h = v.h, state.c = v.c;
      if (y != nullptr) *y = ended ? 0.0f : v.h, y += l.y_step;
      l.preact += l.preact_step, step += onward;
      if (l.owned && more) pre = *l.preact;
      PhaseClock::end(&clock, kStore);
    }
  }
  PhaseClock::store(clock);
  if (l.leads) b.h[l.own] = state.h, b.c[l.own] = state.c;
  return true;
}

template <Weights kWeights, Cell kCell, int kHalfTiles, int kRegSteps, bool kGeneric>
SIMT_FN void resident_mma_block(const RecurrentArgs &a, const BlockOf &of) {
  using Sum = typename MatrixUnits<kWeights>::Sum;
  constexpr uint32_t G = gates_of(kCell), kUnitsPerWarp = units_of_cells<kWeights, kCell>();
  constexpr uint32_t kGroups = (kHalfTiles * 8 / G + kUnitsPerWarp - 1) / kUnitsPerWarp;  // warps' worth of units in a block
  constexpr uint32_t kPasses = kCell == Cell::kGru ? 2 : 1;
  const Shape s = in_halves(kWeights, {G, a.hidden, a.units});
  const ResidentShared at = resident_mma_shared(s, a.batch, a.columns, kRegSteps, a.places);
  constexpr Spare kSpare = spare_beside(2 * kHalfTiles * kRegSteps);
  const ResidentBlock b = place_block<kWeights, kSpare>(a, of.block, at.input, at.c, at.h, at.z, column_stride(s.k) / 2);
  constexpr uint32_t stride = partial_stride_of(kHalfTiles);
  Sum *partials = reinterpret_cast<Sum *>(simt::shared() + at.partial);
  uint16_t *input = reinterpret_cast<uint16_t *>(b.input);
  const uint32_t steps = k_tiles_per_warp(s), bytes = step_bytes(s), lane = b.lane, warp = b.warp;

  uint8_t *rest = simt::shared() + at.weights + warp * (steps > kRegSteps ? steps - kRegSteps : 0) * bytes;
  const uint8_t *mine = a.r + size_t{b.block} * mma_image_bytes(s) + size_t{warp} * steps * bytes;
  HeldWeights<kHalfTiles, kRegSteps> held;
  hold_weights(&held, mine, steps, bytes, lane);
  if (steps > kRegSteps) copy_bytes_of_warp(rest, mine + kRegSteps * bytes, (steps - kRegSteps) * bytes, lane);
  load_units<kCell>(a, of.block, b.h, b.c);
  uint32_t base;
  if (!begin_epochs(a, of, &base)) return time_out(a);
  simt::sync_block();  // the units' states are there

  if constexpr (has_rounds<kHalfTiles, kRegSteps>() && kGroups <= kWarps) {
    if (is_one_round(a, b, kGroups, steps)) {
      load_columns<kWeights, false>(input, nullptr, a.r_bytes.factor, a.hidden, a.batch,
                                    [&](uint32_t n) { return a.h + state_place(a, n); });
      simt::reads_are_told(a.words);
      simt::sync_block();
      if (!run_rounds<kWeights, kCell, kHalfTiles, kRegSteps, kGeneric, kGroups>(a, b, held, rest, steps, bytes, partials, base))
        return time_out(a);
      simt::sync_block();
      store_units<kCell>(a, of.block, b.h, b.c);
      return end_epochs(a, of, base);
    }
  }

  // Group after group of columns, step after step. Where partial sums have two places, a warp may multiply again while another
  // still finishes cells.
  ResidentStep now = {base, 0, 0, 0, 0, 0};
  const uint32_t place_sums = a.places == 2 ? kWarps * a.columns * stride : 0;
  uint32_t place = 0;
  WarpWords mine_words = words_of_warp(b);
  if (kSpare == kForAll) {
    simt::keep(&mine_words.pairs), simt::keep(&mine_words.word), simt::keep(&mine_words.to);
  }
  CellLane cells = {};
  PhaseClock clock;
  PhaseClock::begin(&clock);
  for (; now.t < a.steps; next_columns(a, &now)) {
    begin_columns(a, &now);
    SIMT_ROLLED for (now.pass = 0; now.pass < kPasses; ++now.pass) {
      const KnownCell known = ask_for_cells<kWeights, kCell, kGeneric, kSpare>(a, b, now, kGroups, &cells);
      PhaseClock::end(&clock, kAsk);
      bool failed = false;
      if (now.t == 0 && now.pass == 0) {
        load_columns<kWeights, false>(input, nullptr, a.r_bytes.factor, a.hidden, now.live,
                                      [&](uint32_t n) { return a.h + state_place(a, now.first + n); });
        simt::reads_are_told(a.words);
        simt::sync_block();
      } else if (b.alone) {
        simt::sync_block();
      } else {
        failed = !receive_slice<kWeights>(a, b, now, mine_words);
        if (place_sums == 0) simt::sync_block();
      }
      PhaseClock::end(&clock, kPoll);
      Sum *partial = partials + place;
      place = place_sums - place;
      multiply_tiles<kWeights>(held, {rest, column_words(input, s.k, warp, lane), steps, bytes, now.live}, b, partial);
      PhaseClock::end(&clock, kProducts);
      if (sync_after_poll(failed)) return time_out(a);  // all slices are there
      PhaseClock::end(&clock, kBarrier);
      finish_units<kWeights, kCell, kGeneric, kSpare>(a, b, now, kGroups, cells, known, &clock, [&](uint32_t column, uint32_t row) {
        return sum_slices<kWeights>(partial, column, row, stride);
      });
      PhaseClock::end(&clock, kStore);
    }
  }
  PhaseClock::store(clock);
  simt::sync_block();
  store_units<kCell>(a, of.block, b.h, b.c);
  end_epochs(a, of, base);
}

template <Weights kWeights, Cell kCell, int kHalfTiles, int kRegSteps, bool kGeneric>
SIMT_KERNEL(256)
resident_mma(const RecurrentArgs a) {
  resident_mma_block<kWeights, kCell, kHalfTiles, kRegSteps, kGeneric>(a, all_blocks());
}

template <Weights kWeights, Cell kCell, int kHalfTiles, int kRegSteps>
SIMT_KERNEL(256)
resident_mma_both(const SIMT_PARAMETER BothArgs both) {
  const uint32_t blocks = simt::block_count() / 2, second = simt::block() >= blocks;
  resident_mma_block<kWeights, kCell, kHalfTiles, kRegSteps, false>(both.direction[second],
                                                                    {simt::block() - second * blocks, blocks});
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_KERNELS_RESIDENT_MMA_H_
