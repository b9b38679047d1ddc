// gemm_bsr_test.cpp -- the gemm rows of sparse panels: the bits of docs/KERNELS.md, "Sparse", and those of the dense panels of
// bytes. Room: tests/kernels. SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <limits>

#include "gemm_problem.h"
#include "kernel_support.h"
#include "pack/pack.h"

namespace rnnp {
namespace gemm_bsr_test {

struct Shape {
  uint32_t rows, k, gates, units;
  double kept;  // of the blocks, or of single weights
  bool dense_out, bias;
};

float of_bf16(uint16_t bits) {
  const uint32_t word = uint32_t{bits} << 16;
  float value;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

struct Problem {
  Shape s;
  PanelFormat format;
  uint32_t tiles;
  std::vector<float> weights;
  PackedMatrix matrix;
  Rows a, panels, bias;
  std::vector<float> bias_values;
  std::vector<uint8_t> scratch;

  Problem(const Shape &shape, const PanelFormat &f, uint64_t seed) : s(shape), format(f), tiles(panel_count(f, shape.units)) {
    Random random(seed);
    a = Rows(s.rows, s.k, s.k + 3);
    for (size_t m = 0; m < s.rows; ++m)
      for (size_t k = 0; k < s.k; ++k) a.at(m, k) = random.uniform(-1.5f, 1.5f);
    weights.assign(size_t{s.gates} * s.units * s.k, 0.0f);
    const uint32_t height = 16 / (f.index_bytes == 0 ? 4 : f.index_bytes / 2);
    for (uint32_t row = 0; row < s.gates * s.units; row += height) {
      for (uint32_t k = 0; k < s.k; k += indexed_k(f)) {
        if (random.uniform(0.0f, 1.0f) >= static_cast<float>(s.kept)) continue;
        for (uint32_t i = row; i < std::min(row + height, s.gates * s.units); ++i)
          for (uint32_t j = k; j < std::min(k + indexed_k(f), s.k); ++j) weights[size_t{i} * s.k + j] = random.uniform(-1.0f, 1.0f);
      }
    }
    for (float &w : weights) w = f.weight == DType::kBf16 ? of_bf16(nearest_bf16(w)) : w;
    matrix = pack_matrix(f, {weights.data(), s.units, s.k, 0, s.gates});
    panels = Rows(1, matrix.panels.size() / 4 + 1, 0, true);
    if (!matrix.panels.empty()) std::memcpy(panels.data(), matrix.panels.data(), matrix.panels.size());
    bias_values.assign(size_t{s.gates} * s.units, 0.0f);
    for (float &b : bias_values) b = random.uniform(-1.0f, 1.0f);
    bias_values = pack_vector(f, bias_values.data(), s.units, s.gates);
    scratch.resize(lhs_scratch_bytes(f, s.k, s.rows) + 64, 0xff);
  }

  size_t width() const { return size_t{s.gates} * 16; }
  const uint32_t *first() const { return static_cast<const uint32_t *>(static_cast<const void *>(matrix.index.data())); }
  const uint16_t *quads() const { return reinterpret_cast<const uint16_t *>(first() + size_t{tiles} * s.gates + 1); }
  Rows new_out() const { return Rows(s.rows, s.dense_out ? s.units : tiles * width(), tiles * width() + 5); }
  void run(const Kernel &kernel, const Rows &out, uint32_t row, uint32_t rows, uint32_t begin, uint32_t end,
           bool prepared = false) {
    GemmArgs args = gemm_call(this, s.dense_out, out, row, rows, begin, end);
    args.w.scales = matrix.scales.data();
    args.w.unit_sums = matrix.unit_sums.data();
    if (is_sparse(format)) args.w.first = first(), args.w.quads = quads();
    args.w.index_bytes = format.index_bytes;
    args.prepared = prepared;
    kernel.gemm(&args);
  }
};

std::vector<Shape> shapes() {
  std::vector<Shape> out;
  Random random(6);
  for (uint32_t k = 1; k <= 70; ++k) {
    const uint32_t gates = 1 + k % 4;
    out.push_back(
        {1 + random.below(7), k, gates, 1 + random.below(60), k % 5 == 0 ? 1.0 : 0.3, gates == 1 && k % 8 == 0, k % 3 != 0});
  }
  out.push_back({67, 130, 4, 20, 0.1, false, true});  // more rows than are prepared at a time
  out.push_back({1, 2050, 3, 40, 0.02, false, false});
  return out;
}

class BlockGemmTest : public testing::TestWithParam<const Kernel *> {
 protected:
  const Kernel &kernel() const { return *GetParam(); }
  std::vector<PanelFormat> formats() const {
    std::vector<PanelFormat> out;
    for (const PanelFormat &f : kPanelFormats) {
      const KernelFamily family = is_ell(f) ? KernelFamily::kGemmEll : KernelFamily::kGemmBsr;
      if (is_sparse(f) && family == kernel().family && f.weight == kernel().dtype && f.nr == kernel().nr) out.push_back(f);
    }
    return out;
  }
};

// Four sums, one for each k of a block, in the order of the blocks; then (0 + 1) + (2 + 3), then the start. Of single weights one.
float float_product(const Problem &p, size_t m, size_t tile, size_t gate, size_t unit, bool fused) {
  float sum[kBlockK] = {};
  const size_t at = tile * 16 + unit;
  for (size_t k = 0; k < p.s.k && at < p.s.units; ++k) {
    const float w = p.weights[(gate * p.s.units + at) * p.s.k + k];
    if (w == 0.0f) continue;
    const volatile float product = p.a.at(m, k) * w;  // else a compiler may fuse it
    float &to = sum[k % indexed_k(p.format)];
    to = fused ? std::fma(p.a.at(m, k), w, to) : to + product;
  }
  const float start = p.s.bias ? p.bias_values[tile * p.width() + gate * 16 + unit] : 0.0f;
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + start;
}

TEST_P(BlockGemmTest, GivesTheBitsOfItsDefinition) {
  SKIP_UNLESS_CPU_RUNS(kernel());
  uint64_t seed = 1;
  ASSERT_EQ(kernel().family == KernelFamily::kGemmEll ? 1u : 3u, formats().size());
  for (const PanelFormat &format : formats()) {
    for (const Shape &s : shapes()) {
      SCOPED_TRACE(testing::Message() << "format " << format.id << ", " << s.rows << " rows, k " << s.k << ", G " << s.gates
                                      << ", units " << s.units);
      Problem p(s, format, seed++);
      const Rows out = p.new_out();
      p.run(kernel(), out, 0, s.rows, 0, p.tiles);
      ASSERT_TRUE(out.gaps_are_untouched());
      const Rows want = p.new_out();
      if (kernel().dtype == DType::kI8) {  // whole sums: what is left out adds nothing
        PanelFormat dense = {};
        for (const PanelFormat &f : kPanelFormats) {
          if (f.weight == DType::kI8 && f.factor == DType::kI8 && f.nr == 16 && f.scales == Scales::kPerUnit && !is_sparse(f))
            dense = f;
        }
        Problem all(s, dense, 1);
        for (size_t m = 0; m < s.rows; ++m)
          for (size_t k = 0; k < s.k; ++k) all.a.at(m, k) = p.a.at(m, k);
        all.bias_values = p.bias_values;
        all.matrix = pack_matrix(dense, {p.weights.data(), s.units, s.k, 0, s.gates});
        all.panels = Rows(1, all.matrix.panels.size() / 4 + 1, 0, true);
        std::memcpy(all.panels.data(), all.matrix.panels.data(), all.matrix.panels.size());
        const Kernel *reference =
            find_kernel(kAllKernels, KernelFamily::kGemm, DType::kI8, 16, is_fused(kernel()) ? cpu_isa_bits() : 0);
        all.run(*reference, want, 0, s.rows, 0, p.tiles);
        ASSERT_TRUE(same_bits(want.values(), out.values()));
        continue;
      }
      for (size_t m = 0; m < s.rows; ++m) {
        for (size_t column = 0; column < out.cols(); ++column) {
          const size_t n = column % p.width();
          const float value = float_product(p, m, column / p.width(), n / 16, n % 16, is_fused(kernel()));
          ASSERT_TRUE(same_bits({out.at(m, column)}, {value})) << m << ' ' << column;
        }
      }
    }
  }
}

TEST_P(BlockGemmTest, GivesTheSameBitsHoweverRowsAndTilesAreCut) {
  SKIP_UNLESS_CPU_RUNS(kernel());
  Random random(3);
  uint64_t seed = 500;
  for (const PanelFormat &format : formats()) {
    for (const Shape &s : shapes()) {
      Problem p(s, format, seed++);
      expect_same_bits_however_cut(&p, kernel(), &random);
    }
  }
}

TEST_P(BlockGemmTest, TakesRowsAsTheCallBeforePreparedThem) {
  SKIP_UNLESS_CPU_RUNS(kernel());
  uint64_t seed = 900;
  for (const PanelFormat &format : formats()) {
    for (const Shape &s : shapes()) {
      Problem p(s, format, seed++);
      expect_same_bits_once_prepared(&p, kernel());
    }
  }
}

// A block that fills up an entry multiplies zeros behind the row, not what the row holds.
TEST_P(BlockGemmTest, WhatNoBlockHoldsIsNotMultiplied) {
  SKIP_UNLESS_CPU_RUNS(kernel());
  if (kernel().dtype == DType::kI8) return;
  for (const PanelFormat &format : formats()) {
    Problem p({1, 64, 1, 16, 0.0, false, false}, format, 1);
    p.weights[size_t{3} * 64 + 9] = 2.0f;
    p.matrix = pack_matrix(format, {p.weights.data(), 16, 64, 0, 1});
    p.panels = Rows(1, p.matrix.panels.size() / 4 + 1, 0, true);
    std::memcpy(p.panels.data(), p.matrix.panels.data(), p.matrix.panels.size());
    for (size_t k = 0; k < 64; ++k)
      p.a.at(0, k) = k / indexed_k(format) == 9 / indexed_k(format) ? 1.0f : std::numeric_limits<float>::infinity();
    const Rows out = p.new_out();
    p.run(kernel(), out, 0, 1, 0, 1);
    for (size_t n = 0; n < 16; ++n) EXPECT_EQ(n == 3 ? 2.0f : 0.0f, out.at(0, n));
  }
}

std::vector<const Kernel *> block_kernels() {
  return kernels_of({KernelFamily::kGemmBsr, KernelFamily::kGemmEll});
}

INSTANTIATE_TEST_SUITE_P(All, BlockGemmTest, testing::ValuesIn(block_kernels()), kernel_name);

}  // namespace gemm_bsr_test
}  // namespace rnnp
