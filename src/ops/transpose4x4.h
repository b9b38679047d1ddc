// transpose4x4.h -- a matrix transposed: y[i][j] = x[j][i], four by four elements in registers where there are vectors of four
// floats. Touches nothing but y, which does not overlap x. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_TRANSPOSE4X4_H_
#define RNNPACK_OPS_TRANSPOSE4X4_H_

#include <stddef.h>
#include <stdint.h>

#include "ops/four_floats.h"

namespace rnnp {

#if RNNPACK_FOUR_FLOATS

// Four rows of four.
inline void transpose4x4(const float *x, ptrdiff_t x_row, float *y, ptrdiff_t y_row) {
  const FourFloats a = load_four(x), b = load_four(x + x_row), c = load_four(x + 2 * x_row), d = load_four(x + 3 * x_row);
  const FourFloats ab = RNNPACK_FOUR_OF(a, b, 0, 4, 1, 5), cd = RNNPACK_FOUR_OF(c, d, 0, 4, 1, 5);
  const FourFloats ab2 = RNNPACK_FOUR_OF(a, b, 2, 6, 3, 7), cd2 = RNNPACK_FOUR_OF(c, d, 2, 6, 3, 7);
  const FourFloats rows[4] = {RNNPACK_FOUR_OF(ab, cd, 0, 1, 4, 5), RNNPACK_FOUR_OF(ab, cd, 2, 3, 6, 7),
                              RNNPACK_FOUR_OF(ab2, cd2, 0, 1, 4, 5), RNNPACK_FOUR_OF(ab2, cd2, 2, 3, 6, 7)};
  for (const FourFloats &row : rows) {
    store_four(y, row);
    y += y_row;
  }
}
constexpr ptrdiff_t kReversed = 4;

#else

inline void transpose4x4(const float *x, ptrdiff_t, float *y, ptrdiff_t) {
  *y = *x;
}
constexpr ptrdiff_t kReversed = 1;

#endif

// `rows` rows of y with `columns` elements each, those of x being columns of y.
inline void turn(const float *x, ptrdiff_t x_row, float *y, ptrdiff_t y_row, uint32_t rows, uint32_t columns) {
  const ptrdiff_t n = static_cast<ptrdiff_t>(rows), m = static_cast<ptrdiff_t>(columns);
  const ptrdiff_t whole_rows = n / kReversed * kReversed, whole_columns = m / kReversed * kReversed;
  for (ptrdiff_t i = 0; i < whole_rows; i += kReversed) {
    for (ptrdiff_t j = 0; j < whole_columns; j += kReversed) transpose4x4(x + i + j * x_row, x_row, y + i * y_row + j, y_row);
  }
  for (ptrdiff_t i = 0; i < n; ++i) {
    for (ptrdiff_t j = i < whole_rows ? whole_columns : 0; j < m; ++j) y[i * y_row + j] = x[i + j * x_row];
  }
}

}  // namespace rnnp
#endif  // RNNPACK_OPS_TRANSPOSE4X4_H_
