// gemm_test.cpp -- the gemm rows whose sums are in f32: exact on integers, within the bound of a sum on reals, the same bits
// however the work is cut. Room: tests/kernels. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "kernel_support.h"
#include "pack/layout.h"

namespace rnnp {
namespace gemm_test {

struct Shape {
  uint32_t rows, k, gates, units;
  bool dense;  // G = 1, out not padded
  bool bias;
};

// A problem with its operands at guard pages and odd strides. Weights are what the format stores of them.
struct Problem {
  Shape s;
  uint32_t nr, tiles;
  std::vector<float> a_values, weights, bias_values;
  Rows a, panels, bias;

  Problem(const Shape &shape, const Kernel &kernel, bool integers, uint64_t seed)
      : s(shape), nr(kernel.nr), tiles(tile_count(shape.units, kernel.nr)) {
    Random random(seed);
    const auto draw = [&] { return integers ? random.integer(4) : random.uniform(-1.0f, 1.0f); };
    a = Rows(s.rows, s.k, s.k + 3);
    for (size_t m = 0; m < s.rows; ++m)
      for (size_t k = 0; k < s.k; ++k) a.at(m, k) = draw();
    weights.resize(size_t{s.gates} * s.units * s.k);
    for (float &w : weights) w = stored_as(kernel.dtype, draw());
    panels = packed_as(kernel, weights, s.units, s.k, s.gates);
    bias_values.assign(size_t{s.gates} * s.units, 0.0f);
    if (s.bias)
      for (float &b : bias_values) b = draw();
    bias = packed(bias_values, s.units, 1, 0, s.gates, nr);
  }

  size_t out_cols() const { return s.dense ? s.units : size_t{tiles} * s.gates * nr; }
  Rows new_out() const { return Rows(s.rows, out_cols(), out_cols() + 5); }

  GemmArgs args(const Rows &out, uint32_t row, uint32_t rows, uint32_t tile_begin, uint32_t tile_end) const {
    GemmArgs args = {};
    args.a = a.row(row);
    args.a_row_bytes = a.stride_bytes();
    args.w.panels = panels.data();
    args.start = s.bias ? bias.data() : nullptr;
    args.out = out.row(row);
    args.out_row_bytes = out.stride_bytes();
    args.rows = rows;
    args.w.k = s.k;
    args.w.gates = static_cast<uint8_t>(s.gates);
    args.tile_begin = tile_begin;
    args.tile_end = tile_end;
    args.units = s.dense ? s.units : 0;
    return args;
  }
  void run(const Kernel &kernel, const Rows &out, uint32_t row, uint32_t rows, uint32_t tile_begin, uint32_t tile_end,
           bool far = false) const {
    GemmArgs call = args(out, row, rows, tile_begin, tile_end);
    call.w.prefetch_next_tile = far;
    kernel.gemm(&call);
  }
  Rows run(const Kernel &kernel) const {
    Rows out = new_out();
    run(kernel, out, 0, s.rows, 0, tiles);
    return out;
  }
};

// f32 has a family for each number of gates, other formats have one for all.
std::vector<uint32_t> gates_of_gemm(const Kernel &kernel) {
  if (kernel.dtype == DType::kF32) return {gemm_gates(kernel.family)};
  return {1, 2, 3, 4};
}

std::vector<Shape> shapes(const Kernel &kernel) {
  std::vector<Shape> out;
  Random random(7);
  for (const uint32_t gates : gates_of_gemm(kernel)) {
    for (uint32_t units = 1; units <= 79; units += 6)
      out.push_back(
          {1 + random.below(21), 1 + random.below(79), gates, units, gates == 1 && random.below(2) == 0, random.below(4) != 0});
    for (uint32_t rows = 1; rows <= 17; ++rows) out.push_back({rows, 19, gates, 150, false, true});
    out.push_back({300, 33, gates, 40, false, true});
    out.push_back({40, 700 / gates, gates, 161, gates == 1, true});
    out.push_back(
        {131, 1024 / gates, gates, 33, gates == 1, true});  // more rows than stay in L2 at a time, in blocks of any height
    out.push_back({1201 / gates, 110, gates, 17, false, false});
    out.push_back({14, 6607 / gates, gates, 33, false, gates != 2});  // of such panels no two lie in a small L2
    for (uint32_t units = 1; units <= 5 && gates == 1; ++units)
      out.push_back({13 + 19 * units, 5 + 9 * units, 1, units, true, units % 2 == 0});
  }
  return out;
}

// Those whose sums are in f32.
std::vector<const Kernel *> gemms() {
  std::vector<const Kernel *> out;
  for (const Kernel *kernel : kernels_of({KernelFamily::kGemm, KernelFamily::kGemm3, KernelFamily::kGemm4}))
    if (kernel->dtype != DType::kI8 && kernel->dtype != DType::kI4) out.push_back(kernel);
  return out;
}

class GemmTest : public testing::TestWithParam<const Kernel *> {};

TEST_P(GemmTest, IsExactOnIntegers) {
  SKIP_UNLESS_CPU_RUNS(*GetParam());
  const Kernel &ref = *reference_of(*GetParam());
  uint64_t seed = 1;
  for (const Shape &s : shapes(*GetParam())) {
    const Problem p(s, *GetParam(), true, seed++);
    const Rows out = p.run(*GetParam());
    ASSERT_TRUE(same_bits(out.values(), p.run(ref).values())) << s.rows << 'x' << s.k << " G" << s.gates << " units " << s.units;
    ASSERT_TRUE(out.gaps_are_untouched());
  }
}

TEST_P(GemmTest, StaysWithinTheBoundOfASum) {
  SKIP_UNLESS_CPU_RUNS(*GetParam());
  uint64_t seed = 100;
  for (const Shape &s : shapes(*GetParam())) {
    const Problem p(s, *GetParam(), false, seed++);
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
    const Problem p(s, *GetParam(), false, seed++);
    const Rows whole = p.run(*GetParam()), cut = p.new_out();
    Random random(seed);
    cut_at_random(s.rows, p.tiles, &random, [&](uint32_t row, uint32_t rows, uint32_t tile, uint32_t end) {
      p.run(*GetParam(), cut, row, rows, tile, end, random.below(2) == 0);
    });
    ASSERT_TRUE(same_bits(whole.values(), cut.values()));
  }
}

// Denormals, infinities and NaNs too. Only bf16 has denormals of f32, which some CPUs flush and others cannot.
TEST_P(GemmTest, TakesEveryPatternOf16BitsForItsNumber) {
  SKIP_UNLESS_CPU_RUNS(*GetParam());
  const Kernel &kernel = *GetParam(), &ref = *reference_of(kernel);
  if (kernel.dtype == DType::kF32) return;
  const size_t kr = kernel.dtype == DType::kBf16 ? 2 : 1;
  for (const uint32_t gates : {1u, 2u, 3u, 4u})
    for (const uint32_t rows : {1u, 2u, 3u, 4u}) {
      // All patterns side by side at one k, zeros at the others.
      const uint32_t k = 1 + (gates + rows) % 4, at = rows % k;
      const size_t width = size_t{gates} * kernel.nr, tiles = (65536 + width - 1) / width, places = (k + kr - 1) / kr * kr;
      std::vector<uint16_t> weights(tiles * places * width);
      for (size_t n = 0; n < tiles * width; ++n)
        weights[n / width * places * width + (at / kr * width + n % width) * kr + at % kr] = static_cast<uint16_t>(n);
      const Rows panels(1, weights.size() / 2, 0, true), a(rows, k, k + 1);
      std::memcpy(panels.data(), weights.data(), weights.size() * sizeof weights[0]);
      a.fill(1.0f);
      const Rows out(rows, tiles * width, 0), want(rows, tiles * width, 0);
      GemmArgs args = {};
      args.a = a.data();
      args.a_row_bytes = a.stride_bytes();
      args.w.panels = panels.data();
      args.rows = rows;
      args.w.k = k;
      args.w.gates = static_cast<uint8_t>(gates);
      args.tile_end = static_cast<uint32_t>(tiles);
      for (const auto &[row, to] : {std::pair(&kernel, &out), std::pair(&ref, &want)}) {
        args.out = to->data();
        args.out_row_bytes = to->stride_bytes();
        row->gemm(&args);
      }
      for (float *value : {out.data(), want.data()})
        for (size_t n = 0; n < rows * tiles * width; ++n)
          if (std::fpclassify(value[n]) == FP_SUBNORMAL) value[n] = 0.0f;
      ASSERT_TRUE(same_bits(out.values(), want.values())) << rows << " rows, G" << gates << ", k " << at << " of " << k;
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
      const Problem p(s, *GetParam(), false, seed++);
      ASSERT_TRUE(same_bits(p.run(*GetParam()).values(), p.run(*other).values())) << other->name;
    }
  }
}

// As recurrent layers use it: rows of pre-activations with more gates than the panels have are added to where they lie.
// A window that slides by one element: its rows lie one upon another.
TEST_P(GemmTest, RowsThatOverlapGiveTheBitsOfRowsApart) {
  SKIP_UNLESS_CPU_RUNS(*GetParam());
  if (GetParam()->family != KernelFamily::kGemm || GetParam()->dtype != DType::kF32) return;
  for (const uint32_t units : {1u, 2u, 3u, 4u, 5u})
    for (const uint32_t rows : {1u, 4u, 8u, 15u, 16u, 31u, 32u, 33u, 71u})
      for (const uint32_t k : {1u, 4u, 10u}) {
        Problem p({rows, k, 1, units, true, true}, *GetParam(), false, rows + k);
        const Rows line(1, rows + k - 1, 0);
        Random random(rows);
        for (uint32_t i = 0; i < rows + k - 1; ++i) line.at(0, i) = random.uniform(-1.0f, 1.0f);
        for (uint32_t m = 0; m < rows; ++m)
          for (uint32_t i = 0; i < k; ++i) p.a.at(m, i) = line.at(0, m + i);
        const Rows apart = p.run(*GetParam()), solid(rows, units, units), spread = p.new_out();
        for (const Rows *out : {&solid, &spread}) {
          GemmArgs args = p.args(*out, 0, rows, 0, p.tiles);
          args.a = line.data();
          args.a_row_bytes = sizeof(float);
          GetParam()->gemm(&args);
          for (uint32_t m = 0; m < rows; ++m)
            for (uint32_t u = 0; u < units; ++u)
              ASSERT_EQ(apart.at(m, u), out->at(m, u))
                  << rows << " rows of " << k << ", unit " << u << " of " << units << ", row " << m;
        }
      }
}

// A row whose factors lie in parts has the bits of a row in one piece.
TEST_P(GemmTest, PartsOfRowsGiveTheBitsOfWholeRows) {
  SKIP_UNLESS_CPU_RUNS(*GetParam());
  if (GetParam()->family != KernelFamily::kGemm || GetParam()->dtype != DType::kF32) return;
  uint64_t seed = 400;
  for (const Shape &s : shapes(*GetParam())) {
    const Problem p(s, *GetParam(), false, seed++);
    Random random(seed);
    std::vector<Rows> parts;
    std::vector<GemmTap> taps;
    for (uint32_t done = 0; done < s.k;) {
      const uint32_t k = std::min(s.k - done, 1 + random.below(s.k < 8 ? 2 : s.k / 3));
      parts.emplace_back(s.rows, k, k + random.below(4));
      for (uint32_t m = 0; m < s.rows; ++m)
        for (uint32_t i = 0; i < k; ++i) parts.back().at(m, i) = p.a.at(m, done + i);
      taps.push_back({parts.back().data(), parts.back().stride_bytes(), k});
      done += k;
    }
    const Rows whole = p.run(*GetParam()), out = p.new_out();
    GemmArgs args = p.args(out, 0, s.rows, 0, p.tiles);
    args.taps = taps.data();
    args.in_parts = true;
    GetParam()->gemm(&args);
    ASSERT_TRUE(same_bits(whole.values(), out.values())) << s.rows << 'x' << s.k << " G" << s.gates << " units " << s.units;
    ASSERT_TRUE(out.gaps_are_untouched());
  }
}

TEST_P(GemmTest, AddsToTilesFartherApart) {
  SKIP_UNLESS_CPU_RUNS(*GetParam());
  for (const uint32_t gates : gates_of_gemm(*GetParam())) {
    for (const uint32_t rows : {1u, 2u, 7u}) {
      const Problem p({rows, 21, gates, 75, false, false}, *GetParam(), false, gates);
      const size_t wide = size_t{5} * p.nr, row = size_t{gates} * p.nr;
      const Rows product = p.run(*GetParam()), both = Rows(rows, p.tiles * wide, p.tiles * wide + 3);
      const Rows start = Rows(rows, p.tiles * row, p.tiles * row + 1);
      Random random(rows);
      for (size_t m = 0; m < rows; ++m)
        for (size_t t = 0; t < p.tiles; ++t)
          for (size_t n = 0; n < row; ++n) start.at(m, t * row + n) = both.at(m, t * wide + n) = random.uniform(-1.0f, 1.0f);
      GemmArgs args = p.args(both, 0, rows, 0, p.tiles);
      args.start = both.data();
      args.start_row_bytes = both.stride_bytes();
      args.start_tile = args.out_tile = static_cast<uint8_t>(wide);
      GetParam()->gemm(&args);
      const Rows apart = p.new_out();
      args = p.args(apart, 0, rows, 0, p.tiles);
      args.start = start.data();
      args.start_row_bytes = start.stride_bytes();
      GetParam()->gemm(&args);
      for (size_t m = 0; m < rows; ++m)
        for (size_t t = 0; t < p.tiles; ++t)
          for (size_t n = 0; n < wide; ++n) {
            if (n >= row) {
              ASSERT_TRUE(std::isnan(both.at(m, t * wide + n)));
              continue;
            }
            const size_t column = t * row + n;
            ASSERT_EQ(both.at(m, t * wide + n), apart.at(m, column));
            ASSERT_NEAR(apart.at(m, column), start.at(m, column) + product.at(m, column), 1e-5f);
          }
    }
  }
}

TEST_P(GemmTest, TouchesOnlyItsTiles) {
  SKIP_UNLESS_CPU_RUNS(*GetParam());
  const uint32_t gates = gates_of_gemm(*GetParam()).back();
  const Problem p({5, 9, gates, 70, false, true}, *GetParam(), false, 1);
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

}  // namespace gemm_test
}  // namespace rnnp
