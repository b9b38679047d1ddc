// random_graphs_test.cpp -- three hundred graphs of random_graph.h, each compared with the f64 evaluation. A failing one prints its
// seed and nodes; RNNPACK_RANDOM_SEED=n runs that one alone, RNNPACK_RANDOM_COUNT=n as many in each part.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "random_graph.h"

namespace rnnp::testing_support {
namespace {

struct Tally {
  int accepted = 0, refused = 0;
  std::string reason;
};
using Tallies = std::map<std::string, Tally>;

RandomGraph counted(uint32_t seed, Tallies *tallies) {
  return generated_graph(seed, [&](const char *op, const std::string &refusal) {
    Tally &tally = (*tallies)[op];
    if (refusal.empty()) {
      ++tally.accepted;
      return;
    }
    EXPECT_NE(refusal.find('\''), std::string::npos) << refusal;
    ++tally.refused;
    tally.reason = refusal.substr(0, refusal.find('\n'));
  });
}

std::vector<std::string> some_outputs(RandomGraph *graph) {
  std::vector<std::string> names = {"firstY", graph->values.back().name};
  const std::string other = graph->any().name;
  if (other != "X" && other != "R") names.push_back(other);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  names.erase(std::remove_if(names.begin(), names.end(), [](const std::string &name) { return name == "X" || name == "R"; }),
              names.end());
  return names;
}

uint32_t from_environment(const char *name, uint32_t otherwise) {
  const char *text = std::getenv(name);
  return text ? static_cast<uint32_t>(std::strtoul(text, nullptr, 10)) : otherwise;
}

int failures() {
  return testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count();
}

void check_graph(uint32_t seed) {
  RandomGraph graph = generated_graph(seed);
  const auto proto = graph.with_outputs(some_outputs(&graph));
  const int before = failures();
  check_against_f64(proto, {}, {}, 2e-4);
  if (failures() != before) std::printf("seed %u, %s", seed, graph.text().c_str());
}

class RandomGraphs : public testing::TestWithParam<uint32_t> {};

TEST_P(RandomGraphs, LikeTheF64Evaluation) {
  if (const uint32_t one = from_environment("RNNPACK_RANDOM_SEED", 0)) return check_graph(one);
  const uint32_t count = from_environment("RNNPACK_RANDOM_COUNT", 50);
  for (uint32_t i = 0; i < count; ++i) check_graph(1 + GetParam() * count + i);
}
INSTANTIATE_TEST_SUITE_P(Part, RandomGraphs, testing::Range(0u, 6u));

TEST(RandomGraphClaims, EveryOperatorClaimedIsAcceptedSomewhere) {
  Tallies tallies;
  for (uint32_t seed = 1; seed <= 400; ++seed) counted(seed, &tallies);
  for (const auto &row : tallies) {
    std::printf("%-24s accepted %4d refused %4d %s\n", row.first.c_str(), row.second.accepted, row.second.refused,
                row.second.reason.c_str());
    EXPECT_GT(row.second.accepted, 0) << row.first << " is claimed, but never accepted: " << row.second.reason;
  }
}

TEST(RandomGraphRefusals, EveryUnsupportedNodeIsNamed) {
  Tallies tallies;
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    RandomGraph graph = counted(seed, &tallies);
    const int64_t count = 1 + graph.below(5);
    for (int64_t i = 0; i < count; ++i) {
      const std::string mark = std::to_string(i);
      graph.b.node("Unheard" + mark, {graph.any().name}, {"u" + mark}, "node" + mark);
      graph.b.node("Relu", {"u" + mark}, {"behind" + mark});
    }
    const std::string refusal = refusal_of(graph.with_outputs({"firstY", "behind0"}));
    for (int64_t i = 0; i < count; ++i) {
      EXPECT_NE(refusal.find("'node" + std::to_string(i) + "' (Unheard" + std::to_string(i) + ")"), std::string::npos) << refusal;
    }
    EXPECT_EQ(refusal.find("Relu"), std::string::npos) << refusal;
    EXPECT_EQ(std::count(refusal.begin(), refusal.end(), '\n') + 1, count) << refusal;
  }
}

}  // namespace
}  // namespace rnnp::testing_support
