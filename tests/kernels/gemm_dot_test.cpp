// gemm_dot_test.cpp -- the gemm rows of bf16 panels whose rows are rounded to bf16: the bits of their definition in kernels.h,
// whatever rows hold, on every instruction set. Room: tests/kernels. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/fpenv.h"
#include "gemm_problem.h"
#include "kernel_support.h"
#include "kernels/gemm_families.h"
#include "pack/pack.h"
#include "pack/pack_half.h"

namespace rnnp {
namespace {

struct Shape {
  uint32_t rows, k, gates, units;
  bool dense, bias;
};

float of_bf16(uint16_t bits) {
  const uint32_t wide = uint32_t{bits} << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

// The bf16 next to x, by search among its two neighbours; of what is no normal number the zero of its sign.
float nearest(float x) {
  if (std::isnan(x)) return x;
  if (std::fabs(x) < std::numeric_limits<float>::min()) return std::copysign(0.0f, x);
  const uint16_t below = static_cast<uint16_t>(bits_of(x) >> 16);
  if (of_bf16(below) == x) return x;
  const uint16_t above = static_cast<uint16_t>(below + 1);
  // Beyond the largest number as if exponents went on.
  const double low = of_bf16(below), high = std::isinf(of_bf16(above)) ? std::copysign(0x1p128, x) : of_bf16(above);
  const double to_low = std::fabs(x - low), to_high = std::fabs(high - x);
  return of_bf16(to_low < to_high || (to_low == to_high && below % 2 == 0) ? below : above);
}

enum class Draw { kUniform, kSpecial };

float draw_factor(Random *random, Draw draw) {
  if (draw == Draw::kUniform || random->below(3) != 0) return random->uniform(-1.5f, 1.5f);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float special[] = {kInfinity, -kInfinity, std::nanf(""), 0.0f,   -0.0f,       1e30f,
                           -1e-30f,   3.4e38f,    -1e-38f,       1e-44f, 1.00390625f, 1.2e-38f};
  return special[random->below(12)];
}

struct Problem {
  Shape s;
  PanelFormat format;
  uint32_t tiles;
  std::vector<float> weights;
  Rows a, panels, bias;
  std::vector<float> bias_values;
  std::vector<uint8_t> scratch;

  Problem(const Shape &shape, const Kernel &kernel, Draw draw, uint64_t seed)
      : s(shape),
        format(find_panel_format(kernel.nr == 16  ? 36
                                 : kernel.nr == 8 ? 37
                                                  : 38)),
        tiles(panel_count(format, shape.units)) {
    Random random(seed);
    a = Rows(s.rows, s.k, s.k + 3);
    for (size_t m = 0; m < s.rows; ++m)
      for (size_t k = 0; k < s.k; ++k) a.at(m, k) = draw_factor(&random, draw);
    weights.resize(size_t{s.gates} * s.units * s.k);
    for (float &w : weights) w = of_bf16(nearest_bf16(draw_factor(&random, draw)));
    const PackedMatrix matrix = pack_matrix(format, {weights.data(), s.units, s.k, 0, s.gates, 0});
    panels = Rows(1, matrix.panels.size() / 4, 0, true);
    std::memcpy(panels.data(), matrix.panels.data(), matrix.panels.size());
    bias_values.assign(size_t{s.gates} * s.units, 0.0f);
    for (float &b : bias_values) b = random.below(4) == 0 ? -0.0f : random.uniform(-1.0f, 1.0f);
    bias_values = pack_vector(format, bias_values.data(), s.units, s.gates);
    scratch.assign(lhs_scratch_bytes(format, s.k, s.rows) + 64, 0xff);
  }

  size_t width() const { return size_t{s.gates} * format.nr; }
  Rows new_out() const { return Rows(s.rows, s.dense ? s.units : tiles * width(), tiles * width() + 5); }
  void run(const Kernel &kernel, const Rows &out, uint32_t row, uint32_t rows, uint32_t begin, uint32_t end,
           bool prepared = false) {
    GemmArgs args = gemm_call(this, s.dense, out, row, rows, begin, end);
    args.prepared = prepared;
    kernel.gemm(&args);
  }
  // A column of the output, of which those that pad a tile have no unit.
  float expected(size_t m, size_t column, bool fused) const {
    const size_t unit = column / width() * format.nr + column % format.nr, gate = column % width() / format.nr;
    const float *w = unit < s.units ? &weights[(gate * s.units + unit) * s.k] : nullptr;
    float sum = s.bias ? bias_values[column] : 0.0f;
    for (size_t block = 0; block < s.k; block += 32) {
      float even = 0.0f, odd = 0.0f;
      for (size_t k = block; k < block + 32; ++k) {
        const float x = k < s.k ? nearest(a.at(m, k)) : 0.0f, of_unit = k < s.k && w != nullptr ? w[k] : 0.0f;
        float &to = k % 2 == 0 ? even : odd;
        const volatile float product = x * of_unit;  // else a compiler may fuse it
        to = fused ? std::fma(x, of_unit, to) : product + to;
      }
      sum = sum + (even + odd);
    }
    return sum;
  }
};

std::vector<Shape> shapes() {
  std::vector<Shape> out;
  Random random(5);
  for (uint32_t k = 1; k <= 100; ++k) {
    const uint32_t gates = 1 + k % 4;
    out.push_back({1 + random.below(24), k, gates, 1 + random.below(90), gates == 1 && k % 8 == 0, k % 3 != 0});
  }
  out.push_back({kQuantisedRows + 1, 37, 3, 40, false, true});  // more rows than are rounded at a time
  out.push_back({67, 130, 4, 20, false, true});
  out.push_back({1, 4100, 2, 17, false, false});
  out.push_back({20, 40, 1, 37, true, true});  // dense rows whose last column is not full, enough of them for tiles
  out.push_back({41, 72, 1, 69, true, false});
  return out;
}

class DotGemmTest : public testing::TestWithParam<const Kernel *> {
 protected:
  const Kernel &kernel() const { return *GetParam(); }
};

TEST_P(DotGemmTest, GivesTheBitsOfItsDefinition) {
  SKIP_UNLESS_CPU_RUNS(kernel());
  const FlushDenormals flush;
  uint64_t seed = 1;
  for (const Shape &s : shapes()) {
    for (const Draw draw : {Draw::kUniform, Draw::kSpecial}) {
      SCOPED_TRACE(testing::Message() << s.rows << " rows, k " << s.k << ", G " << s.gates << ", units " << s.units << ", draw "
                                      << int(draw));
      Problem p(s, kernel(), draw, seed++);
      const Rows out = p.new_out();
      p.run(kernel(), out, 0, s.rows, 0, p.tiles);
      for (size_t m = 0; m < s.rows; ++m)
        for (size_t column = 0; column < out.cols(); ++column)
          ASSERT_TRUE(same_bits({out.at(m, column)}, {p.expected(m, column, is_fused(kernel()))})) << m << ' ' << column;
      ASSERT_TRUE(out.gaps_are_untouched());
    }
  }
}

TEST_P(DotGemmTest, GivesTheSameBitsHoweverRowsAndTilesAreCut) {
  SKIP_UNLESS_CPU_RUNS(kernel());
  Random random(3);
  uint64_t seed = 500;
  for (const Shape &s : shapes()) {
    Problem p(s, kernel(), Draw::kUniform, seed++);
    expect_same_bits_however_cut(&p, kernel(), &random);
  }
}

TEST_P(DotGemmTest, TakesRowsAsTheCallBeforePreparedThem) {
  SKIP_UNLESS_CPU_RUNS(kernel());
  uint64_t seed = 900;
  for (const Shape &s : shapes()) {
    Problem p(s, kernel(), Draw::kUniform, seed++);
    expect_same_bits_once_prepared(&p, kernel());
  }
}

INSTANTIATE_TEST_SUITE_P(All, DotGemmTest, testing::ValuesIn(kernels_of({KernelFamily::kGemmDot})), kernel_name);

}  // namespace
}  // namespace rnnp
