// tflite_arithmetic.cpp -- operators of TensorFlow Lite that compute each number from those at its place, or along an axis.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "compiler/tflite/tflite_graph.h"

namespace rnnp::compiler {
namespace {

// Operators whose ONNX form has the same operands.
struct SameName {
  const char *tflite, *onnx;
};
constexpr SameName kSameOperators[] = {
    {"LOGISTIC", "Sigmoid"}, {"TANH", "Tanh"},       {"ELU", "Elu"},     {"EXP", "Exp"},     {"LOG", "Log"},
    {"SQRT", "Sqrt"},        {"ABS", "Abs"},         {"NEG", "Neg"},     {"FLOOR", "Floor"}, {"CEIL", "Ceil"},
    {"ROUND", "Round"},      {"SIN", "Sin"},         {"COS", "Cos"},     {"SIGN", "Sign"},   {"LOGICAL_NOT", "Not"},
    {"LOGICAL_AND", "And"},  {"LOGICAL_OR", "Or"},   {"EQUAL", "Equal"}, {"LESS", "Less"},   {"LESS_EQUAL", "LessOrEqual"},
    {"GREATER", "Greater"},  {"POW", "Pow"},         {"ADD", "Add"},     {"SUB", "Sub"},     {"MUL", "Mul"},
    {"DIV", "Div"},          {"MAXIMUM", "Max"},     {"MINIMUM", "Min"}, {"ADD_N", "Sum"},   {"HARD_SWISH", "HardSwish"},
    {"SELECT", "Where"},     {"SELECT_V2", "Where"}, {"RELU", "Relu"},
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

void cast(TfCall &call) {
  if (call.y().type != TfType::kFloat32 && call.y().type != TfType::kInt32 && call.y().type != TfType::kInt64 &&
      call.y().type != TfType::kBool)
    throw Refusal("it casts to " + tflite_type_name(call.y().type) + "; accepted: float32, int32, int64, bool");
  call.give(call.open_node("Cast", {call.real(0)}).with("to", onnx_element_type(call.y().type)));
}

// Another grid, or none.
void regrid(TfCall &call) {
  if (call.moves_steps(0)) return call.give_moved(0, call.graph().steps(call.in(0)));
  call.give(call.real(0));
}

void softmax(TfCall &call) {
  std::string x = call.real(0);
  const double beta = call.options().number<float>(0, 1.0f);
  if (beta != 1) x = call.node("Mul", {x, call.graph().number(beta)});
  call.give(call.open_node("Softmax", {x}).with("axis", -1));
}
void log_softmax(TfCall &call) {
  call.give(call.open_node("LogSoftmax", {call.real(0)}).with("axis", -1));
}

void l2_normalization(TfCall &call) {
  const std::string x = call.real(0);
  const std::string length = call.open_node("ReduceL2", {x, call.ints_constant({-1})}).with("keepdims", 1);
  call.give(call.node("Div", {x, call.node("Max", {length, call.graph().number(1e-6)})}));
}

std::string reduced(TfCall &call, const char *onnx) {
  std::vector<int64_t> axes = call.ints(1, "its list of axes");
  for (int64_t &axis : axes) axis = call.axis(axis, call.rank(0));
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return call.open_node(onnx, {call.real(0), call.ints_constant(axes)}).with("keepdims", call.options().flag(0) ? 1 : 0);
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

constexpr const char *kReal = "float32, or quantized: computed as real numbers, then rounded to the result's grid";

}  // namespace

const std::vector<TfRow> kTfArithmetic = {
    {"ABS", same, kReal},
    {"ADD", fused, kReal},
    {"ADD_N", same, kReal},
    {"ARG_MAX", arg_max, kReal},
    {"ARG_MIN", arg_min, kReal},
    {"CAST", cast, kReal},
    {"CEIL", same, kReal},
    {"COS", same, kReal},
    {"CUMSUM", cumsum, kReal},
    {"DEQUANTIZE", regrid, kReal},
    {"DIV", fused, kReal},
    {"ELU", same, kReal},
    {"EQUAL", same, kReal},
    {"EXP", same, kReal},
    {"FLOOR", same, kReal},
    {"GELU", gelu, kReal},
    {"GREATER", same, kReal},
    {"GREATER_EQUAL", greater_equal, kReal},
    {"HARD_SWISH", same, kReal},
    {"L2_NORMALIZATION", l2_normalization, kReal},
    {"LEAKY_RELU", leaky_relu, kReal},
    {"LESS", same, kReal},
    {"LESS_EQUAL", same, kReal},
    {"LOG", same, kReal},
    {"LOGICAL_AND", same, kReal},
    {"LOGICAL_NOT", same, kReal},
    {"LOGICAL_OR", same, kReal},
    {"LOGISTIC", same, kReal},
    {"LOG_SOFTMAX", log_softmax, kReal},
    {"MAXIMUM", same, kReal},
    {"MEAN", mean, kReal},
    {"MINIMUM", same, kReal},
    {"MUL", fused, kReal},
    {"NEG", same, kReal},
    {"NOT_EQUAL", not_equal, kReal},
    {"POW", same, kReal},
    {"PRELU", prelu, kReal},
    {"QUANTIZE", regrid, kReal},
    {"REDUCE_MAX", reduce_max, kReal},
    {"REDUCE_MIN", reduce_min, kReal},
    {"REDUCE_PROD", reduce_prod, kReal},
    {"RELU", same, kReal},
    {"RELU6", relu6, kReal},
    {"RELU_0_TO_1", relu_0_to_1, kReal},
    {"RELU_N1_TO_1", relu_n1_to_1, kReal},
    {"ROUND", same, kReal},
    {"RSQRT", rsqrt, kReal},
    {"SELECT", same, kReal},
    {"SELECT_V2", same, kReal},
    {"SIGN", same, kReal},
    {"SIN", same, kReal},
    {"SOFTMAX", softmax, kReal},
    {"SQRT", same, kReal},
    {"SQUARE", square, kReal},
    {"SQUARED_DIFFERENCE", squared_difference, kReal},
    {"SUB", fused, kReal},
    {"SUM", sum, kReal},
    {"TANH", same, kReal},
};

}  // namespace rnnp::compiler
