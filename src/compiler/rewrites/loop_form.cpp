// loop_form.cpp -- Contract: loop_form.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/rewrites/loop_form.h"

#include <algorithm>
#include <set>

#include "compiler/onnx/attributes.h"
#include "compiler/rewrites/step_layers.h"

namespace rnnp::compiler {
namespace {

class LoopReader {
 public:
  explicit LoopReader(const OnnxModel &model) : model_(model) {}

  // False where it is no loop over the steps of sequences.
  bool read(const OnnxNode &node, LoopForm *form) const {
    const OnnxAttribute *attribute = Attributes(node).find("body");
    if (attribute == nullptr || attribute->type() != OnnxAttribute::kGraph) return false;
    form->body = &attribute->g();
    if (form->body->has_sparse_initializers()) return false;
    return node.op_type() == "Loop" ? read_loop(node, form) : read_scan(node, form);
  }

 private:
  static bool makes(const OnnxNode &node, const std::string &name) {
    return std::find(node.output().begin(), node.output().end(), name) != node.output().end();
  }

  static const OnnxNode *maker(const OnnxGraph &body, const std::string &name) {
    for (const OnnxNode &node : body.node()) {
      if (makes(node, name)) return &node;
    }
    return nullptr;
  }

  // What a name is another name of, also as another type where `casts`.
  static std::string source(const OnnxGraph &body, std::string name, bool casts = false) {
    for (int i = 0; i < body.node_size(); ++i) {
      const OnnxNode *node = maker(body, name);
      if (node == nullptr || node->input_size() != 1 || !(node->op_type() == "Identity" || (casts && node->op_type() == "Cast")))
        break;
      name = node->input(0);
    }
    return name;
  }

  bool is_number(const OnnxGraph &body, const std::string &name, double value) const {
    for (const OnnxTensor &constant : body.initializer()) {
      if (constant.name() == name) return is_scalar(*constant.tensor(), value);
    }
    const auto found = model_.constants.find(name);
    return found != model_.constants.end() && is_scalar(*found->second, value);
  }

  static bool is_scalar(const Tensor &t, double value) { return t.size() == 1 && t.data[0] == value; }

  // A number that starts at 0 and grows by one: the step's.
  bool is_counter(const OnnxGraph &body, const std::string &before, const std::string &after, const std::string &start) const {
    const OnnxNode *add = maker(body, after);
    if (add == nullptr || add->op_type() != "Add" || add->input_size() != 2 || !is_number(body, start, 0)) return false;
    for (int i = 0; i < 2; ++i) {
      if (source(body, add->input(i)) == before && is_number(body, add->input(1 - i), 1)) return true;
    }
    return false;
  }

  bool read_loop(const OnnxNode &node, LoopForm *form) const {
    const OnnxGraph &body = *form->body;
    const int carried = node.input_size() - 2;
    if (carried < 1 || body.input_size() != carried + 2 || body.output_size() != node.output_size() + 1 ||
        node.output_size() < carried)
      return false;
    std::set<std::string> &counters = form->counters, counted;
    counters = {body.input(0).name()};
    for (int i = 0; i < carried; ++i) {
      const std::string before = body.input(i + 2).name(), after = source(body, body.output(i + 1).name(), true);
      if (source(body, body.output(i + 1).name()) == before) {
        form->outer_name[before] = node.input(i + 2);
      } else if (body.input(i + 2).type().elem_type != kOnnxFloat && is_counter(body, before, after, node.input(i + 2))) {
        counters.insert(before);
        counted.insert(after);
        if (!node.output(i).empty()) form->counts.push_back(node.output(i));
      } else {
        form->states.push_back({before, body.output(i + 1).name(), node.input(i + 2), node.output(i), &body.input(i + 2)});
      }
    }
    for (int i = carried; i < node.output_size(); ++i) form->makes.push_back({body.output(i + 1).name(), node.output(i)});
    take_reads(counters, form);
    form->numbered = computes_with(counters, *form);
    return take_trips(node, counters, counted, form);
  }

  // Whether anything but the reads and the condition needs the number of the step.
  static bool computes_with(const std::set<std::string> &counters, const LoopForm &form) {
    std::set<std::string> wanted;
    for (const LoopForm::State &state : form.states) wanted.insert(state.after);
    for (const LoopForm::Steps &made : form.makes) wanted.insert(made.each);
    const std::vector<const OnnxNode *> needed = nodes_behind(form.nodes, wanted, {});
    return std::any_of(needed.begin(), needed.end(), [&](const OnnxNode *each) {
      return std::any_of(each->input().begin(), each->input().end(),
                         [&](const std::string &name) { return counters.count(name) != 0; });
    });
  }

  // How often the body runs: M times, unless the condition ends the loop. A condition that only counts is a number of trips, too.
  bool take_trips(const OnnxNode &node, const std::set<std::string> &counters, const std::set<std::string> &counted,
                  LoopForm *form) const {
    if (!node.input(0).empty()) form->trips.push_back({node.input(0), LoopForm::Trips::kMost});
    bool ends = !form->trips.empty();
    return begins(node.input(1), form) && goes_on(form->body->output(0).name(), counters, counted, form, &ends) && ends;
  }

  // Whether the condition before the loop holds where there is a step: nothing, true, or 0 < trips.
  bool begins(std::string name, LoopForm *form) const {
    const auto constant = model_.constants.find(name);
    if (name.empty() || (constant != model_.constants.end() && is_scalar(*constant->second, 1))) return true;
    const OnnxNode *node = node_that_makes(model_, name);
    if (node == nullptr || node->input_size() != 2) return false;
    if (node->op_type() == "And") return begins(node->input(0), form) && begins(node->input(1), form);
    if (node->op_type() != "Less" || !is_number(*form->body, node->input(0), 0)) return false;
    name = node->input(1);
    while ((node = node_that_makes(model_, name)) != nullptr && node->op_type() == "Cast") name = node->input(0);
    form->trips.push_back({name, LoopForm::Trips::kBegin});
    return true;
  }

  // Whether the condition inside does no more than count: true, what it was, or a counter below the trips. `ends`: one that has
  // counted this step; one that has not would let another step run.
  bool goes_on(const std::string &name, const std::set<std::string> &counters, const std::set<std::string> &counted, LoopForm *form,
               bool *ends) const {
    const OnnxGraph &body = *form->body;
    const std::string condition = source(body, name);
    if (condition == body.input(1).name() || is_number(body, condition, 1)) return true;
    const OnnxNode *node = maker(body, condition);
    if (node == nullptr || node->input_size() != 2) return false;
    if (node->op_type() == "And") {
      return goes_on(node->input(0), counters, counted, form, ends) && goes_on(node->input(1), counters, counted, form, ends);
    }
    if (node->op_type() != "Less") return false;
    const std::string count = source(body, node->input(0), true), trips = source(body, node->input(1), true);
    if (counters.count(count) + counted.count(count) == 0) return false;
    if (form->outer_name.count(trips) == 0 && (maker(body, trips) != nullptr || is_input(body, trips))) return false;
    form->trips.push_back({trips, counted.count(count) != 0 ? LoopForm::Trips::kMost : LoopForm::Trips::kOneMore});
    *ends = *ends || counted.count(count) != 0;
    return true;
  }

  static bool is_input(const OnnxGraph &body, const std::string &name) {
    return std::any_of(body.input().begin(), body.input().end(), [&](const auto &input) { return input.name() == name; });
  }

  // Gather(X, i) is X's step. The condition stays among the nodes, where nothing reads it.
  void take_reads(const std::set<std::string> &counters, LoopForm *form) const {
    const OnnxGraph &body = *form->body;
    std::set<std::string> inner;
    for (const OnnxNode &node : body.node()) inner.insert(node.output().begin(), node.output().end());
    for (const OnnxNode &node : body.node()) {
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

  // All of them one way.
  static bool read_direction(const Attributes &a, const char *name, int64_t many, LoopForm *form) {
    std::vector<int64_t> given = a.integers(name);
    given.resize(std::max(given.size(), static_cast<size_t>(many)), 0);
    if (given.empty()) return true;
    const bool inputs = std::string(name) == "scan_input_directions";
    if (inputs) form->reverse = given[0] == 1;
    return std::all_of(given.begin(), given.end(), [&](int64_t v) { return v == (form->reverse ? 1 : 0); });
  }

  bool read_scan(const OnnxNode &node, LoopForm *form) const {
    const OnnxGraph &body = *form->body;
    const Attributes a(node);
    const int64_t steps = a.integer("num_scan_inputs", 0);
    if (steps < 1 || steps > node.input_size()) return false;
    const int states = node.input_size() - static_cast<int>(steps);
    if (model_.opset < 9 || body.input_size() != node.input_size() || body.output_size() != node.output_size() ||
        node.output_size() < states)
      return false;
    for (const char *name : {"scan_input_axes", "scan_output_axes"}) {
      const std::vector<int64_t> given = a.integers(name);
      if (std::any_of(given.begin(), given.end(), [](int64_t v) { return v != 0; })) return false;
    }
    if (!read_direction(a, "scan_input_directions", steps, form) ||
        !read_direction(a, "scan_output_directions", node.output_size() - states, form))
      return false;
    for (int i = 0; i < states; ++i)
      form->states.push_back({body.input(i).name(), body.output(i).name(), node.input(i), node.output(i), &body.input(i)});
    for (int i = states; i < node.input_size(); ++i) form->reads.push_back({body.input(i).name(), node.input(i)});
    for (int i = states; i < node.output_size(); ++i) form->makes.push_back({body.output(i).name(), node.output(i)});
    for (const OnnxNode &inner : body.node()) form->nodes.push_back(&inner);
    return true;
  }

  const OnnxModel &model_;
};

}  // namespace

std::optional<LoopForm> read_loop_form(const OnnxModel &model, const OnnxNode &node, const std::set<std::string> &constants) {
  LoopForm form;
  if ((node.op_type() != "Loop" && node.op_type() != "Scan") || !LoopReader(model).read(node, &form)) return std::nullopt;
  for (LoopForm::Steps &read : form.reads) {
    read.is_constant = constants.count(read.all) != 0;
    form.numbered = form.numbered || read.is_constant;
  }
  return form;
}

}  // namespace rnnp::compiler
