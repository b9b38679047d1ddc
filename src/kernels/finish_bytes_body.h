// finish_bytes_body.h -- a block of rows against panels of int8, and what becomes of its sums. Room: kernels; included after a
// vec_<isa>.h and Int, the words on bytes. Contract: kernels.h, GemmArgs; docs/KERNELS.md, "Int8".
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_FINISH_BYTES_BODY_H_
#define RNNPACK_KERNELS_FINISH_BYTES_BODY_H_

#include "kernels/byte_rows.h"
#include "kernels/finish_body.h"

namespace rnnp::RNNPACK_SET {
namespace {

using I = Int::I;
constexpr size_t kColumnBytes = 4;  // four k of a unit

// Where a block of some rows and vectors of one tile lies.
struct ByteBlock {
  const GemmArgs *args;
  const uint8_t *panel;  // of the block's first vector
  size_t panel_k, groups;
  size_t width;  // columns of a tile
  ByteRows rows;
  size_t row, first_row;  // among the quantised ones, and where those begin
  size_t tile, column;    // the block's first column within the tile
};

// The floats of whole sums, so many vectors for each row, on top of where they start: the way of every product.
RNNPACK_NOINLINE void finish_slow_path(const ByteBlock &b, const I *sum, size_t rows, size_t vectors) {
  const GemmArgs &g = *b.args;
  VectorPlace place = {0, b.tile, 0, b.width};
  RNNPACK_NO_UNROLL
  for (size_t i = 0; i < rows * vectors; ++i) {
    const size_t row = b.row + i / vectors;
    place.row = b.first_row + row;
    place.column = b.column + i % vectors * kWidth;
    const size_t of_unit = b.tile * b.width + place.column;
    const F scale = Vec::mul(Vec::load(g.w.scales + of_unit), Vec::set1(*b.rows.scale(row)));
    finish_vector(g, place, Int::to_float(sum[i], g.w.unit_sums + of_unit), scale);
  }
}

RNNPACK_INLINE bool is_slow_path(const GemmArgs &g) {
  return g.units != 0 || g.w.diagonal != nullptr || g.start == nullptr;
}

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_FINISH_BYTES_BODY_H_
