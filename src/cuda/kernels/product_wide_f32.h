// product_wide_f32.h -- the product of many rows of x with an f32 matrix: a warp has rows of a block of the matrix and 128 sums a
// lane, so that a load of weights is multiplied by as many rows of x as have room; these lie in shared memory, a stretch of k at a
// time. Warps that have the same rows of the matrix find them in L1. Contract and bits of product_f32 (step_f32.h). Grid: shares of
// the matrix's blocks x groups of columns.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_KERNELS_PRODUCT_WIDE_F32_H_
#define RNNPACK_CUDA_KERNELS_PRODUCT_WIDE_F32_H_

#include "cuda/kernels/product_wide.h"

namespace rnnp {
namespace cuda {

// kPairs pairs of rows of a warp. Sums of a lane: [column][row].
template <int kPairs>
struct WideRows {
  static constexpr uint32_t kRows = 2 * kPairs, kColumns = kWideF32Sums / kRows, kGroups = 8 / kPairs;
  static constexpr uint32_t kSums = kMostWarpRows, kColumnsOfSums = kSums / kRows;  // added over lanes at once
  float acc[kWideF32Sums];

  // Groups of 64 columns of k, from `first` on; x: of this lane, `stride` floats from one row to the next. Eight loads of weights
  // are under way.
  SIMT_FN void multiply(const Floats4 *mine, uint32_t pairs, uint32_t groups, const Floats2 *x, uint32_t stride, uint32_t columns,
                        WideRows *s) {
    SIMT_ROLLED for (uint32_t first = 0; first < groups; first += kGroups) {
      Floats4 w[kGroups][kPairs];
      SIMT_UNROLL for (uint32_t j = 0; j < kGroups; ++j) SIMT_UNROLL for (uint32_t r = 0; r < kPairs; ++r) {
        const uint32_t group = first + j < groups ? first + j : groups - 1, pair = r < pairs ? r : pairs - 1;
        w[j][r] = mine[(group * pairs + pair) * kLanes];
      }
      SIMT_UNROLL for (uint32_t j = 0; j < kGroups; ++j) {
        if (j != 0 && first + j >= groups) break;
        SIMT_UNROLL for (uint32_t n = 0; n < kColumns; ++n) {
          if (n % 8 == 0 && n >= columns) break;
          const Floats2 v = x[(n * stride + (first + j) * 64) / 2];
          SIMT_UNROLL for (uint32_t r = 0; r < kPairs; ++r)
              multiply_pair(w[j][r], v.x, v.y, &s->acc[n * kRows + 2 * r], &s->acc[n * kRows + 2 * r + 1]);
        }
      }
    }
  }
};

template <int kPairs>
SIMT_FN void multiply_wide_f32(const ProductArgs &a) {
  using Rows = WideRows<kPairs>;
  float *x = reinterpret_cast<float *>(simt::shared());
  const Shape s = {a.gates, a.k, a.units};
  constexpr uint32_t kAcross = wide_f32_across(kPairs), kShareWarps = kWarps / kAcross;
  const uint32_t among = ceil_div(a.count, a.columns);  // neighbours have the same weights
  const uint32_t share = simt::block() / among, block = share / kAcross, first = simt::block() % among * a.columns;
  const uint32_t live = a.count - first < a.columns ? a.count - first : a.columns;
  const uint32_t lane = simt::thread() % kLanes, of_block = simt::thread() / kLanes, groups = column_groups(a.k);
  // The image's warp whose rows this one has, and its first column.
  const uint32_t warp = share % kAcross * kShareWarps + of_block / kAcross, column = of_block % kAcross * Rows::kColumns;
  const uint32_t mine_live = column < live ? live - column : 0;
  const uint32_t rows = rows_of_warp(a.gates, a.units), per_warp = rows / a.gates, pairs = pairs_of_warp(a.gates, rows);
  const uint32_t stretch = wide_f32_stretch(a.columns), stride = stretch < groups * 64 ? stretch : groups * 64;
  const Floats4 *mine =
      reinterpret_cast<const Floats4 *>(a.image + block * f32_image_bytes(s)) + uint64_t{warp} * groups * pairs * kLanes + lane;
  Rows sums;
  SIMT_UNROLL for (uint32_t i = 0; i < kWideF32Sums; ++i) sums.acc[i] = 0.0f;
  SIMT_ROLLED for (uint32_t k = 0; k < groups * 64; k += stride) {
    const uint32_t length = groups * 64 - k < stride ? groups * 64 - k : stride;
    SIMT_ROLLED for (uint32_t n = of_block; n < a.columns; n += kWarps) {
      const float *from = a.x + (first + (n < live ? n : 0)) * a.x_row;
      SIMT_UNROLLED_BY_8 for (uint32_t i = lane; i < length; i += kLanes) x[n * stride + i] = k + i < a.k ? from[k + i] : 0.0f;
    }
    simt::sync_block();
    Rows::multiply(mine + uint64_t{k / 64} * pairs * kLanes, pairs, length / 64,
                   reinterpret_cast<const Floats2 *>(x + column * stride) + lane, stride, mine_live, &sums);
    if (k + stride < groups * 64) simt::sync_block();  // all have read it
  }
  const uint32_t sum = row_of_sum<Rows::kSums>(lane), row = sum % Rows::kRows, u = warp * per_warp + row / a.gates;
  const uint32_t unit = block * a.units + u;
  const bool stores = lane % 2 == 0 && row / a.gates < per_warp && u < a.units && unit < a.outputs;
  const float bias = stores ? a.bias[(uint64_t{block} * kWarps + warp) * rows + row] : 0.0f;
  float *out = a.out + (first + column) * a.out_row + place_of_result(a, unit, row % a.gates);
  const bool as_it_is = Act(a.act.act) == Act::kIdentity;
  SIMT_UNROLL for (uint32_t i = 0; i < kWideF32Sums / Rows::kSums; ++i) {
    if (i * Rows::kColumnsOfSums >= mine_live) break;
    const float v = add_lanes<Rows::kSums>(sums.acc + i * Rows::kSums, lane);
    const uint32_t n = i * Rows::kColumnsOfSums + sum / Rows::kRows;
    if (stores && n < mine_live) out[n * a.out_row] = as_it_is ? bias + v : activate(a.act, bias + v);
  }
}

template <>
SIMT_KERNEL(256)
product_wide<Weights::kF32>(const ProductArgs a) {
  const uint32_t pairs = wide_f32_pairs(a.gates, a.units);
  if (pairs == 2) return multiply_wide_f32<2>(a);
  if (pairs == 4) return multiply_wide_f32<4>(a);
  multiply_wide_f32<8>(a);
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_KERNELS_PRODUCT_WIDE_F32_H_
