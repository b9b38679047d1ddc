// loops.cpp -- Contract: loops.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/rewrites/loops.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "compiler/onnx/attributes.h"
#include "compiler/onnx/problem.h"
#include "compiler/onnx/refusal_of.h"
#include "compiler/onnx/rewrite.h"
#include "compiler/onnx/subgraph.h"
#include "compiler/rewrites/loop_form.h"
#include "compiler/rewrites/row_products.h"
#include "compiler/rewrites/start_shape.h"
#include "compiler/rewrites/step_layers.h"
#include "compiler/rewrites/step_sums.h"

namespace rnnp::compiler {
namespace {

class Expander {
 public:
  explicit Expander(const OnnxModel &model) : model_(model), rewrite_(model) {}

  WithoutLoops run() {
    bool any = false;
    Problems problems;
    std::map<const OnnxNode *, Plan> plans;
    const std::set<std::string> constants = computed_constants(model_.nodes, model_.constants);
    for (const OnnxNode *node : model_.nodes) {
      const auto refusal = refusal_of([&] {
        if (std::optional<LoopForm> form = read_loop_form(model_, *node, constants)) plans.emplace(node, plan_of(std::move(*form)));
      });
      if (refusal) problems.add(node_title(*node), node->op_type(), *refusal);
    }
    keeps_none_ = !plans.empty() && keep_none(plans);
    for (const auto &plan : plans) {
      if (keeps_none_ && plan.second.layers.empty()) name_open_sizes(plan.second.form);
    }
    for (const OnnxNode *node : model_.nodes) {
      const auto plan = plans.find(node);
      bool written = false;
      const auto refusal = refusal_of([&] { written = plan != plans.end() && write_loop(*node, plan->second); });
      if (refusal) problems.add(node_title(*node), node->op_type(), *refusal);
      if (!written) rewrite_.keep(node);
      any = any || written;
    }
    problems.raise();
    if (any) out_.model = rewrite_.done();
    return std::move(out_);
  }

 private:
  struct Plan {
    LoopForm form;
    std::vector<StepLayer> layers;
  };

  Plan plan_of(LoopForm form) {
    std::vector<std::string> made;
    for (const LoopForm::Steps &each : form.makes) made.push_back(each.each);
    std::vector<StepLayer> layers;
    if (steps_are_alike(form)) {
      StepGraph step = step_of(form);
      form.nodes = step.nodes = with_row_products(step, &rewrite_);
      layers = layers_of_step(step, made);
      if (ends_with_other_states(form, layers)) layers.clear();
    }
    return {std::move(form), std::move(layers)};
  }

  bool write_loop(const OnnxNode &node, const Plan &plan) {
    const LoopForm &form = plan.form;
    const int64_t fixed = keeps_none_ || !steps_are_alike(form) ? fixed_steps(form) : 0;
    if (!plan.layers.empty()) {
      write_layers(node, form, plan.layers);
    } else if (fixed <= 0 && (!steps_are_alike(form) || !all_shapes_known(form))) {
      return false;
    } else if (!form.reverse) {
      write_forward(node, form, fixed);
    } else if (form.numbered) {
      return false;
    } else {
      write_backward(node, form, fixed);
    }
    write_counts(node, form, fixed);
    return true;
  }

  // Whether it reads sequences: constants with an element for each step are none.
  static bool over_steps(const LoopForm &form) {
    return std::any_of(form.reads.begin(), form.reads.end(), [](const auto &read) { return !read.is_constant; });
  }

  static bool steps_are_alike(const LoopForm &form) { return over_steps(form) && !form.numbered; }

  // `fixed`: how often it runs where that is not the number of steps of its sequences.
  void write_counts(const OnnxNode &node, const LoopForm &form, int64_t fixed) {
    for (const std::string &count : form.counts) {
      if (fixed > 0)
        rewrite_.set_constant(count, scalar(fixed));
      else
        rewrite_.add("Identity", node_title(node), {outer(form, form.trips[0].name)}, {count});
    }
  }

  static std::string outer(const LoopForm &form, const std::string &name) {
    const auto found = form.outer_name.find(name);
    return found == form.outer_name.end() ? name : found->second;
  }

  static Tensor scalar(int64_t value) {
    Tensor t(Elem::kInt, {});
    t.data[0] = static_cast<double>(value);
    return t;
  }

  // Whether the states of loops that are no layer cannot be kept from step to step: it matters to one which step it is, or it
  // begins where another layer ends, or ends where one begins.
  bool keep_none(const std::map<const OnnxNode *, Plan> &plans) const {
    const auto is_loop = [&](const OnnxNode *node) {
      const auto plan = plans.find(node);
      return plan != plans.end() && plan->second.layers.empty() && over_steps(plan->second.form);
    };
    const auto op_of = [](const OnnxNode *node) { return node == nullptr ? std::string() : node->op_type(); };
    for (const auto &[node, plan] : plans) {
      for (const LoopForm::State &state : plan.form.states) {
        const OnnxNode *from = origin(state.start);
        if (is_loop(from) || (is_loop(node) && (plans.count(from) != 0 || is_layer(op_of(from))))) return true;
      }
      if (is_loop(node) && plan.form.numbered) return true;
    }
    return std::any_of(model_.nodes.begin(), model_.nodes.end(), [&](const OnnxNode *node) {
      constexpr int kInitialH = 5, kInitialC = 6;
      if (!is_layer(node->op_type())) return false;
      for (int i = kInitialH; i <= kInitialC && i < node->input_size(); ++i) {
        if (is_loop(origin(node->input(i)))) return true;
      }
      return false;
    });
  }

  static bool is_layer(const std::string &op) { return op == "GRU" || op == "LSTM" || op == "RNN"; }

  // What makes a tensor, behind what only moves its numbers: of Slices one that turns an axis. nullptr: nothing does.
  const OnnxNode *origin(std::string name) const {
    static const std::set<std::string> kMoves = {"Cast", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"};
    constexpr int kDeepest = 64;
    for (int depth = 0; depth < kDeepest; ++depth) {
      const OnnxNode *maker = node_that_makes(model_, name);
      if (maker == nullptr || maker->input_size() == 0) return nullptr;
      const OnnxNode &node = *maker;
      if (node.op_type() == "Slice") {
        const auto steps = node.input_size() == 5 ? constant_ints(model_, node.input(4)) : std::nullopt;
        if (steps && std::any_of(steps->begin(), steps->end(), [](int64_t step) { return step < 0; })) return &node;
      } else if (kMoves.count(node.op_type()) == 0) {
        return &node;
      }
      name = node.input(0);
    }
    return nullptr;
  }

  static constexpr int64_t kMostSteps = 1024, kMostCopies = 1 << 17;

  // As the file says; 0: it leaves them open, or they are too many to be written out.
  int64_t fixed_steps(const LoopForm &form) const {
    const bool checked = over_steps(form);  // against the sequence: every number is its steps
    int64_t steps = kMostSteps + 1;
    for (const LoopForm::Trips &trips : form.trips) {
      const std::optional<int64_t> number = number_of(form, trips.name);
      if (!number && !checked) return 0;
      if (!number || (trips.of == LoopForm::Trips::kBegin && *number > 0 && !checked)) continue;
      steps = std::min(steps, *number + (trips.of == LoopForm::Trips::kOneMore && !checked ? 1 : 0));
    }
    if (form.trips.empty()) {  // a Scan
      for (const LoopForm::Steps &read : form.reads) {
        const auto constant = model_.constants.find(read.all);
        if (constant != model_.constants.end() && constant->second->rank() > 0) steps = constant->second->shape[0];
      }
    }
    return steps <= kMostSteps && copies_ + steps * static_cast<int64_t>(form.nodes.size()) <= kMostCopies ? steps : 0;
  }

  // From 0 to one more than may be written out.
  std::optional<int64_t> number_of(const LoopForm &form, const std::string &name) const {
    const Tensor *found = nullptr;
    for (const OnnxTensor &constant : form.body->initializer()) {
      if (constant.name() == name) found = constant.tensor().get();
    }
    const auto outside = model_.constants.find(outer(form, name));
    if (found == nullptr && outside != model_.constants.end()) found = outside->second.get();
    const double most = static_cast<double>(kMostSteps + 1);
    if (found != nullptr)  // a counter below 3.5 has passed 3
      return found->size() == 1 ? std::optional(static_cast<int64_t>(std::ceil(std::clamp(found->data[0], 0.0, most))))
                                : std::nullopt;
    const std::optional<DeclaredDim> size = number_or_size(model_, outer(form, name));
    return size && size->value > 0 ? std::optional(std::min(size->value, kMostSteps + 1)) : std::nullopt;
  }

  // Options that fix how many steps there are.
  void name_open_sizes(const LoopForm &form) {
    for (const LoopForm::Trips &trips : form.trips) {
      const std::optional<DeclaredDim> size = number_or_size(model_, outer(form, trips.name));
      if (!size || size->value != 0 || !is_plain(size->name)) continue;
      std::vector<std::string> &options = out_.sizes;
      const std::string option = "--dim " + size->name + "=SIZE";
      if (std::find(options.begin(), options.end(), option) == options.end()) options.push_back(option);
    }
  }

  // Zeros of any shape.
  bool is_zeros(std::string name) const {
    static const std::set<std::string> kKeeps = {"Cast", "Expand", "Identity", "Reshape", "Squeeze", "Tile", "Unsqueeze"};
    constexpr int kDeepest = 8;
    const auto are_zeros = [](const Tensor &t) {
      return std::all_of(t.data.begin(), t.data.end(), [](double v) { return v == 0; });
    };
    for (int depth = 0; depth < kDeepest; ++depth) {
      const auto constant = model_.constants.find(name);
      if (constant != model_.constants.end()) return are_zeros(*constant->second);
      const OnnxNode *node = node_that_makes(model_, name);
      if (node == nullptr) return false;
      const OnnxAttribute *value = Attributes(*node).find("value");
      if (node->op_type() == "ConstantOfShape") return value == nullptr || are_zeros(*value->t().tensor());
      if (kKeeps.count(node->op_type()) == 0 || node->input_size() == 0) return false;
      name = node->input(0);
    }
    return false;
  }

  // The graph's name of a constant that the body reads; zeros of any shape are a new one, `title`. Empty: it is none.
  std::string constant_outside(const LoopForm &form, const std::string &name, const std::string &title) {
    std::string from = outer(form, name);
    const bool is_state =
        std::any_of(form.states.begin(), form.states.end(), [&](const auto &state) { return state.before == name; });
    const bool is_step = std::any_of(form.reads.begin(), form.reads.end(), [&](const auto &read) { return read.each == name; });
    for (const OnnxTensor &constant : form.body->initializer()) {
      if (constant.name() != name) continue;
      rewrite_.set_constant(title, *constant.tensor());
      return title;
    }
    if (is_state || is_step) return "";
    if (model_.constants.count(from) != 0) return from;
    if (!is_zeros(from)) return "";
    rewrite_.set_constant(title, Tensor(Elem::kFloat, {}));
    return title;
  }

  // All that a step reads which does not change: the body's own constants and the graph's.
  StepGraph step_of(const LoopForm &form) const {
    StepGraph step;
    step.nodes = form.nodes;
    step.opset = model_.opset;
    step.constants = model_.constants;
    for (const LoopForm::State &state : form.states) {
      step.before.push_back(state.before);
      step.after.push_back(state.after);
      step.starts.push_back(is_zeros(state.start) ? "" : state.start);
    }
    for (const OnnxTensor &constant : form.body->initializer()) step.constants[constant.name()] = constant.tensor();
    for (const auto &name : form.outer_name) {
      const auto found = model_.constants.find(name.second);
      if (found != model_.constants.end()) step.constants[name.first] = found->second;
    }
    return step;
  }

  // A loop's body under names of its own: its constants, then nodes as they are asked for, and before them a view of each sequence
  // whose step they read.
  class Inside {
   public:
    // `step`: which one is written out; below 0: all of them at once.
    Inside(Expander *out, const OnnxNode &node, const LoopForm &form, int64_t step = -1)
        : out_(out), node_(node), form_(form), step_(step), at_(node_title(node) + "/") {
      names_ = form.outer_name;
      for (const OnnxTensor &constant : form.body->initializer()) {
        const std::string &name = own(constant.name());
        if (step <= 0) out_->rewrite_.set_constant(name, *constant.tensor());
      }
      if (step >= 0) {
        at_ += std::to_string(step) + "/";
        out_->rewrite_.set_constant(index(), scalar(step));
        for (const std::string &counter : form.counters) names_[counter] = index();
      }
      for (const LoopForm::Steps &read : form.reads) {
        own(read.each);
        step_of(read.each, read.all);
        if (step > 0 || read.is_constant) continue;
        for (const LoopForm::Trips &trips : form.trips)
          out_->rewrite_.add(kTripsOf, node_title(node), {of(trips.name), read.all}, {});
      }
      for (const LoopForm::State &state : form.states) own(state.before);
      for (const OnnxNode *inner : form.nodes) {
        for (const std::string &name : inner->output()) own(name);
      }
    }

    std::string of(const std::string &name) const {
      const auto found = names_.find(name);
      return found == names_.end() ? name : found->second;
    }
    void rename(const std::string &name, const std::string &to) { names_[name] = to; }
    // `each` is a step of the sequence `all`, which nodes behind may read.
    void step_of(const std::string &each, const std::string &all) {
      sequences_[each] = all;
      leaves_.insert(each);
    }
    void write(const std::set<std::string> &wanted) {
      for (const std::string &name : wanted) view(name);
      for (const OnnxNode *inner : nodes_behind(form_.nodes, wanted, leaves_)) {
        OnnxNode *copy = out_->rewrite_.copied(*inner);
        for (std::string &name : *copy->mutable_input()) {
          view(name);
          name = of(name);
        }
        for (std::string &name : *copy->mutable_output()) name = of(name);
        out_->rewrite_.keep(copy);
        leaves_.insert(inner->output().begin(), inner->output().end());
      }
    }

   private:
    std::string index() const { return at_ + ":index"; }
    const std::string &own(const std::string &name) { return names_[name] = at_ + name; }
    void view(const std::string &each) {
      const auto found = sequences_.find(each);
      if (found == sequences_.end()) return;
      if (step_ < 0) {
        out_->rewrite_.add(kStepOf, node_title(node_), {found->second}, {of(each)});
      } else {
        out_->rewrite_.add("Gather", node_title(node_), {found->second, index()}, {of(each)})->add_attribute("axis", int64_t{0});
      }
      sequences_.erase(found);
    }

    Expander *out_;
    const OnnxNode &node_;
    const LoopForm &form_;
    int64_t step_;
    std::string at_;
    std::map<std::string, std::string> names_;
    std::map<std::string, std::string> sequences_;  // steps that nothing has read yet
    std::set<std::string> leaves_;
  };

  // A layer gives h at every step and its states at the end.
  void write_layers(const OnnxNode &node, const LoopForm &form, const std::vector<StepLayer> &layers) {
    Inside inside(this, node, form);
    std::map<std::string, std::string> whole;  // names of the step that are there as sequences
    std::map<std::string, std::vector<std::string>> kept;
    for (const LoopForm::Steps &read : form.reads) whole[read.each] = read.all;
    const auto all_steps = [&](const std::string &each, const std::string &all) {
      const auto found = whole.find(origin_of(form.nodes, each));
      if (found != whole.end()) return found->second;
      inside.write({each});
      rewrite_.add(kStepsOf, node_title(node), {inside.of(each), form.reads[0].all}, {all});
      return all;
    };
    for (size_t i = 0; i < layers.size(); ++i) {
      const std::string at = node_title(node) + ":layer" + (i == 0 ? "" : std::to_string(i));
      std::string mask = layers[i].mask.empty() ? "" : all_steps(layers[i].mask, at + ":mask");
      if (layers[i].mask_holds) {
        rewrite_.add("Not", node_title(node), {mask}, {at + ":runs"});
        mask = at + ":runs";
      }
      const std::string y = write_layer(node, form, layers[i], at, all_steps(layers[i].x, at + ":x"), mask);
      std::vector<std::string> made = layers[i].same_as_h;
      if (made.empty()) made.push_back(origin_of(form.nodes, form.states[layers[i].h].after));
      for (const std::string &name : made) {
        inside.step_of(name, y);
        whole[name] = y;
      }
      for (const StepLayer::Kept &each : layers[i].kept) {
        const std::string other = constant_outside(form, each.other, at + ":other" + std::to_string(kept.size()));
        if (!other.empty()) kept[each.made] = {y, mask, other};
      }
    }
    for (const LoopForm::Steps &made : form.makes) {
      const auto chosen = kept.find(origin_of(form.nodes, made.each));
      if (chosen != kept.end()) {
        rewrite_.add(kKeptSteps, node_title(node), chosen->second, {made.all});
        continue;
      }
      const std::string all = all_steps(made.each, made.all);
      if (all != made.all) rewrite_.add("Identity", node_title(node), {all}, {made.all});
    }
    for (const LoopForm::State *state : write_finals(node, form, layers)) {
      inside.write({state->after});
      rewrite_.add(kLastStep, node_title(node), {inside.of(state->after), form.reads[0].all}, {state->final});
    }
    out_.layers.push_back(node_title(node));
  }

  // Gives the name of h at every step, [steps, batch, H].
  std::string write_layer(const OnnxNode &node, const LoopForm &form, const StepLayer &layer, const std::string &at,
                          const std::string &x, const std::string &mask) {
    const MatchedCell &cell = layer.cell;
    const std::vector<int64_t> axes = axes_before(form.states[layer.h]);
    rewrite_.reshaping("Unsqueeze", form.states[layer.h].start, at + ":h", axes);
    if (cell.has_c()) rewrite_.reshaping("Unsqueeze", form.states[layer.c].start, at + ":c", axes);
    const bool vector = axes.size() == 2;
    if (vector) rewrite_.reshaping("Unsqueeze", x, at + ":row", {1});
    add_layer(&rewrite_, cell, node_title(node), at, vector ? at + ":row" : x, form.reverse, mask);
    rewrite_.reshaping("Squeeze", at + ":y", at + ":steps", vector ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{1});
    const std::string &h = form.states[layer.h].final, &c = form.states[layer.c].final;
    if (!h.empty()) rewrite_.reshaping("Squeeze", at + ":hn", h, axes);
    if (cell.has_c() && !c.empty()) rewrite_.reshaping("Squeeze", at + ":cn", c, axes);
    return at + ":steps";
  }

  // What a layer's states have before the loop's: directions, and one row where the loop's are vectors.
  std::vector<int64_t> axes_before(const LoopForm::State &state) const {
    const auto shape = start_shape(model_, state.start);
    return shape && shape->size() == 1 ? std::vector<int64_t>{0, 1} : std::vector<int64_t>{0};
  }

  static bool is_of(const StepLayer &layer, size_t state) { return layer.h == state || (layer.cell.has_c() && layer.c == state); }

  static bool holds_h(const LoopForm &form, const StepLayer &layer, const LoopForm::State &state) {
    const std::string after = origin_of(form.nodes, state.after);
    return std::find(layer.same_as_h.begin(), layer.same_as_h.end(), after) != layer.same_as_h.end() ||
           origin_of(form.nodes, form.states[layer.h].after) == after;
  }

  // Of states that only hold a layer's h again. Gives those that are no layer's.
  std::vector<const LoopForm::State *> write_finals(const OnnxNode &node, const LoopForm &form,
                                                    const std::vector<StepLayer> &layers) {
    std::vector<const LoopForm::State *> others;
    for (size_t i = 0; i < form.states.size(); ++i) {
      const LoopForm::State &state = form.states[i];
      if (state.final.empty()) continue;
      if (std::any_of(layers.begin(), layers.end(), [&](const StepLayer &layer) { return is_of(layer, i); })) continue;
      size_t copied = layers.size();
      while (copied > 0 && !holds_h(form, layers[copied - 1], state)) --copied;
      if (copied == 0) {
        others.push_back(&state);
        continue;
      }
      const std::string at = node_title(node) + ":layer" + (copied == 1 ? "" : std::to_string(copied - 1));
      rewrite_.reshaping("Squeeze", at + ":hn", state.final, axes_before(state));
    }
    return others;
  }

  // A state that is no layer's ends with the first step of such a loop, which a layer does not give.
  bool ends_with_other_states(const LoopForm &form, const std::vector<StepLayer> &layers) const {
    for (size_t i = 0; form.reverse && i < form.states.size(); ++i) {
      const LoopForm::State &state = form.states[i];
      const bool is_layers = std::any_of(layers.begin(), layers.end(),
                                         [&](const StepLayer &layer) { return is_of(layer, i) || holds_h(form, layer, state); });
      if (!is_layers && is_read(state.final)) return true;
    }
    return false;
  }

  bool is_read(const std::string &name) const {
    if (name.empty()) return false;
    if (std::find(model_.outputs.begin(), model_.outputs.end(), name) != model_.outputs.end()) return true;
    return std::any_of(model_.nodes.begin(), model_.nodes.end(), [&](const OnnxNode *node) {
      const std::vector<std::string> read = names_read(*node);
      return std::find(read.begin(), read.end(), name) != read.end();
    });
  }

  // fixed: how many steps are written out; 0: none are.
  void write_forward(const OnnxNode &node, const LoopForm &form, int64_t fixed) {
    if (fixed > 0)
      write_out(node, form, fixed);
    else
      write_steps(node, form);
  }

  // From the last step to the first: forward, between sequences in reverse order.
  void write_backward(const OnnxNode &node, LoopForm form, int64_t fixed) {
    const std::vector<LoopForm::Steps> makes = form.makes;
    const std::string at = node_title(node);
    form.reverse = false;
    for (size_t i = 0; i < form.reads.size(); ++i) {
      const std::string all = form.reads[i].all;
      form.reads[i].all = at + ":turned" + std::to_string(i);
      turn(node, all, form.reads[i].all);
    }
    for (size_t i = 0; i < makes.size(); ++i) form.makes[i].all = at + ":made" + std::to_string(i);
    write_forward(node, form, fixed);
    for (size_t i = 0; i < makes.size(); ++i) turn(node, form.makes[i].all, makes[i].all);
  }

  void turn(const OnnxNode &node, const std::string &from, const std::string &to) {
    std::vector<std::string> operands = {from};
    for (const int64_t number : {int64_t{-1}, std::numeric_limits<int64_t>::min(), int64_t{0}, int64_t{-1}}) {
      operands.push_back(to + ":" + std::to_string(operands.size()));
      Tensor of_one(Elem::kInt, {1});
      of_one.data[0] = static_cast<double>(number);
      rewrite_.set_constant(operands.back(), of_one);
    }
    rewrite_.add("Slice", node_title(node), operands, {to});
  }

  // A state that is not among it is none: each step makes it anew.
  static std::set<std::string> read_by_body(const LoopForm &form, const std::set<std::string> &wanted) {
    std::set<std::string> read = wanted;
    for (const OnnxNode *node : nodes_behind(form.nodes, wanted, {})) {
      for (std::string &name : names_read(*node)) read.insert(std::move(name));
    }
    return read;
  }

  // The body's nodes in the place of the loop.
  void write_steps(const OnnxNode &node, const LoopForm &form) {
    Inside inside(this, node, form);
    std::set<std::string> wanted;
    for (const LoopForm::State &state : form.states) wanted.insert(state.after);
    for (const LoopForm::Steps &made : form.makes) wanted.insert(made.each);
    const std::set<std::string> read = read_by_body(form, wanted);
    for (const LoopForm::State &state : form.states) {
      if (read.count(state.before) != 0) add_state(node, state, inside.of(state.before));
    }
    inside.write(wanted);
    const std::string &sequence = form.reads[0].all;
    for (const LoopForm::State &state : form.states) {
      std::string after = inside.of(state.after);
      if (read.count(state.before) != 0) {
        after = inside.of(state.before) + ":next";
        rewrite_.add("Identity", node_title(node), {inside.of(state.after)}, {after});
        rewrite_.model().outputs.push_back(after);
        out_.states.emplace_back(inside.of(state.before), after);
      }
      if (!state.final.empty()) rewrite_.add(kLastStep, node_title(node), {after, sequence}, {state.final});
    }
    for (const LoopForm::Steps &made : form.makes)
      rewrite_.add(kStepsOf, node_title(node), {inside.of(made.each), sequence}, {made.all});
  }

  // Its body once for each step, the states of one read by the next.
  void write_out(const OnnxNode &node, const LoopForm &form, int64_t steps) {
    std::set<std::string> wanted;
    for (const LoopForm::State &state : form.states) wanted.insert(state.after);
    for (const LoopForm::Steps &made : form.makes) wanted.insert(made.each);
    std::vector<std::string> before;
    std::vector<std::vector<std::string>> parts(form.makes.size());
    for (const LoopForm::State &state : form.states) before.push_back(state.start);
    copies_ += steps * static_cast<int64_t>(form.nodes.size());
    for (int64_t t = 0; t < steps; ++t) {
      Inside inside(this, node, form, t);
      for (size_t i = 0; i < before.size(); ++i) inside.rename(form.states[i].before, before[i]);
      inside.write(wanted);
      for (size_t i = 0; i < before.size(); ++i) before[i] = inside.of(form.states[i].after);
      for (size_t i = 0; i < parts.size(); ++i) {
        parts[i].push_back(node_title(node) + "/" + std::to_string(t) + ":made" + std::to_string(i));
        rewrite_.reshaping("Unsqueeze", inside.of(form.makes[i].each), parts[i].back(), {0});
      }
    }
    for (size_t i = 0; i < before.size(); ++i) {
      if (!form.states[i].final.empty()) rewrite_.add("Identity", node_title(node), {before[i]}, {form.states[i].final});
    }
    for (size_t i = 0; i < parts.size(); ++i)
      rewrite_.add("Concat", node_title(node), parts[i], {form.makes[i].all})->add_attribute("axis", int64_t{0});
  }

  static bool declares_shape(const LoopForm::State &state) { return state.info->type().has_shape; }

  bool all_shapes_known(const LoopForm &form) const {
    return std::all_of(form.states.begin(), form.states.end(), [&](const LoopForm::State &state) {
      return declares_shape(state) || start_shape(model_, state.start).has_value();
    });
  }

  void add_state(const OnnxNode &node, const LoopForm::State &state, const std::string &name) {
    DeclaredInput input;
    input.name = name;
    input.elem_type = kOnnxFloat;
    input.loop = node_title(node);
    for (const OnnxValue::Dim &dim : state.info->type().dims) input.dims.push_back({std::max<int64_t>(dim.value, 0), ""});
    const std::optional<std::vector<DeclaredDim>> start = start_shape(model_, state.start);
    if (!declares_shape(state)) input.dims = *start;
    for (size_t i = 0; start && i < input.dims.size() && start->size() == input.dims.size(); ++i) {
      if (input.dims[i].value == 0) input.dims[i].value = (*start)[i].value;
    }
    rewrite_.model().inputs.push_back(input);
    rewrite_.add(kStartsAt, node_title(node), {state.start, name}, {});
  }

  const OnnxModel &model_;
  Rewrite rewrite_;
  WithoutLoops out_;
  bool keeps_none_ = false;  // some loop that is no layer
  int64_t copies_ = 0;       // of nodes, written out
};

}  // namespace

WithoutLoops expand_loops(const OnnxModel &model) {
  const bool any = std::any_of(model.nodes.begin(), model.nodes.end(),
                               [](const OnnxNode *node) { return node->op_type() == "Loop" || node->op_type() == "Scan"; });
  return any ? Expander(model).run() : WithoutLoops{};
}

}  // namespace rnnp::compiler
