// bind_states.cpp -- Contract: bind_states.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/bind_states.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/ir/layers_by_step.h"
#include "compiler/ir/passes.h"
#include "compiler/ir/state_names.h"
#include "compiler/onnx/problem.h"
#include "rnnpack/rnnpack.h"

namespace rnnp::compiler {
namespace {

size_t find_io(const std::vector<Io> &list, const std::string &name, const char *what) {
  std::string known;
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].name == name) return i;
    known += (known.empty() ? "" : ", ") + quote(list[i].name);
  }
  throw UsageError(std::string("the model has no ") + what + " " + quote(name) + "; it has: " + known);
}

// The constant dimensions that are more than 1: what of a shape is left when steps and rows are one.
std::vector<int32_t> features(const Io &io) {
  std::vector<int32_t> out;
  std::copy_if(io.dims.begin(), io.dims.end(), std::back_inserter(out), [](int32_t dim) { return dim > 1; });
  return out;
}

// One element of one value.
using Place = std::pair<uint32_t, uint32_t>;

// Where the elements of a value come from when copies are looked through; kNone for elements that no copy writes.
class Sources {
 public:
  Sources() = default;
  explicit Sources(const Graph &graph) {
    for (const Node &node : graph.nodes) {
      if (node.op == OpKind::kCopy) add_copy(node, graph.values[node.out[0]].elems);
    }
  }

  Place of(uint32_t value, uint32_t elem) const {
    const auto found = made_.find(value);
    return found == made_.end() ? Place{value, elem} : found->second[elem];
  }

 private:
  void add_copy(const Node &node, uint32_t elems) {
    if (elems > left_) return;  // no state is that large
    left_ -= elems;
    std::vector<Place> &made = made_.emplace(node.out[0], std::vector<Place>(elems, Place{kNone, 0})).first->second;
    const AttrCopy &a = std::get<AttrCopy>(node.attr);
    uint64_t count = 1;
    for (uint32_t i = 0; i < a.rank; ++i) count *= a.dims[i];
    for (uint64_t n = 0; n < count; ++n) {
      uint64_t rest = n;
      int64_t x = a.x_first, y = a.y_first;
      for (uint32_t i = a.rank; i-- > 0;) {
        const int64_t at = static_cast<int64_t>(rest % a.dims[i]);
        rest /= a.dims[i];
        x += at * a.x_stride[i];
        y += at * a.y_stride[i];
      }
      made[static_cast<size_t>(y)] = of(node.in[0], static_cast<uint32_t>(x));
    }
  }

  std::map<uint32_t, std::vector<Place>> made_;
  uint32_t left_ = 1u << 22;  // elements that are worth following, of all copies together
};

bool starts_layers(const Graph &graph, uint32_t input) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node &node) {
    return node.op == OpKind::kRecurrent && std::find(node.in.begin() + 1, node.in.begin() + 3, input) != node.in.begin() + 3;
  });
}

// Nothing is followed where no input is a state.
Sources sources_of(const Graph &graph) {
  const bool any =
      std::any_of(graph.inputs.begin(), graph.inputs.end(), [&](const Io &io) { return starts_layers(graph, io.value); });
  return any ? Sources(graph) : Sources();
}

bool is_forward(const Recurrent &layer) {
  return layer.directions.size() == 1 && !layer.directions[0].reverse;
}

// True when `output` holds, element by element, the final states that the layer makes of what it starts from by operand `i` (1: h,
// 2: c). h at every step serves as well.
bool is_final_state(const Node &node, size_t i, uint32_t output, const Sources &sources) {
  if (node.op != OpKind::kRecurrent || i < 1 || i > 2) return false;
  const Recurrent &layer = std::get<Recurrent>(node.attr);
  const bool by_step = i == 1 && is_forward(layer);
  for (uint32_t d = 0; d < layer.directions.size(); ++d) {
    const BlobStrided &at = i == 1 ? layer.directions[d].given_h : layer.directions[d].given_c;
    for (uint32_t k = 0; k < layer.hidden_size; ++k) {
      const Place from = sources.of(output, at.first + k * at.stride);
      if (from.second != d * layer.hidden_size + k || from.first == kNone) return false;
      if (from.first != node.out[i] && !(by_step && from.first == node.out[0])) return false;
    }
  }
  return true;
}

// True when `output` holds, element by element, the final states of the layers that start from `input`, which nothing else reads
// or, with `others`, something may.
bool are_final_states(const Graph &graph, uint32_t input, uint32_t output, const Sources &sources, bool others = false) {
  bool used = false;
  for (const Node &node : graph.nodes) {
    for (size_t i = 0; i < node.in.size(); ++i) {
      if (node.in[i] != input) continue;
      if (others && (node.op != OpKind::kRecurrent || i == 0)) continue;
      used = true;
      if (!is_final_state(node, i, output, sources)) return false;
    }
  }
  return used;
}

void drop_input(Graph *graph, size_t index) {
  graph->inputs.erase(graph->inputs.begin() + static_cast<std::ptrdiff_t>(index));
  for (uint32_t i = 0; i < graph->inputs.size(); ++i) graph->values[graph->inputs[i].value].input = i;
}

// The layers keep it themselves, and a run may bring what a loop's starts from.
void drop_initial_state(Graph *graph, uint32_t value, uint32_t start) {
  for (Node &node : graph->nodes) {
    if (node.op == OpKind::kRecurrent) std::replace(node.in.begin() + 1, node.in.end(), value, start);
  }
}

// Layers that keep the loop's state themselves start from the row.
void start_layers(Graph *graph, uint32_t value, const std::vector<float> &row) {
  if (row.empty()) return;
  for (Node &node : graph->nodes) {
    if (node.op != OpKind::kRecurrent) continue;
    Recurrent &layer = std::get<Recurrent>(node.attr);
    if (node.in[1] == value) layer.directions[0].init_h = {row, false};
    if (node.in[2] == value) layer.directions[0].init_c = {row, false};
  }
}

// What a layer's h is after every step, where `value` is what it is at the end of a run, possibly copied; kNone where it is none.
uint32_t value_per_step(Graph *graph, uint32_t value, const Sources &sources) {
  const uint32_t elems = graph->values[value].elems, out = graph->add_row(elems, true);
  std::vector<Node> copies;
  for (uint32_t elem = 0, count = 0; elem < elems; elem += count) {
    const Place from = sources.of(value, elem);
    for (count = 1; elem + count < elems && sources.of(value, elem + count) == Place{from.first, from.second + count};) ++count;
    const auto layer = std::find_if(graph->nodes.begin(), graph->nodes.end(), [&](const Node &node) {
      return node.op == OpKind::kRecurrent && from.first != kNone && (node.out[1] == from.first || node.out[0] == from.first);
    });
    if (layer == graph->nodes.end() || !is_forward(std::get<Recurrent>(layer->attr))) return kNone;
    if (layer->out[0] == kNone) layer->out[0] = graph->add_row(std::get<Recurrent>(layer->attr).hidden_size, true);
    AttrCopy attr{};
    attr.rank = 1;
    attr.dims[0] = count;
    attr.x_stride[0] = attr.y_stride[0] = 1;
    attr.x_first = from.second;
    attr.y_first = elem;
    copies.push_back({OpKind::kCopy, layer->name, {layer->out[0]}, {out}, attr});
  }
  graph->nodes.insert(graph->nodes.end(), copies.begin(), copies.end());
  return out;
}

uint32_t lengths_input(const Graph &graph) {
  for (const Io &input : graph.inputs) {
    if (input.role == RNNP_ROLE_LENGTHS) return input.value;
  }
  return kNone;
}

// The input that a loop's state starts from, which a run may leave out; kNone: zeros.
uint32_t loop_start(Graph *graph, uint32_t state) {
  const auto found = graph->starts.find(state);
  if (found == graph->starts.end()) return kNone;
  const uint32_t start = found->second;
  const auto input = std::find_if(graph->inputs.begin(), graph->inputs.end(), [&](const Io &io) { return io.value == start; });
  const bool others = std::any_of(graph->nodes.begin(), graph->nodes.end(), [&](const Node &node) {
    const bool starts =
        node.op == OpKind::kStateRead || (node.op == OpKind::kRecurrent && node.in[0] != start && node.in[3] != start);
    return !starts && std::count(node.in.begin(), node.in.end(), start) != 0;
  });
  if (others)
    throw ModelError("input " + quote(input->name) + ": a loop starts from it, and something else reads it; accepted: one of both");
  input->role = RNNP_ROLE_STATE;
  return start;
}

// The row that a loop's state starts from in every run; empty: zeros.
std::vector<float> initial_row(const Graph &graph, uint32_t state) {
  const auto found = graph.initial_rows.find(state);
  return found == graph.initial_rows.end() ? std::vector<float>() : found->second;
}

void keep_tensor(Graph *graph, const Io &input, uint32_t output, bool of_loop) {
  const uint32_t start = loop_start(graph, input.value);
  Value &value = graph->values[input.value];
  value.kind = ValueKind::kSequence;
  value.input = kNone;
  const StateRef state{static_cast<uint32_t>(graph->states.size())};
  graph->states.push_back({input.name, value.elems, !of_loop, initial_row(*graph, input.value)});
  Node read = {OpKind::kStateRead, input.name, {}, {input.value}, state};
  if (start != kNone) read.in.push_back(start);
  graph->nodes.insert(graph->nodes.begin(), std::move(read));
  graph->nodes.push_back({OpKind::kStateWrite, input.name, {output, of_loop ? kNone : lengths_input(*graph)}, {}, state});
}

// What a pair names, and what it says of the input's layers.
struct Binding {
  size_t in, out;
  bool only_state;  // the input does nothing but start layers, which keep it themselves where `own`
  bool own;         // the output is, element by element, the final state of the layers that start from the input
};

Binding find_binding(const Graph &graph, const StatePair &pair) {
  Binding tie{find_io(graph.inputs, pair.input, "input"), find_io(graph.outputs, pair.output, "output"), false, false};
  const uint32_t value = graph.inputs[tie.in].value;
  tie.only_state = !graph.values[value].sequence;
  tie.own = (!tie.only_state || graph.inputs[tie.in].role == RNNP_ROLE_STATE) && starts_layers(graph, value) &&
            are_final_states(graph, value, graph.outputs[tie.out].value, Sources(graph), !tie.only_state);
  return tie;
}

void check_pair(const Graph &graph, const StatePair &pair) {
  const Binding tie = find_binding(graph, pair);
  const std::string title = "state " + quote(pair.input) + " = " + quote(pair.output) + ": ";
  if (features(graph.inputs[tie.in]) != features(graph.outputs[tie.out])) throw ModelError(title + "their shapes differ");
  if (graph.values[graph.inputs[tie.in].value].dtype != DType::kF32) throw ModelError(title + "it holds integers; accepted: float");
}

// Layers that start from a tensor which they do not keep themselves start anew at every step.
bool start_at_every_step(Graph *graph, const StatePair &pair) {
  const Binding tie = find_binding(*graph, pair);
  const uint32_t value = graph->inputs[tie.in].value;
  if (tie.own || (!tie.only_state && !starts_layers(*graph, value))) return false;
  graph->values[value].sequence = true;
  for (size_t n = 0; n < graph->nodes.size(); ++n) {
    const Node &node = graph->nodes[n];
    if (node.op != OpKind::kRecurrent || (node.in[1] != value && node.in[2] != value)) continue;
    const std::string why = run_by_step(graph, n);
    if (!why.empty()) throw ModelError(why);
  }
  return true;
}

// A layer keeps its state where all of it is its own: one pair may take that away from another.
void find_layers_by_step(Graph *graph, const std::vector<StatePair> &pairs) {
  for (bool changed = true; changed;) {
    const std::string why = spread_steps(graph);
    if (!why.empty()) throw ModelError(why);
    changed = false;
    for (const StatePair &pair : pairs) changed = start_at_every_step(graph, pair) || changed;
  }
}

// Layers whose initial state is given with every step.
void start_from_inputs(Graph *graph) {
  for (size_t n = 0; n < graph->nodes.size(); ++n) {
    const Node &node = graph->nodes[n];
    if (node.op != OpKind::kRecurrent ||
        std::none_of(node.in.begin() + 1, node.in.begin() + 3, [&](uint32_t v) { return v != kNone && graph->values[v].sequence; }))
      continue;
    const std::string why = run_by_step(graph, n);
    if (!why.empty()) throw ModelError(why);
  }
  const std::string why = spread_steps(graph);
  if (!why.empty()) throw ModelError(why);
}

void tie(Graph *graph, const StatePair &pair) {
  const Binding found = find_binding(*graph, pair);
  const Io input = graph->inputs[found.in], output = graph->outputs[found.out];
  graph->outputs.erase(graph->outputs.begin() + static_cast<std::ptrdiff_t>(found.out));
  const Sources sources(*graph);
  if (found.own) {
    start_layers(graph, input.value, initial_row(*graph, input.value));
    drop_initial_state(graph, input.value, loop_start(graph, input.value));
  }
  drop_input(graph, found.in);
  if (found.own && found.only_state) return;
  const uint32_t next = graph->values[output.value].sequence ? output.value : value_per_step(graph, output.value, sources);
  if (next == kNone)
    throw ModelError("state " + quote(pair.input) + " = " + quote(pair.output) +
                     ": the output is known at the end of a run only, not after every step");
  keep_tensor(graph, input, next, pair.of_loop);
}

// The one output that carries the input's name on and has its shape; kNone where there is none or several.
uint32_t namesake(const Graph &graph, const Io &input) {
  uint32_t found = kNone;
  for (uint32_t i = 0; i < graph.outputs.size(); ++i) {
    const Io &output = graph.outputs[i];
    if (features(output) != features(input) || !carries_on(output.name, input.name)) continue;
    if (found != kNone) return kNone;
    found = i;
  }
  return found;
}

// For each value: layers start from it, or from a part of it.
std::vector<bool> initial_states(const Graph &graph) {
  std::vector<bool> starts(graph.values.size(), false);
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    const Node &node = graph.nodes[n];
    if (node.op == OpKind::kRecurrent || node.op == OpKind::kFeatureRecurrent) {
      for (size_t i = 1; i < 3; ++i) {
        if (node.in[i] != kNone) starts[node.in[i]] = true;
      }
    } else if (node.op == OpKind::kCopy && starts[node.out[0]]) {
      starts[node.in[0]] = true;
    }
  }
  return starts;
}

// The only output of the input's shape.
uint32_t same_shape(const Graph &graph, const Io &input) {
  uint32_t found = kNone;
  for (uint32_t i = 0; i < graph.outputs.size(); ++i) {
    if (features(graph.outputs[i]) != features(input)) continue;
    if (found != kNone) return kNone;
    found = i;
  }
  return found;
}

// After every step, not at the end of a run alone.
bool is_known_per_step(const Graph &graph, const StatePair &pair, const Sources &sources) {
  const Binding tie = find_binding(graph, pair);
  const uint32_t output = graph.outputs[tie.out].value;
  if (graph.values[graph.inputs[tie.in].value].dtype != DType::kF32) return false;
  if (tie.own || graph.values[output].sequence) return true;
  for (uint32_t elem = 0; elem < graph.values[output].elems; ++elem) {
    const Place from = sources.of(output, elem);
    const bool made = std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node &node) {
      return node.op == OpKind::kRecurrent && from.first != kNone && (node.out[1] == from.first || node.out[0] == from.first) &&
             is_forward(std::get<Recurrent>(node.attr));
    });
    if (!made) return false;
  }
  return true;
}

bool may_be_tied(const Graph &graph, const std::vector<StatePair> &pairs, const Sources &sources) {
  std::set<std::string> outputs;
  std::vector<uint32_t> kept;
  for (const StatePair &pair : pairs) {
    if (!outputs.insert(pair.output).second || !is_known_per_step(graph, pair, sources)) return false;
    kept.push_back(graph.inputs[find_io(graph.inputs, pair.input, "input")].value);
  }
  return would_be_causal(graph, kept);
}

}  // namespace

std::vector<StatePair> states_to_propose(const Graph &graph) {
  std::vector<StatePair> pairs = evident_states(graph);
  if (pairs.empty()) return pairs;
  const Sources sources(graph);
  if (may_be_tied(graph, pairs, sources)) return pairs;
  const auto is_hopeless = [&](const StatePair &pair) { return !may_be_tied(graph, {pair}, sources); };
  pairs.erase(std::remove_if(pairs.begin(), pairs.end(), is_hopeless), pairs.end());
  return pairs;
}

void bind_states(Graph *graph, const std::vector<StatePair> &pairs) {
  std::set<std::string> used;
  for (const StatePair &pair : pairs) {
    if (!used.insert("i" + pair.input).second || !used.insert("o" + pair.output).second)
      throw UsageError("a state names " + quote(pair.input) + " or " + quote(pair.output) + " twice");
  }
  for (const StatePair &pair : pairs) check_pair(*graph, pair);
  find_layers_by_step(graph, pairs);
  for (const StatePair &pair : pairs) tie(graph, pair);
  start_from_inputs(graph);
  settle_outputs(graph);
}

std::vector<bool> outputs_that_are_states(const Graph &graph) {
  std::vector<bool> is_state(graph.outputs.size(), false);
  const Sources sources = sources_of(graph);
  for (const Io &input : graph.inputs) {
    for (size_t i = 0; i < graph.outputs.size() && input.role == RNNP_ROLE_STATE; ++i) {
      const Io &output = graph.outputs[i];
      if (features(output) == features(input) && are_final_states(graph, input.value, output.value, sources)) is_state[i] = true;
    }
  }
  return is_state;
}

std::vector<StatePair> states_of_the_caller(const Graph &graph) {
  std::vector<StatePair> pairs = evident_states(graph);
  const auto is_layers_own = [&](const StatePair &pair) {
    return std::any_of(graph.inputs.begin(), graph.inputs.end(),
                       [&](const Io &input) { return input.name == pair.input && input.role == RNNP_ROLE_STATE; });
  };
  pairs.erase(std::remove_if(pairs.begin(), pairs.end(), is_layers_own), pairs.end());
  return pairs;
}

std::vector<StatePair> evident_states(const Graph &graph) {
  std::vector<StatePair> pairs;
  const Sources sources = sources_of(graph);
  const std::vector<bool> is_initial = initial_states(graph);
  for (const Io &input : graph.inputs) {
    uint32_t found = namesake(graph, input);
    if (found == kNone && is_initial[input.value]) found = same_shape(graph, input);
    const bool starts = input.role == RNNP_ROLE_STATE || starts_layers(graph, input.value);
    for (uint32_t i = 0; i < graph.outputs.size() && starts; ++i) {
      const Io &output = graph.outputs[i];
      const bool others = input.role != RNNP_ROLE_STATE;
      if (features(output) == features(input) && are_final_states(graph, input.value, output.value, sources, others)) found = i;
    }
    if (found != kNone && input.role != RNNP_ROLE_LENGTHS) pairs.push_back({input.name, graph.outputs[found].name});
  }
  return pairs;
}

}  // namespace rnnp::compiler
