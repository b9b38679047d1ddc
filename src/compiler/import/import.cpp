// import.cpp -- two readings of the graph: the first finds which input axes are time and batch, the second builds. Contract:
// import.h. Nodes whose inputs are all constant are folded with the evaluator of eval/. SPDX-License-Identifier: Apache-2.0
#include "compiler/import/import.h"

#include <algorithm>
#include <optional>
#include <set>

#include "compiler/eval/eval.h"
#include "compiler/import/builder.h"
#include "compiler/import/fold.h"
#include "compiler/import/guess_axes.h"
#include "compiler/import/input_kinds.h"
#include "compiler/import/steps.h"
#include "compiler/ir/passes.h"
#include "compiler/onnx/budget.h"
#include "compiler/onnx/operator_attributes.h"
#include "compiler/onnx/rewrite.h"
#include "compiler/onnx/subgraph.h"
#include "rnnpack/rnnpack.h"

namespace rnnp::compiler {
namespace {

bool is_onnx_domain(const onnx::NodeProto &node) {
  return node.domain().empty() || node.domain() == "ai.onnx";
}

// The importer's own operators stand where the file has a loop.
std::string title_of_operator(const onnx::NodeProto &node) {
  return node.op_type().find("rnnpack.") == 0 ? "Loop" : node.op_type();
}

// In a branch of an If too.
bool is_recurrent(const onnx::NodeProto &node) {
  if (node.op_type() == "LSTM" || node.op_type() == "GRU" || node.op_type() == "RNN" || node.op_type() == kStepOf) return true;
  return std::any_of(node.attribute().begin(), node.attribute().end(), [](const onnx::AttributeProto &attribute) {
    const auto &inner = attribute.g().node();
    return attribute.type() == onnx::AttributeProto::GRAPH && std::any_of(inner.begin(), inner.end(), is_recurrent);
  });
}

bool has_recurrent(const OnnxModel &model) {
  return std::any_of(model.nodes.begin(), model.nodes.end(), [](const onnx::NodeProto *node) { return is_recurrent(*node); });
}

// What is known of the inputs before the graph is built: those that only start recurrent layers, by index, and those that the user
// wants kept from step to step, by name.
struct InputFacts {
  std::set<uint32_t> states;
  std::set<std::string> kept;
};

class Reader {
 public:
  Reader(const OnnxModel &model, Origins *origins, bool discovering, const InputFacts &facts) : model_(model), facts_(facts) {
    b_.origins = origins;
    b_.discovering = discovering;
    b_.kept = facts.kept;
    b_.outputs.insert(model.outputs.begin(), model.outputs.end());
  }

  // The values that the model gives out, as far as they are known.
  std::vector<uint32_t> outputs() const {
    std::vector<uint32_t> values;
    for (const std::string &name : model_.outputs) {
      const auto found = b_.bound.find(name);
      if (found != b_.bound.end() && found->second.kind == Bound::Kind::kView) values.push_back(found->second.view.value);
    }
    return values;
  }

  std::string decided_axes() const { return b_.origins->decided(model_); }
  Builder &builder() { return b_; }
  Problems &problems() { return problems_; }

  void read() {
    const Budget budget("reading it", reading_limits(model_.file_bytes));
    if (!b_.discovering) find_sizes();
    for (const auto &constant : model_.constants) b_.bound[constant.first] = {Bound::Kind::kConst, constant.second, {}};
    for (size_t i = 0; i < model_.inputs.size(); ++i) add_input(static_cast<uint32_t>(i));
    for (const onnx::NodeProto *node : model_.nodes) read_node(*node);
    if (!b_.discovering && problems_.empty()) add_outputs();
    if (!b_.discovering && !problems_.empty()) check_outputs();
  }

 private:
  void find_sizes() {
    try {
      b_.time_size = b_.origins->common_size(AxisRole::kTime, &b_.time_dynamic);
      b_.batch_size = b_.origins->common_size(AxisRole::kBatch, &b_.batch_dynamic);
    } catch (const Refusal &refusal) {
      problems_.add("", "graph", refusal.what());
    }
  }

  void check_input_type(const DeclaredInput &input, InputKind kind) const {
    if (kind == InputKind::kRefused) {
      throw Refusal("its element type is " + elem_type_name(input.elem_type) + "; accepted: floats, integers and BOOL");
    }
    if (input.dims.size() > kBlobMaxRank) throw Refusal("its rank is " + std::to_string(input.dims.size()) + "; accepted: up to 8");
  }

  void add_input(uint32_t index) {
    const DeclaredInput &input = model_.inputs[index];
    Bound &bound = b_.bound[input.name];
    try {
      const InputUse use = uses_[index];
      check_input_type(input, use.kind);
      View view;
      bool has_time = false;
      for (size_t axis = 0; axis < input.dims.size(); ++axis) {
        const int origin = b_.origins->of(index, axis);
        view.axes.push_back(b_.input_axis(origin));
        if (!b_.discovering && axis_is_features(view.axes.back()) && b_.origins->dynamic(origin)) {
          throw Refusal(open_axis_text(input, axis, origin));
        }
        has_time = has_time || (!view.axes.back().empty() && view.axes.back()[0].kind == Atom::Kind::kTime);
      }
      view = densified(view);
      const bool per_step = has_time || (facts_.states.count(index) == 0 &&
                                         (!b_.origins->any(AxisRole::kTime) || facts_.kept.count(input.name) != 0));
      const int64_t elems = feature_count(view);
      if (!b_.discovering && elems > int64_t{kMaxRowElems}) throw Refusal("a row of it has " + std::to_string(elems) + " elements");
      Value value;
      value.kind = ValueKind::kInput;
      value.dtype = use.kind == InputKind::kIndex ? DType::kI32 : DType::kF32;
      view.mask = use.kind == InputKind::kMask;
      view.whole = use.kind == InputKind::kWhole;
      value.elems = static_cast<uint32_t>(std::min<int64_t>(elems, INT32_MAX));
      value.sequence = per_step && value.dtype == DType::kF32;
      value.input = index;
      view.value = b_.graph.add_value(value);
      b_.graph.inputs.push_back({input.name, view.value, 0, dims_of(view)});
      if (use.kind == InputKind::kIndex && use.rows > 0) b_.index_rows[view.value] = use.rows;
      if (input.elem_type != onnx::TensorProto::FLOAT && use.kind != InputKind::kIndex)
        b_.graph.notes.push_back("input " + quote(input.name) + " is " + elem_type_name(input.elem_type) +
                                 " in the file; the blob takes float32" +
                                 (view.mask    ? ", 0 or 1"
                                  : view.whole ? " that hold whole numbers"
                                               : ""));
      bound = {Bound::Kind::kView, nullptr, view};
    } catch (const Refusal &refusal) {
      problems_.add("", "input " + quote(input.name), refusal.what());
    }
  }

  // Why an axis has to be fixed, and what fixes it.
  std::string open_axis_text(const DeclaredInput &input, size_t axis, int origin) const {
    const std::string &name = input.dims[axis].name, beside = b_.origins->time_beside(origin);
    std::string shape;
    for (size_t i = 0; i < input.dims.size(); ++i) shape += (i ? "," : "") + (i == axis ? std::string("SIZE") : std::string("-1"));
    return "its axis " + std::to_string(axis) + (name.empty() ? "" : " (" + quote(name) + ")") + " is open, and " +
           (beside.empty() ? "no layer runs along all of it as it is; accepted: a fixed size. try: "
                           : "layers run along it and along " + quote(beside) +
                                 ", of which one is the number of steps; accepted: a fixed size of the other. try: ") +
           (name.empty() ? "--shape " + input.name + "=" + shape : "--dim " + name + "=SIZE") +
           (beside.empty() ? "" : " (or --dim " + beside + "=SIZE)");
  }

  void read_node(const onnx::NodeProto &node) {
    for (const std::string &name : node.output()) {
      if (!name.empty()) b_.bound[name] = {};
    }
    OpCall call{b_, node, Attributes(node), model_.opset, node_title(node)};
    try {
      if (!is_onnx_domain(node))
        throw Refusal("the operator is of domain " + quote(node.domain()) + "; accepted: standard ONNX operators");
      check_attributes(node, model_.opset);
      const ImportFn import = find_import(node.op_type());
      if (!import && !find_eval(node.op_type()))
        throw Refusal("the operator is not supported; see docs/OPERATORS.md for those that are");
      for (size_t i = 0; i < call.input_count(); ++i) {
        if (call.has(i) && call.input(i).kind == Bound::Kind::kUnknown) return;
      }
      if (node.op_type() == "If" && call.is_const(0) && !call.input(0).tensor->is_dynamic()) {
        read_branch(call, taken_branch(node, *call.input(0).tensor));
        return;
      }
      if (fold(call)) return;
      if (!import) throw Refusal("the operator is only supported where all its inputs are constants" + call.run_time_input());
      const size_t values = b_.graph.values.size(), nodes = b_.graph.nodes.size();
      import(call);
      charge_made(values, nodes);
    } catch (const Refusal &refusal) {
      problems_.add(call.name, title_of_operator(node), b_.origins->named(refusal.what()));
    }
  }

  // What the node copied out of constants: one constant may feed any number of nodes.
  void charge_made(size_t values, size_t nodes) {
    int64_t elements = 0;
    for (size_t i = values; i < b_.graph.values.size(); ++i) elements += static_cast<int64_t>(b_.graph.values[i].f32.size());
    for (size_t i = nodes; i < b_.graph.nodes.size(); ++i) elements += static_cast<int64_t>(stored_elements(b_.graph.nodes[i]));
    try {
      Budget::charge_elements(elements);
    } catch (const Refusal &) {
      for (size_t i = values; i < b_.graph.values.size(); ++i) b_.graph.values[i].f32 = {};
      b_.graph.nodes.erase(b_.graph.nodes.begin() + static_cast<std::ptrdiff_t>(nodes), b_.graph.nodes.end());
      throw;
    }
  }

  // The branch's nodes in the place of the If. Names made inside hide those outside until its end.
  void read_branch(OpCall &call, const onnx::GraphProto &branch) {
    std::map<std::string, Bound> hidden;
    const std::vector<std::string> made = names_made(branch);
    for (const std::string &name : made) {
      const auto found = b_.bound.find(name);
      if (found != b_.bound.end()) hidden.insert(*found);
    }
    for (const onnx::TensorProto &constant : branch.initializer()) {
      b_.bound[constant.name()] = {Bound::Kind::kConst, std::make_shared<const Tensor>(read_tensor(constant)), {}};
    }
    for (const onnx::NodeProto &node : branch.node()) read_node(node);
    std::vector<Bound> results;
    for (const onnx::ValueInfoProto &output : branch.output()) results.push_back(b_.bound.at(output.name()));
    for (const std::string &name : made) b_.bound.erase(name);
    for (auto &outer : hidden) b_.bound[outer.first] = std::move(outer.second);
    for (size_t i = 0; i < results.size(); ++i) {
      if (call.wants(i)) b_.bound[call.node.output(static_cast<int>(i))] = std::move(results[i]);
    }
  }

  // T and B stand alone; features between them make up one constant.
  static std::vector<int32_t> dims_of(const View &view) {
    std::vector<int32_t> dims;
    for (const Axis &axis : view.axes) {
      int64_t run = 1;
      bool open = axis.empty();
      for (const Atom &atom : axis) {
        if (atom.is_feature()) {
          run = times(run, atom.size);
          open = true;
          continue;
        }
        if (open && run > 1) dims.push_back(static_cast<int32_t>(std::min<int64_t>(run, INT32_MAX)));
        dims.push_back(atom.kind == Atom::Kind::kTime ? RNNP_DIM_STEPS : RNNP_DIM_BATCH);
        run = 1;
        open = false;
      }
      if (open) dims.push_back(static_cast<int32_t>(std::min<int64_t>(run, INT32_MAX)));
    }
    return dims;
  }

  void add_outputs() {
    std::set<uint32_t> used;
    for (const std::string &name : model_.outputs) {
      try {
        add_output(name, &used);
      } catch (const Refusal &refusal) {
        problems_.add("", "output " + quote(name), refusal.what());
      }
    }
  }

  // Where nodes were refused: what can be said of outputs all the same.
  void check_outputs() {
    for (const std::string &name : model_.outputs) {
      const Bound &bound = b_.bound.at(name);
      if (bound.kind != Bound::Kind::kView) continue;
      try {
        settled(b_, bound.view);
      } catch (const Refusal &refusal) {
        problems_.add("", "output " + quote(name), refusal.what());
      }
    }
  }

  void add_output(const std::string &name, std::set<uint32_t> *used) {
    const Bound &bound = b_.bound.at(name);
    const bool constant = bound.kind == Bound::Kind::kConst;
    if (!constant) check_not_quantized(bound.view, "it");
    if (constant && bound.tensor->is_dynamic()) throw Refusal("its value depends on the number of steps or batch rows");
    // It would be given once per batch row. Where the batch axis is only a guess, fixed dimensions give it as it is.
    if (constant && !has_recurrent(model_) && b_.origins->any(AxisRole::kBatch))
      throw Refusal("it is a constant; accepted: outputs computed from inputs, or inputs of fixed dimensions");
    View view = constant ? b_.const_view(*bound.tensor) : settled(b_, bound.view);
    const ValueKind kind = b_.graph.values[view.value].kind;
    const bool made = kind == ValueKind::kSequence || kind == ValueKind::kRow;
    bool per_step = b_.is_sequence(view);
    for (const Axis &axis : view.axes) {
      for (const Atom &atom : axis) per_step = per_step || atom.kind == Atom::Kind::kTime;
    }
    // Every output is a value of its own, whole and in order, so that the runtime can write it straight to the caller's buffer.
    if (!made || used->count(view.value) || !is_dense(view, b_.row_elems(view)) || per_step != b_.is_sequence(view)) {
      view = b_.copied(view, per_step, name);
    }
    used->insert(view.value);
    Io io{name, view.value, static_cast<uint32_t>(per_step ? RNNP_ROLE_SEQUENCE : RNNP_ROLE_ROW), dims_of(view)};
    if (io.dims.size() > kBlobMaxRank) throw Refusal("its rank is " + std::to_string(io.dims.size()) + "; accepted: up to 8");
    if (io.dims.size() > view.axes.size()) {
      b_.graph.notes.push_back("output " + quote(name) + " " + view_text(view) +
                               " is given with steps and batch as axes of their own; its elements are in the same order");
    }
    b_.graph.outputs.push_back(std::move(io));
  }

  const OnnxModel &model_;
  const InputFacts &facts_;
  const std::vector<InputUse> uses_ = input_uses(model_);
  Builder b_;
  Problems problems_;
};

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
      // Only a state that goes straight to its layer may be left out of a run; one that is taken apart first is required.
      const bool direct = std::none_of(graph->nodes.begin(), graph->nodes.end(),
                                       [&](const Node &node) { return node.op == OpKind::kCopy && node.in[0] == input.value; });
      input.role = direct && states[input.value] ? RNNP_ROLE_STATE : RNNP_ROLE_ROW;
    }
  }
}

Graph finish(Reader *reader) {
  Graph &graph = reader->builder().graph;
  for (const Io &input : graph.inputs) {
    const Value &value = graph.values[input.value];
    if (value.dtype == DType::kI32 && !value.sequence && value.elems != 1) {
      reader->problems().add("", "input " + quote(input.name),
                             "it is an integer tensor; accepted: as sequence_lens, one length per batch row, as indices of a "
                             "Gather at every step, or made a constant (--set " +
                                 input.name + "=VALUE)");
    }
  }
  reader->problems().raise();
  assign_roles(&graph);
  graph.axes = reader->decided_axes();
  return std::move(graph);
}

bool is_causal(Graph graph) {
  remove_dead(&graph);
  find_early_rows(&graph);
  find_causality(&graph);
  return graph.causal;
}

// What refuses the graph with its fixed time axes left open: ONNX itself could run it with no other number of steps. Empty when it
// could.
std::string needs_own_steps(const OnnxModel &model, const Origins &origins, const InputFacts &facts) {
  Origins open = origins.with_open_time();
  Reader probe(model, &open, false, facts);
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

// The graph with these axes, or with fewer of them where it needs its own sizes. `may_fail`: nothing where a node is refused.
std::optional<Graph> read_with(const OnnxModel &model, Origins *axes, const InputFacts &facts, bool recurrent,
                               const Problems &first_problems, bool may_fail) {
  Reader second(model, axes, false, facts);
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
  // Where a node was refused, time and batch may have been missed behind it: what the second reading says then may be wrong.
  first_problems.raise();
  if (fixed_time) {
    Origins plain = axes->without_time(model);
    Reader third(model, &plain, false, facts);
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
  if (!recurrent) {
    Origins fixed(model);
    Reader third(model, &fixed, false, facts);
    third.read();
    if (third.problems().empty()) {
      third.builder().graph.notes.emplace_back("the batch axis could not be generalised: all dimensions stay as in the file");
      return finish(&third);
    }
  }
  return finish(&second);
}

}  // namespace

Graph import_model(const OnnxModel &model, const std::set<std::string> &kept) {
  Origins origins(model);
  InputFacts facts{{}, kept};
  Problems first_problems;
  bool recurrent = has_recurrent(model);
  if (recurrent) {
    Reader first(model, &origins, true, facts);
    first.read();
    origins.decide();
    first_problems = first.problems();
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
