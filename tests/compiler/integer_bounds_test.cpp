// integer_bounds_test.cpp -- integers are computed as float32: what may pass those that it holds is refused, by the node.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace integer_bounds_test {

constexpr int64_t kFloat = 1, kUint8 = 2, kInt8 = 3, kInt32 = 6, kInt64 = 7;

// op(ids, number), as float.
OnnxBuilder of_ids(const char *op, int64_t number, int type = kInt64) {
  OnnxBuilder b;
  b.input("ids", {"T", "N"}, type).constant_ints("number", {}, {number}).output("y");
  b.node(op, {"ids", "number"}, {"z"}, "the_node");
  b.node("Cast", {"z"}, {"y"}).with("to", kFloat);
  return b;
}

// Seven steps of three rows, -2 to 18 or from 0 on.
void check(const OnnxBuilder &b, int32_t first = -2) {
  compiler::Array ids;
  ids.shape = {7, 3};
  ids.is_int = true;
  for (int32_t i = 0; i < 21; ++i) ids.i32.push_back(first + i);
  check_against_f64(b.proto, {}, {{"ids", ids}});
}

void expect_refused(const OnnxBuilder &b, const std::string &part) {
  const std::string text = refusal_of(b.proto);
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(IntegerBounds, ProductsBeyondFloat32AreRefused) {
  expect_refused(of_ids("Mul", 1000003), "'the_node' (Mul): its integers may reach 2^32; accepted: up to 2^24");
  OnnxBuilder b;
  b.input("ids", {"T", "N"}, kInt64).output("y");
  b.node("Mul", {"ids", "ids"}, {"squares"});
  b.node("Mul", {"squares", "ids"}, {"cubes"}, "the_node");
  b.node("Cast", {"cubes"}, {"y"}).with("to", kFloat);
  expect_refused(b, "'the_node' (Mul): its integers may reach 2^36");
}

TEST(IntegerBounds, ConstantsThatFloat32DoesNotHoldAreRefused) {
  for (const char *op : {"Add", "Sub", "Min", "Equal"}) expect_refused(of_ids(op, 16777217), "'the_node'");
}

TEST(IntegerBounds, WhatStaysBelowIsExact) {
  for (const char *op : {"Add", "Sub", "Mul", "Div", "Mod", "Min", "Max"}) {
    SCOPED_TRACE(op);
    check(of_ids(op, 4096));
    check(of_ids(op, 3));
  }
  check(of_ids("Mod", 50000));
}

TEST(IntegerBounds, ATypeThatWouldWrapRoundIsRefused) {
  const auto narrowed = [](int from, int64_t to) {
    OnnxBuilder b;
    b.input("ids", {"T", "N"}, from).output("y");
    b.node("Cast", {"ids"}, {"z"}, "the_node").with("to", to);
    b.node("Cast", {"z"}, {"y"}).with("to", kFloat);
    return b;
  };
  expect_refused(narrowed(kInt64, kUint8), "beyond what UINT8 holds");
  expect_refused(narrowed(kInt8, kUint8), "beyond what UINT8 holds");
  check(narrowed(kInt64, kInt32));
  check(narrowed(kInt8, kInt64));
}

// They are divided as integers are.
TEST(IntegerBounds, ATableOfIntegersGivesIntegers) {
  OnnxBuilder b;
  b.input("ids", {"T", "N"}, kInt64).constant_ints("table", {10}, {7, -5, 3, 9, 0, -2, 1, 8, 5, 4}).output("y");
  b.constant_ints("two", {}, {2}).node("Gather", {"table", "ids"}, {"found"});
  b.node("Div", {"found", "two"}, {"half"});
  b.node("Cast", {"half"}, {"y"}).with("to", kFloat);
  check_against_f64(b.proto);
}

TEST(IntegerBounds, ATableBoundsWhatIsComputedFromIt) {
  OnnxBuilder b;
  b.input("ids", {"T", "N"}, kInt64).constant_ints("table", {10}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}).output("y");
  b.constant_ints("many", {}, {1000003}).node("Gather", {"table", "ids"}, {"found"});
  b.node("Mul", {"found", "many"}, {"product"});
  b.node("Cast", {"product"}, {"y"}).with("to", kFloat);
  check_against_f64(b.proto);
}

}  // namespace integer_bounds_test
}  // namespace rnnp::testing_support
