// conv_nchw_test.cpp -- convolutions channel by channel: exact on small integers at every number of units, lines and
// columns, nothing written beside the planes, and the bits of the product of patches. Room: tests/kernels.
// SPDX-License-Identifier: Apache-2.0
#include "kernel_support.h"

namespace rnnp {
namespace conv_nchw_test {

constexpr uint32_t kDepth = 11;
constexpr float kUntouched = -77.0f;

struct Planes {
  Planes(uint32_t nr_, uint32_t units_, uint32_t lines_, uint32_t columns_, bool whole)
      : nr(nr_), units(units_), lines(lines_), columns(columns_), line(columns + 5) {
    Random random(7);
    const auto number = [&] { return whole ? random.integer(5) : random.uniform(-1.0f, 1.0f); };
    for (uint32_t k = 0; k < kDepth; ++k) taps.push_back(k % 3 + k % 2 * line + k / 4);
    const uint32_t tiles = (units + nr - 1) / nr;
    x = std::vector<float>(lines * columns);
    panels = std::vector<float>(tiles * kDepth * nr);
    start = std::vector<float>(tiles * nr);
    for (std::vector<float> *all : {&x, &panels, &start})
      for (float &v : *all) v = number();
  }
  // Element i of the lines with zeros around them: one line before, two columns before and three behind.
  float line_element(size_t i) const {
    const size_t h = i / line, w = i % line;
    return h >= 1 && h <= lines && w >= 2 && w < columns + 2 ? x[(h - 1) * columns + w - 2] : 0.0f;
  }
  float tap(uint32_t position, uint32_t k) const { return line_element(taps[k] + position / columns * line + position % columns); }
  float weight(uint32_t unit, uint32_t k) const { return panels[(unit / nr * kDepth + k) * nr + unit % nr]; }
  std::vector<float> run(const Kernel &kernel, uint32_t begin, uint32_t end) const {
    std::vector<float> y((units + 1) * plane(), kUntouched);
    ConvNchwArgs args = {};
    args.from = {x.data(), 0, ptrdiff_t(columns), 1, 1, lines, columns, line + 2, 5, line + 3, 0};
    std::vector<float> copy((lines + 2) * line + kPlaneSlack, kUntouched);
    args.lines = copy.data();
    args.taps = taps.data();
    args.panels = panels.data();
    args.start = start.data();
    args.y = y.data();
    args.line_step = line;
    args.y_plane = plane();
    args.k = kDepth;
    args.y_lines = lines;
    args.y_columns = columns;
    args.nr = nr;
    args.unit_begin = begin;
    args.unit_end = end;
    kernel.conv_nchw(&args);
    return y;
  }
  size_t plane() const { return size_t{lines} * columns + 1; }

  uint32_t nr, units, lines, columns, line;
  std::vector<uint32_t> taps;
  std::vector<float> x, panels, start;
};

class ConvNchwTest : public testing::TestWithParam<const Kernel *> {};

TEST_P(ConvNchwTest, ExactAtEveryNumberOfUnitsLinesAndColumns) {
  SKIP_UNLESS_CPU_RUNS(*GetParam());
  for (const uint32_t nr : {4u, 8u, 16u})
    for (const uint32_t units : {1u, 4u, 5u, 8u, 13u, 20u, 32u})
      for (const uint32_t lines : {1u, 2u, 4u, 7u})
        for (const uint32_t columns : {1u, 4u, 15u, 16u, 17u, 40u})
          for (const uint32_t begin : {0u, 4u}) {
            if (begin >= units) continue;
            const Planes p(nr, units, lines, columns, true);
            const std::vector<float> y = p.run(*GetParam(), begin, units);
            for (uint32_t u = 0; u <= units; ++u)
              for (uint32_t i = 0; i < p.plane(); ++i) {
                float want = kUntouched;
                if (u >= begin && u < units && i < lines * columns) {
                  want = p.start[u];
                  for (uint32_t k = 0; k < kDepth; ++k) want += p.tap(i, k) * p.weight(u, k);
                }
                ASSERT_EQ(want, y[u * p.plane() + i])
                    << "nr " << nr << ", " << units << " units from " << begin << ", " << lines << " x " << columns << " at " << i;
              }
          }
}

TEST_P(ConvNchwTest, GivesTheBitsOfAProductOfPatches) {
  SKIP_UNLESS_CPU_RUNS(*GetParam());
  const Kernel *gemm = find_kernel(kAllKernels, KernelFamily::kGemm, DType::kF32, 16, GetParam()->isa);
  ASSERT_NE(nullptr, gemm);
  const Planes p(16, 20, 5, 21, false);
  const std::vector<float> y = p.run(*GetParam(), 0, p.units);
  std::vector<float> patch(kDepth), product(32);
  for (uint32_t i = 0; i < p.lines * p.columns; ++i) {
    for (uint32_t k = 0; k < kDepth; ++k) patch[k] = p.tap(i, k);
    GemmArgs args = {};
    args.a = patch.data();
    args.w.panels = p.panels.data();
    args.start = p.start.data();
    args.out = product.data();
    args.rows = 1;
    args.w.k = kDepth;
    args.units = p.units;
    args.w.gates = 1;
    args.tile_end = 2;
    gemm->gemm(&args);
    for (uint32_t u = 0; u < p.units; ++u) ASSERT_EQ(product[u], y[u * p.plane() + i]) << "unit " << u << " at " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ConvNchwTest, testing::ValuesIn(kernels_of({KernelFamily::kConvNchw})), kernel_name);

}  // namespace conv_nchw_test
}  // namespace rnnp
