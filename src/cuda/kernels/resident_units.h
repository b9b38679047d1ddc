// resident_units.h -- what all resident kernels but f32's do with a block's units: h of all others comes as words (exchange.h),
// sums become cells, and what h becomes is told to all. c and h of the units stay in shared memory. Of bytes, h is quantized to
// int8 by one number for all steps (r_bytes.factor), so whoever makes h sends its bytes, four to a word. A layer in one block, of a
// batch that is computed at once, has nobody to tell: what it would publish goes where it is multiplied.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_KERNELS_RESIDENT_UNITS_H_
#define RNNPACK_CUDA_KERNELS_RESIDENT_UNITS_H_

#include "cuda/kernels/cell.h"
#include "cuda/kernels/exchange.h"
#include "cuda/kernels/phase_clock.h"
#include "cuda/kernels/products_mma.h"

namespace rnnp {
namespace cuda {

template <Weights kWeights>
constexpr uint32_t units_of_word() {
  return are_bytes(kWeights) ? 4 : kWeights == Weights::kBlocks ? 1 : 2;
}
constexpr uint32_t kTileWords = 8;  // of a k-tile
// Units whose cells a warp finishes at once, a lane for each gate: whole words of them.
template <Weights kWeights, Cell kCell>
constexpr uint32_t units_of_cells() {
  return kLanes / gates_of(kCell) / units_of_word<kWeights>() * units_of_word<kWeights>();
}

// What there are registers for beside so many of a thread's 255 that have weights: what is the same in all steps and what can be
// known before the wait; the input's part of a pre-activation alone; nothing.
enum Spare : uint32_t { kForAll, kForPre, kForNothing };
constexpr Spare spare_beside(uint32_t registers) {
  return registers <= 130 ? kForAll : registers < 190 ? kForPre : kForNothing;
}

// A block's part of the layer, and where things lie.
struct ResidentBlock {
  uint32_t block, blocks, lane, warp, units;
  uint32_t words, row_words, slot_words;  // of a row of h, with those that no one writes, of all rows
  uint32_t warp_words;                    // of a row, that a warp of the matrix units multiplies
  uint32_t column_words;                  // from one row of what is multiplied to the next
  float to_byte, to_candidate_byte;       // of bytes, what h and r h are multiplied by
  uint32_t alone;                         // it has nobody to tell
  uint32_t *input;
  float *c, *h, *z;
  uint64_t *rh_words;
};

SIMT_FN bool is_alone(const RecurrentArgs &a) {
  return a.units >= a.hidden && a.batch <= a.columns;
}

template <Weights kWeights, Spare kSpare>
SIMT_FN ResidentBlock place_block(const RecurrentArgs &a, uint32_t block, uint32_t input, uint32_t c, uint32_t h, uint32_t z,
                                  uint32_t column_words) {
  uint8_t *shared = simt::shared();
  ResidentBlock b = {};
  b.block = block, b.blocks = ceil_div(a.hidden, a.units);
  b.lane = simt::thread() % kLanes, b.warp = simt::thread() / kLanes;
  b.units = a.units, b.column_words = column_words;
  b.words = ceil_div(a.hidden, units_of_word<kWeights>());
  b.warp_words = ceil_div(b.words, kWarps * kTileWords) * kTileWords;
  b.row_words = is_sliced(kWeights) ? kWarps * b.warp_words : (b.words + 1) & ~1u;
  b.slot_words = a.batch * b.row_words;
  b.alone = is_alone(a);
  if (are_bytes(kWeights)) b.to_byte = 1.0f / a.r_bytes.factor, b.to_candidate_byte = 1.0f / a.candidate_factor;
  b.input = reinterpret_cast<uint32_t *>(shared + input);
  b.c = reinterpret_cast<float *>(shared + c);
  b.h = reinterpret_cast<float *>(shared + h);
  b.z = reinterpret_cast<float *>(shared + z);
  b.rh_words = a.words + 2 * b.slot_words;
  if (kSpare == kForAll) {
    simt::keep(&b.row_words), simt::keep(&b.slot_words), simt::keep(&b.lane), simt::keep(&b.warp), simt::keep(&b.alone);
    if (are_bytes(kWeights)) simt::keep(&b.to_byte), simt::keep(&b.to_candidate_byte);
  }
  return b;
}

// A lane's part of weights into shared memory: `count` pieces, so far apart there and here. Eight loads are under way at a time.
template <class Piece>
SIMT_FN void copy_pieces(Piece *to, uint32_t to_step, const Piece *from, uint32_t from_step, uint32_t count) {
  constexpr uint32_t kAtOnce = 8;
  uint32_t i = 0;
  SIMT_ROLLED for (; i + kAtOnce <= count; i += kAtOnce) {
    Piece piece[kAtOnce];
    SIMT_UNROLL for (uint32_t j = 0; j < kAtOnce; ++j) piece[j] = from[uint64_t{i + j} * from_step];
    SIMT_UNROLL for (uint32_t j = 0; j < kAtOnce; ++j) to[(i + j) * to_step] = piece[j];
  }
  SIMT_ROLLED for (; i < count; ++i) to[i * to_step] = from[uint64_t{i} * from_step];
}
// A warp's bytes, a multiple of 16: one after the other, here as there.
SIMT_FN void copy_bytes_of_warp(uint8_t *to, const uint8_t *from, uint32_t bytes, uint32_t lane) {
  const uint32_t pieces = bytes / sizeof(Bits4), mine = pieces > lane ? ceil_div(pieces - lane, kLanes) : 0;
  copy_pieces(reinterpret_cast<Bits4 *>(to) + lane, kLanes, reinterpret_cast<const Bits4 *>(from) + lane, kLanes, mine);
}

// The owned units' h and c between the device's memory and the block's. All blocks read all of a.h for step 0, its owner writes its
// part after the last step, and only relaxed words order the two. That suffices: what is written depends on words of every block,
// these on what the block read of a.h, and no value depends on itself (PTX: no thin air).
template <Cell kCell>
SIMT_FN void load_units(const RecurrentArgs &a, uint32_t block, float *h, float *c) {
  for (uint32_t i = simt::thread(); i < a.batch * a.units; i += kThreads) {
    const uint32_t unit = block * a.units + i % a.units;
    const uint64_t at = state_place(a, i / a.units) + unit;
    h[i] = unit < a.hidden ? a.h[at] : 0.0f;
    c[i] = kCell == Cell::kLstm && unit < a.hidden ? a.c[at] : 0.0f;
  }
}
template <Cell kCell>
SIMT_FN void store_units(const RecurrentArgs &a, uint32_t block, const float *h, const float *c) {
  simt::reads_were_told(a.words);
  for (uint32_t i = simt::thread(); i < a.batch * a.units; i += kThreads) {
    const uint32_t unit = block * a.units + i % a.units;
    if (unit >= a.hidden) continue;
    const uint64_t at = state_place(a, i / a.units) + unit;
    a.h[at] = h[i];
    if (kCell == Cell::kLstm) a.c[at] = c[i];
  }
}

// Where word i of a row of h is multiplied: floats of blocks go to the plane of their k. The word that makes a row's number even
// has a place too, which no weight reads.
template <Weights kWeights>
SIMT_FN uint32_t place_of_word(const ResidentBlock &b, uint32_t column, uint32_t i) {
  return column * b.column_words + (kWeights == Weights::kBlocks ? i % 4 * (b.column_words / 4) + i / 4 : i);
}
template <Weights kWeights>
SIMT_FN uint32_t *input_word(const ResidentBlock &b, uint32_t column, uint32_t i) {
  return b.input + place_of_word<kWeights>(b, column, i);
}

// Where a launch is: step t, that is `step` of preact and y; batch rows from first on; of a GRU's two passes which.
struct ResidentStep {
  uint32_t base, t, step, first, live, pass;
};
SIMT_FN uint32_t epoch_of(const ResidentStep &now) {
  return now.base + now.t + 1;
}
SIMT_FN void begin_columns(const RecurrentArgs &a, ResidentStep *now) {
  now->live = a.batch - now->first < a.columns ? a.batch - now->first : a.columns;
  now->step = step_at(a, now->t);
}
SIMT_FN void next_columns(const RecurrentArgs &a, ResidentStep *now) {
  now->first += a.columns;
  if (now->first >= a.batch) now->first = 0, ++now->t;
}

// The words that a pass multiplies: h of the step before, or r h of this one.
struct PassWords {
  const uint64_t *words;
  uint32_t epoch;
};
SIMT_FN PassWords words_of_pass(const RecurrentArgs &a, const ResidentBlock &b, const ResidentStep &now) {
  const uint32_t epoch = now.pass == 1 ? epoch_of(now) : epoch_of(now) - 1;
  return {(now.pass == 1 ? b.rh_words : a.words) + slot_of(epoch) * b.slot_words + now.first * b.row_words, epoch};
}

// Words of the columns to shared memory, by all threads for all. False: time-out.
template <Weights kWeights>
SIMT_FN bool receive(const RecurrentArgs &a, const ResidentBlock &b, const ResidentStep &now) {
  if (b.alone) return true;
  const PassWords from = words_of_pass(a, b, now);
  const auto place = [&](uint32_t i) {
    const uint32_t column = now.live == 1 ? 0 : i / b.row_words;
    return place_of_word<kWeights>(b, column, i - column * b.row_words);
  };
  const auto take = [&](uint32_t to, uint32_t first, uint32_t second) {
    if constexpr (kWeights == Weights::kBlocks) {
      b.input[to] = first, b.input[to + b.column_words / 4] = second;
    } else {
      *reinterpret_cast<Bits2 *>(b.input + to) = {first, second};
    }
  };
  return poll_together(a, from.words, now.live * b.row_words, from.epoch, place, take);
}

// Each warp receives the words of its own k-tiles, which no other warp reads, so that no warp waits for another before it
// multiplies.
struct WarpWords {
  uint32_t pairs, word, to;  // of a row; the warp's first, there and in shared memory
};
SIMT_FN WarpWords words_of_warp(const ResidentBlock &b) {
  constexpr uint32_t kHop = kTileWords * kWarps;
  const uint32_t first = b.warp * kTileWords, left = b.words > first ? b.words - first : 0, rest = left % kHop;
  const uint32_t words = left / kHop * kTileWords + (rest < kTileWords ? rest : kTileWords);
  return {ceil_div(words, 2), b.warp * b.warp_words, first};
}
template <Weights kWeights>
SIMT_FN bool receive_slice(const RecurrentArgs &a, const ResidentBlock &b, const ResidentStep &now, const WarpWords &mine) {
  const PassWords from = words_of_pass(a, b, now);
  const auto place = [&](uint32_t i) {
    const uint32_t column = now.live == 1 ? 0 : i / mine.pairs, p = i - column * mine.pairs;
    return PairPlace{column * b.row_words + mine.word + 2 * p,
                     column * b.column_words + mine.to + p / (kTileWords / 2) * kWarps * kTileWords + 2 * p % kTileWords};
  };
  const auto take = [&](uint32_t to, uint32_t first, uint32_t second) {
    *reinterpret_cast<Bits2 *>(b.input + to) = {first, second};
  };
  const bool received = poll(a, from.words, {b.lane, kLanes, now.live * mine.pairs}, from.epoch, place, take);
  simt::sync_warp();
  return received;
}

// Where word i of a row is among the words.
template <Weights kWeights>
SIMT_FN uint32_t place_among_words(const ResidentBlock &b, uint32_t i) {
  if (!is_sliced(kWeights)) return i;
  const uint32_t tile = i / kTileWords;
  return tile % kWarps * b.warp_words + tile / kWarps * kTileWords + i % kTileWords;
}

// What a lane has of the cells that its warp finishes at once: a gate of a unit of a column.
struct CellLane {
  uint32_t n, column, row, unit, own;  // row: of the block; own: where the unit's c and h lie
  uint32_t units_left;                 // of the layer, from this one on
  bool owned, exists, leads, tells;    // leads: has the unit's first gate; tells: and its word's first unit
  uint64_t *word;                      // that the unit is in, of h's first slot
  const float *preact;                 // the input's part of its pre-activation
  float *y;
  int64_t preact_step, y_step;  // to the next step's
  float r_bias, scale;          // of a linear GRU's candidate; of bytes, of its row
};
// groups: warps' worth of units in a block, an item each for each column.
template <Weights kWeights, Cell kCell>
SIMT_FN CellLane cells_of(const RecurrentArgs &a, const ResidentBlock &b, const ResidentStep &now, uint32_t groups, uint32_t item) {
  constexpr uint32_t G = gates_of(kCell), kUnits = units_of_cells<kWeights, kCell>();
  CellLane l;
  l.column = item / groups;
  l.n = now.first + l.column;
  l.row = item % groups * kUnits * G + b.lane;
  const uint32_t u = l.row / G;
  l.unit = b.block * b.units + u;
  l.own = l.n * b.units + u;
  l.owned = l.column < now.live && b.lane < kUnits * G && u < b.units;
  l.exists = l.owned && l.unit < a.hidden;
  l.units_left = l.unit < a.hidden ? a.hidden - l.unit : 0;
  l.leads = l.exists && b.lane % G == 0;
  l.tells = l.leads && l.unit % units_of_word<kWeights>() == 0;
  l.word = a.words + l.n * b.row_words + place_among_words<kWeights>(b, l.unit / units_of_word<kWeights>());
  l.preact = a.preact + ((uint64_t{now.step} * a.batch + l.n) * b.blocks + b.block) * (b.units * G) + l.row;
  l.y = a.y == nullptr ? nullptr : a.y + (uint64_t{now.step} * a.batch + l.n) * a.y_row + l.unit;
  const int64_t direction = a.reverse ? -1 : 1;
  l.preact_step = direction * static_cast<int64_t>(uint64_t{a.batch} * b.blocks * (b.units * G));
  l.y_step = a.y == nullptr ? 0 : direction * static_cast<int64_t>(a.batch * a.y_row);
  l.r_bias = kCell == Cell::kGruLinear && l.exists ? a.r_bias[l.unit] : 0.0f;
  l.scale =
      are_bytes(kWeights) && kWeights != Weights::kI4 && l.exists ? a.r_bytes.scale[uint64_t{b.block} * b.units * G + l.row] : 0.0f;
  return l;
}
// The first that a warp finishes, found before it waits. Where all columns are computed at a time they are the last step's, a step
// on.
template <Weights kWeights, Cell kCell>
SIMT_FN void first_cells(const RecurrentArgs &a, const ResidentBlock &b, const ResidentStep &now, uint32_t groups, CellLane *l) {
  if (now.t == 0 || now.live != a.batch) {
    *l = cells_of<kWeights, kCell>(a, b, now, groups, b.warp);
    simt::keep(&l->own), simt::keep(&l->row), simt::keep(&l->word), simt::keep(&l->units_left);
    simt::keep(&l->preact_step), simt::keep(&l->y_step), simt::keep(&l->y), simt::keep(&l->preact);
    return;
  }
  l->preact += l->preact_step, l->y += l->y_step;
}

// The value of a lane's unit, and those of its neighbours where it begins a word, as one word. v: of every lane's unit.
template <Weights kWeights>
SIMT_FN void publish(const ResidentBlock &b, const CellLane &l, uint64_t *word, bool tells, float v, uint32_t gates, float to_byte,
                     uint32_t epoch) {
  constexpr uint32_t kUnits = units_of_word<kWeights>();
  uint32_t payload = 0;
  if constexpr (are_bytes(kWeights)) {
    const int32_t mine = byte_of(v * to_byte);
    SIMT_UNROLL for (uint32_t i = 0; i < kUnits; ++i) {
      const int32_t other = simt::shuffle_word(mine, (b.lane + i * gates) & 31);
      if (i < l.units_left) payload |= static_cast<uint32_t>(other & 255) << 8 * i;
    }
  } else if constexpr (kWeights == Weights::kBlocks) {
    memcpy(&payload, &v, sizeof payload);
  } else {
    const float next = simt::shuffle(v, (b.lane + gates) & 31);
    payload = MatrixUnits<kWeights>::pair(v, l.units_left > 1 ? next : 0.0f);
  }
  if (!tells) return;
  if (b.alone) {
    *input_word<kWeights>(b, l.n, l.unit / kUnits) = payload;
  } else {
    simt::ll_store(word, payload, epoch);
  }
}

// A word that only makes a pair whole has no writer: the last block keeps it company.
template <Weights kWeights>
SIMT_FN void publish_padding(const RecurrentArgs &a, const ResidentBlock &b, uint32_t first, const ResidentStep &now) {
  if (b.words % 2 == 0 || b.block != b.blocks - 1 || simt::thread() >= now.live) return;
  uint64_t *word = a.words + first + (now.first + simt::thread()) * b.row_words + place_among_words<kWeights>(b, b.words);
  simt::ll_store(word, 0, epoch_of(now));
}

// Of chained sums (device_layout.h): the pre-activation that a sum ends as, added to what it begins with.
template <Weights kWeights, class Sum>
SIMT_FN float end_chain(const RecurrentArgs &a, uint64_t row, float scale, float start, Sum sum, uint32_t pass, const float *own) {
  if constexpr (are_bytes(kWeights)) {
    return add_bytes(a.r_bytes, row, scale, start, sum, pass == 1 ? a.candidate_factor : a.r_bytes.factor, own);
  } else {
    return sum + start;
  }
}

// What is known of a lane's cell before its sum is.
struct KnownCell {
  float pre;  // the input's part
  UnitState unit;
  bool ended;
  uint64_t *word;  // of its slot
};
template <Weights kWeights, Cell kCell, bool kGeneric>
SIMT_FN KnownCell known_of(const RecurrentArgs &a, const ResidentBlock &b, const ResidentStep &now, const CellLane &l) {
  KnownCell k = {0.0f, {0.0f, 0.0f, l.r_bias, {0.0f, 0.0f, 0.0f}}, false, l.word + slot_of(epoch_of(now)) * b.slot_words};
  if (kCell == Cell::kGru && now.pass == 0) k.word += 2 * b.slot_words;
  if (l.owned) k.pre = *l.preact, k.unit.h = b.h[l.own], k.unit.c = b.c[l.own];
  if (l.exists) load_peephole<kCell, kGeneric>(a, l.unit, &k.unit);
  k.ended = l.owned && row_has_ended(a, now.step, l.n);
  simt::keep(&k.word);
  return k;
}

// A lane's part of a cell: h and c after the step; of a GRU's first pass r h, and z. sum: of R h.
struct CellValues {
  float h, c, z;
};
template <Weights kWeights, Cell kCell, bool kGeneric, class Sum>
SIMT_FN CellValues cell_of(const RecurrentArgs &a, const ResidentBlock &b, uint32_t pass, const CellLane &l, float pre,
                           UnitState unit, float z, Sum sum) {
  constexpr uint32_t G = gates_of(kCell);
  const GateLane gate = {b.lane / G * G, 1, b.lane % G};
  float rec = 0.0f;
  if constexpr (!is_chained(kWeights)) {
    rec = sum;
  } else if (l.exists) {
    const bool apart = kCell == Cell::kGruLinear && gate.gate == 2;
    const float v =
        end_chain<kWeights>(a, uint64_t{b.block} * b.units * G + l.row, l.scale, apart ? unit.r_bias : pre, sum, pass, &unit.h);
    if (apart) rec = v;
    if (!apart) pre = v;
  }
  if (is_chained(kWeights)) unit.r_bias = 0.0f;
  CellValues v = {0.0f, unit.c, z};
  if constexpr (kCell == Cell::kGru) {
    v.h = pass == 0 ? gru_gates<kGeneric>(a.rules, gate, pre, rec, unit.h, &v.z)
                    : gru_output<kGeneric>(a.rules, gate, pre, rec, unit.h, z);
  } else {
    v.h = finish_cell<kCell, kGeneric>(a.rules, gate, pre, rec, unit, &v.c);
  }
  return v;
}

template <Weights kWeights, Cell kCell, bool kGeneric, class Sum>
SIMT_FN void finish_cell_of(const RecurrentArgs &a, const ResidentBlock &b, const ResidentStep &now, const CellLane &l,
                            const KnownCell &k, Sum sum, PhaseClock *clock) {
  constexpr uint32_t G = gates_of(kCell);
  const bool gates_only = kCell == Cell::kGru && now.pass == 0;
  const float z = kCell == Cell::kGru && !gates_only && l.owned ? b.z[l.own] : 0.0f;
  CellValues v = cell_of<kWeights, kCell, kGeneric>(a, b, now.pass, l, k.pre, k.unit, z, sum);
  if (!gates_only && k.ended) v.h = k.unit.h, v.c = k.unit.c;
  PhaseClock::end(clock, kCells);
  publish<kWeights>(b, l, k.word, l.tells && (gates_only || now.t + 1 < a.steps), v.h, G,
                    gates_only ? b.to_candidate_byte : b.to_byte, epoch_of(now));
  PhaseClock::end(clock, kPublish);
  if (gates_only) {
    if (l.leads) b.z[l.own] = v.z;
    return;
  }
  simt::sync_warp();  // all lanes of the unit have read the old state
  if (!l.leads) return;
  b.h[l.own] = v.h, b.c[l.own] = v.c;
  if (l.y != nullptr) *l.y = k.ended ? 0.0f : v.h;
}

// What a lane has of its warp's first cells, before the wait: all that can be known, or what there is room for.
template <Weights kWeights, Cell kCell, bool kGeneric, Spare kSpare>
SIMT_FN KnownCell ask_for_cells(const RecurrentArgs &a, const ResidentBlock &b, const ResidentStep &now, uint32_t groups,
                                CellLane *first) {
  if constexpr (kSpare == kForAll) {
    if (now.pass == 0) first_cells<kWeights, kCell>(a, b, now, groups, first);
    return known_of<kWeights, kCell, kGeneric>(a, b, now, *first);
  } else {
    const CellLane l = cells_of<kWeights, kCell>(a, b, now, groups, b.warp);
    KnownCell k = {};
    if (kSpare == kForPre && l.owned) k.pre = *l.preact;
    return k;
  }
}

// All cells of the block's units and these columns. first, known: ask_for_cells(); sum_of(column, row): of R h.
template <Weights kWeights, Cell kCell, bool kGeneric, Spare kSpare, class SumOf>
SIMT_FN void finish_units(const RecurrentArgs &a, const ResidentBlock &b, const ResidentStep &now, uint32_t groups,
                          const CellLane &first, const KnownCell &known, PhaseClock *clock, SumOf sum_of) {
  const auto sum = [&](const CellLane &l) { return l.owned ? sum_of(l.column, l.row) : 0; };
  const uint32_t items = now.live * groups;  // the same for all lanes of a warp
  if (b.warp < items) {
    if constexpr (kSpare == kForAll) {
      finish_cell_of<kWeights, kCell, kGeneric>(a, b, now, first, known, sum(first), clock);
    } else {
      ResidentStep again = now;
      simt::renew(&again.step), simt::renew(&again.first);
      const CellLane l = cells_of<kWeights, kCell>(a, b, again, groups, b.warp);
      KnownCell k = known_of<kWeights, kCell, kGeneric>(a, b, again, l);
      if (kSpare == kForPre) k.pre = known.pre;
      finish_cell_of<kWeights, kCell, kGeneric>(a, b, now, l, k, sum(l), clock);
    }
  }
  SIMT_ROLLED for (uint32_t item = b.warp + kWarps; item < items; item += kWarps) {
    const CellLane l = cells_of<kWeights, kCell>(a, b, now, groups, item);
    finish_cell_of<kWeights, kCell, kGeneric>(a, b, now, l, known_of<kWeights, kCell, kGeneric>(a, b, now, l), sum(l), clock);
  }
  simt::sync_warp();  // states are read by all lanes of their unit
  if (kCell == Cell::kGru && now.pass == 0) {
    publish_padding<kWeights>(a, b, slot_of(epoch_of(now)) * b.slot_words + 2 * b.slot_words, now);
  } else if (now.t + 1 < a.steps) {
    publish_padding<kWeights>(a, b, slot_of(epoch_of(now)) * b.slot_words, now);
  }
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_KERNELS_RESIDENT_UNITS_H_
