// products_f32.h -- 16 rows of a matrix times one column, exact products on the ordinary units; a warp has the rows and all of k.
// Invariant of sums: lane l adds columns 64 g + 2 l and + 1 over g ascending, then lanes are added as a butterfly. Whoever
// multiplies does it through these functions, so kernels and grids cannot change bits. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_KERNELS_PRODUCTS_F32_H_
#define RNNPACK_CUDA_KERNELS_PRODUCTS_F32_H_

#include <math.h>

#include "cuda/device_layout.h"
#include "cuda/simt.h"

namespace rnnp {
namespace cuda {

struct alignas(16) Floats4 {
  float x, y, z, w;
};

// Two rows times this lane's two columns.
SIMT_FN void multiply_pair(const Floats4 &w, float first, float second, float *upper, float *lower) {
  *upper = fmaf(w.y, second, fmaf(w.x, first, *upper));
  *lower = fmaf(w.w, second, fmaf(w.z, first, *lower));
}

// Lanes that differ in bit 2 * kHalf share 2 * kHalf sums: each keeps half of them, and adds the other's.
template <int kHalf>
SIMT_FN void halve(float acc[16], uint32_t lane) {
  const bool upper = (lane & (2 * kHalf)) != 0;
  SIMT_UNROLL for (int r = 0; r < kHalf; ++r) {
    const float send = upper ? acc[r] : acc[r + kHalf], keep = upper ? acc[r + kHalf] : acc[r];
    acc[r] = keep + simt::shuffle_xor(send, 2 * kHalf);
  }
}

// 16 sums over 32 lanes in 16 shuffles; lanes 2 r and 2 r + 1 then hold row r's.
SIMT_FN float add_lanes(float acc[16], uint32_t lane) {
  halve<8>(acc, lane);
  halve<4>(acc, lane);
  halve<2>(acc, lane);
  halve<1>(acc, lane);
  return acc[0] + simt::shuffle_xor(acc[0], 1);
}

// This warp's rows of an image in memory times `k` floats.
SIMT_FN float multiply_rows(const uint8_t *image, uint32_t k, const float *column) {
  const uint32_t lane = simt::thread() % kLanes, warp = simt::thread() / kLanes, groups = column_groups(k);
  const Floats4 *mine = reinterpret_cast<const Floats4 *>(image) + uint64_t{warp} * groups * 256;
  float acc[16];
  SIMT_UNROLL for (uint32_t r = 0; r < 16; ++r) acc[r] = 0.0f;
  SIMT_ROLLED for (uint32_t i = 0; i < groups; ++i) {
    const uint32_t at = i * 64 + 2 * lane;
    const float first = at < k ? column[at] : 0.0f, second = at + 1 < k ? column[at + 1] : 0.0f;
    SIMT_UNROLL for (uint32_t r = 0; r < 8; ++r)
        multiply_pair(mine[(i * 8 + r) * 32 + lane], first, second, &acc[2 * r], &acc[2 * r + 1]);
  }
  return add_lanes(acc, lane);
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_KERNELS_PRODUCTS_F32_H_
