// layers_by_step.cpp -- Contract: layers_by_step.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/layers_by_step.h"

#include <algorithm>

#include "rnnpack/rnnpack.h"

namespace rnnp::compiler {
namespace {

bool is_per_step(const Graph &graph, uint32_t value) {
  return value != kNone && graph.values[value].sequence;
}

void make_per_step(Graph *graph, uint32_t value) {
  Value &made = graph->values[value];
  made.kind = ValueKind::kSequence;
  made.sequence = true;
}

// h or c as rows [directions][H]: what the layer reads where it lies, or a constant.
class StateRows {
 public:
  StateRows(Graph *graph, const Node &node, bool is_c) : graph_(graph), node_(node), is_c_(is_c) {}

  uint32_t place(std::vector<Node> *copies) {
    const Recurrent &layer = std::get<Recurrent>(node_.attr);
    uint32_t from = node_.in[is_c_ ? 2 : 1];
    if (from == kNone) {
      const std::vector<float> data = constants(layer);
      if (data.empty()) return kNone;
      from = graph_->add_const(data);
      return copied(layer, from, copies);
    }
    bool as_it_lies = graph_->values[from].elems == layer.directions.size() * layer.hidden_size;
    for (uint32_t d = 0; d < layer.directions.size(); ++d) {
      const BlobStrided &at = given(layer.directions[d]);
      as_it_lies = as_it_lies && at.first == d * layer.hidden_size && (at.stride == 1 || layer.hidden_size == 1);
    }
    return as_it_lies ? from : copied(layer, from, copies);
  }

 private:
  const BlobStrided &given(const Direction &direction) const { return is_c_ ? direction.given_c : direction.given_h; }

  std::vector<float> constants(const Recurrent &layer) const {
    std::vector<float> all;
    bool any = false;
    for (const Direction &direction : layer.directions) {
      const std::vector<float> &data = is_c_ ? direction.init_c.data : direction.init_h.data;
      any = any || !data.empty();
      if (data.empty()) all.resize(all.size() + layer.hidden_size);
      all.insert(all.end(), data.begin(), data.end());
    }
    return any ? all : std::vector<float>();
  }

  uint32_t copied(const Recurrent &layer, uint32_t from, std::vector<Node> *copies) {
    const bool constant = graph_->values[from].kind == ValueKind::kConst;
    const uint32_t to =
        graph_->add_row(static_cast<uint32_t>(layer.directions.size()) * layer.hidden_size, graph_->values[from].sequence);
    for (uint32_t d = 0; d < layer.directions.size(); ++d) {
      AttrCopy attr{};
      attr.rank = 1;
      attr.dims[0] = layer.hidden_size;
      attr.x_first = constant ? d * layer.hidden_size : given(layer.directions[d]).first;
      attr.x_stride[0] = constant ? 1 : static_cast<int32_t>(given(layer.directions[d]).stride);
      attr.y_first = d * layer.hidden_size;
      attr.y_stride[0] = 1;
      copies->push_back({OpKind::kCopy, node_.name, {from}, {to}, attr});
    }
    return to;
  }

  Graph *graph_;
  const Node &node_;
  bool is_c_;
};

// For the layer itself: its constants have become operands.
void forget_initial_states(Recurrent *layer) {
  for (Direction &direction : layer->directions) {
    direction.init_h = direction.init_c = {};
    direction.given_h = direction.given_c = {0, 1};
    direction.reverse = false;
  }
}

// An input that starts it anew at every step is no state that the library keeps.
void require_initial_states(Graph *graph, const Node &node) {
  for (Io &input : graph->inputs) {
    const bool starts = input.value == node.in[1] || input.value == node.in[2];
    if (starts && input.role == RNNP_ROLE_STATE) input.role = RNNP_ROLE_PER_RUN;
  }
}

bool graph_has_steps(const Graph &graph) {
  const auto has = [](const Io &io) { return std::find(io.dims.begin(), io.dims.end(), RNNP_DIM_STEPS) != io.dims.end(); };
  return std::any_of(graph.inputs.begin(), graph.inputs.end(), has) || std::any_of(graph.outputs.begin(), graph.outputs.end(), has);
}

}  // namespace

std::string run_by_step(Graph *graph, size_t at) {
  const Node node = graph->nodes[at];
  const Recurrent &layer = std::get<Recurrent>(node.attr);
  const std::string title = "node " + std::string("'") + node.name + "': its initial state changes from step to step, ";
  if (layer.cell == Cell::kLstmNorm) return title + "and its cell has layer norms; accepted: LSTM, GRU, RNN";
  if (node.in[3] != kNone) return title + "and it has sequence_lens; accepted: none";
  for (const Direction &direction : layer.directions) {
    if (direction.reverse && graph_has_steps(*graph)) return title + "and it runs from the last step to the first";
    if (direction.init_h.per_row || direction.init_c.per_row)
      return title + "and a constant one has a row of its own for each batch row";
  }
  std::vector<Node> copies;
  const uint32_t h = StateRows(graph, node, false).place(&copies);
  const uint32_t c = layer.cell == Cell::kLstm ? StateRows(graph, node, true).place(&copies) : kNone;
  FeatureRecurrent inner;
  inner.layer = layer;
  forget_initial_states(&inner.layer);
  for (const uint32_t made : node.out) {
    if (made != kNone) make_per_step(graph, made);
  }
  require_initial_states(graph, node);
  graph->nodes[at] = {OpKind::kFeatureRecurrent, node.name, {node.in[0], h, c}, node.out, std::move(inner)};
  graph->nodes.insert(graph->nodes.begin() + static_cast<std::ptrdiff_t>(at), copies.begin(), copies.end());
  return "";
}

std::string spread_steps(Graph *graph) {
  for (size_t n = 0; n < graph->nodes.size(); ++n) {
    if (graph->nodes[n].op == OpKind::kTimeStep || graph->nodes[n].op == OpKind::kTimeReduce) continue;
    if (graph->nodes[n].op == OpKind::kRecurrent) {
      const std::vector<uint32_t> &in = graph->nodes[n].in;
      const auto starts_anew = [&](uint32_t v) { return is_per_step(*graph, v) && graph->values[v].kind != ValueKind::kInput; };
      if (std::none_of(in.begin() + 1, in.begin() + 3, starts_anew)) continue;
      const size_t before = graph->nodes.size();
      std::string why = run_by_step(graph, n);
      if (!why.empty()) return why;
      n += graph->nodes.size() - before;
      continue;
    }
    const Node &node = graph->nodes[n];
    if (std::none_of(node.in.begin(), node.in.end(), [&](uint32_t v) { return is_per_step(*graph, v); })) continue;
    for (const uint32_t made : node.out) {
      if (made != kNone) make_per_step(graph, made);
    }
  }
  return "";
}

void settle_outputs(Graph *graph) {
  const bool implied = !graph_has_steps(*graph);
  for (Io &output : graph->outputs) {
    const Value &value = graph->values[output.value];
    if (!value.sequence || output.role != RNNP_ROLE_PER_RUN) continue;
    if (implied) {
      output.role = RNNP_ROLE_SEQUENCE;
      continue;
    }
    const uint32_t last = graph->add_row(value.elems, false);
    graph->nodes.push_back({OpKind::kTimeStep, output.name, {output.value}, {last}, AttrTimeStep{1u, kNone}});
    output.value = last;
  }
}

}  // namespace rnnp::compiler
