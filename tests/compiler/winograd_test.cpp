// winograd_test.cpp -- which convolutions are written as the points of F(2x2, 3x3), and that their results are those of the
// windows. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <utility>

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

// The same of channels that lie together: X [N, h, w, in] -> "Y" [N, h, w, out].
OnnxBuilder over_rows(int64_t in, int64_t out, int64_t h, int64_t w) {
  OnnxBuilder b;
  b.input("X", {"N", h, w, in}).random("W", {out, in, 3, 3}).random("B", {out}).output("Y");
  b.node("Transpose", {"X"}, {"x"}).with("perm", Ints{0, 3, 1, 2});
  b.node("Conv", {"x", "W", "B"}, {"y"}, "conv").with("pads", Ints{1, 1, 1, 1});
  b.node("Transpose", {"y"}, {"Y"}).with("perm", Ints{0, 2, 3, 1});
  return b;
}

// So many copies, and whether the convolution between them has transformed weights.
std::pair<size_t, bool> copies_and_winograd(const OnnxBuilder &b, const compiler::CompileOptions &options = {}) {
  const compiler::Graph graph = compiler::compile_model(*compiler::check_model(b.proto), options).graph;
  std::pair<size_t, bool> out;
  for (const compiler::Node &node : graph.nodes) {
    out.first += node.op == OpKind::kCopy ? 1 : 0;
    if (const auto *conv = std::get_if<compiler::Conv>(&node.attr)) out.second = conv->winograd;
  }
  return out;
}

// Two copies cost less than the products that are saved, but for few channels and lines that fill no block of tiles.
TEST(Winograd, ChannelsThatLieTogetherAreMovedWhereItPays) {
  using Found = std::pair<size_t, bool>;
  EXPECT_EQ(copies_and_winograd(over_rows(32, 32, 24, 24)), Found(2, true));
  EXPECT_EQ(copies_and_winograd(over_rows(64, 64, 12, 30)), Found(2, true));
  EXPECT_EQ(copies_and_winograd(over_rows(16, 16, 24, 24)), Found(0, false));
  EXPECT_EQ(copies_and_winograd(over_rows(32, 32, 24, 36)), Found(0, false));
  compiler::CompileOptions options;
  options.winograd = false;
  EXPECT_EQ(copies_and_winograd(over_rows(32, 32, 24, 24), options), Found(0, false));
  options = {};
  options.target = "cortex-m";
  EXPECT_EQ(copies_and_winograd(over_rows(32, 32, 24, 24), options), Found(0, false));
  options = {};
  options.weights = "int8";
  EXPECT_EQ(copies_and_winograd(over_rows(32, 32, 24, 24), options), Found(0, false));
  check_against_f64(over_rows(32, 32, 9, 24).proto);
}

// Channels side by side, time the first of two axes: X [T, N, w, in] -> "Y" [T, N, w, out]. `ahead` of its steps are later ones.
OnnxBuilder over_steps(int64_t in, int64_t out, int64_t w, int64_t taps, int64_t ahead, Ints dilations = {1, 1}) {
  OnnxBuilder b;
  b.input("X", {"T", "N", w, in}).random("W", {out, in, taps, 3}, 0.1).random("B", {out}).random("R", {1, 4, 4}).output("Y");
  b.random("V", {1, 4, w * out}, 0.1).constant_ints("shape", {3}, {0, 0, -1});
  b.node("Transpose", {"X"}, {"x"}).with("perm", Ints{1, 3, 0, 2});
  b.node("Conv", {"x", "W", "B"}, {"y"}, "conv")
      .with("pads", Ints{(taps - 1) * dilations[0] - ahead, dilations[1], ahead, dilations[1]})
      .with("dilations", dilations);
  b.node("Transpose", {"y"}, {"z"}).with("perm", Ints{2, 0, 3, 1});
  b.node("Reshape", {"z", "shape"}, {"rows"});
  b.node("RNN", {"rows", "V", "R"}, {"Y"}).with("hidden_size", 4);
  return b;
}

bool is_of_lines(const OnnxBuilder &b) {
  const compiler::Graph graph = compiler::compile_model(*compiler::check_model(b.proto), compiler::CompileOptions()).graph;
  for (const compiler::Node &node : graph.nodes) {
    if (const auto *conv = std::get_if<compiler::Conv>(&node.attr)) return conv->winograd && conv->shape.y_plane == 0;
  }
  return false;
}

TEST(Winograd, ColumnsOfStepsGoByPoints) {
  EXPECT_TRUE(is_of_lines(over_steps(32, 64, 10, 3, 0)));
  EXPECT_TRUE(is_of_lines(over_steps(32, 64, 10, 3, 1)));
  EXPECT_TRUE(is_of_lines(over_steps(64, 64, 8, 1, 0)));
  EXPECT_FALSE(is_of_lines(over_steps(3, 32, 10, 3, 0)));           // transforms take what products save
  EXPECT_FALSE(is_of_lines(over_steps(64, 128, 10, 3, 0)));         // weights beyond the caches
  EXPECT_FALSE(is_of_lines(over_steps(32, 64, 10, 3, 0, {2, 1})));  // steps apart
  EXPECT_FALSE(is_of_lines(over_steps(32, 64, 10, 3, 0, {1, 2})));
  check_against_f64(over_steps(32, 40, 7, 3, 0).proto);
  check_against_f64(over_steps(32, 48, 8, 3, 1).proto);
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
