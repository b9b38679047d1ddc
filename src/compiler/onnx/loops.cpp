// loops.cpp -- Contract: loops.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/loops.h"

#include <algorithm>
#include <functional>
#include <set>

#include "compiler/onnx/attributes.h"
#include "compiler/onnx/match_cell.h"
#include "compiler/onnx/problem.h"
#include "compiler/onnx/rewrite.h"
#include "compiler/onnx/subgraph.h"

namespace rnnp::compiler {
namespace {

using onnx::GraphProto;
using onnx::NodeProto;

// A loop as what it is: names inside the body on one side, names of the graph around it on the other.
struct LoopForm {
  struct State {
    std::string before, after, start, final;
    const onnx::ValueInfoProto *info;
  };
  struct Steps {
    std::string each, all;  // one step's operand or result in the body; the whole sequence outside
  };
  const GraphProto *body = nullptr;
  std::string trips;  // empty: as many as the sequence has steps
  std::vector<State> states;
  std::vector<Steps> reads, makes;
  std::vector<const NodeProto *> nodes;           // of the body, without the reads
  std::map<std::string, std::string> outer_name;  // body inputs that are always the same
};

class LoopReader {
 public:
  explicit LoopReader(const OnnxModel &model) : model_(model) {}

  // False where it is no loop over the steps of sequences.
  bool read(const NodeProto &node, LoopForm *form) const {
    const onnx::AttributeProto *attribute = Attributes(node).find("body");
    if (attribute == nullptr || attribute->type() != onnx::AttributeProto::GRAPH) return false;
    form->body = &attribute->g();
    if (form->body->sparse_initializer_size() > 0) return false;
    return node.op_type() == "Loop" ? read_loop(node, form) : read_scan(node, form);
  }

 private:
  const NodeProto *maker(const GraphProto &body, const std::string &name) const {
    for (const NodeProto &node : body.node()) {
      if (std::find(node.output().begin(), node.output().end(), name) != node.output().end()) return &node;
    }
    return nullptr;
  }

  std::string source(const GraphProto &body, std::string name) const {
    for (int i = 0; i < body.node_size(); ++i) {
      const NodeProto *node = maker(body, name);
      if (node == nullptr || node->op_type() != "Identity" || node->input_size() != 1) break;
      name = node->input(0);
    }
    return name;
  }

  bool is_number(const GraphProto &body, const std::string &name, double value) const {
    for (const onnx::TensorProto &constant : body.initializer()) {
      if (constant.name() == name) return is_scalar(read_tensor(constant), value);
    }
    const auto found = model_.constants.find(name);
    if (found != model_.constants.end()) return is_scalar(*found->second, value);
    const NodeProto *node = maker(body, name);
    const onnx::AttributeProto *t = node != nullptr && node->op_type() == "Constant" ? Attributes(*node).find("value") : nullptr;
    return t != nullptr && t->type() == onnx::AttributeProto::TENSOR && is_scalar(read_tensor(t->t()), value);
  }

  static bool is_scalar(const Tensor &t, double value) { return t.size() == 1 && t.data[0] == value; }

  // A number that starts at 0 and grows by one: the step's.
  bool is_counter(const GraphProto &body, const std::string &before, const std::string &after, const std::string &start) const {
    const NodeProto *add = maker(body, after);
    if (add == nullptr || add->op_type() != "Add" || add->input_size() != 2 || !is_number(body, start, 0)) return false;
    for (int i = 0; i < 2; ++i) {
      if (source(body, add->input(i)) == before && is_number(body, add->input(1 - i), 1)) return true;
    }
    return false;
  }

  bool read_loop(const NodeProto &node, LoopForm *form) const {
    const GraphProto &body = *form->body;
    const int carried = node.input_size() - 2;
    if (carried < 1 || body.input_size() != carried + 2 || body.output_size() != node.output_size() + 1 ||
        node.output_size() < carried || node.input(0).empty())
      return false;
    form->trips = node.input(0);
    std::set<std::string> counters = {body.input(0).name()};
    for (int i = 0; i < carried; ++i) {
      const std::string before = body.input(i + 2).name(), after = source(body, body.output(i + 1).name());
      if (after == before) {
        form->outer_name[before] = node.input(i + 2);
      } else if (is_counter(body, before, after, node.input(i + 2))) {
        counters.insert(before);
      } else {
        form->states.push_back({before, body.output(i + 1).name(), node.input(i + 2), node.output(i), &body.input(i + 2)});
      }
    }
    for (int i = carried; i < node.output_size(); ++i) form->makes.push_back({body.output(i + 1).name(), node.output(i)});
    take_reads(counters, form);
    return !form->reads.empty();
  }

  // Gather(X, i) is X's step; what else uses i must be the condition alone, which nothing reads any more.
  void take_reads(const std::set<std::string> &counters, LoopForm *form) const {
    const GraphProto &body = *form->body;
    std::set<std::string> inner;
    for (const NodeProto &node : body.node()) inner.insert(node.output().begin(), node.output().end());
    for (const NodeProto &node : body.node()) {
      const bool steps = node.op_type() == "Gather" && node.input_size() == 2 && Attributes(node).integer("axis", 0) == 0 &&
                         counters.count(source(body, node.input(1))) != 0;
      const std::string from = steps ? source(body, node.input(0)) : "";
      const auto outer = form->outer_name.find(from);
      if (steps && (outer != form->outer_name.end() || inner.count(from) == 0)) {
        form->reads.push_back({node.output(0), outer != form->outer_name.end() ? outer->second : from});
      } else {
        form->nodes.push_back(&node);
      }
    }
  }

  bool read_scan(const NodeProto &node, LoopForm *form) const {
    const GraphProto &body = *form->body;
    const Attributes a(node);
    const int64_t steps = a.integer("num_scan_inputs", 0);
    const int states = node.input_size() - static_cast<int>(steps);
    if (model_.opset < 9 || steps < 1 || states < 0 || body.input_size() != node.input_size() ||
        body.output_size() != node.output_size() || node.output_size() < states)
      return false;
    for (const char *name : {"scan_input_axes", "scan_output_axes", "scan_input_directions", "scan_output_directions"}) {
      const std::vector<int64_t> given = a.integers(name);
      if (std::any_of(given.begin(), given.end(), [](int64_t v) { return v != 0; })) return false;
    }
    for (int i = 0; i < states; ++i)
      form->states.push_back({body.input(i).name(), body.output(i).name(), node.input(i), node.output(i), &body.input(i)});
    for (int i = states; i < node.input_size(); ++i) form->reads.push_back({body.input(i).name(), node.input(i)});
    for (int i = states; i < node.output_size(); ++i) form->makes.push_back({body.output(i).name(), node.output(i)});
    for (const NodeProto &inner : body.node()) form->nodes.push_back(&inner);
    return true;
  }

  const OnnxModel &model_;
};

class Expander {
 public:
  explicit Expander(const OnnxModel &model) : model_(model), rewrite_(model) {}

  WithoutLoops run() {
    bool any = false;
    for (const NodeProto *node : model_.nodes) {
      LoopForm form;
      if ((node->op_type() != "Loop" && node->op_type() != "Scan") || !LoopReader(model_).read(*node, &form)) {
        rewrite_.keep(node);
        continue;
      }
      any = true;
      if (!write_layer(*node, form)) write_steps(*node, form);
    }
    if (any) out_.model = rewrite_.done();
    return std::move(out_);
  }

 private:
  // All that a step reads which does not change: the body's own constants and the graph's.
  StepGraph step_of(const LoopForm &form) const {
    StepGraph step;
    step.nodes = form.nodes;
    step.opset = model_.opset;
    step.constants = model_.constants;
    for (const onnx::TensorProto &constant : form.body->initializer())
      step.constants[constant.name()] = std::make_shared<const Tensor>(read_tensor(constant));
    for (const auto &name : form.outer_name) {
      const auto found = model_.constants.find(name.second);
      if (found != model_.constants.end()) step.constants[name.first] = found->second;
    }
    return step;
  }

  // A layer gives h at every step and its states at the end.
  bool write_layer(const NodeProto &node, const LoopForm &form) {
    if (form.reads.size() != 1) return false;
    StepGraph step = step_of(form);
    step.x = form.reads[0].each;
    // A second state may be a copy of h: what the step before gave out.
    std::vector<size_t> kept;
    for (size_t i = 0; i < form.states.size(); ++i) {
      kept.push_back(i);
      step.before.push_back(form.states[i].before);
      step.after.push_back(form.states[i].after);
    }
    const std::optional<MatchedCell> cell = match_cell(step);
    if (!cell) return false;
    const LoopForm::State &h = form.states[kept[cell->h]];
    for (const LoopForm::Steps &made : form.makes) {
      if (origin(form, made.each) != origin(form, h.after)) return false;
    }
    const std::string at = node_title(node) + ":layer";
    check_trips(node, form, form.reads[0].all);
    rewrite_.set_constant(at + ":w", cell->w);
    rewrite_.set_constant(at + ":r", cell->r);
    rewrite_.set_constant(at + ":b", cell->b);
    rewrite_.reshaping("Unsqueeze", h.start, at + ":h", {0});
    std::vector<std::string> in = {form.reads[0].all, at + ":w", at + ":r", at + ":b", "", at + ":h"};
    std::vector<std::string> out = {at + ":y", at + ":hn"};
    const bool lstm = cell->op == "LSTM";
    if (lstm) {
      rewrite_.reshaping("Unsqueeze", form.states[kept[cell->c]].start, at + ":c", {0});
      in.push_back(at + ":c");
      out.push_back(at + ":cn");
    }
    NodeProto *layer = rewrite_.add(cell->op, node_title(node), in, out);
    set_attribute(layer, "hidden_size", cell->hidden);
    set_attribute(layer, "activations", cell->activations);
    add_numbers(layer, "activation_alpha", cell->alphas);
    add_numbers(layer, "activation_beta", cell->betas);
    if (cell->op == "GRU") set_attribute(layer, "linear_before_reset", cell->linear_before_reset);
    for (const LoopForm::Steps &made : form.makes) rewrite_.reshaping("Squeeze", at + ":y", made.all, {1});
    if (!h.final.empty()) rewrite_.reshaping("Squeeze", at + ":hn", h.final, {0});
    if (lstm && !form.states[kept[cell->c]].final.empty())
      rewrite_.reshaping("Squeeze", at + ":cn", form.states[kept[cell->c]].final, {0});
    out_.layers.push_back(node_title(node));
    return true;
  }

  static void add_numbers(NodeProto *node, const char *name, const std::vector<float> &values) {
    if (values.empty()) return;
    onnx::AttributeProto *attribute = node->add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::FLOATS);
    for (const float value : values) attribute->add_floats(value);
  }

  static std::string origin(const LoopForm &form, std::string name) {
    for (size_t i = 0; i < form.nodes.size(); ++i) {
      const auto maker = std::find_if(form.nodes.begin(), form.nodes.end(), [&](const NodeProto *node) {
        return node->op_type() == "Identity" && node->output_size() == 1 && node->output(0) == name;
      });
      if (maker == form.nodes.end()) break;
      name = (*maker)->input(0);
    }
    return name;
  }

  // The body's nodes in the place of the loop, under names of their own.
  void write_steps(const NodeProto &node, const LoopForm &form) {
    const std::string at = node_title(node) + "/";
    std::map<std::string, std::string> names = form.outer_name;
    const auto inside = [&](const std::string &name) {
      const auto found = names.find(name);
      return found == names.end() ? name : found->second;
    };
    for (const onnx::TensorProto &constant : form.body->initializer()) {
      names[constant.name()] = at + constant.name();
      rewrite_.set_constant(at + constant.name(), read_tensor(constant));
    }
    for (const LoopForm::Steps &read : form.reads) {
      names[read.each] = at + read.each;
      rewrite_.add(kStepOf, node_title(node), {read.all}, {at + read.each});
      check_trips(node, form, read.all);
    }
    for (const LoopForm::State &state : form.states) {
      names[state.before] = at + state.before;
      add_state(node, state, at);
    }
    for (const NodeProto *inner : form.nodes) {
      for (const std::string &name : inner->output()) names[name] = at + name;
    }
    for (const NodeProto *inner : form.nodes) {
      NodeProto *copy = rewrite_.copied(*inner);
      for (std::string &name : *copy->mutable_input()) name = inside(name);
      for (std::string &name : *copy->mutable_output()) name = inside(name);
      rewrite_.keep(copy);
    }
    const std::string &sequence = form.reads[0].all;
    for (const LoopForm::State &state : form.states) {
      const std::string after = at + state.before + ":next";
      rewrite_.add("Identity", node_title(node), {inside(state.after)}, {after});
      rewrite_.model().outputs.push_back(after);
      out_.states.emplace_back(at + state.before, after);
      if (!state.final.empty()) rewrite_.add(kLastStep, node_title(node), {after, sequence}, {state.final});
    }
    for (const LoopForm::Steps &made : form.makes)
      rewrite_.add(kStepsOf, node_title(node), {inside(made.each), sequence}, {made.all});
  }

  void check_trips(const NodeProto &node, const LoopForm &form, const std::string &sequence) {
    if (!form.trips.empty()) rewrite_.add(kTripsOf, node_title(node), {form.trips, sequence}, {});
  }

  void add_state(const NodeProto &node, const LoopForm::State &state, const std::string &at) {
    DeclaredInput input;
    input.name = at + state.before;
    input.elem_type = onnx::TensorProto::FLOAT;
    for (const auto &dim : state.info->type().tensor_type().shape().dim())
      input.dims.push_back({dim.has_dim_value() && dim.dim_value() > 0 ? dim.dim_value() : 0, ""});
    rewrite_.model().inputs.push_back(input);
    rewrite_.add(kStartsAtZero, node_title(node), {state.start}, {});
  }

  const OnnxModel &model_;
  Rewrite rewrite_;
  WithoutLoops out_;
};

}  // namespace

WithoutLoops expand_loops(const OnnxModel &model) {
  const bool any = std::any_of(model.nodes.begin(), model.nodes.end(),
                               [](const NodeProto *node) { return node->op_type() == "Loop" || node->op_type() == "Scan"; });
  return any ? Expander(model).run() : WithoutLoops{};
}

}  // namespace rnnp::compiler
