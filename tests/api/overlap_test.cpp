// overlap_test.cpp -- outputs in the memory of inputs: the bits of outputs of their own, however the run is cut, staged and shared
// among threads; and what cannot be done is refused. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "support/session_fixture.h"

namespace rnnp_test {
namespace overlap_test {

using rnnp::Act;

constexpr size_t kSteps = 300;  // enough for a wavefront

// The input is read again behind the layers, so a result that is written too early is seen in the next one.
std::vector<uint8_t> layers(uint32_t in, uint32_t out, uint32_t count = 2) {
  BlobBuilder b(5);
  RecurrentOptions lstm;
  lstm.hidden = in;
  const uint32_t x = b.add_input(in);
  uint32_t v = x;
  for (uint32_t i = 0; i < count; ++i) v = b.add_recurrent(v, in, lstm);
  const rnnp::AttrBinary add = {uint32_t(rnnp::Binary::kAdd), 1, {in}, {1}, {1}};
  v = b.add_node(rnnp::OpKind::kBinary, &add, sizeof add, {v, x}, in, true);
  b.add_output(in == out ? v : b.add_dense(v, in, out, Act::kTanh));
  return b.build();
}

// Each tile of the result needs the whole row of the input.
std::vector<uint8_t> straight(uint32_t in, uint32_t out) {
  BlobBuilder b(6);
  b.add_output(b.add_dense(b.add_input(in), in, out, Act::kTanh));
  return b.build();
}

uint32_t in_place(const std::vector<uint8_t> &blob) {
  const AlignedBytes bytes(blob);
  rnnp_model model;
  rnnp_model_info facts = RNNP_MODEL_INFO_INIT;
  expect_ok(rnnp_model_open(&model, bytes.data(), bytes.size(), 0), "open");
  expect_ok(rnnp_model_get_info(&model, &facts), "info");
  return facts.in_place;
}

struct Way {
  Options options;
  size_t cut;  // steps of a call; 0: all
};

class Overlap : public testing::TestWithParam<Way> {};

std::vector<Way> ways() {
  std::vector<Way> all;
  for (const uint32_t batch : {1u, 3u}) {
    for (const uint32_t chunk : {0u, 1u, 4u}) {
      for (const uint32_t threads : {1u, 2u}) {
        for (const size_t cut : {size_t{0}, size_t{1}, size_t{7}}) all.push_back({{batch, 0, chunk, 0, threads, 0, true}, cut});
      }
    }
    all.push_back({{batch, 0, 0, 0, 2, 0, false}, 0});  // threads as the planner wants them: a wavefront
  }
  return all;
}

TEST_P(Overlap, YInXIsTheSameAsYApart) {
  const Way &way = GetParam();
  for (const std::vector<uint8_t> &blob : {layers(12, 12), layers(12, 5), straight(150, 150), straight(150, 70)}) {
    ASSERT_EQ(1u, in_place(blob));
    Runner apart(blob, way.options), same(blob, way.options);
    const size_t batch = way.options.batch, in = same.in(), out = same.out();
    const size_t steps = way.cut == 0 ? kSteps : 40;
    std::vector<float> x = random_floats(steps * batch * in, 9);
    const std::vector<float> want = apart.run(x, way.cut);
    for (size_t t = 0; t < steps;) {
      const size_t n = way.cut == 0 ? steps : std::min(way.cut, steps - t);
      float *at = x.data() + t * batch * in;
      ASSERT_EQ(RNNP_OK, n == 1 ? rnnp_step(same.session(), at, at) : rnnp_run(same.session(), n, at, at));
      ASSERT_EQ(0, std::memcmp(want.data() + t * batch * out, at, n * batch * out * sizeof(float)))
          << in << " to " << out << " from step " << t;
      t += n;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(ThreadedWays, Overlap, testing::ValuesIn(ways()), [](const auto &way) {
  const Way &w = way.param;
  return "batch" + std::to_string(w.options.batch) + "chunk" + std::to_string(w.options.chunk) + "threads" +
         std::to_string(w.options.threads) + (w.options.all_threads ? "all" : "planned") + "cut" + std::to_string(w.cut);
});

TEST(Overlap, TheWaysHaveAWave) {
  Runner r(layers(12, 12), {1, 0, 0, 0, 2, 0, false});
  rnnp_session_info facts = RNNP_SESSION_INFO_INIT;
  ASSERT_EQ(RNNP_OK, rnnp_session_get_info(r.session(), &facts));
  EXPECT_GE(facts.wavefront_stages, 2u);
  EXPECT_LE(facts.wavefront_steps, kSteps);
}

TEST(Overlap, WiderOutputsAreRefusedAndNothingIsWritten) {
  const std::vector<uint8_t> blob = layers(12, 13);
  EXPECT_EQ(0u, in_place(blob));
  Runner r(blob);
  std::vector<float> x = random_floats(6 * 13, 9);
  const std::vector<float> before = x;
  const std::vector<uint8_t> state = r.save(0);
  EXPECT_EQ(RNNP_E_ARG, rnnp_step(r.session(), x.data(), x.data()));
  EXPECT_EQ(RNNP_E_ARG, rnnp_run(r.session(), 5, x.data(), x.data()));
  EXPECT_EQ(before, x);
  EXPECT_EQ(state, r.save(0));
}

TEST(Overlap, PartsOfOneAnotherAreRefused) {
  Runner r(layers(12, 12), {1, 0, 2});
  std::vector<float> x = random_floats(40 * 12, 9);
  const std::vector<float> before = x;
  for (const size_t by : {1, 11, 12}) {
    const bool reaches = by < 12;
    EXPECT_EQ(reaches ? RNNP_E_ARG : RNNP_OK, rnnp_step(r.session(), x.data() + by, x.data())) << by;
    if (reaches) {
      EXPECT_EQ(before, x);
    }
    x = before;
    EXPECT_EQ(reaches ? RNNP_E_ARG : RNNP_OK, rnnp_step(r.session(), x.data(), x.data() + by)) << by;
    x = before;
    EXPECT_EQ(RNNP_E_ARG, rnnp_run(r.session(), 20, x.data() + by, x.data())) << by;
    EXPECT_EQ(RNNP_E_ARG, rnnp_run(r.session(), 20, x.data(), x.data() + by)) << by;
    EXPECT_EQ(before, x);
  }
}

// A recurrent layer with initial and final state, lengths, and a sequence out.
struct States {
  static constexpr uint32_t kWidth = 8, kBatch = 2;
  std::vector<uint8_t> blob;
  std::vector<float> x = random_floats(kSteps * kBatch * kWidth, 3), h = random_floats(kBatch * kWidth, 4), y = x;
  int32_t lengths[kBatch] = {int32_t(kSteps), 5};
  rnnp_const_buffer in[3];
  rnnp_buffer out[2];
  rnnp_io io = RNNP_IO_INIT;

  States() {
    BlobBuilder b(6);
    RecurrentOptions gru;
    gru.cell = rnnp::Cell::kGru;
    gru.hidden = kWidth;
    const uint32_t v = b.add_input(kWidth), h0 = b.add_state_input(kWidth, "h0"), n = b.add_lengths_input();
    uint32_t final_state = 0;
    const uint32_t result = b.add_recurrent(v, kWidth, gru, &final_state, nullptr, {h0, rnnp::kNone, n});
    b.add_output(result);
    b.add_output(final_state, "h");
    blob = b.build();
    in[0] = {x.data(), 0, 0};
    in[1] = {h.data(), 0, 0};
    in[2] = {lengths, 0, 0};
    out[0] = {y.data(), 0, 0};
    out[1] = {nullptr, 0, 0};
    io.steps = kSteps;
    io.batch = kBatch;
    io.input_count = 3;
    io.output_count = 2;
    io.inputs = in;
    io.outputs = out;
  }
};

TEST(Overlap, FinalStatesMayReplaceInitialOnesOrTheSequence) {
  const std::vector<uint8_t> blob = States().blob;
  for (const uint32_t threads : {1u, 2u}) {
    for (const uint32_t chunk : {1u, 16u}) {
      const Options options = {States::kBatch, 0, chunk, 0, threads};
      States apart, on_h, on_x;
      std::vector<float> final_state(States::kBatch * States::kWidth);
      apart.out[1].data = final_state.data();
      on_h.out[1].data = on_h.h.data();
      on_x.out[1].data = on_x.x.data() + 3;
      expect_ok(rnnp_run_io(Runner(blob, options).session(), &apart.io), "apart");
      ASSERT_EQ(RNNP_OK, rnnp_run_io(Runner(blob, options).session(), &on_h.io));
      ASSERT_EQ(RNNP_OK, rnnp_run_io(Runner(blob, options).session(), &on_x.io));
      EXPECT_EQ(final_state, on_h.h);
      EXPECT_EQ(apart.y, on_h.y);
      EXPECT_EQ(0, std::memcmp(final_state.data(), on_x.x.data() + 3, final_state.size() * sizeof(float)));
      EXPECT_EQ(apart.y, on_x.y);
    }
  }
}

// What comes once, when all of x has been read.
TEST(Overlap, AStepsRowMayLieAnywhereInX) {
  constexpr uint32_t kWidth = 8;
  BlobBuilder b(7);
  RecurrentOptions gru;
  gru.cell = rnnp::Cell::kGru;
  gru.hidden = kWidth;
  uint32_t final_state = 0;
  b.add_recurrent(b.add_input(kWidth), kWidth, gru, &final_state);
  b.add_output(final_state);
  const std::vector<uint8_t> blob = b.build();
  for (const uint32_t threads : {1u, 2u}) {
    const Options options = {1, 0, 0, 0, threads, 0, true};
    Runner apart(blob, options), same(blob, options);
    std::vector<float> x = random_floats(2 * kWidth, 9), y(kWidth);
    ASSERT_EQ(RNNP_OK, rnnp_step(apart.session(), x.data(), y.data()));
    ASSERT_EQ(RNNP_OK, rnnp_step(same.session(), x.data(), x.data() + 3));
    EXPECT_EQ(0, std::memcmp(y.data(), x.data() + 3, kWidth * sizeof(float))) << threads;
  }
}

TEST(Overlap, WhatIsReadInEveryChunkIsNoPlaceForASequence) {
  Runner r(States().blob, {States::kBatch, 0, 4});
  const std::vector<uint8_t> state = r.save(0);
  States on_state, on_lengths, state_on_lengths, shifted;
  on_state.out[0].data = on_state.h.data();
  on_state.io.steps = 1;
  on_state.lengths[0] = on_state.lengths[1] = 1;
  EXPECT_EQ(RNNP_E_ARG, rnnp_run_io(r.session(), &on_state.io));
  on_state.io.flags = RNNP_RUN_LAST_STEP;
  EXPECT_EQ(RNNP_E_ARG, rnnp_run_io(r.session(), &on_state.io));
  on_lengths.out[0].data = on_lengths.lengths;
  on_lengths.io.steps = 1;
  on_lengths.lengths[0] = on_lengths.lengths[1] = 1;
  EXPECT_EQ(RNNP_E_ARG, rnnp_run_io(r.session(), &on_lengths.io));
  state_on_lengths.out[1].data = state_on_lengths.lengths;
  EXPECT_EQ(RNNP_E_ARG, rnnp_run_io(r.session(), &state_on_lengths.io));
  shifted.out[0].data = shifted.x.data() + 4;
  shifted.io.steps = kSteps - 1;
  shifted.lengths[0] = 7;
  EXPECT_EQ(RNNP_E_ARG, rnnp_run_io(r.session(), &shifted.io));
  EXPECT_EQ(state, r.save(0));
}

TEST(Overlap, TwoOutputsInOneMemoryAreRefused) {
  Runner r(States().blob, {States::kBatch, 0, 4});
  const std::vector<uint8_t> state = r.save(0);
  constexpr size_t kRows = States::kBatch * States::kWidth;
  for (const size_t at : {size_t{0}, size_t{1}, kSteps * kRows - 1}) {
    States both;
    both.y.resize((kSteps + 1) * kRows);
    both.out[0].data = both.y.data();
    const std::vector<float> before = both.y;
    both.out[1].data = both.y.data() + at;
    EXPECT_EQ(RNNP_E_ARG, rnnp_run_io(r.session(), &both.io)) << at;
    EXPECT_EQ(before, both.y);
  }
  EXPECT_EQ(state, r.save(0));
}

// The end of one is the beginning of the other.
TEST(Overlap, TensorsMayTouch) {
  const std::vector<uint8_t> blob = States().blob;
  constexpr size_t kRows = States::kBatch * States::kWidth, kAll = kSteps * kRows;
  States apart;
  std::vector<float> last(kRows);
  apart.out[1].data = last.data();
  ASSERT_EQ(RNNP_OK, rnnp_run_io(Runner(blob, {States::kBatch, 0, 4}).session(), &apart.io));
  for (const bool x_first : {true, false}) {
    States one;
    std::vector<float> all(2 * kAll + 2 * kRows);
    float *const y = all.data() + (x_first ? kAll : kRows), *const x = x_first ? y - kAll : y + kAll;
    float *const final_state = x_first ? y + kAll : y - kRows, *const h = x + (x_first ? 2 * kAll + kRows : kAll);
    std::copy(one.x.begin(), one.x.end(), x);
    std::copy(one.h.begin(), one.h.end(), h);
    one.in[0].data = x;
    one.in[1].data = h;
    one.out[0].data = y;
    one.out[1].data = final_state;
    ASSERT_EQ(RNNP_OK, rnnp_run_io(Runner(blob, {States::kBatch, 0, 4}).session(), &one.io)) << x_first;
    EXPECT_EQ(0, std::memcmp(apart.y.data(), y, kAll * sizeof(float)));
    EXPECT_EQ(0, std::memcmp(last.data(), final_state, kRows * sizeof(float)));
  }
  Runner plain(layers(12, 12), {1, 0, 2});
  std::vector<float> both = random_floats(40 * 12, 9);
  EXPECT_EQ(RNNP_OK, rnnp_run(plain.session(), 20, both.data(), both.data() + 20 * 12));
  EXPECT_EQ(RNNP_OK, rnnp_run(plain.session(), 20, both.data() + 20 * 12, both.data()));
}

// Those of a call of no steps have no bytes: beside the lengths, or on them, where no result may be.
TEST(Overlap, SequencesOfNoStepsLieNowhere) {
  Runner r(States().blob, {States::kBatch, 0, 4});
  const std::vector<uint8_t> state = r.save(0);
  for (const int at : {-1, 0, 1, 2}) {
    States none;
    none.io.steps = 0;
    alignas(float) int32_t words[States::kBatch + 2] = {};
    none.in[2].data = words + 1;
    none.in[0].data = none.out[0].data = words + 1 + at;
    EXPECT_EQ(RNNP_OK, rnnp_run_io(r.session(), &none.io)) << at << ": " << rnnp_session_last_error(r.session());
    std::swap(none.out[0].data, none.out[1].data);  // the final state has its rows in any call
    none.out[0].data = none.y.data();
    EXPECT_EQ(at < 2 ? RNNP_E_ARG : RNNP_OK, rnnp_run_io(r.session(), &none.io)) << at;
    for (const int32_t word : words) EXPECT_EQ(0, word);
  }
  EXPECT_EQ(state, r.save(0));
}

// Rows of batch outermost, x and y in one array: a row of y lies in the row of x of the same step, or beside it.
TEST(Overlap, StridedRowsMayLieInOrBetweenOneAnother) {
  constexpr uint32_t kIn = 12, kOut = 5, kBatch = 3, kRow = 20;
  const std::vector<uint8_t> blob = layers(kIn, kOut);
  const std::vector<float> x = random_floats(kSteps * kBatch * kIn, 9);
  const std::vector<float> want = Runner(blob, {kBatch}).run(x);
  for (const uint32_t place : {0u, kIn}) {
    std::vector<float> both(kSteps * kBatch * kRow, -1.0f);
    const auto row = [&](size_t t, uint32_t b) { return both.data() + (b * kSteps + t) * kRow; };
    for (size_t t = 0; t < kSteps; ++t)
      for (uint32_t b = 0; b < kBatch; ++b) std::memcpy(row(t, b), &x[(t * kBatch + b) * kIn], kIn * sizeof(float));
    const size_t step = kRow * sizeof(float);
    const rnnp_const_buffer in = {both.data(), step, step * kSteps};
    const rnnp_buffer out = {both.data() + place, step, step * kSteps};
    rnnp_io io = RNNP_IO_INIT;
    io.steps = kSteps;
    io.batch = kBatch;
    io.input_count = io.output_count = 1;
    io.inputs = &in;
    io.outputs = &out;
    Runner r(blob, {kBatch, 0, 4});
    ASSERT_EQ(RNNP_OK, rnnp_run_io(r.session(), &io));
    for (size_t t = 0; t < kSteps; ++t)
      for (uint32_t b = 0; b < kBatch; ++b)
        ASSERT_EQ(0, std::memcmp(row(t, b) + place, &want[(t * kBatch + b) * kOut], kOut * sizeof(float))) << place << " at " << t;
  }
}

TEST(Overlap, RowsThatReachIntoTheInputsNextStepAreRefused) {
  constexpr size_t kRow = 12 * sizeof(float);
  Runner r(layers(12, 12), {2, 0, 4});
  std::vector<float> x = random_floats(1000, 9);
  const std::vector<float> before = x;
  const rnnp_const_buffer in = {x.data(), 2 * kRow, kRow};
  rnnp_buffer out = {x.data(), 2 * kRow, 2 * kRow};
  rnnp_io io = RNNP_IO_INIT;
  io.steps = 8;
  io.batch = 2;
  io.input_count = io.output_count = 1;
  io.inputs = &in;
  io.outputs = &out;
  EXPECT_EQ(RNNP_E_ARG, rnnp_run_io(r.session(), &io));
  out = {x.data(), 3 * kRow, kRow};
  EXPECT_EQ(RNNP_E_ARG, rnnp_run_io(r.session(), &io));
  EXPECT_EQ(before, x);
  out = {x.data(), 2 * kRow, kRow};
  EXPECT_EQ(RNNP_OK, rnnp_run_io(r.session(), &io));
}

TEST(Overlap, TheLastStepMayReplaceTheFirst) {
  const std::vector<uint8_t> blob = layers(12, 5);
  std::vector<float> x = random_floats(kSteps * 2 * 12, 9);
  const std::vector<float> all = Runner(blob, {2}).run(x);
  const rnnp_const_buffer in = {x.data(), 0, 0};
  const rnnp_buffer out = {x.data(), 0, 0};
  rnnp_io io = RNNP_IO_INIT;
  io.flags = RNNP_RUN_LAST_STEP;
  io.steps = kSteps;
  io.batch = 2;
  io.input_count = io.output_count = 1;
  io.inputs = &in;
  io.outputs = &out;
  const int32_t lengths[] = {3, int32_t(kSteps)};
  io.lengths = lengths;
  Runner r(blob, {2, 0, 1});
  ASSERT_EQ(RNNP_OK, rnnp_run_io(r.session(), &io));
  EXPECT_EQ(0, std::memcmp(x.data(), &all[(2 * 2 + 0) * 5], 5 * sizeof(float)));
  EXPECT_EQ(0, std::memcmp(x.data() + 5, &all[((kSteps - 1) * 2 + 1) * 5], 5 * sizeof(float)));
}

}  // namespace overlap_test
}  // namespace rnnp_test
