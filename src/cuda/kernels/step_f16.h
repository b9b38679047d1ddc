// step_f16.h -- one step of a layer in a launch of its own, and the product of many rows with a matrix, on f16 weights. Both read
// every weight once, from memory. Sums are those of products_f16.h, so a step gives the bits of the resident kernel's.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_KERNELS_STEP_F16_H_
#define RNNPACK_CUDA_KERNELS_STEP_F16_H_

#include "cuda/kernels/products_f16.h"
#include "cuda/kernels/step_cell.h"

namespace rnnp {
namespace cuda {

// Grid: blocks of units x groups of columns.
template <Cell kCell, bool kGeneric>
SIMT_KERNEL(256)
step_f16(const RecurrentArgs a) {
  constexpr uint32_t G = gates_of(kCell), kUnitsPerWarp = kLanes / G;
  const Shape r = {G, a.hidden, a.units}, w = {G, a.input, a.units};
  const StepShared at = f16_step_shared(r, a.input > a.hidden ? a.input : a.hidden, a.columns);
  uint16_t *in = reinterpret_cast<uint16_t *>(simt::shared() + at.input);
  float *partial = reinterpret_cast<float *>(simt::shared() + at.partial);
  float *taken = reinterpret_cast<float *>(simt::shared() + at.preact);
  const uint32_t blocks = ceil_div(a.hidden, a.units), block = simt::block() % blocks, stride = partial_stride(r);
  const uint32_t first = simt::block() / blocks * a.columns, rows = f16_rows(r);
  const uint32_t live = a.batch - first < a.columns ? a.batch - first : a.columns;
  const uint32_t lane = simt::thread() % kLanes, warp = simt::thread() / kLanes;
  if (a.preact == nullptr) {
    load_columns(in, a.input, live, [&](uint32_t n) { return a.x + (first + n) * a.x_row; });
    simt::sync_block();
    multiply_image(a.w + size_t{block} * f16_image_bytes(w), w, in, live, a.columns, partial);
    simt::sync_block();
    SIMT_ROLLED for (uint32_t i = simt::thread(); i < live * rows; i += kThreads) taken[i / rows * stride + i % rows] =
        a.bias[uint64_t{block} * rows + i % rows] + sum_slices(partial, i / rows, i % rows, stride, a.columns);
    simt::sync_block();
  }
  const bool second = kCell == Cell::kGru && a.half == 1;
  load_columns(in, a.hidden, live,
               [&](uint32_t n) { return second ? a.rh + (first + n) * a.state_row : a.h + state_place(a, first + n); });
  simt::sync_block();
  multiply_image(a.r + size_t{block} * f16_image_bytes(r), r, in, live, a.columns, partial);
  simt::sync_block();

  const uint32_t groups = ceil_div(a.units, kUnitsPerWarp);
  SIMT_ROLLED for (uint32_t item = warp; item < live * groups; item += kWarps) {
    const uint32_t column = item / groups, n = first + column, row = item % groups * kUnitsPerWarp * G + lane, u = row / G;
    const uint32_t unit = block * a.units + u;
    const bool owned = lane < kUnitsPerWarp * G && u < a.units, exists = owned && unit < a.hidden;
    float pre = 0.0f, rec = 0.0f;
    if (owned) {
      pre = a.preact == nullptr ? taken[column * stride + row] : a.preact[(uint64_t{n} * blocks + block) * rows + row];
      rec = sum_slices(partial, column, row, stride, a.columns);
    }
    step_cell<kCell, kGeneric>(a, {lane / G * G, 1, lane % G}, pre, rec, n, unit, exists, row % G == 0);
  }
}

SIMT_KERNEL(256) product_f16(const ProductArgs a) {
  const Shape s = {a.gates, a.k, a.units};
  const StepShared at = f16_step_shared(s, a.k, a.columns);
  uint16_t *in = reinterpret_cast<uint16_t *>(simt::shared() + at.input);
  float *partial = reinterpret_cast<float *>(simt::shared() + at.partial);
  const uint32_t block = simt::block() % a.blocks, first = simt::block() / a.blocks * a.columns;
  const uint32_t live = a.count - first < a.columns ? a.count - first : a.columns, rows = f16_rows(s), stride = partial_stride(s);
  load_columns(in, a.k, live, [&](uint32_t n) { return a.x + (first + n) * a.x_row; });
  simt::sync_block();
  multiply_image(a.image + size_t{block} * f16_image_bytes(s), s, in, live, a.columns, partial);
  simt::sync_block();
  SIMT_ROLLED for (uint32_t i = simt::thread(); i < live * rows; i += kThreads) {
    const uint64_t to = uint64_t{block} * rows + i % rows;
    if (to >= a.out_limit) continue;
    a.out[(first + i / rows) * a.out_row + to] =
        activate(a.act, a.bias[to] + sum_slices(partial, i / rows, i % rows, stride, a.columns));
  }
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_KERNELS_STEP_F16_H_
