// tiles_amx.h -- the tiles of AMX: eight registers of up to 16 rows of 64 bytes, and the instructions on them. Spelt out, because
// GCC 12 moves stores across its intrinsics. Room: kernels. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_TILES_AMX_H_
#define RNNPACK_KERNELS_TILES_AMX_H_

#include <stddef.h>
#include <stdint.h>

#include "kernels/inlining.h"

namespace rnnp::RNNPACK_SET {
namespace {

// As LDTILECFG reads it.
struct TileShapes {
  alignas(64) uint8_t palette;
  uint8_t start_row, reserved[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
};
static_assert(sizeof(TileShapes) == 64, "what the instruction reads");

struct Tiles {
  // All tiles are zeros then.
  static RNNPACK_INLINE void begin(const TileShapes &shapes) { __asm__ volatile("ldtilecfg %0" : : "m"(shapes)); }
  static RNNPACK_INLINE void end() { __asm__ volatile("tilerelease"); }
  template <int kTile>
  static RNNPACK_INLINE void zero() {
    __asm__ volatile("tilezero %%tmm%c0" : : "i"(kTile));
  }
  template <int kTile>
  static RNNPACK_INLINE void load(const uint8_t *from, size_t row_bytes) {
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(row_bytes), "i"(kTile) : "memory");
  }
  template <int kTile>
  static RNNPACK_INLINE void store(void *to, size_t row_bytes) {
    __asm__ volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(row_bytes), "i"(kTile) : "memory");
  }
  // sums[m][n] += four bytes without a sign of row m of a, times four with one of column n of b, for each four.
  template <int kSums, int kA, int kB>
  static RNNPACK_INLINE void add_dots() {
    __asm__ volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSums), "i"(kA), "i"(kB));
  }
  // sums[m][n] += the sum of the even k of row m of a times column n of b, plus that of the odd k: two bf16 in each four bytes.
  template <int kSums, int kA, int kB>
  static RNNPACK_INLINE void add_bf16() {
    __asm__ volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSums), "i"(kA), "i"(kB));
  }
};

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_TILES_AMX_H_
