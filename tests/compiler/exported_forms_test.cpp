// exported_forms_test.cpp -- forms that exporters write around recurrent layers: rows sorted by their lengths and put back, OneHot,
// Resize, Scans whose body declares no shapes. Against the f64 evaluation.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "loop_models.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace {

using Ints = std::vector<int64_t>;

// pack_padded_sequence(enforce_sorted=False) and pad_packed_sequence around a layer; `back`: how the way back is made.
// `start`: its initial_h, a "part" of zeros for several layers, or constants of three "rows".
OnnxBuilder packed(const char *op, const std::string &back, const std::string &flaw = "", const std::string &start = "") {
  OnnxBuilder b;
  b.input("X", {"N", "T", 4}).input("lengths", {"N"}, onnx::TensorProto::INT64).output("Y").output("hn");
  b.weights("", std::string(op) == "LSTM" ? 4 : 3, 2, 4, kHidden).constant_ints("first", {}, {0}).constant_ints("one", {}, {1});
  b.constant_ints("number", {1}, {1}).constant_ints("merged", {3}, {0, 0, -1});
  b.node("Shape", {"lengths"}, {"size"});
  b.node("Gather", {"size", "first"}, {"count"});
  b.node("Reshape", {"count", "number"}, {"k"});
  b.node("TopK", {"lengths", "k"}, {"sorted", "order"}).with("axis", 0);
  b.node("Gather", {"X", "order"}, {"x"}).with("axis", 0);
  if (back == "scatter") {
    b.node("ConstantOfShape", {"size"}, {"zeros"});
    b.node("Cast", {"zeros"}, {"places"}).with("to", onnx::TensorProto::INT64);
    b.node("Range", {"first", "count", "one"}, {"counted"});
    b.node("ScatterElements", {"places", "order", "counted"}, {"inverse"});
  } else {
    b.node("TopK", {"order", "k"}, {"again", "inverse"}).with("axis", 0).with("largest", 0);
  }
  b.node("Cast", {"sorted"}, {"lens"}).with("to", onnx::TensorProto::INT32);
  b.node("Transpose", {"x"}, {"xt"}).with("perm", Ints{1, 0, 2});
  if (start == "part") {
    b.constant_ints("four", {1}, {4}).constant_ints("units", {1}, {kHidden});
    b.constant_ints("from", {1}, {2}).constant_ints("axis", {1}, {0});
    b.node("Concat", {"four", "k", "units"}, {"all_layers"}).with("axis", 0);
    b.node("ConstantOfShape", {"all_layers"}, {"zero_states"});
    b.node("Slice", {"zero_states", "from", "four", "axis"}, {"h0"});
  } else if (start == "rows") {
    b.random("h0", {2, 3, kHidden});
  }
  b.node(op, {"xt", "W", "R", "B", "lens", start.empty() ? "" : "h0"}, {"y4", "hs"})
      .with("hidden_size", kHidden)
      .with("direction", "bidirectional");
  b.node("Transpose", {"y4"}, {"yt"}).with("perm", Ints{2, 0, 1, 3});
  b.node("Reshape", {"yt", "merged"}, {"y"});
  b.node("Gather", {flaw == "twice" ? "X" : "y", "inverse"}, {"Y"}).with("axis", 0);
  if (flaw == "kept") {
    b.node("Identity", {"hs"}, {"hn"});
  } else {
    b.node("Gather", {"hs", "inverse"}, {"hn"}).with("axis", 1);
  }
  return b;
}

TEST(SortedRows, AreLeftInTheirOrder) {
  for (const char *op : {"LSTM", "GRU"}) {
    for (const char *back : {"scatter", "sort"}) {
      SCOPED_TRACE(std::string(op) + " " + back);
      check_against_f64(packed(op, back).proto, {7, 3}, lengths_of({2, 7, 4}));
      check_against_f64(packed(op, back).proto, {5, 4}, lengths_of({5, 1, 5, 3}));
    }
  }
}

TEST(SortedRows, MayStartFromAPartOfTheZerosOfAllLayers) {
  for (const char *op : {"LSTM", "GRU"}) check_against_f64(packed(op, "scatter", "", "part").proto, {7, 3}, lengths_of({2, 7, 4}));
}

// What is given out in the sorted order, or is put back without having been sorted, needs the order itself. So does a constant
// state of each row, which belongs to a place of the sorted ones.
TEST(SortedRows, ThatAreNotPutBackAreRefused) {
  for (const char *flaw : {"kept", "twice"}) EXPECT_NE(refusal_of(packed("GRU", "scatter", flaw).proto), "") << flaw;
  EXPECT_NE(refusal_of(packed("GRU", "scatter", "", "rows").proto), "");
}

// Steps below each row's length, counted by a Range to the number of steps.
OnnxBuilder masked_by_lengths(bool mean, const char *compares = "Less", const char *size_of = "steps") {
  OnnxBuilder b;
  b.input("X", {"N", "T", 4}).input("lengths", {"N"}, onnx::TensorProto::INT64).output("Y").weights("", 3, 1, 4, kHidden);
  b.constant_ints("first", {}, {0}).constant_ints("one", {}, {1}).constant_ints("axis", {1}, {1}).constant_ints("last", {1}, {-1});
  b.node("Shape", {"X"}, {"sizes"});
  b.node("Gather", {"sizes", std::string(size_of) == "steps" ? "one" : "first"}, {"size"});
  b.node("Range", {"first", "size", "one"}, {"places"}, "counted");
  b.constant_ints("zero", {1}, {0});
  b.node("Unsqueeze", {"places", "zero"}, {"row"});
  b.node("Unsqueeze", {"lengths", "axis"}, {"column"});
  b.node(compares, {"row", "column"}, {"valid"});
  b.node("Cast", {"valid"}, {"mask"}).with("to", onnx::TensorProto::FLOAT);
  b.node("Unsqueeze", {"mask", "last"}, {"mask3"});
  b.node("Mul", {"X", "mask3"}, {"x"});
  b.node("Transpose", {"x"}, {"xt"}).with("perm", Ints{1, 0, 2});
  b.node("GRU", {"xt", "W", "R", "B"}, {"y4"}).with("hidden_size", kHidden);
  b.node("Squeeze", {"y4", "axis"}, {"yt"});
  b.node("Transpose", {"yt"}, {"y"}).with("perm", Ints{1, 0, 2});
  b.node("Mul", {"y", "mask3"}, {mean ? "kept" : "Y"});
  if (!mean) return b;
  b.node("ReduceSum", {"kept", "axis"}, {"sum"}).with("keepdims", 0);
  b.node("ReduceSum", {"mask3", "axis"}, {"count"}).with("keepdims", 0);
  b.node("Div", {"sum", "count"}, {"Y"});
  return b;
}

compiler::Arrays real_lengths(const std::vector<float> &lengths) {
  compiler::Array array;
  array.shape = {static_cast<int64_t>(lengths.size())};
  array.f32 = lengths;
  return {{"lengths", array}};
}

TEST(MasksByLengths, CountTheStepsOfAnyRun) {
  for (const bool mean : {true, false}) {
    for (const char *compares : {"Less", "LessOrEqual"}) {
      check_against_f64(masked_by_lengths(mean, compares).proto, {7, 3}, real_lengths({2, 7, 4}));
      check_against_f64(masked_by_lengths(mean, compares).proto, {1, 2}, real_lengths({1, 1}));
      check_against_f64(masked_by_lengths(mean, compares).proto, {12, 1}, real_lengths({5}));
    }
  }
}

// A count of rows, and places that something else reads than a comparison.
TEST(MasksByLengths, OtherCountsAreRefused) {
  EXPECT_NE(refusal_of(masked_by_lengths(false, "Less", "rows").proto), "");
  OnnxBuilder b = masked_by_lengths(true);
  b.node("Cast", {"places"}, {"Z"}).with("to", onnx::TensorProto::FLOAT);
  b.output("Z");
  EXPECT_NE(refusal_of(b.proto).find("'counted' (Range)"), std::string::npos) << refusal_of(b.proto);
}

// Exporters make the zeros of a state as large as the example's batch. Other constants stay those of its rows.
TEST(NumbersOfTheBatch, AreThoseOfEveryRow) {
  for (const bool number : {true, false}) {
    OnnxBuilder b;
    b.input("X", {2, 5}).output("Y").random("half", {2, 5});
    number ? b.constant("first", {2, 3}, std::vector<float>(6, 0.5f)) : b.random("first", {2, 3});
    b.node("Concat", {"first", "X"}, {"joined"}).with("axis", 1);
    b.constant("two", {2, 8}, std::vector<float>(16, 2.0f));
    b.node("Mul", {"two", "joined"}, {"m"});
    b.node("Tanh", {"m"}, {"Y"});
    const compiler::Graph graph = compiler::compile_graph(*compiler::check_model(b.proto), {"generic", {}});
    EXPECT_EQ(graph.notes.empty(), number);  // the sizes of the file are kept
    check_against_f64(b.proto, {1, number ? 2 : 1});
  }
}

// An integer input that looks nothing up arrives as floats.
compiler::Arrays ids_of(int64_t steps, int64_t rows) {
  compiler::Array array;
  array.shape = {steps, rows};
  for (int64_t i = 0; i < steps * rows; ++i) array.f32.push_back(static_cast<float>(i * 7 % 15 - 7));  // some beyond the depth
  return {{"ids", array}};
}

TEST(OneHot, IsAComparisonWithEveryPlace) {
  for (const int64_t axis : {-1, 0, 1, 2}) {
    for (const bool plain : {true, false}) {
      SCOPED_TRACE(std::to_string(axis) + (plain ? " plain" : ""));
      OnnxBuilder b;
      b.input("ids", {"T", "N"}, onnx::TensorProto::INT64).output("Y").weights("", 3, 1, 5, kHidden);
      b.constant_ints("depth", {}, {5}).constant("values", {2}, plain ? std::vector<float>{0, 1} : std::vector<float>{-1, 3});
      b.node("OneHot", {"ids", "depth", "values"}, {"hot"}).with("axis", axis);
      const Ints perm = axis == 0 ? Ints{1, 2, 0} : axis == 1 ? Ints{0, 2, 1} : Ints{0, 1, 2};
      b.node("Transpose", {"hot"}, {"x"}).with("perm", perm);
      b.node("GRU", {"x", "W", "R", "B"}, {"Y"}).with("hidden_size", kHidden);
      check_against_f64(b.proto, {7, 3}, ids_of(7, 3));
    }
  }
}

OnnxBuilder resized(const char *mode, const char *coordinates, const std::vector<float> &scales) {
  OnnxBuilder b;
  b.input("X", {"T", "N", 2, 6}).output("Y").constant("scales", {4}, scales).constant_ints("flat", {3}, {0, 0, -1});
  const int64_t width = static_cast<int64_t>(2 * scales[2]) * static_cast<int64_t>(6 * scales[3]);
  b.weights("", 3, 1, width, kHidden);
  b.node("Resize", {"X", "", "scales"}, {"r"}).with("mode", mode).with("coordinate_transformation_mode", coordinates);
  b.node("Reshape", {"r", "flat"}, {"x"});
  b.node("GRU", {"x", "W", "R", "B"}, {"Y"}).with("hidden_size", kHidden);
  return b;
}

TEST(Resize, AlongFeatures) {
  for (const char *mode : {"nearest", "linear"}) {
    for (const char *coordinates : {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"}) {
      for (const std::vector<float> &scales :
           {std::vector<float>{1, 1, 1, 2}, {1, 1, 2, 1.5f}, {1, 1, 1, 0.5f}, {1, 1, 0.5f, 0.6f}}) {
        if (std::string(coordinates) == "align_corners" && scales[3] == 0.6f) continue;
        SCOPED_TRACE(std::string(mode) + " " + coordinates);
        check_against_f64(resized(mode, coordinates, scales).proto);
      }
    }
  }
}

// As interpolate(size=...) is written: the sizes that stay are those of the tensor, and are no numbers.
OnnxBuilder resized_to(const std::vector<int64_t> &behind, const std::string &first) {
  OnnxBuilder b;
  b.input("X", {"T", "N", 2, 6}).output("Y").constant_ints("behind", {2}, behind).constant_ints("flat", {3}, {0, 0, -1});
  b.weights("", 3, 1, behind[0] * behind[1], kHidden).constant_ints("zero", {1}, {0}).constant_ints("two", {1}, {2});
  b.node("Shape", {"X"}, {"shape"});
  b.node("Slice", {"shape", "zero", "two", "zero"}, {"outer"});
  b.node("Mul", {"outer", "two"}, {"doubled"});
  b.node("Concat", {first, "behind"}, {"sizes"}).with("axis", 0);
  b.node("Resize", {"X", "", "", "sizes"}, {"r"}).with("coordinate_transformation_mode", "asymmetric");
  b.node("Reshape", {"r", "flat"}, {"x"});
  b.node("GRU", {"x", "W", "R", "B"}, {"Y"}).with("hidden_size", kHidden);
  return b;
}

TEST(Resize, SizesOfStepsAndRowsStay) {
  check_against_f64(resized_to({4, 6}, "outer").proto);
  const std::string steps = refusal_of(resized_to({2, 6}, "doubled").proto);
  EXPECT_NE(steps.find("it resizes the time or batch axis of [T, N, 2, 6]"), std::string::npos) << steps;
}

TEST(Resize, OfStepsAndOtherFormsAreRefused) {
  EXPECT_NE(refusal_of(resized("linear", "align_corners", {1, 1, 1, 0.6f}).proto).find("a part of an element"), std::string::npos);
  const std::string steps = refusal_of(resized("nearest", "asymmetric", {2, 1, 1, 1}).proto);
  EXPECT_NE(steps.find("it resizes the time or batch axis of [T, N, 2, 6]; accepted: feature axes"), std::string::npos) << steps;
  EXPECT_NE(refusal_of(resized("cubic", "asymmetric", {1, 1, 1, 2}).proto).find("accepted: nearest, linear"), std::string::npos);
  EXPECT_NE(refusal_of(resized("linear", "tf_crop_and_resize", {1, 1, 1, 2}).proto).find("'coordinate_transformation_mode'"),
            std::string::npos);
}

TEST(Scans, TakeShapesThatTheBodyDoesNotDeclareFromTheStart) {
  OnnxBuilder body;
  decay_body(&body);
  onnx::GraphProto graph = scan_graph(body);
  for (onnx::ValueInfoProto &info : *graph.mutable_input()) info.mutable_type()->mutable_tensor_type()->clear_shape();
  check_against_f64(with_scan(graph).proto);
}

// PyTorch's LSTM of ids [steps, batch]: zero states of as many rows as the batch, which is the input's last axis.
TEST(ExportedLayers, IdsByStepAndRow) {
  for (const char *op : {"LSTM", "GRU", "RNN"}) {
    SCOPED_TRACE(op);
    const bool lstm = op[0] == 'L';
    OnnxBuilder b;
    b.input("ids", {"T", "N"}, onnx::TensorProto::INT64).output("Y").output("H").random("table", {9, kIn});
    b.weights("", lstm ? 4 : op[0] == 'G' ? 3 : 1, 1, kIn, kHidden);
    b.constant_ints("one", {}, {1}).constant_ints("front", {1}, {0}).constant_ints("directions", {1}, {1});
    b.constant_ints("hidden", {1}, {kHidden});
    b.node("Gather", {"table", "ids"}, {"x"});
    b.node("Shape", {"x"}, {"sizes"});
    b.node("Gather", {"sizes", "one"}, {"rows"});
    b.node("Unsqueeze", {"rows", "front"}, {"rows1"});
    b.node("Concat", {"directions", "rows1", "hidden"}, {"state"}).with("axis", 0);
    b.node("ConstantOfShape", {"state"}, {"zero"});
    std::vector<std::string> in = {"x", "W", "R", "B", "", "zero"};
    if (lstm) in.emplace_back("zero");
    b.node(op, in, {"Y", "H"}).with("hidden_size", kHidden);
    EXPECT_EQ(count(b, OpKind::kRecurrent), 1u);
    check_against_f64(b.proto);
  }
}

}  // namespace
}  // namespace rnnp::testing_support
