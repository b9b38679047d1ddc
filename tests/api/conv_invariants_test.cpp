// conv_invariants_test.cpp -- convolutions over time and features: exact against plain sums of small integers on every layout and
// instruction set; the same bits for every cut, chunk, team and batch; rings that are saved, loaded, reset and left alone.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/session_fixture.h"
#include "support/window_of.h"

namespace conv_invariants_test {

using namespace rnnp_test;

constexpr size_t kSteps = 23;

struct Shape {
  const char *name;
  uint32_t h, w, in, out, groups;  // channels of all groups
  uint32_t kernel[2], stride[2], dilation[2];
  int32_t pad[2];
  uint32_t taps, time_dilation;
  int32_t lead;
  bool depthwise, channels_first;
  bool by_channel = false;  // so lies the result
  bool winograd = false;
};

const Shape kShapes[] = {
    {"plain", 1, 1, 5, 7, 1, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 1, 1, 0, false, false},
    {"causal", 1, 1, 5, 20, 1, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 3, 2, 4, false, false},
    {"late", 1, 1, 5, 3, 1, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 2, 3, 9, false, false},
    {"of_groups", 1, 1, 6, 40, 2, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 6, 3, 15, false, false},
    {"of_few_units", 1, 1, 3, 3, 1, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 3, 1, 2, false, false},
    {"of_part_of_a_row", 4, 2, 4, 5, 1, {2, 2}, {1, 1}, {1, 1}, {-1, 0}, 2, 5, 5, false, false},
    {"ahead_of_one_window", 1, 1, 4, 6, 1, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 4, 2, 3, false, false},
    {"frames", 1, 9, 4, 6, 2, {1, 3}, {1, 2}, {1, 1}, {0, 1}, 3, 1, 2, false, false},
    {"windows", 1, 40, 1, 17, 1, {1, 16}, {1, 8}, {1, 1}, {0, 0}, 1, 1, 0, false, false},
    {"planes", 5, 6, 4, 3, 1, {3, 2}, {2, 1}, {1, 2}, {1, 2}, 2, 1, 1, false, true},
    {"strips_along_h", 11, 6, 5, 7, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, 1, 0, false, false},
    {"strips_along_w", 2, 19, 6, 4, 2, {1, 5}, {1, 2}, {1, 1}, {0, 2}, 1, 1, 0, false, false},
    {"late_strips", 17, 3, 6, 34, 1, {4, 1}, {2, 1}, {1, 1}, {2, 0}, 1, 1, 3, false, true},
    {"long_strips", 300, 1, 5, 2, 1, {3, 1}, {1, 1}, {1, 1}, {1, 0}, 1, 1, 0, false, false},
    {"channels", 3, 7, 18, 18, 18, {3, 3}, {1, 2}, {1, 1}, {1, 1}, 2, 2, 2, true, false},
    {"planes_of_a_line", 1, 23, 3, 6, 1, {1, 3}, {1, 1}, {1, 1}, {0, 1}, 3, 1, 2, false, true},
    {"ahead", 1, 4, 3, 5, 1, {1, 3}, {1, 1}, {1, 1}, {0, 1}, 3, 1, 1, false, false},
    {"by_channel", 5, 19, 9, 13, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, 1, 0, false, true, true},
    {"by_channel_with_holes", 9, 37, 8, 20, 1, {3, 2}, {2, 1}, {1, 3}, {1, 2}, 1, 1, 0, false, true, true},
    {"by_channel_of_a_part", 6, 21, 3, 5, 1, {2, 1}, {1, 1}, {1, 1}, {-1, -3}, 1, 1, 0, false, false, true},
    {"by_channel_of_16_taps", 5, 19, 4, 5, 1, {4, 4}, {1, 1}, {1, 1}, {1, 2}, 1, 1, 0, false, true, true},
    {"by_points", 5, 19, 9, 13, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, 1, 0, false, true, true, true},
    {"by_points_of_a_part", 8, 70, 3, 20, 1, {3, 3}, {1, 1}, {1, 1}, {-1, 2}, 1, 1, 0, false, true, true, true},
    {"by_points_of_a_line", 1, 19, 9, 13, 1, {1, 3}, {1, 1}, {1, 1}, {0, 1}, 3, 1, 2, false, false, false, true},
    {"by_points_of_a_line_late", 1, 70, 4, 20, 1, {1, 3}, {1, 1}, {1, 1}, {0, 2}, 2, 1, 5, false, false, false, true},
    {"by_points_of_a_line_ahead", 1, 8, 6, 5, 1, {1, 3}, {1, 1}, {1, 1}, {0, 0}, 3, 1, 1, false, false, false, true},
    {"by_points_of_one_step", 1, 140, 5, 17, 1, {1, 3}, {1, 1}, {1, 1}, {0, -1}, 1, 1, 0, false, false, false, true},
    {"by_points_of_one_window", 1, 3, 5, 33, 1, {1, 3}, {1, 1}, {1, 1}, {0, 0}, 3, 1, 2, false, false, false, true},
    {"channels_ahead", 1, 4, 3, 3, 3, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 3, 2, 0, true, false},
};

size_t out_elems(const Shape &s) {
  return size_t{out_size(s, 0)} * out_size(s, 1) * s.out;
}

bool looks_ahead(const Shape &s) {
  return int64_t{s.taps - 1} * s.time_dilation > s.lead;
}

rnnp::AttrConv attr_of(const Shape &s) {
  rnnp::AttrConv a = {};
  a.window = window_of(s, s.in, s.out);
  a.time_taps = s.taps;
  a.time_dilation = s.time_dilation;
  a.lead = s.lead;
  a.groups = s.groups;
  a.in_channels = s.in / s.groups;
  a.out_channels = s.out / s.groups;
  a.act.act = uint32_t(rnnp::Act::kRelu);
  if (!s.by_channel) return a;
  a.y_plane = out_size(s, 0) * out_size(s, 1);
  a.window.y_stride[0] = out_size(s, 1);
  a.window.y_stride[1] = 1;
  return a;
}

uint32_t add_node(BlobBuilder *b, const Shape &s, uint32_t x) {
  const uint32_t elems = static_cast<uint32_t>(out_elems(s));
  if (s.winograd) return b->add_winograd(x, attr_of(s), elems);
  return s.depthwise ? b->add_depthwise(x, attr_of(s), elems) : b->add_conv(x, attr_of(s), elems);
}

// One element, all in doubles. x(t, h, w, c) is 0 outside.
template <class X>
double element(const ConvLayer &layer, uint32_t t, uint32_t h, uint32_t w, uint32_t o, X x) {
  const rnnp::AttrConv &a = layer.attr;
  const rnnp::BlobWindow &win = a.window;
  const uint32_t group = o / a.out_channels;
  double sum = layer.b[o];
  size_t at = size_t{o} * a.time_taps * win.kernel[0] * win.kernel[1] * a.in_channels;
  for (uint32_t kt = 0; kt < a.time_taps; ++kt)
    for (uint32_t kh = 0; kh < win.kernel[0]; ++kh)
      for (uint32_t kw = 0; kw < win.kernel[1]; ++kw)
        for (uint32_t c = 0; c < a.in_channels; ++c)
          sum +=
              layer.w[at++] * x(int64_t{t} - a.lead + int64_t{kt} * a.time_dilation,
                                int64_t{h} * win.stride[0] + int64_t{kh} * win.dilation[0] - win.pad[0],
                                int64_t{w} * win.stride[1] + int64_t{kw} * win.dilation[1] - win.pad[1], group * a.in_channels + c);
  return sum > 0 ? sum : 0;
}

std::vector<float> expected(const Shape &s, const ConvLayer &layer, const std::vector<float> &x, size_t batch, size_t row,
                            size_t length) {
  const size_t row_elems = size_t{s.h} * s.w * s.in;
  const auto read = [&](int64_t t, int64_t h, int64_t w, uint32_t c) {
    if (t < 0 || t >= int64_t(length) || h < 0 || h >= s.h || w < 0 || w >= s.w) return 0.0;
    const size_t within =
        s.channels_first ? (c * size_t{s.h} + size_t(h)) * s.w + size_t(w) : (size_t(h) * s.w + size_t(w)) * s.in + c;
    return double(x[(size_t(t) * batch + row) * row_elems + within]);
  };
  const uint32_t positions = out_size(s, 0) * out_size(s, 1);
  const size_t position_step = s.by_channel ? 1 : s.out, channel_step = s.by_channel ? positions : 1;
  std::vector<float> y(length * positions * s.out);
  for (size_t t = 0; t < length; ++t)
    for (uint32_t at = 0; at < positions; ++at)
      for (uint32_t o = 0; o < s.out; ++o)
        y[t * positions * s.out + at * position_step + o * channel_step] =
            float(element(layer, uint32_t(t), at / out_size(s, 1), at % out_size(s, 1), o, read));
  return y;
}

std::vector<float> integers(size_t n, uint32_t seed) {
  std::mt19937 rng(seed);
  std::uniform_int_distribution<int> number(-4, 4);
  std::vector<float> v(n);
  for (float &e : v) e = float(number(rng));
  return v;
}

class ConvInvariants : public testing::TestWithParam<Shape> {
 protected:
  std::vector<uint8_t> blob(uint32_t nr = 16) {
    builder_ = std::make_unique<BlobBuilder>(9, nr);
    const Shape &s = GetParam();
    const uint32_t x = builder_->add_input(s.h * s.w * s.in);
    builder_->add_output(add_node(builder_.get(), s, x));
    return builder_->build();
  }
  size_t in() const { return size_t{GetParam().h} * GetParam().w * GetParam().in; }
  size_t out() const { return out_elems(GetParam()); }
  uint32_t max_steps() const { return looks_ahead(GetParam()) ? uint32_t(kSteps) : 0; }
  std::vector<float> real_input(size_t batch) { return random_floats(kSteps * batch * in(), 4); }

  std::unique_ptr<BlobBuilder> builder_;
};

// Those that run in pieces.
class CausalConvInvariants : public ConvInvariants {};

TEST_P(ConvInvariants, ExactOnEveryLayoutAndInstructionSet) {
  const uint32_t batch = 3;
  const std::vector<float> x = integers(kSteps * batch * in(), 5);
  for (const uint32_t nr : {4u, 8u, 16u}) {
    const std::vector<uint8_t> bytes = blob(nr);
    for (const uint32_t isa : {uint32_t{RNNP_ISA_REFERENCE_ONLY}, uint32_t{RNNP_ISA_AVX2}, 0u}) {
      const std::vector<float> y = Runner(bytes, {batch, max_steps(), 0, isa}).run(x);
      for (uint32_t row = 0; row < batch; ++row) {
        const std::vector<float> want = expected(GetParam(), builder_->conv[0], x, batch, row, kSteps);
        for (size_t t = 0; t < kSteps; ++t)
          for (size_t i = 0; i < out(); ++i)
            ASSERT_EQ(want[t * out() + i], y[(t * batch + row) * out() + i])
                << "nr " << nr << " isa " << isa << " row " << row << " step " << t << " at " << i;
      }
    }
  }
}

TEST_P(ConvInvariants, CutsChunksAndThreadsDoNotMatter) {
  const std::vector<uint8_t> bytes = blob();
  const std::vector<float> x = real_input(2);
  const std::vector<float> whole = Runner(bytes, {2, max_steps()}).run(x);
  for (const uint32_t threads : {2u, 3u, 5u})
    EXPECT_EQ(whole, Runner(bytes, {2, max_steps(), 0, 0, threads}).run(x)) << threads << " threads";
  if (looks_ahead(GetParam())) return;
  for (const size_t cut : {1, 2, 3, 7, 22}) EXPECT_EQ(whole, Runner(bytes, {2}).run(x, cut)) << "cut " << cut;
  for (const uint32_t chunk : {1u, 2u, 5u, 64u}) EXPECT_EQ(whole, Runner(bytes, {2, 0, chunk}).run(x)) << "chunk " << chunk;
  for (const uint32_t threads : {2u, 3u}) EXPECT_EQ(whole, Runner(bytes, {2, 0, 4, 0, threads}).run(x, 9)) << threads << " threads";
}

TEST_P(ConvInvariants, BatchRowsAreIndependent) {
  const std::vector<uint8_t> bytes = blob();
  const uint32_t batch = 5;
  const std::vector<float> x = real_input(batch), all = Runner(bytes, {batch, max_steps()}).run(x);
  for (uint32_t row = 0; row < batch; ++row) {
    std::vector<float> alone;
    for (size_t t = 0; t < kSteps; ++t)
      alone.insert(alone.end(), x.begin() + (t * batch + row) * in(), x.begin() + (t * batch + row + 1) * in());
    const std::vector<float> y = Runner(bytes, {1, max_steps()}).run(alone);
    for (size_t t = 0; t < kSteps; ++t)
      for (size_t i = 0; i < out(); ++i)
        ASSERT_EQ(all[(t * batch + row) * out() + i], y[t * out() + i]) << "row " << row << " step " << t;
  }
}

TEST_P(CausalConvInvariants, SavedStatesDoNotDependOnTheCutAndContinue) {
  const std::vector<uint8_t> bytes = blob();
  const std::vector<float> x = real_input(2);
  const size_t half = 11;
  const std::vector<float> head(x.begin(), x.begin() + half * 2 * in()), tail(x.begin() + half * 2 * in(), x.end());
  const std::vector<float> whole = Runner(bytes, {2}).run(x);
  Runner once(bytes, {2}), steps(bytes, {2, 0, 3}), other(bytes, {2});
  once.run(head);
  steps.run(head, 1);
  EXPECT_EQ(once.save(0), steps.save(0));
  other.load(0, once.save(0));
  other.load(1, steps.save(1));
  EXPECT_EQ(std::vector<float>(whole.begin() + half * 2 * out(), whole.end()), other.run(tail));
  ASSERT_EQ(RNNP_OK, rnnp_state_reset(other.session(), RNNP_ALL_ROWS));
  EXPECT_EQ(whole, other.run(x));
}

TEST_P(CausalConvInvariants, SingleStepsOfOneRowGiveTheBitsOfARun) {
  const std::vector<uint8_t> bytes = blob();
  const std::vector<float> x = real_input(1);
  Runner whole(bytes), steps(bytes);
  EXPECT_EQ(whole.run(x), steps.run(x, 1));
  EXPECT_EQ(whole.save(0), steps.save(0));
  EXPECT_EQ(whole.run(x), steps.run(x, 2));
}

// A row ends at its length: what follows does not reach its results, and its ring goes on from there.
TEST_P(ConvInvariants, RowsEndAtTheirLengths) {
  const std::vector<uint8_t> bytes = blob();
  const uint32_t batch = 4;
  const std::vector<float> x = integers(kSteps * batch * in(), 6);
  const std::vector<int32_t> lengths = {int32_t(kSteps), 0, 7, 22};
  Runner r(bytes, {batch, max_steps(), looks_ahead(GetParam()) ? 0u : 5u});
  std::vector<float> y(kSteps * batch * out());
  const rnnp_const_buffer inputs[] = {{x.data(), 0, 0}};
  const rnnp_buffer outputs[] = {{y.data(), 0, 0}};
  rnnp_io io = RNNP_IO_INIT;
  io.steps = kSteps;
  io.batch = batch;
  io.input_count = io.output_count = 1;
  io.lengths = lengths.data();
  io.inputs = inputs;
  io.outputs = outputs;
  ASSERT_EQ(RNNP_OK, rnnp_run_io(r.session(), &io));
  for (uint32_t row = 0; row < batch; ++row) {
    const size_t length = size_t(lengths[row]);
    const std::vector<float> want = expected(GetParam(), builder_->conv[0], x, batch, row, length);
    for (size_t t = 0; t < length; ++t)
      for (size_t i = 0; i < out(); ++i)
        ASSERT_EQ(want[t * out() + i], y[(t * batch + row) * out() + i]) << "row " << row << " step " << t;
    if (looks_ahead(GetParam())) continue;
    std::vector<float> alone;
    for (size_t t = 0; t < length; ++t)
      alone.insert(alone.end(), x.begin() + (t * batch + row) * in(), x.begin() + (t * batch + row + 1) * in());
    Runner single(bytes, {1});
    if (length != 0) single.run(alone);
    EXPECT_EQ(single.save(0), r.save(row)) << "row " << row;
  }
}

// What is given of steps behind a row's end is of no use, but it is the same however the run is cut.
TEST_P(CausalConvInvariants, EndedRowsGiveTheSameBitsHoweverTheyAreCut) {
  const std::vector<uint8_t> bytes = blob();
  const uint32_t batch = 4;
  const std::vector<float> x = integers(kSteps * batch * in(), 7);
  const std::vector<int32_t> lengths = {int32_t(kSteps), 0, 7, 22};
  const auto run = [&](uint32_t chunk, size_t steps_per_call) {
    Runner r(bytes, {batch, max_steps(), chunk});
    std::vector<float> y(kSteps * batch * out());
    for (size_t done = 0; done < kSteps; done += steps_per_call) {
      const size_t steps = std::min(steps_per_call, kSteps - done);
      std::vector<int32_t> left;
      for (const int32_t length : lengths)
        left.push_back(int32_t(std::min(steps, size_t(length) > done ? size_t(length) - done : size_t{0})));
      const rnnp_const_buffer inputs[] = {{x.data() + done * batch * in(), 0, 0}};
      const rnnp_buffer outputs[] = {{y.data() + done * batch * out(), 0, 0}};
      rnnp_io io = RNNP_IO_INIT;
      io.steps = steps;
      io.batch = batch;
      io.input_count = io.output_count = 1;
      io.lengths = left.data();
      io.inputs = inputs;
      io.outputs = outputs;
      EXPECT_EQ(RNNP_OK, rnnp_run_io(r.session(), &io));
    }
    return y;
  };
  const std::vector<float> whole = run(kSteps, kSteps);
  EXPECT_EQ(whole, run(1, kSteps));
  EXPECT_EQ(whole, run(5, kSteps));
  EXPECT_EQ(whole, run(0, 1));
  EXPECT_EQ(whole, run(3, 4));
}

// Runs of more steps than one block has. What F(2, 3) may deviate by: roundings of a weight, of a sum of two elements, of each
// product with its sum, and of the two sums of three points, each of at most 2^-24 of what the parts are in magnitude.
TEST(WinogradLines, LongRunsAreAsExactAsTheirSumsAllowHoweverTheyAreCut) {
  constexpr size_t kLong = 131;
  for (const int32_t lead : {2, 1}) {
    const Shape s = {"", 1, 11, 8, 10, 1, {1, 3}, {1, 1}, {1, 1}, {0, 1}, 3, 1, lead, false, false, false, true};
    BlobBuilder b(9, 16);
    b.add_output(add_node(&b, s, b.add_input(s.w * s.in)));
    const std::vector<uint8_t> bytes = b.build();
    const uint32_t batch = 2, elems = s.w * s.in, most = looks_ahead(s) ? kLong : 0;
    const std::vector<float> x = random_floats(kLong * batch * elems, 8);
    const std::vector<float> y = Runner(bytes, {batch, most}).run(x);
    const ConvLayer &layer = b.conv[0];
    for (uint32_t row = 0; row < batch; ++row) {
      const auto read = [&](int64_t t, int64_t, int64_t w, uint32_t c) {
        const bool there = t >= 0 && t < int64_t{kLong} && w >= 0 && w < s.w;
        return there ? double(x[(size_t(t) * batch + row) * elems + size_t(w) * s.in + c]) : 0.0;
      };
      for (uint32_t t = 0; t < kLong; ++t)
        for (uint32_t w = 0; w < s.w; ++w)
          for (uint32_t o = 0; o < s.out; ++o) {
            double magnitude = 3 * std::fabs(layer.b[o]);
            for (uint32_t tap = 0; tap < s.taps; ++tap)
              for (uint32_t c = 0; c < s.in; ++c) {
                double g[3], d[4];
                for (uint32_t k = 0; k < 3; ++k) g[k] = std::fabs(layer.w[((size_t{o} * s.taps + tap) * 3 + k) * s.in + c]);
                for (uint32_t k = 0; k < 4; ++k) d[k] = std::fabs(read(int64_t{t} - lead + tap, 0, int64_t{w / 2 * 2} + k - 1, c));
                magnitude += (d[0] + d[2]) * g[0] + (2 * d[1] + 2 * d[2]) * (g[0] + g[1] + g[2]) / 2 + (d[1] + d[3]) * g[2];
              }
            const double bound = (s.taps * s.in + 5) * magnitude / (1 << 24);
            ASSERT_NEAR(element(layer, t, 0, w, o, read), y[((size_t{t} * batch + row) * s.w + w) * s.out + o], bound)
                << "lead " << lead << " row " << row << " step " << t << " column " << w << " unit " << o;
          }
    }
    for (const uint32_t threads : {2u, 3u, 5u}) EXPECT_EQ(y, Runner(bytes, {batch, most, 0, 0, threads}).run(x)) << threads;
    if (looks_ahead(s)) continue;
    for (const size_t cut : {1, 47, 49, 97}) EXPECT_EQ(y, Runner(bytes, {batch}).run(x, cut)) << "cut " << cut;
    for (const uint32_t chunk : {1u, 50u, 100u}) EXPECT_EQ(y, Runner(bytes, {batch, 0, chunk}).run(x)) << "chunk " << chunk;
  }
}

// What a loaded state says of its ring's place may be anything.
TEST(ConvRing, AMalformedPlaceIsSafe) {
  BlobBuilder b(9);
  const Shape &s = kShapes[1];
  b.add_output(add_node(&b, s, b.add_input(s.in)));
  const std::vector<uint8_t> bytes = b.build();
  const std::vector<float> x = random_floats(3 * s.in, 4);
  for (const uint32_t place : {4u, 5u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
    Runner r(bytes);
    std::vector<uint8_t> saved = r.save(0);
    std::memcpy(saved.data() + saved.size() - sizeof place, &place, sizeof place);
    reseal_state(&saved);
    r.load(0, saved);
    EXPECT_EQ(r.run(x).size(), 3 * out_elems(s));
  }
}

// The place is an integer, in little-endian bytes: after 6 steps a ring of 4 is at 2.
TEST(ConvRing, ThePlaceIsAWordOfTheSavedState) {
  BlobBuilder b(9);
  const Shape &s = kShapes[1];
  b.add_output(add_node(&b, s, b.add_input(s.in)));
  Runner r(b.build());
  r.run(random_floats(6 * s.in, 4));
  const std::vector<uint8_t> saved = r.save(0);
  EXPECT_EQ((std::vector<uint8_t>{2, 0, 0, 0}), std::vector<uint8_t>(saved.end() - 4, saved.end()));
}

// Two axes of results, as far apart as given: either may be the outer one, but no two results share a place.
TEST(ConvWindow, ResultsThatShareAPlaceAreRefused) {
  const auto accepted = [](uint32_t h_stride, uint32_t w_stride) {
    BlobBuilder b(9);
    rnnp::AttrConv a = {};
    a.window = {{2, 3}, {2, 3}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 0, {12, 4, 1}, 0, {h_stride, w_stride}};
    a.time_taps = a.time_dilation = a.groups = 1;
    a.in_channels = a.out_channels = 4;
    b.add_output(b.add_conv(b.add_input(24), a, 24));
    try {
      Runner r(b.build());
    } catch (const std::runtime_error &) {
      return false;
    }
    return true;
  };
  EXPECT_TRUE(accepted(12, 4));
  EXPECT_TRUE(accepted(4, 8));
  EXPECT_FALSE(accepted(4, 4));
  EXPECT_FALSE(accepted(8, 4));
  EXPECT_FALSE(accepted(4, 6));
  EXPECT_FALSE(accepted(12, 3));
  EXPECT_FALSE(accepted(0, 4));
}

TEST(ConvWindow, PlanesThatAreNotWholeOrNotInsideAreRefused) {
  const auto accepted = [](uint32_t plane, uint32_t line, uint32_t first, uint32_t groups, uint32_t stride) {
    BlobBuilder b(9);
    rnnp::AttrConv a = {};
    a.window = {{2, 3}, {2, 3}, {1, 1}, {1, stride}, {1, 1}, {0, 0}, 0, {3, 1, 6}, first, {line, 1}};
    a.time_taps = a.time_dilation = 1;
    a.groups = groups;
    a.in_channels = a.out_channels = 4 / groups;
    a.y_plane = plane;
    b.add_output(b.add_conv(b.add_input(24), a, 25));
    try {
      Runner r(b.build());
    } catch (const std::runtime_error &) {
      return false;
    }
    return true;
  };
  EXPECT_TRUE(accepted(6, 3, 0, 1, 1));
  EXPECT_TRUE(accepted(6, 3, 1, 1, 1));
  EXPECT_FALSE(accepted(6, 3, 2, 1, 1));
  EXPECT_FALSE(accepted(7, 3, 0, 1, 1));
  EXPECT_FALSE(accepted(6, 4, 0, 1, 1));
  EXPECT_FALSE(accepted(6, 3, 0, 2, 1));
  EXPECT_FALSE(accepted(6, 3, 0, 1, 2));
}

TEST(ConvWindow, PointsOfOtherWindowsAreRefused) {
  const auto accepted = [](const auto &change) {
    BlobBuilder b(9);
    rnnp::AttrConv a = {};
    a.window = {{9, 9}, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {0, 0}, 0, {18, 1, 162}, 0, {7, 1}};
    a.time_taps = a.time_dilation = a.groups = 1;
    a.in_channels = a.out_channels = 4;
    a.y_plane = 49;
    change(&a);
    b.add_output(b.add_winograd(b.add_input(4 * 9 * 18), a, 4 * 49));
    try {
      Runner r(b.build());
    } catch (const std::runtime_error &) {
      return false;
    }
    return true;
  };
  EXPECT_TRUE(accepted([](rnnp::AttrConv *) {}));
  EXPECT_FALSE(accepted([](rnnp::AttrConv *a) { a->window.kernel[0] = 9, a->window.kernel[1] = 1; }));
  EXPECT_FALSE(accepted([](rnnp::AttrConv *a) { a->window.kernel[0] = 1, a->window.kernel[1] = 9; }));
  EXPECT_FALSE(accepted([](rnnp::AttrConv *a) { a->window.stride[0] = 2; }));
  EXPECT_FALSE(accepted([](rnnp::AttrConv *a) { a->window.stride[1] = 2; }));
  EXPECT_FALSE(accepted([](rnnp::AttrConv *a) { a->window.dilation[0] = 2; }));
  EXPECT_FALSE(accepted([](rnnp::AttrConv *a) { a->window.x_stride[1] = 2; }));
  EXPECT_FALSE(accepted([](rnnp::AttrConv *a) { a->lead = 1; }));
  EXPECT_FALSE(accepted([](rnnp::AttrConv *a) { a->y_plane = 0; }));
  EXPECT_FALSE(accepted([](rnnp::AttrConv *a) { a->window.y_first = 1; }));
}

INSTANTIATE_TEST_SUITE_P(Shapes, ConvInvariants, testing::ValuesIn(kShapes),
                         [](const auto &c) { return std::string(c.param.name); });

std::vector<Shape> causal_shapes() {
  std::vector<Shape> shapes;
  for (const Shape &shape : kShapes) {
    if (!looks_ahead(shape)) shapes.push_back(shape);
  }
  return shapes;
}

INSTANTIATE_TEST_SUITE_P(Shapes, CausalConvInvariants, testing::ValuesIn(causal_shapes()),
                         [](const auto &c) { return std::string(c.param.name); });

}  // namespace conv_invariants_test
