// resident_units.h -- what all resident kernels but f32's do with a block's units: h of all others comes as words (exchange.h),
// sums become cells, and what h becomes is told to all. c and h of the units stay in shared memory. Of bytes, h is quantized to
// int8 by one number for all steps (r_bytes.factor), so whoever makes h sends its bytes, four to a word. A layer in one block, of a
// batch that is computed at once, has nobody to tell: what it would publish goes where it is multiplied.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_KERNELS_RESIDENT_UNITS_H_
#define RNNPACK_CUDA_KERNELS_RESIDENT_UNITS_H_

#include "cuda/kernels/cell.h"
#include "cuda/kernels/exchange.h"
#include "cuda/kernels/products_mma.h"

namespace rnnp {
namespace cuda {

template <Weights kWeights>
constexpr uint32_t units_of_word() {
  return are_bytes(kWeights) ? 4 : kWeights == Weights::kBlocks ? 1 : 2;
}
// Units whose cells a warp finishes at once, a lane for each gate: whole words of them.
template <Weights kWeights, Cell kCell>
constexpr uint32_t units_of_cells() {
  return kLanes / gates_of(kCell) / units_of_word<kWeights>() * units_of_word<kWeights>();
}

// A block's part of the layer, and where things lie.
struct ResidentBlock {
  uint32_t block, blocks, lane, warp, units;
  uint32_t words, row_words, slot_words;  // of a row of h, with the one that makes their number even, of all rows
  uint32_t column_words;                  // from one row of what is multiplied to the next
  uint32_t *input;
  float *c, *h, *z;
  uint64_t *rh_words;
};

template <Weights kWeights>
SIMT_FN ResidentBlock place_block(const RecurrentArgs &a, uint32_t block, uint32_t input, uint32_t c, uint32_t h, uint32_t z,
                                  uint32_t column_words) {
  uint8_t *shared = simt::shared();
  ResidentBlock b = {};
  b.block = block, b.blocks = ceil_div(a.hidden, a.units);
  b.lane = simt::thread() % kLanes, b.warp = simt::thread() / kLanes;
  b.units = a.units, b.column_words = column_words;
  b.words = ceil_div(a.hidden, units_of_word<kWeights>()), b.row_words = (b.words + 1) & ~1u, b.slot_words = a.batch * b.row_words;
  b.input = reinterpret_cast<uint32_t *>(shared + input);
  b.c = reinterpret_cast<float *>(shared + c);
  b.h = reinterpret_cast<float *>(shared + h);
  b.z = reinterpret_cast<float *>(shared + z);
  b.rh_words = a.words + 2 * b.slot_words;
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

SIMT_FN bool is_alone(const RecurrentArgs &a) {
  return a.units >= a.hidden && a.batch <= a.columns;
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

// Words of the columns to shared memory: h of the step before, or r h of this one. False: time-out.
template <Weights kWeights>
SIMT_FN bool receive(const RecurrentArgs &a, const ResidentBlock &b, const ResidentStep &now) {
  if (is_alone(a)) return true;
  const uint32_t epoch = now.pass == 1 ? epoch_of(now) : epoch_of(now) - 1;
  const uint64_t *words = (now.pass == 1 ? b.rh_words : a.words) + slot_of(epoch) * b.slot_words + now.first * b.row_words;
  const auto place = [&](uint32_t i) {
    const uint32_t column = now.live == 1 ? 0 : i / b.row_words;
    return place_of_word<kWeights>(b, column, i - column * b.row_words);
  };
  return poll(a, words, now.live * b.row_words, epoch, place, [&](uint32_t to, uint32_t first, uint32_t second) {
    if constexpr (kWeights == Weights::kBlocks) {
      b.input[to] = first, b.input[to + b.column_words / 4] = second;
    } else {
      *reinterpret_cast<Bits2 *>(b.input + to) = {first, second};
    }
  });
}

// The value of unit u, and those of its neighbours where u begins a word, as one word. v: of every lane's unit.
template <Weights kWeights>
SIMT_FN void publish(const RecurrentArgs &a, const ResidentBlock &b, uint64_t *words, uint32_t n, uint32_t u, bool leads, float v,
                     uint32_t gates, float factor, uint32_t epoch) {
  constexpr uint32_t kUnits = units_of_word<kWeights>();
  const uint32_t unit = b.block * b.units + u;
  uint32_t payload = 0;
  if constexpr (are_bytes(kWeights)) {
    const int32_t mine = byte_of(v * (1.0f / factor));
    SIMT_UNROLL for (uint32_t i = 0; i < kUnits; ++i) {
      const int32_t other = simt::shuffle_word(mine, (b.lane + i * gates) & 31);
      if (unit + i < a.hidden) payload |= static_cast<uint32_t>(other & 255) << 8 * i;
    }
  } else if constexpr (kWeights == Weights::kBlocks) {
    memcpy(&payload, &v, sizeof payload);
  } else {
    const float next = simt::shuffle(v, (b.lane + gates) & 31);
    payload = MatrixUnits<kWeights>::pair(v, unit + 1 < a.hidden ? next : 0.0f);
  }
  if (!leads || u % kUnits != 0) return;
  if (is_alone(a)) {
    *input_word<kWeights>(b, n, unit / kUnits) = payload;
  } else {
    simt::ll_store(words + slot_of(epoch) * b.slot_words + n * b.row_words + unit / kUnits, payload, epoch);
  }
}

// A word that only makes a row's number even has no writer: the last block keeps it company.
SIMT_FN void publish_padding(const ResidentBlock &b, uint64_t *words, const ResidentStep &now) {
  if (b.words % 2 != 0 && b.block == b.blocks - 1 && simt::thread() < now.live)
    simt::ll_store(words + slot_of(epoch_of(now)) * b.slot_words + (now.first + simt::thread()) * b.row_words + b.words, 0,
                   epoch_of(now));
}

// The input's part of a lane's pre-activation; groups: warps' worth of units in a block, an item each for each column.
template <Weights kWeights, Cell kCell>
SIMT_FN float preact_of(const RecurrentArgs &a, const ResidentBlock &b, const ResidentStep &now, uint32_t groups, uint32_t item) {
  constexpr uint32_t G = gates_of(kCell), kUnits = units_of_cells<kWeights, kCell>();
  const uint32_t n = item / groups, row = item % groups * kUnits * G + b.lane, rows = b.units * G;
  const bool there = n < now.live && b.lane < kUnits * G && row < rows;
  return there ? a.preact[((uint64_t{now.step} * a.batch + now.first + n) * b.blocks + b.block) * rows + row] : 0.0f;
}

// Of chained sums (device_layout.h): the pre-activation that a sum ends as, added to what it begins with.
template <Weights kWeights, class Sum>
SIMT_FN float end_chain(const RecurrentArgs &a, uint64_t row, float start, Sum sum, uint32_t pass, const float *own) {
  if constexpr (are_bytes(kWeights)) {
    return add_bytes(a.r_bytes, row, start, sum, pass == 1 ? a.candidate_factor : a.r_bytes.factor, own);
  } else {
    return sum + start;
  }
}

// All cells of the block's units and these columns. pre: preact_of this warp's first; sum_of(column, unit, gate): of R h.
template <Weights kWeights, Cell kCell, bool kGeneric, class SumOf>
SIMT_FN void finish_units(const RecurrentArgs &a, const ResidentBlock &b, const ResidentStep &now, uint32_t groups, float pre,
                          SumOf sum_of) {
  constexpr uint32_t G = gates_of(kCell), kUnits = units_of_cells<kWeights, kCell>();
  SIMT_ROLLED for (uint32_t item = b.warp; item < now.live * groups; item += kWarps) {  // the same for all lanes of a warp
    const uint32_t column = item / groups, n = now.first + column, row = item % groups * kUnits * G + b.lane, u = row / G;
    const bool owned = b.lane < kUnits * G && u < b.units, exists = owned && b.block * b.units + u < a.hidden;
    const GateLane gate = {b.lane / G * G, 1, b.lane % G};
    const auto sum = owned ? sum_of(column, u, gate.gate) : 0;
    const uint32_t own = n * b.units + u;
    UnitState unit = {owned ? b.h[own] : 0.0f, owned ? b.c[own] : 0.0f, 0.0f, {0.0f, 0.0f, 0.0f}};
    if (kCell == Cell::kGruLinear && exists) unit.r_bias = a.r_bias[b.block * b.units + u];
    if (exists) load_peephole<kCell, kGeneric>(a, b.block * b.units + u, &unit);
    float rec = 0.0f;
    if constexpr (!is_chained(kWeights)) {
      rec = sum;
    } else if (exists) {
      const bool apart = kCell == Cell::kGruLinear && gate.gate == 2;
      const float v =
          end_chain<kWeights>(a, uint64_t{b.block} * b.units * G + row, apart ? unit.r_bias : pre, sum, now.pass, &unit.h);
      if (apart) rec = v;
      if (!apart) pre = v;
    }
    if (is_chained(kWeights)) unit.r_bias = 0.0f;
    const bool leads = exists && row % G == 0, more = now.t + 1 < a.steps;
    if (kCell == Cell::kGru && now.pass == 0) {
      float z;
      const float rh = gru_gates<kGeneric>(a.rules, gate, pre, rec, unit.h, &z);
      publish<kWeights>(a, b, b.rh_words, n, u, leads, rh, G, a.candidate_factor, epoch_of(now));
      if (leads) b.z[own] = z;
    } else {
      float c_new = unit.c, h_new;
      if constexpr (kCell == Cell::kGru) {
        h_new = gru_output<kGeneric>(a.rules, gate, pre, rec, unit.h, owned ? b.z[own] : 0.0f);
      } else {
        h_new = finish_cell<kCell, kGeneric>(a.rules, gate, pre, rec, unit, &c_new);
      }
      const bool ended = row_has_ended(a, now.step, n);
      if (ended) h_new = unit.h, c_new = unit.c;
      publish<kWeights>(a, b, a.words, n, u, leads && more, h_new, G, a.r_bytes.factor, epoch_of(now));
      simt::sync_warp();  // all lanes of the unit have read the old state
      if (leads) {
        b.h[own] = h_new, b.c[own] = c_new;
        if (a.y != nullptr) a.y[(uint64_t{now.step} * a.batch + n) * a.y_row + b.block * b.units + u] = ended ? 0.0f : h_new;
      }
    }
    pre = preact_of<kWeights, kCell>(a, b, now, groups, item + kWarps);
  }
  if (kCell == Cell::kGru && now.pass == 0) {
    publish_padding(b, b.rh_words, now);
  } else if (now.t + 1 < a.steps) {
    publish_padding(b, a.words, now);
  }
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_KERNELS_RESIDENT_UNITS_H_
