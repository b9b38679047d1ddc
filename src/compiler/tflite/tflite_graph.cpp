// tflite_graph.cpp -- Contract: tflite_graph.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/tflite/tflite_graph.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <utility>

#include "compiler/onnx/budget.h"
#include "compiler/onnx/refusal_of.h"

namespace rnnp::compiler {
namespace {

constexpr int kRelu = 1, kReluN1To1 = 2, kRelu6 = 3, kTanh = 4;

// The bounds that a fused activation has on a grid: in steps, rounded as the interpreter rounds them.
std::pair<double, double> bounds_of(const TfGrid &grid, int activation) {
  const auto step = [&](double real) { return std::clamp(std::round(real / grid.scale), grid.least, grid.most); };
  switch (activation) {
    case 0:
      return {grid.least, grid.most};
    case kRelu:
      return {step(0), grid.most};
    case kReluN1To1:
      return {step(-1), step(1)};
    case kRelu6:
      return {step(0), step(6)};
    default:
      throw Refusal("fused activation " + std::to_string(activation) +
                    " of a quantized tensor; accepted: relu, relu6, relu_n1_to_1");
  }
}

const TfRow *row_of(const std::string &name) {
  for (const auto *table : tflite_tables()) {
    const auto row = std::find_if(table->begin(), table->end(), [&](const TfRow &r) { return name == r.name; });
    if (row != table->end()) return &*row;
  }
  return nullptr;
}

}  // namespace

const std::vector<const std::vector<TfRow> *> &tflite_tables() {
  static const std::vector<const std::vector<TfRow> *> kTables = {&kTfArithmetic, &kTfLayers, &kTfShapes,
                                                                  &kTfSequences,  &kTfLoops,  &kTfVariables};
  return kTables;
}

const TfOperator *maker_of(const TfSubgraph &graph, int32_t tensor) {
  Budget::charge_operations(100.0 * static_cast<double>(graph.operators.size()));
  for (const TfOperator &op : graph.operators) {
    if (std::count(op.outputs.begin(), op.outputs.end(), tensor) != 0) return &op;
  }
  return nullptr;
}

TfGraph::TfGraph(TfContext *context, const TfSubgraph &graph, GraphBuilder *nodes, std::string prefix)
    : context_(context), graph_(graph), nodes_(nodes), prefix_(std::move(prefix)) {}

void TfGraph::set(int32_t tensor, const std::string &name, bool is_steps) {
  values_[tensor] = {name, is_steps};
  reals_.erase(tensor);
}

std::string TfGraph::node(const std::string &op, const std::vector<std::string> &inputs, const std::string &wished) {
  return nodes_->node(op, inputs, wished);
}

std::string TfGraph::number(double value) {
  return context_->constants->constant(prefix_ + "number", {}, {static_cast<float>(value)});
}

int32_t TfGraph::squeezed_from(int32_t index) const {
  const auto found = squeezed_.find(index);
  return found == squeezed_.end() ? -1 : found->second;
}

bool TfGraph::is_steps(int32_t index) const {
  const auto value = values_.find(index);
  return value != values_.end() && value->second.is_steps;
}

std::string TfGraph::constant_of(int32_t index) {
  const TfTensor &t = tensor(index);
  if (!t.is_constant()) {
    if (std::count(t.shape.begin(), t.shape.end(), 0) != 0) throw Refusal("tensor " + quote(t.name) + " has no elements");
    throw Refusal("tensor " + quote(t.name) + " is read before anything makes it");
  }
  return dequantized_constant(nodes_, context_->constants, t, prefix_ + "constant_" + std::to_string(index));
}

std::string TfGraph::real(int32_t index) {
  const auto known = reals_.find(index);
  if (known != reals_.end()) return known->second;
  const auto value = values_.find(index);
  std::string name;
  if (value == values_.end()) {
    name = constant_of(index);
  } else if (value->second.is_steps) {
    const double scale = grid_of(tensor(index)).scale;
    name = scale == 1 ? value->second.name : node("Mul", {value->second.name, number(scale)}, value->second.name + "_real");
  } else {
    name = value->second.name;
  }
  return reals_[index] = name;
}

std::string TfGraph::result(int32_t index) {
  if (dealt(index) != nullptr) throw Refusal(std::string(kAmongDealt) + "convolutions");
  return real(index);
}

std::string TfGraph::steps(int32_t index) {
  const auto value = values_.find(index);
  if (value != values_.end() && value->second.is_steps) return value->second.name;
  const TfGrid grid = grid_of(tensor(index));
  if (value == values_.end() && tensor(index).is_constant()) {
    const std::vector<double> integers = integers_of(tensor(index));
    return context_->constants->constant(prefix_ + "constant_" + std::to_string(index), tensor(index).shape,
                                         std::vector<float>(integers.begin(), integers.end()));
  }
  return node("Mul", {real(index), number(1 / grid.scale)}, prefix_ + "steps");
}

std::string TfGraph::vector(const std::string &wished, const std::vector<double> &values) {
  const bool is_one = std::all_of(values.begin(), values.end(), [&](double v) { return v == values[0]; });
  if (is_one) return number(values[0]);
  return context_->constants->constant(wished, {static_cast<int64_t>(values.size())},
                                       std::vector<float>(values.begin(), values.end()));
}

std::string TfGraph::scaled(const std::string &name, const std::vector<double> &factors) {
  const auto is_one = [](double factor) { return static_cast<float>(factor) == 1; };
  if (std::all_of(factors.begin(), factors.end(), is_one)) return name;
  return node("Mul", {name, vector(name + "_factors", factors)}, name + "_scaled");
}

void TfGraph::give_floored(int32_t index, const std::string &name, int activation) {
  const auto bounds = bounds_of(grid_of(tensor(index)), activation);
  const std::string floor = node("Floor", {name}, name + "_rounded");
  set(index, node("Clip", {floor, number(bounds.first), number(bounds.second)}, name + "_steps"), true);
}

void TfGraph::give(int32_t index, const std::string &made, const std::vector<double> &factors, int activation) {
  if (tensor(index).is_quantized()) {
    std::vector<double> numbers = factors;
    for (double &number : numbers) number /= grid_of(tensor(index)).scale;
    return give_floored(index, node("Add", {scaled(made, numbers), number(0.5)}, made + "_half"), activation);
  }
  std::string name = scaled(made, factors);
  if (activation == kRelu) name = node("Relu", {name}, made + "_relu");
  if (activation == kRelu6) name = node("Clip", {name, number(0), number(6)}, made + "_relu6");
  if (activation == kReluN1To1) name = node("Clip", {name, number(-1), number(1)}, made + "_relu1");
  if (activation == kTanh) name = node("Tanh", {name}, made + "_tanh");
  if (activation < 0 || activation > kTanh)
    throw Refusal("fused activation " + std::to_string(activation) + "; accepted: relu, relu6, relu_n1_to_1, tanh");
  set(index, name, false);
}

// Sums are cut off where 32 bits end, which none reaches: a factor behind that stays out of the weights, so the sums are exact.
// A dense layer rounds a product y once, halves up. A convolution multiplies by m in [1/2, 1) and rounds, then divides by 2^s and
// rounds again, halves away from 0: that is floor(y + 1/2 + d) with d = 2^-(s + 1) where y is positive, and - d where it is
// negative. So d is added as what is left of y between - d and d; where the result begins at 0, the sign is known.
void TfGraph::give_sums(int32_t index, const std::string &made, const std::vector<double> &factors, int activation, bool is_twice) {
  if (!tensor(index).is_quantized()) return give(index, made, factors, activation);
  const std::string sums = node("Clip", {made, number(-2147483648.0), number(2147483648.0)}, made + "_sums");
  if (!is_twice) return give(index, sums, factors, activation);
  const TfGrid grid = grid_of(tensor(index));
  std::vector<double> numbers, less, more, up;
  for (const double factor : factors) {
    int exponent = 0;
    numbers.push_back(factor / grid.scale);
    std::frexp(numbers.back(), &exponent);
    const double d = exponent < 0 ? std::ldexp(0.5, exponent) : 0;
    less.push_back(0.25 - d), more.push_back(0.25 + d), up.push_back(0.5 + d);
  }
  const std::string y = scaled(sums, numbers);
  if (bounds_of(grid, activation).first >= 0)
    return give_floored(index, node("Add", {y, vector(made + "_halves", up)}, made + "_half"), activation);
  const std::string z = node("Add", {y, number(0.25)}, made + "_quarter");
  const std::string low = node("Max", {z, vector(made + "_less", less)}, made + "_from");
  const std::string middle = node("Min", {low, vector(made + "_more", more)}, made + "_to");
  give_floored(index, node("Add", {z, middle}, made + "_half"), activation);
}

void TfGraph::give_steps(int32_t index, const std::string &name) {
  set(index, name, true);
}

void TfGraph::convert(size_t at) {
  const TfOperator &op = graph_.operators[at];
  const std::string name = tflite_operator_name(op), title = prefix_ + name + "_" + std::to_string(at);
  const TfRow *row = row_of(name);
  const auto missing = [&](int32_t i) {
    return i >= 0 && !is_known(i) && !tensor(i).is_constant() && !tensor(i).is_variable && tensor(i).type != TfType::kResource;
  };
  // What another refusal has left without a value is no news.
  if (row != nullptr && !context_->problems.empty() && std::any_of(op.inputs.begin(), op.inputs.end(), missing)) return;
  const auto refused = refusal_of([&] {
    Budget::charge_elements(256);  // nodes take memory, and many loops may run one body
    if (row == nullptr) throw Refusal("this operator of TensorFlow Lite is not read; docs/FORMATS.md lists those that are");
    for (int field = row->options; field < op.options.field_count(); ++field) {
      if (op.options.has(field)) throw Refusal("its option " + std::to_string(field) + " is not known: the file is newer");
    }
    if (!row->takes_dealt && std::any_of(op.inputs.begin(), op.inputs.end(), [&](int32_t i) { return dealt(i) != nullptr; }))
      throw Refusal(std::string(kAmongDealt) + "convolutions");
    TfCall call(this, op, title);
    row->convert(call);
  });
  if (refused) context_->problems.add(title, name, *refused);
}

// An assignment is needed where what is needed reads its variable: seeds that count beside a network are not.
void TfGraph::convert_for(const std::vector<int32_t> &tensors) {
  std::set<int32_t> wanted(tensors.begin(), tensors.end());
  std::set<std::string> variables;
  std::vector<bool> needed(graph_.operators.size());
  const auto is_wanted = [&](int32_t t) { return wanted.count(t) != 0 && !is_known(t); };
  for (bool more = true; more;) {
    more = false;
    Budget::charge_operations(100.0 * static_cast<double>(graph_.operators.size()));
    for (size_t i = graph_.operators.size(); i-- > 0;) {
      const TfOperator &op = graph_.operators[i];
      const bool acts = acts_on(graph_, op, variables);
      if (needed[i] || (!acts && std::none_of(op.outputs.begin(), op.outputs.end(), is_wanted))) continue;
      needed[i] = true;
      wanted.insert(op.inputs.begin(), op.inputs.end());
      const std::string read = variable_read(graph_, op);
      more = (!read.empty() && variables.insert(read).second) || more;
    }
  }
  for (size_t i = 0; i < needed.size(); ++i) {
    if (needed[i]) convert(i);
  }
}

std::string TfContext::state(const std::string &wished, const std::vector<int64_t> &shape) {
  return constants->input(wished, std::vector<BuiltDim>(shape.begin(), shape.end()));
}

int32_t TfCall::in(size_t i) const {
  if (!has(i)) throw Refusal("operand " + std::to_string(i) + " is left out");
  return op_.inputs[i];
}

int32_t TfCall::out(size_t i) const {
  if (i >= op_.outputs.size())
    throw Refusal("it has " + std::to_string(op_.outputs.size()) + " results; needed: " + std::to_string(i + 1));
  return op_.outputs[i];
}

std::vector<int64_t> TfCall::ints(size_t i, const char *what) const {
  const std::vector<double> list = numbers(i, what);
  std::vector<int64_t> out;
  for (const double value : list) {
    if (!(std::fabs(value) < 9e15)) throw Refusal(std::string(what) + " has a number that is none");
    out.push_back(static_cast<int64_t>(value));
  }
  return out;
}

std::vector<double> TfCall::numbers(size_t i, const char *what) const {
  if (!x(i).is_constant()) throw Refusal(std::string(what) + " is computed; accepted: a constant");
  return elements_of(x(i));
}

int64_t TfCall::axis(int64_t given, size_t of) const {
  const int64_t rank = static_cast<int64_t>(of);
  if (given < -rank || given >= rank)
    throw Refusal("axis " + std::to_string(given) + " of a tensor of " + std::to_string(rank) + " axes");
  return given < 0 ? given + rank : given;
}

bool TfCall::moves_steps(size_t i, size_t o) const {
  return x(i).is_quantized() && has_single_scale(x(i)) && is_same_grid(x(i), y(o));
}

void TfCall::give_moved(size_t i, const std::string &name, size_t o) {
  if (moves_steps(i, o)) return graph_.give_steps(out(o), name);
  give(name, {1}, 0, o);
}

std::string TfCall::on_grid(size_t i) {
  std::string x_real = real(i);
  if (!x(i).is_quantized() || x(i).type != TfType::kInt8 || !has_single_scale(x(i))) return x_real;
  GraphBuilder &constants = *graph_.context().constants;
  const std::string scale = constants.constant(title_ + "_x_scale", {}, {x(i).scales[0]});
  const std::string zero =
      constants.constant_raw(title_ + "_x_zero", kOnnxInt8, {}, std::string(1, static_cast<char>(x(i).zeros[0])));
  return node("DequantizeLinear", {node("QuantizeLinear", {x_real, scale, zero}), scale, zero});
}

BuiltNode TfCall::open_node(const std::string &onnx, const std::vector<std::string> &inputs) {
  return graph_.nodes().node(onnx, inputs, title_);
}

std::string TfCall::ints_constant(const std::vector<int64_t> &values) {
  return graph_.context().constants->constant_ints(title_ + "_ints", {static_cast<int64_t>(values.size())}, values);
}

std::string TfCall::floats_constant(const std::vector<int64_t> &shape, const std::vector<double> &values, const char *what) {
  return graph_.context().constants->constant(title_ + what, shape, std::vector<float>(values.begin(), values.end()));
}

std::string TfCall::transposed(const std::string &name, const std::vector<int64_t> &axes) {
  return graph_.nodes().node("Transpose", {name}, title_ + "_axes").with("perm", axes);
}

}  // namespace rnnp::compiler
