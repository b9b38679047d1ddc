// conv_winograd_body.h -- 3x3 convolution of planes by F(2x2, 3x3): tiles of the result lie in the lanes.
// Room: kernels; included once by conv_winograd_<isa>.cpp after a vec_<isa>.h. Touches only its arguments.
// Contract: kernels.h, ConvWinogradArgs.
// Why so: a block's x is transformed once for all units; its points are small products whose sides stay in L1. Even and odd columns
// lie apart, so that the elements of neighbouring tiles are neighbours.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_KERNELS_CONV_WINOGRAD_BODY_H_
#define RNNPACK_KERNELS_CONV_WINOGRAD_BODY_H_

#include "kernels/unit_sums_body.h"
#include "kernels/winograd_block.h"

namespace rnnp::RNNPACK_SET {
namespace {

static_assert(kWidth <= kWinogradSlack, "a vector is stored that is longer than what is left");

RNNPACK_INLINE F load_up_to(const float *p, uint32_t n) {
  if (n >= uint32_t{kWidth}) return Vec::load(p);
  return n == 0 ? Vec::set1(0.0f) : Vec::load_first(p, n);
}

// --- x: frame and points -----------------------------------------------------------------------------------------------------

// What of x lies under a block: elements of x for lines and columns of the frame, counted from its first.
struct FramePart {
  uint32_t begin, end;
  int64_t first;  // of x
};

FramePart part_of_x(uint32_t tile, uint32_t tiles, int32_t pad, uint32_t size) {
  const int64_t at = 2 * int64_t{tile} - pad, end = at + 2 * int64_t{tiles} + 2;
  const int64_t low = at < 0 ? 0 : at, high = end < int64_t{size} ? end : int64_t{size};
  if (low >= high) return {0, 0, 0};
  return {static_cast<uint32_t>(low - at), static_cast<uint32_t>(high - at), low};
}

// Columns of one line of x to their places among the even and the odd ones; zeros behind them.
RNNPACK_INLINE void put_columns(const float *x, uint32_t begin, uint32_t count, float *even, float *odd) {
  float *first = begin % 2 == 0 ? even + begin / 2 : odd + begin / 2;
  float *second = begin % 2 == 0 ? odd + begin / 2 : even + begin / 2 + 1;
  for (uint32_t i = 0; i < count; i += 2 * uint32_t{kWidth}) {
    const uint32_t left = count - i;
    const F a = load_up_to(x + i, left),
            b = left > uint32_t{kWidth} ? load_up_to(x + i + kWidth, left - uint32_t{kWidth}) : Vec::set1(0.0f);
    F low, high;
    Vec::unzip(a, b, &low, &high);
    Vec::store(first + i / 2, low);
    Vec::store(second + i / 2, high);
  }
}

RNNPACK_INLINE void transform(const F (&d)[4], F (&to)[4]) {
  to[0] = Vec::sub(d[0], d[2]);
  to[1] = Vec::add(d[1], d[2]);
  to[2] = Vec::sub(d[2], d[1]);
  to[3] = Vec::sub(d[1], d[3]);
}

// A vector of tiles: their even columns from `x` on, lines being two halves.
RNNPACK_INLINE void put_points(const float *x, uint32_t half, float *to, size_t point_step) {
  F rows[4][4];
  RNNPACK_UNROLL
  for (uint32_t k = 0; k < 4; ++k) {
    F d[4], column[4];
    RNNPACK_UNROLL
    for (uint32_t i = 0; i < 4; ++i) d[i] = Vec::load(x + (2 * i + k % 2) * size_t{half} + k / 2);
    transform(d, column);
    RNNPACK_UNROLL
    for (uint32_t i = 0; i < 4; ++i) rows[i][k] = column[i];
  }
  RNNPACK_UNROLL
  for (uint32_t i = 0; i < 4; ++i) {
    F points[4];
    transform(rows[i], points);
    RNNPACK_UNROLL
    for (uint32_t k = 0; k < 4; ++k, to += point_step) Vec::store(to, points[k]);
  }
}

// V of all channels. The zeros of the frame are those of every channel.
void make_points(const ConvWinogradArgs &t, const WinogradBlock &b, float *frame, float *points) {
  const FramePart lines = part_of_x(b.line, b.lines, t.pad[0], t.x_lines),
                  columns = part_of_x(b.column, b.columns, t.pad[1], t.x_columns);
  const uint32_t half = b.half(), line_step = 2 * half, framed = (2 * b.lines + 2) * line_step;
  for (uint32_t i = 0; i < framed; i += uint32_t{kWidth}) Vec::store(frame + i, Vec::set1(0.0f));
  const float *channel = t.x + t.x_line * static_cast<ptrdiff_t>(lines.first) + static_cast<ptrdiff_t>(columns.first);
  for (uint32_t c = 0; c < t.channels; ++c, channel += t.x_channel) {
    const float *x = channel;
    float *line = frame + lines.begin * line_step;
    for (uint32_t i = lines.begin; i < lines.end; ++i, x += t.x_line, line += line_step)
      put_columns(x, columns.begin, columns.end - columns.begin, line, line + half);
    float *to = points + size_t{c} * b.step();
    for (uint32_t i = 0; i < b.lines; ++i, to += b.columns) {
      for (uint32_t k = 0; k < b.columns; k += uint32_t{kWidth})
        put_points(frame + 2 * i * line_step + k, half, to + k, b.point_step(t.channels));
    }
  }
}

// --- Products of a point -----------------------------------------------------------------------------------------------------

constexpr uint32_t kMostPointVectors = 2;

// Some units of some vectors of tiles.
struct PointSums {
  const float *v, *weights, *start;  // of the first; start or nullptr
  float *m;
  uint32_t channels, nr, step;
};

// The products of one channel.
template <uint32_t kUnits, uint32_t kVectors>
RNNPACK_INLINE void add_channel(const float *v, const float *weights, F (&acc)[kUnits][kVectors]) {
  F x[kVectors];
  RNNPACK_UNROLL
  for (uint32_t n = 0; n < kVectors; ++n) x[n] = Vec::load(v + n * uint32_t{kWidth});
  add_products(x, weights, acc);
}

template <uint32_t kUnits, uint32_t kVectors>
RNNPACK_INLINE void add_points(const PointSums &s) {
  F acc[kUnits][kVectors];
  begin_sums(s.start, acc);
  const float *v = s.v, *weights = s.weights;
  RNNPACK_NO_UNROLL
  for (uint32_t c = 0; c < s.channels; ++c, v += s.step, weights += s.nr) add_channel<kUnits, kVectors>(v, weights, acc);
  RNNPACK_UNROLL
  for (uint32_t u = 0; u < kUnits; ++u) {
    RNNPACK_UNROLL
    for (uint32_t n = 0; n < kVectors; ++n) Vec::store(s.m + u * s.step + n * uint32_t{kWidth}, acc[u][n]);
  }
}

// All tiles of a block.
template <uint32_t kUnits>
RNNPACK_NOINLINE void add_tiles(PointSums s, uint32_t tiles) {
  for (uint32_t i = 0; i < tiles;) {
    const bool one = tiles - i <= uint32_t{kWidth};
    one ? add_points<kUnits, 1>(s) : add_points<kUnits, kMostPointVectors>(s);
    const uint32_t done = (one ? 1 : kMostPointVectors) * uint32_t{kWidth};
    i += done;
    s.v += done;
    s.m += done;
  }
}

// M of `count` units of one panel.
void make_sums(const ConvWinogradArgs &t, const WinogradBlock &b, uint32_t unit, uint32_t count, const float *points, float *sums) {
  const float *panel = t.panels + size_t{unit / t.nr} * kWinogradPoints * t.channels * t.nr;
  for (uint32_t p = 0; p < kWinogradPoints; ++p, panel += size_t{t.channels} * t.nr) {
    const bool starts = p == kWinogradStart && t.start != nullptr;
    for (uint32_t u = 0; u < count;) {
      const PointSums s = {points + p * b.point_step(t.channels),
                           panel + u,
                           starts ? t.start + unit + u : nullptr,
                           sums + p * b.point_step(t.nr) + u * b.step(),
                           t.channels,
                           t.nr,
                           b.step()};
      const bool many = takes_most_units(count - u, t.nr - u);
      many ? add_tiles<kMostUnits>(s, b.tiles()) : add_tiles<kPlaneUnits>(s, b.tiles());
      u += many ? kMostUnits : kPlaneUnits;
    }
  }
}

// --- y -----------------------------------------------------------------------------------------------------------------------

RNNPACK_INLINE void transform_back(const F (&m)[4], F (&to)[2]) {
  to[0] = Vec::add(Vec::add(m[0], m[1]), m[2]);
  to[1] = Vec::sub(Vec::sub(m[1], m[2]), m[3]);
}

RNNPACK_INLINE void put_line(const F (&row)[4], float *y, uint32_t columns) {
  F pair[2], low, high;
  transform_back(row, pair);
  Vec::zip(pair[0], pair[1], &low, &high);
  store_up_to(y, low, columns);
  if (columns > uint32_t{kWidth}) store_up_to(y + kWidth, high, columns - uint32_t{kWidth});
}

// A vector of tiles of a line of them, of whose lines and columns so many are there.
RNNPACK_INLINE void put_results(const float *sums, size_t point_step, float *y, uint32_t y_line, uint32_t lines, uint32_t columns) {
  F rows[2][4];
  RNNPACK_UNROLL
  for (uint32_t k = 0; k < 4; ++k) {
    F m[4], column[2];
    RNNPACK_UNROLL
    for (uint32_t i = 0; i < 4; ++i) m[i] = Vec::load(sums + (4 * i + k) * point_step);
    transform_back(m, column);
    rows[0][k] = column[0];
    rows[1][k] = column[1];
  }
  put_line(rows[0], y, columns);
  if (lines > 1) put_line(rows[1], y + y_line, columns);
}

void make_results(const ConvWinogradArgs &t, const WinogradBlock &b, uint32_t unit, const float *sums) {
  for (uint32_t i = 0; i < b.lines; ++i) {
    const uint32_t line = 2 * (b.line + i);
    for (uint32_t k = 0; k < b.columns; k += uint32_t{kWidth}) {
      const uint32_t column = 2 * (b.column + k), of_block = 2 * (b.columns - k), of_line = t.y_columns - column;
      put_results(sums + i * b.columns + k, b.point_step(t.nr), t.y + unit * t.y_plane + size_t{line} * t.y_columns + column,
                  t.y_columns, t.y_lines - line, of_block < of_line ? of_block : of_line);
    }
  }
}

void conv_winograd_run(const ConvWinogradArgs *args) {
  const ConvWinogradArgs &t = *args;
  for_each_winograd_block(t, [&](const WinogradBlock &b) {
    float *points = t.scratch + kWinogradFrame, *sums = points + kWinogradPoints * b.point_step(t.channels);
    make_points(t, b, t.scratch, points);
    for (uint32_t unit = 0; unit < t.units; unit += t.nr) {
      const uint32_t count = t.units - unit < t.nr ? t.units - unit : t.nr;
      make_sums(t, b, unit, count, points, sums);
      for (uint32_t u = 0; u < count; ++u) make_results(t, b, unit + u, sums + u * b.step());
    }
  });
}

}  // namespace
}  // namespace rnnp::RNNPACK_SET
#endif  // RNNPACK_KERNELS_CONV_WINOGRAD_BODY_H_
