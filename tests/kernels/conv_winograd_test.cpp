// conv_winograd_test.cpp -- 3x3 convolutions of planes by F(2x2, 3x3): exact on small integers beside the sum over windows at
// every size and padding, the bits of the definition in kernels.h, near the windows' sums, and the same however lines are cut.
// Room: tests/kernels.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdlib>

#include "kernel_support.h"
#include "kernels/winograd_block.h"

namespace rnnp {
namespace conv_winograd_test {

constexpr float kUntouched = -77.0f;
constexpr uint32_t kTaps = 9;

// Factors of the transforms: of x, of weights and back.
constexpr double kOfX[4][4] = {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}};
constexpr double kOfWeights[4][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
constexpr double kBack[2][4] = {{1, 1, 1, 0}, {0, 1, -1, -1}};

struct Shape {
  uint32_t channels, units, nr, lines, columns;  // of x
  int32_t pad[2];
  uint32_t y_lines() const { return lines + 2 * static_cast<uint32_t>(pad[0]) - 2; }
  uint32_t y_columns() const { return columns + 2 * static_cast<uint32_t>(pad[1]) - 2; }
  uint32_t tile_lines() const { return (y_lines() + 1) / 2; }
};

struct Planes {
  Planes(const Shape &of, bool whole) : s(of) {
    Random random(11);
    const auto number = [&] { return whole ? random.integer(4) : random.uniform(-1.0f, 1.0f); };
    const size_t elems = size_t{s.channels} * s.lines * s.columns;
    x = Rows(1, elems, elems);
    for (size_t i = 0; i < elems; ++i) x.at(0, i) = number();
    for (uint32_t i = 0; i < s.units * s.channels * kTaps; ++i) w.push_back(whole ? 4 * number() : number());
    const uint32_t tiles = (s.units + s.nr - 1) / s.nr;
    start = std::vector<float>(size_t{tiles} * s.nr);
    for (float &v : start) v = number();
    panels = std::vector<float>(size_t{tiles} * kWinogradPoints * s.channels * s.nr);
    for (uint32_t u = 0; u < s.units; ++u)
      for (uint32_t p = 0; p < kWinogradPoints; ++p)
        for (uint32_t c = 0; c < s.channels; ++c) point(u, p, c) = static_cast<float>(sum_of_weights(u, p, c, false));
  }
  float &point(uint32_t u, uint32_t p, uint32_t c) {
    return panels[((size_t{u / s.nr} * kWinogradPoints + p) * s.channels + c) * s.nr + u % s.nr];
  }
  // U, or the sum of its parts' sizes.
  double sum_of_weights(uint32_t u, uint32_t p, uint32_t c, bool sizes) const {
    double sum = 0;
    for (uint32_t k = 0; k < kTaps; ++k) {
      const double part = kOfWeights[p / 4][k / 3] * kOfWeights[p % 4][k % 3] * double{w[(u * s.channels + c) * kTaps + k]};
      sum += sizes ? std::fabs(part) : part;
    }
    return sum;
  }
  float element(uint32_t c, int64_t line, int64_t column) const {
    const bool there = line >= 0 && line < s.lines && column >= 0 && column < s.columns;
    return there ? x.at(0, (size_t{c} * s.lines + static_cast<size_t>(line)) * s.columns + static_cast<size_t>(column)) : 0.0f;
  }
  // D of a tile.
  float under(uint32_t c, uint32_t line, uint32_t column, uint32_t p) const {
    return element(c, int64_t{2 * line} - s.pad[0] + p / 4, int64_t{2 * column} - s.pad[1] + p % 4);
  }
  double window(uint32_t u, uint32_t line, uint32_t column) const {
    double sum = double{start[u]};
    for (uint32_t c = 0; c < s.channels; ++c)
      for (uint32_t k = 0; k < kTaps; ++k)
        sum += double{w[(u * s.channels + c) * kTaps + k]} *
               double{element(c, int64_t{line} - s.pad[0] + k / 3, int64_t{column} - s.pad[1] + k % 3)};
    return sum;
  }
  size_t plane() const { return size_t{s.y_lines()} * s.y_columns() + 1; }
  std::vector<float> run(const Kernel &kernel, uint32_t begin, uint32_t end) const {
    std::vector<float> y((s.units + 1) * plane(), kUntouched);
    std::vector<float> scratch(winograd_scratch(s.channels, s.nr) + 1, NAN);
    scratch.back() = kUntouched;
    ConvWinogradArgs args = {};
    args.x = x.data();
    args.x_channel = static_cast<ptrdiff_t>(s.lines) * static_cast<ptrdiff_t>(s.columns);
    args.x_line = static_cast<ptrdiff_t>(s.columns);
    args.x_lines = s.lines;
    args.x_columns = s.columns;
    args.channels = s.channels;
    args.pad[0] = s.pad[0];
    args.pad[1] = s.pad[1];
    args.panels = panels.data();
    args.start = start.data();
    args.y = y.data();
    args.y_plane = plane();
    args.y_lines = s.y_lines();
    args.y_columns = s.y_columns();
    args.units = s.units;
    args.nr = s.nr;
    args.line_begin = begin;
    args.line_end = end;
    args.scratch = scratch.data();
    kernel.conv_winograd(&args);
    EXPECT_EQ(kUntouched, scratch.back());
    return y;
  }

  Shape s;
  Rows x;
  std::vector<float> w, panels, start;
};

std::string text(const Shape &s) {
  return testing::PrintToString(std::vector<uint32_t>{s.channels, s.units, s.nr, s.lines, s.columns,
                                                      static_cast<uint32_t>(s.pad[0]), static_cast<uint32_t>(s.pad[1])});
}

class ConvWinogradTest : public testing::TestWithParam<const Kernel *> {};

TEST_P(ConvWinogradTest, ExactAtEverySizeAndPadding) {
  SKIP_UNLESS_CPU_RUNS(*GetParam());
  for (const uint32_t nr : {4u, 8u, 16u})
    for (const uint32_t units : {1u, 4u, 7u, 16u, 21u})
      for (const uint32_t lines : {1u, 2u, 3u, 8u, 21u})
        for (const uint32_t columns : {2u, 3u, 8u, 15u, 16u, 17u, 33u, 70u})
          for (const int32_t pad : {0, 1, 2, 3}) {
            const Shape shape = {3, units, nr, lines, columns, {pad, pad == 3 ? 0 : pad}};
            if (lines + 2 * static_cast<uint32_t>(shape.pad[0]) < 3 || columns + 2 * static_cast<uint32_t>(shape.pad[1]) < 3)
              continue;
            const Planes p(shape, true);
            const std::vector<float> y = p.run(*GetParam(), 0, shape.tile_lines());
            for (uint32_t u = 0; u <= units; ++u)
              for (uint32_t i = 0; i < p.plane(); ++i) {
                const bool made = u < units && i + 1 < p.plane();
                const double want = made ? p.window(u, i / shape.y_columns(), i % shape.y_columns()) : double{kUntouched};
                ASSERT_EQ(want, double{y[u * p.plane() + i]}) << text(shape) << " unit " << u << " at " << i;
              }
          }
}

// Contract: kernels.h.
std::vector<float> defined_tile(Planes *p, bool fused, uint32_t unit, uint32_t line, uint32_t column) {
  const auto forth = [](float *d, uint32_t step) {
    const float d0 = d[0], d1 = d[step], d2 = d[2 * step], d3 = d[3 * step];
    d[0] = d0 - d2, d[step] = d1 + d2, d[2 * step] = d2 - d1, d[3 * step] = d1 - d3;
  };
  const auto back = [](float *m, uint32_t step) {
    const float m0 = m[0], m1 = m[step], m2 = m[2 * step], m3 = m[3 * step];
    m[0] = (m0 + m1) + m2, m[step] = (m1 - m2) - m3;
  };
  std::vector<float> sums(kWinogradPoints, 0.0f), v(kWinogradPoints);
  sums[kWinogradStart] = p->start[unit];
  for (uint32_t c = 0; c < p->s.channels; ++c) {
    for (uint32_t i = 0; i < kWinogradPoints; ++i) v[i] = p->under(c, line, column, i);
    for (uint32_t i = 0; i < 4; ++i) forth(&v[i], 4);
    for (uint32_t i = 0; i < 4; ++i) forth(&v[4 * i], 1);
    for (uint32_t i = 0; i < kWinogradPoints; ++i) {
      const float weight = p->point(unit, i, c);
      sums[i] = fused ? std::fma(v[i], weight, sums[i]) : v[i] * weight + sums[i];
    }
  }
  for (uint32_t i = 0; i < 4; ++i) back(&sums[i], 4);
  for (uint32_t i = 0; i < 2; ++i) back(&sums[4 * i], 1);
  return {sums[0], sums[1], sums[4], sums[5]};
}

TEST_P(ConvWinogradTest, GivesTheBitsOfItsDefinition) {
  SKIP_UNLESS_CPU_RUNS(*GetParam());
  Planes p({19, 20, 16, 9, 37, {1, 1}}, false);
  const std::vector<float> y = p.run(*GetParam(), 0, p.s.tile_lines());
  for (uint32_t u = 0; u < p.s.units; ++u)
    for (uint32_t line = 0; line < p.s.y_lines(); line += 2)
      for (uint32_t column = 0; column < p.s.y_columns(); column += 2) {
        const std::vector<float> want = defined_tile(&p, is_fused(*GetParam()), u, line / 2, column / 2);
        for (uint32_t i = 0; i < 4; ++i) {
          if (line + i / 2 >= p.s.y_lines() || column + i % 2 >= p.s.y_columns()) continue;
          ASSERT_EQ(want[i], y[u * p.plane() + (line + i / 2) * p.s.y_columns() + column + i % 2])
              << u << " " << line << " " << column;
        }
      }
}

// A result is a sum of products v u of each point and channel. On its way a product is rounded: twice in v, once in u, at most
// channels + 1 times in the chain (once more where it is not fused), four times on the way back.
TEST_P(ConvWinogradTest, NearTheSumOverWindows) {
  SKIP_UNLESS_CPU_RUNS(*GetParam());
  const Planes p({24, 5, 4, 6, 13, {1, 1}}, false);
  const std::vector<float> y = p.run(*GetParam(), 0, p.s.tile_lines());
  const double unit_roundoff = std::ldexp(1.0, -24), times = (2 + 1 + p.s.channels + 2 + 4) * unit_roundoff;
  for (uint32_t u = 0; u < p.s.units; ++u)
    for (uint32_t i = 0; i + 1 < p.plane(); ++i) {
      const uint32_t line = i / p.s.y_columns(), column = i % p.s.y_columns();
      double sizes = std::fabs(double{p.start[u]});
      for (uint32_t point = 0; point < kWinogradPoints; ++point) {
        const double back = std::fabs(kBack[line % 2][point / 4] * kBack[column % 2][point % 4]);
        for (uint32_t c = 0; c < p.s.channels; ++c) {
          double v = 0;
          for (uint32_t d = 0; d < kWinogradPoints; ++d)
            v += std::fabs(kOfX[point / 4][d / 4] * kOfX[point % 4][d % 4] * double{p.under(c, line / 2, column / 2, d)});
          sizes += back * v * p.sum_of_weights(u, point, c, true);
        }
      }
      const double want = p.window(u, line, column);
      ASSERT_LE(std::fabs(want - double{y[u * p.plane() + i]}), times / (1 - times) * sizes) << u << " at " << i;
    }
}

TEST_P(ConvWinogradTest, NanAndInfinitiesStayInTheirWindows) {
  SKIP_UNLESS_CPU_RUNS(*GetParam());
  const Planes p({2, 3, 4, 5, 19, {1, 1}}, false);
  for (const float odd : {NAN, INFINITY, -INFINITY})
    for (size_t at = 0; at < p.x.cols(); ++at) {
      const float kept = p.x.at(0, at);
      p.x.at(0, at) = odd;
      const std::vector<float> y = p.run(*GetParam(), 0, p.s.tile_lines());
      p.x.at(0, at) = kept;
      const int64_t line = static_cast<int64_t>(at / p.s.columns % p.s.lines), column = static_cast<int64_t>(at % p.s.columns);
      for (uint32_t u = 0; u < p.s.units; ++u)
        for (int64_t i = 0; i < int64_t{p.s.lines} * p.s.columns; ++i) {
          const bool sees = std::abs(i / p.s.columns - line) <= 1 && std::abs(i % p.s.columns - column) <= 1;
          ASSERT_EQ(!sees, std::isfinite(y[u * p.plane() + static_cast<size_t>(i)])) << odd << " at " << at << " seen at " << i;
        }
    }
}

TEST_P(ConvWinogradTest, CutsBetweenLinesDoNotChangeBits) {
  SKIP_UNLESS_CPU_RUNS(*GetParam());
  const Planes p({17, 18, 16, 31, 16, {1, 1}}, false);
  const uint32_t lines = p.s.tile_lines(), per_line = 2 * p.s.y_columns();
  const std::vector<float> whole = p.run(*GetParam(), 0, lines);
  for (uint32_t cut = 1; cut < lines; ++cut) {
    const std::vector<float> first = p.run(*GetParam(), 0, cut), rest = p.run(*GetParam(), cut, lines);
    for (size_t i = 0; i < whole.size(); ++i) {
      const bool before = i % p.plane() < cut * per_line;
      ASSERT_EQ(whole[i], (before ? first : rest)[i]) << cut << " at " << i;
      if (i % p.plane() + 1 == p.plane()) continue;
      ASSERT_EQ(kUntouched, (before ? rest : first)[i]) << cut << " at " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ConvWinogradTest, testing::ValuesIn(kernels_of({KernelFamily::kConvWinograd})), kernel_name);

}  // namespace conv_winograd_test
}  // namespace rnnp
