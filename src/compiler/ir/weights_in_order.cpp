// weights_in_order.cpp -- a layer whose x is another value's row in another order reads that row, its weights in the row's order:
// what flattens channels that lie side by side. Contract: passes.h.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "compiler/ir/passes.h"
#include "compiler/onnx/budget.h"

namespace rnnp::compiler {
namespace {

// Where each element of the copy's y lies in x; nothing unless the copy is all of y and all of x, each element once.
std::optional<std::vector<uint32_t>> order_of(const AttrCopy &a, uint32_t elems) {
  uint64_t count = 1;
  for (uint32_t i = 0; i < a.rank; ++i) count *= a.dims[i];
  if (count != elems || !Budget::afford_operations(static_cast<double>(elems))) return std::nullopt;
  std::vector<uint32_t> order(elems, kNone);
  std::vector<bool> taken(elems, false);
  for (uint32_t n = 0; n < elems; ++n) {
    int64_t x = a.x_first, y = a.y_first;
    uint32_t rest = n;
    for (uint32_t i = a.rank; i-- > 0;) {
      const int64_t index = rest % a.dims[i];
      rest /= a.dims[i];
      x += index * a.x_stride[i];
      y += index * a.y_stride[i];
    }
    if (x < 0 || y < 0 || x >= elems || y >= elems) return std::nullopt;
    if (taken[static_cast<size_t>(x)] || order[static_cast<size_t>(y)] != kNone) return std::nullopt;
    taken[static_cast<size_t>(x)] = true;
    order[static_cast<size_t>(y)] = static_cast<uint32_t>(x);
  }
  return order;
}

struct Matrix {
  std::vector<float> *w;
  const Storage *storage;
};

// The matrices that multiply the node's x, each row of them by all of it.
std::vector<Matrix> matrices_of(Node *node) {
  std::vector<Matrix> all;
  if (auto *dense = std::get_if<Dense>(&node->attr)) {
    if (dense->groups == 1) all.push_back({&dense->w, &dense->storage});
  } else if (auto *layer = std::get_if<Recurrent>(&node->attr); layer != nullptr && !layer->masked) {
    for (Direction &d : layer->directions) all.push_back({&d.w, &d.w_storage});
  }
  return all;
}

// Scales may be of some k that lie together, and so may be the zeros of a sparse matrix: those stay where they are.
bool may_be_moved(const Matrix &m) {
  const auto zeros = std::count(m.w->begin(), m.w->end(), 0.0f);
  return m.storage->scales.empty() && m.storage->rounded.empty() && !m.storage->fixed &&
         static_cast<size_t>(zeros) < m.w->size() / 4 + 1;
}

void move_columns(std::vector<float> *w, const std::vector<uint32_t> &order) {
  std::vector<float> row(order.size());
  for (auto at = w->begin(); at != w->end(); at += static_cast<ptrdiff_t>(row.size())) {
    for (size_t y = 0; y < row.size(); ++y) row[order[y]] = at[static_cast<ptrdiff_t>(y)];
    std::copy(row.begin(), row.end(), at);
  }
}

}  // namespace

void put_weights_in_order(Graph *graph) {
  const std::vector<uint32_t> uses = use_counts(*graph);
  for (Node &node : graph->nodes) {
    const std::vector<Matrix> matrices = matrices_of(&node);
    if (matrices.empty() || uses[node.in[0]] != 1) continue;
    const std::vector<size_t> copies = copies_that_make(*graph, node.in[0]);
    if (copies.size() != 1) continue;
    const Node &copy = graph->nodes[copies[0]];
    const Value &x = graph->values[copy.in[0]], &y = graph->values[node.in[0]];
    if (x.kind != ValueKind::kSequence || y.kind != ValueKind::kSequence || x.elems != y.elems) continue;
    if (!std::all_of(matrices.begin(), matrices.end(), may_be_moved)) continue;
    const std::optional<std::vector<uint32_t>> order = order_of(std::get<AttrCopy>(copy.attr), x.elems);
    if (!order) continue;
    for (const Matrix &m : matrices) move_columns(m.w, *order);
    node.in[0] = copy.in[0];
  }
  remove_dead(graph);
}

}  // namespace rnnp::compiler
