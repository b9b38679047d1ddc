// products_nibbles.h -- a block's rows of an int4 matrix times up to 8 columns of bytes in shared memory. A warp has whole row
// tiles and all of their k, ascending: invariant of sums as on the CPU (docs/KERNELS.md, "Int4"), a group's sum is whole, and
// becomes a float once, in a chain. Whoever multiplies does it through NibbleSums. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_CUDA_KERNELS_PRODUCTS_NIBBLES_H_
#define RNNPACK_CUDA_KERNELS_PRODUCTS_NIBBLES_H_

#include "cuda/kernels/byte_columns.h"

namespace rnnp {
namespace cuda {

struct alignas(8) Bits2 {
  uint32_t x, y;
};
struct alignas(16) Bits4 {
  uint32_t x, y, z, w;
};

// Where a lane's sums go: those of column n = lane % 4 * 2, to partial[(column * slices + slice) * stride + row].
template <class Sum>
SIMT_FN Sum *place_of_sums(Sum *partial, uint32_t stride, uint32_t slices, uint32_t slice, uint32_t lane) {
  return partial + (lane % 4 * 2 * slices + slice) * stride + lane / 4;
}
// Sums of kTiles row tiles, of `live` columns; next: from one column to the other.
template <int kTiles, class Sum>
SIMT_FN void store_sums_at(const Sum acc[kTiles][4], Sum *to, uint32_t next, uint32_t live, uint32_t lane) {
  const uint32_t n = lane % 4 * 2;
  if (n < live) {
    SIMT_UNROLL for (uint32_t m = 0; m < kTiles; ++m) to[m * 16] = acc[m][0], to[m * 16 + 8] = acc[m][2];
  }
  if (n + 1 < live) {
    to += next;
    SIMT_UNROLL for (uint32_t m = 0; m < kTiles; ++m) to[m * 16] = acc[m][1], to[m * 16 + 8] = acc[m][3];
  }
}
// From tile `first` on.
template <int kTiles, class Sum>
SIMT_FN void store_sums(const Sum acc[kTiles][4], Sum *partial, uint32_t first, uint32_t stride, uint32_t slices, uint32_t live,
                        uint32_t slice, uint32_t lane) {
  store_sums_at<kTiles>(acc, place_of_sums(partial, stride, slices, slice, lane) + first * 16, slices * stride, live, lane);
}

// What this lane's column has of k-tile 0; k-tile i is 8 i words on.
SIMT_FN const uint32_t *nibble_columns(const uint16_t *in, uint32_t k, uint32_t lane) {
  return reinterpret_cast<const uint32_t *>(in) + lane / 4 * (column_stride(k) / 2) + lane % 4;
}
SIMT_FN void load_nibble_column(const uint32_t *words, bool column, uint32_t i, uint32_t b[2]) {
  b[0] = column ? words[i * 8] : 0;
  b[1] = column ? words[i * 8 + 4] : 0;
}

// A row tile: `group` has a group's sums, times 16, `total` the chain.
struct NibbleSums {
  int32_t group[4];
  float total[4];

  SIMT_FN void clear(NibbleSums *s) { SIMT_UNROLL for (uint32_t i = 0; i < 4; ++i) s->group[i] = 0, s->total[i] = 0.0f; }
  // Int4 become bytes by a shift: 16 times what they are.
  SIMT_FN void multiply(NibbleSums *s, const Bits2 &w, const uint32_t b[2]) {
    constexpr uint32_t kHigh = 0xf0f0f0f0u;
    const uint32_t f[4] = {w.x << 4 & kHigh, w.x & kHigh, w.y << 4 & kHigh, w.y & kHigh};
    simt::mma_i8(s->group, f, b);
  }
  // scales: of the tile's 16 rows.
  SIMT_FN void end_group(NibbleSums *s, const float *scales, uint32_t lane) {
    const float upper = scales[lane / 4], lower = scales[lane / 4 + 8];
    SIMT_UNROLL for (uint32_t i = 0; i < 4; ++i) {
      s->total[i] = fmaf(static_cast<float>(s->group[i] >> 4), i < 2 ? upper : lower, s->total[i]);
      s->group[i] = 0;
    }
  }
};

// A row tile in memory times kGroups groups of 8 columns, that are so many words apart. column: whether this lane's is there. So
// many loads of weights are under way at a time.
constexpr uint32_t kTilesAtOnce = 8;
template <int kGroups>
SIMT_FN void multiply_nibble_tile(const uint8_t *tile, const uint32_t *words, uint32_t group_words, bool column, uint32_t tiles,
                                  uint32_t of_group, uint32_t lane, NibbleSums sums[kGroups]) {
  SIMT_UNROLL for (uint32_t c = 0; c < kGroups; ++c) NibbleSums::clear(&sums[c]);
  uint32_t left = of_group;
  SIMT_ROLLED for (uint32_t first = 0; first < tiles; first += kTilesAtOnce) {
    Bits2 f[kTilesAtOnce];
    SIMT_UNROLL for (uint32_t j = 0; j < kTilesAtOnce; ++j) {
      const uint32_t i = first + j < tiles ? first + j : tiles - 1;
      f[j] = *reinterpret_cast<const Bits2 *>(tile + i * kNibbleTile + lane * 8);
    }
    SIMT_UNROLL for (uint32_t j = 0; j < kTilesAtOnce; ++j) {
      const uint32_t i = first + j;
      if (i >= tiles) break;
      SIMT_UNROLL for (uint32_t c = 0; c < kGroups; ++c) {
        uint32_t b[2];
        load_nibble_column(words + c * group_words, column, i, b);
        NibbleSums::multiply(&sums[c], f[j], b);
      }
      if (--left != 0 && i + 1 != tiles) continue;
      left = of_group;
      const float *scales = reinterpret_cast<const float *>(tile + i * kNibbleTile + kNibbleWords);
      SIMT_UNROLL for (uint32_t c = 0; c < kGroups; ++c) NibbleSums::end_group(&sums[c], scales, lane);
    }
  }
}

// All row tiles of an image in memory.
SIMT_FN void multiply_nibbles(const uint8_t *image, const Shape &s, const uint16_t *in, uint32_t live, uint32_t group_k,
                              float *sums) {
  const uint32_t lane = simt::thread() % kLanes;
  const uint32_t *words = nibble_columns(in, s.k, lane);
  SIMT_ROLLED for (uint32_t m = simt::thread() / kLanes; m < row_tiles(s); m += kWarps) {
    NibbleSums sum[1];
    multiply_nibble_tile<1>(image + nibble_tile(s, m, 0), words, 0, lane / 4 < live, k_tiles(s), group_k / kNibbleTileK, lane, sum);
    store_sums<1>(&sum[0].total, sums, m, partial_stride(s), 1, live, 0, lane);
  }
}

}  // namespace cuda
}  // namespace rnnp
#endif  // RNNPACK_CUDA_KERNELS_PRODUCTS_NIBBLES_H_
