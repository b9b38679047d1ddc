// random_api_test.cpp -- the fuzzers' walks from fixed seeds, for builds without libFuzzer: under ASan, UBSan, TSan, and with guard
// pages alone. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "generated_blob.h"
#include "random_api.h"

namespace {

using namespace rnnp_fuzz;

struct Counts {
  uint64_t walks = 0, opened = 0, made = 0, ran = 0;
  void add(const Walked &w) {
    ++walks;
    opened += w.opened;
    made += w.made;
    ran += w.ran != 0;
  }
};

// RNNPACK_BLOB_WALKS=N takes N times as many, of other seeds than a run with another N.
uint64_t times() {
  const char *text = std::getenv("RNNPACK_BLOB_WALKS");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 1;
}

bool has_loop(const rnnp_test::BlobTables &tables) {
  return std::any_of(tables.nodes.begin(), tables.nodes.end(), [&](const rnnp::BlobNode &node) {
    return node.op == uint32_t(rnnp::OpKind::kStateRead) && node.attr_bytes == sizeof(rnnp::AttrLoop) &&
           tables.attr<rnnp::AttrLoop>(node).nodes != 0;
  });
}

Counts random_api_seeds(uint64_t first, uint64_t count, bool malformed, bool threads) {
  Counts counts;
  first += times() << 32;
  count *= times();
  for (uint64_t seed = first; seed < first + count; ++seed) {
    ByteSource choices(seed);
    rnnp_test::BlobTables tables = generated_blob(&choices);
    if (malformed) corrupt(&tables, &choices);
    counts.add(walk(tables.bytes(), &choices, threads));
  }
  return counts;
}

TEST(Walks, GeneratedBlobsOpenAndRun) {
  const Counts c = random_api_seeds(1, 4000, false, false);
  EXPECT_GT(c.opened, c.walks * 99 / 100);
  EXPECT_GT(c.made, c.walks * 7 / 10);
  EXPECT_GT(c.ran, c.walks / 2);
}

TEST(Walks, GeneratedLoopsOpenAndRun) {
  Counts c;
  for (uint64_t seed = 1; c.walks < 400; ++seed) {
    ByteSource choices(seed);
    const rnnp_test::BlobTables tables = generated_blob(&choices);
    if (has_loop(tables)) c.add(walk(tables.bytes(), &choices, false));
  }
  EXPECT_GT(c.made, c.walks * 7 / 10);
  EXPECT_GT(c.ran, c.walks / 2);
}

TEST(Walks, MalformedBlobsGiveStatuses) {
  const Counts c = random_api_seeds(100001, 8000, true, false);
  EXPECT_GT(c.opened, c.walks / 8);
  EXPECT_GT(c.ran, 0u);
}

TEST(Walks, ThreadsSynchronizeOnAnyBlob) {
  EXPECT_GT(random_api_seeds(200001, 3000, false, true).ran, 1500 * times());
  EXPECT_GT(random_api_seeds(300001, 3000, true, true).opened, 300 * times());
}

}  // namespace
