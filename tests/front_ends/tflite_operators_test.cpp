// tflite_operators_test.cpp -- operators of TensorFlow Lite whose meaning differs from that of their ONNX namesakes, and options
// that files leave out. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "model_of.h"
#include "tflite_files.h"

namespace rnnp::testing_support {
namespace tflite_operators_test {

using namespace rnnp::compiler;
using Code = TfliteCode;
using Shape32 = std::vector<int32_t>;

constexpr float kTolerance = 1e-6f;

Doubles doubles(const Floats &values) {
  return {values.begin(), values.end()};
}

struct OneOperator {
  TfliteWriter file;
  int x, y;
  OneOperator(const Shape32 &from, const Shape32 &to) {
    x = file.tensor("input", from);
    y = file.tensor("output", to);
    file.graph_io({x}, {y});
  }
};

TEST(TfliteOperators, SelectByOneAxisChoosesRows) {
  OneOperator f({3, 3}, {3, 3});
  const Floats x = random_numbers(9, 1, 1), other = random_numbers(9, 1, 2);
  const int condition = f.file.tensor("", {3}, TfliteType::kBool, {}, std::string("\1\0\1", 3));
  f.file.op(Code::kSelect, {condition, f.x, f.file.floats({3, 3}, other)}, {f.y});
  Doubles expected = doubles(x);
  for (size_t i = 3; i < 6; ++i) expected[i] = static_cast<double>(other[i]);
  EXPECT_LT(largest_difference(output_of(f.file.file(), {3, 3}, x), expected), kTolerance);
}

// A scalar that a file leaves out is 0.
TEST(TfliteOperators, SoftmaxWithoutBetaMultipliesByZero) {
  OneOperator f({1, 4}, {1, 4});
  f.file.op(Code::kSoftmax, {f.x}, {f.y});
  EXPECT_LT(largest_difference(output_of(f.file.file(), {1, 4}, random_numbers(4, 1, 1)), Doubles(4, 0.25)), kTolerance);
}

TEST(TfliteOperators, L2NormalizationHasAnActivation) {
  OneOperator f({1, 2}, {1, 2});
  f.file.op(Code::kL2Normalization, {f.x}, {f.y}, activation(0, 1));
  EXPECT_LT(largest_difference(output_of(f.file.file(), {1, 2}, {3, -4}), {0.6, 0}), kTolerance);
}

TEST(TfliteOperators, ABeginThatIsMaskedIsTheFirstElement) {
  OneOperator f({1, 4}, {1});
  f.file.op(Code::kStridedSlice, {f.x, f.file.ints({0, 2}), f.file.ints({1, 3}), f.file.ints({1, 1})}, {f.y},
            FlatOut().number(0, int32_t{3}).number(1, int32_t{1}).number(4, int32_t{2}));
  EXPECT_EQ(output_of(f.file.file(), {1, 4}, {5, 6, 7, 8}), Floats{5});
}

TEST(TfliteOperators, ATransposedConvolutionWithoutPaddingBeginsAtItsFirstElement) {
  OneOperator f({1, 1, 2, 1}, {1, 1, 4, 1});
  f.file.op(Code::kTransposeConv, {f.file.ints({1, 1, 4, 1}), f.file.floats({1, 1, 3, 1}, {1, 10, 100}), f.x}, {f.y},
            FlatOut().number(0, int8_t{1}).number(1, int32_t{2}).number(2, int32_t{1}));
  EXPECT_EQ(output_of(f.file.file(), {1, 1, 2, 1}, {1, 2}), (Floats{1, 10, 102, 20}));
}

TEST(TfliteOperators, AnyAndAllOfBooleans) {
  for (const int code : {Code::kReduceAny, Code::kReduceAll}) {
    OneOperator f({3, 2}, {3, 1});
    const int above = f.file.tensor("above", {3, 2}, TfliteType::kBool), one = f.file.tensor("one", {3, 1}, TfliteType::kBool);
    f.file.op(Code::kGreater, {f.x, f.file.floats({}, {0})}, {above});
    f.file.op(code, {above, f.file.ints({1})}, {one}, FlatOut().number(0, uint8_t{1}));
    f.file.op(Code::kCast, {one}, {f.y});
    EXPECT_EQ(output_of(f.file.file(), {3, 2}, {1, 1, 1, -1, -1, -1}), (Floats{1, code == Code::kReduceAny ? 1.0f : 0.0f, 0}));
  }
}

TEST(TfliteOperators, GatherNdTakesRowsOrElements) {
  OneOperator rows({3, 2}, {2, 2}), elements({3, 2}, {2});
  const auto indices = [](TfliteWriter *file, const Shape32 &shape, const std::vector<int32_t> &values) {
    return file->tensor("", shape, TfliteType::kInt32, {},
                        std::string(reinterpret_cast<const char *>(values.data()), values.size() * 4));
  };
  rows.file.op(Code::kGatherNd, {rows.x, indices(&rows.file, {2, 1}, {2, 0})}, {rows.y});
  EXPECT_EQ(output_of(rows.file.file(), {3, 2}, {1, 2, 3, 4, 5, 6}), (Floats{5, 6, 1, 2}));
  elements.file.op(Code::kGatherNd, {elements.x, indices(&elements.file, {2, 2}, {1, 0, 2, 1})}, {elements.y});
  EXPECT_EQ(output_of(elements.file.file(), {3, 2}, {1, 2, 3, 4, 5, 6}), (Floats{3, 6}));
}

// The place of each row's largest number, as a row of ones and zeros, and as what stands there in a table.
TEST(TfliteOperators, IndicesLookUpTablesAndMakeRowsOfOnes) {
  for (const bool hot : {false, true}) {
    OneOperator f({2, 3}, hot ? Shape32{2, 3} : Shape32{2, 1});
    const int at = f.file.tensor("at", {2}, TfliteType::kInt32);
    f.file.op(Code::kArgMax, {f.x, f.file.ints({1})}, {at});
    if (hot) {
      f.file.op(Code::kOneHot, {at, f.file.ints({3}, true), f.file.floats({}, {2}), f.file.floats({}, {-1})}, {f.y},
                FlatOut().number(0, int32_t{-1}));
    } else {
      f.file.op(Code::kEmbeddingLookup, {at, f.file.floats({3, 1}, {10, 20, 30})}, {f.y});
    }
    EXPECT_EQ(output_of(f.file.file(), {2, 3}, {1, 3, 2, 4, 0, 1}), hot ? (Floats{-1, 2, -1, 2, -1, -1}) : (Floats{20, 10}));
  }
}

TEST(TfliteOperators, TopkGivesNumbersAndPlaces) {
  OneOperator f({1, 4}, {1, 2});
  const int values = f.file.tensor("values", {1, 2}), places = f.file.tensor("places", {1, 2}, TfliteType::kInt32),
            cast = f.file.tensor("cast", {1, 2});
  f.file.op(Code::kTopk, {f.x, f.file.ints({2}, true)}, {values, places});
  f.file.op(Code::kCast, {places}, {cast});
  f.file.op(Code::kAdd, {values, cast}, {f.y});
  EXPECT_EQ(output_of(f.file.file(), {1, 4}, {10, 40, 20, 30}), (Floats{41, 33}));
}

TEST(TfliteOperators, ZerosLikeIsZeroWhateverTheNumbersAre) {
  OneOperator f({1, 3}, {1, 3});
  const int zeros = f.file.tensor("zeros", {1, 3});
  f.file.op(Code::kZerosLike, {f.x}, {zeros});
  f.file.op(Code::kAdd, {zeros, f.file.floats({3}, {1, 2, 3})}, {f.y});
  EXPECT_EQ(output_of(f.file.file(), {1, 3}, {NAN, INFINITY, 1}), (Floats{1, 2, 3}));
}

// Two convolutions of one sequence whose steps are dealt out to `block` rows, as converters write a gated dilated one.
TEST(TfliteOperators, IfGivesWhatTheBranchOfItsConditionMakes) {
  TfliteWriter file;
  const int x = file.tensor("input", {1, 3}), y = file.tensor("output", {1, 3}), mean = file.tensor("mean", {}),
            is_more = file.tensor("is_more", {}, TfliteType::kBool);
  file.op(Code::kMean, {x, file.ints({0, 1})}, {mean});
  file.op(Code::kGreater, {mean, file.floats({}, {1})}, {is_more});
  file.op(Code::kIf, {is_more, x, mean}, {y}, FlatOut().number(0, int32_t{2}).number(1, int32_t{1}));
  file.graph_io({x}, {y});
  for (const int code : {Code::kSub, Code::kMul}) {
    file.begin_graph();
    const int a = file.tensor("a", {1, 3}), b = file.tensor("b", {}), made = file.tensor("made", {1, 3});
    file.op(code, {a, b}, {made});
    file.graph_io({a, b}, {made});
  }
  EXPECT_EQ(output_of(file.file(), {1, 3}, {3, 0, -3}), (Floats{3, 0, -3}));
  EXPECT_EQ(output_of(file.file(), {1, 3}, {1, 2, 6}), (Floats{3, 6, 18}));
}

// As the seeds that Keras counts up beside layers with dropout: no output needs them.
TEST(TfliteOperators, VariablesThatNothingNeedsAreLeftOut) {
  TfliteWriter file;
  const int x = file.tensor("input", {1, 3}), y = file.tensor("output", {1, 3}),
            seed = file.tensor("seed", {2}, TfliteType::kInt32), next = file.tensor("next", {2}, TfliteType::kInt32),
            handle = file.tensor("handle", {}, TfliteType::kResource);
  file.op(Code::kVarHandle, {}, {handle}, FlatOut().text(1, "seed"));
  file.op(Code::kReadVariable, {handle}, {seed});
  file.op(Code::kAdd, {seed, file.ints({0, 1})}, {next});
  file.op(Code::kAssignVariable, {handle, next}, {});
  file.op(Code::kTanh, {x}, {y});
  file.graph_io({x}, {y});
  EXPECT_EQ(compiled_of(file.file()).graph.states.size(), 0u);
  EXPECT_EQ(output_of(file.file(), {1, 3}, {0, 20, -20}), (Floats{0, 1, -1}));
}

TEST(TfliteOperators, ConvolutionsOfDealtStepsAreDilated) {
  constexpr int kLength = 11, kBlock = 4, kPadded = 12, kEach = kPadded / kBlock, kWidth = 2, kOut = kLength - kBlock;
  OneOperator f({1, kLength, 1}, {1, kOut, 1});
  const int dealt = f.file.tensor("dealt", {kBlock, kEach, 1}), image = f.file.tensor("image", {kBlock, 1, kEach, 1});
  const int block = f.file.ints({kBlock}),
            pads = f.file.tensor("", {1, 2}, TfliteType::kInt32, {}, std::string("\0\0\0\0\1\0\0\0", 8));
  f.file.op(Code::kSpaceToBatch, {f.x, block, pads}, {dealt});
  f.file.op(Code::kReshape, {dealt, f.file.ints({kBlock, 1, kEach, 1})}, {image});
  std::vector<int32_t> parts;
  for (const Floats &kernel : {Floats{1, 2}, Floats{-3, 0.5f}}) {
    const int made = f.file.tensor("made", {kBlock, 1, kEach - 1, 1}), flat = f.file.tensor("flat", {kBlock, kEach - 1, 1});
    parts.push_back(f.file.tensor("part", {1, kOut, 1}));
    f.file.op(Code::kConv, {image, f.file.floats({1, 1, kWidth, 1}, kernel)}, {made},
              FlatOut().number(0, int8_t{1}).number(1, int32_t{1}).number(2, int32_t{1}));
    f.file.op(Code::kReshape, {made, f.file.ints({kBlock, kEach - 1, 1})}, {flat});
    f.file.op(Code::kBatchToSpace, {flat, block, pads}, {parts.back()});
  }
  f.file.op(Code::kMul, parts, {f.y});
  Floats x(kLength);
  std::iota(x.begin(), x.end(), 1.0f);
  Doubles expected;
  for (size_t t = 0; t < kOut; ++t) {
    const double now = static_cast<double>(x[t]), later = static_cast<double>(x[t + kBlock]);
    expected.push_back((now + 2 * later) * (-3 * now + 0.5 * later));
  }
  EXPECT_LT(largest_difference(output_of(f.file.file(), {1, kLength, 1}, x), expected), kTolerance);
}

}  // namespace tflite_operators_test
}  // namespace rnnp::testing_support
