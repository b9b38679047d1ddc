// random_walk_test.cpp -- thousands of random walks over the API, on random models, one to four threads; RNNPACK_WALKS=N takes N on
// each number of threads, from RNNPACK_WALK_SEED on. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>

#include "support/plain_sessions.h"
#include "support/random_model.h"

namespace {

using namespace rnnp_test;

constexpr uint32_t kCalls = 10, kWalksPerModel = 4;
#if defined(RNNPACK_SANITIZED)
constexpr uint32_t kWalks = 160;
#else
constexpr uint32_t kWalks = 1600;
#endif

uint32_t number_from(const char *name, uint32_t otherwise) {
  const char *text = std::getenv(name);
  return text != nullptr ? static_cast<uint32_t>(std::strtoul(text, nullptr, 10)) : otherwise;
}

class Walks : public testing::TestWithParam<uint32_t> {};

void walk(uint32_t threads, uint32_t walks) {
  const uint32_t first = number_from("RNNPACK_WALK_SEED", 1);
  ThreadTeam team(threads);
  for (uint32_t i = 0; i < walks; i += kWalksPerModel) {
    const uint32_t seed = first + i + threads * 1000003;
    const AlignedBytes blob(random_model(seed));
    rnnp_model model;
    ASSERT_EQ(RNNP_OK, rnnp_model_open(&model, blob.data(), blob.size(), 0)) << "model " << seed;
    for (uint32_t k = 0; k < kWalksPerModel; ++k) {
      ASSERT_EQ("", walk_beside_plain(&model, seed + k, threads > 1 ? &team : nullptr, kCalls))
          << "model " << seed << ", walk " << seed + k << ", " << threads << " threads";
    }
  }
}

TEST_P(Walks, GiveTheBitsOfPlainSessions) {
  const uint32_t threads = GetParam();  // more of them take longer
  walk(threads, number_from("RNNPACK_WALKS", kWalks / threads));
}

INSTANTIATE_TEST_SUITE_P(Threaded, Walks, testing::Range(1u, 5u), [](const auto &p) { return "On" + std::to_string(p.param); });

}  // namespace
