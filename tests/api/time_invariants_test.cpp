// time_invariants_test.cpp -- operators that look over time: reductions stay right however long a stream lives, and rows past
// their length give the same results however the run is cut into chunks and calls. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "support/session_fixture.h"

namespace time_invariants_test {

using namespace rnnp_test;
using rnnp::OpKind;
using rnnp::Reduce;

constexpr size_t kHeaderBytes = 24;

std::vector<uint8_t> reduction(Reduce op, uint32_t elems) {
  BlobBuilder b(3);
  const uint32_t x = b.add_input(elems);
  const rnnp::AttrTimeReduce attr = {uint32_t(op), b.add_persistent(2 * elems + 2, 2)};
  b.add_output(b.add_node(OpKind::kTimeReduce, &attr, sizeof attr, {x}, elems, false));
  return b.build();
}

// What a time_reduce node of one element keeps: the saved state's bytes behind its header.
struct SoFar {
  float sum, lost;
  uint64_t steps;
};
static_assert(sizeof(SoFar) == 16, "as saved");

SoFar saved_of(Runner *r) {
  SoFar s;
  std::memcpy(&s, r->save(0).data() + kHeaderBytes, sizeof s);
  return s;
}

void load(Runner *r, const SoFar &s) {
  std::vector<uint8_t> saved = r->save(0);
  std::memcpy(saved.data() + kHeaderBytes, &s, sizeof s);
  reseal_state(&saved);
  r->load(0, saved);
}

float run_row(Runner *r, const std::vector<float> &x) {
  float y = -77.0f;
  expect_ok(rnnp_run(r->session(), x.size(), x.data(), &y), "run");
  return y;
}

// A model that looks ahead runs whole sequences: nothing of the run before is in a reduction, neither the sum nor what rounding
// lost of it, nor the number of steps.
TEST(TimeReduce, BeginsAnewInEveryRunOfAModelThatLooksAhead) {
  constexpr uint32_t kWidth = 4;
  constexpr size_t kSteps = 9, kBatch = 2;
  for (const Reduce op : {Reduce::kSum, Reduce::kMean, Reduce::kMax, Reduce::kMin, Reduce::kProd}) {
    BlobBuilder b(5);
    const uint32_t x = b.add_input(kWidth);
    b.add_output(b.add_time_reduce(x, op));
    b.add_output(b.add_time_reverse(x), "reversed");
    for (const uint32_t threads : {1u, 2u}) {
      const Options options = {kBatch, kSteps, 0, 0, threads};
      const std::vector<uint8_t> blob = b.build();
      Runner twice(blob, options), once(blob, options);
      std::vector<float> before(kBatch * kWidth), second(before), alone(before);
      std::vector<float> first = random_floats(kSteps * kBatch * kWidth, 3), next = random_floats(kSteps * kBatch * kWidth, 4);
      for (size_t i = 0; i < first.size(); ++i) first[i] = (i % 2 ? 1e7f : 1.0f) * (1.0f + first[i]);  // sums lose something
      expect_ok(rnnp_run(twice.session(), kSteps, first.data(), before.data()), "first");
      expect_ok(rnnp_run(twice.session(), kSteps, next.data(), second.data()), "second");
      expect_ok(rnnp_run(once.session(), kSteps, next.data(), alone.data()), "alone");
      EXPECT_NE(before, second);
      EXPECT_EQ(alone, second) << int(op) << ' ' << threads;
    }
  }
}

TEST(TimeReduce, TheMeanOfOnesIsOneHoweverLongTheStream) {
  for (const uint64_t steps : {uint64_t{1} << 24, (uint64_t{1} << 25) - 3, (uint64_t{1} << 32) - 4, uint64_t{1} << 40}) {
    Runner r(reduction(Reduce::kMean, 1));
    load(&r, {static_cast<float>(steps), static_cast<float>(int64_t(steps) - int64_t(static_cast<float>(steps))), steps});
    EXPECT_EQ(1.0f, run_row(&r, std::vector<float>(9, 1.0f))) << steps;
    const SoFar after = saved_of(&r);
    EXPECT_EQ(steps + 9, after.steps);
    EXPECT_EQ(double(steps + 9), double{after.sum} + double{after.lost});
  }
}

TEST(TimeReduce, TheCountStaysAtItsLargest) {
  Runner r(reduction(Reduce::kMax, 1));
  load(&r, {3.0f, 0.0f, UINT64_MAX - 1});
  EXPECT_EQ(3.0f, run_row(&r, {1.0f, 2.0f, -1.0f}));
  EXPECT_EQ(UINT64_MAX, saved_of(&r).steps);
}

// What rounding lost must not itself become too large to be added to: 2^24 ones lost, and more.
TEST(TimeReduce, ASumGrowsByOnesFarBeyondItsDigits) {
  constexpr uint32_t kBefore = 1u << 24, kPieces = 260, kPiece = 1u << 16;
  Runner r(reduction(Reduce::kSum, 1), {1, 0, kPiece});
  load(&r, {float(kBefore), 0.0f, kBefore});
  const std::vector<float> ones(kPiece, 1.0f);
  for (uint32_t i = 0; i < kPieces; ++i) run_row(&r, ones);
  const SoFar after = saved_of(&r);
  EXPECT_EQ(double(kBefore + kPieces * kPiece), double{after.sum} + double{after.lost});
  EXPECT_EQ(uint64_t{kBefore + kPieces * kPiece}, after.steps);
}

TEST(TimeReduce, SumsKeepWhatRoundingLoses) {
  std::vector<float> x;
  for (int i = 0; i < 50; ++i) x.insert(x.end(), {1.0f, 1e9f, 1.0f, -1e9f, 0.25f});
  for (const size_t cut : {size_t{250}, size_t{1}, size_t{7}}) {
    Runner r(reduction(Reduce::kSum, 1), {1, 0, 4});
    float y = 0;
    for (size_t t = 0; t < x.size(); t += cut) y = run_row(&r, {x.begin() + t, x.begin() + std::min(x.size(), t + cut)});
    EXPECT_EQ(112.5f, y) << cut;
  }
}

TEST(TimeReduce, InfinitiesAndNanAreKept) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (const Reduce op : {Reduce::kSum, Reduce::kMean, Reduce::kMax, Reduce::kMin, Reduce::kProd}) {
    for (size_t at = 0; at < 5; ++at) {
      std::vector<float> x = {1.0f, 2.0f, 3.0f, 4.0f, 5.0f};
      x[at] = nan;
      Runner r(reduction(op, 1));
      EXPECT_TRUE(std::isnan(run_row(&r, x))) << int(op) << " at " << at;
    }
  }
  Runner up(reduction(Reduce::kSum, 1)), both(reduction(Reduce::kSum, 1)), low(reduction(Reduce::kMin, 1));
  EXPECT_EQ(inf, run_row(&up, {1.0f, inf, -5.0f, inf}));
  EXPECT_TRUE(std::isnan(run_row(&both, {1.0f, inf, -inf, 2.0f})));
  EXPECT_EQ(-inf, run_row(&low, {1.0f, -inf, 2.0f}));
}

// --- Rows past their length ----------------------------------------------------------------------------------------------------

constexpr uint32_t kIn = 5, kBatch = 4, kSteps = 23;

// Everything that looks along time, with the last step of each, and all of it as outputs.
std::vector<uint8_t> everything() {
  BlobBuilder b(7);
  const uint32_t x = b.add_input(kIn);
  RecurrentOptions o;
  o.hidden = 9;
  const uint32_t h = b.add_recurrent(x, kIn, o);
  rnnp::AttrConv conv = {};
  conv.window = {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 0, {9, 9, 1}, 0, {20, 20}};
  conv.time_taps = 3;
  conv.time_dilation = 2;
  conv.lead = 4;
  conv.groups = 1;
  conv.in_channels = 9;
  conv.out_channels = 20;
  const uint32_t c = b.add_conv(h, conv, 20);
  rnnp::AttrConv deep = conv;
  deep.window = {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 0, {20, 20, 1}, 0, {20, 20}};
  deep.groups = 20;
  deep.in_channels = deep.out_channels = 1;
  const uint32_t d = b.add_depthwise(c, deep, 20);
  const auto last_of = [&](uint32_t value, uint32_t elems) {
    const rnnp::AttrTimeStep attr = {1, b.add_persistent(elems)};
    return b.add_node(OpKind::kTimeStep, &attr, sizeof attr, {value}, elems, false);
  };
  const uint32_t last_x = last_of(x, kIn), last_d = last_of(d, 20);
  const rnnp::AttrTimeReduce mean = {uint32_t(Reduce::kMean), b.add_persistent(42, 2)};
  const uint32_t total = b.add_node(OpKind::kTimeReduce, &mean, sizeof mean, {d}, 20, false);
  b.add_output(h);
  b.add_output(c);
  b.add_output(d);
  b.add_output(b.add_dense(last_x, kIn, 4), "last of x");
  b.add_output(last_x, "x");
  b.add_output(last_d, "last");
  b.add_output(total, "mean");
  return b.build();
}

// x reversed and then added to itself, so that the reversed steps are read as well as given out.
std::vector<uint8_t> reversed(bool lengths_input) {
  BlobBuilder b(5);
  const uint32_t x = b.add_input(kIn), lengths = lengths_input ? b.add_lengths_input() : rnnp::kNone;
  const uint32_t y = b.add_time_reverse(x, lengths);
  const rnnp::AttrBinary twice = {uint32_t(rnnp::Binary::kAdd), 1, {kIn}, {1}, {1}};
  b.add_output(y, "reversed");
  b.add_output(b.add_node(OpKind::kBinary, &twice, sizeof twice, {y, x}, kIn, true), "sum");
  return b.build();
}

enum class By : uint8_t { kNothing, kCall, kInput };

TEST(TimeReverse, EachRowIsReversedInsideItsOwnLength) {
  const std::vector<float> x = random_floats(kSteps * kBatch * kIn, 8);
  const int32_t all = int32_t(kSteps);
  for (const By by : {By::kNothing, By::kCall, By::kInput})
    for (const uint32_t threads : {1u, 3u}) {
      const std::vector<int32_t> lengths =
          by == By::kNothing ? std::vector<int32_t>(kBatch, all) : std::vector<int32_t>{all, 7, 0, 1};
      Runner r(reversed(by == By::kInput), {kBatch, kSteps, 0, 0, threads});
      std::vector<float> y(x.size(), -77.0f), sum = y;
      const rnnp_const_buffer in[] = {{x.data(), 0, 0}, {lengths.data(), 0, 0}};
      const rnnp_buffer out[] = {{y.data(), 0, 0}, {sum.data(), 0, 0}};
      rnnp_io io = RNNP_IO_INIT;
      io.steps = kSteps;
      io.batch = kBatch;
      io.input_count = by == By::kInput ? 2 : 1;
      io.output_count = 2;
      io.lengths = by == By::kCall ? lengths.data() : nullptr;
      io.inputs = in;
      io.outputs = out;
      expect_ok(rnnp_run_io(r.session(), &io), "run_io");
      for (size_t t = 0; t < kSteps; ++t)
        for (size_t row = 0; row < kBatch; ++row)
          for (size_t i = 0; i < kIn; ++i) {
            const size_t length = size_t(lengths[row]), from = t < length ? length - 1 - t : t;
            const size_t at = (t * kBatch + row) * kIn + i;
            ASSERT_EQ(x[(from * kBatch + row) * kIn + i], y[at]) << "row " << row << " step " << t << " by " << int(by);
            ASSERT_EQ(y[at] + x[at], sum[at]);
          }
    }
}

TEST(TimeReverse, NeedsToKnowTheLongestRun) {
  const AlignedBytes blob(reversed(false));
  rnnp_model model;
  expect_ok(rnnp_model_open(&model, blob.data(), blob.size(), 0), "open");
  rnnp_session_options o;
  rnnp_session_options_init(&o, sizeof o);
  rnnp_memory need = RNNP_MEMORY_INIT;
  EXPECT_EQ(RNNP_E_NOT_CAUSAL, rnnp_session_memory(&model, &o, &need));
}

constexpr size_t kSequences = 3, kOutputs = 7;
constexpr size_t kElems[kOutputs] = {9, 20, 20, 4, kIn, 20, 20};

using Results = std::vector<std::vector<float>>;

// All steps in calls of `cut`, with what is left of each row's length; row outputs are those of the last call.
Results run_cut(const std::vector<uint8_t> &blob, const Options &options, const std::vector<float> &x,
                const std::vector<int32_t> &lengths, size_t cut) {
  Runner r(blob, options);
  Results y;
  for (size_t i = 0; i < kOutputs; ++i) y.emplace_back((i < kSequences ? kSteps : 1) * kBatch * kElems[i], -77.0f);
  for (size_t t = 0; t < kSteps; t += cut) {
    const size_t steps = std::min<size_t>(cut, kSteps - t);
    std::vector<int32_t> left;
    for (const int32_t length : lengths) left.push_back(std::clamp<int32_t>(length - int32_t(t), 0, int32_t(steps)));
    const rnnp_const_buffer in = {x.data() + t * kBatch * kIn, 0, 0};
    rnnp_buffer out[kOutputs];
    for (size_t i = 0; i < kOutputs; ++i) out[i] = {y[i].data() + (i < kSequences ? t * kBatch * kElems[i] : 0), 0, 0};
    rnnp_io io = RNNP_IO_INIT;
    io.steps = steps;
    io.batch = kBatch;
    io.input_count = 1;
    io.output_count = kOutputs;
    io.lengths = left.data();
    io.inputs = &in;
    io.outputs = out;
    expect_ok(rnnp_run_io(r.session(), &io), "run_io");
  }
  return y;
}

TEST(EndedRows, GiveTheSameHoweverTheRunIsCut) {
  const std::vector<uint8_t> blob = everything();
  const std::vector<float> x = random_floats(kSteps * kBatch * kIn, 8);
  const std::vector<int32_t> lengths = {int32_t(kSteps), 7, 0, 16};
  const Results whole = run_cut(blob, {kBatch, 0, 64}, x, lengths, kSteps);
  for (uint32_t row = 0; row < kBatch; ++row) {
    const size_t length = size_t(lengths[row]);
    for (size_t i = 0; i < kIn; ++i)
      EXPECT_EQ(length == 0 ? 0.0f : x[((length - 1) * kBatch + row) * kIn + i], whole[4][row * kIn + i]) << row;
  }
  for (const size_t cut : {size_t{23}, size_t{1}, size_t{4}, size_t{8}, size_t{16}})
    for (const uint32_t chunk : {1u, 3u, 4u, 64u})
      for (const uint32_t threads : {1u, 3u}) {
        const Results y = run_cut(blob, {kBatch, 0, chunk, 0, threads}, x, lengths, cut);
        for (size_t i = 0; i < kOutputs; ++i)
          ASSERT_EQ(whole[i], y[i]) << "output " << i << ", calls of " << cut << ", chunks of " << chunk << ", threads " << threads;
      }
}

// The last step is part of a row's state: it moves with saved bytes and goes with a reset.
TEST(EndedRows, TheLastStepIsSavedAndReset) {
  BlobBuilder b(7);
  const uint32_t x = b.add_input(2);
  const rnnp::AttrTimeStep attr = {1, b.add_persistent(2)};
  b.add_output(b.add_node(OpKind::kTimeStep, &attr, sizeof attr, {x}, 2, false));
  const std::vector<uint8_t> blob = b.build();
  Runner from(blob), to(blob);
  std::vector<float> in = {1, 2, 3, 4}, y(2);
  expect_ok(rnnp_run(from.session(), 2, in.data(), y.data()), "run");
  EXPECT_EQ((std::vector<float>{3, 4}), y);
  to.load(0, from.save(0));
  const auto run_ended = [&](Runner *r) {
    const int32_t none = 0;
    const rnnp_const_buffer input = {in.data(), 0, 0};
    const rnnp_buffer output = {y.data(), 0, 0};
    rnnp_io io = RNNP_IO_INIT;
    io.steps = io.batch = io.input_count = io.output_count = 1;
    io.lengths = &none;
    io.inputs = &input;
    io.outputs = &output;
    expect_ok(rnnp_run_io(r->session(), &io), "run_io");
    return y;
  };
  EXPECT_EQ((std::vector<float>{3, 4}), run_ended(&to));
  expect_ok(rnnp_state_reset(to.session(), 0), "reset");
  EXPECT_EQ((std::vector<float>{0, 0}), run_ended(&to));
}

// --- Rows that are made early -------------------------------------------------------------------------------------------------

// y = x + |row| at every step, |row| being an early value: a row input alone makes it, so the first chunk does.
std::vector<uint8_t> first_chunk_row() {
  BlobBuilder b(7);
  const uint32_t x = b.add_input(kIn), row = b.add_state_input(kIn, "row");
  const rnnp::AttrUnary abs = {{uint32_t(rnnp::Act::kAbs), 0, 0}};
  const uint32_t early = b.add_node(OpKind::kUnary, &abs, sizeof abs, {row}, kIn, false);
  const rnnp::AttrBinary add = {uint32_t(rnnp::Binary::kAdd), 1, {kIn}, {1}, {1}};
  b.add_output(b.add_node(OpKind::kBinary, &add, sizeof add, {x, early}, kIn, true));
  std::vector<uint8_t> blob = b.build();
  rnnp::BlobHeader h;
  std::memcpy(&h, blob.data(), sizeof h);
  const auto patch = [&](size_t at, uint32_t word) { std::memcpy(blob.data() + at, &word, sizeof word); };
  patch(h.values.offset + early * sizeof(rnnp::BlobValue) + offsetof(rnnp::BlobValue, early), 1);
  patch(h.inputs.offset + sizeof(rnnp::BlobIo) + offsetof(rnnp::BlobIo, role), RNNP_ROLE_PER_RUN);
  reseal(&blob);
  return blob;
}

TEST(FirstChunkRows, AreThereInEveryChunk) {
  for (const uint32_t chunk : {1u, 4u, 64u})
    for (const uint32_t threads : {1u, 2u}) {
      Runner r(first_chunk_row(), {2, 0, chunk, 0, threads});
      for (const float size : {-3.0f, 5.0f}) {
        const std::vector<float> x = random_floats(kSteps * 2 * kIn, 3);
        std::vector<float> row(2 * kIn, size), y(x.size()), want = x;
        for (float &v : want) v += std::fabs(size);
        const rnnp_const_buffer in[] = {{x.data(), 0, 0}, {row.data(), 0, 0}};
        const rnnp_buffer out = {y.data(), 0, 0};
        rnnp_io io = RNNP_IO_INIT;
        io.steps = kSteps;
        io.batch = io.input_count = 2;
        io.output_count = 1;
        io.inputs = in;
        io.outputs = &out;
        expect_ok(rnnp_run_io(r.session(), &io), "run_io");
        EXPECT_EQ(want, y) << "chunks of " << chunk << ", " << threads << " threads";
      }
    }
}

}  // namespace time_invariants_test
