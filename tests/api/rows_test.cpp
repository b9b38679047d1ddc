// rows_test.cpp -- streams side by side: any set of a session's rows runs in a call, with the bits of each stream running alone;
// the others keep their state. Rows join, leave, are reset, saved and loaded between calls. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "support/session_fixture.h"

namespace rows_test {

using namespace rnnp_test;

constexpr uint32_t kInput = 7, kOutput = 3;

// Every kind of state: h and c, two buffers and one.
std::vector<uint8_t> model() {
  BlobBuilder b(11);
  const uint32_t x = b.add_input(kInput);
  RecurrentOptions lstm, gru;
  lstm.hidden = 20;
  gru.cell = rnnp::Cell::kGru;
  gru.hidden = 5;
  gru.initial_state = true;
  const uint32_t h = b.add_recurrent(b.add_recurrent(x, kInput, lstm), 20, gru);
  uint32_t state;
  const uint32_t before = b.add_state_read(5, &state);
  const rnnp::AttrBinary add = {uint32_t(rnnp::Binary::kAdd), 1, {5}, {1}, {1}};
  const uint32_t after = b.add_node(rnnp::OpKind::kBinary, &add, sizeof add, {before, h}, 5, true);
  b.add_state_write(state, after);
  b.add_output(b.add_dense(after, 5, kOutput, rnnp::Act::kTanh));
  return b.build();
}

rnnp_status run_rows(rnnp_session *session, const std::vector<uint32_t> *rows, uint32_t batch, size_t steps,
                     const std::vector<float> &x, std::vector<float> *y, size_t io_bytes = sizeof(rnnp_io)) {
  y->assign(steps * batch * kOutput, -5.0f);
  rnnp_const_buffer in = {x.data(), 0, 0};
  rnnp_buffer out = {y->data(), 0, 0};
  rnnp_io io = RNNP_IO_INIT;
  io.struct_bytes = static_cast<uint32_t>(io_bytes);
  io.steps = steps;
  io.batch = batch;
  io.input_count = io.output_count = 1;
  io.inputs = &in;
  io.outputs = &out;
  io.rows = rows != nullptr ? rows->data() : nullptr;
  return rnnp_run_io(session, &io);
}

// Streams are sequences of random input; `at` is how far each has come.
struct Streams {
  std::vector<std::vector<float>> x, y;
  std::vector<size_t> at;

  Streams(size_t count, size_t steps) : at(count, 0) {
    for (size_t i = 0; i < count; ++i) {
      x.push_back(random_floats(steps * kInput, static_cast<uint32_t>(i) + 40));
      Runner alone(model());
      y.push_back(alone.run(x.back()));
    }
  }

  // The streams in `who` go on by `steps`, in the session's rows `rows`. Where the library is wrong they stay where they are.
  testing::AssertionResult advance(Runner *runner, const std::vector<uint32_t> &who, const std::vector<uint32_t> *rows,
                                   size_t steps) {
    const size_t n = who.size();
    std::vector<float> in(steps * n * kInput), out;
    for (size_t t = 0; t < steps; ++t)
      for (size_t i = 0; i < n; ++i)
        std::copy_n(x[who[i]].data() + (at[who[i]] + t) * kInput, kInput, in.data() + (t * n + i) * kInput);
    const rnnp_status status = run_rows(runner->session(), rows, static_cast<uint32_t>(n), steps, in, &out);
    if (status != RNNP_OK) return testing::AssertionFailure() << rnnp_status_string(status);
    for (size_t i = 0; i < n; ++i)
      for (size_t t = 0; t < steps; ++t)
        if (!same_bits({out.data() + (t * n + i) * kOutput, kOutput}, y[who[i]].data() + (at[who[i]] + t) * kOutput))
          return testing::AssertionFailure() << "stream " << who[i] << " step " << at[who[i]] + t;
    for (const uint32_t stream : who) at[stream] += steps;
    return testing::AssertionSuccess();
  }

  struct Span {
    const float *data;
    size_t count;
  };
  static bool same_bits(Span a, const float *b) { return std::memcmp(a.data, b, a.count * sizeof(float)) == 0; }
};

std::vector<uint32_t> shuffled(uint32_t of, uint32_t count, std::mt19937 *random) {
  std::vector<uint32_t> rows(of);
  std::iota(rows.begin(), rows.end(), 0u);
  std::shuffle(rows.begin(), rows.end(), *random);
  rows.resize(count);
  return rows;
}

TEST(Rows, AnySetInAnyOrder) {
  constexpr uint32_t kRows = 6;
  for (const uint32_t threads : {1u, 2u}) {
    std::mt19937 random(3);
    Streams streams(kRows, 400);
    Runner runner(model(), {kRows, 0, 0, 0, threads});
    for (int call = 0; call < 60; ++call) {
      const std::vector<uint32_t> rows = shuffled(kRows, 1 + static_cast<uint32_t>(random() % kRows), &random);
      ASSERT_TRUE(streams.advance(&runner, rows, &rows, 1 + random() % 5));
    }
  }
}

TEST(Rows, MixedWithCallsThatNameNone) {
  constexpr uint32_t kRows = 4;
  std::mt19937 random(5);
  Streams streams(kRows, 400);
  Runner runner(model(), {kRows});
  for (int call = 0; call < 60; ++call) {
    const uint32_t count = 1 + static_cast<uint32_t>(random() % kRows);
    std::vector<uint32_t> rows = shuffled(kRows, count, &random);
    const bool named = random() % 2 != 0;
    if (!named) std::iota(rows.begin(), rows.end(), 0u);
    ASSERT_TRUE(streams.advance(&runner, rows, named ? &rows : nullptr, 1 + random() % 3));
  }
}

// A stream takes a row when it comes and gives it back when it ends; some are moved to another row on the way.
TEST(Rows, StreamsJoinMoveAndLeave) {
  constexpr uint32_t kRows = 3, kStreams = 9;
  constexpr size_t kSteps = 12;
  std::mt19937 random(7);
  Streams streams(kStreams, kSteps);
  Runner runner(model(), {kRows});
  std::vector<uint32_t> who, rows;
  for (uint32_t next = 0; next < kStreams || !who.empty();) {
    if (next < kStreams && who.size() < kRows && random() % 2 == 0) {
      uint32_t row = 0;
      while (std::count(rows.begin(), rows.end(), row) != 0) ++row;
      ASSERT_EQ(RNNP_OK, rnnp_state_reset(runner.session(), row));
      who.push_back(next++);
      rows.push_back(row);
    }
    if (who.empty()) continue;
    if (rows.size() == 2 && random() % 3 == 0) {
      const uint32_t to = 3 - rows[0] - rows[1];
      runner.load(to, runner.save(rows[1]));
      rows[1] = to;
    }
    ASSERT_TRUE(streams.advance(&runner, who, &rows, 1));
    for (size_t i = who.size(); i-- > 0;) {
      if (streams.at[who[i]] < kSteps) continue;
      who.erase(who.begin() + static_cast<std::ptrdiff_t>(i));
      rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

TEST(Rows, StepsAfterwardsFindEveryRowInItsPlace) {
  Streams streams(3, 20);
  Runner runner(model(), {3});
  const std::vector<uint32_t> reversed = {2, 0, 1};
  ASSERT_TRUE(streams.advance(&runner, reversed, &reversed, 2));
  std::vector<float> x;
  for (size_t i = 0; i < 3; ++i) x.insert(x.end(), streams.x[i].begin() + 2 * kInput, streams.x[i].begin() + 3 * kInput);
  const std::vector<float> y = runner.run(x, 1);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(0, std::memcmp(y.data() + i * kOutput, streams.y[i].data() + 2 * kOutput, kOutput * sizeof(float)));
}

TEST(Rows, WhatDoesNotFitIsRefusedAndChangesNothing) {
  Runner runner(model(), {3});
  const std::vector<float> x = random_floats(3 * kInput, 1);
  std::vector<float> y;
  ASSERT_EQ(RNNP_OK, run_rows(runner.session(), nullptr, 3, 1, x, &y));
  const std::vector<uint8_t> before[] = {runner.save(0), runner.save(1), runner.save(2)};
  for (const std::vector<uint32_t> &rows : std::vector<std::vector<uint32_t>>{{0, 0}, {1, 3}, {0xffffffffu, 0}, {2, 1, 2}}) {
    EXPECT_EQ(RNNP_E_SHAPE, run_rows(runner.session(), &rows, static_cast<uint32_t>(rows.size()), 1, x, &y));
    EXPECT_EQ(-5.0f, y[0]);
  }
  const std::vector<uint32_t> rows = {2, 0};
  EXPECT_EQ(RNNP_E_ARG, run_rows(runner.session(), &rows, 2, 1, x, &y, offsetof(rnnp_io, rows) - 1));
  for (uint32_t row = 0; row < 3; ++row) EXPECT_EQ(before[row], runner.save(row));
  // A caller built before `rows` was there says so by its size.
  EXPECT_EQ(RNNP_OK, run_rows(runner.session(), &rows, 2, 1, x, &y, offsetof(rnnp_io, rows)));
  EXPECT_EQ(RNNP_OK, run_rows(runner.session(), &rows, 2, 1, x, &y, offsetof(rnnp_io, rows) + 1));  // half a pointer is none
  EXPECT_NE(before[1], runner.save(1));
  EXPECT_EQ(before[2], runner.save(2));
}

}  // namespace rows_test
