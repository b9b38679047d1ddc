// import.cpp -- two readings of the graph: the first finds which input axes are time and batch, the second builds. Contract:
// import.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/import/import.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "compiler/import/graph_reader.h"
#include "compiler/import/guess_axes.h"
#include "compiler/import/split_graph.h"
#include "compiler/ir/passes.h"
#include "compiler/onnx/budget.h"
#include "compiler/onnx/operator_attributes.h"
#include "compiler/onnx/rewrite.h"
#include "compiler/onnx/subgraph.h"
#include "rnnpack/rnnpack.h"

namespace rnnp::compiler {
namespace {

thread_local int imports = 0;

// For each value: it is used, and only as states and lengths of recurrent nodes, possibly through copies. Nodes are in order, so
// one walk from the last to the first sees all readers of a value before its makers.
std::vector<bool> only_states(const Graph &graph, const std::vector<uint32_t> &outputs) {
  std::vector<bool> used(graph.values.size(), false), other(graph.values.size(), false);
  for (const uint32_t value : outputs) other[value] = true;
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    const Node &node = graph.nodes[n];
    for (size_t i = 0; i < node.in.size(); ++i) {
      const uint32_t value = node.in[i];
      if (value == kNone) continue;
      used[value] = true;
      const bool is_state = node.op == OpKind::kRecurrent && i >= 1;
      const bool is_copy = node.op == OpKind::kCopy && used[node.out[0]] && !other[node.out[0]];
      if (!is_state && !is_copy) other[value] = true;
    }
  }
  for (size_t v = 0; v < used.size(); ++v) used[v] = used[v] && !other[v];
  return used;
}

void assign_roles(Graph *graph) {
  std::vector<uint32_t> outputs;
  for (const Io &output : graph->outputs) outputs.push_back(output.value);
  const std::vector<bool> states = only_states(*graph, outputs);
  for (Io &input : graph->inputs) {
    const Value &value = graph->values[input.value];
    if (value.dtype == DType::kI32) {
      input.role = value.sequence ? RNNP_ROLE_SEQUENCE : RNNP_ROLE_LENGTHS;
    } else if (value.sequence) {
      input.role = RNNP_ROLE_SEQUENCE;
    } else {
      // A state that a node takes apart first is one of each run: it may not be left out.
      const bool direct = std::none_of(graph->nodes.begin(), graph->nodes.end(),
                                       [&](const Node &node) { return node.op == OpKind::kCopy && node.in[0] == input.value; });
      input.role = direct && states[input.value] ? RNNP_ROLE_STATE : RNNP_ROLE_PER_RUN;
    }
  }
}

void check_integers(GraphReader *reader) {
  const Graph &graph = reader->builder().graph;
  for (const Io &input : graph.inputs) {
    const Value &value = graph.values[input.value];
    if (value.dtype == DType::kI32 && !value.sequence && value.elems != 1) {
      reader->problems().add("", "input " + quote(input.name),
                             "it is an integer tensor; accepted: as sequence_lens, one length per batch row, as indices of a "
                             "Gather at every step, or made a constant (--set " +
                                 input.name + "=VALUE)");
    }
  }
}

Graph finish(GraphReader *reader) {
  Graph &graph = reader->builder().graph;
  check_integers(reader);
  reader->problems().raise();
  assign_roles(&graph);
  graph.axes = reader->decided_axes();
  return std::move(graph);
}

bool is_causal(Graph graph) {
  remove_dead(&graph);
  find_first_chunk_rows(&graph);
  find_causality(&graph);
  return graph.causal;
}

// What refuses the graph with its fixed time axes left open: ONNX itself could run it with no other number of steps. Empty when it
// could.
std::string needs_own_steps(const OnnxModel &model, const Origins &origins, const InputFacts &facts) {
  Origins open = origins.with_open_time();
  GraphReader probe(model, &open, false, facts);
  probe.read();
  if (probe.problems().empty()) return "";
  const std::string &line = probe.problems().lines()[0];
  return line.substr(0, line.find(": "));  // the rest tells of a stand-in
}

// Inputs whose steps the file names or sizes apart, which the blob cannot.
void note_shared_steps(const OnnxModel &model, const Origins &axes, Graph *graph) {
  std::set<std::string> names;
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    for (size_t axis = 0; axis < model.inputs[i].dims.size(); ++axis) {
      const DeclaredDim &dim = model.inputs[i].dims[axis];
      if (axes.role(axes.of(i, axis)) == AxisRole::kTime) names.insert(dim.value ? std::to_string(dim.value) : quote(dim.name));
    }
  }
  if (names.size() < 2) return;
  std::string list;
  for (const std::string &name : names) list += (list.empty() ? "" : ", ") + name;
  graph->notes.push_back("the time axes " + list + " of the inputs are taken as one: every run has one number of steps for all");
}

// Inputs of which several elements make one step.
void note_elements(const OnnxModel &model, const Origins &axes, Graph *graph) {
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    for (size_t axis = 0; axis < model.inputs[i].dims.size(); ++axis) {
      const int64_t period = axes.period(axes.of(i, axis));
      if (period == 1) continue;
      const std::string &name = model.inputs[i].dims[axis].name, many = std::to_string(period);
      graph->notes.push_back("input " + quote(model.inputs[i].name) + ": " + many + " elements of axis " + std::to_string(axis) +
                             (name.empty() ? "" : " (" + quote(name) + ")") + " make one step, so its size is a multiple of " +
                             many);
    }
  }
}

// Whether nothing is refused with these axes: reading it says so, and nothing is made of it.
bool is_read(const OnnxModel &model, Origins axes, const InputFacts &facts, bool steps_in_rows) {
  if (axes.conflict()) return false;
  GraphReader probe(model, &axes, false, facts);
  probe.builder().steps_in_rows = steps_in_rows;
  probe.read();
  check_integers(&probe);
  return probe.problems().empty();
}

// The same of the reading that looks for axes.
bool finds_axes(const OnnxModel &model, Origins axes, const InputFacts &facts) {
  GraphReader probe(model, &axes, true, facts);
  probe.read();
  return probe.problems().empty();
}

// The options that fix what `fixed` has fixed of `axes`, at a size that the user chooses where it is 0; nothing where one of them
// cannot be written.
std::vector<std::string> options_that_fix(const OnnxModel &model, const Origins &axes, const Origins &fixed, int64_t at) {
  const std::string written = at ? std::to_string(at) : "SIZE";
  std::vector<std::string> options;
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    const DeclaredInput &input = model.inputs[i];
    std::set<size_t> unnamed;
    for (size_t axis = 0; axis < input.dims.size() && input.loop.empty(); ++axis) {
      const DeclaredDim &dim = input.dims[axis];
      const bool is_fixed = axes.dynamic(axes.of(i, axis)) && !fixed.dynamic(axes.of(i, axis));
      if (is_fixed && dim.name.empty()) unnamed.insert(axis);
      if (!is_fixed || dim.name.empty()) continue;
      if (!is_plain(dim.name)) return {};
      const std::string option = "--dim " + dim.name + "=" + written;
      if (std::find(options.begin(), options.end(), option) == options.end()) options.push_back(option);
    }
    if (unnamed.empty()) continue;
    options.push_back(shape_option(input, unnamed, written));
    if (options.back().empty()) return {};
  }
  return options;
}

// All axes of all inputs as the file has them; nothing where the user has said what axes are.
std::vector<std::string> options_of_plain_axes(const OnnxModel &model) {
  std::vector<std::string> options;
  for (const DeclaredInput &input : model.inputs) {
    if (!input.loop.empty() || input.dims.empty()) continue;
    std::string option = "--axes " + input.name + "=features";
    for (size_t i = 1; i < input.dims.size(); ++i) option += ",features";
    const bool is_said =
        std::any_of(input.dims.begin(), input.dims.end(), [](const DeclaredDim &dim) { return dim.role != DimRole::kUnknown; });
    if (is_said || !is_plain(input.name)) return {};
    options.push_back(option);
  }
  return options;
}

constexpr int64_t kExample = 16;  // for a size that the user is to choose: as many strides divide it as may be

// What was refused, and with which axes.
class Refused {
 public:
  Refused(const OnnxModel &model, const Origins &axes, const InputFacts &facts, bool recurrent)
      : model_(model), axes_(axes), facts_(facts), recurrent_(recurrent) {}

  // What helps against these problems: open sizes that are no steps and no batch rows become fixed, or the steps too, or all is
  // one array. The first of them against which no node has a reason.
  Remedy what_helps(const Problems &problems, const std::vector<int64_t> &sizes_beside) const {
    Remedy own = problems.remedy();
    const bool is_whole = std::none_of(own.options.begin(), own.options.end(),
                                       [](const std::string &option) { return option.find("SIZE") != std::string::npos; });
    if (!own.options.empty() && is_whole) return own;
    Remedy found = fixed(0, {AxisRole::kBatch});
    if (found.options == own.options && !own.why.empty()) found.why = own.why;
    for (size_t i = 0; i < sizes_beside.size() && found.options.empty(); ++i) found = fixed(sizes_beside[i], {AxisRole::kBatch});
    if (found.options.empty() && axes_.any_open(AxisRole::kBatch)) found = fixed(0, {});
    if (found.options.empty()) found = as_one_array();
    if (found.options.empty() && axes_.any_open(AxisRole::kBatch)) found = fixed(1, {});
    if (found.options.empty() && !own.options.empty()) return own;
    if (found.options.empty()) found.why = open_sizes(problems.lines());
    return found;
  }

 private:
  // Where other sizes lead to other problems, the right ones may lead to none.
  std::string open_sizes(const std::vector<std::string> &problems) const {
    Origins some = axes_.with_size(kExample, {AxisRole::kBatch});
    if (some.conflict()) return "";
    GraphReader probe(model_, &some, false, facts_);
    probe.read();
    if (!probe.problems().empty() && probe.problems().lines()[0] == problems[0]) return "";
    std::string text;
    for (const std::string &option : options_that_fix(model_, axes_, some, 0))
      text += (text.empty() ? "a size that the network is made for may help: " : ", ") + option;
    return text;
  }

  // `size`: 0, or a number of the graph; steps stay open where they may, and batch rows where they are among `open`.
  Remedy fixed(int64_t size, const std::set<AxisRole> &open) const {
    const std::string why = size ? "the graph has this size where others are open" : "one blob for each size";
    const int64_t read_at = size ? size : kExample;
    std::set<AxisRole> with_steps = open;
    with_steps.insert(AxisRole::kTime);
    const Origins some = axes_.with_size(read_at, with_steps);
    const std::vector<std::string> of_some = options_that_fix(model_, axes_, some, size);
    if (!of_some.empty() && is_read(model_, some, facts_, false)) return {of_some, why};
    if (!axes_.any_open(AxisRole::kTime)) return {};
    const Origins steps = axes_.with_size(read_at, open);
    const Origins plain_steps = axes_.without_time(model_).with_size(read_at, open);
    const bool helps = (recurrent_ && is_read(model_, steps, facts_, false)) ||
                       (finds_axes(model_, steps, facts_) && is_read(model_, plain_steps, facts_, true));
    return helps ? Remedy{options_that_fix(model_, axes_, steps, size), why} : Remedy();
  }

  Remedy as_one_array() const {
    const Origins all = Origins(model_).with_size(kExample, {});
    std::vector<std::string> options = options_that_fix(model_, axes_, all, 0);
    if (recurrent_) {
      const std::vector<std::string> plain = options_of_plain_axes(model_);
      if (plain.empty()) return {};
      options.insert(options.end(), plain.begin(), plain.end());
    }
    if (options.empty() || !is_read(model_, all, facts_, false)) return {};
    return {options, "a call is then one whole array"};
  }

  const OnnxModel &model_;
  const Origins &axes_;
  const InputFacts &facts_;
  const bool recurrent_;
};

// The graph with these axes, or with fewer of them where it needs its own sizes. `may_fail`: nothing where a node is refused.
std::optional<Graph> read_with(const OnnxModel &model, Origins *axes, const InputFacts &facts, bool recurrent,
                               const Problems &first_problems, bool may_fail) {
  GraphReader second(model, axes, false, facts);
  if (axes->conflict()) second.problems().add("", "graph", "an input axis is used as time by one node and as batch by another");
  second.read();
  const bool good = second.problems().empty();
  if (!good && may_fail) return std::nullopt;
  const bool fixed_time = recurrent && second.builder().time_size >= 1 && !second.builder().time_dynamic;
  const bool one_step = fixed_time && second.builder().time_size == 1;
  note_shared_steps(model, *axes, &second.builder().graph);
  note_elements(model, *axes, &second.builder().graph);
  std::string own_size;  // why the time axis has to stay as it is
  if (good && fixed_time && axes->any(AxisRole::kTime)) own_size = needs_own_steps(model, *axes, facts);
  if (good && (!one_step || own_size.empty())) {
    if (!own_size.empty())
      second.builder().graph.notes.push_back("the file is for " + std::to_string(second.builder().time_size) + " steps alone (" +
                                             own_size + "); the blob takes any number, read the same way");
    return finish(&second);
  }
  const auto refuse = [&](const Problems &problems) {
    if (!problems.empty()) problems.raise(Refused(model, *axes, facts, recurrent).what_helps(problems, second.sizes_beside()));
  };
  // Where a node was refused, time and batch may have been missed behind it: what the second reading says then may be wrong.
  refuse(first_problems);
  if (fixed_time) {
    Origins plain = axes->without_time(model);
    GraphReader third(model, &plain, false, facts);
    third.builder().steps_in_rows = !one_step;
    third.read();
    if (third.problems().empty()) {
      third.builder().graph.notes.emplace_back(
          "the time axis stays an ordinary axis of the size in the file: one call of the ONNX graph is one step");
      return finish(&third);
    }
    if (!own_size.empty()) {
      Graph opened = finish(&second);
      if (!is_causal(opened)) third.problems().raise();  // for more steps than one it would be another graph
      opened.notes.push_back("the file is for one step alone (" + own_size + "); a call of more steps is as many calls of it");
      return opened;
    }
  }
  // One call is one step, and axes of one element are hard to tell apart: as they are in the file they need not be.
  if (!good && !facts.kept.empty()) {
    Origins fixed(model);
    GraphReader plain(model, &fixed, false, facts);
    plain.builder().steps_in_rows = !one_step;
    plain.read();
    if (plain.problems().empty()) {
      plain.builder().graph.notes.emplace_back("all axes stay as in the file: one call of the ONNX graph is one step of one row");
      return finish(&plain);
    }
  }
  if (!recurrent) {
    Origins fixed(model);
    GraphReader third(model, &fixed, false, facts);
    third.read();
    if (third.problems().empty()) {
      third.builder().graph.notes.emplace_back("the batch axis could not be generalised: all dimensions stay as in the file");
      return finish(&third);
    }
  }
  check_integers(&second);
  refuse(second.problems());
  return finish(&second);
}

}  // namespace

int imports_counted() {
  return std::exchange(imports, 0);
}

Graph import_model(const OnnxModel &model, const std::set<std::string> &kept, const WeightForms &weights) {
  ++imports;
  Origins origins(model);
  InputFacts facts{{}, kept, "", weights};
  Problems first_problems;
  bool recurrent = has_recurrent(model);
  if (recurrent) {
    GraphReader first(model, &origins, true, facts);
    first.read();
    origins.decide();
    first_problems = first.problems();
    facts.split_graph = split_graph_text(model, first.builder(), origins);
    const std::vector<bool> states = only_states(first.builder().graph, first.outputs());
    for (const Io &input : first.builder().graph.inputs) {
      if (states[input.value]) facts.states.insert(first.builder().graph.values[input.value].input);
    }
    // It may have stood in a branch that is not taken.
    const std::vector<Node> &nodes = first.builder().graph.nodes;
    recurrent = !first_problems.empty() || origins.any(AxisRole::kTime) ||
                std::any_of(nodes.begin(), nodes.end(), [](const Node &node) { return node.op == OpKind::kRecurrent; });
  }
  if (!recurrent) {
    guess_without_recurrent(model, &origins);
  }
  Origins beside_time = origins;
  if (recurrent && !origins.conflict() && mark_batch_beside_time(model, &beside_time)) {
    if (std::optional<Graph> graph = read_with(model, &beside_time, facts, recurrent, {}, true)) return std::move(*graph);
  }
  return *read_with(model, &origins, facts, recurrent, first_problems, false);
}

}  // namespace rnnp::compiler
