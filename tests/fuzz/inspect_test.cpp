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

// x -> a -> loop: [before -> sum, with a -> two more, the state's next] -> of before.
TEST(Inspect, ShowsLoopsAndWhatLivesAsLongAsThey) {
  rnnp_test::BlobBuilder b(1);
  const rnnp::AttrUnary tanh = {{uint32_t(rnnp::Act::kTanh), 0, 0}};
  const rnnp::AttrBinary add = {uint32_t(rnnp::Binary::kAdd), 1, {16}, {1}, {1}};
  const auto bend = [&](uint32_t x) { return b.add_node(rnnp::OpKind::kUnary, &tanh, sizeof tanh, {x}, 16, true); };
  uint32_t state;
  const uint32_t a = bend(b.add_input(16));
  b.begin_loop();
  const uint32_t before = b.add_state_read(16, &state);
  b.add_state_write(state, bend(bend(b.add_node(rnnp::OpKind::kBinary, &add, sizeof add, {before, a}, 16, true))));
  b.end_loop();
  b.add_output(bend(before));
  const std::string text = inspect_blob(b.build());
  const auto shows = [&](const std::string &what) { return text.find(what) != std::string::npos; };
  EXPECT_TRUE(shows("causal: may run in pieces, its loops step by step\n"));
  EXPECT_TRUE(shows("state 0, a loop of 5 nodes)\n"));
  EXPECT_TRUE(shows("\n  unary       node0 ") && shows("\n  | state_read  node1 ") && shows("\n  | state_write node5 ") &&
              shows("\n  unary       node6 "));
  EXPECT_TRUE(shows("value 1    nodes 0 .. 5\n")) << "a, to the loop's end";
  EXPECT_TRUE(shows("value 2    nodes 1 .. 6\n")) << "before, which leaves it";
  EXPECT_TRUE(shows("value 4    nodes 3 .. 4\n")) << "inside";
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
