// default_memory_test.cpp -- a session of default options has the memory of a stream: little beside the weights, and no more than a
// longer chunk could gain from. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "support/session_fixture.h"

namespace rnnp_test {
namespace {

// A guitar amplifier's network: one sample in, LSTM, one sample out.
std::vector<uint8_t> amplifier(uint32_t hidden) {
  BlobBuilder b(1);
  RecurrentOptions lstm;
  lstm.hidden = hidden;
  b.add_output(b.add_dense(b.add_recurrent(b.add_input(1), 1, lstm), hidden, 1));
  return b.build();
}

size_t default_bytes(const std::vector<uint8_t> &bytes, uint32_t l2_bytes) {
  const AlignedBytes blob(bytes);
  rnnp_model model;
  rnnp_memory need = RNNP_MEMORY_INIT;
  rnnp_session_options options = RNNP_SESSION_OPTIONS_INIT;
  options.l1d_bytes = 32 << 10;
  options.l2_bytes = l2_bytes;
  options.l3_bytes = 32 << 20;
  expect_ok(rnnp_model_open(&model, blob.data(), blob.size(), 0), "open");
  expect_ok(rnnp_session_memory(&model, &options, &need), "memory");
  return need.session_bytes;
}

TEST(DefaultMemory, AnAmplifiersSessionIsSmall) {
  for (const uint32_t hidden : {8u, 16u, 24u}) {
    for (const uint32_t l2 : {256u << 10, 1u << 20, 16u << 20})
      EXPECT_LE(default_bytes(amplifier(hidden), l2), 40u << 10) << hidden;
  }
}

TEST(DefaultMemory, WeightsThatStayNearNeedNoLongChunk) {
  const std::vector<uint8_t> blob = amplifier(96);
  EXPECT_LT(default_bytes(blob, 1 << 20), default_bytes(blob, 64 << 10));
  EXPECT_LT(default_bytes(blob, 1 << 20), blob.size());
}

TEST(DefaultMemory, ResultsDoNotDependOnTheChunk) {
  for (const uint32_t hidden : {16u, 96u}) {
    const std::vector<uint8_t> blob = amplifier(hidden);
    const std::vector<float> x = random_floats(480, 7);
    const std::vector<float> want = Runner(blob).run(x);
    for (const uint32_t chunk : {1u, 7u, 64u, 128u, 1000u}) EXPECT_EQ(want, Runner(blob, {1, 0, chunk}).run(x)) << chunk;
  }
}

}  // namespace
}  // namespace rnnp_test
