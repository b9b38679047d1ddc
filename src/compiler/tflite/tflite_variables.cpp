// tflite_variables.cpp -- resource variables of TensorFlow Lite: persistent state of the library, which starts at zero. A variable
// that starts elsewhere is kept as what it differs from its start by. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compiler/tflite/tflite_graph.h"

namespace rnnp::compiler {
namespace {

std::string variable_name(const TfOperator &handle) {
  return handle.options.text(0) + "/" + handle.options.text(1);
}

// The variable that an operand is the handle of; "" where it is computed.
std::string handled(const TfSubgraph &graph, const TfOperator &op) {
  const TfOperator *handle = op.inputs.empty() ? nullptr : maker_of(graph, op.inputs[0]);
  return handle != nullptr && tflite_operator_name(*handle) == "VAR_HANDLE" ? variable_name(*handle) : "";
}

std::string named(const TfSubgraph &graph, const TfOperator &op) {
  std::string name = handled(graph, op);
  if (name.empty()) throw Refusal("its variable is computed; accepted: the result of VAR_HANDLE");
  return name;
}

bool is_assigned(const TfSubgraph &graph, const std::string &name) {
  return std::any_of(graph.operators.begin(), graph.operators.end(), [&](const TfOperator &op) {
    return tflite_operator_name(op) == "ASSIGN_VARIABLE" && named(graph, op) == name;
  });
}

void var_handle(TfCall &) {}

// What a subgraph that runs once assigns: constants.
void call_once(TfCall &call) {
  TfContext &context = call.graph().context();
  const int64_t index = call.options().number<int32_t>(0, 0);
  if (index < 0 || index >= static_cast<int64_t>(context.model.graphs.size()))
    throw Refusal("it calls subgraph " + std::to_string(index) + ", which the file does not have");
  const TfSubgraph &graph = context.model.graphs[static_cast<size_t>(index)];
  for (const TfOperator &op : graph.operators) {
    const std::string name = tflite_operator_name(op);
    if (name == "VAR_HANDLE") continue;
    if (name != "ASSIGN_VARIABLE")
      throw Refusal("what it runs once has " + name + "; accepted: VAR_HANDLE and ASSIGN_VARIABLE of constants");
    const TfTensor *start =
        op.inputs.size() == 2 && op.inputs[1] >= 0 ? &graph.tensors[static_cast<size_t>(op.inputs[1])] : nullptr;
    if (start == nullptr || !start->is_constant()) throw Refusal("what it runs once assigns what is computed; accepted: constants");
    context.variables[named(graph, op)].start = start;
  }
}

// What the variable starts at, in steps where it is of integers; empty where that is zero.
std::vector<float> start_of(const TfContext::Variable &variable, bool is_steps) {
  if (variable.start == nullptr) return {};
  const std::vector<double> numbers = is_steps ? integers_of(*variable.start) : reals_of(*variable.start);
  const bool is_zero = std::all_of(numbers.begin(), numbers.end(), [](double v) { return v == 0; });
  return is_zero ? std::vector<float>() : std::vector<float>(numbers.begin(), numbers.end());
}

void read_variable(TfCall &call) {
  TfContext &context = call.graph().context();
  const std::string name = named(call.graph().graph(), call.op());
  TfContext::Variable &variable = context.variables[name];
  if (variable.now.empty()) {
    variable.like = &call.y();
    variable.is_steps = call.y().is_quantized();
    if (variable.start != nullptr && (!is_same_grid(*variable.start, call.y()) || variable.start->shape != call.y().shape))
      throw Refusal("its variable starts as " + tflite_type_name(variable.start->type) + " of shape " +
                    shape_text(variable.start->shape) + " in another grid or shape");
    if (variable.is_steps) grid_of(call.y());
    const std::vector<float> start = start_of(variable, variable.is_steps);
    if (!is_assigned(call.graph().graph(), name)) {
      if (start.empty()) throw Refusal("nothing assigns its variable, or zeros only");
      variable.now = context.constants->constant(call.title() + "_start", call.y().shape, start);
    } else {
      variable.input = variable.now = context.state(name.substr(name.find('/') + 1), call.y().shape);
      if (!start.empty()) {
        variable.offset = context.constants->constant(call.title() + "_start", call.y().shape, start);
        variable.now = call.node("Add", {variable.now, variable.offset});
      }
    }
  }
  if (!is_same_grid(*variable.like, call.y())) throw Refusal("its variable is read in two grids");
  call.graph().set(call.out(), variable.now, variable.is_steps);
}

void assign_variable(TfCall &call) {
  TfContext &context = call.graph().context();
  TfContext::Variable &variable = context.variables[named(call.graph().graph(), call.op())];
  if (variable.like == nullptr) throw Refusal("its variable is assigned before it is read; accepted: read, then assigned");
  if (!is_same_grid(*variable.like, call.x(1))) throw Refusal("it assigns numbers of another grid than the one that is read");
  variable.now = variable.is_steps ? call.graph().steps(call.in(1)) : call.real(1);
  if (variable.input.empty()) return;
  context.set_next(variable.input, variable.offset.empty() ? variable.now : call.node("Sub", {variable.now, variable.offset}));
}

}  // namespace

std::string variable_read(const TfSubgraph &graph, const TfOperator &op) {
  return tflite_operator_name(op) == "READ_VARIABLE" ? handled(graph, op) : "";
}

bool acts_on(const TfSubgraph &graph, const TfOperator &op, const std::set<std::string> &variables) {
  const std::string name = tflite_operator_name(op);
  if (name != "ASSIGN_VARIABLE") return name == "CALL_ONCE";
  const std::string variable = handled(graph, op);
  return variable.empty() || variables.count(variable) != 0;
}

const std::vector<TfRow> kTfVariables = {
    {"ASSIGN_VARIABLE", assign_variable, 0},
    {"CALL_ONCE", call_once, 1},
    {"READ_VARIABLE", read_variable, 0},
    {"VAR_HANDLE", var_handle, 2},
};

}  // namespace rnnp::compiler
