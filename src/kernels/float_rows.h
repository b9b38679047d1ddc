// float_rows.h -- rows of floats with zeros behind them, for products with sparse panels: blocks reach beyond K, and what fills up
// an entry names the k behind the last. Room: kernels. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_FLOAT_ROWS_H_
#define RNNPACK_KERNELS_FLOAT_ROWS_H_

#include "kernels/kernels.h"
#include "kernels/rows_body.h"
#include "pack/panel_format.h"

namespace rnnp::RNNPACK_SET {
namespace {

struct FloatRows {
  float *first;
  size_t elems;
  explicit FloatRows(const GemmArgs &g)
      : first(static_cast<float *>(g.scratch)), elems(align_up(size_t{g.w.k} + 2 * kBlockK, 16)) {}
  const float *row(size_t m) const { return first + m * elems; }
  float scale(size_t) const { return 1.0f; }
  RNNPACK_NOINLINE void take(const GemmArgs &g, size_t from, size_t m) const {
    const float *a = offset_bytes(g.a, from * g.a_row_bytes);
    float *to = first + m * elems;
    for (size_t k = 0; k < g.w.k; ++k) to[k] = a[k];
    for (size_t k = g.w.k; k < elems; ++k) to[k] = 0.0f;
  }
};

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_FLOAT_ROWS_H_
