// model_test.cpp -- what is asked of a model, and that a model may be copied, moved or dropped.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "support/blob_tables.h"
#include "support/session_fixture.h"

namespace rnnp_test {
namespace model_test {

std::vector<uint8_t> two_inputs() {
  BlobBuilder b(1);
  const uint32_t a = b.add_input(4, "first"), c = b.add_input(4, "first again");
  const rnnp::AttrBinary add = {uint32_t(rnnp::Binary::kAdd), 1, {4}, {1}, {1}};
  const uint32_t sum = b.add_node(rnnp::OpKind::kBinary, &add, sizeof add, {a, c}, 4, true);
  b.add_output(sum, "sum");
  b.add_output(b.add_dense(sum, 4, 2), "dense");
  return b.build();
}

struct Open {
  AlignedBytes blob;
  rnnp_model model;
  explicit Open(const std::vector<uint8_t> &bytes) : blob(bytes) {
    expect_ok(rnnp_model_open(&model, blob.data(), blob.size(), 0), "open");
  }
};

TEST(Model, FindsInputsAndOutputsByTheirNames) {
  const Open m(two_inputs());
  uint32_t index = 77;
  EXPECT_EQ(RNNP_OK, rnnp_model_find_input(&m.model, "first again", &index));
  EXPECT_EQ(1u, index);
  EXPECT_EQ(RNNP_OK, rnnp_model_find_input(&m.model, "first", &index));
  EXPECT_EQ(0u, index);
  EXPECT_EQ(RNNP_OK, rnnp_model_find_output(&m.model, "dense", &index));
  EXPECT_EQ(1u, index);
  for (const char *name : {"", "firs", "first ", "sum", "FIRST"}) {
    EXPECT_EQ(RNNP_E_ARG, rnnp_model_find_input(&m.model, name, &index)) << name;
    EXPECT_EQ(1u, index);
  }
  EXPECT_EQ(RNNP_E_ARG, rnnp_model_find_output(&m.model, "first", &index));
  EXPECT_EQ(RNNP_E_ARG, rnnp_model_find_input(&m.model, nullptr, &index));
  EXPECT_EQ(RNNP_E_ARG, rnnp_model_find_input(&m.model, "first", nullptr));
  EXPECT_EQ(RNNP_E_ARG, rnnp_model_find_input(nullptr, "first", &index));
}

// A blob with this list of metadata, byte by byte, in the place of the strings' end.
std::vector<uint8_t> with_metadata(const std::string &list) {
  BlobTables t(two_inputs());
  t.header.metadata = static_cast<uint32_t>(t.strings.size());
  t.strings.insert(t.strings.end(), list.begin(), list.end());
  return t.bytes();
}

rnnp_status status_of(const std::vector<uint8_t> &bytes) {
  const AlignedBytes blob(bytes);
  rnnp_model model;
  return rnnp_model_open(&model, blob.data(), blob.size(), 0);
}

TEST(Metadata, IsFoundByKeyAndListed) {
  using namespace std::string_literals;
  const Open m(
      with_metadata("rate\0"
                    "16000\0labels\0\0rate\0again\0\0"s));
  EXPECT_STREQ("16000", rnnp_model_meta(&m.model, "rate"));
  EXPECT_STREQ("", rnnp_model_meta(&m.model, "labels"));
  for (const char *key : {"", "rat", "rates", "16000", "again"}) EXPECT_EQ(nullptr, rnnp_model_meta(&m.model, key)) << key;
  EXPECT_EQ(nullptr, rnnp_model_meta(&m.model, nullptr));
  EXPECT_EQ(nullptr, rnnp_model_meta(nullptr, "rate"));
  const char *key = nullptr, *value = nullptr;
  EXPECT_EQ(RNNP_OK, rnnp_model_get_meta(&m.model, 2, &key, &value));
  EXPECT_STREQ("rate", key);
  EXPECT_STREQ("again", value);
  EXPECT_EQ(RNNP_E_ARG, rnnp_model_get_meta(&m.model, 3, &key, &value));
  EXPECT_EQ(RNNP_E_ARG, rnnp_model_get_meta(&m.model, 0, nullptr, &value));
  EXPECT_EQ(RNNP_E_ARG, rnnp_model_get_meta(&m.model, 0, &key, nullptr));
  EXPECT_EQ(RNNP_E_ARG, rnnp_model_get_meta(nullptr, 0, &key, &value));
  EXPECT_STREQ("again", value);
  const Open none(two_inputs());
  EXPECT_EQ(nullptr, rnnp_model_meta(&none.model, ""));
  EXPECT_EQ(RNNP_E_ARG, rnnp_model_get_meta(&none.model, 0, &key, &value));
}

TEST(Metadata, ThatLeavesTheStringsDoesNotOpen) {
  using namespace std::string_literals;
  const size_t most = rnnp::kBlobMaxMetadataBytes;
  EXPECT_EQ(RNNP_OK, status_of(with_metadata("\0"s)));
  EXPECT_EQ(RNNP_OK, status_of(with_metadata("a\0"s + std::string(most - 4, 'b') + "\0\0"s)));
  EXPECT_EQ(RNNP_E_BLOB_CORRUPT, status_of(with_metadata("a\0"s + std::string(most - 3, 'b') + "\0\0"s)));
  for (const std::string &list : {""s, "a\0"s, "a\0b\0"s, "a\0b\0c\0"s})
    EXPECT_EQ(RNNP_E_BLOB_CORRUPT, status_of(with_metadata(list))) << list.size();
  BlobTables t(two_inputs());
  for (const uint32_t at : {static_cast<uint32_t>(t.strings.size()), 0x7fffffffu, rnnp::kNone}) {
    t.header.metadata = at;
    EXPECT_EQ(RNNP_E_BLOB_CORRUPT, status_of(t.bytes())) << at;
  }
}

TEST(Model, TwoRequiredInputsAreForRunIo) {
  Runner r(two_inputs());
  const std::vector<float> x(4);
  std::vector<float> y(4, -3.0f);
  EXPECT_EQ(RNNP_E_INPUTS, rnnp_run(r.session(), 1, x.data(), y.data()));
  EXPECT_EQ(RNNP_E_INPUTS, rnnp_step(r.session(), x.data(), y.data()));
  EXPECT_EQ(std::vector<float>(4, -3.0f), y);
  EXPECT_STRNE(rnnp_status_string(RNNP_E_INPUTS), rnnp_status_string(rnnp_status(-1000)));
}

TEST(Model, MayBeCopiedAndDroppedWhileSessionsRun) {
  BlobBuilder b(3);
  RecurrentOptions gru;
  gru.cell = rnnp::Cell::kGru;
  gru.initial_state = true;
  b.add_output(b.add_recurrent(b.add_input(8), 8, gru));
  const std::vector<uint8_t> bytes = b.build();
  const std::vector<float> x = random_floats(40 * 8, 2);
  const std::vector<float> want = Runner(bytes).run(x);

  Open m(bytes);
  rnnp_model copy = m.model;
  std::memset(static_cast<void *>(&m.model), 0xA5, sizeof m.model);
  Runner r(&copy);
  std::memset(static_cast<void *>(&copy), 0xA5, sizeof copy);
  EXPECT_EQ(want, r.run(x));
  EXPECT_EQ(RNNP_OK, rnnp_state_reset(r.session(), 0));
  r.load(0, r.save(0));
  EXPECT_EQ(want, r.run(x, 1));
  rnnp_model_info facts = RNNP_MODEL_INFO_INIT;
  EXPECT_EQ(RNNP_E_ARG, rnnp_model_get_info(&copy, &facts));
}

}  // namespace model_test
}  // namespace rnnp_test
