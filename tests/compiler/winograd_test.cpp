// winograd_test.cpp -- which convolutions are written as the points of F(2x2, 3x3), and that their results are those of the
// windows. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace {

using Ints = std::vector<int64_t>;

// X [N, in, h, w] -> Conv of 3 x 3 -> "Y".
OnnxBuilder over_planes(int64_t in, int64_t out, int64_t h, int64_t w, Ints kernel = {3, 3}) {
  OnnxBuilder b;
  b.input("X", {"N", in, h, w}).random("W", {out, in, kernel[0], kernel[1]}).random("B", {out}).output("Y");
  b.node("Conv", {"X", "W", "B"}, {"Y"}, "conv").with("pads", Ints{1, 1, 1, 1});
  return b;
}

bool is_winograd(const OnnxBuilder &b, bool wanted = true, const std::string &target = "generic") {
  compiler::CompileOptions options;
  options.target = target;
  options.winograd = wanted;
  const compiler::Graph graph = compiler::compile_model(*compiler::check_model(b.proto), options).graph;
  return std::get<compiler::Conv>(graph.nodes.at(0).attr).winograd;
}

TEST(Winograd, ManyChannelsOfSquareWindowsGoByPoints) {
  EXPECT_TRUE(is_winograd(over_planes(16, 16, 16, 16)));
  EXPECT_TRUE(is_winograd(over_planes(64, 64, 16, 16)));
  EXPECT_TRUE(is_winograd(over_planes(32, 16, 15, 31)));
  EXPECT_FALSE(is_winograd(over_planes(8, 8, 16, 16)));    // transforms take what products save
  EXPECT_FALSE(is_winograd(over_planes(64, 80, 16, 16)));  // weights beyond the caches
  EXPECT_FALSE(is_winograd(over_planes(32, 32, 1, 64)));   // half of the tiles' results are none
  EXPECT_FALSE(is_winograd(over_planes(32, 32, 16, 16, {5, 3})));
  EXPECT_FALSE(is_winograd(over_planes(16, 16, 16, 16), false));
  EXPECT_FALSE(is_winograd(over_planes(16, 16, 16, 16), true, "cortex-m"));
  OnnxBuilder strided;
  strided.input("X", {"N", 16, 32, 16}).random("W", {16, 16, 3, 3}).output("Y");
  strided.node("Conv", {"X", "W"}, {"Y"}).with("pads", Ints{1, 1, 1, 1}).with("strides", Ints{2, 1});
  EXPECT_FALSE(is_winograd(strided));
}

TEST(Winograd, ByPointsTheResultsAreThose) {
  check_against_f64(over_planes(16, 20, 9, 16).proto);
  OnnxBuilder b;
  b.input("X", {"N", 16, 10, 17}).random("W", {32, 16, 3, 3}).random("S", {32, 1, 1}).random("V", {16, 32, 3, 3}).output("Y");
  b.node("Conv", {"X", "W"}, {"c"}).with("pads", Ints{2, 0, 0, 1});
  b.node("Mul", {"c", "S"}, {"m"});
  b.node("Tanh", {"m"}, {"t"});
  b.node("Conv", {"t", "V"}, {"Y"}).with("pads", Ints{1, 1, 1, 1});
  EXPECT_TRUE(is_winograd(b));
  check_against_f64(b.proto);
}

}  // namespace
}  // namespace rnnp::testing_support
