// product_wide.h -- the product of many rows of x with a matrix on the matrix units: a warp has a row tile, all of its k and up to
// 64 columns, so that a fragment of weights is loaded once for all of them. Contract and bits of product_mma (step_mma.h): the
// slices of k are summed one after the other here, each from zero, and added in order. Grid: eight row tiles x groups of columns.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_KERNELS_PRODUCT_WIDE_H_
#define RNNPACK_CUDA_KERNELS_PRODUCT_WIDE_H_

#include "cuda/kernels/products_mma.h"
#include "cuda/kernels/step_cell.h"

namespace rnnp {
namespace cuda {

constexpr uint32_t kFragmentsAtOnce = 8;  // loads of weights under way: as many as slices, so k-tiles are a multiple

// What a warp multiplies: its row tile, and the columns.
struct WideTile {
  const uint8_t *tile;  // of the warp's first k-tile
  const uint16_t *in;
  bool half;
  uint32_t lane;
};

// kGroups groups of 8 columns.
template <Weights kWeights, int kGroups>
struct WideSums {
  using Sum = typename MatrixUnits<kWeights>::Sum;
  Sum total[kGroups][4];

  SIMT_FN void load(const WideTile &t, uint32_t first, uint32_t bytes, uint32_t f[kFragmentsAtOnce][4]) {
    if (t.half) {
      SIMT_UNROLL for (uint32_t j = 0; j < kFragmentsAtOnce; ++j) load_fragment(t.tile + (first + j) * bytes, true, t.lane, f[j]);
    } else {
      SIMT_UNROLL for (uint32_t j = 0; j < kFragmentsAtOnce; ++j) load_fragment(t.tile + (first + j) * bytes, false, t.lane, f[j]);
    }
  }
  SIMT_FN void multiply(const WideTile &t, const Shape &s, uint32_t, WideSums *w) {
    const uint32_t steps = k_tiles_per_warp(s), bytes = step_bytes(s), group_words = kMmaColumns * column_stride(s.k) / 2;
    const uint32_t *words = column_words(t.in, s.k, 0, t.lane);
    Sum acc[kGroups][4];
    SIMT_UNROLL for (uint32_t c = 0; c < kGroups; ++c) SIMT_UNROLL for (uint32_t i = 0; i < 4; ++i) acc[c][i] = w->total[c][i] = 0;
    uint32_t at = 0, left = steps;  // of the columns: k-tile `steps - left` of a slice
    SIMT_ROLLED for (uint32_t first = 0; first < kWarps * steps; first += kFragmentsAtOnce) {
      uint32_t f[kFragmentsAtOnce][4];
      load(t, first, bytes, f);
      SIMT_UNROLL for (uint32_t j = 0; j < kFragmentsAtOnce; ++j) {
        SIMT_UNROLL for (uint32_t c = 0; c < kGroups; ++c) {
          const uint32_t b[2] = {words[c * group_words + at], words[c * group_words + at + 4]};
          MatrixUnits<kWeights>::multiply(acc[c], f[j], b);
        }
        at += 64;
        if (--left != 0) continue;
        at -= 64 * steps - 8, left = steps;  // the next slice
        SIMT_UNROLL for (uint32_t c = 0; c < kGroups; ++c) SIMT_UNROLL for (uint32_t i = 0; i < 4; ++i) w->total[c][i] += acc[c][i],
            acc[c][i] = 0;
      }
    }
  }
};

template <int kGroups>
struct WideSums<Weights::kI4, kGroups> {
  float total[kGroups][4];

  SIMT_FN void multiply(const WideTile &t, const Shape &s, uint32_t group_k, WideSums *w) {
    NibbleSums sums[kGroups];
    multiply_nibble_tile<kGroups>(t.tile, nibble_columns(t.in, s.k, t.lane), kMmaColumns * column_stride(s.k) / 2, true, k_tiles(s),
                                  group_k / kNibbleTileK, t.lane, sums);
    SIMT_UNROLL for (uint32_t c = 0; c < kGroups; ++c) SIMT_UNROLL for (uint32_t i = 0; i < 4; ++i) w->total[c][i] =
        sums[c].total[i];
  }
};

// Sums to shared memory, [column][row of the block's eight tiles].
template <Weights kWeights, int kGroups>
SIMT_FN void multiply_wide(const Shape &s, uint32_t group_k, const WideTile &t, bool there,
                           typename MatrixUnits<kWeights>::Sum *sums) {
  WideSums<kWeights, kGroups> w;
  if (there) WideSums<kWeights, kGroups>::multiply(t, s, group_k, &w);
  simt::sync_block();  // all columns have been read: sums take their place
  const uint32_t first = simt::thread() / kLanes * 16 + t.lane / 4;
  SIMT_UNROLL for (uint32_t c = 0; there && c < kGroups; ++c) {
    const uint32_t n = c * kMmaColumns + t.lane % 4 * 2;
    SIMT_UNROLL for (uint32_t i = 0; i < 4; ++i) sums[(n + i % 2) * kWideStride + first + i / 2 * 8] = w.total[c][i];
  }
}

template <Weights kWeights>
SIMT_KERNEL(256)
product_wide(const ProductArgs a) {
  using Sum = typename MatrixUnits<kWeights>::Sum;
  const Shape s = in_halves(kWeights, {a.gates, a.k, a.units});
  uint16_t *in = reinterpret_cast<uint16_t *>(simt::shared());
  Sum *sums = reinterpret_cast<Sum *>(simt::shared());
  float *steps = reinterpret_cast<float *>(simt::shared() + wide_steps(s.k, a.columns));
  const uint32_t among = ceil_div(a.count, a.columns);  // neighbours have the same weights
  const uint32_t first = simt::block() % among * a.columns, live = a.count - first < a.columns ? a.count - first : a.columns;
  load_columns<kWeights>(in, steps, a.bytes.factor, a.k, live, [&](uint32_t n) { return a.x + (first + n) * a.x_row; });
  simt::sync_block();
  const uint32_t tiles = row_tiles(s), first_tile = simt::block() / among * kWarps, tile = first_tile + simt::thread() / kLanes;
  const bool there = tile / tiles < a.blocks;
  const uint8_t *image = a.image + size_t{there ? tile / tiles : 0} * matrix_image_bytes(kWeights, s);
  WideTile t = {image + tile % tiles * 512, in, tile % tiles == half_row_tiles(s) / 2, simt::thread() % kLanes};
  if (kWeights == Weights::kI4) t.tile = image + nibble_tile(s, tile % tiles, 0);
  if (a.columns > 4 * kMmaColumns) {
    multiply_wide<kWeights, 8>(s, a.bytes.group_k, t, there, sums);
  } else if (a.columns > 2 * kMmaColumns) {
    multiply_wide<kWeights, 4>(s, a.bytes.group_k, t, there, sums);
  } else {
    multiply_wide<kWeights, 2>(s, a.bytes.group_k, t, there, sums);
  }
  simt::sync_block();
  const uint32_t rows = mma_rows(s);
  SIMT_ROLLED for (uint32_t i = simt::thread(); i < live * kWideRows; i += kThreads) {
    const uint32_t n = i / kWideRows, of = first_tile + i % kWideRows / 16, block = of / tiles, row = of % tiles * 16 + i % 16;
    const uint32_t unit = block * a.units + row / a.gates;
    if (block >= a.blocks || row >= rows || unit >= a.outputs) continue;
    const uint64_t from = uint64_t{block} * rows + row;
    const float *own = unit < a.k ? a.x + (first + n) * a.x_row + unit : nullptr;
    const float step = are_bytes(kWeights) ? steps[n] : 0.0f;
    const float v = add_product<kWeights>(a.bytes, from, a.bias[from], sums[n * kWideStride + i % kWideRows], step, own);
    a.out[(first + n) * a.out_row + place_of_result(a, unit, row % a.gates)] = activate(a.act, v);
  }
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_KERNELS_PRODUCT_WIDE_H_
