// resident_mma.h -- the resident recurrence on the matrix units, weights of f16, bf16 or int8: one launch for many steps, one block
// per SM. Weights stay in registers and shared memory, c and h of a block's units never leave it, h of all others comes as words
// (exchange.h).
//
//   a step:  ask for preact(t) | poll h(t-1) into shared | meet | products | partial sums | meet | cells | publish h(t), write y
//
// A GRU that resets h before it multiplies does this twice: z, r and r h first, then the candidate from the words of r h; all rows
// are multiplied both times. Batches of more than 8 go group by group; the others' words travel meanwhile.
// int8: h is made bytes by one number for all steps (r_bytes.factor), so whoever makes h sends its bytes, four to a word.
// A layer in one block, of a batch that is computed at once, has nobody to tell: what it would publish goes where it is multiplied.
// kHalfTiles: row tiles of 8 rows, exactly those of the block's shape. kRegSteps: k-tiles per warp whose weights live in registers.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_KERNELS_RESIDENT_MMA_H_
#define RNNPACK_CUDA_KERNELS_RESIDENT_MMA_H_

#include "cuda/kernels/cell.h"
#include "cuda/kernels/exchange.h"
#include "cuda/kernels/products_mma.h"

namespace rnnp {
namespace cuda {

// The weights of this warp that live in registers. Indexed by constants only.
template <int kHalfTiles, int kRegSteps>
struct HeldWeights {
  static constexpr uint32_t kTiles = (kHalfTiles + 1) / 2;
  uint32_t w[kRegSteps][kHalfTiles * 2];

  static constexpr bool is_half(uint32_t tile) { return kHalfTiles % 2 != 0 && tile == kTiles - 1; }
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

// This warp's k-tiles times the columns in shared memory: those in registers, then the rest from shared memory.
template <Weights kWeights, int kHalfTiles, int kRegSteps>
SIMT_FN void multiply_held(const HeldWeights<kHalfTiles, kRegSteps> &held, const uint8_t *rest, const uint32_t *words, bool column,
                           uint32_t steps, uint32_t bytes, uint32_t lane, typename MatrixUnits<kWeights>::Sum acc[][4]) {
  using Held = HeldWeights<kHalfTiles, kRegSteps>;
  SIMT_UNROLL for (uint32_t m = 0; m < Held::kTiles; ++m) acc[m][0] = acc[m][1] = acc[m][2] = acc[m][3] = 0;
  SIMT_UNROLL for (uint32_t i = 0; i < kRegSteps; ++i) {
    if (i >= steps) break;
    uint32_t b[2];
    load_column(words, column, i, b);
    SIMT_UNROLL for (uint32_t m = 0; m < Held::kTiles; ++m) {
      constexpr uint32_t kLast = kHalfTiles * 2 - 1;
      const bool half = Held::is_half(m);
      const uint32_t f[4] = {held.w[i][4 * m], half ? 0 : held.w[i][4 * m + 1], held.w[i][half ? 4 * m + 1 : 4 * m + 2],
                             half ? 0 : held.w[i][half ? kLast : 4 * m + 3]};
      MatrixUnits<kWeights>::multiply(acc[m], f, b);
    }
  }
  SIMT_ROLLED for (uint32_t i = kRegSteps; i < steps; ++i) {
    uint32_t b[2];
    load_column(words, column, i, b);
    SIMT_UNROLL for (uint32_t m = 0; m < Held::kTiles; ++m) {
      uint32_t f[4];
      load_fragment(rest + (i - kRegSteps) * bytes + m * 512, Held::is_half(m), lane, f);
      MatrixUnits<kWeights>::multiply(acc[m], f, b);
    }
  }
}

// A block's part of the layer, and where things lie.
struct ResidentBlock {
  Shape shape;
  uint32_t block, blocks, lane, warp, batch, units, hidden, columns, stride, partial_stride;
  uint32_t words, row_words, slot_words;  // of a row of h, with the one that makes their number even, of all rows
  uint16_t *input;
  float *c, *h, *z;
};

SIMT_FN ResidentBlock place_block(const RecurrentArgs &a, const ResidentShared &at, const Shape &shape, uint32_t per_word) {
  uint8_t *shared = simt::shared();
  ResidentBlock b = {};
  b.shape = shape;
  b.block = simt::block(), b.blocks = ceil_div(a.hidden, a.units);
  b.lane = simt::thread() % kLanes, b.warp = simt::thread() / kLanes;
  b.batch = a.batch, b.units = a.units, b.hidden = a.hidden, b.columns = a.columns;
  b.stride = column_stride(shape.k), b.partial_stride = partial_stride(b.shape);
  b.words = ceil_div(a.hidden, per_word), b.row_words = (b.words + 1) & ~1u, b.slot_words = a.batch * b.row_words;
  b.input = reinterpret_cast<uint16_t *>(shared + at.input);
  b.c = reinterpret_cast<float *>(shared + at.c);
  b.h = reinterpret_cast<float *>(shared + at.h);
  b.z = reinterpret_cast<float *>(shared + at.z);
  return b;
}

// The owned units' h and c between the device's memory and the block's.
template <Cell kCell>
SIMT_FN void load_units(const RecurrentArgs &a, float *h, float *c) {
  for (uint32_t i = simt::thread(); i < a.batch * a.units; i += kThreads) {
    const uint32_t unit = simt::block() * a.units + i % a.units;
    const uint64_t at = state_place(a, i / a.units) + unit;
    h[i] = unit < a.hidden ? a.h[at] : 0.0f;
    c[i] = kCell == Cell::kLstm && unit < a.hidden ? a.c[at] : 0.0f;
  }
}
template <Cell kCell>
SIMT_FN void store_units(const RecurrentArgs &a, const float *h, const float *c) {
  for (uint32_t i = simt::thread(); i < a.batch * a.units; i += kThreads) {
    const uint32_t unit = simt::block() * a.units + i % a.units;
    if (unit >= a.hidden) continue;
    const uint64_t at = state_place(a, i / a.units) + unit;
    a.h[at] = h[i];
    if (kCell == Cell::kLstm) a.c[at] = c[i];
  }
}

SIMT_FN bool is_alone(const RecurrentArgs &a) {
  return a.units >= a.hidden && a.batch <= a.columns;
}

// Words of a group of columns to shared memory. False: time-out.
SIMT_FN bool receive(const RecurrentArgs &a, const ResidentBlock &b, const uint64_t *words, uint32_t first, uint32_t live,
                     uint32_t epoch) {
  uint32_t *to = reinterpret_cast<uint32_t *>(b.input);
  if (is_alone(a)) return true;
  return poll(a, words + slot_of(epoch) * b.slot_words + first * b.row_words, live * b.row_words, epoch,
              [&](uint32_t i, uint32_t payload) {
                if (i % b.row_words < b.words) to[i / b.row_words * (b.stride / 2) + i % b.row_words] = payload;
              });
}

template <Weights kWeights>
constexpr uint32_t units_of_word() {
  return kWeights == Weights::kI8 ? 4 : 2;
}

// The value of unit u, and those of its neighbours where u begins a word, as one word. v: of every lane's unit.
template <Weights kWeights>
SIMT_FN void publish(const RecurrentArgs &a, const ResidentBlock &b, uint64_t *words, uint32_t n, uint32_t u, bool leads, float v,
                     uint32_t gates, float factor, uint32_t epoch) {
  constexpr uint32_t kUnits = units_of_word<kWeights>();
  const uint32_t unit = b.block * b.units + u;
  uint32_t payload = 0;
  if constexpr (kWeights == Weights::kI8) {
    const int32_t mine = byte_of(v * (1.0f / factor));
    SIMT_UNROLL for (uint32_t i = 0; i < kUnits; ++i) {
      const int32_t other = simt::shuffle_word(mine, (b.lane + i * gates) & 31);
      if (unit + i < b.hidden) payload |= static_cast<uint32_t>(other & 255) << 8 * i;
    }
  } else {
    const float next = simt::shuffle(v, (b.lane + gates) & 31);
    payload = MatrixUnits<kWeights>::pair(v, unit + 1 < b.hidden ? next : 0.0f);
  }
  if (!leads || u % kUnits != 0) return;
  if (is_alone(a)) {
    reinterpret_cast<uint32_t *>(b.input)[n * (b.stride / 2) + unit / kUnits] = payload;
  } else {
    simt::ll_store(words + slot_of(epoch) * b.slot_words + n * b.row_words + unit / kUnits, payload, epoch);
  }
}

// A word that only makes a row's number even has no writer: the last block keeps it company.
SIMT_FN void publish_padding(const ResidentBlock &b, uint64_t *words, uint32_t first, uint32_t live, uint32_t epoch) {
  if (b.words % 2 != 0 && b.block == b.blocks - 1 && simt::thread() < live)
    simt::ll_store(words + slot_of(epoch) * b.slot_words + (first + simt::thread()) * b.row_words + b.words, 0, epoch);
}

template <Weights kWeights, Cell kCell, int kHalfTiles, int kRegSteps>
SIMT_KERNEL(256)
resident_mma(const RecurrentArgs a) {
  using Sum = typename MatrixUnits<kWeights>::Sum;
  constexpr bool kBytes = kWeights == Weights::kI8;
  constexpr uint32_t G = gates_of(kCell), kTiles = (kHalfTiles + 1) / 2;
  constexpr uint32_t kUnitsPerWarp = kLanes / G / units_of_word<kWeights>() * units_of_word<kWeights>();  // whole words of them
  constexpr uint32_t kGroups = (kHalfTiles * 8 / G + kUnitsPerWarp - 1) / kUnitsPerWarp;  // warps' worth of units in a block
  constexpr uint32_t kPasses = kCell == Cell::kGru ? 2 : 1;
  const Shape s = in_halves(kWeights, {G, a.hidden, a.units});
  const ResidentShared at = resident_mma_shared(s, a.batch, a.columns, kRegSteps);
  const ResidentBlock b = place_block(a, at, s, units_of_word<kWeights>());
  Sum *partial = reinterpret_cast<Sum *>(simt::shared() + at.partial);
  const uint32_t steps = k_tiles_per_warp(s), bytes = step_bytes(s), rows = mma_rows(s), lane = b.lane, warp = b.warp;
  uint64_t *rh_words = a.words + 2 * b.slot_words;

  uint8_t *rest = simt::shared() + at.weights + warp * (steps > kRegSteps ? steps - kRegSteps : 0) * bytes;
  const uint8_t *mine = a.r + size_t{b.block} * mma_image_bytes(s) + size_t{warp} * steps * bytes;
  HeldWeights<kHalfTiles, kRegSteps> held;
  hold_weights(&held, mine, steps, bytes, lane);
  SIMT_ROLLED for (uint32_t i = kRegSteps; i < steps; ++i) SIMT_ROLLED for (uint32_t o = lane * 8; o < bytes; o += 256) *
      reinterpret_cast<Bits2 *>(rest + (i - kRegSteps) * bytes + o) = *reinterpret_cast<const Bits2 *>(mine + i * bytes + o);
  load_units<kCell>(a, b.h, b.c);
  uint32_t base;
  if (!begin_epochs(a, &base)) return time_out(a);

  // Group after group of columns, step after step.
  for (uint32_t t = 0, first = 0; t < a.steps; first + a.columns < a.batch ? first += a.columns : (first = 0, ++t)) {
    const uint32_t live = a.batch - first < a.columns ? a.batch - first : a.columns, step = step_at(a, t);
    const auto preact_of = [&](uint32_t item) {
      const uint32_t n = item / kGroups, row = item % kGroups * kUnitsPerWarp * G + lane;
      const bool there = n < live && lane < kUnitsPerWarp * G && row < rows;
      return there ? a.preact[((uint64_t{step} * a.batch + first + n) * b.blocks + b.block) * rows + row] : 0.0f;
    };
    SIMT_ROLLED for (uint32_t pass = 0; pass < kPasses; ++pass) {
      float pre = preact_of(warp);  // of the first cells this warp will finish: asked for before the wait
      bool failed = false;          // what the input held was last read before the meeting after the sums: its place is free
      if (pass == 1) {
        failed = !receive(a, b, rh_words, first, live, base + t + 1);
      } else if (t != 0) {
        failed = !receive(a, b, a.words, first, live, base + t);
      } else {
        load_columns<kWeights>(b.input, nullptr, a.r_bytes.factor, a.hidden, live,
                               [&](uint32_t n) { return a.h + state_place(a, first + n); });
      }
      if (meet_after_poll(failed)) return time_out(a);

      Sum acc[kTiles][4];
      multiply_held<kWeights>(held, rest, column_words(b.input, s.k, warp, lane), lane / 4 < live, steps, bytes, lane, acc);
      SIMT_UNROLL for (uint32_t m = 0; m < kTiles; ++m)
          store_sums(acc[m], partial, m, b.partial_stride, a.columns, live, warp, lane);
      simt::sync_block();  // all slices are there

      SIMT_ROLLED for (uint32_t item = warp; item < live * kGroups; item += kWarps) {  // the same for all lanes of a warp
        const uint32_t column = item / kGroups, n = first + column, row = item % kGroups * kUnitsPerWarp * G + lane, u = row / G;
        const bool owned = lane < kUnitsPerWarp * G && u < b.units, exists = owned && b.block * b.units + u < a.hidden;
        const Sum sum = owned ? sum_slices(partial, column, row, b.partial_stride, a.columns) : 0;
        const GateLane gate = {lane / G * G, 1, lane % G};
        const uint32_t own = n * b.units + (owned ? u : 0);
        UnitState unit = {b.h[own], b.c[own], 0.0f, {0.0f, 0.0f, 0.0f}};
        if (kCell == Cell::kGruLinear && exists) unit.r_bias = a.r_bias[b.block * b.units + u];
        float rec = 0.0f;
        if constexpr (!kBytes) {
          rec = sum;
        } else if (exists) {
          const bool apart = kCell == Cell::kGruLinear && gate.gate == 2;
          const float v = add_bytes(a.r_bytes, uint64_t{b.block} * rows + row, apart ? unit.r_bias : pre, sum,
                                    pass == 1 ? a.candidate_factor : a.r_bytes.factor, &unit.h);
          if (apart) rec = v;
          if (!apart) pre = v;
        }
        if (kBytes) unit.r_bias = 0.0f;
        const bool leads = exists && row % G == 0, more = t + 1 < a.steps;
        if (kCell == Cell::kGru && pass == 0) {
          float z;
          const float rh = gru_gates<false>(a.rules, gate, pre, rec, unit.h, &z);
          publish<kWeights>(a, b, rh_words, n, u, leads, rh, G, a.candidate_factor, base + t + 1);
          if (leads) b.z[own] = z;
        } else {
          float c_new = unit.c, h_new;
          if constexpr (kCell == Cell::kGru) {
            h_new = gru_output<false>(a.rules, gate, pre, rec, unit.h, b.z[own]);
          } else {
            h_new = finish_cell<kCell, false>(a.rules, gate, pre, rec, unit, &c_new);
          }
          const bool ended = row_has_ended(a, step, n);
          if (ended) h_new = unit.h, c_new = unit.c;
          publish<kWeights>(a, b, a.words, n, u, leads && more, h_new, G, a.r_bytes.factor, base + t + 1);
          if (leads) {
            b.h[own] = h_new, b.c[own] = c_new;
            if (a.y != nullptr) a.y[(uint64_t{step} * a.batch + n) * a.y_row + b.block * b.units + u] = ended ? 0.0f : h_new;
          }
        }
        pre = preact_of(item + kWarps);
      }
      if (kCell == Cell::kGru && pass == 0) {
        publish_padding(b, rh_words, first, live, base + t + 1);
      } else if (t + 1 < a.steps) {
        publish_padding(b, a.words, first, live, base + t + 1);
      }
    }
  }
  simt::sync_block();
  store_units<kCell>(a, b.h, b.c);
  end_epochs(a, base);
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_KERNELS_RESIDENT_MMA_H_
