// unit_sums_body.h -- some units' sums at vectors of positions, what the rows of conv_nchw and conv_winograd have in common.
// Room: kernels; included by their bodies after a vec_<isa>.h. Touches only its arguments.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_UNIT_SUMS_BODY_H_
#define RNNPACK_KERNELS_UNIT_SUMS_BODY_H_

#include "kernels/kernels.h"
#include "kernels/rows_body.h"

namespace rnnp::RNNPACK_SET {
namespace {

// Of a block. Fewer where no more are left, or where a panel holds no more.
constexpr uint32_t kMostUnits = Vec::kRegisters >= 32 ? 8 : kPlaneUnits;

RNNPACK_INLINE bool takes_most_units(uint32_t left, uint32_t in_panel) {
  return kMostUnits > kPlaneUnits && left > kPlaneUnits && in_panel >= kMostUnits;
}

template <uint32_t kUnits, uint32_t kVectors>
RNNPACK_INLINE void begin_sums(const float *start, F (&acc)[kUnits][kVectors]) {
  RNNPACK_UNROLL
  for (uint32_t u = 0; u < kUnits; ++u) {
    const F first = start != nullptr ? Vec::broadcast(start + u) : Vec::set1(0.0f);
    RNNPACK_UNROLL
    for (uint32_t v = 0; v < kVectors; ++v) acc[u][v] = first;
  }
}

// One product each; the units' weights lie side by side.
template <uint32_t kUnits, uint32_t kVectors>
RNNPACK_INLINE void add_products(const F (&x)[kVectors], const float *weights, F (&acc)[kUnits][kVectors]) {
  RNNPACK_UNROLL
  for (uint32_t u = 0; u < kUnits; ++u) {
    const F weight = Vec::broadcast(weights + u);
    RNNPACK_UNROLL
    for (uint32_t v = 0; v < kVectors; ++v) acc[u][v] = Vec::fma(x[v], weight, acc[u][v]);
  }
}

// The first n of a vector, all of it where n is more.
RNNPACK_INLINE void store_up_to(float *p, F x, uint32_t n) {
  if (n >= uint32_t{kWidth}) return Vec::store(p, x);
  if (n != 0) Vec::store_first(p, x, n);
}

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_UNIT_SUMS_BODY_H_
