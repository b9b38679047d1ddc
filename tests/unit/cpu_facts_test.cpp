// cpu_facts_test.cpp -- what the platform tells of caches does not depend on the core that asks.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "platform/x86/cpuid_x86.h"

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

}  // namespace
#endif
