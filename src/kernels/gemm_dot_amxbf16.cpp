// gemm_dot_amxbf16.cpp -- the gemm row of bf16 products for AMX: tiles of 16 rows and 16 units, for eight rows and more; fewer are
// VDPBF16PS's. Sums lie in tiles from where they start to where they go. Room: kernels; compiled with this instruction set's flags,
// so it holds kernels and their rows only: no dispatch, no initialisers. Contract: kernels.h; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"

#if defined(RNNPACK_HAVE_AMXBF16) && defined(RNNPACK_HAVE_AVX512BF16) && defined(__x86_64__)
#define RNNPACK_SET amxbf16
#include "kernels/kernel_rows.h"
#include "kernels/tiles_amx.h"
#include "kernels/vec_avx512.h"

namespace rnnp::amxbf16 {
namespace {

struct TileProduct {
  template <int kSums, int kA, int kB>
  static RNNPACK_INLINE void add() {
    Tiles::add_bf16<kSums, kA, kB>();
  }
};

}  // namespace
}  // namespace rnnp::amxbf16

// The product comes before the body that uses it.
#include "kernels/rows_body.h"
#include "kernels/tile_columns_body.h"
#include "rnnpack/rnnpack.h"

namespace rnnp::amxbf16 {
namespace {

constexpr size_t kBlockBytes = kDotBlock * sizeof(uint16_t);  // of a prepared row
static_assert(kBlockBytes == kTileBytes, "a block of k is a tile's row");

RNNPACK_NOINLINE void round_row(const float *a, size_t k, uint8_t *to) {
  const auto load_some = [](const float *p, size_t left) {
    return left >= 16 ? Vec::load(p) : left != 0 ? Vec::load_first(p, left) : Vec::set1(0.0f);
  };
  for (size_t i = 0; i < k; i += kDotBlock, to += kBlockBytes) {
    const Vec::F low = load_some(a + i, k - i), high = load_some(a + i + 16, k - i > 16 ? k - i - 16 : 0);
    _mm512_storeu_si512(to, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low)));
  }
}

// Sums of 16 rows and one column, of which a dense row may have fewer units.
struct TileSums {
  const float *start;  // nullptr: zeros
  float *out;
  size_t start_row_bytes, out_row_bytes, rows, units;

  template <int kTile>
  RNNPACK_NOINLINE void load() const {
    if (start == nullptr) return Tiles::zero<kTile>();
    if (units == 16) return Tiles::load<kTile>(reinterpret_cast<const uint8_t *>(start), start_row_bytes);
    alignas(64) float staged[kTileRows][16];
    for (size_t m = 0; m < rows; ++m) Vec::store(staged[m], Vec::load_first(offset_bytes(start, m * start_row_bytes), units));
    Tiles::load<kTile>(reinterpret_cast<const uint8_t *>(staged), kTileBytes);
  }
  template <int kTile>
  RNNPACK_NOINLINE void store() const {
    if (units == 16) return Tiles::store<kTile>(out, out_row_bytes);
    alignas(64) float staged[kTileRows][16];
    Tiles::store<kTile>(staged, kTileBytes);
    for (size_t m = 0; m < rows; ++m) Vec::store_first(offset_bytes(out, m * out_row_bytes), Vec::load(staged[m]), units);
  }
};

// All of the rounded rows against some columns.
struct DotTiles {
  const GemmArgs *args;
  TileColumns columns;
  size_t start_tile, out_tile, row_bytes, groups, first_row, rows;

  RNNPACK_NOINLINE TileSums sums(size_t column, size_t row_tile) const {
    const GemmArgs &g = *args;
    const size_t tile = column / g.w.gates, at = column % g.w.gates * 16, row = first_row + row_tile * kTileRows;
    const size_t left = g.units == 0 ? 16 : g.units - tile * 16, below = rows - row_tile * kTileRows;
    TileSums s = {};
    if (g.start != nullptr) s.start = offset_bytes(g.start, row * g.start_row_bytes) + tile * start_tile + at;
    s.out = offset_bytes(g.out, row * g.out_row_bytes) + tile * out_tile + at;
    s.start_row_bytes = g.start_row_bytes;
    s.out_row_bytes = g.out_row_bytes;
    s.rows = below < kTileRows ? below : kTileRows;
    s.units = left < 16 ? left : 16;
    return s;
  }

  template <int kRowTiles, int kColumns>
  RNNPACK_NOINLINE void run(size_t column) {
    const uint8_t *panel[4] = {};
    for (size_t c = 0; c < kColumns; ++c) panel[c] = columns.at(column + c);
    const uint8_t *prepared = static_cast<const uint8_t *>(args->scratch);
    const uint8_t *const of_block[2] = {prepared, prepared + kTileRows * row_bytes};
    sums(column, 0).load<0>();
    if constexpr (kColumns > 1) sums(column + 1, 0).load<1>();
    if constexpr (kColumns > 2) sums(column + 2, 0).load<2>();
    if constexpr (kColumns > 3) sums(column + 3, 0).load<3>();
    if constexpr (kRowTiles == 2) sums(column, 1).load<2>();
    if constexpr (kRowTiles == 2 && kColumns > 1) sums(column + 1, 1).load<3>();
    add_tiles<kRowTiles, kColumns>(of_block, row_bytes, panel, columns.panel_k, groups);
    sums(column, 0).store<0>();
    if constexpr (kColumns > 1) sums(column + 1, 0).store<1>();
    if constexpr (kColumns > 2) sums(column + 2, 0).store<2>();
    if constexpr (kColumns > 3) sums(column + 3, 0).store<3>();
    if constexpr (kRowTiles == 2) sums(column, 1).store<2>();
    if constexpr (kRowTiles == 2 && kColumns > 1) sums(column + 1, 1).store<3>();
  }
};

void gemm_dot_tiles_run(const GemmArgs &g) {
  DotTiles t = {};
  const size_t width = size_t{g.w.gates} * 16;
  t.args = &g;
  t.groups = (size_t{g.w.k} + 1) / 2;
  t.columns = {&g, width * 4, t.groups * width * 4};
  t.start_tile = g.start_tile != 0 ? g.start_tile : width;
  t.out_tile = g.out_tile != 0 ? g.out_tile : width;
  t.row_bytes = (size_t{g.w.k} + kDotBlock - 1) / kDotBlock * kBlockBytes;
  uint8_t *prepared = static_cast<uint8_t *>(g.scratch);
  for (t.first_row = 0; t.first_row < g.rows; t.first_row += kQuantisedRows) {
    const size_t left = g.rows - t.first_row;
    t.rows = left < kQuantisedRows ? left : kQuantisedRows;
    for (size_t m = 0; m < t.rows && !g.prepared; ++m)
      round_row(offset_bytes(g.a, (t.first_row + m) * g.a_row_bytes), g.w.k, prepared + m * t.row_bytes);
    shape_tiles(t.rows);
    sweep_columns(g, t.rows, &t);
  }
  Tiles::end();
}

// Of no rows: tiles are touched, and nothing else (runtime/warm_threads.h).
void run(const GemmArgs *args) {
  if (args->rows == 0) return touch_tiles();
  if (args->rows < kFewestTileRows) return kKernel_gemm_dot_bf16_nr16_avx512bf16.gemm(args);
  gemm_dot_tiles_run(*args);
}

}  // namespace
}  // namespace rnnp::amxbf16

namespace rnnp {

#define RNNPACK_IN_gemm_dot_amxbf16 , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) amxbf16::run
#include "kernels/kernel_objects.inc"

}  // namespace rnnp

#endif  // RNNPACK_HAVE_AMXBF16
