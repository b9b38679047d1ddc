// gemm_i8_small_body.h -- rows against int8 panels of four units in little code: all tiles of a row at a time.
// Room: kernels; included once by gemm_i8_<isa>.cpp after a vec_<isa>.h and Bytes, the words on bytes: quantise a row, the sums of
// a tile, a vector of floats of them. Contract: kernels.h, GemmArgs; docs/KERNELS.md, "Int8". SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_GEMM_I8_SMALL_BODY_H_
#define RNNPACK_KERNELS_GEMM_I8_SMALL_BODY_H_

#include "kernels/byte_rows.h"
#include "kernels/rows_body.h"

namespace rnnp::RNNPACK_SET {
namespace {

constexpr size_t kUnits = 4, kMostGates = 4;

// Where a row's part of a tile starts from and goes to, and what belongs to its columns.
struct TilePlace {
  const uint8_t *panel;
  const float *scales, *start, *diagonal;
  float *out;
};

// Whole sums become floats: two roundings. Starts are start_step floats apart from gate to gate: 0 where they are all zeros.
RNNPACK_INLINE void finish_tile(const TilePlace &p, const int32_t *sums, float row_step, float *out, size_t start_step,
                                size_t width) {
  const float *start = p.start;
  const F step = Vec::set1(row_step);
  RNNPACK_NO_UNROLL
  for (size_t n = 0; n < width; n += kUnits, start += start_step) {
    RNNPACK_UNROLL
    for (size_t i = 0; i < kUnits; i += kWidth) {
      const F scale = Vec::mul(Vec::load(p.scales + n + i), step);
      Vec::store(out + n + i, Vec::fma(Bytes::to_float(sums + n + i), scale, Vec::load(start + i)));
    }
  }
}

RNNPACK_NOINLINE void add_diagonal(const float *diagonal, const float *a, size_t k, size_t unit, float *out, size_t width) {
  for (size_t n = 0; n < width; ++n) {
    if (unit + n % kUnits < k) out[n] = __builtin_fmaf(a[unit + n % kUnits], diagonal[n], out[n]);
  }
}

// One quantised row against all tiles.
RNNPACK_NOINLINE void byte_row(const GemmArgs &g, const uint8_t *bytes, float row_step, size_t row) {
  static const float kZeros[kUnits] = {};
  const size_t width = g.w.gates * kUnits, groups = (size_t{g.w.k} + 3) / 4, panel_bytes = groups * width * 4;
  const size_t start_tile = g.start == nullptr ? 0 : g.start_tile != 0 ? g.start_tile : width;
  const size_t out_tile = g.out_tile != 0 ? g.out_tile : width;
  size_t tile = g.tile_begin;
  TilePlace p = {static_cast<const uint8_t *>(g.w.panels) + tile * panel_bytes, g.w.scales + tile * width, kZeros, g.w.diagonal,
                 offset_bytes(g.out, row * g.out_row_bytes) + tile * out_tile};
  if (g.start != nullptr) p.start = offset_bytes(g.start, row * g.start_row_bytes) + tile * start_tile;
  for (; tile < g.tile_end; ++tile) {
    int32_t sums[kMostGates * kUnits];
    float edge[kMostGates * kUnits];
    Bytes::dot(bytes, p.panel, groups, g.w.gates, sums);
    const size_t left = g.units - tile * width;
    const bool whole = g.units == 0 || left >= width;
    float *out = whole ? p.out : edge;
    finish_tile(p, sums, row_step, out, start_tile == 0 ? 0 : kUnits, width);
    if (p.diagonal != nullptr) {
      const float *a = offset_bytes(g.a, row * g.a_row_bytes);
      add_diagonal(p.diagonal + tile * width, a, g.w.k, tile * kUnits, out, width);
    }
    for (size_t n = 0; !whole && n < left; ++n) p.out[n] = edge[n];
    p.panel += panel_bytes, p.scales += width, p.start += start_tile, p.out += out_tile;
  }
}

template <int kNr>
void gemm_i8_run(const GemmArgs *args) {
  static_assert(kNr == kUnits, "a gate of a tile is four units");
  const ByteRows rows = {static_cast<uint8_t *>(args->scratch), 0, align_up(size_t{args->w.k} * 2, 16)};
  for (size_t row = 0; row < args->rows; ++row) {
    quantise_row(args, row, rows, 0, 0);
    byte_row(*args, rows.bytes(0), *rows.scale(0), row);
  }
}

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_GEMM_I8_SMALL_BODY_H_
