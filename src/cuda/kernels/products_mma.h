// products_mma.h -- a block's rows of a matrix times up to 8 columns in shared memory, on the matrix units: halves (f16, bf16),
// bytes or int4 (products_nibbles.h). Invariant of sums: 8 slices of k (k-tile mod 8, a warp each), each ascending from zero;
// slices are added in order. Whoever multiplies does it through these functions, or keeps their order, so kernels and grids cannot
// change bits. Sums of bytes are integers, which no order changes. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_KERNELS_PRODUCTS_MMA_H_
#define RNNPACK_CUDA_KERNELS_PRODUCTS_MMA_H_

#include "cuda/kernels/products_f32.h"
#include "cuda/kernels/products_nibbles.h"

namespace rnnp {
namespace cuda {

// A product of fragments, what its sums are, and the smallest word of two neighbours in a column.
template <Weights kWeights>
struct MatrixUnits;
template <>
struct MatrixUnits<Weights::kF16> {
  using Sum = float;
  SIMT_FN void multiply(float d[4], const uint32_t a[4], const uint32_t b[2]) { simt::mma_f16(d, a, b); }
  SIMT_FN uint32_t pair(float lo, float hi) { return simt::half2_bits(lo, hi); }
};
template <>
struct MatrixUnits<Weights::kBf16> {
  using Sum = float;
  SIMT_FN void multiply(float d[4], const uint32_t a[4], const uint32_t b[2]) { simt::mma_bf16(d, a, b); }
  SIMT_FN uint32_t pair(float lo, float hi) { return simt::bf162_bits(lo, hi); }
};
template <>
struct MatrixUnits<Weights::kI8> {
  using Sum = int32_t;
  SIMT_FN void multiply(int32_t d[4], const uint32_t a[4], const uint32_t b[2]) { simt::mma_i8(d, a, b); }
};

template <>
struct MatrixUnits<Weights::kI4> {
  using Sum = float;  // a row's whole chain
};

// The A fragment of a row tile of one k-tile. A half tile's rows 8..15 are 0.
SIMT_FN void load_fragment(const uint8_t *tile, bool half, uint32_t lane, uint32_t f[4]) {
  if (half) {
    const Bits2 v = *reinterpret_cast<const Bits2 *>(tile + lane * 8);
    f[0] = v.x, f[1] = 0, f[2] = v.y, f[3] = 0;
  } else {
    const Bits4 v = *reinterpret_cast<const Bits4 *>(tile + lane * 16);
    f[0] = v.x, f[1] = v.y, f[2] = v.z, f[3] = v.w;
  }
}

// The B fragment of a warp's i-th k-tile: what this lane's column has of it. words: column_words().
SIMT_FN void load_column(const uint32_t *words, bool column, uint32_t i, uint32_t b[2]) {
  b[0] = column ? words[i * 64] : 0;
  b[1] = column ? words[i * 64 + 4] : 0;
}
// Of k-tiles that a loop walks: one tile's column is loaded while that before it is multiplied.
SIMT_FN void next_column(const uint32_t *words, bool column, uint32_t i, uint32_t steps, uint32_t b[2]) {
  load_column(words, column && i < steps, i, b);
}
SIMT_FN const uint32_t *column_words(const uint16_t *in, uint32_t k, uint32_t warp, uint32_t lane) {
  return reinterpret_cast<const uint32_t *>(in) + lane / 4 * (column_stride(k) / 2) + lane % 4 + warp * 8;
}

// Slices are added in order; of int4 a warp has all k, and there is one.
template <Weights kWeights>
SIMT_FN typename MatrixUnits<kWeights>::Sum sum_slices(const typename MatrixUnits<kWeights>::Sum *partial, uint32_t column,
                                                       uint32_t row, uint32_t stride) {
  if constexpr (kWeights == Weights::kI4) {
    return partial[column * stride + row];
  } else {
    const typename MatrixUnits<kWeights>::Sum *from = partial + column * kWarps * stride + row;
    typename MatrixUnits<kWeights>::Sum sum = 0;
    SIMT_UNROLL for (uint32_t k = 0; k < kWarps; ++k) sum += from[k * stride];
    return sum;
  }
}

// All row tiles of an image in memory, one after the other. `live` columns are there.
template <Weights kWeights>
SIMT_FN void multiply_slices(const uint8_t *image, const Shape &s, const uint16_t *in, uint32_t live,
                             typename MatrixUnits<kWeights>::Sum *partial) {
  const uint32_t lane = simt::thread() % kLanes, warp = simt::thread() / kLanes;
  const uint32_t steps = k_tiles_per_warp(s), tiles = ceil_div(half_row_tiles(s), 2);
  const uint8_t *mine = image + size_t{warp} * steps * step_bytes(s);
  const uint32_t *words = column_words(in, s.k, warp, lane);
  SIMT_ROLLED for (uint32_t m = 0; m < tiles; ++m) {
    const bool half = m == half_row_tiles(s) / 2;
    typename MatrixUnits<kWeights>::Sum acc[1][4] = {{0, 0, 0, 0}};
    SIMT_UNROLLED_BY_8 for (uint32_t i = 0; i < steps; ++i) {  // so many loads in flight
      uint32_t f[4], b[2];
      load_fragment(mine + i * step_bytes(s) + m * 512, half, lane, f);
      load_column(words, lane / 4 < live, i, b);
      MatrixUnits<kWeights>::multiply(acc[0], f, b);
    }
    store_sums<1>(acc, partial, m, partial_stride(s), kWarps, live, warp, lane);
  }
}
template <Weights kWeights>
SIMT_FN void multiply_image(const uint8_t *image, const Shape &s, const uint16_t *in, uint32_t live, uint32_t group_k,
                            typename MatrixUnits<kWeights>::Sum *partial) {
  if constexpr (kWeights == Weights::kI4) {
    multiply_nibbles(image, s, in, live, group_k, partial);
  } else {
    multiply_slices<kWeights>(image, s, in, live, partial);
  }
}

// Numbers [first, last) of a row of k as halves, zeros behind k: a warp's work, so many loads of it under way at a time.
template <Weights kWeights, bool kByPieces>
SIMT_FN void load_halves(uint16_t *to, const float *from, uint32_t k, uint32_t first, uint32_t last) {
  using Units = MatrixUnits<kWeights>;
  const uint32_t lane = simt::thread() % kLanes;
  if (kByPieces && k % 4 == 0 && reinterpret_cast<uintptr_t>(from) % sizeof(Floats4) == 0) {
    Floats4 v[kFloatsAtOnce];
    SIMT_UNROLL for (uint32_t j = 0; j < kFloatsAtOnce; ++j) {
      const uint32_t i = first + (lane + j * kLanes) * 4;
      v[j] = *reinterpret_cast<const Floats4 *>(from + (i < k ? i : 0));
    }
    SIMT_UNROLL for (uint32_t j = 0; j < kFloatsAtOnce; ++j) {
      const uint32_t i = first + (lane + j * kLanes) * 4;
      const bool there = i < k;
      const Bits2 halves = {there ? Units::pair(v[j].x, v[j].y) : 0, there ? Units::pair(v[j].z, v[j].w) : 0};
      if (i < last) *reinterpret_cast<Bits2 *>(to + i) = halves;
    }
    return;
  }
  SIMT_ROLLED for (uint32_t part = first + lane; part < last; part += kLanes * kFloatsAtOnce) {
    float v[kFloatsAtOnce];
    SIMT_UNROLL for (uint32_t j = 0; j < kFloatsAtOnce; ++j) v[j] = from[part + j * kLanes < k ? part + j * kLanes : 0];
    SIMT_UNROLL for (uint32_t j = 0; j < kFloatsAtOnce; ++j) {
      const uint32_t i = part + j * kLanes;
      if (i < last) to[i] = static_cast<uint16_t>(Units::pair(i < k ? v[j] : 0.0f, 0.0f));
    }
  }
}

// Rows of floats, `k` of each, as columns of halves or bytes with zeros behind. row(n): where row n begins. Of bytes, steps[n]
// (where asked for) is what one of row n's is worth: `factor`, or of each row its own where that is 0.
// kByPieces: 16 bytes at a time where they lie so.
template <Weights kWeights, bool kByPieces = true, class Row>
SIMT_FN void load_columns(uint16_t *in, float *steps, float factor, uint32_t k, uint32_t live, Row row) {
  if constexpr (are_bytes(kWeights)) {
    const uint32_t bytes = column_stride(ceil_div(k, 2)) * 2;
    quantise_columns(reinterpret_cast<int8_t *>(in), bytes, steps, factor, k, live, row);
  } else {
    constexpr uint32_t kPiece = 4, kOfWarp = kLanes * kPiece * kFloatsAtOnce;  // numbers of a row that a warp takes at once
    const uint32_t stride = column_stride(k), parts = ceil_div(stride, kOfWarp);
    SIMT_ROLLED for (uint32_t item = simt::thread() / kLanes; item < live * parts; item += kWarps) {
      const uint32_t n = item / parts, first = item % parts * kOfWarp;
      load_halves<kWeights, kByPieces>(in + n * stride, row(n), k, first, stride - first < kOfWarp ? stride : first + kOfWarp);
    }
  }
}

// start + the product of a row of the matrix. Of bytes by the CPU's invariant; own: the element that the row's diagonal multiplies.
template <Weights kWeights>
SIMT_FN float add_product(const ByteScales &s, uint64_t row, float start, typename MatrixUnits<kWeights>::Sum sum, float step,
                          const float *own) {
  if constexpr (are_bytes(kWeights)) {
    return add_bytes(s, row, start, sum, step, own);
  } else {
    return start + sum;
  }
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_KERNELS_PRODUCTS_MMA_H_
