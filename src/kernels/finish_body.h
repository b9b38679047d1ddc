// finish_body.h -- what becomes of a vector of sums in the kernels of packed weights: where it starts, R's diagonal, where it goes.
// Room: kernels; included after a vec_<isa>.h. Contract: kernels.h, GemmArgs. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_FINISH_BODY_H_
#define RNNPACK_KERNELS_FINISH_BODY_H_

#include "kernels/kernels.h"
#include "kernels/rows_body.h"

namespace rnnp::RNNPACK_SET {
namespace {

// A vector of a row's outputs: `width` columns make a tile, the vector starts at `column` of it.
struct VectorPlace {
  size_t row, tile, column, width;
};

RNNPACK_NOINLINE F add_diagonal(const GemmArgs &g, const VectorPlace &p, F sum) {
  const size_t nr = p.width / g.w.gates, unit = p.tile * nr + p.column % nr;
  const float *a = offset_bytes(g.a, p.row * g.a_row_bytes) + unit;
  const F weights = Vec::load(g.w.diagonal + p.tile * p.width + p.column);
  if (unit + kWidth <= g.w.k) return Vec::fma(Vec::load(a), weights, sum);
  return unit < g.w.k ? Vec::fma(Vec::load_first(a, g.w.k - unit), weights, sum) : sum;
}

// out = value * factor + start, and the diagonal's product after it.
RNNPACK_INLINE void finish_vector(const GemmArgs &g, const VectorPlace &p, F value, F factor) {
  const size_t start_tile = g.start_tile != 0 ? g.start_tile : p.width, out_tile = g.out_tile != 0 ? g.out_tile : p.width;
  F from = Vec::set1(0.0f);
  if (g.start != nullptr) from = Vec::load(offset_bytes(g.start, p.row * g.start_row_bytes) + p.tile * start_tile + p.column);
  F result = Vec::fma(value, factor, from);
  if (g.w.diagonal != nullptr) result = add_diagonal(g, p, result);
  const size_t column = p.tile * out_tile + p.column;
  float *out = offset_bytes(g.out, p.row * g.out_row_bytes) + column;
  if (g.units == 0 || column + kWidth <= g.units) {
    Vec::store(out, result);
  } else if (column < g.units) {
    Vec::store_first(out, result, g.units - column);
  }
}

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_FINISH_BODY_H_
