// kernel_support.h -- what all kernel tests share: this CPU's bits, random numbers, rows up to a guard page.
// Room: tests/kernels.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_KERNELS_KERNEL_SUPPORT_H_
#define RNNPACK_TESTS_KERNELS_KERNEL_SUPPORT_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/kernels.h"

namespace rnnp {

uint32_t cpu_isa_bits();
bool cpu_runs(const Kernel &kernel);
// Whether it rounds a multiply-add once.
bool is_fused(const Kernel &kernel);
const Kernel *reference_of(const Kernel &kernel);
std::vector<const Kernel *> kernels_of(std::initializer_list<KernelFamily> families);

// Those of `kernels` that have bits of their own, and beside which the build has another such row of the same family and layout.
std::vector<const Kernel *> with_fused_peers(const std::vector<const Kernel *> &kernels);
// Those peers that this CPU runs.
std::vector<const Kernel *> fused_peers(const Kernel &kernel);

// For INSTANTIATE_TEST_SUITE_P: the row's own name.
std::string kernel_name(const testing::TestParamInfo<const Kernel *> &info);

// Skips the running test, naming the row, when this CPU lacks its bits.
#define SKIP_UNLESS_CPU_RUNS(kernel) \
  if (!cpu_runs(kernel))             \
  GTEST_SKIP() << (kernel).name << ": this CPU lacks isa bits 0x" << std::hex << ((kernel).isa & ~cpu_isa_bits())

// SplitMix64: the same numbers everywhere, from one seed per case.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next();
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(next() % n); }
  float uniform(float low, float high);
  float integer(int size) { return static_cast<float>(static_cast<int>(below(static_cast<uint32_t>(2 * size + 1))) - size); }

 private:
  uint64_t state_;
};

// Cuts rows and tiles at random, in order: do_part(row, rows, tile_begin, tile_end).
template <class DoPart>
void cut_at_random(uint32_t rows, uint32_t tiles, Random *random, const DoPart &do_part) {
  for (uint32_t row = 0; row < rows;) {
    const uint32_t part = 1 + random->below(rows - row);
    for (uint32_t tile = 0; tile < tiles;) {
      const uint32_t end = tile + 1 + random->below(tiles - tile);
      do_part(row, part, tile, end);
      tile = end;
    }
    row += part;
  }
}

// [rows][cols] floats, `stride_bytes` apart, all NaN at first. The last element of the last row is the last before a page that may
// not be touched, unless `aligned` asks for rows on 64 bytes (then fewer than 16 floats lie between).
class Rows {
 public:
  Rows() = default;
  Rows(size_t rows, size_t cols, size_t stride_floats, bool aligned = false);
  Rows(Rows &&other) noexcept { swap(other); }
  Rows &operator=(Rows &&other) noexcept {
    swap(other);
    return *this;
  }
  ~Rows();

  float *data() const { return first_; }
  float *row(size_t m) const { return first_ + m * stride_; }
  float &at(size_t m, size_t n) const { return row(m)[n]; }
  size_t rows() const { return rows_; }
  size_t cols() const { return cols_; }
  size_t stride_bytes() const { return stride_ * sizeof(float); }
  void fill(float value) const;
  std::vector<float> values() const;  // without the gaps
  bool gaps_are_untouched() const;    // what lies between rows is still NaN

 private:
  void swap(Rows &other);
  float *first_ = nullptr;
  void *map_ = nullptr;
  size_t map_bytes_ = 0, rows_ = 0, cols_ = 0, stride_ = 0;
};

// Bit for bit; all NaNs are alike.
testing::AssertionResult same_bits(const std::vector<float> &a, const std::vector<float> &b);

// The number that panels of a type hold of a weight.
float stored_as(DType type, float weight);

// M[G*units][k] in the panels that a gemm kernel reads, as the host packs them.
Rows packed_as(const Kernel &kernel, const std::vector<float> &m, uint32_t units, uint32_t k, uint32_t gates);

// Packs M[G*units][k] as pack/layout.h says, from `first_gate` on, `gates` gates.
Rows packed(const std::vector<float> &m, uint32_t units, uint32_t k, uint32_t first_gate, uint32_t gates, uint32_t nr);

}  // namespace rnnp
#endif  // RNNPACK_TESTS_KERNELS_KERNEL_SUPPORT_H_
