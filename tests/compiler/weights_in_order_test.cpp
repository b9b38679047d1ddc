// weights_in_order_test.cpp -- layers that read a row through a copy in another order, before and after the pass on them.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "compiler/import/builder.h"
#include "compiler/ir/passes.h"

namespace rnnp::testing_support {
namespace weights_in_order_test {

using namespace rnnp::compiler;

constexpr uint32_t kLines = 3, kColumns = 5, kElems = kLines * kColumns, kOutputs = 4;

std::vector<float> numbers(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> all(count);
  for (float &e : all) e = 1.0f + static_cast<float>(random() % 9);
  return all;
}

// A row of lines x columns that a layer reads column by column.
struct Reversed {
  Graph graph;
  uint32_t made, transposed, result;

  explicit Reversed(const std::vector<CopyDim> &dims = {{kColumns, 1, kLines}, {kLines, kColumns, 1}}) {
    Value x;
    x.kind = ValueKind::kInput;
    x.sequence = true;
    x.elems = kElems;
    x.input = 0;
    graph.inputs.push_back({"x", graph.add_value(x), 0, {}, 0});
    made = graph.add_row(kElems, true);
    transposed = graph.add_row(kElems, true);
    graph.nodes.push_back({OpKind::kUnary, "", {0}, {made}, AttrUnary{}});
    graph.nodes.push_back({OpKind::kCopy, "", {made}, {transposed}, copy_attr(dims, 0, 0)});
  }
  Dense &add_dense() {
    Dense dense;
    dense.input_size = kElems;
    dense.output_size = kOutputs;
    dense.w = numbers(size_t{kElems} * kOutputs, 1);
    result = graph.add_row(kOutputs, true);
    graph.nodes.push_back({OpKind::kDense, "", {transposed}, {result}, dense});
    graph.outputs.push_back({"y", result, 0, {}, 0});
    return std::get<Dense>(graph.nodes.back().attr);
  }
  const Node &last() const { return graph.nodes.back(); }
  size_t copies() const {
    return static_cast<size_t>(
        std::count_if(graph.nodes.begin(), graph.nodes.end(), [](const Node &n) { return n.op == OpKind::kCopy; }));
  }
};

std::vector<float> in_columns(const std::vector<float> &row) {
  std::vector<float> transposed(kElems);
  for (uint32_t n = 0; n < kElems; ++n) transposed[n % kColumns * kLines + n / kColumns] = row[n];
  return transposed;
}

// Integers: the order of the sums does not show.
std::vector<float> times_row(const std::vector<float> &w, const std::vector<float> &x) {
  std::vector<float> y(w.size() / x.size(), 0.0f);
  for (size_t i = 0; i < w.size(); ++i) y[i / x.size()] += w[i] * x[i % x.size()];
  return y;
}

TEST(WeightsInOrder, ALayerReadsTheRowAsItLies) {
  const std::vector<float> x = numbers(kElems, 7);
  Reversed t;
  const std::vector<float> before = t.add_dense().w;
  put_weights_in_order(&t.graph);
  EXPECT_EQ(0u, t.copies());
  ASSERT_EQ(OpKind::kDense, t.last().op);
  EXPECT_EQ(times_row(before, in_columns(x)), times_row(std::get<Dense>(t.last().attr).w, x));
}

TEST(WeightsInOrder, EveryDirectionOfARecurrentLayerDoes) {
  const std::vector<float> x = numbers(kElems, 7);
  Reversed t;
  Recurrent layer;
  layer.input_size = kElems;
  layer.hidden_size = 2;
  layer.directions.resize(2);
  for (uint32_t d = 0; d < 2; ++d) layer.directions[d].w = numbers(2 * kElems, 20 + d);
  const uint32_t y = t.graph.add_row(4, true);
  t.graph.nodes.push_back({OpKind::kRecurrent, "", {t.transposed}, {y}, layer});
  t.graph.outputs.push_back({"y", y, 0, {}, 0});
  put_weights_in_order(&t.graph);
  EXPECT_EQ(0u, t.copies());
  for (uint32_t d = 0; d < 2; ++d)
    EXPECT_EQ(times_row(layer.directions[d].w, in_columns(x)), times_row(std::get<Recurrent>(t.last().attr).directions[d].w, x));
}

TEST(WeightsInOrder, WhatMustStayWhereItIsStays) {
  const struct {
    const char *what;
    std::function<void(Reversed *)> make;
  } cases[] = {
      {"two read the copy",
       [](Reversed *t) {
         t->add_dense(), t->graph.outputs.push_back({"z", t->transposed, 0, {}, 0});
       }},
      {"two groups of x", [](Reversed *t) { t->add_dense().groups = 2; }},
      {"integers with scales",
       [](Reversed *t) {
         t->add_dense().storage.scales = {1, 1, 1, 1};
       }},
      {"numbers already rounded", [](Reversed *t) { t->add_dense().storage.rounded.resize(kElems * kOutputs); }},
      {"a sparse matrix",
       [](Reversed *t) {
         Dense &d = t->add_dense();
         std::fill(d.w.begin(), d.w.begin() + kElems * kOutputs / 2, 0.0f);
       }},
      {"a value of two copies",
       [](Reversed *t) {
         t->graph.nodes.push_back({OpKind::kCopy, "", {t->made}, {t->transposed}, copy_attr({{kElems, 1, 1}}, 0, 0)});
         t->add_dense();
       }},
  };
  for (const auto &c : cases) {
    Reversed t;
    c.make(&t);
    const size_t before = t.copies();
    const std::vector<float> w = std::get<Dense>(t.last().attr).w;
    put_weights_in_order(&t.graph);
    EXPECT_EQ(before, t.copies()) << c.what;
    EXPECT_EQ(w, std::get<Dense>(t.last().attr).w) << c.what;
  }
  Reversed part({{kColumns, 1, kLines}, {kLines - 1, kColumns, 1}}), twice({{kColumns, 1, kLines}, {kLines, 0, 1}});
  for (Reversed *t : {&part, &twice}) {
    t->add_dense();
    put_weights_in_order(&t->graph);
    EXPECT_EQ(1u, t->copies()) << "not every element once";
  }
}

}  // namespace weights_in_order_test
}  // namespace rnnp::testing_support
