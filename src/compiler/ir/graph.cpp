// graph.cpp -- Contract: graph.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/graph.h"

namespace rnnp::compiler {

namespace {

struct Stored {
  uint64_t operator()(const Recurrent &layer) const {
    uint64_t sum = 0;
    for (const Direction &d : layer.directions) {
      for (const auto *list : {&d.w, &d.r, &d.bias, &d.r_bias, &d.peephole, &d.init_h.data, &d.init_c.data}) sum += list->size();
      sum += d.norms.x_scale.size() + d.norms.h_scale.size() + d.norms.bias.size() + d.norms.c_scale.size() + d.norms.c_bias.size();
    }
    return sum;
  }
  uint64_t operator()(const FeatureRecurrent &inner) const { return (*this)(inner.layer); }
  uint64_t operator()(const Dense &dense) const { return dense.w.size() + dense.bias.size(); }
  uint64_t operator()(const Conv &conv) const { return conv.w.size() + conv.bias.size(); }
  uint64_t operator()(const Gather &gather) const { return gather.table.size(); }
  uint64_t operator()(const Norm &norm) const { return norm.scale.size() + norm.bias.size(); }
  template <typename Plain>
  uint64_t operator()(const Plain &) const {
    return 0;
  }
};

}  // namespace

Recurrent *layer_of(Node *node) {
  auto *inner = std::get_if<FeatureRecurrent>(&node->attr);
  return inner != nullptr ? &inner->layer : std::get_if<Recurrent>(&node->attr);
}
const Recurrent *layer_of(const Node &node) {
  const auto *inner = std::get_if<FeatureRecurrent>(&node.attr);
  return inner != nullptr ? &inner->layer : std::get_if<Recurrent>(&node.attr);
}

std::vector<std::vector<float> *> large_lists_of(Node *node) {
  std::vector<std::vector<float> *> out;
  if (Recurrent *layer = layer_of(node)) {
    for (Direction &d : layer->directions) out.insert(out.end(), {&d.w, &d.r});
  }
  if (auto *dense = std::get_if<Dense>(&node->attr)) out.push_back(&dense->w);
  if (auto *conv = std::get_if<Conv>(&node->attr)) out.push_back(&conv->w);
  if (auto *gather = std::get_if<Gather>(&node->attr)) out.push_back(&gather->table);
  return out;
}

Graph without_weights(Graph *graph) {
  std::vector<std::vector<float>> taken;
  for (Node &node : graph->nodes) {
    for (std::vector<float> *weights : large_lists_of(&node)) taken.push_back(std::move(*weights));
  }
  Graph copy = *graph;
  auto next = taken.begin();
  for (Node &node : graph->nodes) {
    for (std::vector<float> *weights : large_lists_of(&node)) *weights = std::move(*next++);
  }
  return copy;
}

uint64_t stored_elements(const Node &node) {
  return std::visit(Stored{}, node.attr);
}

uint32_t Graph::add_value(Value value) {
  values.push_back(std::move(value));
  return static_cast<uint32_t>(values.size() - 1);
}

uint32_t Graph::add_const(std::vector<float> data) {
  Value value;
  value.kind = ValueKind::kConst;
  value.elems = static_cast<uint32_t>(data.size());
  value.f32 = std::move(data);
  return add_value(std::move(value));
}

uint32_t Graph::add_row(uint32_t elems, bool sequence) {
  Value value;
  value.kind = sequence ? ValueKind::kSequence : ValueKind::kRow;
  value.elems = elems;
  value.sequence = sequence;
  return add_value(std::move(value));
}

}  // namespace rnnp::compiler
