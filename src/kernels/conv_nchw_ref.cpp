// conv_nchw_ref.cpp -- convolutions of planes in plain loops: every CPU runs it, every other row is tested against it.
// Room: kernels. Contract: kernels.h, ConvNchwArgs; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/kernel_rows.h"
#include "kernels/plane_lines.h"

namespace rnnp {
namespace {

struct PutFloats {
  static void zeros(float *to, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) to[i] = 0.0f;
  }
  static void line(float *to, const float *from, ptrdiff_t step, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i, from += step) to[i] = *from;
  }
};

// One position of the units of a block, whose weights lie side by side.
void some_units(const ConvNchwArgs &t, uint32_t unit, const float *x, float *y) {
  float sum[kPlaneUnits];
  for (uint32_t u = 0; u < kPlaneUnits; ++u) sum[u] = t.start != nullptr ? t.start[unit + u] : 0.0f;
  const float *weights = t.panels + size_t{unit / t.nr} * t.k * t.nr + unit % t.nr;
  for (uint32_t k = 0; k < t.k; ++k, weights += t.nr) {
    for (uint32_t u = 0; u < kPlaneUnits; ++u) sum[u] += x[t.taps[k]] * weights[u];
  }
  for (uint32_t u = 0; u < kPlaneUnits && unit + u < t.unit_end; ++u) y[u * t.y_plane] = sum[u];
}

void ref_conv_nchw(const ConvNchwArgs *args) {
  const ConvNchwArgs &t = *args;
  if (t.from.channels != 0) put_planes<PutFloats>(t.from, t.lines);
  for (uint32_t unit = t.unit_begin; unit < t.unit_end; unit += kPlaneUnits) {
    float *y = t.y + unit * t.y_plane;
    for (uint32_t line = 0; line < t.y_lines; ++line) {
      for (uint32_t column = 0; column < t.y_columns; ++column) some_units(t, unit, t.lines + line * t.line_step + column, y++);
    }
  }
}

}  // namespace

#define RNNPACK_IN_conv_nchw_ref , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) ref_conv_nchw
#include "kernels/kernel_objects.inc"

}  // namespace rnnp
