// step_mma.h -- one step of a layer in a launch of its own, and the product of many rows with a matrix, on the matrix units. Both
// read every weight once, from memory. Sums are those of products_mma.h, so a step gives the bits of the resident kernel's.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_KERNELS_STEP_MMA_H_
#define RNNPACK_CUDA_KERNELS_STEP_MMA_H_

#include "cuda/kernels/products_mma.h"
#include "cuda/kernels/step_cell.h"

namespace rnnp {
namespace cuda {

// What a step's block computes, and where.
template <Weights kWeights>
struct StepBlock {
  using Sum = typename MatrixUnits<kWeights>::Sum;
  Shape r, w;
  uint32_t blocks, block, first, live, stride, rows;
  uint16_t *in;
  Sum *partial;
  float *taken, *steps, *kept;
};
template <Weights kWeights>
SIMT_FN StepBlock<kWeights> place_step(const RecurrentArgs &a, uint32_t gates) {
  StepBlock<kWeights> b = {};
  b.r = in_halves(kWeights, {gates, a.hidden, a.units});
  b.w = in_halves(kWeights, {gates, a.input, a.units});
  const StepShared at = mma_step_shared(b.r, b.w.k > b.r.k ? b.w.k : b.r.k, a.columns);
  uint8_t *shared = simt::shared();
  b.in = reinterpret_cast<uint16_t *>(shared + at.input);
  b.partial = reinterpret_cast<typename StepBlock<kWeights>::Sum *>(shared + at.partial);
  b.taken = reinterpret_cast<float *>(shared + at.preact);
  b.steps = reinterpret_cast<float *>(shared + at.steps);
  b.kept = reinterpret_cast<float *>(shared + at.kept);
  const uint32_t groups = ceil_div(a.batch, a.columns);  // neighbours have the same weights
  b.blocks = ceil_div(a.hidden, a.units), b.block = simt::block() / groups;
  b.first = simt::block() % groups * a.columns;
  b.live = a.batch - b.first < a.columns ? a.batch - b.first : a.columns;
  b.stride = partial_stride(b.r), b.rows = mma_rows(b.r);
  return b;
}

// W x of the block's rows: the pre-activations that nobody has made before.
template <Weights kWeights>
SIMT_FN void take_input(const RecurrentArgs &a, const StepBlock<kWeights> &b, uint32_t gates) {
  load_columns<kWeights>(b.in, b.steps, a.w_bytes.factor, a.input, b.live,
                         [&](uint32_t n) { return a.x + (b.first + n) * a.x_row; });
  simt::sync_block();
  multiply_image<kWeights>(a.w + size_t{b.block} * matrix_image_bytes(kWeights, b.w), b.w, b.in, b.live, a.w_bytes.group_k,
                           b.partial);
  simt::sync_block();
  SIMT_ROLLED for (uint32_t i = simt::thread(); i < b.live * b.rows; i += kThreads) {
    const uint32_t n = i / b.rows, row = i % b.rows, unit = b.block * a.units + row / gates;
    const uint64_t at = uint64_t{b.block} * b.rows + row;
    b.taken[n * b.stride + row] =
        add_product<kWeights>(a.w_bytes, at, a.bias[at], sum_slices<kWeights>(b.partial, n, row, b.stride), b.steps[n],
                              unit < a.input ? a.x + (b.first + n) * a.x_row + unit : nullptr);
  }
  simt::sync_block();
}

template <Weights kWeights>
SIMT_FN float preact_of(const RecurrentArgs &a, const StepBlock<kWeights> &b, uint32_t column, uint32_t row) {
  if (a.preact == nullptr) return b.taken[column * b.stride + row];
  return a.preact[(uint64_t{b.first + column} * b.blocks + b.block) * b.rows + row];
}

// R times h, or r h, of the block's rows: partial sums.
template <Weights kWeights>
SIMT_FN void multiply_state(const RecurrentArgs &a, const StepBlock<kWeights> &b, float factor, bool second) {
  load_columns<kWeights>(b.in, b.steps, factor, a.hidden, b.live, [&](uint32_t n) {
    return second ? a.rh + (b.first + n) * a.state_row : a.h + state_place(a, b.first + n);
  });
  simt::sync_block();
  multiply_image<kWeights>(a.r + size_t{b.block} * matrix_image_bytes(kWeights, b.r), b.r, b.in, b.live, a.r_bytes.group_k,
                           b.partial);
  simt::sync_block();
}

// A linear GRU whose candidate reads h as other bytes: its gates are finished before h is read again.
template <Weights kWeights>
SIMT_FN void finish_gates_first(const RecurrentArgs &a, const StepBlock<kWeights> &b) {
  SIMT_ROLLED for (uint32_t i = simt::thread(); i < b.live * b.rows; i += kThreads) {
    const uint32_t n = i / b.rows, row = i % b.rows, unit = b.block * a.units + row / 3;
    if (row % 3 == 2 || unit >= a.hidden) continue;
    b.kept[n * b.stride + row] =
        add_bytes(a.r_bytes, uint64_t{b.block} * b.rows + row, preact_of(a, b, n, row),
                  sum_slices<kWeights>(b.partial, n, row, b.stride), b.steps[n], a.h + state_place(a, b.first + n) + unit);
  }
  simt::sync_block();
  multiply_state(a, b, a.candidate_factor, false);
}

// Grid: blocks of units x groups of columns.
template <Weights kWeights, Cell kCell, bool kGeneric>
SIMT_KERNEL(256)
step_mma(const RecurrentArgs a) {
  constexpr uint32_t G = gates_of(kCell), kUnitsPerWarp = kLanes / G;
  const StepBlock<kWeights> b = place_step<kWeights>(a, G);
  if (a.preact == nullptr) take_input(a, b, G);
  const bool second = kCell == Cell::kGru && a.half == 1;
  multiply_state(a, b, second ? a.candidate_factor : a.r_bytes.factor, second);
  bool kept = false;
  if constexpr (are_bytes(kWeights) && kCell == Cell::kGruLinear) {
    kept = a.candidate_factor != a.r_bytes.factor;
    if (kept) finish_gates_first(a, b);
  }

  const uint32_t lane = simt::thread() % kLanes, warp = simt::thread() / kLanes, groups = ceil_div(a.units, kUnitsPerWarp);
  SIMT_ROLLED for (uint32_t item = warp; item < b.live * groups; item += kWarps) {
    const uint32_t column = item / groups, n = b.first + column, row = item % groups * kUnitsPerWarp * G + lane, u = row / G;
    const uint32_t unit = b.block * a.units + u;
    const bool owned = lane < kUnitsPerWarp * G && u < a.units, exists = owned && unit < a.hidden;
    float pre = 0.0f, rec = 0.0f;
    if (exists) {
      pre = preact_of(a, b, column, row);
      const auto sum = sum_slices<kWeights>(b.partial, column, row, b.stride);
      if constexpr (are_bytes(kWeights)) {
        const bool apart = kCell == Cell::kGruLinear && row % G == 2;
        const float *own = second ? a.rh + uint64_t{n} * a.state_row + unit : a.h + state_place(a, n) + unit;
        const float v =
            add_bytes(a.r_bytes, uint64_t{b.block} * b.rows + row, apart ? a.r_bias[unit] : pre, sum, b.steps[column], own);
        if (apart) rec = v;
        if (!apart) pre = kept ? b.kept[column * b.stride + row] : v;
      } else {
        rec = sum;
      }
    }
    step_cell<kCell, kGeneric, is_chained(kWeights)>(a, {lane / G * G, 1, lane % G}, pre, rec, n, unit, exists, row % G == 0);
  }
  take_h_back(a);
}

template <Weights kWeights>
SIMT_KERNEL(256)
product_mma(const ProductArgs a) {
  const Shape s = in_halves(kWeights, {a.gates, a.k, a.units});
  const StepShared at = mma_step_shared(s, s.k, a.columns);
  uint16_t *in = reinterpret_cast<uint16_t *>(simt::shared() + at.input);
  auto *partial = reinterpret_cast<typename MatrixUnits<kWeights>::Sum *>(simt::shared() + at.partial);
  float *steps = reinterpret_cast<float *>(simt::shared() + at.steps);
  const uint32_t groups = ceil_div(a.count, a.columns);  // neighbours have the same weights
  const uint32_t block = simt::block() / groups, first = simt::block() % groups * a.columns;
  const uint32_t live = a.count - first < a.columns ? a.count - first : a.columns, rows = mma_rows(s), stride = partial_stride(s);
  load_columns<kWeights>(in, steps, a.bytes.factor, a.k, live, [&](uint32_t n) { return a.x + (first + n) * a.x_row; });
  simt::sync_block();
  multiply_image<kWeights>(a.image + size_t{block} * matrix_image_bytes(kWeights, s), s, in, live, a.bytes.group_k, partial);
  simt::sync_block();
  SIMT_ROLLED for (uint32_t i = simt::thread(); i < live * rows; i += kThreads) {
    const uint32_t n = i / rows, row = i % rows, unit = block * a.units + row / a.gates;
    if (unit >= a.outputs) continue;
    const uint64_t from = uint64_t{block} * rows + row;
    const float *own = unit < a.k ? a.x + (first + n) * a.x_row + unit : nullptr;
    const float v =
        add_product<kWeights>(a.bytes, from, a.bias[from], sum_slices<kWeights>(partial, n, row, stride), steps[n], own);
    a.out[(first + n) * a.out_row + place_of_result(a, unit, row % a.gates)] = activate(a.act, v);
  }
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_KERNELS_STEP_MMA_H_
