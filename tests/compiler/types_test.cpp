// types_test.cpp -- inputs of every element type: numbers as float32, masks as 0 and 1, ids as indices.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace {

using onnx::TensorProto;

constexpr int kRows = 9, kHidden = 4;

OnnxBuilder &add_gru(OnnxBuilder *b, const std::string &x, int inputs) {
  b->weights("", 3, 1, inputs, kHidden).output("Y");
  b->node("GRU", {x, "W", "R", "B"}, {"Y"}).with("hidden_size", kHidden);
  return *b;
}

compiler::Arrays ids(int steps, int batch) {
  compiler::Array array;
  array.shape = {steps, batch};
  array.is_int = true;
  for (int i = 0; i < steps * batch; ++i) array.i32.push_back(i * 5 % kRows);
  return {{"ids", array}};
}

TEST(Types, HalfAndDoubleInputsAreFloat32) {
  for (const int type : {TensorProto::FLOAT16, TensorProto::DOUBLE}) {
    OnnxBuilder b;
    b.input("X", {"T", "N", 3}, type);
    b.node("Cast", {"X"}, {"x"}).with("to", static_cast<int64_t>(TensorProto::FLOAT));
    check_against_f64(add_gru(&b, "x", 3).proto);
  }
}

TEST(Types, IntegersThatAreComputedWithAreNumbers) {
  for (const int type : {TensorProto::INT8, TensorProto::UINT8, TensorProto::INT32, TensorProto::INT64}) {
    OnnxBuilder b;
    b.input("X", {"T", "N", 3}, type).constant_ints("two", {}, {2}, type);
    b.node("Mul", {"X", "two"}, {"twice"});
    b.node("Cast", {"twice"}, {"x"}).with("to", static_cast<int64_t>(TensorProto::FLOAT));
    compiler::Array x;
    x.shape = {5, 2, 3};
    for (int i = 0; i < 30; ++i) x.f32.push_back(static_cast<float>(i % 7));
    check_against_f64(add_gru(&b, "x", 3).proto, {5, 2}, {{"X", x}});
  }
}

TEST(Types, CastLikeGoesToFloat) {
  OnnxBuilder b;
  b.input("X", {"T", "N", 3}).input("ids", {"T", "N", 3}, TensorProto::INT32);
  b.node("CastLike", {"ids", "X"}, {"numbers"});
  b.node("Add", {"numbers", "X"}, {"x"});
  compiler::Array whole;
  whole.shape = {5, 2, 3};
  for (int i = 0; i < 30; ++i) whole.f32.push_back(static_cast<float>(i % 7));
  check_against_f64(add_gru(&b, "x", 3).proto, {5, 2}, {{"ids", whole}});
  OnnxBuilder other;
  other.input("X", {"T", "N", 3}).input("ids", {"T", "N", 3}, TensorProto::INT32);
  other.node("CastLike", {"X", "ids"}, {"whole"});
  other.node("Cast", {"whole"}, {"x"}).with("to", static_cast<int64_t>(TensorProto::FLOAT));
  const std::string text = refusal_of(add_gru(&other, "x", 3).proto);
  EXPECT_NE(text.find("(CastLike): its second operand is of integer type or bool; accepted: float"), std::string::npos) << text;
}

TEST(Types, BoolInputsAreMasks) {
  OnnxBuilder b;
  b.input("X", {"T", "N", 3}).input("on", {"T", "N", 1}, TensorProto::BOOL).constant("none", {}, {0.0f});
  b.node("Where", {"on", "X", "none"}, {"x"});
  compiler::Array on;
  on.shape = {5, 2, 1};
  for (int i = 0; i < 10; ++i) on.f32.push_back(i % 3 == 0 ? 1.0f : 0.0f);
  check_against_f64(add_gru(&b, "x", 3).proto, {5, 2}, {{"on", on}});
}

TEST(Types, IdsOfEveryTypeLookUpATable) {
  for (const int type : {TensorProto::UINT8, TensorProto::INT32, TensorProto::FLOAT}) {
    OnnxBuilder b;
    b.input("ids", {"T", "N"}, type).random("table", {kRows, 3});
    b.node("Cast", {"ids"}, {"whole"}).with("to", static_cast<int64_t>(TensorProto::INT64));
    b.node("Gather", {"table", "whole"}, {"x"});
    check_against_f64(add_gru(&b, "x", 3).proto, {5, 2}, ids(5, 2));
    const auto compiled = compiler::compile_model(*compiler::check_model(b.proto), "generic");
    EXPECT_EQ(compiled.graph.inputs[0].limit, static_cast<uint32_t>(kRows)) << type;
  }
}

// Keras' inputs are of float where nobody says otherwise: ids and their mask too.
TEST(Types, FloatsThatAreCastAndComparedAreIds) {
  for (const char *comparison : {"Equal", "Greater", "LessOrEqual"}) {
    for (const bool as_numbers : {false, true}) {
      OnnxBuilder b;
      b.input("ids", {"T", "N"}).random("table", {kRows, 3}).constant("zero", {}, {0.0f}).constant_ints("last", {1}, {-1});
      b.node("Cast", {"ids"}, {"whole"}).with("to", static_cast<int64_t>(TensorProto::INT32));
      b.node("Gather", {"table", "whole"}, {"looked"});
      if (as_numbers) b.node("Cast", {"ids"}, {"numbers"}).with("to", static_cast<int64_t>(TensorProto::FLOAT));
      b.node(comparison, {as_numbers ? "numbers" : "ids", "zero"}, {"chosen"});
      b.node("Unsqueeze", {"chosen", "last"}, {"wide"});
      b.node("Where", {"wide", "zero", "looked"}, {"x"});
      check_against_f64(add_gru(&b, "x", 3).proto, {5, 2}, ids(5, 2));
    }
  }
}

// tf.keras: negative ids are wrapped by hand, and a mask comes of the same ids.
TEST(Types, WrappedIdsAreIdsAndMayBeComputedWithBeside) {
  OnnxBuilder b;
  b.input("ids", {"T", "N"}, TensorProto::INT32).random("table", {kRows, 3});
  b.constant_ints("rows", {}, {kRows}, TensorProto::INT32)
      .constant_ints("zero", {}, {0}, TensorProto::INT32)
      .constant("none", {}, {0.0f});
  b.constant_ints("last", {1}, {-1});
  b.node("Less", {"ids", "zero"}, {"below"});
  b.node("Add", {"ids", "rows"}, {"wrapped"});
  b.node("Where", {"below", "wrapped", "ids"}, {"plain"});
  b.node("Gather", {"table", "plain"}, {"looked"});
  b.node("Equal", {"ids", "zero"}, {"padding"});
  b.node("Unsqueeze", {"padding", "last"}, {"wide"});
  b.node("Where", {"wide", "none", "looked"}, {"x"});
  check_against_f64(add_gru(&b, "x", 3).proto, {5, 2}, ids(5, 2));
}

// Computed ids are looked for among the rows, which is for small tables.
TEST(Types, OtherFunctionsOfIdsAreNotTakenForIds) {
  for (const int64_t rows : {int64_t{kRows + 1}, int64_t{5000}}) {
    OnnxBuilder b;
    b.input("ids", {"T", "N"}, TensorProto::INT32).random("table", {rows, 3}).constant_ints("one", {}, {1}, TensorProto::INT32);
    b.node("Add", {"ids", "one"}, {"next"});
    b.node("Gather", {"table", "next"}, {"x"}, "look");
    add_gru(&b, "x", 3);
    if (rows < 5000) {
      check_against_f64(b.proto, {5, 2}, ids(5, 2));
      continue;
    }
    const std::string text = refusal_of(b.proto);
    EXPECT_NE(text.find("'look' (Gather): its indices are computed at run time, into an axis of 5000; accepted: up to 4096"),
              std::string::npos)
        << text;
  }
}

TEST(Types, IntegersAndFloatsDoNotMix) {
  OnnxBuilder b;
  b.input("X", {"T", "N", 3}, TensorProto::INT32).constant("half", {}, {0.5f});
  b.node("Mul", {"X", "half"}, {"x"}, "mixed");
  EXPECT_NE(refusal_of(add_gru(&b, "x", 3).proto).find("'mixed' (Mul)"), std::string::npos);
}

// Two inputs whose sizes the file fixes are one number of steps and rows.
TEST(Types, InputsOfFixedSizesAreJoined) {
  OnnxBuilder b;
  b.input("X", {8, 2, 3}).input("Z", {8, 2, 5});
  b.node("Concat", {"X", "Z"}, {"x"}).with("axis", 2);
  add_gru(&b, "x", 8);
  check_against_f64(b.proto);
  EXPECT_EQ(compiler::compile_model(*compiler::check_model(b.proto), "generic").graph.inputs[1].dims[0], RNNP_DIM_STEPS);
}

}  // namespace
}  // namespace rnnp::testing_support
