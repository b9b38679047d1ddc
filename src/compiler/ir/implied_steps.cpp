// implied_steps.cpp -- Contract: implied_steps.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/implied_steps.h"

#include <algorithm>

#include "compiler/ir/bind_states.h"
#include "compiler/ir/layers_by_step.h"
#include "rnnpack/rnnpack.h"

namespace rnnp::compiler {
namespace {

bool has_steps_axis(const Io &io) {
  return std::find(io.dims.begin(), io.dims.end(), RNNP_DIM_STEPS) != io.dims.end();
}

// For each value: it only goes on through copies, to outputs that are states.
std::vector<bool> only_leaves_as_state(const Graph &graph) {
  std::vector<bool> leaves(graph.values.size(), true);
  const std::vector<bool> is_state = outputs_that_are_states(graph);
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    if (!is_state[i]) leaves[graph.outputs[i].value] = false;
  }
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    const Node &node = graph.nodes[n];
    for (uint32_t value : node.in) {
      if (value != kNone && (node.op != OpKind::kCopy || !leaves[node.out[0]])) leaves[value] = false;
    }
  }
  return leaves;
}

// The value itself, or a copy where it is an output already: every output is a value of its own.
uint32_t own_value(Graph *graph, uint32_t value, const std::string &name) {
  if (std::none_of(graph->outputs.begin(), graph->outputs.end(), [&](const Io &output) { return output.value == value; }))
    return value;
  const uint32_t elems = graph->values[value].elems, copy = graph->add_row(elems, true);
  AttrCopy attr{};
  attr.rank = 1;
  attr.dims[0] = elems;
  attr.x_stride[0] = attr.y_stride[0] = 1;
  graph->nodes.push_back({OpKind::kCopy, name, {value}, {copy}, attr});
  return copy;
}

// Readers of y_h that compute with it read y, which is the same at every step.
void read_outputs(Graph *graph) {
  const std::vector<bool> leaves = only_leaves_as_state(*graph);
  for (size_t n = 0; n < graph->nodes.size(); ++n) {
    if (graph->nodes[n].op != OpKind::kRecurrent) continue;
    const Recurrent &layer = std::get<Recurrent>(graph->nodes[n].attr);
    const uint32_t final = graph->nodes[n].out[1];
    if (final == kNone || layer.directions.size() != 1 || layer.directions[0].reverse) continue;
    if (graph->nodes[n].out[0] == kNone) graph->nodes[n].out[0] = graph->add_row(layer.hidden_size, true);
    const uint32_t each = graph->nodes[n].out[0];
    for (size_t k = n + 1; k < graph->nodes.size(); ++k) {
      Node &reader = graph->nodes[k];
      const bool state = reader.op == OpKind::kCopy && leaves[reader.out[0]];
      if (!state) std::replace(reader.in.begin(), reader.in.end(), final, each);
    }
    for (Io &output : graph->outputs) {
      if (output.value == final && !leaves[final]) output.value = own_value(graph, each, graph->nodes[n].name);
    }
  }
}

}  // namespace

void give_finals_per_step(Graph *graph) {
  const auto any = [](const std::vector<Io> &list) { return std::any_of(list.begin(), list.end(), has_steps_axis); };
  if (any(graph->inputs) || any(graph->outputs)) return;
  const auto change = [](Graph *changed) {
    read_outputs(changed);
    if (!spread_steps(changed).empty()) return false;
    settle_outputs(changed);
    return true;
  };
  Graph tried = without_weights(graph);
  if (change(&tried)) change(graph);
}

}  // namespace rnnp::compiler
