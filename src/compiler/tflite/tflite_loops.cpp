// tflite_loops.cpp -- WHILE as Keras writes recurrent layers: a counter, sequences that are read at it, states, lists of results
// that are written at it. It becomes a Scan, whose body the compiler turns into a layer where it is a cell. IF becomes an If.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "compiler/tflite/tflite_graph.h"

namespace rnnp::compiler {
namespace {

constexpr size_t kMostCarried = 64;

bool is_op(const TfOperator *op, const char *name, size_t inputs) {
  return op != nullptr && op->inputs.size() >= inputs && tflite_operator_name(*op) == name &&
         std::all_of(op->inputs.begin(), op->inputs.begin() + static_cast<std::ptrdiff_t>(inputs),
                     [](int32_t i) { return i >= 0; });
}

bool is_number(const TfTensor &tensor, double value) {
  return tensor.is_constant() && tensor.elements() == 1 && elements_of(tensor)[0] == value;
}

enum class Carried { kInvariant, kCounter, kList, kState };

class WhileReader {
 public:
  WhileReader(TfCall *call, const TfSubgraph &condition, const TfSubgraph &body)
      : call_(*call), condition_(condition), body_(body) {}

  void convert() {
    for (size_t k = 0; k < body_.inputs.size(); ++k) kinds_.push_back(kind_of(k));
    find_reads();
    check_trips();
    build();
  }

 private:
  const TfTensor &in_body(int32_t tensor) const { return body_.tensors[static_cast<size_t>(tensor)]; }
  bool is_counter(int32_t tensor) const {
    const auto at = std::find(body_.inputs.begin(), body_.inputs.end(), tensor);
    return at != body_.inputs.end() && kind_of(static_cast<size_t>(at - body_.inputs.begin())) == Carried::kCounter;
  }

  // Without what only shapes an index: RESHAPE to [1], CONCATENATION with the other axes' indices.
  int32_t index_behind(int32_t tensor) const {
    for (int i = 0; i < 8; ++i) {
      const TfOperator *op = maker_of(body_, tensor);
      const bool shapes = is_op(op, "RESHAPE", 1) || is_op(op, "CONCATENATION", 1) || is_op(op, "PACK", 1) ||
                          is_op(op, "EXPAND_DIMS", 1) || is_op(op, "SQUEEZE", 1);
      if (!shapes) break;
      tensor = op->inputs[0];
    }
    return tensor;
  }

  // A number that grows by one from 0 on.
  bool counts(size_t k) const {
    const TfOperator *add = maker_of(body_, body_.outputs[k]);
    if (!is_op(add, "ADD", 2) || !is_number(call_.x(k), 0) || call_.x(k).type == TfType::kFloat32) return false;
    return (add->inputs[0] == body_.inputs[k] && is_number(in_body(add->inputs[1]), 1)) ||
           (add->inputs[1] == body_.inputs[k] && is_number(in_body(add->inputs[0]), 1));
  }

  // What is written into list k at the step's index; -1 where it is no list. As three pieces that are put together, or in place.
  int32_t written(size_t k) const {
    const int32_t list = body_.inputs[k];
    const TfOperator *write = maker_of(body_, body_.outputs[k]);
    if (is_op(write, "DYNAMIC_UPDATE_SLICE", 3) && write->inputs[0] == list)
      return counts_at(write->inputs[2], false) ? write->inputs[1] : -1;
    if (!is_op(write, "CONCATENATION", 3) || write->options.number<int32_t>(0, 0) != 0) return -1;
    const TfOperator *before = maker_of(body_, write->inputs[0]), *after = maker_of(body_, write->inputs[2]);
    if (!is_op(before, "SLICE", 3) || !is_op(after, "SLICE", 3) || before->inputs[0] != list || after->inputs[0] != list) return -1;
    return counts_at(before->inputs[2], false) && counts_at(after->inputs[1], true) ? write->inputs[1] : -1;
  }

  // Whether an index is that of the step, or of the next one.
  bool counts_at(int32_t tensor, bool is_next) const {
    const int32_t index = index_behind(tensor);
    for (size_t k = 0; k < body_.inputs.size(); ++k) {
      if (counts(k) && index == (is_next ? body_.outputs[k] : body_.inputs[k])) return true;
    }
    return false;
  }

  Carried kind_of(size_t k) const {
    if (body_.inputs[k] == body_.outputs[k]) return Carried::kInvariant;
    if (counts(k)) return Carried::kCounter;
    return written(k) >= 0 ? Carried::kList : Carried::kState;
  }

  // GATHER of a sequence at the counter.
  void find_reads() {
    for (const TfOperator &op : body_.operators) {
      if (!is_op(&op, "GATHER", 2) || !is_counter(op.inputs[1]) || op.options.number<int32_t>(0, 0) != 0 || op.outputs.size() != 1)
        continue;
      const auto at = std::find(body_.inputs.begin(), body_.inputs.end(), op.inputs[0]);
      if (at == body_.inputs.end()) continue;
      const size_t k = static_cast<size_t>(at - body_.inputs.begin());
      if (kinds_[k] == Carried::kInvariant) reads_.emplace_back(k, op.outputs[0]);
    }
    if (reads_.empty()) throw Refusal("its body reads no sequence step by step; accepted: loops as Keras writes recurrent layers");
  }

  // Whether the tensor is the number of steps of the sequence that the loop reads first.
  bool is_length(int32_t outer) const {
    const TfTensor &sequence = call_.x(reads_[0].first);
    const int64_t steps = sequence.shape.empty() ? 0 : sequence.shape[0];
    const TfTensor &tensor = call_.graph().tensor(outer);
    if (tensor.is_constant()) return steps > 0 && is_number(tensor, static_cast<double>(steps));
    const TfOperator *first = maker_of(call_.graph().graph(), outer);
    if (!is_op(first, "STRIDED_SLICE", 2) || !is_op(maker_of(call_.graph().graph(), first->inputs[0]), "SHAPE", 1)) return false;
    const TfTensor &begin = call_.graph().tensor(first->inputs[1]);
    return maker_of(call_.graph().graph(), first->inputs[0])->inputs[0] == call_.in(reads_[0].first) && is_number(begin, 0);
  }

  // The condition: counters below the number of steps, as often as it likes.
  bool holds(int32_t tensor, int depth) const {
    const TfOperator *op = maker_of(condition_, tensor);
    if (is_op(op, "LOGICAL_AND", 2)) return depth < 8 && holds(op->inputs[0], depth + 1) && holds(op->inputs[1], depth + 1);
    if (!is_op(op, "LESS", 2)) return false;
    const auto place = [&](int32_t t) {
      return static_cast<size_t>(std::find(condition_.inputs.begin(), condition_.inputs.end(), t) - condition_.inputs.begin());
    };
    const size_t counter = place(op->inputs[0]), bound = place(op->inputs[1]);
    if (counter >= kinds_.size() || kinds_[counter] != Carried::kCounter) return false;
    if (bound < kinds_.size()) return kinds_[bound] == Carried::kInvariant && is_length(call_.in(bound));
    const TfTensor &sequence = call_.x(reads_[0].first), &limit = condition_.tensors[static_cast<size_t>(op->inputs[1])];
    return !sequence.shape.empty() && sequence.shape[0] > 0 && is_number(limit, static_cast<double>(sequence.shape[0]));
  }

  void check_trips() const {
    if (condition_.inputs.size() != kinds_.size() || condition_.outputs.size() != 1 || !holds(condition_.outputs[0], 0))
      throw Refusal("how often it runs is not the number of steps of the sequence that it reads; accepted: once a step");
    const int64_t steps = call_.x(reads_[0].first).shape[0];
    for (const auto &read : reads_) {
      const std::vector<int64_t> &each = call_.x(read.first).shape;
      if (each.empty() || each[0] != steps) throw Refusal("it reads sequences of other numbers of steps");
    }
    for (size_t k = 0; k < kinds_.size(); ++k) {
      if (kinds_[k] == Carried::kList) check_list(call_.x(k).shape, in_body(written(k)).shape, steps);
    }
  }

  // Each step writes one whole element of a list as long as there are steps.
  static void check_list(const std::vector<int64_t> &list, const std::vector<int64_t> &element, int64_t steps) {
    const auto open_or = [](int64_t a, int64_t b) { return a < 0 || b < 0 || a == b; };
    if (list.empty() || element.size() != list.size() || element[0] != 1 || !open_or(list[0], steps) ||
        !std::equal(list.begin() + 1, list.end(), element.begin() + 1, open_or))
      throw Refusal("it writes " + shape_text(element) + " into a list of shape " + shape_text(list) + " at each of " +
                    (steps < 0 ? "its" : std::to_string(steps)) + " steps; accepted: one element a step");
  }

  // A name of its own for each result of the body.
  std::string result(GraphBuilder *nodes, const std::string &name) {
    return nodes->node("Identity", {name}, call_.title() + "_result");
  }

  static std::vector<BuiltDim> dims_of(const std::vector<int64_t> &shape) {
    std::vector<BuiltDim> out;
    for (size_t i = 0; i < shape.size(); ++i)
      out.push_back(shape[i] < 0 ? BuiltDim("dim" + std::to_string(i)) : BuiltDim(shape[i]));
    return out;
  }

  void build() {
    TfContext &context = call_.graph().context();
    GraphBuilder nodes(call_.title());
    TfGraph body(&context, body_, &nodes, call_.title() + "_body_");
    std::vector<std::string> inputs;
    std::vector<int32_t> wanted;
    for (size_t k = 0; k < kinds_.size(); ++k) {
      if (kinds_[k] == Carried::kState && is_read(k)) states_.push_back(k);
    }
    trips_ = states_.empty() ? 0 : std::max<int64_t>(call_.x(reads_[0].first).shape[0], 0);
    const std::string counter = trips_ > 0 ? nodes.input(call_.title() + "_i", {}, kOnnxInt64) : "";
    if (trips_ > 0) nodes.output(nodes.node("Identity", {nodes.input(call_.title() + "_goes_on", {}, kOnnxBool)}), kOnnxBool);
    for (const size_t k : states_) {
      inputs.push_back(call_.real(k));
      body.set(body_.inputs[k], nodes.input(call_.title() + "_state_" + std::to_string(k), dims_of(in_body(body_.inputs[k]).shape)),
               false);
      wanted.push_back(body_.outputs[k]);
    }
    for (const auto &read : reads_) {
      const std::string sequence = call_.real(read.first);
      if (trips_ == 0) inputs.push_back(sequence);
      body.set(read.second,
               trips_ > 0 ? nodes.node("Gather", {sequence, counter}).with("axis", 0)
                          : nodes.input(call_.title() + "_step_" + std::to_string(read.first), dims_of(in_body(read.second).shape)),
               false);
    }
    for (size_t k = 0; k < kinds_.size(); ++k) {
      if (kinds_[k] == Carried::kInvariant && is_needed(k)) body.set(body_.inputs[k], call_.real(k), false);
      if (kinds_[k] == Carried::kList) makes_.push_back(made_of(k, written(k), false));
      if (kinds_[k] == Carried::kState && !is_read(k)) makes_.push_back(made_of(k, body_.outputs[k], true));
    }
    for (const Made &made : makes_) wanted.push_back(made.tensor);
    body.convert_for(wanted);
    if (!context.problems.empty()) return;
    give_results(&body, &nodes, inputs);
  }

  void give_results(TfGraph *body, GraphBuilder *nodes, const std::vector<std::string> &inputs) {
    for (const size_t k : states_) nodes->output(result(nodes, body->result(body_.outputs[k])));
    for (const Made &made : makes_) {
      std::string each = body->result(made.tensor);
      if (!made.is_last && !made.lacks_axis)
        each = nodes->node("Squeeze", {each, call_.ints_constant({0})}, call_.title() + "_each");
      nodes->output(result(nodes, each));
    }
    std::vector<std::string> outputs;
    for (size_t i = 0; i < states_.size() + makes_.size(); ++i)
      outputs.push_back(call_.graph().nodes().unused(call_.title() + "_made"));
    GraphBuilder &around = call_.graph().nodes();
    if (trips_ > 0) {
      std::vector<std::string> operands = {call_.graph().context().constants->constant_ints(call_.title() + "_trips", {}, {trips_}),
                                           ""};
      operands.insert(operands.end(), inputs.begin(), inputs.end());
      around.node_to("Loop", operands, outputs).with_graph("body", nodes->take_graph());
    } else {
      around.node_to("Scan", inputs, outputs)
          .with("num_scan_inputs", static_cast<int64_t>(reads_.size()))
          .with_graph("body", nodes->take_graph());
    }
    for (size_t i = 0; i < states_.size(); ++i) call_.give(outputs[i], {1}, 0, states_[i]);
    for (size_t i = 0; i < makes_.size(); ++i) {
      std::string name = outputs[states_.size() + i];
      if (makes_[i].is_last) {
        const std::string last = call_.graph().context().constants->constant_ints(call_.title() + "_last", {}, {-1});
        name = call_.open_node("Gather", {name, last}).with("axis", 0);
        if (makes_[i].lacks_axis) name = call_.node("Unsqueeze", {name, call_.ints_constant({0})});
      }
      call_.give(name, {1}, 0, makes_[i].at);
    }
  }

  bool is_operand(int32_t tensor, const char *but) const {
    return std::any_of(body_.operators.begin(), body_.operators.end(), [&](const TfOperator &op) {
      return tflite_operator_name(op) != but && std::count(op.inputs.begin(), op.inputs.end(), tensor) != 0;
    });
  }
  bool is_read(size_t k) const { return is_operand(body_.inputs[k], ""); }
  bool is_needed(size_t k) const { return is_operand(body_.inputs[k], "GATHER"); }

  struct Made {
    size_t at;
    int32_t tensor;
    bool is_last;     // what the last step makes is the result
    bool lacks_axis;  // of one element in front, which the body adds last of all
  };

  Made made_of(size_t k, int32_t tensor, bool is_last) const {
    const TfOperator *op = maker_of(body_, tensor);
    std::vector<int64_t> shape = in_body(tensor).shape;
    if (shape.empty() || shape[0] != 1 || (!is_op(op, "RESHAPE", 1) && !is_op(op, "EXPAND_DIMS", 1)))
      return {k, tensor, is_last, false};
    shape.erase(shape.begin());
    const bool adds_axis = in_body(op->inputs[0]).shape == shape;
    return {k, adds_axis ? op->inputs[0] : tensor, is_last, adds_axis};
  }

  TfCall &call_;
  const TfSubgraph &condition_, &body_;
  std::vector<Carried> kinds_;
  std::vector<std::pair<size_t, int32_t>> reads_;  // carried sequence, its step in the body
  std::vector<size_t> states_;
  int64_t trips_ = 0;  // of a Loop; 0: a Scan over as many steps as there are
  std::vector<Made> makes_;
};

const TfSubgraph &subgraph(const TfCall &call, const TfModel &model, int field) {
  const int32_t index = call.options().number<int32_t>(field, 0);
  if (index < 0 || index >= static_cast<int64_t>(model.graphs.size()))
    throw Refusal("it runs subgraph " + std::to_string(index) + ", which the file does not have");
  const TfSubgraph &graph = model.graphs[static_cast<size_t>(index)];
  const auto has_variable = [](const TfOperator &op) { return tflite_operator_name(op) == "VAR_HANDLE"; };
  const auto takes_variable = [&](int32_t input) { return graph.tensors[static_cast<size_t>(input)].type == TfType::kResource; };
  if (std::any_of(graph.operators.begin(), graph.operators.end(), has_variable) ||
      std::any_of(graph.inputs.begin(), graph.inputs.end(), takes_variable))
    throw Refusal("subgraph " + std::to_string(index) + ", which it runs, has a variable; accepted: variables outside");
  return graph;
}

// Both branches as ONNX has them: they read what the operands are called outside.
onnx::GraphProto branch(TfCall &call, const TfSubgraph &graph, const std::string &title) {
  GraphBuilder nodes(title);
  TfGraph inside(&call.graph().context(), graph, &nodes, title + "_");
  for (size_t i = 0; i < graph.inputs.size(); ++i) inside.set(graph.inputs[i], call.real(i + 1), false);
  inside.convert_for(graph.outputs);
  if (!call.graph().context().problems.empty()) return {};
  for (const int32_t output : graph.outputs) nodes.output(nodes.node("Identity", {inside.result(output)}, title + "_result"));
  return nodes.take_graph();
}

void if_else(TfCall &call) {
  TfContext &context = call.graph().context();
  const TfSubgraph *graphs[2] = {&subgraph(call, context.model, 0), &subgraph(call, context.model, 1)};
  if (context.depth != 0) throw Refusal("it is inside a loop or a branch; accepted: outside");
  for (const TfSubgraph *graph : graphs) {
    if (graph->inputs.size() + 1 != call.inputs() || graph->outputs.size() != call.op().outputs.size())
      throw Refusal("its subgraphs take or give other numbers of tensors");
  }
  std::vector<std::string> outputs;
  for (size_t i = 0; i < call.op().outputs.size(); ++i) outputs.push_back(call.graph().nodes().unused(call.title() + "_made"));
  ++context.depth;
  onnx::GraphProto then = branch(call, *graphs[0], call.title() + "_then"),
                   otherwise = branch(call, *graphs[1], call.title() + "_else");
  --context.depth;
  call.graph().nodes().node_to("If", {call.real(0)}, outputs).with_graph("then_branch", then).with_graph("else_branch", otherwise);
  for (size_t i = 0; i < outputs.size(); ++i) call.give(outputs[i], {1}, 0, i);
}

void while_loop(TfCall &call) {
  TfContext &context = call.graph().context();
  const TfSubgraph &condition = subgraph(call, context.model, 0), &body = subgraph(call, context.model, 1);
  const size_t carried = call.inputs();
  if (context.depth != 0) throw Refusal("it is inside another loop; accepted: loops side by side");
  if (carried > kMostCarried)
    throw Refusal("it carries " + std::to_string(carried) + " tensors; accepted: " + std::to_string(kMostCarried));
  if (body.inputs.size() != carried || body.outputs.size() != carried || call.op().outputs.size() != carried)
    throw Refusal("its subgraphs carry other numbers of tensors");
  ++context.depth;
  WhileReader(&call, condition, body).convert();
  --context.depth;
}

}  // namespace

const std::vector<TfRow> kTfLoops = {
    {"IF", if_else, 2},
    {"WHILE", while_loop, 2},
};

}  // namespace rnnp::compiler
