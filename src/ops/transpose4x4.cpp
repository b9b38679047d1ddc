// transpose4x4.cpp -- Contract: transpose4x4.h. SPDX-License-Identifier: Apache-2.0
#include "ops/transpose4x4.h"

#include "ops/four_floats.h"

namespace rnnp {
namespace {

#if RNNPACK_FOUR_FLOATS

inline void transpose4x4(const float *x, ptrdiff_t x_row, float *y, ptrdiff_t y_row) {
  transpose_four({x, x + x_row, x + 2 * x_row, x + 3 * x_row}, y, y_row);
}
constexpr ptrdiff_t kReversed = 4;

// Four rows of two and of three that lie side by side become two and three of four.
inline void split_twos(const float *x, float *y, ptrdiff_t y_row) {
  const FourFloats a = load_four(x), b = load_four(x + 4);
  store_four(y, RNNPACK_FOUR_OF(a, b, 0, 2, 4, 6));
  store_four(y + y_row, RNNPACK_FOUR_OF(a, b, 1, 3, 5, 7));
}
inline void split_threes(const float *x, float *y, ptrdiff_t y_row) {
  const FourFloats a = load_four(x), b = load_four(x + 4), c = load_four(x + 8);
  const FourFloats ab = RNNPACK_FOUR_OF(a, b, 1, 4, 2, 5), bc = RNNPACK_FOUR_OF(b, c, 2, 5, 3, 6);
  store_four(y, RNNPACK_FOUR_OF(a, bc, 0, 3, 4, 5));
  store_four(y + y_row, RNNPACK_FOUR_OF(ab, bc, 0, 1, 6, 7));
  store_four(y + 2 * y_row, RNNPACK_FOUR_OF(ab, c, 2, 3, 4, 7));
}
// And back.
inline void join_twos(const float *x, ptrdiff_t x_row, float *y) {
  const FourFloats a = load_four(x), b = load_four(x + x_row);
  store_four(y, RNNPACK_FOUR_OF(a, b, 0, 4, 1, 5));
  store_four(y + 4, RNNPACK_FOUR_OF(a, b, 2, 6, 3, 7));
}
inline void join_threes(const float *x, ptrdiff_t x_row, float *y) {
  const FourFloats a = load_four(x), b = load_four(x + x_row), c = load_four(x + 2 * x_row);
  const FourFloats ca = RNNPACK_FOUR_OF(c, a, 0, 5, 2, 7), bc = RNNPACK_FOUR_OF(b, c, 1, 5, 3, 7);
  store_four(y, RNNPACK_FOUR_OF(RNNPACK_FOUR_OF(a, b, 0, 4, 1, 5), ca, 0, 1, 4, 5));
  store_four(y + 4, RNNPACK_FOUR_OF(bc, RNNPACK_FOUR_OF(a, b, 2, 6, 3, 7), 0, 1, 4, 5));
  store_four(y + 8, RNNPACK_FOUR_OF(ca, bc, 2, 3, 6, 7));
}

// Of two or three rows, or columns, how many of the others are done.
inline ptrdiff_t turn_few(const float *x, ptrdiff_t x_row, float *y, ptrdiff_t y_row, ptrdiff_t rows, ptrdiff_t columns) {
  ptrdiff_t done = 0;
  if (x_row == rows && (rows == 2 || rows == 3)) {
    for (; done + 4 <= columns; done += 4) (rows == 2 ? split_twos : split_threes)(x + done * rows, y + done, y_row);
  } else if (y_row == columns && (columns == 2 || columns == 3)) {
    for (; done + 4 <= rows; done += 4) (columns == 2 ? join_twos : join_threes)(x + done, x_row, y + done * columns);
  }
  return done;
}

#else

inline void transpose4x4(const float *x, ptrdiff_t, float *y, ptrdiff_t) {
  *y = *x;
}
constexpr ptrdiff_t kReversed = 1;

inline ptrdiff_t turn_few(const float *, ptrdiff_t, float *, ptrdiff_t, ptrdiff_t, ptrdiff_t) {
  return 0;
}

#endif

}  // namespace

void turn(const float *x, ptrdiff_t x_row, float *y, ptrdiff_t y_row, uint32_t row_count, uint32_t column_count) {
  const ptrdiff_t rows = static_cast<ptrdiff_t>(row_count), columns = static_cast<ptrdiff_t>(column_count);
  if (rows >= kReversed && columns >= kReversed) {
    for (ptrdiff_t i = 0; i < rows; i += kReversed) {
      const ptrdiff_t row = i + kReversed <= rows ? i : rows - kReversed;
      for (ptrdiff_t j = 0; j < columns; j += kReversed) {
        const ptrdiff_t column = j + kReversed <= columns ? j : columns - kReversed;
        transpose4x4(x + row + column * x_row, x_row, y + row * y_row + column, y_row);
      }
    }
    return;
  }
  const ptrdiff_t done = turn_few(x, x_row, y, y_row, rows, columns);
  const bool columns_done = rows < columns;
  for (ptrdiff_t i = columns_done ? 0 : done; i < rows; ++i) {
    for (ptrdiff_t j = columns_done ? done : 0; j < columns; ++j) y[i * y_row + j] = x[i + j * x_row];
  }
}

}  // namespace rnnp
