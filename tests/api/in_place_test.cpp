// in_place_test.cpp -- weights are used where the blob lies: read-only memory is enough, nothing of them is copied, and what is in
// the blob counts. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

#include "support/session_fixture.h"

namespace {

using namespace rnnp_test;

constexpr uint32_t kWidth = 128;

std::vector<uint8_t> wide_lstm() {
  BlobBuilder b(2);
  RecurrentOptions o;
  o.hidden = kWidth;
  b.add_output(b.add_recurrent(b.add_input(kWidth), kWidth, o));
  return b.build();
}

TEST(InPlace, SessionsAreMuchSmallerThanTheWeights) {
  const std::vector<uint8_t> blob = wide_lstm();
  const Runner r(blob, {1, 0, 1});
  EXPECT_LT(r.memory().session_bytes, blob.size() / 50);
}

TEST(InPlace, ReadOnlyMappedBlobRuns) {
  const std::vector<uint8_t> blob = wide_lstm();
  void *map = mmap(nullptr, blob.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(MAP_FAILED, map);
  std::memcpy(map, blob.data(), blob.size());
  ASSERT_EQ(0, mprotect(map, blob.size(), PROT_READ));
  rnnp_model model;
  rnnp_memory need = RNNP_MEMORY_INIT;
  rnnp_session *s = nullptr;
  ASSERT_EQ(RNNP_OK, rnnp_model_open(&model, map, blob.size(), RNNP_OPEN_CHECK_WEIGHTS));
  ASSERT_EQ(RNNP_OK, rnnp_session_memory(&model, nullptr, &need));
  AlignedBytes memory(need.session_bytes);
  ASSERT_EQ(RNNP_OK, rnnp_session_init(&s, &model, nullptr, memory.data(), memory.size()));
  const std::vector<float> x = random_floats(kWidth, 1);
  std::vector<float> y(kWidth);
  ASSERT_EQ(RNNP_OK, rnnp_step(s, x.data(), y.data()));
  EXPECT_EQ(Runner(blob).run(x), y);
  munmap(map, blob.size());
}

TEST(InPlace, ChangedWeightsCountAtTheNextStep) {
  const std::vector<uint8_t> bytes = wide_lstm();
  AlignedBytes blob(bytes);
  rnnp_model model;
  rnnp_memory need = RNNP_MEMORY_INIT;
  rnnp_session *s = nullptr;
  ASSERT_EQ(RNNP_OK, rnnp_model_open(&model, blob.data(), blob.size(), 0));
  ASSERT_EQ(RNNP_OK, rnnp_session_memory(&model, nullptr, &need));
  AlignedBytes memory(need.session_bytes);
  ASSERT_EQ(RNNP_OK, rnnp_session_init(&s, &model, nullptr, memory.data(), memory.size()));
  const std::vector<float> x = random_floats(kWidth, 1);
  std::vector<float> before(kWidth), after(kWidth);
  ASSERT_EQ(RNNP_OK, rnnp_step(s, x.data(), before.data()));
  rnnp::BlobHeader h;
  std::memcpy(&h, blob.data(), sizeof h);
  std::memset(blob.data() + h.weights.offset, 0, h.weights.bytes);
  ASSERT_EQ(RNNP_OK, rnnp_state_reset(s, 0));
  ASSERT_EQ(RNNP_OK, rnnp_step(s, x.data(), after.data()));
  EXPECT_NE(before, after);
  EXPECT_EQ(std::vector<float>(kWidth), after);  // no weights: c and h stay 0
}

}  // namespace
