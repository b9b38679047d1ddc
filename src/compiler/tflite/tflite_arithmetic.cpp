// tflite_arithmetic.cpp -- operators of TensorFlow Lite that compute each number from those at its place, or along an axis.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "compiler/tflite/tflite_graph.h"

namespace rnnp::compiler {
namespace {

// Operators whose ONNX form has the same operands.
struct SameName {
  const char *tflite, *onnx;
};
constexpr SameName kSameOperators[] = {
    {"LOGISTIC", "Sigmoid"}, {"TANH", "Tanh"},     {"ELU", "Elu"},     {"EXP", "Exp"},     {"LOG", "Log"},
    {"SQRT", "Sqrt"},        {"ABS", "Abs"},       {"NEG", "Neg"},     {"FLOOR", "Floor"}, {"CEIL", "Ceil"},
    {"ROUND", "Round"},      {"SIN", "Sin"},       {"COS", "Cos"},     {"SIGN", "Sign"},   {"LOGICAL_NOT", "Not"},
    {"LOGICAL_AND", "And"},  {"LOGICAL_OR", "Or"}, {"EQUAL", "Equal"}, {"LESS", "Less"},   {"LESS_EQUAL", "LessOrEqual"},
    {"GREATER", "Greater"},  {"POW", "Pow"},       {"ADD", "Add"},     {"SUB", "Sub"},     {"MUL", "Mul"},
    {"DIV", "Div"},          {"MAXIMUM", "Max"},   {"MINIMUM", "Min"}, {"ADD_N", "Sum"},   {"HARD_SWISH", "HardSwish"},
    {"SELECT_V2", "Where"},  {"RELU", "Relu"},
};

std::string onnx_name(const TfCall &call) {
  const std::string name = tflite_operator_name(call.op());
  const auto *row =
      std::find_if(std::begin(kSameOperators), std::end(kSameOperators), [&](const SameName &s) { return name == s.tflite; });
  return row->onnx;
}

// [1, N] that was reshaped to [N] broadcasts alike beside a tensor of two axes, and keeps its batch.
std::string operand(TfCall &call, size_t i) {
  size_t other = 0;
  for (size_t k = 0; k < call.inputs(); ++k) {
    if (k != i) other = std::max(other, call.rank(k));
  }
  const int32_t source = call.graph().squeezed_from(call.in(i));
  if (source >= 0 && call.graph().tensor(source).shape.size() <= other) return call.graph().real(source);
  return call.real(i);
}

void same(TfCall &call) {
  std::vector<std::string> inputs;
  for (size_t i = 0; i < call.inputs(); ++i) inputs.push_back(operand(call, i));
  call.give(call.node(onnx_name(call), inputs));
}

// A condition of one axis chooses whole rows.
void select(TfCall &call) {
  std::string condition = call.real(0);
  const size_t rank = call.rank(1);
  if (call.rank(0) == 1 && rank > 1) {
    std::vector<int64_t> axes(rank - 1);
    std::iota(axes.begin(), axes.end(), 1);
    condition = call.node("Unsqueeze", {condition, call.ints_constant(axes)});
  }
  call.give(call.node("Where", {condition, call.real(1), call.real(2)}));
}

// ADD, SUB, MUL and DIV have a fused activation in the first field of their options.
void fused(TfCall &call) {
  call.give(call.node(onnx_name(call), {operand(call, 0), operand(call, 1)}), {1}, call.options().number<int8_t>(0, 0));
}

void relu6(TfCall &call) {
  call.give(call.node("Clip", {call.real(0), call.graph().number(0), call.graph().number(6)}));
}
void relu_n1_to_1(TfCall &call) {
  call.give(call.node("Clip", {call.real(0), call.graph().number(-1), call.graph().number(1)}));
}
void relu_0_to_1(TfCall &call) {
  call.give(call.node("Clip", {call.real(0), call.graph().number(0), call.graph().number(1)}));
}

void leaky_relu(TfCall &call) {
  call.give(call.open_node("LeakyRelu", {call.real(0)}).with("alpha", call.options().number<float>(0, 0.0f)));
}

void prelu(TfCall &call) {
  call.give(call.node("PRelu", {call.real(0), call.real(1)}));
}

void gelu(TfCall &call) {
  call.give(call.open_node("Gelu", {call.real(0)}).with("approximate", call.options().flag(0) ? "tanh" : "none"));
}

void rsqrt(TfCall &call) {
  call.give(call.node("Reciprocal", {call.node("Sqrt", {call.real(0)})}));
}
void square(TfCall &call) {
  const std::string x = call.real(0);
  call.give(call.node("Mul", {x, x}));
}
void squared_difference(TfCall &call) {
  const std::string difference = call.node("Sub", {operand(call, 0), operand(call, 1)});
  call.give(call.node("Mul", {difference, difference}));
}
void not_equal(TfCall &call) {
  call.give(call.node("Not", {call.node("Equal", {call.real(0), call.real(1)})}));
}
void greater_equal(TfCall &call) {
  call.give(call.node("GreaterOrEqual", {call.real(0), call.real(1)}));
}

std::string cast_to(TfCall &call, const std::string &x, TfType type) {
  return call.open_node("Cast", {x}).with("to", onnx_element_type(type));
}

void cast(TfCall &call) {
  if (call.y().type != TfType::kFloat32 && call.y().type != TfType::kInt32 && call.y().type != TfType::kInt64 &&
      call.y().type != TfType::kBool)
    throw Refusal("it casts to " + tflite_type_name(call.y().type) + "; accepted: float32, int32, int64, bool");
  call.give(cast_to(call, call.real(0), call.y().type));
}

// Another grid, or none.
void regrid(TfCall &call) {
  if (call.moves_steps(0)) return call.give_moved(0, call.graph().steps(call.in(0)));
  call.give(call.real(0));
}

void softmax(TfCall &call) {
  std::string x = call.real(0);
  const double beta = call.options().number<float>(0, 0.0f);
  if (beta != 1) x = call.node("Mul", {x, call.graph().number(beta)});
  call.give(call.open_node("Softmax", {x}).with("axis", -1));
}
void log_softmax(TfCall &call) {
  call.give(call.open_node("LogSoftmax", {call.real(0)}).with("axis", -1));
}

void l2_normalization(TfCall &call) {
  const std::string x = call.real(0);
  const std::string length = call.open_node("ReduceL2", {x, call.ints_constant({-1})}).with("keepdims", 1);
  const std::string y = call.node("Div", {x, call.node("Max", {length, call.graph().number(1e-6)})});
  call.give(y, {1}, call.options().number<int8_t>(0, 0));
}

std::string reduced(TfCall &call, const char *onnx) {
  std::vector<int64_t> axes = call.ints(1, "its list of axes");
  for (int64_t &axis : axes) axis = call.axis(axis, call.rank(0));
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  const bool is_bool = call.x(0).type == TfType::kBool;
  const std::string x = is_bool ? cast_to(call, call.real(0), TfType::kFloat32) : call.real(0);
  const std::string y = call.open_node(onnx, {x, call.ints_constant(axes)}).with("keepdims", call.options().flag(0) ? 1 : 0);
  return is_bool ? cast_to(call, y, TfType::kBool) : y;
}
void mean(TfCall &call) {
  call.give(reduced(call, "ReduceMean"));
}
void sum(TfCall &call) {
  call.give(reduced(call, "ReduceSum"));
}
void reduce_max(TfCall &call) {
  call.give(reduced(call, "ReduceMax"));
}
void reduce_min(TfCall &call) {
  call.give(reduced(call, "ReduceMin"));
}
void reduce_prod(TfCall &call) {
  call.give(reduced(call, "ReduceProd"));
}

void cumsum(TfCall &call) {
  const std::vector<int64_t> axis = call.ints(1, "its axis");
  if (axis.size() != 1) throw Refusal("it has " + std::to_string(axis.size()) + " axes; accepted: one");
  const std::string at = call.graph().context().constants->constant_ints(call.title() + "_axis", {}, axis);
  call.give(call.open_node("CumSum", {call.real(0), at})
                .with("exclusive", call.options().flag(0) ? 1 : 0)
                .with("reverse", call.options().flag(1) ? 1 : 0));
}

void best_index(TfCall &call, const char *onnx) {
  const std::vector<int64_t> axis = call.ints(1, "its axis");
  if (axis.size() != 1) throw Refusal("it has " + std::to_string(axis.size()) + " axes; accepted: one");
  call.give(call.open_node(onnx, {call.real(0)}).with("axis", call.axis(axis[0], call.rank(0))).with("keepdims", 0));
}
void arg_max(TfCall &call) {
  best_index(call, "ArgMax");
}
void arg_min(TfCall &call) {
  best_index(call, "ArgMin");
}

}  // namespace

const std::vector<TfRow> kTfArithmetic = {
    {"ABS", same, 0},
    {"ADD", fused, 2},
    {"ADD_N", same, 0},
    {"ARG_MAX", arg_max, 1},
    {"ARG_MIN", arg_min, 1},
    {"CAST", cast, 2},
    {"CEIL", same, 0},
    {"COS", same, 0},
    {"CUMSUM", cumsum, 2},
    {"DEQUANTIZE", regrid, 0},
    {"DIV", fused, 1},
    {"ELU", same, 0},
    {"EQUAL", same, 0},
    {"EXP", same, 0},
    {"FLOOR", same, 0},
    {"GELU", gelu, 1},
    {"GREATER", same, 0},
    {"GREATER_EQUAL", greater_equal, 0},
    {"HARD_SWISH", same, 0},
    {"L2_NORMALIZATION", l2_normalization, 1},
    {"LEAKY_RELU", leaky_relu, 1},
    {"LESS", same, 0},
    {"LESS_EQUAL", same, 0},
    {"LOG", same, 0},
    {"LOGICAL_AND", same, 0},
    {"LOGICAL_NOT", same, 0},
    {"LOGICAL_OR", same, 0},
    {"LOGISTIC", same, 0},
    {"LOG_SOFTMAX", log_softmax, 0},
    {"MAXIMUM", same, 0},
    {"MEAN", mean, 1},
    {"MINIMUM", same, 0},
    {"MUL", fused, 1},
    {"NEG", same, 0},
    {"NOT_EQUAL", not_equal, 0},
    {"POW", same, 0},
    {"PRELU", prelu, 0},
    {"QUANTIZE", regrid, 0},
    {"REDUCE_ALL", reduce_min, 1},
    {"REDUCE_ANY", reduce_max, 1},
    {"REDUCE_MAX", reduce_max, 1},
    {"REDUCE_MIN", reduce_min, 1},
    {"REDUCE_PROD", reduce_prod, 1},
    {"RELU", same, 0},
    {"RELU6", relu6, 0},
    {"RELU_0_TO_1", relu_0_to_1, 0},
    {"RELU_N1_TO_1", relu_n1_to_1, 0},
    {"ROUND", same, 0},
    {"RSQRT", rsqrt, 0},
    {"SELECT", select, 0},
    {"SELECT_V2", same, 0},
    {"SIGN", same, 0},
    {"SIN", same, 0},
    {"SOFTMAX", softmax, 1},
    {"SQRT", same, 0},
    {"SQUARE", square, 0},
    {"SQUARED_DIFFERENCE", squared_difference, 0},
    {"SUB", fused, 2},
    {"SUM", sum, 1},
    {"TANH", same, 0},
};

}  // namespace rnnp::compiler
