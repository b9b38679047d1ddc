// step_f32.h -- one step of a layer in a launch of its own, and the product of many rows with a matrix, on f32 weights. Sums are
// those of products_f32.h, so a step gives the bits of the resident kernel's. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_KERNELS_STEP_F32_H_
#define RNNPACK_CUDA_KERNELS_STEP_F32_H_

#include "cuda/kernels/products_f32.h"
#include "cuda/kernels/step_cell.h"

namespace rnnp {
namespace cuda {

// Grid: blocks of units x groups of columns.
template <Cell kCell, bool kGeneric>
SIMT_KERNEL(256)
step_f32(const RecurrentArgs a) {
  constexpr uint32_t G = gates_of(kCell);
  const Shape r = {G, a.hidden, a.units}, w = {G, a.input, a.units};
  const uint32_t rows = rows_of_warp(G, a.units), per_warp = rows / G;
  const uint32_t blocks = ceil_div(a.hidden, a.units), among = ceil_div(a.batch, a.columns);  // neighbours have the same weights
  const uint32_t block = simt::block() / among, first = simt::block() % among * a.columns;
  const uint32_t last = a.batch - first < a.columns ? a.batch : first + a.columns;
  const uint32_t lane = simt::thread() % kLanes, warp = simt::thread() / kLanes, row = lane / 2;
  const uint32_t u = warp * per_warp + row / G, unit = block * a.units + u;
  const bool owned = row / G < per_warp && u < a.units, exists = owned && unit < a.hidden,
             second = kCell == Cell::kGru && a.half == 1;
  const uint64_t place = (uint64_t{block} * kWarps + warp) * rows + row;
  SIMT_ROLLED for (uint32_t n = first; n < last; ++n) {
    float pre;
    if (a.preact == nullptr) {
      pre = (exists ? a.bias[place] : 0.0f) +
            multiply_rows(a.w + block * f32_image_bytes(w), w, [&](uint32_t) { return a.x + n * a.x_row; });
    } else {
      pre = exists ? a.preact[uint64_t{n} * blocks * kWarps * rows + place] : 0.0f;
    }
    const float *column = second ? a.rh + n * a.state_row : a.h + state_place(a, n);
    const float rec = multiply_rows(a.r + block * f32_image_bytes(r), r, [&](uint32_t) { return column; });
    step_cell<kCell, kGeneric, false>(a, {2 * (row / G * G), 2, row % G}, pre, rec, n, unit, exists, lane % 2 == 0 && row % G == 0);
  }
  take_h_back(a);
}

SIMT_KERNEL(256) product_f32(const ProductArgs a) {
  const uint32_t among = ceil_div(a.count, a.columns);  // neighbours have the same weights
  const uint32_t block = simt::block() / among, first = simt::block() % among * a.columns;
  const uint32_t last = a.count - first < a.columns ? a.count : first + a.columns;
  const uint32_t lane = simt::thread() % kLanes, warp = simt::thread() / kLanes;
  const Shape s = {a.gates, a.k, a.units};
  const uint32_t rows = rows_of_warp(a.gates, a.units), per_warp = rows / a.gates, row = lane / 2;
  const uint32_t u = warp * per_warp + row / a.gates, unit = block * a.units + u;
  const uint64_t from = (uint64_t{block} * kWarps + warp) * rows + row;
  const bool stores = lane % 2 == 0 && row / a.gates < per_warp && u < a.units && unit < a.outputs;
  const uint8_t *image = a.image + block * f32_image_bytes(s);
  const auto store = [&](uint32_t n, float sum) {
    if (stores) a.out[n * a.out_row + place_of_result(a, unit, row % a.gates)] = activate(a.act, a.bias[from] + sum);
  };
  float sums[kF32Columns];
  if (last - first == 1) {
    sums[0] = multiply_rows(image, s, [&](uint32_t) { return a.x + first * a.x_row; });
  } else {
    multiply_rows<kF32Columns>(
        image, s, [&](uint32_t n) { return a.x + (first + n < last ? first + n : first) * a.x_row; }, sums);
  }
  SIMT_ROLLED for (uint32_t n = 0; first + n < last; ++n) {
    float sum = sums[0];
    SIMT_UNROLL for (uint32_t i = 1; i < kF32Columns; ++i) sum = n == i ? sums[i] : sum;
    store(first + n, sum);
  }
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_KERNELS_STEP_F32_H_
