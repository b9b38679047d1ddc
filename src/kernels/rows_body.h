// rows_body.h -- the vector type under its short name, and pointers into rows.
// Room: kernels; included by the bodies after a vec_<isa>.h.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_ROWS_BODY_H_
#define RNNPACK_KERNELS_ROWS_BODY_H_

#include <stddef.h>
#include <stdint.h>

#include "kernels/row_bytes.h"

namespace rnnp::RNNPACK_SET {
namespace {

using F = Vec::F;
constexpr int kWidth = Vec::kWidth;

// A store of 16 floats takes its mask along.
constexpr bool kMasksCostNothing = kWidth == 16;

// Rows of up to kMr pointers, `stride` bytes apart.
template <int kMr>
struct Rows {
  const float *at[kMr];
};

template <int kMr>
RNNPACK_INLINE Rows<kMr> rows_at(const float *first, size_t stride) {
  Rows<kMr> rows;
  RNNPACK_UNROLL
  for (int m = 0; m < kMr; ++m) rows.at[m] = offset_bytes(first, m * stride);
  return rows;
}

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_ROWS_BODY_H_
