// rows_beside_test.cpp -- steps that Concat or Pad moves, and the rows that it puts in the places of those left out: delays,
// differences of steps, padding by hand. Right for every number of steps, or refused by name. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace rows_beside_test {

constexpr int kIn = 3, kHidden = 4, kFixedSteps = 6;
constexpr int64_t kEnd = int64_t{1} << 40;
using Names = std::vector<std::string>;

// y [steps, batch, hidden]: of a layer, or the input itself.
struct Model {
  OnnxBuilder b;
  bool open;

  Model(bool with_layer, bool is_open) : open(is_open) {
    const int width = with_layer ? kIn : kHidden;
    b.input(with_layer ? "X" : "y", open ? std::vector<Dim>{"T", "N", width} : std::vector<Dim>{kFixedSteps, 3, width});
    b.constant_ints("one", {1}, {1}).constant_ints("axis0", {1}, {0});
    if (!with_layer) return;
    b.weights("", 3, 1, kIn, kHidden);
    b.node("GRU", {"X", "W", "R", "B"}, {"y4", ""}).with("hidden_size", kHidden);
    b.node("Squeeze", {"y4", "one"}, {"y"});
  }
  std::string slice(const std::string &from, int64_t first, int64_t past) {
    const std::string to = from + "[" + std::to_string(first) + ":" + std::to_string(past) + "]";
    b.constant_ints(to + ":f", {1}, {first}).constant_ints(to + ":l", {1}, {past});
    b.node("Slice", {from, to + ":f", to + ":l", "axis0"}, {to});
    return to;
  }
  std::string concat(const Names &parts, const std::string &to) {
    b.node("Concat", parts, {to}).with("axis", 0);
    return to;
  }
  std::string binary(const char *op, const std::string &left, const std::string &right) {
    const std::string to = left + op + right;
    b.node(op, {left, right}, {to});
    return to;
  }
  // [count, batch, hidden], different in each place or all 0.
  std::string rows(int count, bool zeros, const std::string &name) {
    if (zeros)
      b.constant(name + ":row", {1, 1, 1}, {0.0f});
    else
      b.random(name + ":row", {count, 1, kHidden});
    b.node("Shape", {"y"}, {name + ":all"});
    b.node("Gather", {name + ":all", "one"}, {name + ":batch"});
    b.constant_ints(name + ":n", {1}, {count}).constant_ints(name + ":h", {1}, {kHidden});
    b.node("Concat", {name + ":n", name + ":batch", name + ":h"}, {name + ":shape"}).with("axis", 0);
    b.node("Expand", {name + ":row", name + ":shape"}, {name});
    return name;
  }
  std::string padded(const std::string &x, int64_t before, int64_t behind) {
    const std::string to = x + ":padded";
    b.constant_ints(to + ":pads", {6}, {before, 0, 0, behind, 0, 0});
    b.node("Pad", {x, to + ":pads"}, {to});
    return to;
  }
  // The result through one more layer: what it holds counts, step by step.
  void end(const std::string &x) {
    b.weights("e", 3, 1, kHidden, kHidden).output("Y");
    b.node("GRU", {x, "eW", "eR", "eB"}, {"Y"}).with("hidden_size", kHidden);
  }
};

struct Case {
  const char *name;
  int64_t least;  // steps that the file needs
  void (*write)(Model *);
};

const Case kCases[] = {
    {"a step later, zeros first", 1,
     [](Model *m) {
       m->end(m->concat({m->rows(1, true, "z"), m->slice("y", 0, -1)}, "c"));
     }},
    {"a step later, the first one twice", 2,
     [](Model *m) {
       m->end(m->concat({m->slice("y", 0, 1), m->slice("y", 0, -1)}, "c"));
     }},
    {"a step later, a learned row first", 1,
     [](Model *m) {
       m->end(m->concat({m->rows(1, false, "r"), m->slice("y", 0, -1)}, "c"));
     }},
    {"three steps later, three rows", 3,
     [](Model *m) {
       m->end(m->concat({m->rows(3, false, "r"), m->slice("y", 0, -3)}, "c"));
     }},
    {"a step earlier, the last one twice", 2,
     [](Model *m) {
       m->end(m->concat({m->slice("y", 1, kEnd), m->slice("y", -1, kEnd)}, "c"));
     }},
    {"two steps earlier, two rows", 2,
     [](Model *m) {
       m->end(m->concat({m->slice("y", 2, kEnd), m->rows(2, false, "r")}, "c"));
     }},
    {"another first step", 1,
     [](Model *m) {
       m->end(m->concat({m->rows(1, false, "r"), m->slice("y", 1, kEnd)}, "c"));
     }},
    {"zeros for the first two", 2,
     [](Model *m) {
       m->end(m->concat({m->rows(2, true, "z"), m->slice("y", 2, kEnd)}, "c"));
     }},
    {"another last step", 1,
     [](Model *m) {
       m->end(m->concat({m->slice("y", 0, -1), m->rows(1, false, "r")}, "c"));
     }},
    {"both ends", 3,
     [](Model *m) {
       m->end(m->concat({m->rows(1, false, "r"), m->slice("y", 1, -1), m->rows(1, true, "z")}, "c"));
     }},
    {"rows in two parts", 3,
     [](Model *m) {
       m->end(m->concat({m->rows(1, false, "r"), m->rows(2, false, "s"), m->slice("y", 0, -3)}, "c"));
     }},
    {"differences, padded", 2,
     [](Model *m) { m->end(m->padded(m->binary("Sub", m->slice("y", 1, kEnd), m->slice("y", 0, -1)), 1, 0)); }},
    {"differences to the next, padded", 2,
     [](Model *m) { m->end(m->padded(m->binary("Sub", m->slice("y", 1, kEnd), m->slice("y", 0, -1)), 0, 1)); }},
    {"differences beside a row", 2,
     [](Model *m) {
       m->end(m->concat({m->slice("y", 0, 1), m->binary("Sub", m->slice("y", 1, kEnd), m->slice("y", 0, -1))}, "c"));
     }},
    {"differences of what has a row more", 1,
     [](Model *m) {
       m->concat({m->slice("y", 0, 1), "y"}, "c");
       m->end(m->binary("Sub", m->slice("c", 1, kEnd), m->slice("c", 0, -1)));
     }},
    {"differences of what has a row more behind", 1,
     [](Model *m) {
       m->concat({"y", m->rows(1, false, "r")}, "c");
       m->end(m->binary("Sub", m->slice("c", 1, kEnd), m->slice("c", 0, -1)));
     }},
    {"second differences", 3,
     [](Model *m) {
       const std::string both = m->binary("Add", m->slice("y", 2, kEnd), m->slice("y", 0, -2));
       m->end(m->concat({m->slice("y", 0, 1), m->binary("Sub", both, m->slice("y", 1, -1)), m->slice("y", -1, kEnd)}, "c"));
     }},
    {"one of several rows is cut off again", 1,
     [](Model *m) {
       m->concat({m->rows(3, false, "r"), "y"}, "c");
       m->end(m->slice("c", 1, -2));
     }},
    {"a causal convolution over zeros put before it", 1,
     [](Model *m) {
       m->concat({m->rows(2, true, "z"), "y"}, "c");
       m->b.random("K", {kHidden, kHidden, 3});
       m->b.node("Transpose", {"c"}, {"ct"}).with("perm", std::vector<int64_t>{1, 2, 0});
       m->b.node("Conv", {"ct", "K"}, {"v"});
       m->b.node("Transpose", {"v"}, {"w"}).with("perm", std::vector<int64_t>{2, 0, 1});
       m->end("w");
     }},
};

TEST(RowsBeside, EachIsRightForEveryNumberOfSteps) {
  for (const Case &c : kCases) {
    for (const bool with_layer : {true, false}) {
      for (const bool open : {true, false}) {
        SCOPED_TRACE(std::string(c.name) + (with_layer ? ", of a layer" : ", of an input") + (open ? "" : ", fixed"));
        Model m(with_layer, open);
        c.write(&m);
        if (!open) {
          check_against_f64(m.b.proto, {kFixedSteps, 3});
          continue;
        }
        for (const int64_t steps : {1, 2, 3, 4, 9}) {
          for (const int64_t batch : {1, 3}) {
            if (steps >= c.least) check_against_f64(m.b.proto, {steps, batch});
          }
        }
      }
    }
  }
}

TEST(RowsBeside, MoreStepsThanTheRunHasAreRefused) {
  for (const char *how : {"layer", "relu", "convolution", "again", "last"}) {
    SCOPED_TRACE(how);
    Model m(true, true);
    m.concat({m.rows(1, false, "r"), "y"}, "c");
    if (how == std::string("layer")) m.end("c");
    if (how == std::string("relu")) {
      m.b.node("Relu", {"c"}, {"d"});
      m.end(m.slice("d", 0, -1));
    }
    if (how == std::string("convolution")) {
      m.b.random("K", {kHidden, kHidden, 2}).output("v");
      m.b.node("Transpose", {"c"}, {"ct"}).with("perm", std::vector<int64_t>{1, 2, 0});
      m.b.node("Conv", {"ct", "K"}, {"v"});
    }
    if (how == std::string("again")) m.end(m.slice(m.concat({m.rows(1, false, "s"), "c"}, "d"), 0, -2));
    if (how == std::string("last")) {
      m.b.output("v").constant_ints("first", {}, {0});
      m.b.node("Gather", {"c", "first"}, {"v"}).with("axis", 0);
    }
    const std::string refusal = refusal_of(m.b.proto);
    EXPECT_NE(refusal.find("puts rows beside the steps"), std::string::npos) << (refusal.empty() ? "it compiles" : refusal);
  }
}

// A row that was put where no step of the run is left out lies at the wrong place for what computes with it.
TEST(RowsBeside, RowsInThePlaceOfStepsLeftOutAreNotComputedWith) {
  Model m(true, true);
  m.concat({m.rows(1, false, "r"), m.slice("y", 2, kEnd)}, "c");
  m.b.node("Relu", {"c"}, {"d"});
  m.end(m.concat({m.rows(1, false, "s"), "d"}, "e"));
  EXPECT_NE(refusal_of(m.b.proto).find("puts rows beside the steps"), std::string::npos) << refusal_of(m.b.proto);
}

}  // namespace rows_beside_test
}  // namespace rnnp::testing_support
