// winograd.h -- windows of 3 x 3 weights as the 16 points of F(2x2, 3x3) (Lavin and Gray 2016, arXiv:1509.09308), of 3 side by
// side as the 4 points of F(2, 3), and back.
// Room: pack. Contract: docs/KERNELS.md, Winograd.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_PACK_WINOGRAD_H_
#define RNNPACK_PACK_WINOGRAD_H_

#include <stddef.h>
#include <stdint.h>

namespace rnnp {

constexpr uint32_t kWinogradPoints = 16;
constexpr uint32_t kLinePoints = 4;
constexpr uint32_t kLineStart = 1;  // the point that is in both results once

// G = {1 0 0, 1/2 1/2 1/2, 1/2 -1/2 1/2, 0 0 1}, and what gives the weights back.
constexpr double kWinogradFactors[4][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
constexpr double kWinogradBack[3][4] = {{1, 0, 0, 0}, {0, 1, -1, 0}, {0, 0, 0, 1}};

// Whether so many weights of a unit are the points of its windows. Windows of 4 x 4 have as many.
constexpr bool are_winograd_weights(uint64_t high, uint64_t wide, uint64_t channels, uint64_t k) {
  return high == 3 && wide == 3 && k == kWinogradPoints * channels;
}

// The same of windows of three columns at so many steps, whose matrices are one for each point.
constexpr bool are_line_points(uint64_t high, uint64_t wide, uint64_t taps, uint64_t channels, uint64_t k) {
  return high == 1 && wide == 3 && k == taps * channels;
}

// Point `point` of a window, whose weights lie `step` apart: G g G', rounded once.
template <class T>
float winograd_point(const T *window, size_t step, uint32_t point) {
  double sum = 0;
  for (uint32_t k = 0; k < 9; ++k)
    sum += kWinogradFactors[point / 4][k / 3] * kWinogradFactors[point % 4][k % 3] * static_cast<double>(window[k * step]);
  return static_cast<float>(sum);
}

// Windows [outputs][3][3][channels] as points [outputs][16][channels].
template <class T, class Point>
void put_winograd_weights(const T *windows, uint32_t outputs, uint32_t channels, Point *points) {
  for (uint32_t o = 0; o < outputs; ++o, windows += size_t{9} * channels) {
    for (uint32_t p = 0; p < kWinogradPoints; ++p) {
      for (uint32_t i = 0; i < channels; ++i) *points++ = winograd_point(windows + i, channels, p);
    }
  }
}

// Windows [outputs][taps][3][channels] as points [4][outputs][taps][channels].
template <class T, class Point>
void put_line_weights(const T *windows, size_t outputs, uint32_t taps, uint32_t channels, Point *points) {
  for (uint32_t p = 0; p < kLinePoints; ++p) {
    const T *window = windows;
    for (size_t i = 0; i < outputs * taps; ++i, window += size_t{3} * channels) {
      for (uint32_t c = 0; c < channels; ++c) {
        double sum = 0;
        for (size_t k = 0; k < 3; ++k) sum += kWinogradFactors[p][k] * static_cast<double>(window[k * channels + c]);
        *points++ = static_cast<float>(sum);
      }
    }
  }
}

// Weight `k` of the window whose points are these: what the points' rounding left of it.
template <class Point>
float winograd_weight(uint32_t k, const Point &point) {
  double sum = 0;
  for (uint32_t p = 0; p < kWinogradPoints; ++p) {
    const double factor = kWinogradBack[k / 3][p / 4] * kWinogradBack[k % 3][p % 4];
    if (factor != 0) sum += factor * static_cast<double>(point(p));
  }
  return static_cast<float>(sum);
}

// The same of three columns.
template <class Point>
float line_weight(uint32_t k, const Point &point) {
  double sum = 0;
  for (uint32_t p = 0; p < kLinePoints; ++p) {
    if (kWinogradBack[k][p] != 0) sum += kWinogradBack[k][p] * static_cast<double>(point(p));
  }
  return static_cast<float>(sum);
}

}  // namespace rnnp
#endif  // RNNPACK_PACK_WINOGRAD_H_
