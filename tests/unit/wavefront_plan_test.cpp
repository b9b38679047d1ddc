// wavefront_plan_test.cpp -- the wavefront's planner as a table: costs and threads in; stages and the calls that are long enough
// out. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "ops/wavefront_plan.h"

namespace wavefront_plan_test {

using namespace rnnp;

uint64_t cost_of(const void *ctx, uint32_t node) {
  return (*static_cast<const std::vector<uint64_t> *>(ctx))[node];
}

struct Row {
  const char *name;
  std::vector<uint64_t> costs;
  uint32_t syncs, threads, team, batch, most_steps;
  // expected
  uint32_t stages, chunk_steps, fewest_steps;
  std::vector<uint32_t> first_node;
};

const Row kRows[] = {
    {"two equal layers, too small to share", {2000, 2000}, 2, 2, 1, 1, 128, 2, 16, 48, {0, 1, 2}},
    {"two layers that would be shared with a barrier a step", {32000, 32000}, 2, 2, 2, 1, 128, 2, 16, 48, {0, 1, 2}},
    {"layers so large that barrier costs nothing", {4000000, 4000000}, 2, 2, 2, 1, 128, 0, 0, 0, {}},
    {"one layer", {5000}, 1, 2, 1, 1, 128, 0, 0, 0, {}},
    {"one thread", {2000, 2000}, 2, 1, 1, 1, 128, 0, 0, 0, {}},
    {"three threads, three layers", {2000, 2000, 2000}, 3, 3, 1, 1, 128, 3, 16, 32, {0, 1, 2, 3}},
    {"small nodes go with their neighbours", {10, 3000, 20, 2500, 400}, 2, 2, 1, 1, 128, 2, 16, 48, {0, 2, 5}},
    {"one layer dominates: what is left is not worth a thread", {100000, 1000}, 1, 2, 2, 1, 128, 0, 0, 0, {}},
    {"rows of a batch make chunks shorter", {2000, 2000}, 2, 2, 1, 8, 128, 2, 2, 6, {0, 1, 2}},
    {"never more steps than a chunk has", {2000, 2000}, 2, 2, 1, 1, 4, 2, 4, 32, {0, 1, 2}},
};

TEST(WavefrontPlan, Table) {
  for (const Row &r : kRows) {
    SCOPED_TRACE(r.name);
    const StepCosts costs = {cost_of, &r.costs, static_cast<uint32_t>(r.costs.size()), r.syncs};
    const WavefrontPlan p = plan_wavefront(costs, r.threads, r.team, r.batch, r.most_steps);
    ASSERT_EQ(r.stages, p.stages);
    if (p.stages == 0) continue;
    EXPECT_EQ(r.chunk_steps, p.chunk_steps);
    EXPECT_EQ(r.fewest_steps, p.fewest_steps);
    EXPECT_EQ(r.first_node, std::vector<uint32_t>(p.first_node, p.first_node + p.stages + 1));
  }
}

// Two equal stages gain the same however large they are; where the products would not fit 64 bits there is no wavefront.
TEST(WavefrontPlan, NoCostsOverflow) {
  for (const uint32_t threads : {2u, 64u, 1024u}) {
    for (const uint32_t batch : {1u, 64u, 1024u}) {
      uint32_t fewest = 0;
      for (uint32_t power = 26; power <= 52; ++power) {
        const std::vector<uint64_t> costs(2, uint64_t{1} << power);
        const WavefrontPlan p = plan_wavefront({cost_of, &costs, 2, 0}, threads, 1, batch, 1u << 20);
        SCOPED_TRACE(testing::Message() << threads << " threads, batch " << batch << ", costs 2^" << power);
        if (power == 26) fewest = p.fewest_steps;
        if (p.stages != 0) {
          EXPECT_EQ(2u, p.stages);
          EXPECT_EQ(fewest, p.fewest_steps);
        }
        EXPECT_EQ(uint64_t{batch} << power <= uint64_t{1} << 39, p.stages != 0);
      }
    }
  }
}

TEST(WavefrontPlan, EveryNodeHasOneStage) {
  std::vector<uint64_t> costs;
  for (uint32_t n = 1; n < 40; ++n) {
    costs.push_back(n * 7919 % 1000 + 1);
    for (uint32_t threads : {2u, 3u, 8u, 64u}) {
      const WavefrontPlan p = plan_wavefront({cost_of, &costs, n, 1}, threads, 1, 1, 100);
      if (p.stages == 0) continue;
      EXPECT_LE(p.stages, threads);
      EXPECT_EQ(0u, p.first_node[0]);
      EXPECT_EQ(n, p.first_node[p.stages]);
      for (uint32_t i = 0; i < p.stages; ++i) EXPECT_LT(p.first_node[i], p.first_node[i + 1]);
    }
  }
}

}  // namespace wavefront_plan_test
