// mutation_regression_test.cpp -- fusions, constants, memory and states by numbers small enough to see through and by properties of
// the plan, beside the comparisons with the f64 evaluation. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "compiler/compile.h"
#include "compiler/ir/memory.h"
#include "compiler/ir/passes.h"
#include "compiler/onnx/problem.h"
#include "onnx_builder.h"

namespace rnnp::testing_support {
namespace mutation_regression_test {

using namespace rnnp::compiler;
using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;

// The output "y" for "x", a batch of one row.
Floats result(const OnnxBuilder &b, const Floats &x, const Ints &shape, size_t *nodes = nullptr) {
  const auto model = check_model(b.proto);
  const Compiled compiled = compile_model(*model, "generic");
  if (nodes) *nodes = compiled.graph.nodes.size();
  Runner runner(compiled.blob);
  Array input;
  input.shape = shape;
  input.f32 = x;
  return runner.run({{"x", input}}, {}).at("y").f32;
}

TEST(Numbers, AConstantMinusOrByAProductIsNotTheProductMinusOrByAConstant) {
  const std::vector<std::pair<const char *, Floats>> kinds = {{"Sub", {8, 4}}, {"Div", {5, 5.0f / 3}}};
  for (const auto &kind : kinds) {
    for (const bool constant_first : {true, false}) {
      OnnxBuilder b;
      b.input("x", {1, 2}).output("y").constant("m", {2, 2}, {2, 0, 0, 3}).constant("c", {2}, {10, 10});
      b.node("MatMul", {"x", "m"}, {"p"});
      b.node(kind.first, constant_first ? std::vector<std::string>{"c", "p"} : std::vector<std::string>{"p", "c"}, {"y"});
      size_t nodes = 0;
      const Floats y = result(b, {1, 2}, {1, 2}, &nodes);
      ASSERT_EQ(y.size(), 2u);
      for (size_t i = 0; i < 2; ++i) {
        const bool minus = std::string(kind.first) == "Sub";
        const float other = minus ? -kind.second[i] : 1 / kind.second[i];
        EXPECT_NEAR(y[i], constant_first ? kind.second[i] : other, 1e-6f) << kind.first;
      }
      EXPECT_EQ(nodes, constant_first ? 2u : 1u) << kind.first;
    }
  }
}

// A normalisation written out, then a sum and a product of constants, in either order.
TEST(Numbers, ASumAfterANormIsMultipliedToo) {
  for (const bool sum_first : {true, false}) {
    OnnxBuilder b;
    b.input("x", {1, 2}).output("y").constant("eps", {}, {1e-12f}).constant("b", {2}, {1, 1}).constant("s", {2}, {3, 3});
    b.constant("two", {}, {2});
    b.node("ReduceMean", {"x"}, {"mean"}).with("axes", Ints{-1});
    b.node("Sub", {"x", "mean"}, {"d"});
    b.node("Mul", {"d", "d"}, {"dd"});
    b.node("ReduceMean", {"dd"}, {"var"}).with("axes", Ints{-1});
    b.node("Add", {"var", "eps"}, {"more"});
    b.node("Sqrt", {"more"}, {"root"});
    b.node("Div", {"d", "root"}, {"n"});
    b.node(sum_first ? "Add" : "Mul", {"n", sum_first ? "b" : "s"}, {"half"});
    b.node(sum_first ? "Mul" : "Add", {"half", sum_first ? "s" : "b"}, {"y"});
    size_t nodes = 0;
    EXPECT_EQ(result(b, {4, 8}, {1, 2}, &nodes), sum_first ? (Floats{0, 6}) : (Floats{-2, 4}));
    EXPECT_EQ(nodes, sum_first ? 2u : 1u);  // it was seen to be a norm
  }
}

TEST(Numbers, BoundsOfClipAreInputsFromOpset11On) {
  for (const int64_t opset : {10, 11, 12, 13}) {
    OnnxBuilder b(opset);
    b.input("x", {1, 3}).output("y").constant("low", {}, {-1}).constant("high", {}, {2});
    if (opset < 11)
      b.node("Clip", {"x"}, {"y"}).with("min", -1.0).with("max", 2.0);
    else
      b.node("Clip", {"x", "low", "high"}, {"y"});
    EXPECT_EQ(result(b, {-5, 0.5f, 7}, {1, 3}), (Floats{-1, 0.5f, 2})) << opset;
  }
}

// The number of steps is known at run time alone: what is computed from it cannot enter the numbers.
TEST(Numbers, ArithmeticOnTheNumberOfStepsIsNoConstant) {
  for (const std::string op : {"Mul", "Add", "Neg", "Max"}) {
    OnnxBuilder b;
    b.input("x", {"T", 1, 4}).output("y").weights("", 1, 1, 4, 4).constant_ints("first", {}, {0}).constant("two", {}, {2});
    b.node("Shape", {"x"}, {"dims"});
    b.node("Gather", {"dims", "first"}, {"steps"});
    b.node("Cast", {"steps"}, {"count"}).with("to", static_cast<int64_t>(onnx::TensorProto::FLOAT));
    b.node(op, op == "Neg" ? std::vector<std::string>{"count"} : std::vector<std::string>{"count", "two"}, {"number"});
    b.node("Mul", {"x", "number"}, {"scaled"}, "uses_it");
    b.node("RNN", {"scaled", "W", "R", "B"}, {"y"}).with("hidden_size", 4);
    EXPECT_NE(refusal_of(b.proto).find("'uses_it' (Mul): it computes with the number of steps"), std::string::npos)
        << refusal_of(b.proto);
  }
}

// --- Memory: properties of the plan of graphs made by hand.

AttrUnary tanh_attr() {
  return AttrUnary{{static_cast<uint32_t>(Act::kTanh), 0, 0}};
}

AttrBinary sum_of(const std::vector<uint32_t> &dims, const std::vector<uint32_t> &a, const std::vector<uint32_t> &b) {
  AttrBinary attr{};
  attr.op = static_cast<uint32_t>(Binary::kAdd);
  attr.rank = static_cast<uint32_t>(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    attr.dims[i] = dims[i];
    attr.a_stride[i] = a[i];
    attr.b_stride[i] = b[i];
  }
  return attr;
}

struct Maker {
  Graph graph;

  uint32_t input(const char *name, uint32_t elems, bool sequence) {
    Value value;
    value.kind = ValueKind::kInput;
    value.elems = elems;
    value.sequence = sequence;
    value.input = static_cast<uint32_t>(graph.inputs.size());
    const uint32_t at = graph.add_value(value);
    graph.inputs.push_back({name, at, static_cast<uint32_t>(sequence ? RNNP_ROLE_SEQUENCE : RNNP_ROLE_PER_RUN), {}});
    return at;
  }
  uint32_t unary(uint32_t x) {
    const uint32_t y = graph.add_row(graph.values[x].elems, graph.values[x].sequence);
    graph.nodes.push_back({OpKind::kUnary, "unary", {x}, {y}, tanh_attr()});
    return y;
  }
  uint32_t sum(uint32_t a, uint32_t b, const AttrBinary &attr) {
    uint32_t elems = 1;
    for (uint32_t i = 0; i < attr.rank; ++i) elems *= attr.dims[i];
    const uint32_t y = graph.add_row(elems, graph.values[a].sequence || graph.values[b].sequence);
    graph.nodes.push_back({OpKind::kBinary, "sum", {a, b}, {y}, attr});
    return y;
  }
  uint32_t last_step(uint32_t x) {
    const uint32_t y = graph.add_row(graph.values[x].elems, false);
    graph.nodes.push_back({OpKind::kTimeStep, "last", {x}, {y}, AttrTimeStep{1, rnnp::kNone}});
    return y;
  }
  void output(const char *name, uint32_t value) {
    graph.outputs.push_back(
        {name, value, static_cast<uint32_t>(graph.values[value].sequence ? RNNP_ROLE_SEQUENCE : RNNP_ROLE_PER_RUN), {}});
  }
};

bool share(const Graph &graph, const MemoryPlan &plan, uint32_t a, uint32_t b) {
  return plan.offset[a] < plan.offset[b] + graph.values[b].elems && plan.offset[b] < plan.offset[a] + graph.values[a].elems;
}

TEST(Plan, AnOperandThatIsReadInAnotherOrderKeepsItsMemory) {
  for (const bool transposed : {true, false}) {
    for (const size_t side : {0, 1}) {
      Maker m;
      const uint32_t x = m.input("x", 6, true), other = m.input("other", 6, true);
      const uint32_t a = m.unary(x);
      const std::vector<uint32_t> mine = transposed ? std::vector<uint32_t>{1, 2} : std::vector<uint32_t>{3, 1}, plain = {3, 1};
      const uint32_t y = side == 0 ? m.sum(a, other, sum_of({2, 3}, mine, plain)) : m.sum(other, a, sum_of({2, 3}, plain, mine));
      const uint32_t z = m.unary(y);
      m.output("z", z);
      find_first_chunk_rows(&m.graph);
      const MemoryPlan plan = plan_memory(m.graph);
      EXPECT_EQ(share(m.graph, plan, a, y), !transposed) << side;
    }
  }
}

// The same of a broadcast operand, and of one whose later reader comes after.
TEST(Plan, AnOperandThatIsReadMoreThanOnceKeepsItsMemory) {
  Maker m;
  const uint32_t x = m.input("x", 6, true), other = m.input("other", 6, true), a = m.unary(x);
  const uint32_t y = m.sum(a, other, sum_of({6}, {1}, {1}));
  const uint32_t z = m.sum(y, a, sum_of({6}, {1}, {1}));
  m.output("z", z);
  find_first_chunk_rows(&m.graph);
  EXPECT_FALSE(share(m.graph, plan_memory(m.graph), a, y));
}

// Made in the first chunk, read in the last: whatever else is early may not take its place meanwhile.
TEST(Plan, FirstChunkRowsLastToTheEndOfTheRun) {
  Maker m;
  const uint32_t x = m.input("x", 6, true), first = m.input("first", 6, false), second = m.input("second", 6, false);
  const AttrBinary plain = sum_of({6}, {1}, {1});
  const uint32_t steps = m.unary(x), early = m.unary(first), late = m.last_step(steps), sum = m.sum(late, early, plain),
                 more = m.unary(second), end = m.sum(sum, more, plain);
  m.output("end", end);
  find_first_chunk_rows(&m.graph);
  ASSERT_TRUE(m.graph.values[early].early);
  ASSERT_TRUE(m.graph.values[more].early);
  ASSERT_FALSE(m.graph.values[sum].early);
  const MemoryPlan plan = plan_memory(m.graph);
  EXPECT_FALSE(share(m.graph, plan, early, more));
  EXPECT_FALSE(share(m.graph, plan, early, late));
  EXPECT_FALSE(share(m.graph, plan, more, late));
  EXPECT_FALSE(share(m.graph, plan, more, sum));
}

TEST(Plan, FirstChunkRowsGiveTheSameInManyChunks) {
  OnnxBuilder b;
  b.input("x", {"T", "N", 4}).input("r", {"N", 4}).input("q", {"N", 4}).output("end").output("Y").weights("", 1, 1, 4, 4);
  b.constant_ints("last", {}, {-1});
  b.node("RNN", {"x", "W", "R", "B"}, {"Y", "h"}).with("hidden_size", 4);
  b.node("Tanh", {"x"}, {"t"});
  b.node("Sigmoid", {"r"}, {"early"});
  b.node("Gather", {"t", "last"}, {"late"}).with("axis", 0);
  b.node("Add", {"late", "early"}, {"sum"});
  b.node("Sigmoid", {"q"}, {"more"});
  b.node("Mul", {"sum", "more"}, {"end"});
  check_against_f64(b.proto, {100, 3});
}

// --- States

std::string error_of(const onnx::ModelProto &proto, const std::vector<StatePair> &states) {
  try {
    compile_graph(*check_model(proto), {"generic", states});
  } catch (const std::runtime_error &error) {
    return error.what();
  }
  return "";
}

// The right numbers in another order are not the state: reversed, halves swapped, directions swapped.
// Such layers start anew at every step; one that runs backwards cannot.
TEST(States, TheRightNumbersInAnotherOrderAreKeptByTheLibrary) {
  for (const std::string how : {"as it is", "reversed", "halves", "directions"}) {
    const bool both = how == "directions";
    const int64_t d = both ? 2 : 1;
    OnnxBuilder b;
    b.input("x", {"T", "N", 4}).input("h", {d, "N", 4}).output("Y").output("h_next").weights("", 1, d, 4, 4);
    b.node("RNN", {"x", "W", "R", "B", "", "h"}, {"Y", "hn"})
        .with("hidden_size", 4)
        .with("direction", both ? "bidirectional" : "forward");
    b.constant_ints("order", {4}, how == "reversed" ? Ints{3, 2, 1, 0} : how == "halves" ? Ints{2, 3, 0, 1} : Ints{0, 1, 2, 3});
    b.constant_ints("ways", {d}, both ? Ints{1, 0} : Ints{0});
    b.node("Gather", {"hn", "order"}, {"reversed"}).with("axis", 2);
    b.node("Gather", {"reversed", "ways"}, {"h_next"}).with("axis", 0);
    const std::string error = error_of(b.proto, {{"h", "h_next"}});
    if (both) {
      EXPECT_NE(error.find("it runs from the last step to the first"), std::string::npos) << error;
      continue;
    }
    SCOPED_TRACE(how);
    check_persistent_states(b.proto, {{"h", "h_next"}});
  }
}

// --- The model's id: nothing that changes results may be left out of it.

Graph layer_graph(Cell cell) {
  Maker m;
  const uint32_t x = m.input("x", 2, true), h = m.input("h", 3, false), y = m.graph.add_row(3, true);
  Recurrent layer;
  layer.cell = cell;
  layer.input_size = 2;
  layer.hidden_size = 3;
  Direction d;
  const size_t gates = gate_count(cell);
  d.w.assign(gates * 6, 1);
  d.r.assign(gates * 9, 1);
  d.bias.assign(gates * 3, 1);
  d.r_bias.assign(3, 1);
  d.peephole.assign(9, 1);
  d.init_h.data.assign(3, 1);
  d.init_c.data.assign(3, 1);
  layer.directions = {d};
  m.graph.nodes.push_back({OpKind::kRecurrent, "layer", {x, h, kNone, kNone}, {y, kNone, kNone}, layer});
  m.output("y", y);
  return m.graph;
}

using Change = void (*)(Recurrent &);

TEST(ModelId, EveryPartOfALayerCounts) {
  const Change changes[] = {
      [](Recurrent &r) { r.clip = 2; },
      [](Recurrent &r) { r.input_forget = true; },
      [](Recurrent &r) { r.masked = true; },
      [](Recurrent &r) { r.directions[0].reverse = true; },
      [](Recurrent &r) { r.directions[0].w[1] = 2; },
      [](Recurrent &r) { r.directions[0].r[1] = 2; },
      [](Recurrent &r) { r.directions[0].bias[1] = 2; },
      [](Recurrent &r) { r.directions[0].r_bias[1] = 2; },
      [](Recurrent &r) { r.directions[0].peephole[1] = 2; },
      [](Recurrent &r) { r.directions[0].init_h.data[1] = 2; },
      [](Recurrent &r) { r.directions[0].init_c.data[1] = 2; },
      [](Recurrent &r) { r.directions[0].init_h.per_row = true; },
      [](Recurrent &r) { r.directions[0].init_c.per_row = true; },
      [](Recurrent &r) { r.directions[0].given_h.first = 1; },
      [](Recurrent &r) { r.directions[0].given_c.stride = 2; },
      [](Recurrent &r) { r.directions[0].act[0].act = 3; },
      [](Recurrent &r) { r.directions[0].act[1].alpha = 0.5f; },
      [](Recurrent &r) { r.directions[0].act[2].beta = 0.5f; },
  };
  std::set<uint64_t> ids = {model_id(layer_graph(Cell::kLstm)), model_id(layer_graph(Cell::kGruLinear))};
  for (const Change change : changes) {
    Graph graph = layer_graph(Cell::kLstm);
    change(std::get<Recurrent>(graph.nodes[0].attr));
    EXPECT_TRUE(ids.insert(model_id(graph)).second) << "change " << ids.size();
  }
}

TEST(ModelId, EveryPartOfOtherNodesCounts) {
  const auto id = [](Attr attr) {
    Maker m;
    const uint32_t x = m.input("x", 4, true), y = m.graph.add_row(4, true);
    m.graph.nodes.push_back({OpKind::kDense, "node", {x}, {y}, std::move(attr)});
    m.output("y", y);
    return model_id(m.graph);
  };
  const BlobActivation relu = {static_cast<uint32_t>(Act::kRelu), 0, 0};
  const std::vector<Attr> attrs = {
      Dense{4, 4, 1, 1, Floats(16, 1), Floats(4, 1), {}},
      Dense{4, 4, 1, 1, Floats(16, 1), {}, {}},
      Dense{4, 4, 1, 1, Floats(16, 1), {1, 1, 1, 2}, {}},
      Dense{4, 4, 1, 1, Floats(16, 2), Floats(4, 1), {}},
      Dense{4, 4, 1, 1, Floats(16, 1), Floats(4, 1), {}, relu},
      Dense{4, 4, 2, 1, Floats(16, 1), Floats(4, 1), {}},
      Norm{1, 4, true, false, 0, {}, {}},
      Norm{1, 4, false, false, 0, {}, {}},
      Norm{1, 4, true, false, 1e-5f, {}, {}},
      Norm{1, 4, true, false, 0, Floats(4, 1), {}},
      Norm{1, 4, true, false, 0, {}, Floats(4, 1)},
      Norm{2, 2, true, false, 0, {}, {}},
      Gather{2, 2, 2, Floats(4, 1)},
      Gather{2, 2, 2, Floats(4, 2)},
  };
  std::set<uint64_t> ids;
  for (const Attr &attr : attrs) ids.insert(id(attr));
  Conv conv;
  conv.w.assign(4, 1);
  ids.insert(id(conv));
  conv.bias.assign(2, 1);
  ids.insert(id(conv));
  conv.shape.lead = 1;
  ids.insert(id(conv));
  EXPECT_EQ(ids.size(), attrs.size() + 3);
}

}  // namespace mutation_regression_test
}  // namespace rnnp::testing_support
