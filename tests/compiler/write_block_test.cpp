// write_block_test.cpp -- ScatterND at constant places as exporters write x[..., a:b] = y: blocks of a feature axis beside all
// steps and rows, and what is no block. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace {

using Ints = std::vector<int64_t>;

// Tuples [rows, steps, places, 3], as TorchScript's exporter writes them.
Ints grid(int64_t rows, int64_t steps, const Ints &places) {
  Ints out;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t t = 0; t < steps; ++t) {
      for (const int64_t place : places) out.insert(out.end(), {r, t, place});
    }
  }
  return out;
}

// x [2, 5, 6] with `put` at places of its last axis, before a layer along axis 1.
OnnxBuilder written_before_a_layer(const Ints &places, bool put_constant, bool into_zeros) {
  const int64_t many = static_cast<int64_t>(places.size());
  OnnxBuilder b(18);
  b.input("X", {2, 5, 6}).weights("", 3, 1, 6, 7).output("Y").constant_ints("at", {2, 5, many, 3}, grid(2, 5, places));
  if (put_constant) {
    b.constant("put", {2, 5, many}, std::vector<float>(static_cast<size_t>(10 * many), 0.5f));
  } else {
    b.constant_ints("from", {1}, {0}).constant_ints("to", {1}, {many}).constant_ints("last", {1}, {2});
    b.node("Slice", {"X", "from", "to", "last"}, {"part"});
    b.node("Neg", {"part"}, {"put"});
  }
  if (into_zeros) b.constant("zeros", {2, 5, 6}, std::vector<float>(60, 0.0f));
  b.node("ScatterND", {into_zeros ? "zeros" : "X", "at", "put"}, {"x"});
  b.node("Transpose", {"x"}, {"xt"}).with("perm", Ints{1, 0, 2});
  b.node("GRU", {"xt", "W", "R", "B"}, {"Y"}).with("hidden_size", 7);
  return b;
}

size_t layers_and_copies(const onnx::ModelProto &proto) {
  return compiler::compile_graph(*compiler::check_model(proto), {}).nodes.size();
}

TEST(WriteBlock, PiecesAreCopiedWhereverTheyGo) {
  for (const Ints &places : {Ints{2, 3}, Ints{0, 1, 2, 3, 4, 5}, Ints{5, 0}, Ints{-1}, Ints{3, 1, 2}}) {
    for (const bool put_constant : {true, false}) {
      for (const bool into_zeros : {true, false}) {
        if (put_constant && into_zeros) continue;
        const onnx::ModelProto proto = written_before_a_layer(places, put_constant, into_zeros).proto;
        check_against_f64(proto);
        EXPECT_LE(layers_and_copies(proto), 8u);  // no place is looked for
      }
    }
  }
}

// A constant that is the same for all steps of the file is so for any number of them.
TEST(WriteBlock, ABlockDoesNotFixTheSteps) {
  const onnx::ModelProto proto = written_before_a_layer({2, 3}, true, false).proto;
  const compiler::Graph graph = compiler::compile_graph(*compiler::check_model(proto), {});
  EXPECT_EQ(graph.inputs[0].dims[1], RNNP_DIM_STEPS);
  EXPECT_TRUE(graph.causal);
}

// dynamo's exporter turns the axis to the front: tuples [places, 1].
TEST(WriteBlock, TheAxisMayStandInFront) {
  OnnxBuilder b(18);
  b.input("X", {"T", "N", 6}).weights("", 3, 1, 6, 7).output("Y").constant_ints("at", {2, 1}, {4, 1});
  b.node("Transpose", {"X"}, {"x0"}).with("perm", Ints{2, 0, 1});
  b.constant_ints("from", {1}, {0}).constant_ints("to", {1}, {2});
  b.node("Slice", {"x0", "from", "to"}, {"part"});
  b.node("Neg", {"part"}, {"put"});
  b.node("ScatterND", {"x0", "at", "put"}, {"x1"});
  b.node("Transpose", {"x1"}, {"x"}).with("perm", Ints{1, 2, 0});
  b.node("GRU", {"x", "W", "R", "B"}, {"Y"}).with("hidden_size", 7);
  check_against_f64(b.proto);
}

// They are for these steps alone.
TEST(WriteBlock, ConstantsThatDifferFromStepToStepDoNotBecomeOne) {
  OnnxBuilder steps(18);
  steps.input("X", {2, 5, 6}).weights("", 3, 1, 6, 7).output("Y").constant_ints("at", {2, 5, 1, 3}, grid(2, 5, {2}));
  steps.random("put", {2, 5, 1}).node("ScatterND", {"X", "at", "put"}, {"x"});
  steps.node("Transpose", {"x"}, {"xt"}).with("perm", Ints{1, 0, 2});
  steps.node("GRU", {"xt", "W", "R", "B"}, {"Y"}).with("hidden_size", 7);
  if (refusal_of(steps.proto).empty()) check_against_f64(steps.proto);
}

// Tuples (row, column) of a table [3, 4] for each batch row, two or a grid of two by two.
TEST(WriteBlock, PlacesOfSeveralAxesAreWrittenOneByOne) {
  for (const Ints &tuples : {Ints{0, 1, 2, 0}, Ints{1, 1, -1, -1}, Ints{0, 1, 0, 3, 1, 1, 1, 3}, Ints{2, 0, 2, 2, 0, 0, 0, 2}}) {
    const bool is_grid = tuples.size() == 8;
    OnnxBuilder b(18);
    b.input("X", {"N", 3, 4}).output("Y").constant_ints("at", is_grid ? Ints{2, 2, 2} : Ints{2, 2}, tuples);
    b.node("Transpose", {"X"}, {"table"}).with("perm", Ints{1, 2, 0});
    b.constant_ints("from", {2}, {0, 0}).constant_ints("to", {2}, {2, is_grid ? 2 : 1}).constant_ints("last", {1}, {1});
    b.node("Neg", {"table"}, {"other"});
    b.node("Slice", {"other", "from", "to"}, {"part"});
    b.node(is_grid ? "Identity" : "Squeeze", is_grid ? std::vector<std::string>{"part"} : std::vector<std::string>{"part", "last"},
           {"put"});
    b.node("ScatterND", {"table", "at", "put"}, {"t"});
    b.node("Transpose", {"t"}, {"Y"}).with("perm", Ints{2, 0, 1});
    EXPECT_EQ(refusal_of(b.proto), "");
    check_against_f64(b.proto);
  }
}

}  // namespace
}  // namespace rnnp::testing_support
