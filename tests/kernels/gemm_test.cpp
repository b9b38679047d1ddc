// gemm_test.cpp -- the gemm rows: exact on integers, within the bound of a sum on reals, the same bits however the work is cut.
// Room: tests/kernels.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "kernel_support.h"
#include "pack/layout.h"

namespace rnnp {
namespace {

struct Shape {
  uint32_t rows, k, gates, units;
  bool dense;  // G = 1, out not padded
  bool bias;
};

// A problem with its operands at guard pages and odd strides.
struct Problem {
  Shape s;
  uint32_t nr, tiles;
  std::vector<float> a_values, weights, bias_values;
  Rows a, panels, bias;

  Problem(const Shape &shape, uint32_t width, bool integers, uint64_t seed)
      : s(shape), nr(width), tiles(tile_count(shape.units, width)) {
    Random random(seed);
    const auto draw = [&] { return integers ? random.integer(4) : random.uniform(-1.0f, 1.0f); };
    a = Rows(s.rows, s.k, s.k + 3);
    for (size_t m = 0; m < s.rows; ++m)
      for (size_t k = 0; k < s.k; ++k) a.at(m, k) = draw();
    weights.resize(size_t{s.gates} * s.units * s.k);
    for (float &w : weights) w = draw();
    panels = packed(weights, s.units, s.k, 0, s.gates, nr);
    bias_values.assign(size_t{s.gates} * s.units, 0.0f);
    if (s.bias)
      for (float &b : bias_values) b = draw();
    bias = packed(bias_values, s.units, 1, 0, s.gates, nr);
  }

  size_t out_cols() const { return s.dense ? s.units : size_t{tiles} * s.gates * nr; }
  Rows new_out() const { return Rows(s.rows, out_cols(), out_cols() + 5); }

  void run(const Kernel &kernel, const Rows &out, uint32_t row, uint32_t rows, uint32_t tile_begin, uint32_t tile_end,
           bool far = false) const {
    GemmArgs args = {};
    args.a = a.row(row);
    args.a_row_bytes = a.stride_bytes();
    args.panels = panels.data();
    args.bias = s.bias ? bias.data() : nullptr;
    args.out = out.row(row);
    args.out_row_bytes = out.stride_bytes();
    args.rows = rows;
    args.k = s.k;
    args.tile_begin = tile_begin;
    args.tile_end = tile_end;
    args.units = s.dense ? s.units : 0;
    args.far = far;
    kernel.gemm(&args);
  }
  Rows run(const Kernel &kernel) const {
    Rows out = new_out();
    run(kernel, out, 0, s.rows, 0, tiles);
    return out;
  }
};

std::vector<Shape> shapes(const Kernel &kernel) {
  const uint32_t gates = gemm_gates(kernel.family);
  std::vector<Shape> out;
  Random random(7);
  for (uint32_t units = 1; units <= 79; units += 6)
    out.push_back(
        {1 + random.below(21), 1 + random.below(79), gates, units, gates == 1 && random.below(2) == 0, random.below(4) != 0});
  for (uint32_t rows = 1; rows <= 17; ++rows) out.push_back({rows, 19, gates, 150, false, true});
  out.push_back({300, 33, gates, 40, false, true});
  out.push_back({40, 700 / gates, gates, 161, gates == 1, true});
  out.push_back({131, 1024 / gates, gates, 33, gates == 1, true});  // more rows than stay in L2 at a time, in blocks of any height
  out.push_back({1201 / gates, 110, gates, 17, false, false});
  for (uint32_t units = 1; units <= 5 && gates == 1; ++units)
    out.push_back({13 + 19 * units, 5 + 9 * units, 1, units, true, units % 2 == 0});
  return out;
}

std::vector<const Kernel *> gemms() {
  return kernels_of({KernelFamily::kGemm, KernelFamily::kGemm3, KernelFamily::kGemm4});
}

class GemmTest : public testing::TestWithParam<const Kernel *> {};

TEST_P(GemmTest, IsExactOnIntegers) {
  SKIP_UNLESS_CPU_RUNS(*GetParam());
  const Kernel &ref = *reference_of(*GetParam());
  uint64_t seed = 1;
  for (const Shape &s : shapes(*GetParam())) {
    const Problem p(s, GetParam()->nr, true, seed++);
    const Rows out = p.run(*GetParam());
    ASSERT_TRUE(same_bits(out.values(), p.run(ref).values())) << s.rows << 'x' << s.k << " G" << s.gates << " units " << s.units;
    ASSERT_TRUE(out.gaps_are_untouched());
  }
}

TEST_P(GemmTest, StaysWithinTheBoundOfASum) {
  SKIP_UNLESS_CPU_RUNS(*GetParam());
  uint64_t seed = 100;
  for (const Shape &s : shapes(*GetParam())) {
    const Problem p(s, GetParam()->nr, false, seed++);
    const Rows out = p.run(*GetParam());
    for (uint32_t m = 0; m < s.rows; ++m)
      for (uint32_t g = 0; g < s.gates; ++g)
        for (uint32_t u = 0; u < s.units; ++u) {
          const size_t w = size_t{g} * s.units + u;
          double sum = p.bias_values[w], size = std::fabs(sum);
          for (uint32_t k = 0; k < s.k; ++k) {
            const double term = double{p.a.at(m, k)} * p.weights[w * s.k + k];
            sum += term;
            size += std::fabs(term);
          }
          const size_t column = (size_t{u / p.nr} * s.gates + g) * p.nr + u % p.nr;
          ASSERT_NEAR(out.at(m, column), sum, std::ldexp(s.k + 1.0, -23) * size);
        }
  }
}

TEST_P(GemmTest, GivesTheSameBitsHoweverRowsAndTilesAreCut) {
  SKIP_UNLESS_CPU_RUNS(*GetParam());
  uint64_t seed = 200;
  for (const Shape &s : shapes(*GetParam())) {
    const Problem p(s, GetParam()->nr, false, seed++);
    const Rows whole = p.run(*GetParam()), cut = p.new_out();
    Random random(seed);
    for (uint32_t row = 0; row < s.rows;) {
      const uint32_t rows = 1 + random.below(s.rows - row);
      for (uint32_t tile = 0; tile < p.tiles;) {
        const uint32_t end = tile + 1 + random.below(p.tiles - tile);
        p.run(*GetParam(), cut, row, rows, tile, end, random.below(2) == 0);
        tile = end;
      }
      row += rows;
    }
    ASSERT_TRUE(same_bits(whole.values(), cut.values()));
  }
}

class FusedGemmTest : public GemmTest {};

TEST_P(FusedGemmTest, AgreesBitForBitWithOtherFusedRows) {
  SKIP_UNLESS_CPU_RUNS(*GetParam());
  const std::vector<const Kernel *> peers = fused_peers(*GetParam());
  if (peers.empty()) GTEST_SKIP() << GetParam()->name << ": this CPU lacks the isa bits of all its peers";
  for (const Kernel *other : peers) {
    uint64_t seed = 300;
    for (const Shape &s : shapes(*GetParam())) {
      const Problem p(s, GetParam()->nr, false, seed++);
      ASSERT_TRUE(same_bits(p.run(*GetParam()).values(), p.run(*other).values())) << other->name;
    }
  }
}

TEST_P(GemmTest, TouchesOnlyItsTiles) {
  SKIP_UNLESS_CPU_RUNS(*GetParam());
  const uint32_t gates = gemm_gates(GetParam()->family);
  const Problem p({5, 9, gates, 70, false, true}, GetParam()->nr, false, 1);
  const Rows out = p.new_out(), whole = p.run(*GetParam());
  p.run(*GetParam(), out, 1, 3, 1, 3);
  const size_t width = size_t{gates} * p.nr;
  for (size_t m = 0; m < 5; ++m)
    for (size_t n = 0; n < out.cols(); ++n) {
      const bool inside = m >= 1 && m < 4 && n >= width && n < 3 * width;
      if (inside) {
        ASSERT_EQ(out.at(m, n), whole.at(m, n));
      } else {
        ASSERT_TRUE(std::isnan(out.at(m, n)));
      }
    }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FusedGemmTest);
INSTANTIATE_TEST_SUITE_P(All, GemmTest, testing::ValuesIn(gemms()), kernel_name);
INSTANTIATE_TEST_SUITE_P(All, FusedGemmTest, testing::ValuesIn(with_fused_peers(gemms())), kernel_name);

}  // namespace
}  // namespace rnnp
