// fuse_copies_test.cpp -- graphs of copies before and after the passes on them: every element goes where it went.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "compiler/import/builder.h"
#include "compiler/ir/passes.h"

namespace rnnp::testing_support {
namespace {

using namespace rnnp::compiler;

using Elements = std::vector<int>;

void copy(const AttrCopy &a, const Elements &x, Elements *y) {
  uint64_t count = 1;
  for (uint32_t i = 0; i < a.rank; ++i) count *= a.dims[i];
  for (uint64_t n = 0; n < count; ++n) {
    uint64_t rest = n;
    int64_t from = a.x_first, to = a.y_first;
    for (uint32_t i = a.rank; i-- > 0; rest /= a.dims[i]) {
      from += static_cast<int64_t>(rest % a.dims[i]) * a.x_stride[i];
      to += static_cast<int64_t>(rest % a.dims[i]) * a.y_stride[i];
    }
    y->at(static_cast<size_t>(to)) = x.at(static_cast<size_t>(from));
  }
}

// The outputs of one step; states go on. Unary nodes add one.
std::vector<Elements> step_of(const Graph &graph, const std::vector<Elements> &inputs, std::map<uint32_t, Elements> *states) {
  std::vector<Elements> values;
  for (const Value &value : graph.values)
    values.push_back(value.kind == ValueKind::kInput ? inputs[value.input] : Elements(value.elems, -1));
  for (const Node &node : graph.nodes) {
    if (node.op == OpKind::kCopy) copy(std::get<AttrCopy>(node.attr), values[node.in[0]], &values[node.out[0]]);
    if (node.op == OpKind::kStateRead) values[node.out[0]] = (*states)[std::get<StateRef>(node.attr).state];
    if (node.op == OpKind::kStateWrite) (*states)[std::get<StateRef>(node.attr).state] = values[node.in[0]];
    if (node.op != OpKind::kUnary) continue;
    values[node.out[0]] = values[node.in[0]];
    for (int &e : values[node.out[0]]) ++e;
  }
  std::vector<Elements> out;
  for (const Io &io : graph.outputs) out.push_back(values[io.value]);
  return out;
}

struct Copies {
  Graph graph;
  std::mt19937 random;

  explicit Copies(uint32_t seed) : random(seed) {}

  int64_t below(int64_t n) { return static_cast<int64_t>(random() % static_cast<uint32_t>(n)); }

  uint32_t input(int64_t elems) {
    Value value;
    value.kind = ValueKind::kInput;
    value.sequence = true;
    value.elems = static_cast<uint32_t>(elems);
    value.input = static_cast<uint32_t>(graph.inputs.size());
    const uint32_t index = graph.add_value(value);
    graph.inputs.push_back({"x" + std::to_string(value.input), index, 0, {}, 0});
    return index;
  }
  uint32_t row(int64_t elems) { return graph.add_row(static_cast<uint32_t>(elems), true); }
  void output(uint32_t value) { graph.outputs.push_back({"y" + std::to_string(value), value, 0, {}, 0}); }
  void add_copy(uint32_t from, uint32_t to, const std::vector<CopyDim> &dims, int64_t x_first, int64_t y_first) {
    graph.nodes.push_back({OpKind::kCopy, "", {from}, {to}, copy_attr(dims, x_first, y_first)});
  }
  uint32_t unary(uint32_t x) {
    const uint32_t y = row(graph.values[x].elems);
    graph.nodes.push_back({OpKind::kUnary, "", {x}, {y}, AttrUnary{}});
    return y;
  }

  std::vector<int64_t> sizes() {
    std::vector<int64_t> out;
    for (int64_t rank = 1 + below(4); rank > 0; --rank) out.push_back(1 + below(5));
    return out;
  }
  std::vector<size_t> order(size_t n) {
    std::vector<size_t> out(n);
    std::iota(out.begin(), out.end(), size_t{0});
    std::shuffle(out.begin(), out.end(), random);
    return out;
  }
};

int64_t product(const std::vector<int64_t> &sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

// Strides of axes that lie one within the other in this order, the last one innermost.
std::vector<int64_t> strides_in(const std::vector<int64_t> &sizes, const std::vector<size_t> &order) {
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = stride;
    stride *= sizes[order[i]];
  }
  return strides;
}

// A tensor with its axes in order, put together along one of them from inputs whose axes lie in some order, then transposed.
uint32_t joined_and_transposed(Copies *c, const std::vector<int64_t> &sizes, uint32_t to, int64_t at) {
  const std::vector<int64_t> plain = strides_in(sizes, [&] {
    std::vector<size_t> order(sizes.size());
    std::iota(order.begin(), order.end(), size_t{0});
    return order;
  }());
  const uint32_t between = c->row(product(sizes));
  const size_t axis = static_cast<size_t>(c->below(static_cast<int64_t>(sizes.size())));
  for (int64_t done = 0; done < sizes[axis];) {
    std::vector<int64_t> part = sizes;
    part[axis] = 1 + c->below(sizes[axis] - done);
    const std::vector<int64_t> from = strides_in(part, c->order(part.size()));
    std::vector<CopyDim> dims;
    for (size_t i = 0; i < part.size(); ++i) dims.push_back({part[i], from[i], plain[i]});
    c->add_copy(c->input(product(part)), between, dims, 0, done * plain[axis]);
    done += part[axis];
  }
  const std::vector<int64_t> transposed = strides_in(sizes, c->order(sizes.size()));
  std::vector<CopyDim> dims;
  for (size_t i = 0; i < sizes.size(); ++i) dims.push_back({sizes[i], plain[i], transposed[i]});
  c->add_copy(between, to, dims, 0, at);
  return between;
}

std::vector<Elements> numbered(const Graph &graph) {
  std::vector<Elements> inputs;
  int next = 100;
  for (const Io &io : graph.inputs) {
    inputs.emplace_back(graph.values[io.value].elems);
    for (int &e : inputs.back()) e = next++;
  }
  return inputs;
}

TEST(FuseCopies, EveryElementOfPiecesThatAreJoinedAndReversedGoesStraight) {
  for (uint32_t seed = 1; seed <= 2000; ++seed) {
    Copies c(seed);
    const std::vector<int64_t> sizes = c.sizes();
    const int64_t elems = product(sizes), before = c.below(3);
    const uint32_t y = c.row(before + elems + c.below(2));
    const uint32_t between = joined_and_transposed(&c, sizes, y, before);
    const size_t pieces = c.graph.nodes.size() - 1;
    if (seed % 5 == 0) c.output(between);  // read by more than the copy
    c.output(y);
    const std::vector<Elements> inputs = numbered(c.graph);
    std::map<uint32_t, Elements> none;
    const std::vector<Elements> want = step_of(c.graph, inputs, &none);
    fuse_copies(&c.graph);
    ASSERT_EQ(step_of(c.graph, inputs, &none), want) << "seed " << seed;
    ASSERT_EQ(c.graph.nodes.size(), pieces + (seed % 5 == 0)) << "seed " << seed;
  }
}

// Runs that end or begin within an axis, or pass over several: what cannot be one copy stays two.
TEST(FuseCopies, ElementsThatLieUnevenlyBehindTheSecondCopyKeepTheirPlaces) {
  size_t fused = 0, kept = 0;
  for (uint32_t seed = 1; seed <= 4000; ++seed) {
    Copies c(seed);
    const std::vector<int64_t> sizes = c.sizes();
    const int64_t elems = product(sizes);
    const uint32_t x = c.input(elems), between = c.row(elems), y = c.row(elems);
    const int64_t at = c.below(elems), step = 1 + c.below(6), count = 1 + c.below((elems - 1 - at) / step + 1);
    std::vector<CopyDim> dims = {{count, 1, step}};
    if (seed % 2 == 0 && at + (count - 1) * step + 1 < elems && 2 * count <= elems) dims.push_back({2, count, 1});
    c.add_copy(x, between, dims, 0, at);
    const std::vector<int64_t> from = strides_in(sizes, c.order(sizes.size())), to = strides_in(sizes, c.order(sizes.size()));
    std::vector<CopyDim> transposed;
    for (size_t i = 0; i < sizes.size(); ++i) transposed.push_back({sizes[i], from[i], to[i]});
    c.add_copy(between, y, transposed, 0, 0);
    c.output(y);
    const std::vector<Elements> inputs = numbered(c.graph);
    std::map<uint32_t, Elements> none;
    const std::vector<Elements> want = step_of(c.graph, inputs, &none);
    fuse_copies(&c.graph);
    ASSERT_EQ(step_of(c.graph, inputs, &none), want) << "seed " << seed;
    ++(c.graph.nodes.size() == 1 ? fused : kept);
  }
  EXPECT_GT(fused, 1000u);
  EXPECT_GT(kept, 100u);
}

// What a step makes is kept transposed and read reversed back, whole and, in some, a second time within a larger row.
TEST(TransposeStates, AStateLiesAsTheStepMakesIt) {
  for (uint32_t seed = 1; seed <= 500; ++seed) {
    Copies c(seed);
    const std::vector<int64_t> sizes = c.sizes();
    const int64_t elems = product(sizes);
    const std::vector<int64_t> outside = strides_in(sizes, c.order(sizes.size())),
                               inside = strides_in(sizes, c.order(sizes.size()));
    const auto moved = [&](const std::vector<int64_t> &x, const std::vector<int64_t> &y) {
      std::vector<CopyDim> dims;
      for (size_t i = 0; i < sizes.size(); ++i) dims.push_back({sizes[i], x[i], y[i]});
      return dims;
    };
    c.graph.states.push_back({"s", static_cast<uint32_t>(elems)});
    const uint32_t read = c.row(elems), back = c.row(elems), kept = c.row(elems), larger = c.row(elems + 4);
    c.graph.nodes.push_back({OpKind::kStateRead, "s", {}, {read}, StateRef{0}});
    c.add_copy(read, back, moved(outside, inside), 0, 0);
    c.add_copy(read, larger, moved(outside, strides_in(sizes, c.order(sizes.size()))), 0, 3);
    const uint32_t made = c.unary(back);
    c.add_copy(made, kept, moved(inside, outside), 0, 0);
    c.graph.nodes.push_back({OpKind::kStateWrite, "s", {kept, kNone}, {}, StateRef{0}});
    if (seed % 2 == 0) c.output(larger);
    if (seed % 7 == 0) c.output(read);  // seen from outside: it stays as it is
    c.output(made);
    Graph transposed = c.graph;
    transpose_states(&transposed);
    drop_idle_copies(&transposed);
    std::map<uint32_t, Elements> before = {{0, Elements(static_cast<size_t>(elems), 0)}}, after = before;
    for (int t = 0; t < 3; ++t)
      ASSERT_EQ(step_of(transposed, {}, &after), step_of(c.graph, {}, &before)) << "seed " << seed << " step " << t;
    if (seed % 7 != 0) {
      ASSERT_EQ(transposed.nodes.size(), seed % 2 == 0 ? 4u : 3u) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace rnnp::testing_support
