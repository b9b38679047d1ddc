// transpose4x4.h -- a matrix transposed: y[i][j] = x[j][i], four by four elements in registers where there are vectors of four
// floats. Touches nothing but y, which does not overlap x. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_OPS_TRANSPOSE4X4_H_
#define RNNPACK_OPS_TRANSPOSE4X4_H_

#include <stddef.h>
#include <stdint.h>

namespace rnnp {

// `row_count` rows of y with `column_count` elements each, those of x being columns of y. Where there are four of both the last
// ones are done once more with those before.
void turn(const float *x, ptrdiff_t x_row, float *y, ptrdiff_t y_row, uint32_t row_count, uint32_t column_count);

}  // namespace rnnp
#endif  // RNNPACK_OPS_TRANSPOSE4X4_H_
