// block.h -- register blocks: some rows times some tiles of panels, the sums in registers. What gemm and the recurrent kernels of
// an instruction set share; where operands lie, and how far apart, is an argument. Room: kernels. Contract: out[m][tile][n] =
// start[m][tile][n] + sum over k of a[m][k] * panel[tile][k][n], k ascending, one fused multiply-add per term, so a block's shape
// never shows in the bits. out may be start. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_BLOCK_H_
#define RNNPACK_KERNELS_BLOCK_H_

#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"

namespace rnnp {

constexpr size_t kAllColumns = SIZE_MAX;

// Strides between tiles of start and out are in floats, those of panels in bytes: formats differ in what lies there.
struct BlockArgs {
  const float *start;
  size_t start_row_bytes;  // 0: all rows start from the same
  size_t start_tile;
  const float *last_start;  // nullptr, or where the last of a tile's three vectors starts, of any row; tiles are last_tile apart
  size_t last_tile;
  const float *a;
  size_t a_row_bytes;
  const uint8_t *panel;
  size_t panel_tile, panel_k;  // from tile to tile, and from KR k to the next KR
  size_t k;
  const GemmArgs *gemm;  // of blocks of parts: its taps are in the place of a, and the block's first row is `row`
  size_t row;
  float *out;
  size_t out_row_bytes, out_tile;
  size_t columns;     // of out, from its first on; those beyond are not written. kAllColumns but at the end of a row of one gate
  const void *ahead;  // what will be wanted soon, ahead_step bytes from k to k; nullptr: nothing. Used by blocks of many rows
  size_t ahead_step;
};
using BlockFn = void (*)(const BlockArgs *);

// The blocks for tiles of one width: kMostRows heights, and of each for every number of tiles the widest block they fill.
struct BlockLayout {
  static constexpr uint32_t kMostRows = 8, kMostTiles = 8;
  uint32_t tile_floats;                  // floats of a tile at one k
  uint32_t kr, column_bytes;             // consecutive k of a unit that lie together, and their bytes
  uint32_t most_rows;                    // of blocks of any number of tiles
  uint8_t tall_rows, tall_tiles;         // of blocks of more rows and up to so many tiles; 0: there are none
  uint32_t pass[kMostRows];              // floats of a tile that a block of one tile takes in one pass
  uint8_t every_count[kMostRows];        // 1: there is a block for every number of tiles up to the most
  uint8_t most_tiles[kMostRows];         // of a block of so many rows
  uint8_t tiles[kMostRows][kMostTiles];  // of the widest block that 1.. tiles fill
  BlockFn blocks[kMostRows][kMostTiles];
};

// In the place of a number of gates: one, whose rows of factors lie in parts (GemmArgs::taps).
constexpr int kParts = 0;

// Blocks_<layout>_<isa><gates>::layout: objects of their own, so that a program links those of its cells alone.
#define RNNPACK_BLOCKS_OF(name, gates) \
  template <>                          \
  const BlockLayout Blocks_##name<gates>::layout;
#define RNNPACK_BLOCKS(name)         \
  template <int kGates>              \
  struct Blocks_##name {             \
    static const BlockLayout layout; \
  };                                 \
  RNNPACK_BLOCKS_OF(name, 1)         \
  RNNPACK_BLOCKS_OF(name, 2)         \
  RNNPACK_BLOCKS_OF(name, 3)         \
  RNNPACK_BLOCKS_OF(name, 4)
RNNPACK_BLOCKS(nr16_avx512)
RNNPACK_BLOCKS_OF(nr16_avx512, kParts)
RNNPACK_BLOCKS(kF16_nr16_avx512)
RNNPACK_BLOCKS(kBf16_nr16_avx512)
RNNPACK_BLOCKS(nr16_avx2)
RNNPACK_BLOCKS_OF(nr16_avx2, kParts)
RNNPACK_BLOCKS(kF16_nr16_avx2)
RNNPACK_BLOCKS(kBf16_nr16_avx2)
RNNPACK_BLOCKS(nr16_neon)
RNNPACK_BLOCKS_OF(nr16_neon, kParts)
RNNPACK_BLOCKS(kF16_nr16_neon)
RNNPACK_BLOCKS(kBf16_nr16_neon)
RNNPACK_BLOCKS(nr8_neon)
RNNPACK_BLOCKS_OF(nr8_neon, kParts)
RNNPACK_BLOCKS(kF16_nr8_neon)
RNNPACK_BLOCKS(kBf16_nr8_neon)
RNNPACK_BLOCKS(nr16_simd128)
RNNPACK_BLOCKS_OF(nr16_simd128, kParts)
RNNPACK_BLOCKS(kF16_nr16_simd128)
RNNPACK_BLOCKS(kBf16_nr16_simd128)
RNNPACK_BLOCKS(nr16_rvv)
RNNPACK_BLOCKS_OF(nr16_rvv, kParts)
RNNPACK_BLOCKS(kF16_nr16_rvv)
RNNPACK_BLOCKS(kBf16_nr16_rvv)
#undef RNNPACK_BLOCKS
#undef RNNPACK_BLOCKS_OF

}  // namespace rnnp
#endif  // RNNPACK_KERNELS_BLOCK_H_
