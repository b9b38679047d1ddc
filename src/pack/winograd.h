// winograd.h -- windows of 3 x 3 weights as the 16 points of F(2x2, 3x3) (Lavin and Gray 2016, arXiv:1509.09308), and back.
// Room: pack. Contract: docs/KERNELS.md, Winograd.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_PACK_WINOGRAD_H_
#define RNNPACK_PACK_WINOGRAD_H_

#include <stddef.h>
#include <stdint.h>

namespace rnnp {

constexpr uint32_t kWinogradPoints = 16;

// Whether so many weights of a unit are the points of its windows. Windows of 4 x 4 have as many.
constexpr bool are_winograd_weights(uint64_t high, uint64_t wide, uint64_t channels, uint64_t k) {
  return high == 3 && wide == 3 && k == kWinogradPoints * channels;
}

// Point `point` of a window, whose weights lie `step` apart: G g G' of G = {1 0 0, 1/2 1/2 1/2, 1/2 -1/2 1/2, 0 0 1}, rounded once.
template <class T>
float winograd_point(const T *window, size_t step, uint32_t point) {
  constexpr double kFactors[4][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
  double sum = 0;
  for (uint32_t k = 0; k < 9; ++k)
    sum += kFactors[point / 4][k / 3] * kFactors[point % 4][k % 3] * static_cast<double>(window[k * step]);
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

// Weight `k` of the window whose points are these: what the points' rounding left of it.
template <class Point>
float winograd_weight(uint32_t k, const Point &point) {
  constexpr double kFactors[3][4] = {{1, 0, 0, 0}, {0, 1, -1, 0}, {0, 0, 0, 1}};
  double sum = 0;
  for (uint32_t p = 0; p < kWinogradPoints; ++p) {
    const double factor = kFactors[k / 3][p / 4] * kFactors[k % 3][p % 4];
    if (factor != 0) sum += factor * static_cast<double>(point(p));
  }
  return static_cast<float>(sum);
}

}  // namespace rnnp
#endif  // RNNPACK_PACK_WINOGRAD_H_
