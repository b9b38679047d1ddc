// passes.cpp -- Contract: passes.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/passes.h"

#include <algorithm>

#include "rnnpack/rnnpack.h"

namespace rnnp::compiler {

std::vector<uint32_t> use_counts(const Graph &graph) {
  std::vector<uint32_t> uses(graph.values.size(), 0);
  for (const Node &node : graph.nodes) {
    for (uint32_t value : node.in) {
      if (value != kNone) ++uses[value];
    }
  }
  for (const Io &output : graph.outputs) ++uses[output.value];
  return uses;
}

namespace {

void renumber(Graph *graph, const std::vector<bool> &keep) {
  std::vector<uint32_t> place(graph->values.size(), kNone);
  std::vector<Value> values;
  for (size_t i = 0; i < keep.size(); ++i) {
    if (!keep[i]) continue;
    place[i] = static_cast<uint32_t>(values.size());
    values.push_back(std::move(graph->values[i]));
  }
  graph->values = std::move(values);
  const auto move = [&](uint32_t &value) {
    if (value != kNone) value = place[value];
  };
  for (Node &node : graph->nodes) {
    std::for_each(node.in.begin(), node.in.end(), move);
    std::for_each(node.out.begin(), node.out.end(), move);
  }
  for (Io &io : graph->inputs) move(io.value);
  for (Io &io : graph->outputs) move(io.value);
}

}  // namespace

void remove_dead(Graph *graph) {
  std::vector<bool> live(graph->values.size(), false);
  for (const Io &output : graph->outputs) live[output.value] = true;
  std::vector<bool> keep_node(graph->nodes.size(), false), is_read(graph->states.size(), false);
  for (bool reads = true; reads;) {  // a state that is read keeps what writes it, which may read another
    reads = false;
    for (size_t i = graph->nodes.size(); i-- > 0;) {
      const Node &node = graph->nodes[i];
      if (keep_node[i]) continue;
      const StateRef *state = std::get_if<StateRef>(&node.attr);
      keep_node[i] = node.op == OpKind::kStateWrite
                         ? is_read[state->state]
                         : std::any_of(node.out.begin(), node.out.end(), [&](uint32_t v) { return v != kNone && live[v]; });
      if (!keep_node[i]) continue;
      if (node.op == OpKind::kStateRead) reads = is_read[state->state] = true;
      for (uint32_t value : node.in) {
        if (value != kNone) live[value] = true;
      }
    }
  }
  for (Node &node : graph->nodes) {
    std::replace_if(
        node.out.begin(), node.out.end(), [&](uint32_t v) { return v != kNone && !live[v]; }, kNone);
  }
  std::vector<Node> nodes;
  for (size_t i = 0; i < keep_node.size(); ++i) {
    if (keep_node[i]) nodes.push_back(std::move(graph->nodes[i]));
  }
  graph->nodes = std::move(nodes);
  for (const Io &input : graph->inputs) live[input.value] = true;
  renumber(graph, live);
}

// They say nothing about the run: the library would hold them against its steps all the same. The file's other inputs stay.
void drop_unread_lengths(Graph *graph) {
  const std::vector<uint32_t> uses = use_counts(*graph);
  const auto is_unread = [&](const Io &input) { return graph->values[input.value].dtype == DType::kI32 && uses[input.value] == 0; };
  if (std::all_of(graph->inputs.begin(), graph->inputs.end(), is_unread)) return;
  std::vector<Io> kept;
  for (Io &input : graph->inputs) {
    if (is_unread(input))
      graph->notes.push_back("input '" + input.name + "': no result depends on it, so the blob has no such input");
    (is_unread(input) ? graph->unread : kept).push_back(std::move(input));
  }
  graph->inputs = std::move(kept);
  for (uint32_t i = 0; i < graph->inputs.size(); ++i) graph->values[graph->inputs[i].value].input = i;
  remove_dead(graph);
}

// A row value is early when all that makes it is: assumed of every row, and taken back until nothing changes.
void find_first_chunk_rows(Graph *graph) {
  for (Value &value : graph->values) value.early = value.kind == ValueKind::kRow;
  const auto is_late = [&](uint32_t v) {
    if (v == kNone) return false;
    const Value &value = graph->values[v];
    return value.sequence || (value.kind == ValueKind::kRow && !value.early);
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const Node &node : graph->nodes) {
      if (node.op != OpKind::kRecurrent && std::none_of(node.in.begin(), node.in.end(), is_late)) continue;
      for (uint32_t v : node.out) {
        if (v == kNone || !graph->values[v].early) continue;
        graph->values[v].early = false;
        changed = true;
      }
    }
  }
}

const char *reads_later_steps(const Node &node) {
  if (node.op == OpKind::kTimeReverse) return "it reverses the steps";
  if (node.op == OpKind::kConv && std::get<Conv>(node.attr).reads_ahead()) return "it reads later steps";
  if (node.op != OpKind::kRecurrent) return nullptr;
  for (const Direction &direction : std::get<Recurrent>(node.attr).directions) {
    if (direction.reverse) return "it runs from the last step to the first";
  }
  return nullptr;
}

namespace {

// Why the node needs steps of the run that are yet to come, or nullptr.
const char *look_ahead_of(const Graph &graph, const Node &node) {
  const bool makes_steps =
      std::any_of(node.out.begin(), node.out.end(), [&](uint32_t v) { return v != kNone && graph.values[v].sequence; });
  for (size_t i = 0; i < node.in.size(); ++i) {
    if (node.in[i] == kNone) continue;
    const Value &value = graph.values[node.in[i]];
    const bool is_state = node.op == OpKind::kRecurrent && i >= 1;
    if (value.kind == ValueKind::kRow && is_state) return "its initial state is computed, and would start anew with every piece";
    if (value.kind == ValueKind::kRow && !value.early && makes_steps)
      return "it uses in every step what is known when the run ends";
    if (is_state && value.kind == ValueKind::kInput && graph.inputs[value.input].role == RNNP_ROLE_PER_RUN)
      return "its initial state is an input that is read elsewhere too, and would start anew with every piece (--state "
             "INPUT=OUTPUT "
             "keeps it, where an output gives its next value)";
    if (is_state && value.kind == ValueKind::kConst) return "its constant lengths count from the start of a run";
  }
  if (node.op == OpKind::kTimeStep && std::get<AttrTimeStep>(node.attr).last == 0) return "it takes the first step of a run";
  return reads_later_steps(node);
}

}  // namespace

// In pieces a per-step result may depend on nothing that is only known when the run ends or that the pieces would repeat.
void find_causality(Graph *graph) {
  graph->looks_ahead.clear();
  for (const Node &node : graph->nodes) {
    const char *reason = look_ahead_of(*graph, node);
    if (reason && graph->looks_ahead.empty()) graph->looks_ahead = "node '" + node.name + "': " + reason;
  }
  graph->causal = graph->looks_ahead.empty();
}

bool would_be_causal(const Graph &graph, const std::vector<uint32_t> &kept) {
  // What is computed from them once a run would be computed at every step.
  std::vector<bool> per_step(graph.values.size(), false);
  for (const uint32_t value : kept) per_step[value] = true;
  return std::all_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node &node) {
    Node tied = node;
    const bool layer = node.op == OpKind::kRecurrent;
    const auto is_per_step = [&](uint32_t value) { return value != kNone && per_step[value]; };
    if (layer) std::replace_if(tied.in.begin() + 1, tied.in.end(), is_per_step, kNone);
    if (look_ahead_of(graph, tied) != nullptr) return false;
    if (layer || std::none_of(node.in.begin(), node.in.end(), is_per_step)) return true;
    for (const uint32_t made : node.out) {
      if (made != kNone) per_step[made] = true;
    }
    return std::none_of(node.in.begin(), node.in.end(), [&](uint32_t value) {
      return value != kNone && !per_step[value] && graph.values[value].kind == ValueKind::kRow && !graph.values[value].early;
    });
  });
}

void run_passes(Graph *graph) {
  remove_dead(graph);
  merge_equal_nodes(graph);
  fuse_norm(graph);
  fuse_linear_constants(graph);
  fuse_linear_activation(graph);
  remove_dead(graph);
  fuse_copies(graph);
  transpose_states(graph);
  drop_idle_copies(graph);
  put_weights_in_order(graph);
  drop_unread_lengths(graph);

  find_first_chunk_rows(graph);
  find_causality(graph);
}

uint64_t macs_per_step(const Graph &graph) {
  uint64_t macs = 0;
  for (const Node &node : graph.nodes) {
    if (node.op == OpKind::kRecurrent) {
      const Recurrent &r = std::get<Recurrent>(node.attr);
      macs += uint64_t{r.hidden_size} * (uint64_t{r.input_size} + r.hidden_size) * gate_count(r.cell) * r.directions.size();
    } else if (node.op == OpKind::kFeatureRecurrent &&
               std::any_of(node.out.begin(), node.out.end(), [&](uint32_t v) { return v != kNone && graph.values[v].sequence; })) {
      const FeatureRecurrent &inner = std::get<FeatureRecurrent>(node.attr);
      const Recurrent &r = inner.layer;
      macs += uint64_t{r.hidden_size} * (uint64_t{r.input_size} + r.hidden_size) * gate_count(r.cell) * r.directions.size() *
              inner.steps * inner.rows;
    } else if (node.op == OpKind::kDense && graph.values[node.out[0]].sequence) {
      const Dense &d = std::get<Dense>(node.attr);
      macs += uint64_t{d.input_size} * d.output_size * d.groups;
    } else if (node.op == OpKind::kConv && graph.values[node.out[0]].sequence) {
      const Conv &c = std::get<Conv>(node.attr);
      macs += uint64_t{c.shape.window.out_size[0]} * c.shape.window.out_size[1] * c.outputs() * c.depth();
    } else if (node.op == OpKind::kPool && graph.values[node.out[0]].sequence) {
      const AttrPool &p = std::get<AttrPool>(node.attr);
      macs += uint64_t{p.window.out_size[0]} * p.window.out_size[1] * p.channels * p.window.kernel[0] * p.window.kernel[1];
    } else if (node.op == OpKind::kMatMul && graph.values[node.out[0]].sequence) {
      macs += uint64_t{graph.values[node.out[0]].elems} * std::get<AttrMatMul>(node.attr).k;
    }
  }
  return macs;
}

}  // namespace rnnp::compiler
