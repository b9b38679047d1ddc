// gemm_few_body.h -- rows against so few columns that a tile of them is mostly padding: the rows lie in the lanes.
// Room: kernels; included by gemm_body.h, used by the ISAs whose Vec::kColumns is true. Touches only its arguments.
// Contract: kernels.h, GemmArgs; the bits of gemm_body.h.
// Why so: the outputs of one column are as many chains as there are rows; a small square of A is turned over in registers.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_GEMM_FEW_BODY_H_
#define RNNPACK_KERNELS_GEMM_FEW_BODY_H_

#include "kernels/kernels.h"
#include "kernels/rows_body.h"

namespace rnnp {
namespace {

constexpr uint32_t kFewUnits = 4;

// Element k of kWidth rows.
RNNPACK_INLINE F load_column(const float *a, size_t row_bytes) {
  float column[kWidth];
  for (int m = 0; m < kWidth; ++m, a = offset_bytes(a, row_bytes)) column[m] = *a;
  return Vec::load(column);
}

// One column of kWidth rows; `panel` is its element of k = 0.
template <int kRow, class V>
RNNPACK_INLINE F sum_column(F sum, const float *a, size_t row_bytes, const float *panel, size_t k) {
  size_t i = 0;
  for (; i + 4 <= k; i += 4, panel += 4 * kRow) {
    F columns[4];
    V::load_columns(a + i, row_bytes, columns);
    RNNPACK_UNROLL
    for (int n = 0; n < 4; ++n) sum = Vec::fma(columns[n], Vec::broadcast(panel + n * kRow), sum);
  }
  for (; i < k; ++i, panel += kRow) sum = Vec::fma(load_column(a + i, row_bytes), Vec::broadcast(panel), sum);
  return sum;
}

RNNPACK_INLINE void store_column(float *out, size_t row_bytes, F column) {
  if (row_bytes == sizeof(float)) return Vec::store(out, column);
  float rows[kWidth];
  Vec::store(rows, column);
  for (int m = 0; m < kWidth; ++m, out = offset_bytes(out, row_bytes)) *out = rows[m];
}

// Returns how many rows are done: the others are too few.
template <int kRow, class V>
RNNPACK_NOINLINE uint32_t few_units(const GemmArgs *args) {
  uint32_t row = 0;
  for (; args->rows - row >= kWidth; row += kWidth) {
    const float *a = offset_bytes(args->a, row * args->a_row_bytes);
    float *out = offset_bytes(args->out, row * args->out_row_bytes);
    for (uint32_t unit = 0; unit < args->units; ++unit) {
      const F start = Vec::set1(args->start != nullptr ? args->start[unit] : 0.0f);
      store_column(out + unit, args->out_row_bytes,
                   sum_column<kRow, V>(start, a, args->a_row_bytes, static_cast<const float *>(args->panels) + unit, args->k));
    }
  }
  return row;
}

}  // namespace
}  // namespace rnnp
#endif  // RNNPACK_KERNELS_GEMM_FEW_BODY_H_
