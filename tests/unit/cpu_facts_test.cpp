// cpu_facts_test.cpp -- what the platform tells of the CPU: the same on every core, and what its flags are.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "platform/darwin/facts_darwin.h"
#include "platform/x86/cpuid_x86.h"

namespace {

// sysctl of an M2, of a first iPhone with 64 bits, and of nobody.
TEST(CpuFacts, ComeFromSysctlOnDarwin) {
  std::map<std::string, uint64_t> values;
  const auto read = [&](const char *name) { return values.count(name) != 0 ? values[name] : 0; };
  const rnnp::CpuFacts none = rnnp::darwin_facts(read);
  EXPECT_EQ(none.isa, RNNP_ISA_NEON);
  EXPECT_EQ(none.l1d_bytes + none.l2_bytes + none.l3_bytes, 0u);
  values = {{"hw.l1dcachesize", 64u << 10}, {"hw.l2cachesize", 1u << 20}, {"hw.optional.arm.FEAT_I8MM", 1}};
  const rnnp::CpuFacts old = rnnp::darwin_facts(read);
  EXPECT_EQ(old.isa, RNNP_ISA_NEON);
  EXPECT_EQ(old.l1d_bytes, 64u << 10);
  EXPECT_EQ(old.l2_bytes, 1u << 20);
  values.insert({{"hw.perflevel0.l1dcachesize", 128u << 10},
                 {"hw.perflevel0.l2cachesize", 16u << 20},
                 {"hw.perflevel0.cpusperl2", 4},
                 {"hw.optional.arm.FEAT_DotProd", 1},
                 {"hw.optional.arm.FEAT_BF16", 1}});
  const rnnp::CpuFacts now = rnnp::darwin_facts(read);
  EXPECT_EQ(now.isa, RNNP_ISA_NEON | RNNP_ISA_NEON_DOTPROD | RNNP_ISA_NEON_I8MM | RNNP_ISA_NEON_BF16);
  EXPECT_EQ(now.l1d_bytes, 128u << 10);
  EXPECT_EQ(now.l2_bytes, 4u << 20);
}

}  // namespace

#if defined(__x86_64__) || defined(__i386__)
namespace {

using rnnp::CpuFacts;

TEST(CpuFacts, AreTheSameOnBothKindsOfCores) {
  const CpuFacts large = {1, 48u << 10, 2u << 20, 30u << 20}, small = {1, 32u << 10, 4u << 20, 30u << 20};
  const CpuFacts a = rnnp::same_on_all_cores(large, true), b = rnnp::same_on_all_cores(small, true);
  EXPECT_EQ(a.l1d_bytes, b.l1d_bytes);
  EXPECT_EQ(a.l2_bytes, b.l2_bytes);
  EXPECT_EQ(a.l3_bytes, b.l3_bytes);
  EXPECT_EQ(large.l2_bytes, rnnp::same_on_all_cores(large, false).l2_bytes);
}

#ifdef __linux__
// Of flags whose names are apart from each other's by the spaces around them.
TEST(CpuFacts, AreWhatTheKernelFinds) {
  std::ifstream file("/proc/cpuinfo");
  const std::string flags{std::istreambuf_iterator<char>(file), {}};
  const auto has = [&](const char *name) { return flags.find(std::string(" ") + name + " ") != std::string::npos; };
  const uint32_t isa = rnnp::isa_of_cpu();
  EXPECT_EQ(has("avx2") && has("fma") && has("f16c"), (isa & RNNP_ISA_AVX2) != 0);
  EXPECT_EQ(has("avx2") && has("avx_vnni"), (isa & RNNP_ISA_AVX_VNNI) != 0);
  EXPECT_EQ(has("avx512vl") && has("avx512_vnni"), (isa & RNNP_ISA_AVX512_VNNI) != 0);
  EXPECT_EQ(has("avx512vl") && has("avx512_bf16"), (isa & RNNP_ISA_AVX512_BF16) != 0);
  EXPECT_EQ(has("amx_int8") && rnnp::may_use_tiles(), (isa & RNNP_ISA_AMX_INT8) != 0);
  EXPECT_EQ(has("amx_bf16") && has("avx512_bf16") && rnnp::may_use_tiles(), (isa & RNNP_ISA_AMX_BF16) != 0);
}

// Nobody gets them without the program's request.
TEST(CpuFacts, TilesAreThereWhereTheProcessAskedForThem) {
  const bool granted = rnnp::request_tiles();
  std::ifstream file("/proc/cpuinfo");
  const std::string flags{std::istreambuf_iterator<char>(file), {}};
  if (flags.find(" amx_int8 ") == std::string::npos) {
    EXPECT_FALSE(granted && (rnnp::isa_of_cpu() & RNNP_ISA_AMX_INT8) != 0);
    GTEST_SKIP() << "this CPU has no AMX";
  }
  EXPECT_EQ(granted, (rnnp::isa_of_cpu() & RNNP_ISA_AMX_INT8) != 0);
}
#endif

}  // namespace
#endif
