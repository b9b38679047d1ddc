// unrolled_test.cpp -- cells that an exporter wrote out step after step are layers again, and only those.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/compile.h"
#include "compiler/import/import.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace unrolled_test {

constexpr int kIn = 5, kHidden = 4, kSteps = 6, kBatch = 3;
using Names = std::vector<std::string>;
using Ints = std::vector<int64_t>;

enum class Start { kZeros, kNumbers, kInput, kFolded, kFoldedLearned, kFoldedWrong };

struct Written {
  const char *cell = "lstm";
  Start start = Start::kZeros;
  int axis = 0;            // of x and y
  bool backwards = false;  // from the last step to the first
  bool in_order = true;    // results are put together in the order of time
  bool by_split = false;   // x is read by one Split
  bool joint = false;      // one matrix for x and h side by side
  bool around = false;     // a dense layer before and one behind each cell
  int layers = 1;
  int odd_step = -1;        // this one has a matrix of its own
  int steps_of_x = kSteps;  // the loop reads kSteps of them
  bool peek = false;        // one step's h is an output as well
};

std::string at(const std::string &name, int layer, int step) {
  return name + std::to_string(layer) + "_" + std::to_string(step);
}

// From the sum of all gates on: an LSTM or RNN.
void finish_cell(OnnxBuilder *b, const Written &how, int layer, int step) {
  const bool lstm = std::string(how.cell) == "lstm";
  const std::string after = at("h", layer, step + 1);
  const auto name = [&](const char *part) { return at(part, layer, step); };
  if (!lstm) {
    b->node("Tanh", {name("sum")}, {after});
    return;
  }
  b->node("Split", {name("sum")}, {name("i_in"), name("f_in"), name("g_in"), name("o_in")}).with("axis", 1);
  for (const char *gate : {"i", "f", "o"}) b->node("Sigmoid", {name((std::string(gate) + "_in").c_str())}, {name(gate)});
  b->node("Tanh", {name("g_in")}, {name("g")});
  b->node("Mul", {name("f"), at("c", layer, step)}, {name("keep")});
  b->node("Mul", {name("i"), name("g")}, {name("write")});
  b->node("Add", {name("keep"), name("write")}, {at("c", layer, step + 1)});
  b->node("Tanh", {at("c", layer, step + 1)}, {name("t")});
  b->node("Mul", {name("o"), name("t")}, {after});
}

// [batch, in] -> the next h (and c) of one cell.
void cell(OnnxBuilder *b, const Written &how, const std::string &x, int layer, int step) {
  const bool gru = std::string(how.cell) == "gru", odd = step == how.odd_step;
  const std::string before = at("h", layer, step), after = at("h", layer, step + 1), l = std::to_string(layer);
  const auto name = [&](const char *part) { return at(part, layer, step); };
  const bool first = step == 0 && how.start >= Start::kFolded;
  if (how.joint) {
    b->node("Concat", {x, before}, {name("both")}).with("axis", 1);
    b->node("Gemm", {name("both"), odd ? "Jodd" : "J" + l, "Wb" + l}, {name("sum")});
    finish_cell(b, how, layer, step);
    return;
  }
  b->node("Gemm", {x, "W" + l, "Wb" + l}, {name("xs")});
  if (!first) b->node("Gemm", {before, odd ? "Rodd" : "R" + l, "Rb" + l}, {name("hs")});
  const std::string hs = first ? "folded" + l : name("hs");
  if (gru) {
    b->node("Split", {name("xs")}, {name("xr"), name("xz"), name("xn")}).with("axis", 1);
    b->node("Split", {hs}, {name("hr"), name("hz"), name("hn")}).with("axis", 1);
    b->node("Add", {name("hr"), name("xr")}, {name("r_in")});
    b->node("Add", {name("hz"), name("xz")}, {name("z_in")});
    b->node("Sigmoid", {name("r_in")}, {name("r")});
    b->node("Sigmoid", {name("z_in")}, {name("z")});
    b->node("Mul", {name("hn"), name("r")}, {name("inner")});
    b->node("Add", {name("xn"), name("inner")}, {name("n_in")});
    b->node("Tanh", {name("n_in")}, {name("n")});
    b->node("Sub", {before, name("n")}, {name("less")});
    b->node("Mul", {name("less"), name("z")}, {name("kept")});
    b->node("Add", {name("kept"), name("n")}, {after});
    return;
  }
  b->node("Add", {hs, name("xs")}, {name("sum")});
  finish_cell(b, how, layer, step);
}

float column_sum(const OnnxBuilder &b, const std::string &matrix, size_t column) {
  float sum = 0;
  for (const onnx::TensorProto &t : b.proto.graph().initializer()) {
    for (int k = static_cast<int>(column); t.name() == matrix && k < t.float_data_size(); k += static_cast<int>(t.dims(1)))
      sum += t.float_data(k);
  }
  return sum;
}

void weights(OnnxBuilder *b, const Written &how) {
  const int gates = std::string(how.cell) == "lstm" ? 4 : std::string(how.cell) == "gru" ? 3 : 1;
  for (int layer = 0; layer < how.layers; ++layer) {
    const std::string l = std::to_string(layer);
    const int inputs = layer == 0 && !how.around ? kIn : kHidden;
    std::vector<float> bias;
    for (int i = 0; i < gates * kHidden; ++i) bias.push_back(0.1f * static_cast<float>(i % 7) - 0.3f);
    b->random("W" + l, {inputs, gates * kHidden}).random("R" + l, {kHidden, gates * kHidden}).random("Wb" + l, {gates * kHidden});
    b->constant("Rb" + l, {gates * kHidden}, bias);
    const bool learned = how.start == Start::kNumbers || how.start == Start::kFoldedLearned;
    b->random("J" + l, {inputs + kHidden, gates * kHidden});
    std::vector<float> folded;
    for (int n = 0; n < kBatch; ++n) folded.insert(folded.end(), bias.begin(), bias.end());
    if (how.start == Start::kFoldedWrong) folded[3] += 0.25f;
    for (size_t i = 0; learned && i < folded.size(); ++i) folded[i] += 0.5f * column_sum(*b, "R" + l, i % bias.size());
    b->constant("folded" + l, {kBatch, gates * kHidden}, folded);
    for (const char *state : {"h", "c"}) {
      const std::string name = at(state, layer, 0);
      if (how.start == Start::kInput) {
        b->input(name, {kBatch, kHidden});
      } else {
        const float value = learned ? 0.5f : 0.0f;
        b->constant(name, {kBatch, kHidden}, std::vector<float>(kBatch * kHidden, value));
      }
    }
  }
  b->random("Jodd", {kIn + kHidden, gates * kHidden});
  b->random("Rodd", {kHidden, gates * kHidden}).random("D", {kIn, kHidden}).random("E", {kHidden, 3});
}

OnnxBuilder unrolled(const Written &how) {
  OnnxBuilder b;
  std::vector<Dim> shape = {how.steps_of_x, kBatch, kIn};
  if (how.axis == 1) std::swap(shape[0], shape[1]);
  b.input("X", shape).output("Y").output("H");
  weights(&b, how);
  b.constant_ints("axes", {1}, {how.axis});
  if (how.by_split) {
    Names parts;
    for (int t = 0; t < kSteps; ++t) parts.push_back("part" + std::to_string(t));
    b.constant_ints("ones", {kSteps}, Ints(kSteps, 1));
    b.node("Split", {"X", "ones"}, parts).with("axis", how.axis);
  }
  Names made(kSteps);
  for (int step = 0; step < kSteps; ++step) {
    const int t = how.backwards ? kSteps - 1 - step : step;
    const std::string index = "t" + std::to_string(t);
    std::string x = "x" + std::to_string(step);
    if (how.by_split) {
      b.node("Squeeze", {"part" + std::to_string(t), "axes"}, {x});
    } else {
      b.constant_ints(index, {}, {t});
      b.node("Gather", {"X", index}, {x}).with("axis", how.axis);
    }
    if (how.around) {
      b.node("MatMul", {x, "D"}, {x + "d"});
      b.node("Relu", {x + "d"}, {x + "r"});
      x += "r";
    }
    for (int layer = 0; layer < how.layers; ++layer) cell(&b, how, layer == 0 ? x : at("h", layer - 1, step + 1), layer, step);
    std::string y = at("h", how.layers - 1, step + 1);
    if (how.around) {
      b.node("MatMul", {y, "E"}, {y + "e"});
      y += "e";
    }
    made[static_cast<size_t>(how.in_order ? t : step)] = y + "u";
    b.node("Unsqueeze", {y, "axes"}, {y + "u"});
  }
  b.node("Concat", made, {"Y"}).with("axis", how.axis);
  b.node("Identity", {at("h", how.layers - 1, kSteps)}, {"H"});
  if (how.peek) b.output(at("h", 0, 3));
  return b;
}

size_t layers(const OnnxBuilder &b) {
  const compiler::Graph graph = compiler::compile_graph(*compiler::check_model(b.proto), {});
  return static_cast<size_t>(std::count_if(graph.nodes.begin(), graph.nodes.end(),
                                           [](const compiler::Node &node) { return node.op == OpKind::kRecurrent; }));
}

// As layers, with the numbers of the file.
void expect_layers(const Written &how, size_t many) {
  const OnnxBuilder b = unrolled(how);
  compiler::imports_counted();
  EXPECT_EQ(layers(b), many);
  EXPECT_EQ(compiler::imports_counted(), 1);
  check_against_f64(b.proto, {kSteps, kBatch});
}

TEST(Unrolled, CellsAreLayersHoweverTheyStart) {
  for (const char *cell : {"lstm", "gru", "rnn"}) {
    for (const Start start : {Start::kZeros, Start::kNumbers, Start::kInput, Start::kFolded, Start::kFoldedLearned}) {
      SCOPED_TRACE(::testing::Message() << cell << " " << static_cast<int>(start));
      Written how;
      how.cell = cell;
      how.start = start;
      expect_layers(how, 1);
    }
  }
}

TEST(Unrolled, AlongEitherAxisAndInEitherDirection) {
  for (const char *cell : {"lstm", "gru", "rnn"}) {
    for (const int axis : {0, 1}) {
      for (const bool backwards : {false, true}) {
        for (const bool by_split : {false, true}) {
          SCOPED_TRACE(::testing::Message() << cell << axis << backwards << by_split);
          Written how;
          how.cell = cell;
          how.axis = axis;
          how.backwards = backwards;
          how.by_split = by_split;
          expect_layers(how, 1);
        }
      }
    }
  }
}

TEST(Unrolled, StacksAndWhatStandsBeforeAndBehindTheCellsGoAlong) {
  for (const char *cell : {"lstm", "gru", "rnn"}) {
    for (const int many : {1, 2, 3}) {
      SCOPED_TRACE(::testing::Message() << cell << many);
      Written how;
      how.cell = cell;
      how.layers = many;
      how.around = true;
      expect_layers(how, static_cast<size_t>(many));
    }
  }
}

TEST(Unrolled, OneMatrixForXAndHIsTwo) {
  for (const char *cell : {"lstm", "rnn"}) {
    for (const Start start : {Start::kZeros, Start::kNumbers, Start::kInput}) {
      for (const int many : {1, 2}) {
        SCOPED_TRACE(::testing::Message() << cell << static_cast<int>(start) << many);
        Written how;
        how.cell = cell;
        how.joint = true;
        how.start = start;
        how.layers = many;
        expect_layers(how, static_cast<size_t>(many));
      }
    }
    Written how;
    how.cell = cell;
    how.joint = true;
    how.odd_step = 3;
    expect_layers(how, 0);
  }
}

// Another matrix in one step, a start that is not what was folded, a sequence that goes on, a step that is read by itself: the
// operators run as they are.
TEST(Unrolled, WhatIsNotTheSameAtEveryStepStaysAsItIs) {
  for (const char *cell : {"lstm", "gru", "rnn"}) {
    for (int odd = 0; odd < kSteps; ++odd) {
      SCOPED_TRACE(::testing::Message() << cell << odd);
      Written how;
      how.cell = cell;
      how.odd_step = odd;
      expect_layers(how, 0);
    }
    SCOPED_TRACE(cell);
    Written how;
    how.cell = cell;
    how.start = Start::kFoldedWrong;
    expect_layers(how, std::string(cell) == "rnn" ? 1 : 0);  // of an RNN any numbers are what some start gives
    how.start = Start::kZeros;
    how.peek = true;
    expect_layers(how, 0);
    how.peek = false;
    how.steps_of_x = kSteps + 2;
    expect_layers(how, 0);
  }
}

TEST(Unrolled, ResultsInTheOrderInWhichAReversedLoopMakesThemStayAsTheyAre) {
  Written how;
  how.backwards = true;
  how.in_order = false;
  expect_layers(how, 0);
}

// As PyTorch's newer exporter writes nn.LSTM(proj_size=P): h is a product, so the operators run as they are.
TEST(Unrolled, AProjectedLstmRunsInBothDirections) {
  constexpr int kProjected = 2;
  OnnxBuilder b;
  b.input("x", {kSteps, kBatch, kIn}).output("y").constant_ints("front", {1}, {0});
  b.constant_ints("gates", {4}, {kHidden, kHidden, kHidden, kHidden}).constant_ints("steps", {kSteps}, Ints(kSteps, 1));
  for (const char *name : {"forwards", "backwards"}) {
    const std::string way = name;
    b.random(way + "W", {kIn, 4 * kHidden}).random(way + "R", {kProjected, 4 * kHidden}).random(way + "P", {kHidden, kProjected});
    b.constant(way + "h", {kBatch, kProjected}, std::vector<float>(kBatch * kProjected));
    b.constant(way + "c", {kBatch, kHidden}, std::vector<float>(kBatch * kHidden));
    Names x, y(kSteps);
    for (int t = 0; t < kSteps; ++t) x.push_back(way + std::to_string(t));
    b.node("MatMul", {"x", way + "W"}, {way + "x"});
    b.node("Split", {way + "x", "steps"}, x).with("axis", 0);
    std::string h = way + "h", c = way + "c";
    for (int i = 0; i < kSteps; ++i) {
      const int t = way == "forwards" ? i : kSteps - 1 - i;
      const std::string at = x[t] + ":";
      b.node("Squeeze", {x[t], "front"}, {at + "x"});
      b.node("MatMul", {h, way + "R"}, {at + "r"});
      b.node("Add", {at + "x", at + "r"}, {at + "sum"});
      b.node("Split", {at + "sum", "gates"}, {at + "i", at + "f", at + "g", at + "o"}).with("axis", 1);
      for (const char *gate : {"i", "f", "o"}) b.node("Sigmoid", {at + gate}, {at + gate + "s"});
      b.node("Tanh", {at + "g"}, {at + "gs"});
      b.node("Mul", {at + "fs", c}, {at + "kept"});
      b.node("Mul", {at + "is", at + "gs"}, {at + "new"});
      b.node("Add", {at + "kept", at + "new"}, {at + "c"});
      b.node("Tanh", {at + "c"}, {at + "ct"});
      b.node("Mul", {at + "os", at + "ct"}, {at + "whole"});
      b.node("MatMul", {at + "whole", way + "P"}, {at + "h"});
      b.node("Unsqueeze", {at + "h", "front"}, {at + "y"});
      h = at + "h", c = at + "c", y[t] = at + "y";
    }
    b.node("Concat", y, {way}).with("axis", 0);
  }
  b.node("Concat", {"forwards", "backwards"}, {"y"}).with("axis", 2);
  check_against_f64(b.proto);
}

}  // namespace unrolled_test
}  // namespace rnnp::testing_support
