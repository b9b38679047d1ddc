// inspect_test.cpp -- `inspect` shows every blob that opens, and says what it does not know. inspect_test --write FOLDER leaves
// such blobs for the second reader (tests/compiler/read_blob.py) to be compared on. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdio>
#include <set>
#include <string>

#include "generated_blob.h"
#include "inspect_blob.h"
#include "support/blob_builder.h"

namespace {

using namespace rnnp_fuzz;
using rnnp_test::BlobTables;

BlobTables generated(uint64_t seed, bool malformed) {
  ByteSource choices(seed);
  BlobTables tables = generated_blob(&choices);
  if (malformed) corrupt(&tables, &choices);
  return tables;
}

TEST(Inspect, ShowsEveryBlobThatOpens) {
  uint32_t shown = 0;
  for (uint64_t seed = 1; seed <= 1500; ++seed) shown += !inspect_blob(generated(seed, seed % 4 != 0).bytes()).empty();
  EXPECT_GT(shown, 500u);
}

TEST(Inspect, SaysThatAnOperatorIsUnknown) {
  for (const uint32_t op : {0u, 77u, 99u, 0xffffffffu}) {
    BlobTables t = generated(4, false);
    ASSERT_FALSE(t.nodes.empty());
    t.nodes[0].op = op;
    t.nodes[0].input_count = 0;  // no operand that only the old operator may have
    const std::string text = inspect_blob(t.bytes());
    EXPECT_NE(std::string::npos, text.find("unknown " + std::to_string(op))) << op;
    EXPECT_NE(std::string::npos, text.find("bytes of attributes that this tool does not know")) << op;
  }
}

TEST(Inspect, SaysThatAttributesAreTooShort) {
  std::set<uint32_t> seen;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    const BlobTables whole = generated(seed, false);
    for (size_t i = 0; i < whole.nodes.size(); ++i) {
      BlobTables t = whole;
      t.nodes[i].attr_bytes = static_cast<uint32_t>(seed % 4);
      const std::string text = inspect_blob(t.bytes());
      ASSERT_NE(std::string::npos, text.find("bytes of attributes that this tool does not know")) << t.nodes[i].op;
      seen.insert(t.nodes[i].op);
    }
  }
  EXPECT_EQ(19u, seen.size());
}

TEST(Inspect, ShowsNamesThatAreNoText) {
  BlobTables t = generated(4, false);
  t.inputs[0].name = t.add_string("a\xff\xc3(z");
  EXPECT_NE(std::string::npos, inspect_blob(t.bytes()).find("a?"
                                                            "?(z"));
}

int write_blobs(const std::string &folder) {
  uint32_t written = 0;
  for (uint64_t seed = 1; written < 60; ++seed) {
    BlobTables t = generated(seed, seed % 4 != 0);
    if (seed % 8 == 1 && !t.nodes.empty()) t.nodes[0].attr_bytes = 0;
    const std::vector<uint8_t> bytes = t.bytes();
    if (inspect_blob(bytes).empty()) continue;
    std::FILE *f = std::fopen((folder + "/blob" + std::to_string(written++) + ".rnnp").c_str(), "wb");
    if (f == nullptr || std::fwrite(bytes.data(), 1, bytes.size(), f) != bytes.size() || std::fclose(f) != 0) return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc == 3 && std::string(argv[1]) == "--write") return write_blobs(argv[2]);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
