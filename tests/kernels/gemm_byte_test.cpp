// gemm_byte_test.cpp -- the gemm rows of int8 and int4 panels: the bits of docs/KERNELS.md's words, "Int8", whatever rows and
// weights hold. Room: tests/kernels. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "gemm_problem.h"
#include "kernel_support.h"
#include "kernels/gemm_families.h"
#include "pack/pack.h"

namespace rnnp {
namespace gemm_byte_test {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Shape {
  uint32_t rows, k, gates, units;
  bool dense, bias, diagonal;
  float lhs_scale;  // 0: of each row
  uint32_t group_k = 0;
};

enum class Draw { kUniform, kLargest, kPairs, kOdd };

// What a kernel may see of numbers: most are tame, some are not.
float draw_factor(Random *random, Draw draw) {
  if (draw == Draw::kLargest) return random->below(2) == 0 ? 1.0f : -1.0f;
  if (draw != Draw::kOdd || random->below(4) != 0) return random->uniform(-1.5f, 1.5f);
  const float odd[] = {kInfinity, -kInfinity, std::nanf(""), 0.0f, -0.0f, 1e30f, -1e-30f, 3e38f, 1e-38f};
  return odd[random->below(9)];
}

const PanelFormat &format_of(const Kernel &kernel) {
  for (const PanelFormat &f : kPanelFormats)
    if (f.weight == kernel.dtype && f.nr == kernel.nr && f.index_bytes == 0 && gemm_family(f) == kernel.family) return f;
  std::abort();
}

struct Problem {
  Shape s;
  PanelFormat format;
  uint32_t tiles;
  PackedMatrix matrix;
  Rows a, panels, bias;
  std::vector<float> bias_values, diagonal;
  std::vector<uint8_t> scratch;

  Problem(const Shape &shape, const Kernel &kernel, Draw draw, uint64_t seed)
      : s(shape), format(format_of(kernel)), tiles(panel_count(format, shape.units)) {
    Random random(seed);
    a = Rows(s.rows, s.k, s.k + 3);
    for (size_t m = 0; m < s.rows; ++m)
      for (size_t k = 0; k < s.k; ++k) a.at(m, k) = draw_factor(&random, draw);
    std::vector<float> weights(size_t{s.gates} * s.units * s.k);
    for (float &w : weights) w = draw == Draw::kLargest ? (random.below(2) == 0 ? 1.0f : -1.0f) : random.uniform(-1.0f, 1.0f);
    if (draw == Draw::kPairs) std::fill(weights.begin(), weights.end(), 1.0f);
    matrix = pack_matrix(format, {weights.data(), s.units, s.k, 0, s.gates, s.group_k});
    panels = Rows(1, matrix.panels.size() / 4, 0, true);
    std::memcpy(panels.data(), matrix.panels.data(), matrix.panels.size());
    bias_values.assign(size_t{s.gates} * s.units, 0.0f);
    for (float &b : bias_values) b = random.uniform(-1.0f, 1.0f);
    bias_values = pack_vector(format, bias_values.data(), s.units, s.gates);
    diagonal.resize(bias_values.size());
    for (float &d : diagonal) d = random.uniform(-2.0f, 2.0f);
    scratch.resize(lhs_scratch_bytes(format, s.k, s.rows) + 64);
  }

  size_t width() const { return size_t{s.gates} * format.nr; }
  Rows new_out() const { return Rows(s.rows, s.dense ? s.units : tiles * width(), tiles * width() + 5); }
  void run(const Kernel &kernel, const Rows &out, uint32_t row, uint32_t rows, uint32_t begin, uint32_t end,
           bool prepared = false) {
    GemmArgs args = gemm_call(this, s.dense, out, row, rows, begin, end);
    args.w.scales = matrix.scales.data();
    args.w.unit_sums = matrix.unit_sums.data();
    args.w.group_k = matrix.group_k;
    args.w.diagonal = s.diagonal ? diagonal.data() : nullptr;
    args.w.lhs_scale = s.lhs_scale;
    args.prepared = prepared;
    kernel.gemm(&args);
  }
};

// The words of docs/KERNELS.md.
struct Quantised {
  std::vector<int> bytes;
  float step;
};
Quantised quantise(const Problem &p, size_t m) {
  Quantised q = {{}, p.s.lhs_scale};
  float to_byte = p.s.lhs_scale == 0.0f ? 0.0f : 1.0f / p.s.lhs_scale, largest = 0.0f;
  for (size_t k = 0; k < p.s.k; ++k)
    if (std::isfinite(p.a.at(m, k))) largest = std::max(largest, std::fabs(p.a.at(m, k)));
  if (p.s.lhs_scale == 0.0f && largest >= 1e-30f) to_byte = 127.0f / largest, q.step = largest / 127.0f;
  for (size_t k = 0; k < p.s.k; ++k) {
    const float v = p.a.at(m, k) * to_byte;
    q.bytes.push_back(std::isnan(v) ? 0 : static_cast<int>(std::nearbyint(std::min(std::max(v, -127.0f), 127.0f))));
  }
  return q;
}

int stored(const Problem &p, size_t tile, size_t n, size_t k) {
  const size_t kr = p.format.kr, depth = (p.s.k + kr - 1) / kr, row = (tile * depth + k / kr) * p.width() + n;
  if (p.format.scales == Scales::kSmlad) {  // of two neighbours the number low + 256 high
    const size_t column = tile * p.s.gates + n / p.format.nr;
    const uint8_t *at = &p.matrix.panels[((column * depth + k / 8) * 4 + n % 4) * 8 + k % 8 / 2 * 2];
    const int both = static_cast<int16_t>(at[0] | at[1] << 8), low = static_cast<int8_t>(at[0]);
    return k % 2 == 0 ? low : (both - low) / 256;
  }
  if (p.format.scales == Scales::kKMajor16) {
    const size_t column = tile * p.s.gates + n / p.format.nr;
    return static_cast<int8_t>(p.matrix.panels[((column * depth + k / 16) * 4 + n % 4) * 16 + k % 16]);
  }
  const uint8_t byte = p.matrix.panels[row * 4 + k % 4];
  return kr == 4 ? static_cast<int8_t>(byte) : (k % 8 < 4 ? byte & 15 : byte >> 4) - 8;
}

float sum_of(const Problem &p, const Quantised &q, size_t tile, size_t n, size_t from, size_t end) {
  int64_t sum = 0;
  for (size_t k = from; k < end; ++k) sum += int64_t{q.bytes[k]} * stored(p, tile, n, k);
  EXPECT_LT(std::abs(sum), int64_t{1} << 31);
  return static_cast<float>(sum);
}

float expected(const Problem &p, const Quantised &q, size_t m, size_t tile, size_t n, bool fused) {
  const size_t column = tile * p.width() + n, unit = tile * p.format.nr + n % p.format.nr;
  const auto add = [&](float x, float y, float z) {
    const volatile float product = x * y;  // else a compiler may fuse it
    return fused ? std::fma(x, y, z) : product + z;
  };
  const float start = p.s.bias ? p.bias_values[column] : 0.0f;
  float out = 0.0f;
  if (p.format.scales != Scales::kPerGroup) {
    out = add(sum_of(p, q, tile, n, 0, p.s.k), p.matrix.scales[column] * q.step, start);
  } else {
    const size_t group_k = p.matrix.group_k, groups = (p.s.k + group_k - 1) / group_k;
    for (size_t group = 0; group < groups; ++group) {
      const size_t end = std::min<size_t>(p.s.k, (group + 1) * group_k);
      out = add(sum_of(p, q, tile, n, group * group_k, end), p.matrix.scales[(tile * groups + group) * p.width() + n], out);
    }
    out = add(out, q.step, start);
  }
  if (p.s.diagonal && unit < p.s.k) out = add(p.a.at(m, unit), p.diagonal[column], out);
  return out;
}

std::vector<Shape> shapes() {
  std::vector<Shape> out;
  Random random(5);
  for (uint32_t k = 1; k <= 79; ++k) {
    const uint32_t gates = 1 + k % 4;
    out.push_back({1 + random.below(7), k, gates, 1 + random.below(60), gates == 1 && k % 8 == 0, k % 3 != 0, false,
                   k % 2 ? 1.0f / 127.0f : 0.0f, 32 + 32 * (k % 2)});
  }
  for (const uint32_t units : {16u, 33u, 64u}) out.push_back({3, units, 3, units, false, true, true, 1.0f / 127.0f});
  out.push_back({67, 130, 4, 20, false, true, false, 0.0f});  // more rows than are quantised at a time
  for (const uint32_t gates : {3u, 4u}) {                     // and a block of a single row behind whole ones
    for (const uint32_t blocks : {1u, 2u})
      out.push_back({blocks * kQuantisedRows + 1, 37, gates, 40, false, true, false, 1.0f / 127.0f, 32});
  }
  out.push_back({2, 300, 3, 40, false, true, false, 0.0f, 96});
  out.push_back({1, 4100, 2, 17, false, false, false, 1.0f / 127.0f});
  return out;
}

class ByteGemmTest : public testing::TestWithParam<const Kernel *> {
 protected:
  const Kernel &kernel() const { return *GetParam(); }
};

TEST_P(ByteGemmTest, GivesTheBitsOfItsDefinition) {
  SKIP_UNLESS_CPU_RUNS(kernel());
  uint64_t seed = 1;
  for (const Shape &s : shapes()) {
    for (const Draw draw : {Draw::kUniform, Draw::kLargest, Draw::kPairs, Draw::kOdd}) {
      SCOPED_TRACE(testing::Message() << s.rows << " rows, k " << s.k << ", G " << s.gates << ", units " << s.units << ", draw "
                                      << int(draw));
      Problem p(s, kernel(), draw, seed++);
      const Rows out = p.new_out();
      p.run(kernel(), out, 0, s.rows, 0, p.tiles);
      for (size_t m = 0; m < s.rows; ++m) {
        const Quantised q = quantise(p, m);
        for (size_t column = 0; column < out.cols(); ++column) {
          const float want = expected(p, q, m, column / p.width(), column % p.width(), is_fused(kernel()));
          ASSERT_TRUE(same_bits({out.at(m, column)}, {want})) << m << ' ' << column;
        }
      }
      ASSERT_TRUE(out.gaps_are_untouched());
    }
  }
}

TEST_P(ByteGemmTest, GivesTheSameBitsHoweverRowsAndTilesAreCut) {
  SKIP_UNLESS_CPU_RUNS(kernel());
  Random random(3);
  uint64_t seed = 500;
  for (const Shape &s : shapes()) {
    Problem p(s, kernel(), Draw::kUniform, seed++);
    expect_same_bits_however_cut(&p, kernel(), &random);
  }
}

TEST_P(ByteGemmTest, TakesRowsAsTheCallBeforePreparedThem) {
  SKIP_UNLESS_CPU_RUNS(kernel());
  uint64_t seed = 900;
  for (const Shape &s : shapes()) {
    Problem p(s, kernel(), Draw::kUniform, seed++);
    expect_same_bits_once_prepared(&p, kernel());
  }
}

std::vector<const Kernel *> byte_kernels() {
  std::vector<const Kernel *> out;
  for (const Kernel *kernel :
       kernels_of({KernelFamily::kGemm, KernelFamily::kGemmQ8, KernelFamily::kGemmSmlad, KernelFamily::kGemmKMajor16}))
    if (kernel->dtype == DType::kI8 || kernel->dtype == DType::kI4) out.push_back(kernel);
  return out;
}

INSTANTIATE_TEST_SUITE_P(All, ByteGemmTest, testing::ValuesIn(byte_kernels()), kernel_name);

}  // namespace gemm_byte_test
}  // namespace rnnp
