// run_time_places_test.cpp -- places found and used at run time, sums and softmax along time, integers that are divided.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compiler/compile.h"
#include "compiler/eval/eval.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace {

using Ints = std::vector<int64_t>;
constexpr int kInt = onnx::TensorProto::INT64;

compiler::Array integers(const Ints &shape, const std::vector<float> &values) {
  compiler::Array array;
  array.shape = shape;
  array.f32 = values;
  return array;
}

// x [steps, batch, 8] through a GRU, so that steps and batch are known.
OnnxBuilder behind_layer() {
  OnnxBuilder b(18);
  b.input("X", {"T", "N", 4}).weights("", 3, 1, 4, 8).constant_ints("at1", {1}, {1});
  b.node("GRU", {"X", "W", "R", "B"}, {"y4"}).with("hidden_size", 8);
  b.node("Squeeze", {"y4", "at1"}, {"y"});
  return b;
}

TEST(RunTimePlaces, ArgMaxGivesTheFirstOrTheLastPlace) {
  for (const char *op : {"ArgMax", "ArgMin"}) {
    for (const int last : {0, 1}) {
      OnnxBuilder b = behind_layer();
      b.node("Round", {"y"}, {"few"});  // equal ones
      b.node(op, {"few"}, {"p"}).with("axis", -1).with("keepdims", last).with("select_last_index", last);
      b.node("Cast", {"p"}, {"out"}).with("to", 1);
      b.node(op, {"y"}, {"q"}).with("axis", 2);
      b.node("Cast", {"q"}, {"best"}).with("to", 1);
      b.output("out").output("best");
      check_against_f64(b.proto);
    }
  }
}

TEST(RunTimePlaces, ArgMaxOverTimeIsRefused) {
  OnnxBuilder b = behind_layer();
  b.node("ArgMax", {"y"}, {"out"}).with("axis", 0);
  b.output("out");
  EXPECT_NE(refusal_of(b.proto).find("it looks along the time or batch axis of [T, N, 8]; accepted: feature axes"),
            std::string::npos)
      << refusal_of(b.proto);
}

TEST(RunTimePlaces, TopKTakesEachPlaceOnce) {
  for (const int largest : {1, 0}) {
    for (const bool equal : {true, false}) {
      OnnxBuilder b = behind_layer();
      b.constant_ints("k", {1}, {5});
      b.node("Round", {"y"}, {"few"});
      b.node("TopK", {equal ? "few" : "y", "k"}, {"v", "p"}).with("axis", 2).with("largest", largest);
      b.node("Cast", {"p"}, {"places"}).with("to", 1);
      b.output("v").output("places");
      check_against_f64(b.proto);
    }
  }
}

// Places that are taken hold no value that others could not have, too.
TEST(RunTimePlaces, TopKTellsPlacesOfMinusInfinityApart) {
  OnnxBuilder b = behind_layer();
  b.constant_ints("k", {1}, {7});
  b.node("Round", {"y"}, {"few"});
  b.node("Relu", {"few"}, {"some"});
  b.node("Log", {"some"}, {"ends"});
  b.node("TopK", {"ends", "k"}, {"v", "p"});
  b.node("Cast", {"p"}, {"places"}).with("to", 1);
  b.output("places");
  check_against_f64(b.proto);
}

// NumPy's rule: ArgMax and ArgMin give the first NaN, TopK takes it for the largest number.
TEST(RunTimePlaces, NanHasAPlaceInTheAxis) {
  OnnxBuilder b(18);
  b.input("X", {"N", 5}).constant_ints("k", {1}, {4});
  const auto place = [&](const char *op, const char *out, int last) {
    b.node(op, {"X"}, {std::string(out) + "64"}).with("axis", 1).with("keepdims", 0).with("select_last_index", last);
    b.node("Cast", {std::string(out) + "64"}, {out}).with("to", 1);
    b.output(out);
  };
  place("ArgMax", "max", 0);
  place("ArgMin", "min", 0);
  place("ArgMax", "last", 1);
  for (const int largest : {1, 0}) {
    const std::string end = largest ? "" : "s";
    b.node("TopK", {"X", "k"}, {"v" + end, "p64" + end}).with("axis", 1).with("largest", largest);
    b.node("Cast", {"p64" + end}, {"p" + end}).with("to", 1);
    b.output("v" + end).output("p" + end);
  }
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {1,     kNan, 3,    2,    0,    kNan, 1,    kNan, 2, 0, 1, 2, kInf,
                                -kInf, kNan, kNan, kNan, kNan, kNan, kNan, 4,    4, 1, 1, 3};
  const std::map<std::string, std::vector<float>> wanted = {
      {"max", {1, 0, 4, 0, 0}},
      {"min", {1, 0, 4, 0, 2}},
      {"last", {1, 2, 4, 4, 1}},
      {"v", {kNan, 3, 2, 1, kNan, kNan, 2, 1, kNan, kInf, 2, 1, kNan, kNan, kNan, kNan, 4, 4, 3, 1}},
      {"p", {1, 2, 3, 0, 0, 2, 3, 1, 4, 2, 1, 0, 0, 1, 2, 3, 0, 1, 4, 2}},
      {"vs", {0, 1, 2, 3, 0, 1, 2, kNan, -kInf, 1, 2, kInf, kNan, kNan, kNan, kNan, 1, 1, 3, 4}},
      {"ps", {4, 0, 3, 2, 4, 1, 3, 0, 3, 0, 1, 2, 0, 1, 2, 3, 2, 3, 4, 0}}};
  const auto same = [](float got, float want) { return std::isnan(want) ? std::isnan(got) : got == want; };
  const auto model = compiler::check_model(b.proto);
  compiler::Tensor input(compiler::Elem::kFloat, {5, 5});
  std::copy(x.begin(), x.end(), input.data.begin());
  const auto evaluated = compiler::eval_graph(*model, {{"X", input}});
  const auto ran = compiler::Runner(compiler::compile_model(*model, "generic").blob).run({{"X", integers({5, 5}, x)}}, {});
  for (const auto &each : wanted) {
    const std::vector<float> &got = ran.at(each.first).f32;
    const compiler::TensorData &exact = evaluated.at(each.first).data;
    ASSERT_EQ(got.size(), each.second.size());
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_TRUE(same(got[i], each.second[i])) << each.first << " " << i << ": " << got[i];
      EXPECT_TRUE(same(static_cast<float>(exact[i]), each.second[i])) << each.first << " " << i << ": " << exact[i];
    }
  }
}

TEST(RunTimePlaces, AThirdOfAProductIsAsMuchAsTwo) {
  OnnxBuilder b = behind_layer();
  b.random("A", {8, 3}).random("C", {3, 5});
  b.node("Einsum", {"A", "y", "C"}, {"constants"}).with("equation", "hp,tbh,pq->tbq");
  b.node("Einsum", {"y", "y", "y"}, {"outer"}).with("equation", "tbh,tbn,tbh->tbnh");
  b.output("constants").output("outer");
  check_against_f64(b.proto);
}

TEST(OverTime, CumSumGoesOnFromCallToCallOrGoesBackwards) {
  for (const int exclusive : {0, 1}) {
    for (const int reverse : {0, 1}) {
      OnnxBuilder b = behind_layer();
      b.constant_ints("time", {}, {0});
      b.node("CumSum", {"y", "time"}, {"out"}).with("exclusive", exclusive).with("reverse", reverse);
      b.output("out");
      check_against_f64(b.proto);
      b.node("CumSum", {"out", "time"}, {"again"}).with("exclusive", 1 - exclusive).with("reverse", 1);
      b.output("again");
      check_against_f64(b.proto);
    }
  }
}

TEST(OverTime, CumSumAlongFeaturesInBothDirections) {
  for (const int exclusive : {0, 1}) {
    for (const int reverse : {0, 1}) {
      OnnxBuilder b = behind_layer();
      b.constant_ints("last", {}, {-1});
      b.node("CumSum", {"y", "last"}, {"out"}).with("exclusive", exclusive).with("reverse", reverse);
      b.output("out");
      check_against_f64(b.proto);
    }
  }
}

TEST(OverTime, SoftmaxWeighsAllStepsOfAWholeSequence) {
  for (const char *op : {"Softmax", "LogSoftmax"}) {
    OnnxBuilder b = behind_layer();
    b.random("score", {8, 1}).constant("scale", {}, {400.0f}).constant_ints("time", {1}, {0});
    b.node("MatMul", {"y", "score"}, {"s"});
    b.node("Mul", {"s", "scale"}, {"wide"});
    b.node(op, {"wide"}, {"p"}).with("axis", 0);
    b.node("Mul", {"p", "y"}, {"weighted"});
    b.node("ReduceSum", {"weighted", "time"}, {"out"}).with("keepdims", 0);
    b.output("out").output("p");
    check_against_f64(b.proto);
    EXPECT_FALSE(compiler::compile_graph(*compiler::check_model(b.proto), {}).causal);
  }
}

TEST(OverTime, PositionsAreCountedAndReversedIntoWaves) {
  OnnxBuilder b(18);
  b.input("X", {"T", "N", 4}).weights("", 3, 1, 4, 8).constant_ints("time", {}, {0}).constant("rate", {4}, {1, 0.3f, 0.1f, 0.01f});
  b.node("Mul", {"X", "zero"}, {"nothing"});
  b.constant("zero", {}, {0}).constant("one", {}, {1});
  b.node("Add", {"nothing", "one"}, {"ones"});
  b.node("CumSum", {"ones", "time"}, {"t"});
  b.node("Mul", {"t", "rate"}, {"angle"});
  b.node("Sin", {"angle"}, {"sin"});
  b.node("Cos", {"angle"}, {"cos"});
  b.node("Mul", {"X", "sin"}, {"a"});
  b.node("Add", {"a", "cos"}, {"x"});
  b.node("GRU", {"x", "W", "R", "B"}, {"out"}).with("hidden_size", 8);
  b.output("out");
  check_against_f64(b.proto);
}

// Integers as ONNX divides them: towards zero, the rest with the sign of the divisor or, with fmod, of the dividend.
TEST(Integers, AreDividedTowardsZeroAndHaveARest) {
  OnnxBuilder b(18);
  b.input("X", {"N", 6}, kInt).input("D", {"N", 6}, kInt);
  b.node("Div", {"X", "D"}, {"q"});
  b.node("Mod", {"X", "D"}, {"r"});
  b.node("Mod", {"X", "D"}, {"f"}).with("fmod", 1);
  for (const char *name : {"q", "r", "f"}) {
    b.node("Cast", {name}, {std::string(name) + "_out"}).with("to", 1);
    b.output(std::string(name) + "_out");
  }
  const compiler::Array x = integers({2, 6}, {7, -7, 7, -7, 0, 8388607, 6, -6, 5, 1, -1, 8388606});
  const compiler::Array d = integers({2, 6}, {3, 3, -3, -3, 5, 4096, 3, 3, 7, 2, 2, 8388607});
  check_against_f64(b.proto, {}, {{"X", x}, {"D", d}});
}

// A ring of the last five steps that a network keeps: written at the position, read behind it.
TEST(RunTimePlaces, ARingIsWrittenAndReadAtItsPosition) {
  for (const std::string op : {"ScatterND", "ScatterElements"}) {
    OnnxBuilder b(18);
    b.input("X", {1, 3}).input("ring", {5, 3}).input("at", {1}, kInt);
    b.constant_ints("five", {}, {5})
        .constant_ints("one", {}, {1})
        .constant_ints("row", {2}, {1, 1})
        .constant_ints("wide", {2}, {1, 3});
    b.node("Mod", {"at", "five"}, {"place"});
    if (op == "ScatterND") {
      b.node("Reshape", {"place", "row"}, {"tuple"});
      b.node("ScatterND", {"ring", "tuple", "X"}, {"ring_next"});
    } else {
      b.node("Expand", {"place", "wide"}, {"places"});
      b.node("ScatterElements", {"ring", "places", "X"}, {"ring_next"}).with("axis", 0);
    }
    b.node("Add", {"at", "one"}, {"at_next"});
    b.node("Sub", {"place", "five"}, {"back"});  // below 0: from the end
    b.node("Add", {"back", "one"}, {"next"});
    b.node("Gather", {"ring_next", "next"}, {"oldest"}).with("axis", 0);
    b.node("Reshape", {"place", "row"}, {"tuple2"});
    b.node("GatherND", {"ring_next", "tuple2"}, {"newest"});
    b.node("Sub", {"newest", "oldest"}, {"out"});
    b.output("out").output("ring_next").output("at_next");
    check_persistent_states(b.proto, {{"ring", "ring_next"}, {"at", "at_next"}}, {13, 1});
  }
}

}  // namespace
}  // namespace rnnp::testing_support
