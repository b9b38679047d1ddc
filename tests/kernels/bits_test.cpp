// bits_test.cpp -- every row with a fused multiply-add gives the bits of bits.inc, whatever the CPU: AVX2, AVX-512, NEON, Helium,
// the Arm scalar FPU and RISC-V vectors agree to the last bit. Room: tests/kernels. After a change of arithmetic:
// RNNPACK_PRINT_BITS=1 kernels_test --gtest_filter='*Bits*' prints bits.inc anew. SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "base/fpenv.h"
#include "kernel_support.h"
#include "recur_oracle.h"
#include "rnnpack/rnnpack.h"

namespace rnnp {
namespace {

const std::map<std::string, uint64_t> kBits = {
#define RNNPACK_BITS(name, bits) {name, bits},
#include "bits.inc"
#undef RNNPACK_BITS
};

// FNV-1a over the floats' bytes.
struct Hash {
  uint64_t value = 0xcbf29ce484222325u;
  void add(const std::vector<float> &floats) {
    for (float f : floats) {
      uint32_t bits;
      std::memcpy(&bits, &f, sizeof bits);
      for (int i = 0; i < 4; ++i) value = (value ^ (bits >> (8 * i) & 0xffu)) * 0x100000001b3u;
    }
  }
};

// "lstm_f32_nr16" of "lstm_f32_nr16_avx2".
std::string name_without_isa(const Kernel &kernel) {
  const std::string name = kernel.name;
  return name.substr(0, name.rfind('_'));
}

void expect_bits(const Kernel &kernel, const Hash &hash) {
  const std::string name = name_without_isa(kernel);
  if (std::getenv("RNNPACK_PRINT_BITS")) {
    std::printf("RNNPACK_BITS(\"%s\", 0x%016llxu)\n", name.c_str(), static_cast<unsigned long long>(hash.value));
    return;
  }
  const auto pinned = kBits.find(name);
  ASSERT_NE(pinned, kBits.end()) << name << " is not in bits.inc";
  EXPECT_EQ(hash.value, pinned->second) << kernel.name << " gives other bits";
}

class RecurBitsTest : public testing::TestWithParam<const Kernel *> {};

TEST_P(RecurBitsTest, AreThoseOfEveryFusedRow) {
  const Kernel &kernel = *GetParam();
  SKIP_UNLESS_CPU_RUNS(kernel);
  const FlushDenormals flush;
  Hash hash;
  for (uint32_t hidden : {1u, 5u, 16u, 29u, 64u})
    for (uint32_t rows : {1u, 2u, 7u})
      for (bool use_x : {false, true}) {
        const Step step(kernel.family, kernel.nr, {rows, 3 + hidden / 2, hidden, use_x, true, hidden == 29}, false, hidden + rows);
        hash.add(run_step(kernel, step).results(step));
      }
  expect_bits(kernel, hash);
}

class ActBitsTest : public testing::TestWithParam<const Kernel *> {};

// The largest floats, the smallest and what lies between; exponentials overflow and underflow.
TEST_P(ActBitsTest, AreThoseOfEveryFusedRow) {
  const Kernel &kernel = *GetParam();
  SKIP_UNLESS_CPU_RUNS(kernel);
  if (kernel.isa == RNNP_ISA_RVV || kernel.isa == RNNP_ISA_RVF) GTEST_SKIP() << "has denormals";
  const FlushDenormals flush;
  Random random(1);
  std::vector<float> x(4001), y(x.size());
  for (float &v : x) v = random.uniform(-1.0f, 1.0f) * (random.below(3) == 0 ? 100.0f : 4.0f);
  Hash hash;
  for (uint32_t act = 0; act <= uint32_t(Act::kCeil); ++act) {
    const ActArgs args = {x.data(), y.data(), x.size(), {act, 0.25f, 0.75f}};
    kernel.act(&args);
    for (float &v : y)
      if (v != v) v = 0.0f;  // NaNs differ
    hash.add(y);
  }
  expect_bits(kernel, hash);
}

class GemmBitsTest : public testing::TestWithParam<const Kernel *> {};

// Of units in their order, so that panels of every width have the same.
TEST_P(GemmBitsTest, AreThoseOfEveryFusedRow) {
  const Kernel &kernel = *GetParam();
  SKIP_UNLESS_CPU_RUNS(kernel);
  const FlushDenormals flush;
  const uint32_t units = 37, tiles = (units + kernel.nr - 1) / kernel.nr, fixed = gemm_gates(kernel.family);
  Hash hash;
  for (uint32_t gates = fixed; gates <= (kernel.dtype == DType::kF32 ? fixed : 4); ++gates)
    for (uint32_t rows : {1u, 2u, 3u, 4u, 7u})
      for (uint32_t k : {1u, 8u, 29u, 64u}) {
        Random random(gates + rows + k);
        const Rows a(rows, k, k + 3), out(rows, size_t{tiles} * gates * kernel.nr, 0);
        std::vector<float> weights(size_t{gates} * units * k);
        for (size_t i = 0; i < size_t{rows} * k; ++i) a.at(i / k, i % k) = random.uniform(-1.0f, 1.0f);
        for (float &w : weights) w = stored_as(kernel.dtype, random.uniform(-1.0f, 1.0f));
        const Rows panels = packed_as(kernel, weights, units, k, gates);
        GemmArgs args = {};
        args.a = a.data();
        args.a_row_bytes = a.stride_bytes();
        args.w.panels = panels.data();
        args.out = out.data();
        args.out_row_bytes = out.stride_bytes();
        args.rows = rows;
        args.w.k = k;
        args.w.gates = static_cast<uint8_t>(gates);
        args.tile_end = tiles;
        kernel.gemm(&args);
        std::vector<float> values;
        for (size_t m = 0; m < rows; ++m)
          for (size_t n = 0; n < size_t{gates} * units; ++n)
            values.push_back(out.at(m, ((n % units / kernel.nr) * gates + n / units) * kernel.nr + n % units % kernel.nr));
        hash.add(values);
      }
  expect_bits(kernel, hash);
}

std::vector<const Kernel *> fused_rows(KernelFamily first, KernelFamily last) {
  std::vector<const Kernel *> out;
  for (uint32_t family = uint32_t(first); family <= uint32_t(last); ++family)
    for (const Kernel *kernel : kernels_of({KernelFamily(family)}))
      if (is_fused(*kernel)) out.push_back(kernel);
  return out;
}

// Whole sums have tests of their own.
std::vector<const Kernel *> fused_gemms() {
  std::vector<const Kernel *> out;
  for (const Kernel *kernel : fused_rows(KernelFamily::kGemm, KernelFamily::kGemm4))
    if (kernel->dtype != DType::kI8 && kernel->dtype != DType::kI4) out.push_back(kernel);
  return out;
}

// A build without such rows has none of these tests.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RecurBitsTest);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ActBitsTest);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GemmBitsTest);
INSTANTIATE_TEST_SUITE_P(All, GemmBitsTest, testing::ValuesIn(fused_gemms()), kernel_name);
INSTANTIATE_TEST_SUITE_P(All, RecurBitsTest, testing::ValuesIn(fused_rows(KernelFamily::kRnnTanh, KernelFamily::kGruOutputGeneric)),
                         kernel_name);
INSTANTIATE_TEST_SUITE_P(All, ActBitsTest, testing::ValuesIn(fused_rows(KernelFamily::kAct, KernelFamily::kAct)), kernel_name);

}  // namespace
}  // namespace rnnp
