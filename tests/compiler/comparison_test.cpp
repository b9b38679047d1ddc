// comparison_test.cpp -- what `rnnpack verify` finds when library and evaluation disagree, which a right library never shows it.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/verify/comparison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace rnnp::compiler {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();

Array floats(std::vector<float> values) {
  Array array;
  array.shape = {static_cast<int64_t>(values.size())};
  array.f32 = std::move(values);
  return array;
}

Tensor doubles(const std::vector<double> &values) {
  Tensor tensor(Elem::kFloat, {static_cast<int64_t>(values.size())});
  tensor.data = values;
  return tensor;
}

TEST(Comparison, ErrorsAreRelativeToWhatIsExpectedWhereThatIsLarge) {
  const Comparison small = compare(floats({0.5f, 0.25f}), doubles({0.5, 0.26}));
  EXPECT_NEAR(small.worst, 0.01, 1e-9);
  EXPECT_NEAR(small.worst_relative, 0.01, 1e-9);
  const Comparison large = compare(floats({1000.0f}), doubles({1001.0}));
  EXPECT_NEAR(large.worst, 1.0, 1e-9);
  EXPECT_NEAR(large.worst_relative, 1.0 / 1001, 1e-9);
  EXPECT_TRUE(large.agrees(1e-3));
  EXPECT_FALSE(large.agrees(9e-4));
}

TEST(Comparison, NanAndInfinityAreCountedOnBothSidesAndOnOne) {
  const Comparison both =
      compare(floats({kNan, kInf, -kInf, kInf, 1.0f}), doubles({std::nan(""), HUGE_VAL, -HUGE_VAL, 1e300, 1.0}));
  EXPECT_EQ(both.not_finite, 4u);
  EXPECT_EQ(both.one_sided, 0u);
  EXPECT_TRUE(both.agrees(0));
  for (const auto &[have, want] :
       {std::pair<float, double>{kNan, 1.0}, {1.0f, std::nan("")}, {kInf, 1.0}, {kInf, -HUGE_VAL}, {kNan, HUGE_VAL}}) {
    const Comparison one = compare(floats({have}), doubles({want}));
    EXPECT_EQ(one.one_sided, 1u) << have << " " << want;
    EXPECT_FALSE(one.agrees(1e9));
  }
}

// 0 / 0 of a graph that rounds: beside it a rounding fell the other way. What the library alone has is never left out.
TEST(Comparison, NanOfAGraphThatRoundsIsLeftOut) {
  const Comparison graph = compare(floats({1.0f, 2.0f}), doubles({std::nan(""), 2.0}));
  EXPECT_FALSE(graph.is_comparable());
  EXPECT_TRUE(graph.is_comparable(true));
  EXPECT_EQ(graph.noise, 0.0);
  for (const float have : {kNan, kInf}) EXPECT_FALSE(compare(floats({have}), doubles({1.0})).is_comparable(true)) << have;
  EXPECT_FALSE(compare(floats({kInf}), doubles({std::nan("")})).is_comparable(true));
}

TEST(Comparison, OutputsOfAnotherSizeDisagree) {
  EXPECT_FALSE(compare(floats({1.0f}), doubles({1.0, 2.0})).agrees(1e9));
}

TEST(Comparison, DistanceLeavesOutWhatIsNotFinite) {
  EXPECT_EQ(distance(doubles({1.0, HUGE_VAL, std::nan("")}), doubles({1.0, 1.0, 1.0})), 0.0);
  EXPECT_NEAR(distance(doubles({1.0, 200.0}), doubles({1.0, 202.0})), 0.01, 1e-12);
}

// A library whose results depend on the cuts in one bit, in a sign of zero, in a shape, or that loses an output.
TEST(Comparison, RunsInPiecesMustGiveTheSameBits) {
  const Arrays whole = {{"a", floats({1.0f, 0.0f})}, {"b", floats({kNan})}};
  std::vector<size_t> asked;
  std::string report;
  const auto same = [&](const std::vector<size_t> &cuts) {
    asked = cuts;
    return whole;
  };
  EXPECT_TRUE(pieces_agree(whole, {3, 1, 2}, same, &report));
  EXPECT_EQ(asked, (std::vector<size_t>{3, 1, 2}));
  EXPECT_EQ(report, "3 calls of 3, 1 and 2 steps: the same bits as one call\n");

  Arrays one_bit = whole, sign = whole, shape = whole, lost = whole;
  one_bit["a"].f32[0] = std::nextafter(1.0f, 2.0f);
  sign["a"].f32[1] = -0.0f;
  shape["b"].shape = {1, 1};
  lost.erase("b");
  for (const auto &[pieces, name] : {std::pair<Arrays, std::string>{one_bit, "a"}, {sign, "a"}, {shape, "b"}, {lost, "b"}}) {
    report.clear();
    const Arrays given = pieces;
    EXPECT_FALSE(pieces_agree(
        whole, {4, 2}, [&](const std::vector<size_t> &) { return given; }, &report));
    EXPECT_EQ(report, name + ": 2 calls of 4 and 2 steps give other bits than one call  FAILED\n");
  }
}

}  // namespace
}  // namespace rnnp::compiler
