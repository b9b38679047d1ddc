// random_graphs_test.cpp -- three hundred graphs of random_graph.h, each compared with the f64 evaluation. A failing one prints its
// seed and nodes; RNNPACK_RANDOM_SEED=n runs that one alone, RNNPACK_RANDOM_COUNT=n as many. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "compiler/import/builder.h"
#include "random_graph.h"

namespace rnnp::testing_support {
namespace {

struct Tally {
  int accepted = 0, refused = 0;
  std::string reason;
};
using Tallies = std::map<std::string, Tally>;

onnx::ModelProto with_outputs(const RandomGraph &graph, const std::vector<std::string> &names) {
  OnnxBuilder out = graph.b;
  for (const std::string &name : names) out.output(name);
  return out.proto;
}

// A recurrent layer first, which says what is time and what is batch; then moves, of which those refused are taken back.
RandomGraph grown(uint32_t seed, Tallies *tallies) {
  static const std::vector<int64_t> kOpsets = {11, 13, 17, 18, 20, 21, 22};
  static const std::vector<RandomMove> kMoves = random_moves();
  RandomGraph graph(seed, kOpsets[seed % kOpsets.size()]);
  const int64_t features = 2 + graph.below(6);
  graph.b.input("X", {"T", "N", features});
  graph.keep({"X", {{Role::kTime, 0}, {Role::kBatch, 0}, {Role::kFeature, features}}, 4, true});
  graph.b.weights("first", 3, 1, features, 4);
  graph.b.node("GRU", {"X", "firstW", "firstR", "firstB"}, {"firstY"}).with("hidden_size", 4);
  graph.keep({"firstY", {{Role::kTime, 0}, {Role::kFeature, 1}, {Role::kBatch, 0}, {Role::kFeature, 4}}, 1, false});
  if (graph.below(4) == 0) {
    graph.b.input("R", {"N", 3});
    graph.keep({"R", {{Role::kBatch, 0}, {Role::kFeature, 3}}, 4, true});
  }
  const int64_t moves = 3 + graph.below(8);
  for (int64_t done = 0, tries = 0; done < moves && tries < 60; ++tries) {
    const RandomMove &move = graph.one_of(kMoves);
    if (graph.opset < move.since || !compiler::find_import(move.op)) continue;
    const onnx::ModelProto before = graph.b.proto;
    const std::vector<RandomValue> values = graph.values;
    if (!move.grow(graph, move.op)) {
      graph.b.proto = before;
      continue;
    }
    const std::string refusal = refusal_of(with_outputs(graph, {"firstY", graph.values.back().name}));
    Tally &tally = (*tallies)[move.op];
    if (refusal.empty()) {
      ++tally.accepted;
      ++done;
      continue;
    }
    EXPECT_NE(refusal.find("'"), std::string::npos) << refusal;
    ++tally.refused;
    tally.reason = refusal.substr(0, refusal.find('\n'));
    graph.b.proto = before;
    graph.values = values;
  }
  return graph;
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

TEST(RandomGraphs, LikeTheF64Evaluation) {
  const uint32_t one = from_environment("RNNPACK_RANDOM_SEED", 0);
  const uint32_t last = one ? one : from_environment("RNNPACK_RANDOM_COUNT", 300);
  Tallies tallies;
  for (uint32_t seed = one ? one : 1; seed <= last; ++seed) {
    RandomGraph graph = grown(seed, &tallies);
    const auto proto = with_outputs(graph, some_outputs(&graph));
    const auto failures = [] { return ::testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count(); };
    const int before = failures();
    check_against_f64(proto, {}, {}, 2e-4);
    if (failures() != before) std::printf("seed %u, %s", seed, graph.text().c_str());
  }
  for (const auto &row : tallies) {
    std::printf("%-24s accepted %4d refused %4d %s\n", row.first.c_str(), row.second.accepted, row.second.refused,
                row.second.reason.c_str());
    if (!one) {
      EXPECT_GT(row.second.accepted, 0) << row.first << " is claimed, but never accepted: " << row.second.reason;
    }
  }
}

TEST(RandomGraphs, EveryUnsupportedNodeIsNamed) {
  Tallies tallies;
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    RandomGraph graph = grown(seed, &tallies);
    const int64_t count = 1 + graph.below(5);
    for (int64_t i = 0; i < count; ++i) {
      const std::string mark = std::to_string(i);
      graph.b.node("Unheard" + mark, {graph.any().name}, {"u" + mark}, "node" + mark);
      graph.b.node("Relu", {"u" + mark}, {"behind" + mark});
    }
    const std::string refusal = refusal_of(with_outputs(graph, {"firstY", "behind0"}));
    for (int64_t i = 0; i < count; ++i) {
      EXPECT_NE(refusal.find("'node" + std::to_string(i) + "' (Unheard" + std::to_string(i) + ")"), std::string::npos) << refusal;
    }
    EXPECT_EQ(refusal.find("Relu"), std::string::npos) << refusal;
    EXPECT_EQ(std::count(refusal.begin(), refusal.end(), '\n') + 1, count) << refusal;
  }
}

}  // namespace
}  // namespace rnnp::testing_support
