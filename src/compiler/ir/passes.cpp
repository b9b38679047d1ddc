// passes.cpp -- Contract: passes.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/passes.h"

#include <algorithm>

namespace rnnp::compiler {
namespace {

// How many nodes and outputs read each value.
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

// The dense node without activation that alone makes `value` for one reader; nullptr otherwise.
Node *fusable_dense(Graph *graph, uint32_t value, const std::vector<uint32_t> &uses) {
  if (uses[value] != 1) return nullptr;
  for (Node &node : graph->nodes) {
    if (node.op != OpKind::kDense || node.out[0] != value) continue;
    return std::get<Dense>(node.attr).act.act == static_cast<uint32_t>(Act::kIdentity) ? &node : nullptr;
  }
  return nullptr;
}

// The addend seen as one number per output of the dense node; false when it differs between groups or the sum is not in order.
bool bias_of(const AttrBinary &attr, bool dense_is_a, const std::vector<float> &constant, const Dense &dense,
             std::vector<float> *bias) {
  const uint32_t *mine = dense_is_a ? attr.a_stride : attr.b_stride, *other = dense_is_a ? attr.b_stride : attr.a_stride;
  const uint64_t elems = uint64_t{dense.output_size} * dense.groups;
  uint64_t total = 1;
  for (uint32_t i = attr.rank; i-- > 0;) {
    if (attr.dims[i] != 1 && mine[i] != total) return false;
    total *= attr.dims[i];
  }
  if (total != elems) return false;
  bias->assign(dense.output_size, 0.0f);
  for (uint64_t n = 0; n < elems; ++n) {
    uint64_t rest = n, at = 0;
    for (uint32_t i = attr.rank; i-- > 0;) {
      at += rest % attr.dims[i] * other[i];
      rest /= attr.dims[i];
    }
    float &to = (*bias)[n % dense.output_size];
    if (n < dense.output_size) to = constant[at];
    if (to != constant[at]) return false;
  }
  return true;
}

void take_over(Graph *graph, Node *dense, Node *absorbed) {
  dense->out[0] = absorbed->out[0];
  absorbed->out[0] = kNone;
  absorbed->in.clear();
  (void)graph;
}

void drop_emptied(Graph *graph) {
  auto &nodes = graph->nodes;
  nodes.erase(std::remove_if(nodes.begin(), nodes.end(), [](const Node &node) { return node.in.empty() && node.out[0] == kNone; }),
              nodes.end());
}

}  // namespace

void fuse_dense_bias(Graph *graph) {
  const std::vector<uint32_t> uses = use_counts(*graph);
  for (Node &node : graph->nodes) {
    if (node.op != OpKind::kBinary || std::get<AttrBinary>(node.attr).op != static_cast<uint32_t>(Binary::kAdd)) continue;
    for (size_t side = 0; side < 2; ++side) {
      const Value &constant = graph->values[node.in[1 - side]];
      if (constant.kind != ValueKind::kConst || constant.dtype != DType::kF32) continue;
      Node *made = fusable_dense(graph, node.in[side], uses);
      if (!made || graph->values[node.out[0]].elems != graph->values[made->out[0]].elems) continue;
      Dense &dense = std::get<Dense>(made->attr);
      std::vector<float> bias;
      if (!dense.bias.empty() || !bias_of(std::get<AttrBinary>(node.attr), side == 0, constant.f32, dense, &bias)) continue;
      dense.bias = std::move(bias);
      take_over(graph, made, &node);
      break;
    }
  }
  drop_emptied(graph);
}

void fuse_dense_activation(Graph *graph) {
  const std::vector<uint32_t> uses = use_counts(*graph);
  for (Node &node : graph->nodes) {
    if (node.op != OpKind::kUnary) continue;
    Node *made = fusable_dense(graph, node.in[0], uses);
    if (!made) continue;
    std::get<Dense>(made->attr).act = std::get<AttrUnary>(node.attr).act;
    take_over(graph, made, &node);
  }
  drop_emptied(graph);
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
  std::vector<bool> keep_node(graph->nodes.size(), false);
  for (size_t i = graph->nodes.size(); i-- > 0;) {
    Node &node = graph->nodes[i];
    keep_node[i] = node.op == OpKind::kStateWrite ||
                   std::any_of(node.out.begin(), node.out.end(), [&](uint32_t v) { return v != kNone && live[v]; });
    if (!keep_node[i]) continue;
    for (uint32_t &value : node.out) {
      if (value != kNone && !live[value]) value = kNone;
    }
    for (uint32_t value : node.in) {
      if (value != kNone) live[value] = true;
    }
  }
  std::vector<Node> nodes;
  for (size_t i = 0; i < keep_node.size(); ++i) {
    if (keep_node[i]) nodes.push_back(std::move(graph->nodes[i]));
  }
  graph->nodes = std::move(nodes);
  for (const Io &input : graph->inputs) live[input.value] = true;
  renumber(graph, live);
}

// A row value is early when all that makes it is: assumed of every row, and taken back until nothing changes.
void find_early_rows(Graph *graph) {
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

// In pieces a per-step result may depend on nothing that is only known when the run ends or that the pieces would repeat.
void find_causality(Graph *graph) {
  graph->causal = true;
  for (const Node &node : graph->nodes) {
    const auto makes_steps = [&] {
      return std::any_of(node.out.begin(), node.out.end(), [&](uint32_t v) { return v != kNone && graph->values[v].sequence; });
    };
    for (size_t i = 0; i < node.in.size(); ++i) {
      if (node.in[i] == kNone) continue;
      const Value &value = graph->values[node.in[i]];
      const bool is_state = node.op == OpKind::kRecurrent && i >= 1;
      // A state made from row inputs would start anew with every piece.
      if (value.kind == ValueKind::kRow && (is_state || (!value.early && makes_steps()))) graph->causal = false;
      if (is_state && value.kind == ValueKind::kConst) graph->causal = false;  // constant lengths count from the start of the run
    }
    if (node.op == OpKind::kTimeStep && std::get<AttrTimeStep>(node.attr).last == 0) graph->causal = false;
    if (node.op != OpKind::kRecurrent) continue;
    for (const Direction &direction : std::get<Recurrent>(node.attr).directions) {
      if (direction.reverse) graph->causal = false;
    }
  }
}

void run_passes(Graph *graph) {
  remove_dead(graph);
  fuse_dense_bias(graph);
  fuse_dense_activation(graph);
  remove_dead(graph);
  find_early_rows(graph);
  find_causality(graph);
}

uint64_t macs_per_step(const Graph &graph) {
  uint64_t macs = 0;
  for (const Node &node : graph.nodes) {
    if (node.op == OpKind::kRecurrent) {
      const Recurrent &r = std::get<Recurrent>(node.attr);
      macs += uint64_t{r.hidden_size} * (uint64_t{r.input_size} + r.hidden_size) * gate_count(r.cell) * r.directions.size();
    } else if (node.op == OpKind::kDense && graph.values[node.out[0]].sequence) {
      const Dense &d = std::get<Dense>(node.attr);
      macs += uint64_t{d.input_size} * d.output_size * d.groups;
    }
  }
  return macs;
}

}  // namespace rnnp::compiler
