// cuda_orders_test.cpp -- every recurrent and product kernel gives the same bits in any order of its threads and blocks, where
// plain stores stay with their block and words are old for a while. Built for ThreadSanitizer, no two accesses of theirs race.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "cuda/kernel_cases.h"

namespace rnnp::cuda {
namespace {

TEST(CudaOrders, GiveTheSameBitsOfEveryKernel) {
  const uint64_t orders = RNNPACK_CUDA_CASE_ORDERS;
  std::set<std::string> seen;
  for_each_kernel([&](KernelCase kernel) {
    SCOPED_TRACE(kernel.name());
    seen.insert(kernel.name());
    bool ended = false;
    const std::vector<uint8_t> first = kernel.run(1, &ended);
    ASSERT_TRUE(ended);
    for (size_t i = 0; i < first.size(); i += 4) {
      float v;
      std::memcpy(&v, first.data() + i, sizeof v);
      ASSERT_TRUE(std::isfinite(v)) << "result " << i / 4;
    }
    for (uint64_t seed = 2; seed <= orders; ++seed) {
      EXPECT_EQ(kernel.run(seed, &ended), first) << "order " << seed;
      EXPECT_TRUE(ended);
    }
  });
  for (uint32_t i = 0; i < static_cast<uint32_t>(KernelId::count); ++i) {
    if (!is_plain(kKernels[i])) {
      EXPECT_EQ(seen.count(kKernels[i].name), 1u) << kKernels[i].name;
    }
  }
}

}  // namespace
}  // namespace rnnp::cuda
