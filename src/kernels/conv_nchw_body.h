// conv_nchw_body.h -- convolution of planes: some units of some positions of a line, those in the lanes.
// Room: kernels; included once by conv_nchw_<isa>.cpp after a vec_<isa>.h. Touches only its arguments.
// Contract: kernels.h, ConvNchwArgs; the bits of a product of patches (gemm_body.h).
// Why so: a tap is a load of neighbours in x as it lies, used for all units of the block; nothing is gathered.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_CONV_NCHW_BODY_H_
#define RNNPACK_KERNELS_CONV_NCHW_BODY_H_

#include "kernels/plane_lines.h"
#include "kernels/unit_sums_body.h"

namespace rnnp {
namespace {

static_assert(kWidth <= kPlaneSlack, "a vector is stored that is longer than what is left");

struct PutVectors {
  static RNNPACK_INLINE void zeros(float *to, uint32_t count) {
    for (uint32_t i = 0; i < count; i += uint32_t{kWidth}) Vec::store(to + i, Vec::set1(0.0f));
  }
  static RNNPACK_INLINE void line(float *to, const float *from, ptrdiff_t step, uint32_t count) {
    uint32_t i = 0;
    if (step == 1) {
      for (; i + uint32_t{kWidth} <= count; i += uint32_t{kWidth}) Vec::store(to + i, Vec::load(from + i));
    }
    for (; i < count; ++i) to[i] = from[step * static_cast<ptrdiff_t>(i)];
  }
};

constexpr uint32_t kMostPlaneVectors = Vec::kRegisters >= 32 ? 3 : 2;

// A vector of positions.
struct PlanePlace {
  const float *x;
  float *y;          // of unit 0
  uint32_t columns;  // that there are from it on, at most kWidth
};

// Where masks cost something, a block with parts of vectors goes by way of a buffer.
template <uint32_t kUnits, uint32_t kVectors>
RNNPACK_INLINE void store_planes(const ConvNchwArgs &t, uint32_t unit, const PlanePlace *places, const F (&acc)[kUnits][kVectors]) {
  RNNPACK_UNROLL
  for (uint32_t u = 0; u < kUnits; ++u) {
    if (unit + u >= t.unit_end) return;
    RNNPACK_UNROLL
    for (uint32_t v = 0; v < kVectors; ++v) {
      float *y = places[v].y + (unit + u) * t.y_plane;
      kMasksCostNothing ? Vec::store_first(y, acc[u][v], places[v].columns) : Vec::store(y, acc[u][v]);
    }
  }
}

[[maybe_unused]] RNNPACK_NOINLINE void store_parts(const ConvNchwArgs &t, uint32_t unit, uint32_t units, uint32_t vectors,
                                                   const PlanePlace *places, const float *from) {
  for (uint32_t u = 0; u < units && unit + u < t.unit_end; ++u) {
    for (uint32_t v = 0; v < vectors; ++v, from += kWidth) {
      float *y = places[v].y + (unit + u) * t.y_plane;
      store_up_to(y, Vec::load(from), places[v].columns);
    }
  }
}

// The sums of one tap.
template <uint32_t kUnits, uint32_t kVectors>
RNNPACK_INLINE void add_tap(const float *const (&from)[kVectors], uint32_t tap, const float *weights, F (&acc)[kUnits][kVectors]) {
  F x[kVectors];
  RNNPACK_UNROLL
  for (uint32_t v = 0; v < kVectors; ++v) x[v] = Vec::load(from[v] + tap);
  add_products(x, weights, acc);
}

template <uint32_t kUnits, uint32_t kVectors>
RNNPACK_NOINLINE void plane_block(const ConvNchwArgs &t, uint32_t unit, const PlanePlace *places) {
  F acc[kUnits][kVectors];
  begin_sums(t.start != nullptr ? t.start + unit : nullptr, acc);
  const float *from[kVectors];
  RNNPACK_UNROLL
  for (uint32_t v = 0; v < kVectors; ++v) from[v] = places[v].x;
  const float *weights = t.panels + size_t{unit / t.nr} * t.k * t.nr + unit % t.nr;
  RNNPACK_NO_UNROLL
  for (uint32_t k = 0; k < t.k; ++k, weights += t.nr) add_tap<kUnits, kVectors>(from, t.taps[k], weights, acc);
  if (kMasksCostNothing || t.y_columns % uint32_t{kWidth} == 0) return store_planes<kUnits, kVectors>(t, unit, places, acc);
  alignas(64) float parts[kUnits][kVectors][kWidth];
  RNNPACK_UNROLL
  for (uint32_t u = 0; u < kUnits; ++u) {
    RNNPACK_UNROLL
    for (uint32_t v = 0; v < kVectors; ++v) Vec::store(parts[u][v], acc[u][v]);
  }
  store_parts(t, unit, kUnits, kVectors, places, &parts[0][0][0]);
}

// All units of some vectors of positions: their part of x stays in L1.
template <uint32_t kVectors>
RNNPACK_INLINE void plane_units(const ConvNchwArgs &t, const PlanePlace *places) {
  for (uint32_t unit = t.unit_begin; unit < t.unit_end;) {
    if (takes_most_units(t.unit_end - unit, t.nr - unit % t.nr)) {
      plane_block<kMostUnits, kVectors>(t, unit, places);
      unit += kMostUnits;
    } else {
      plane_block<kPlaneUnits, kVectors>(t, unit, places);
      unit += kPlaneUnits;
    }
  }
}

// Vectors of the next block when `left` are to be done: no block of one is left over.
RNNPACK_INLINE uint32_t next_vectors(uint32_t left) {
  return left <= kMostPlaneVectors ? left : left == kMostPlaneVectors + 1 ? 2 : kMostPlaneVectors;
}

void conv_nchw_run(const ConvNchwArgs *args) {
  const ConvNchwArgs &t = *args;
  if (t.from.channels != 0) put_planes<PutVectors>(t.from, t.lines);
  const uint32_t per_line = (t.y_columns + uint32_t{kWidth} - 1) / uint32_t{kWidth};
  uint32_t line = 0, column = 0;
  for (uint32_t left = t.y_lines * per_line; left != 0;) {
    const uint32_t count = next_vectors(left);
    PlanePlace places[kMostPlaneVectors];
    for (uint32_t v = 0; v < count; ++v) {
      const uint32_t columns = t.y_columns - column;
      places[v] = {t.lines + line * t.line_step + column, t.y + size_t{line} * t.y_columns + column,
                   columns < uint32_t{kWidth} ? columns : uint32_t{kWidth}};
      column += uint32_t{kWidth};
      if (column >= t.y_columns) ++line, column = 0;
    }
    if (kMostPlaneVectors > 2 && count == kMostPlaneVectors) {
      plane_units<kMostPlaneVectors>(t, places);
    } else if (count == 2) {
      plane_units<2>(t, places);
    } else {
      plane_units<1>(t, places);
    }
    left -= count;
  }
}

}  // namespace
}  // namespace rnnp
#endif  // RNNPACK_KERNELS_CONV_NCHW_BODY_H_
