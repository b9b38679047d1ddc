// trace_test.cpp -- begin and end of every node of a call, in order on each thread; the same results; nothing once it is taken
// away. SPDX-License-Identifier: Apache-2.0
#include "rnnpack/trace.h"

#include <gtest/gtest.h>

#include "support/session_fixture.h"

namespace rnnp_test {
namespace trace_test {

constexpr uint32_t kIn = 5, kHidden = 12, kOut = 7, kMostThreads = 4;

std::vector<uint8_t> three_layers() {
  BlobBuilder b(77);
  RecurrentOptions lstm, gru;
  lstm.hidden = gru.hidden = kHidden;
  gru.cell = rnnp::Cell::kGru;
  uint32_t v = b.add_recurrent(b.add_input(kIn), kIn, lstm);
  v = b.add_recurrent(v, kHidden, gru);
  b.add_output(b.add_dense(v, kHidden, kOut, rnnp::Act::kTanh));
  return b.build();
}

struct Event {
  bool begins;
  rnnp_trace_event of;
};

// What each thread was told.
struct Told {
  std::vector<Event> events[kMostThreads];

  static void begin(void *ctx, const rnnp_trace_event *event) {
    static_cast<Told *>(ctx)->events[event->thread].push_back({true, *event});
  }
  static void end(void *ctx, const rnnp_trace_event *event) {
    static_cast<Told *>(ctx)->events[event->thread].push_back({false, *event});
  }
  rnnp_trace trace() { return {sizeof(rnnp_trace), this, begin, end}; }
};

class TracedSession {
 public:
  explicit TracedSession(uint32_t threads, uint32_t batch = 1) : blob_(three_layers()), team_(threads) {
    expect_ok(rnnp_model_open(&model_, blob_.data(), blob_.size(), 0), "open");
    rnnp_session_options o = RNNP_SESSION_OPTIONS_INIT;
    o.max_batch = batch;
    o.chunk_steps = 4;
    o.flags = RNNP_SESSION_ALL_THREADS;
    if (threads > 1) o.executor = team_.executor();
    rnnp_memory memory = RNNP_MEMORY_INIT;
    expect_ok(rnnp_session_memory(&model_, &o, &memory), "memory");
    storage_ = AlignedBytes(memory.session_bytes);
    expect_ok(rnnp_session_init(&session_, &model_, &o, storage_.data(), storage_.size()), "init");
  }
  rnnp_session *get() const { return session_; }

  std::vector<float> run(size_t steps) {
    std::vector<float> x(steps * kIn), y(steps * kOut);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 11) * 0.1f - 0.5f;
    expect_ok(rnnp_run(session_, steps, x.data(), y.data()), "run");
    return y;
  }

 private:
  AlignedBytes blob_, storage_;
  ThreadTeam team_;
  rnnp_model model_;
  rnnp_session *session_ = nullptr;
};

class Trace : public testing::TestWithParam<uint32_t> {};

TEST_P(Trace, TellsBeginAndEndOfEveryNodeOfEveryChunkAndChangesNoBit) {
  TracedSession plain(GetParam()), traced(GetParam());
  Told told;
  const rnnp_trace trace = told.trace();
  expect_ok(rnnp_session_set_trace(traced.get(), &trace), "trace");
  EXPECT_EQ(plain.run(10), traced.run(10));
  for (uint32_t thread = 0; thread < GetParam(); ++thread) {
    const std::vector<Event> &events = told.events[thread];
    ASSERT_EQ(events.size(), 3u * 3 * 2) << "thread " << thread;  // chunks of 4, 4 and 2 steps
    for (size_t i = 0; i < events.size(); ++i) {
      const rnnp_trace_event &of = events[i].of;
      EXPECT_EQ(events[i].begins, i % 2 == 0);
      EXPECT_EQ(of.node, i / 2 % 3);
      EXPECT_EQ(of.first_step, i / 6 * 4);
      EXPECT_EQ(of.steps, i / 6 == 2 ? 2u : 4u);
      EXPECT_EQ(of.batch, 1u);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Threaded, Trace, testing::Values(1u, 3u));

TEST(TraceOfSteps, IsThatOfTheFastPathAndEndsWhenItIsTakenAway) {
  TracedSession plain(1), traced(1);
  Told told;
  const rnnp_trace trace = told.trace();
  expect_ok(rnnp_session_set_trace(traced.get(), &trace), "trace");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(plain.run(1), traced.run(1));
  EXPECT_EQ(told.events[0].size(), 3u * 3 * 2);
  expect_ok(rnnp_session_set_trace(traced.get(), nullptr), "no trace");
  EXPECT_EQ(plain.run(1), traced.run(1));
  EXPECT_EQ(plain.run(9), traced.run(9));
  EXPECT_EQ(told.events[0].size(), 3u * 3 * 2);
}

TEST(TraceOfSteps, RowsThatMovedComeBackFirst) {
  TracedSession plain(1, 2), traced(1, 2);
  Told told;
  const rnnp_trace trace = told.trace();
  expect_ok(rnnp_session_set_trace(traced.get(), &trace), "trace");
  const float x[2 * kIn] = {0.5f, -0.25f, 0.125f, 1, -1, 0.75f, -0.5f, 0.25f, -0.125f, 0.0625f};
  for (TracedSession *of : {&plain, &traced}) {
    float y[kOut];
    const rnnp_const_buffer in = {x, 0, 0};
    const rnnp_buffer out = {y, 0, 0};
    const uint32_t row = 1;
    rnnp_io io = RNNP_IO_INIT;
    io.steps = io.batch = io.input_count = io.output_count = 1;
    io.inputs = &in;
    io.outputs = &out;
    io.rows = &row;
    expect_ok(rnnp_run_io(of->get(), &io), "one row");
  }
  float want[2 * kOut], y[2 * kOut];
  expect_ok(rnnp_step(plain.get(), x, want), "step");
  expect_ok(rnnp_step(traced.get(), x, y), "step");
  EXPECT_EQ(std::vector<float>(want, want + 2 * kOut), std::vector<float>(y, y + 2 * kOut));
}

TEST(TraceOfSteps, NeedsBothFunctions) {
  TracedSession session(1);
  Told told;
  rnnp_trace trace = told.trace();
  trace.end = nullptr;
  EXPECT_EQ(rnnp_session_set_trace(session.get(), &trace), RNNP_E_ARG);
  trace = told.trace();
  trace.begin = nullptr;
  EXPECT_EQ(rnnp_session_set_trace(session.get(), &trace), RNNP_E_ARG);
  trace = told.trace();
  trace.struct_bytes = 8;
  EXPECT_EQ(rnnp_session_set_trace(session.get(), &trace), RNNP_E_ARG);
  EXPECT_EQ(rnnp_session_set_trace(nullptr, nullptr), RNNP_E_ARG);
}

}  // namespace trace_test
}  // namespace rnnp_test
