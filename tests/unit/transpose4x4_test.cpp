// transpose4x4_test.cpp -- a matrix transposed, of every small size and at every distance. SPDX-License-Identifier: Apache-2.0
#include "ops/transpose4x4.h"

#include <gtest/gtest.h>

#include <vector>

namespace rnnp {
namespace {

TEST(Turn, RowsBecomeColumnsAndNothingElseIsWritten) {
  constexpr float kUntouched = -1.0f;
  for (uint32_t rows = 1; rows <= 13; ++rows)
    for (uint32_t columns = 1; columns <= 13; ++columns)
      for (uint32_t apart = 0; apart < 3; ++apart) {
        const ptrdiff_t x_row = rows + apart, y_row = columns + 2 * apart;
        std::vector<float> x(static_cast<size_t>(x_row) * columns), y(static_cast<size_t>(y_row) * rows, kUntouched);
        for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
        turn(x.data(), x_row, y.data(), y_row, rows, columns);
        for (ptrdiff_t i = 0; i < ptrdiff_t{rows}; ++i)
          for (ptrdiff_t j = 0; j < y_row; ++j)
            ASSERT_EQ(y[size_t(i * y_row + j)], j < ptrdiff_t{columns} ? x[size_t(i + j * x_row)] : kUntouched)
                << rows << " x " << columns << " at " << i << ", " << j;
      }
}

}  // namespace
}  // namespace rnnp
