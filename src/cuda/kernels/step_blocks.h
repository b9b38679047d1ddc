// step_blocks.h -- one step of a layer, and the product of many rows with a matrix, on the blocks of a sparse matrix as the blob
// has them; what it does not hold is not multiplied. Sums are those of the CPU's kernels (docs/KERNELS.md, "Sparse"): the same
// bits.
//
// Four lanes have a unit of a gate: of floats one k of every block each, of bytes every fourth block; two warps have the 16 units
// of a panel's gate. A block of threads has four of these: all gates of 16 units, or 64 units of one gate.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_KERNELS_STEP_BLOCKS_H_
#define RNNPACK_CUDA_KERNELS_STEP_BLOCKS_H_

#include "cuda/kernels/byte_columns.h"
#include "cuda/kernels/step_cell.h"

namespace rnnp {
namespace cuda {

// Where a thread is: panel and gate within the block of threads, and of these its unit and its part of the four.
struct BlocksLane {
  uint32_t slot, unit, part;
};
SIMT_FN BlocksLane blocks_lane() {
  const uint32_t warp = simt::thread() / kLanes, lane = simt::thread() % kLanes;
  return {warp / 2, warp % 2 * 8 + lane % 8, lane / 8};
}

// The rows that are multiplied in shared memory, as they are or as bytes, zeros behind k.
template <Weights kWeights, class Row>
SIMT_FN void load_block_columns(uint8_t *to, float *steps, float factor, uint32_t k, uint32_t live, Row row) {
  const uint32_t bytes = block_column_bytes(kWeights, k);
  if constexpr (kWeights == Weights::kByteBlocks) {
    quantise_columns(reinterpret_cast<int8_t *>(to), bytes, steps, factor, k, live, row);
  } else {
    SIMT_ROLLED for (uint32_t n = 0; n < live; ++n) {
      const float *from = row(n);
      float *column = reinterpret_cast<float *>(to + n * bytes);
      SIMT_ROLLED for (uint32_t i = simt::thread(); i < bytes / 4; i += kThreads) column[i] = i < k ? from[i] : 0.0f;
    }
  }
}

template <Weights kWeights>
struct BlockSums;
template <>
struct BlockSums<Weights::kBlocks> {
  using Sum = float;
  float v[kBlockColumns];
};
template <>
struct BlockSums<Weights::kByteBlocks> {
  using Sum = int32_t;
  int32_t v[kBlockColumns];
};

// A thread's part of the sums of its unit; then all four have the whole.
template <Weights kWeights>
SIMT_FN BlockSums<kWeights> multiply_blocks(const BlockMatrix &m, uint32_t panel, uint32_t gate, const BlocksLane &at,
                                            const uint8_t *in, uint32_t column_bytes) {
  BlockSums<kWeights> sum;
  SIMT_UNROLL for (uint32_t n = 0; n < kBlockColumns; ++n) sum.v[n] = 0;
  const uint32_t begin = m.first[panel * m.gates + gate], end = m.first[panel * m.gates + gate + 1];
  const uint32_t strip = at.unit / (kPanelUnits / m.strips);
  if constexpr (kWeights == Weights::kBlocks) {
    const float *w = reinterpret_cast<const float *>(m.panels) + at.part * kPanelUnits + at.unit;
    SIMT_ROLLED for (uint32_t e = begin; e < end; ++e) {
      const uint32_t k = uint32_t{m.quads[uint64_t{e} * m.strips + strip]} * 4 + at.part;
      const float weight = w[uint64_t{e} * 4 * kPanelUnits];
      SIMT_UNROLL for (uint32_t n = 0; n < kBlockColumns; ++n) sum.v[n] =
          fmaf(reinterpret_cast<const float *>(in + n * column_bytes)[k], weight, sum.v[n]);
    }
    SIMT_UNROLL for (uint32_t n = 0; n < kBlockColumns; ++n) {
      sum.v[n] += simt::shuffle_xor(sum.v[n], 8);
      sum.v[n] += simt::shuffle_xor(sum.v[n], 16);
    }
  } else {
    const uint32_t *w = reinterpret_cast<const uint32_t *>(m.panels) + at.unit, lane = simt::thread() % kLanes;
    SIMT_ROLLED for (uint32_t e = begin + at.part; e < end; e += 4) {
      const uint32_t quad = m.quads[uint64_t{e} * m.strips + strip], weight = w[uint64_t{e} * kPanelUnits];
      SIMT_UNROLL for (uint32_t n = 0; n < kBlockColumns; ++n) sum.v[n] =
          simt::dot4(reinterpret_cast<const uint32_t *>(in + n * column_bytes)[quad], weight, sum.v[n]);
    }
    SIMT_UNROLL for (uint32_t n = 0; n < kBlockColumns; ++n) {
      sum.v[n] += simt::shuffle_word(sum.v[n], lane ^ 8);
      sum.v[n] += simt::shuffle_word(sum.v[n], lane ^ 16);
    }
  }
  return sum;
}

template <Weights kWeights>
SIMT_FN float add_blocks(const ByteScales &s, uint64_t row, float start, const BlockSums<kWeights> &sum, uint32_t n, float step,
                         const float *own) {
  if constexpr (kWeights == Weights::kByteBlocks) {
    return add_bytes(s, row, start, sum.v[n], step, own);
  } else {
    return sum.v[n] + start;
  }
}

// Grid: blocks of units x groups of columns. The input's part is always there.
template <Weights kWeights, Cell kCell, bool kGeneric>
SIMT_KERNEL(256)
step_blocks(const RecurrentArgs a) {
  constexpr uint32_t G = gates_of(kCell), kUnits = units_of_blocks(G), kRows = kUnits * G, kUnitsPerWarp = kLanes / G;
  const BlocksShared shared = blocks_shared(kWeights, a.hidden);
  uint8_t *in = simt::shared() + shared.input, *other = simt::shared() + shared.second;
  float *steps = reinterpret_cast<float *>(simt::shared() + shared.steps);
  float *done = reinterpret_cast<float *>(simt::shared() + shared.sums);                   // [column][row of the block]
  const uint32_t among = ceil_div(a.batch, kBlockColumns), block = simt::block() / among;  // neighbours have the same weights
  const uint32_t first = simt::block() % among * kBlockColumns, column_bytes = block_column_bytes(kWeights, a.hidden);
  const uint32_t live = a.batch - first < kBlockColumns ? a.batch - first : kBlockColumns;
  const bool second = kCell == Cell::kGru && a.half == 1;
  const auto row_of = [&](uint32_t n) { return second ? a.rh + (first + n) * a.state_row : a.h + state_place(a, first + n); };
  load_block_columns<kWeights>(in, steps, second ? a.candidate_factor : a.r_bytes.factor, a.hidden, live, row_of);
  if (kCell == Cell::kGruLinear && kWeights == Weights::kByteBlocks)
    load_block_columns<kWeights>(other, steps + kBlockColumns, a.candidate_factor, a.hidden, live, row_of);
  simt::sync_block();

  const BlocksLane at = blocks_lane();
  const uint32_t gate = at.slot % G, u = at.slot / G * kPanelUnits + at.unit, unit = block * kUnits + u;
  const bool apart = (kCell == Cell::kGru || kCell == Cell::kGruLinear) && gate == 2;  // the candidate's panels
  const bool wanted = kCell == Cell::kGru ? (gate == 2) == second : true;
  if (at.slot < kUnits / kPanelUnits * G && unit / kPanelUnits < ceil_div(a.hidden, kPanelUnits) && wanted) {  // alike in a warp
    const bool reads_other = apart && kCell == Cell::kGruLinear && kWeights == Weights::kByteBlocks;
    const BlockSums<kWeights> sum = multiply_blocks<kWeights>(apart ? a.candidate : a.blocks, unit / kPanelUnits, apart ? 0 : gate,
                                                              at, reads_other ? other : in, column_bytes);
    const uint64_t row = uint64_t{unit} * G + gate;
    if (at.part == 0 && unit < a.hidden) {
      SIMT_UNROLL for (uint32_t n = 0; n < kBlockColumns; ++n) {
        if (n >= live) continue;
        const float start = apart && kCell == Cell::kGruLinear ? a.r_bias[unit] : a.preact[(first + n) * a.preact_row + row];
        done[n * kRows + u * G + gate] =
            add_blocks<kWeights>(a.r_bytes, row, start, sum, n, steps[n + (reads_other ? kBlockColumns : 0)], row_of(n) + unit);
      }
    }
  }
  simt::sync_block();

  const uint32_t lane = simt::thread() % kLanes, groups = ceil_div(kUnits, kUnitsPerWarp);
  SIMT_ROLLED for (uint32_t item = simt::thread() / kLanes; item < live * groups; item += kWarps) {
    const uint32_t n = item / groups, row = item % groups * kUnitsPerWarp * G + lane, mine = row / G;
    const uint32_t all = block * kUnits + mine;
    const bool exists = lane < kUnitsPerWarp * G && mine < kUnits && all < a.hidden;
    float pre = 0.0f, rec = 0.0f;
    if (exists) {
      const float v = done[n * kRows + row];
      const bool candidate = kCell == Cell::kGruLinear && row % G == 2;
      pre = candidate ? a.preact[(first + n) * a.preact_row + uint64_t{all} * G + 2] : v;
      if (candidate) rec = v;
    }
    step_cell<kCell, kGeneric, true>(a, {lane / G * G, 1, lane % G}, pre, rec, first + n, all, exists, row % G == 0);
  }
  take_h_back(a);
}

template <Weights kWeights>
SIMT_KERNEL(256)
product_blocks(const ProductArgs a) {
  const BlocksShared shared = blocks_shared(kWeights, a.k);
  uint8_t *in = simt::shared() + shared.input;
  float *steps = reinterpret_cast<float *>(simt::shared() + shared.steps);
  const uint32_t among = ceil_div(a.count, kBlockColumns);  // neighbours have the same weights
  const uint32_t block = simt::block() / among, first = simt::block() % among * kBlockColumns;
  const uint32_t live = a.count - first < kBlockColumns ? a.count - first : kBlockColumns;
  load_block_columns<kWeights>(in, steps, a.bytes.factor, a.k, live, [&](uint32_t n) { return a.x + (first + n) * a.x_row; });
  simt::sync_block();
  const BlocksLane at = blocks_lane();
  const uint32_t gate = at.slot % a.gates, unit = block * a.units + at.slot / a.gates * kPanelUnits + at.unit;
  if (at.slot >= a.units / kPanelUnits * a.gates || unit / kPanelUnits >= ceil_div(a.outputs, kPanelUnits))
    return;  // a warp at once
  const BlockSums<kWeights> sum =
      multiply_blocks<kWeights>(a.blocks_of_matrix, unit / kPanelUnits, gate, at, in, block_column_bytes(kWeights, a.k));
  if (at.part != 0 || unit >= a.outputs) return;
  const uint64_t row = uint64_t{unit} * a.gates + gate;
  SIMT_UNROLL for (uint32_t n = 0; n < kBlockColumns; ++n) {
    if (n >= live) continue;
    const float *x = a.x + (first + n) * a.x_row;
    const float v = add_blocks<kWeights>(a.bytes, row, a.bias[row], sum, n, steps[n], unit < a.k ? x + unit : nullptr);
    a.out[(first + n) * a.out_row + place_of_result(a, unit, gate)] = activate(a.act, v);
  }
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_KERNELS_STEP_BLOCKS_H_
