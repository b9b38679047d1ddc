// pool_invariants_test.cpp -- windows of pools: the bits of plain loops over the window's elements at every lay-out, NaN and
// infinities among them, and however a run is cut into chunks, threads and batch rows. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "support/session_fixture.h"
#include "support/window_of.h"

namespace pool_invariants_test {

using namespace rnnp_test;

struct Shape {
  const char *name;
  uint32_t h, w, channels;
  uint32_t kernel[2], stride[2], dilation[2];
  int32_t pad[2];
  bool channels_first;
};

const Shape kShapes[] = {
    {"pairs", 1, 25, 2, {1, 2}, {1, 2}, {1, 1}, {0, 0}, false},
    {"pairs_of_three_taps", 1, 25, 6, {1, 3}, {1, 2}, {1, 2}, {0, 1}, false},
    {"one_channel", 1, 31, 1, {1, 4}, {1, 3}, {1, 1}, {0, 0}, false},
    {"three_channels", 4, 9, 3, {2, 2}, {2, 1}, {1, 1}, {1, 1}, false},
    {"many_channels", 3, 20, 19, {3, 2}, {1, 2}, {1, 1}, {1, 0}, false},
    {"more_channels_than_places", 1, 4, 40, {1, 2}, {1, 2}, {1, 1}, {0, 0}, false},
    {"planes", 6, 10, 4, {2, 3}, {2, 2}, {1, 1}, {0, 1}, true},
    {"windows_beside_x", 1, 3, 2, {1, 2}, {1, 1}, {1, 1}, {0, 3}, false},
    {"lines_beside_x", 2, 5, 2, {1, 2}, {1, 1}, {1, 1}, {2, 0}, false},
};

size_t in_elems(const Shape &s) {
  return size_t{s.h} * s.w * s.channels;
}
size_t out_elems(const Shape &s) {
  return size_t{out_size(s, 0)} * out_size(s, 1) * s.channels;
}

std::vector<uint8_t> blob_of(const Shape &s, rnnp::Pool pool) {
  rnnp::AttrPool a = {};
  a.window = window_of(s, s.channels, s.channels);
  a.pool = uint32_t(pool);
  a.channels = s.channels;
  for (int i = 0; i < 2; ++i) a.counted_before[i] = a.counted_after[i] = uint32_t(s.pad[i]);
  BlobBuilder b(3);
  const uint32_t x = b.add_input(uint32_t(in_elems(s)));
  b.add_output(b.add_node(rnnp::OpKind::kPool, &a, sizeof a, {x}, uint32_t(out_elems(s)), true));
  return b.build();
}

float element(const Shape &s, rnnp::Pool pool, const float *x, uint32_t h, uint32_t w, uint32_t c) {
  const bool largest = pool == rnnp::Pool::kMax;
  float y = largest ? -INFINITY : 0.0f;
  for (uint32_t i = 0; i < s.kernel[0]; ++i)
    for (uint32_t j = 0; j < s.kernel[1]; ++j) {
      const int64_t at_h = int64_t{h} * s.stride[0] + i * s.dilation[0] - s.pad[0];
      const int64_t at_w = int64_t{w} * s.stride[1] + j * s.dilation[1] - s.pad[1];
      if (at_h < 0 || at_h >= s.h || at_w < 0 || at_w >= s.w) continue;
      const size_t place = size_t(at_h) * s.w + size_t(at_w);
      const float v = x[s.channels_first ? c * size_t{s.h} * s.w + place : place * s.channels + c];
      y = !largest ? y + v : std::isnan(y) || std::isnan(v) ? NAN : std::max(y, v);
    }
  return largest ? y : y / float(s.kernel[0] * s.kernel[1]);
}

class PoolInvariants : public testing::TestWithParam<std::tuple<Shape, rnnp::Pool>> {
 protected:
  static constexpr size_t kSteps = 5, kBatch = 3;
  const Shape &shape() const { return std::get<0>(GetParam()); }
  rnnp::Pool pool() const { return std::get<1>(GetParam()); }

  std::vector<float> input(bool odd) const {
    std::vector<float> x = random_floats(kSteps * kBatch * in_elems(shape()), 4);
    const float kOdd[] = {NAN, INFINITY, -INFINITY, -0.0f};
    for (size_t i = 3; odd && i < x.size(); i += 7) x[i] = kOdd[i % 4];
    return x;
  }
};

bool same(float a, float b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

TEST_P(PoolInvariants, GiveWhatPlainLoopsGive) {
  for (const bool odd : {false, true}) {
    const std::vector<float> x = input(odd), y = Runner(blob_of(shape(), pool()), {kBatch}).run(x);
    size_t at = 0;
    for (size_t row = 0; row < kSteps * kBatch; ++row)
      for (uint32_t h = 0; h < out_size(shape(), 0); ++h)
        for (uint32_t w = 0; w < out_size(shape(), 1); ++w)
          for (uint32_t c = 0; c < shape().channels; ++c, ++at) {
            const float want = element(shape(), pool(), x.data() + row * in_elems(shape()), h, w, c);
            ASSERT_TRUE(same(want, y[at])) << "row " << row << " at " << h << ", " << w << ", " << c << ": " << want << ", "
                                           << y[at];
          }
  }
}

TEST_P(PoolInvariants, CutsChunksAndThreadsDoNotMatter) {
  const std::vector<uint8_t> bytes = blob_of(shape(), pool());
  const std::vector<float> x = input(false), whole = Runner(bytes, {kBatch}).run(x);
  for (const size_t cut : {1, 2, 4}) EXPECT_EQ(whole, Runner(bytes, {kBatch}).run(x, cut)) << "cut " << cut;
  for (const uint32_t threads : {2u, 3u, 5u})
    EXPECT_EQ(whole, Runner(bytes, {kBatch, 0, 2, 0, threads}).run(x)) << threads << " threads";
}

// Rows lie on floats, no more: what takes two at a time must not ask for eight bytes (UBSan sees it).
TEST_P(PoolInvariants, RowsMayLieOnAnyFloat) {
  const std::vector<uint8_t> bytes = blob_of(shape(), pool());
  const std::vector<float> x = input(false), want = Runner(bytes, {kBatch}).run(x);
  for (const size_t off : {1, 2, 3}) {
    std::vector<float> moved(x.size() + off), y(want.size() + off);
    std::copy(x.begin(), x.end(), moved.begin() + off);
    Runner r(bytes, {kBatch});
    ASSERT_EQ(RNNP_OK, rnnp_run(r.session(), kSteps, moved.data() + off, y.data() + off));
    EXPECT_EQ(want, std::vector<float>(y.begin() + off, y.end())) << off << " floats on";
  }
}

// Of 2^27 taps of a window, 5 lie in x. A walk over all of them takes minutes for 2^10 lines (found by fuzzing).
TEST(Pool, TapsOutsideOfXTakeNoTime) {
  const Shape s = {"", 1024, 5, 2, {1, 1u << 27}, {1, 1}, {1, 1}, {0, 1 << 26}, false};
  std::vector<uint8_t> bytes = blob_of(s, rnnp::Pool::kMax);
  rnnp::BlobHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.macs_per_step = uint64_t{1} << 50;
  std::memcpy(bytes.data(), &header, sizeof header);
  reseal(&bytes);
  const std::vector<float> x = random_floats(in_elems(s), 5);
  const std::vector<float> y = Runner(bytes, {1}).run(x);
  ASSERT_EQ(out_elems(s), y.size());
  const size_t line_elems = size_t{out_size(s, 1)} * 2;
  for (size_t i = 0; i < y.size(); ++i) {
    const float *line = x.data() + i / line_elems * 10 + i % 2;
    float want = line[0];
    for (size_t place = 1; place < 5; ++place) want = std::max(want, line[2 * place]);
    ASSERT_EQ(want, y[i]) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, PoolInvariants,
                         testing::Combine(testing::ValuesIn(kShapes), testing::Values(rnnp::Pool::kMax, rnnp::Pool::kAverage)),
                         [](const auto &given) {
                           return std::string(std::get<0>(given.param).name) +
                                  (std::get<1>(given.param) == rnnp::Pool::kMax ? "_max" : "_average");
                         });

}  // namespace pool_invariants_test
