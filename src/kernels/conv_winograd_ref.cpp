// conv_winograd_ref.cpp -- 3x3 convolutions of planes by F(2x2, 3x3) in plain loops: every CPU runs it, every other row is tested
// against it. Room: kernels. Contract: kernels.h, ConvWinogradArgs; rows in kernels.inc.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/kernel_rows.h"
#include "pack/winograd.h"

namespace rnnp {
namespace {

// Element (line, column) of a channel, which may lie outside.
float element(const ConvWinogradArgs &t, uint32_t channel, int64_t line, int64_t column) {
  if (line < 0 || line >= int64_t{t.x_lines} || column < 0 || column >= int64_t{t.x_columns}) return 0.0f;
  return t
      .x[t.x_channel * static_cast<ptrdiff_t>(channel) + t.x_line * static_cast<ptrdiff_t>(line) + static_cast<ptrdiff_t>(column)];
}

// d, `step` floats apart, in its place.
void transform(float *d, uint32_t step) {
  const float d0 = d[0], d1 = d[step], d2 = d[2 * step], d3 = d[3 * step];
  d[0] = d0 - d2;
  d[step] = d1 + d2;
  d[2 * step] = d2 - d1;
  d[3 * step] = d1 - d3;
}

void transform_back(float *m, uint32_t step) {
  const float m0 = m[0], m1 = m[step], m2 = m[2 * step], m3 = m[3 * step];
  m[0] = (m0 + m1) + m2;
  m[step] = (m1 - m2) - m3;
}

// V of all channels: [channel][point].
void make_ref_points(const ConvWinogradArgs &t, uint32_t line, uint32_t column) {
  float *v = t.scratch;
  for (uint32_t c = 0; c < t.channels; ++c, v += kWinogradPoints) {
    for (uint32_t p = 0; p < kWinogradPoints; ++p)
      v[p] = element(t, c, 2 * int64_t{line} - t.pad[0] + p / 4, 2 * int64_t{column} - t.pad[1] + p % 4);
    for (uint32_t i = 0; i < 4; ++i) transform(v + i, 4);
    for (uint32_t i = 0; i < 4; ++i) transform(v + 4 * i, 1);
  }
}

void make_tile(const ConvWinogradArgs &t, uint32_t unit, uint32_t line, uint32_t column) {
  float m[kWinogradPoints];
  const float *weights = t.panels + size_t{unit / t.nr} * kWinogradPoints * t.channels * t.nr + unit % t.nr;
  for (uint32_t p = 0; p < kWinogradPoints; ++p) {
    m[p] = p == kWinogradStart && t.start != nullptr ? t.start[unit] : 0.0f;
    for (uint32_t c = 0; c < t.channels; ++c, weights += t.nr) m[p] += t.scratch[size_t{c} * kWinogradPoints + p] * *weights;
  }
  for (uint32_t i = 0; i < 4; ++i) transform_back(m + i, 4);
  for (uint32_t i = 0; i < 2; ++i) transform_back(m + 4 * i, 1);
  for (uint32_t i = 0; i < 2 && 2 * line + i < t.y_lines; ++i) {
    float *y = t.y + unit * t.y_plane + size_t{2 * line + i} * t.y_columns + 2 * column;
    for (uint32_t k = 0; k < 2 && 2 * column + k < t.y_columns; ++k) y[k] = m[4 * i + k];
  }
}

void ref_conv_winograd(const ConvWinogradArgs *args) {
  const ConvWinogradArgs &t = *args;
  for (uint32_t line = t.line_begin; line < t.line_end; ++line) {
    for (uint32_t column = 0; 2 * column < t.y_columns; ++column) {
      make_ref_points(t, line, column);
      for (uint32_t unit = 0; unit < t.units; ++unit) make_tile(t, unit, line, column);
    }
  }
}

}  // namespace

#define RNNPACK_IN_conv_winograd_ref , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) ref_conv_winograd
#include "kernels/kernel_objects.inc"

}  // namespace rnnp
