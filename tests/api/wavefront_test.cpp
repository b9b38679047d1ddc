// wavefront_test.cpp -- stacked layers as a wavefront: the bits of one thread, for every length, cut, batch and kind of buffer.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "support/session_fixture.h"

namespace rnnp_test {
namespace wavefront_test {

using rnnp::Act;
using rnnp::Cell;

constexpr uint32_t kIn = 5, kHidden = 12, kOut = 7;

// Three small layers and a dense one, with the last one's final state as a second output.
std::vector<uint8_t> stack() {
  BlobBuilder b(42);
  RecurrentOptions lstm, gru, linear;
  lstm.hidden = gru.hidden = linear.hidden = kHidden;
  gru.cell = Cell::kGru;
  linear.cell = Cell::kGruLinear;
  uint32_t final_state = 0;
  uint32_t v = b.add_recurrent(b.add_input(kIn), kIn, lstm);
  v = b.add_recurrent(v, kHidden, gru);
  v = b.add_recurrent(v, kHidden, linear, &final_state);
  b.add_output(b.add_dense(v, kHidden, kOut, Act::kTanh));
  b.add_output(final_state, "h");
  return b.build();
}

class Session {
 public:
  Session(const std::vector<uint8_t> &blob, uint32_t batch, uint32_t threads, uint32_t chunk = 0) : blob_(blob), team_(threads) {
    expect_ok(rnnp_model_open(&model_, blob_.data(), blob_.size(), 0), "open");
    rnnp_session_options o;
    rnnp_session_options_init(&o, sizeof o);
    o.max_batch = batch;
    o.chunk_steps = chunk;
    if (threads > 1) o.executor = team_.executor();
    rnnp_memory memory = RNNP_MEMORY_INIT;
    expect_ok(rnnp_session_memory(&model_, &o, &memory), "memory");
    storage_ = AlignedBytes(memory.session_bytes);
    std::memset(storage_.data(), 0xA5, storage_.size());
    expect_ok(rnnp_session_init(&session_, &model_, &o, storage_.data(), storage_.size()), "init");
    facts_.struct_bytes = sizeof facts_;
    expect_ok(rnnp_session_get_info(session_, &facts_), "info");
  }
  const rnnp_session_info &facts() const { return facts_; }

  // All outputs of one call; `pad` floats lie between rows of x and of y, so that they are staged.
  std::vector<float> run(const std::vector<float> &x, uint32_t batch, size_t pad, const int32_t *lengths) {
    const size_t steps = x.size() / (kIn * batch);
    std::vector<float> wide(steps * batch * (kIn + pad)), y(steps * batch * (kOut + pad), -7.0f), h(batch * kHidden, -7.0f);
    for (size_t r = 0; r < steps * batch; ++r) std::memcpy(&wide[r * (kIn + pad)], &x[r * kIn], kIn * sizeof(float));
    const size_t f = sizeof(float);
    const rnnp_const_buffer in = {wide.data(), (kIn + pad) * f * batch, (kIn + pad) * f};
    const rnnp_buffer out[2] = {{y.data(), (kOut + pad) * f * batch, (kOut + pad) * f}, {h.data(), 0, 0}};
    rnnp_io io = RNNP_IO_INIT;
    io.steps = steps;
    io.batch = batch;
    io.inputs = &in;
    io.input_count = 1;
    io.outputs = out;
    io.output_count = 2;
    io.lengths = lengths;
    expect_ok(rnnp_run_io(session_, &io), "run");
    y.insert(y.end(), h.begin(), h.end());
    return y;
  }

 private:
  AlignedBytes blob_, storage_;
  ThreadTeam team_;
  rnnp_model model_;
  rnnp_session *session_ = nullptr;
  rnnp_session_info facts_ = {};
};

TEST(ThreadedWavefront, IsChosenForSmallStackedLayers) {
  EXPECT_EQ(0u, Session(stack(), 1, 1).facts().wavefront_stages);
  EXPECT_EQ(2u, Session(stack(), 1, 2).facts().wavefront_stages);
  EXPECT_EQ(3u, Session(stack(), 1, 3).facts().wavefront_stages);
}

// One small layer neither is shared nor has a neighbour to run beside.
TEST(ThreadedWavefront, AModelTooSmallForThreadsSaysThatItHasOne) {
  BlobBuilder b(1);
  RecurrentOptions gru;
  gru.hidden = kHidden;
  b.add_output(b.add_recurrent(b.add_input(kIn), kIn, gru));
  const rnnp_session_info facts = Session(b.build(), 1, 2).facts();
  EXPECT_EQ(0u, facts.wavefront_stages);
  EXPECT_EQ(1u, facts.threads);
}

TEST(ThreadedWavefront, SameBitsAsOneThread) {
  const std::vector<uint8_t> blob = stack();
  for (uint32_t threads : {2u, 3u, 5u}) {
    for (uint32_t batch : {1u, 3u}) {
      for (uint32_t chunk : {0u, 3u}) {
        Session one(blob, batch, 1), many(blob, batch, threads, chunk);
        ASSERT_NE(0u, many.facts().wavefront_stages);
        const size_t long_enough = many.facts().wavefront_steps;
        // One after the other: a wavefront, single steps beside it, a wavefront that ends inside a chunk, and fewer rows.
        for (size_t steps : {long_enough, size_t{1}, long_enough * 3 + 1, long_enough - 1, size_t{200}}) {
          const std::vector<float> x = random_floats(steps * batch * kIn, static_cast<uint32_t>(steps));
          ASSERT_EQ(one.run(x, batch, 0, nullptr), many.run(x, batch, 0, nullptr)) << threads << " threads, " << steps << " steps";
          ASSERT_EQ(one.run(x, batch, 3, nullptr), many.run(x, batch, 3, nullptr)) << "staged";
        }
        const std::vector<float> x = random_floats(90 * kIn, 5);
        ASSERT_EQ(one.run(x, 1, 0, nullptr), many.run(x, 1, 0, nullptr)) << "fewer rows";
      }
    }
  }
}

TEST(ThreadedWavefront, RaggedRows) {
  const std::vector<uint8_t> blob = stack();
  Session one(blob, 3, 1), many(blob, 3, 2);
  const int32_t lengths[] = {70, 0, 33};
  for (int round = 0; round < 3; ++round) {
    const std::vector<float> x = random_floats(70 * 3 * kIn, static_cast<uint32_t>(round));
    ASSERT_EQ(one.run(x, 3, 0, lengths), many.run(x, 3, 0, lengths));
  }
}

}  // namespace wavefront_test
}  // namespace rnnp_test
