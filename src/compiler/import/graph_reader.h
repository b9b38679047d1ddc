// graph_reader.h -- one reading of a file's graph: inputs, nodes in order, outputs. Nodes whose inputs are all constant are folded
// with the evaluator of eval/. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IMPORT_GRAPH_READER_H_
#define RNNPACK_COMPILER_IMPORT_GRAPH_READER_H_

#include <algorithm>
#include <optional>
#include <set>

#include "compiler/eval/eval.h"
#include "compiler/import/builder.h"
#include "compiler/import/fold.h"
#include "compiler/import/import.h"
#include "compiler/import/input_kinds.h"
#include "compiler/import/integer_bounds.h"
#include "compiler/import/steps.h"
#include "compiler/onnx/budget.h"
#include "compiler/onnx/operator_attributes.h"
#include "compiler/onnx/refusal_of.h"
#include "compiler/onnx/rewrite.h"
#include "compiler/onnx/subgraph.h"
#include "rnnpack/rnnpack.h"

namespace rnnp::compiler {

inline bool is_onnx_domain(const OnnxNode &node) {
  return node.domain().empty() || node.domain() == "ai.onnx";
}

// The importer's own operators stand where the file has a loop.
inline std::string title_of_operator(const OnnxNode &node) {
  return node.op_type().find("rnnpack.") == 0 ? "Loop" : node.op_type();
}

// In a branch of an If too.
inline bool is_recurrent(const OnnxNode &node) {
  if (node.op_type() == "LSTM" || node.op_type() == "GRU" || node.op_type() == "RNN" || node.op_type() == kStepOf ||
      node.op_type() == kLstmNorm || node.op_type() == kMaskedRnn || node.op_type() == kMaskedGru || node.op_type() == kMaskedLstm)
    return true;
  return std::any_of(node.attribute().begin(), node.attribute().end(), [](const OnnxAttribute &attribute) {
    return attribute.type() == OnnxAttribute::kGraph &&
           std::any_of(attribute.g().node().begin(), attribute.g().node().end(), is_recurrent);
  });
}

inline bool has_recurrent(const OnnxModel &model) {
  return std::any_of(model.nodes.begin(), model.nodes.end(), [](const OnnxNode *node) { return is_recurrent(*node); });
}

// The option that fixes these open axes of an input by their places. Empty: it cannot be written.
inline std::string shape_option(const DeclaredInput &input, const std::set<size_t> &axes, const std::string &written) {
  std::string shape;
  for (size_t i = 0; i < input.dims.size(); ++i) {
    const int64_t size = input.dims[i].value;
    shape += (i ? "," : "") + (axes.count(i) ? written : size ? std::to_string(size) : "-1");
  }
  return is_plain(input.name) ? "--shape " + input.name + "=" + shape : "";
}

// The option that fixes an open axis: by its name, which all axes of that name share, or by its place. Empty: none can be written.
inline std::string open_sizes_option(const DeclaredInput &input, size_t axis) {
  const std::string &name = input.dims[axis].name;
  if (!name.empty()) return is_plain(name) ? "--dim " + name + "=SIZE" : "";
  return shape_option(input, {axis}, "SIZE");
}

// What is known of the inputs before the graph is built: those that only start recurrent layers, by index, and those that are
// kept from step to step, by name.
struct InputFacts {
  std::set<uint32_t> states;
  std::set<std::string> kept;  // and the outputs that give their next values
  std::string split_graph;     // for a refusal: split_graph.h
  WeightForms weights;
};

class GraphReader {
 public:
  GraphReader(const OnnxModel &model, Origins *origins, bool discovering, const InputFacts &facts) : model_(model), facts_(facts) {
    b_.origins = origins;
    b_.discovering = discovering;
    b_.kept = facts.kept;
    b_.loop_sizes = model.loop_sizes;
    b_.float_weights = facts.weights.stay_f32;
    b_.winograd = facts.weights.winograd;
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

  // Numbers that stand beside what was refused, as sizes of its operands or in its constants: of an open axis the exporter may
  // have written the example's size into the graph.
  const std::vector<int64_t> &sizes_beside() const { return sizes_beside_; }

  std::string decided_axes() const { return b_.origins->decided(model_); }
  Builder &builder() { return b_; }
  Problems &problems() { return problems_; }

  void read() {
    const Budget budget("reading it", reading_limits(model_.file_bytes));
    if (!b_.discovering) find_sizes();
    for (const auto &constant : model_.constants) b_.bound[constant.first] = {Bound::Kind::kConst, constant.second, {}};
    for (size_t i = 0; i < model_.inputs.size(); ++i) add_input(static_cast<uint32_t>(i));
    for (size_t i = 0; i < model_.nodes.size() && !too_large(); ++i) read_node(*model_.nodes[i]);
    if (!b_.discovering && problems_.empty()) add_outputs();
    if (!b_.discovering && !problems_.empty()) check_outputs();
  }

 private:
  // Passes make one node of several, but not of so many; later each of them costs.
  bool too_large() {
    constexpr size_t kMost = 4 * size_t{kBlobMaxNodes};
    if (b_.graph.nodes.size() <= kMost) return false;
    problems_.add("", "graph",
                  "it has more than " + std::to_string(kMost) + " nodes; accepted: up to " + std::to_string(kBlobMaxNodes));
    return true;
  }

  void find_sizes() {
    const auto refusal = refusal_of([&] {
      b_.time_size = b_.origins->common_size(AxisRole::kTime, &b_.time_dynamic);
      b_.batch_size = b_.origins->common_size(AxisRole::kBatch, &b_.batch_dynamic);
    });
    if (refusal) problems_.add("", "graph", refusal->what() + (" (" + fixed_axes() + ")"));
  }

  // Which input has which of the fixed sizes of steps and batch rows.
  std::string fixed_axes() const {
    std::string list;
    for (size_t i = 0; i < model_.inputs.size(); ++i) {
      for (size_t axis = 0; axis < model_.inputs[i].dims.size(); ++axis) {
        const int64_t size = model_.inputs[i].dims[axis].value;
        const AxisRole role = b_.origins->role(b_.origins->of(i, axis));
        if (size == 0 || (role != AxisRole::kTime && role != AxisRole::kBatch)) continue;
        list += (list.empty() ? "" : ", ") + quote(model_.inputs[i].name) + " has " + std::to_string(size) +
                (role == AxisRole::kTime ? " steps" : " rows");
      }
    }
    return list;
  }

  void check_input_type(const DeclaredInput &input, InputKind kind) const {
    if (kind == InputKind::kRefused) {
      throw Refusal("its element type is " + elem_type_name(input.elem_type) + "; accepted: floats, integers and BOOL");
    }
    if (input.dims.size() > kBlobMaxRank) throw Refusal("its rank is " + std::to_string(input.dims.size()) + "; accepted: up to 8");
  }

  // One axis of steps and one of batch rows: two of them are a guess that went wrong.
  static void check_roles(const View &view) {
    for (const Atom::Kind kind : {Atom::Kind::kTime, Atom::Kind::kBatch}) {
      std::vector<size_t> found;
      for (size_t i = 0; i < view.axes.size(); ++i) {
        if (!view.axes[i].empty() && view.axes[i][0].kind == kind) found.push_back(i);
      }
      if (found.size() < 2) continue;
      throw Refusal("its axes " + std::to_string(found[0]) + " and " + std::to_string(found[1]) + " are both taken for " +
                    (kind == Atom::Kind::kTime ? "the steps" : "the batch") +
                    "; accepted: one of them (--axes says what each axis is, --dim and --shape fix sizes)");
    }
  }

  void add_input(uint32_t index) {
    const auto refusal = refusal_of([&] { read_input(index); });
    const DeclaredInput &input = model_.inputs[index];
    if (refusal) problems_.add("", input.loop.empty() ? "input " + quote(input.name) : "node " + quote(input.loop), *refusal);
  }

  void read_input(uint32_t index) {
    const DeclaredInput &input = model_.inputs[index];
    Bound &bound = b_.bound[input.name];
    const InputUse use = uses_[index];
    check_input_type(input, use.kind);
    View view;
    bool has_time = false;
    for (size_t axis = 0; axis < input.dims.size(); ++axis) {
      const int origin = b_.origins->of(index, axis);
      view.axes.push_back(b_.input_axis(origin));
      if (!b_.discovering && axis_is_features(view.axes.back()) && b_.origins->dynamic(origin)) {
        throw open_axis(input, axis, origin);
      }
      has_time = has_time || (!view.axes.back().empty() && view.axes.back()[0].kind == Atom::Kind::kTime);
    }
    if (!b_.discovering) check_roles(view);
    view = densified(view);
    const bool per_step =
        has_time || (facts_.states.count(index) == 0 && (!b_.origins->any(AxisRole::kTime) || facts_.kept.count(input.name) != 0));
    const int64_t elems = feature_count(view);
    if (!b_.discovering && elems > int64_t{kMaxRowElems}) throw Refusal("a row of it has " + std::to_string(elems) + " elements");
    Value value;
    value.kind = ValueKind::kInput;
    value.dtype = use.kind == InputKind::kIndex ? DType::kI32 : DType::kF32;
    view.mask = use.kind == InputKind::kMask;
    view.whole = use.kind == InputKind::kWhole;
    view.bounds = bounds_of_type(input.elem_type);
    value.elems = static_cast<uint32_t>(std::min<int64_t>(elems, INT32_MAX));
    value.sequence = per_step && value.dtype == DType::kF32;
    value.input = index;
    view.value = b_.graph.add_value(value);
    b_.graph.inputs.push_back({input.name, view.value, 0, dims_of(view)});
    if (use.kind == InputKind::kIndex && use.rows > 0) b_.index_rows[view.value] = use.rows;
    if (input.elem_type != kOnnxFloat && use.kind != InputKind::kIndex)
      b_.graph.notes.push_back("input " + quote(input.name) + " is " + elem_type_name(input.elem_type) +
                               " in the file; the blob takes float32" +
                               (view.mask    ? ", 0 or 1"
                                : view.whole ? " that hold integers"
                                             : ""));
    bound = {Bound::Kind::kView, nullptr, view};
  }

  // Why an axis has to be fixed, and what fixes it.
  Refusal open_axis(const DeclaredInput &input, size_t axis, int origin) const {
    if (!input.loop.empty())
      return Refusal(
          "its body is no LSTM, GRU or RNN cell, and axis " + std::to_string(axis) +
              " of a state that it carries is open and not the batch of its steps; accepted: a fixed number of steps, 1024 "
              "at most, or steps written out one after the other (tf.keras: a fixed shape and unroll=True)",
          {model_.loop_sizes, ""});
    const std::string &name = input.dims[axis].name, beside = b_.origins->time_beside(origin);
    const std::string fixed = open_sizes_option(input, axis);
    return Refusal("its axis " + std::to_string(axis) + (name.empty() ? "" : " (" + quote(name) + ")") + " is open, and " +
                       (beside.empty() ? "no layer runs along all of it as it is; accepted: a fixed size"
                                       : "layers run along it and along " + quote(beside) +
                                             ", of which one is the number of steps; accepted: a fixed size of the other"),
                   {fixed.empty() ? std::vector<std::string>() : std::vector<std::string>{fixed},
                    beside.empty() ? "" : "or --dim " + beside + "=SIZE" + facts_.split_graph});
  }

  void read_node(const OnnxNode &node) {
    for (const std::string &name : node.output()) {
      if (!name.empty()) b_.bound[name] = {};
    }
    OpCall call{b_, node, Attributes(node), model_.opset, node_title(node)};
    const auto refusal = refusal_of([&] { read_call(call, node); });
    if (!refusal) return;
    problems_.add(call.name, title_of_operator(node), b_.origins->named(refusal->what()), refusal->remedy);
    note_sizes(node);
  }

  void note_sizes(const OnnxNode &node) {
    constexpr int64_t kLargest = 99999;
    const auto note = [&](double number) {
      const auto size = number > 1 && number <= double(kLargest) ? static_cast<int64_t>(number) : 0;
      const bool is_known = std::find(sizes_beside_.begin(), sizes_beside_.end(), size) != sizes_beside_.end();
      if (size > 1 && !is_known && sizes_beside_.size() < kMostSizesBeside) sizes_beside_.push_back(size);
    };
    for (const std::string &name : node.input()) {
      const auto found = b_.bound.find(name);
      if (found == b_.bound.end() || found->second.kind == Bound::Kind::kUnknown) continue;
      const Bound &operand = found->second;
      if (operand.kind == Bound::Kind::kView) {
        for (const int64_t size : view_shape(operand.view)) note(static_cast<double>(size));
      } else if (operand.tensor->elem == Elem::kInt && operand.tensor->size() <= int64_t{kBlobMaxRank}) {
        for (const double number : operand.tensor->data) note(number);
      } else {
        for (const int64_t size : operand.tensor->shape) note(static_cast<double>(size));
      }
    }
  }

  void read_call(OpCall &call, const OnnxNode &node) {
    if (!is_onnx_domain(node))
      throw Refusal("the operator is of domain " + quote(node.domain()) + "; accepted: standard ONNX operators");
    check_attributes(node, model_.opset);
    const ImportFn import = find_import(node.op_type());
    if (!import && !find_eval(node.op_type()))
      throw Refusal("the operator is not supported; see docs/OPERATORS.md for those that are");
    for (size_t i = 0; i < call.input_count(); ++i) {
      if (call.has(i) && call.input(i).kind == Bound::Kind::kUnknown) return;
    }
    if (node.op_type() == "If") {
      const bool is_known = call.is_const(0) && !call.input(0).tensor->is_dynamic();
      if (is_known) return bind_outputs(call, read_branch(taken_branch(node, *call.input(0).tensor)));
      if (!call.is_const(0) && read_both(call)) return;
    }
    if (fold(call)) return;
    if (!import) throw Refusal("the operator is only supported where all its inputs are constants" + call.run_time_input());
    const size_t values = b_.graph.values.size(), nodes = b_.graph.nodes.size();
    import(call);
    charge_made(values, nodes);
  }

  // What the node copied out of constants: one constant may feed any number of nodes.
  void charge_made(size_t values, size_t nodes) {
    int64_t elements = 0;
    for (size_t i = values; i < b_.graph.values.size(); ++i) elements += static_cast<int64_t>(b_.graph.values[i].f32.size());
    for (size_t i = nodes; i < b_.graph.nodes.size(); ++i) elements += static_cast<int64_t>(stored_elements(b_.graph.nodes[i]));
    const auto refusal = refusal_of([&] { Budget::charge_elements(elements); });
    if (!refusal) return;
    for (size_t i = values; i < b_.graph.values.size(); ++i) b_.graph.values[i].f32 = {};
    b_.graph.nodes.erase(b_.graph.nodes.begin() + static_cast<std::ptrdiff_t>(nodes), b_.graph.nodes.end());
    throw *refusal;
  }

  // The branch's nodes in the place of the If. Names made inside hide those outside until its end.
  std::vector<Bound> read_branch(const OnnxGraph &branch) {
    std::map<std::string, Bound> hidden;
    const std::vector<std::string> made = names_made(branch);
    for (const std::string &name : made) {
      const auto found = b_.bound.find(name);
      if (found != b_.bound.end()) hidden.insert(*found);
    }
    for (const OnnxTensor &constant : branch.initializer()) {
      b_.bound[constant.name()] = {Bound::Kind::kConst, constant.tensor(), {}};
    }
    for (const OnnxNode &node : branch.node()) read_node(node);
    std::vector<Bound> results;
    for (const OnnxValue &output : branch.output()) {
      const auto found = b_.bound.find(output.name());
      if (found == b_.bound.end()) throw Refusal("output " + quote(output.name()) + " of its branch is made by nothing");
      results.push_back(found->second);
    }
    for (const std::string &name : made) b_.bound.erase(name);
    for (auto &outer : hidden) b_.bound[outer.first] = std::move(outer.second);
    return results;
  }

  // The condition is computed at run time: both branches run, and it chooses between their results. False where they cannot be
  // read, or differ in shape.
  bool read_both(OpCall &call) {
    View condition = call.mask_view(0);
    const auto is_one = [&](const Axis &axis) { return axis.empty() || (b_.discovering && axis_size(axis) == 1); };
    if (!std::all_of(condition.axes.begin(), condition.axes.end(), is_one)) return false;
    condition.axes.clear();
    const Problems before = std::exchange(problems_, {});
    std::vector<Bound> x, y;
    const auto refusal = refusal_of([&] {
      x = read_branch(branch_of(call.node, true));
      y = read_branch(branch_of(call.node, false));
    });
    const bool is_read = std::exchange(problems_, before).empty();
    if (refusal) throw *refusal;
    const auto have_one_shape = [](const Bound &a, const Bound &b) { return shape_of(a) == shape_of(b); };
    if (!is_read || !std::equal(x.begin(), x.end(), y.begin(), y.end(), have_one_shape)) return false;
    std::vector<Bound> results;
    for (size_t i = 0; i < x.size(); ++i) results.push_back(call.wants(i) ? chosen_result(call, condition, x[i], y[i]) : Bound{});
    bind_outputs(call, std::move(results));
    b_.graph.notes.push_back("node " + quote(call.name) +
                             " (If): both branches run, and its condition chooses between the results");
    return true;
  }

  static std::vector<int64_t> shape_of(const Bound &bound) {
    if (bound.kind == Bound::Kind::kConst) return bound.tensor->shape;
    return bound.kind == Bound::Kind::kView ? view_shape(bound.view) : std::vector<int64_t>();
  }

  // As Where has it.
  Bound chosen_result(const OpCall &call, const View &condition, const Bound &x, const Bound &y) {
    const std::string names[4] = {"rnnpack.if", "rnnpack.then", "rnnpack.else", "rnnpack.chosen"};
    OnnxNode node;
    node.set_op_type("Where");
    for (int i = 0; i < 3; ++i) node.add_input(names[i]);
    node.add_output(names[3]);
    b_.bound[names[0]] = {Bound::Kind::kView, nullptr, condition};
    b_.bound[names[1]] = x;
    b_.bound[names[2]] = y;
    b_.bound[names[3]] = {};
    OpCall where{b_, node, Attributes(node), model_.opset, call.name};
    read_call(where, node);
    return b_.bound.at(names[3]);
  }

  void bind_outputs(OpCall &call, std::vector<Bound> results) {
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
      const auto refusal = refusal_of([&] { add_output(name, &used); });
      if (refusal) problems_.add("", "output " + quote(name), *refusal);
    }
    if (problems_.empty()) add_joints(&used);
  }

  // Those that cannot be outputs are left out.
  void add_joints(std::set<uint32_t> *used) {
    for (const std::string &name : model_.joints) {
      const auto bound = b_.bound.find(name);
      if (bound != b_.bound.end() && bound->second.kind == Bound::Kind::kView) refusal_of([&] { add_output(name, used); });
    }
  }

  // Where nodes were refused: what can be said of outputs all the same.
  void check_outputs() {
    for (const std::string &name : model_.outputs) {
      const auto bound = b_.bound.find(name);  // not there where reading ended early
      if (bound == b_.bound.end() || bound->second.kind != Bound::Kind::kView) continue;
      const auto refusal = refusal_of([&] { settled(b_, bound->second.view, name); });
      if (refusal) problems_.add("", "output " + quote(name), *refusal);
    }
  }

  // Back to the order of the inputs.
  static void reverse_one_row(View *view) {
    const auto is = [&](size_t axis, Atom::Kind kind) {
      return view->axes[axis].size() == 1 && view->axes[axis][0].kind == kind && view->axes[axis][0].size == 1;
    };
    if (view->axes.size() > 1 && is(0, Atom::Kind::kTime) && is(1, Atom::Kind::kBatch)) std::swap(view->axes[0], view->axes[1]);
  }

  // In the file too, so that what changes from step to step needs an axis for them; with states that the user ties, the file is of
  // one step.
  bool many_steps() const {
    const bool tied = std::any_of(model_.inputs.begin(), model_.inputs.end(), [&](const DeclaredInput &input) {
      return input.loop.empty() && facts_.kept.count(input.name) != 0;
    });
    return !tied && b_.origins->any(AxisRole::kTime) && (b_.time_dynamic || b_.time_size != 1);
  }

  void add_output(const std::string &name, std::set<uint32_t> *used) {
    const auto found = b_.bound.find(name);
    if (found == b_.bound.end() || found->second.kind == Bound::Kind::kUnknown) throw Refusal("it has no elements");
    const Bound &bound = found->second;
    const bool constant = bound.kind == Bound::Kind::kConst;
    if (!constant) check_not_quantized(bound.view, "it");
    if (constant && bound.tensor->is_dynamic()) throw Refusal("its value depends on the number of steps or batch rows");
    // It would be given once per batch row. Where the batch axis is only a guess, fixed dimensions give it as it is.
    if (constant && !has_recurrent(model_) && b_.origins->any(AxisRole::kBatch))
      throw Refusal("it is a constant; accepted: outputs computed from inputs, or inputs of fixed dimensions");
    View view = constant ? b_.const_view(*bound.tensor) : settled(b_, bound.view, name);
    if (b_.one_row_reversed) reverse_one_row(&view);
    const ValueKind kind = b_.graph.values[view.value].kind;
    const bool made = kind == ValueKind::kSequence || kind == ValueKind::kRow;
    bool has_steps = false;
    for (const Axis &axis : view.axes) {
      for (const Atom &atom : axis) has_steps = has_steps || atom.kind == Atom::Kind::kTime;
    }
    const bool per_step = has_steps || b_.is_sequence(view);
    if (b_.is_sequence(view) && !has_steps && many_steps() && facts_.kept.count(name) == 0)
      throw Refusal("it changes from step to step, and " + view_text(view) + " has no time axis");
    // Every output is a value of its own, whole and in order, so that the runtime can write it straight to the caller's buffer.
    if (!made || used->count(view.value) || !is_dense(view, b_.row_elems(view)) || per_step != b_.is_sequence(view)) {
      view = b_.copied(view, per_step, name);
    }
    used->insert(view.value);
    Io io{name, view.value, static_cast<uint32_t>(per_step ? RNNP_ROLE_SEQUENCE : RNNP_ROLE_PER_RUN), dims_of(view)};
    if (io.dims.size() > kBlobMaxRank) throw Refusal("its rank is " + std::to_string(io.dims.size()) + "; accepted: up to 8");
    if (io.dims.size() > view.axes.size()) {
      b_.graph.notes.push_back("output " + quote(name) + " " + view_text(view) +
                               " is given with steps and batch as axes of their own; its elements are in the same order");
    }
    b_.graph.outputs.push_back(std::move(io));
  }

  static constexpr size_t kMostSizesBeside = 4;
  std::vector<int64_t> sizes_beside_;
  const OnnxModel &model_;
  const InputFacts &facts_;
  const std::vector<InputUse> uses_ = input_uses(model_);
  Builder b_;
  Problems problems_;
};

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IMPORT_GRAPH_READER_H_
