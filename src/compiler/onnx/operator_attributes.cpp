// operator_attributes.cpp -- Contract: operator_attributes.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/operator_attributes.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <numeric>
#include <sstream>
#include <vector>

#include "compiler/onnx/refusal_of.h"
#include "compiler/onnx/rewrite.h"

namespace rnnp::compiler {
namespace {

// attributes: "name:type" separated by blanks, with ">=N" or "<=N" where only some of the opsets 7 to 22 have it. Types: i INT,
// f FLOAT, s STRING, t TENSOR, g GRAPH; capitals are lists.
struct AttributeRow {
  const char *op_type;
  const char *attributes;
};

const AttributeRow kAttributeRows[] = {
    {kStepOf, ""},
    {kStepsOf, ""},
    {kLastStep, ""},
    {kStartsAt, ""},
    {kTripsOf, ""},
    {kKeptSteps, ""},
    {kMaskedRnn, "activation_alpha:F activation_beta:F activations:S direction:s hidden_size:i"},
    {kMaskedGru, "activation_alpha:F activation_beta:F activations:S direction:s hidden_size:i linear_before_reset:i"},
    {kMaskedLstm, "activation_alpha:F activation_beta:F activations:S direction:s hidden_size:i"},
    {kLstmNorm, "activations:S by_gate:i direction:s epsilons:F hidden_size:i joint:i keeps_c:i"},
    {"Abs", ""},
    {"Acos", ""},
    {"Acosh", ""},
    {"Add", ""},
    {"And", ""},
    {"ArgMax", "axis:i keepdims:i select_last_index:i>=12"},
    {"ArgMin", "axis:i keepdims:i select_last_index:i>=12"},
    {"Asin", ""},
    {"Asinh", ""},
    {"Atan", ""},
    {"Atanh", ""},
    {"AveragePool", "auto_pad:s ceil_mode:i>=10 count_include_pad:i dilations:I>=19 kernel_shape:I pads:I strides:I"},
    {"BatchNormalization", "epsilon:f momentum:f spatial:i<=8 training_mode:i>=14"},
    {"Cast", "saturate:i>=19 to:i"},
    {"CastLike", "saturate:i>=19"},
    {"Ceil", ""},
    {"Celu", "alpha:f"},
    {"Clip", "max:f<=10 min:f<=10"},
    {"Concat", "axis:i"},
    {"Constant", "value:t value_float:f>=12 value_floats:F>=12 value_int:i>=12 value_ints:I>=12"},
    {"ConstantOfShape", "value:t"},
    {"Conv", "auto_pad:s dilations:I group:i kernel_shape:I pads:I strides:I"},
    {"ConvTranspose", "auto_pad:s dilations:I group:i kernel_shape:I output_padding:I output_shape:I pads:I strides:I"},
    {"Cos", ""},
    {"Cosh", ""},
    {"CumSum", "exclusive:i reverse:i"},
    {"DepthToSpace", "blocksize:i mode:s>=11"},
    {"DequantizeLinear", "axis:i>=13 block_size:i>=21 output_dtype:i>=23"},
    {"Div", ""},
    {"Dropout", "ratio:f<=11 seed:i>=12"},
    {"Einsum", "equation:s"},
    {"Elu", "alpha:f"},
    {"Equal", ""},
    {"Erf", ""},
    {"Exp", ""},
    {"Expand", ""},
    {"Flatten", "axis:i"},
    {"Floor", ""},
    {"GRU",
     "activation_alpha:F activation_beta:F activations:S clip:f direction:s hidden_size:i layout:i>=14 linear_before_reset:i"},
    {"Gather", "axis:i"},
    {"GatherElements", "axis:i"},
    {"GatherND", "batch_dims:i>=12"},
    {"Gelu", "approximate:s"},
    {"Gemm", "alpha:f beta:f transA:i transB:i"},
    {"GlobalAveragePool", ""},
    {"GlobalLpPool", "p:i"},
    {"GlobalMaxPool", ""},
    {"Greater", ""},
    {"GreaterOrEqual", ""},
    {"GroupNormalization", "epsilon:f num_groups:i stash_type:i>=21"},
    {"HardSigmoid", "alpha:f beta:f"},
    {"HardSwish", ""},
    {"Identity", ""},
    {"If", "else_branch:g then_branch:g"},
    {"InstanceNormalization", "epsilon:f"},
    {"IsInf", "detect_negative:i detect_positive:i"},
    {"IsNaN", ""},
    {"LSTM", "activation_alpha:F activation_beta:F activations:S clip:f direction:s hidden_size:i input_forget:i layout:i>=14"},
    {"LayerNormalization", "axis:i epsilon:f stash_type:i"},
    {"LeakyRelu", "alpha:f"},
    {"Less", ""},
    {"LessOrEqual", ""},
    {"Log", ""},
    {"Loop", "body:g"},
    {"LogSoftmax", "axis:i"},
    {"LpNormalization", "axis:i p:i"},
    {"LpPool", "auto_pad:s ceil_mode:i>=18 dilations:I>=18 kernel_shape:I p:i pads:I strides:I"},
    {"MatMul", ""},
    {"Max", ""},
    {"MaxPool", "auto_pad:s ceil_mode:i>=10 dilations:I>=10 kernel_shape:I pads:I storage_order:i>=8 strides:I"},
    {"Mean", ""},
    {"Min", ""},
    {"Mish", ""},
    {"Mod", "fmod:i"},
    {"Mul", ""},
    {"Neg", ""},
    {"Not", ""},
    {"OneHot", "axis:i"},
    {"Or", ""},
    {"PRelu", ""},
    {"Pad", "mode:s pads:I<=10 value:f<=10"},
    {"Pow", ""},
    {"RNN", "activation_alpha:F activation_beta:F activations:S clip:f direction:s hidden_size:i layout:i>=14"},
    {"QuantizeLinear", "axis:i>=13 block_size:i>=21 output_dtype:i>=21 precision:i>=23 saturate:i>=19"},
    {"Range", ""},
    {"Reciprocal", ""},
    {"ReduceL1", "axes:I<=17 keepdims:i noop_with_empty_axes:i>=18"},
    {"ReduceL2", "axes:I<=17 keepdims:i noop_with_empty_axes:i>=18"},
    {"ReduceLogSum", "axes:I<=17 keepdims:i noop_with_empty_axes:i>=18"},
    {"ReduceLogSumExp", "axes:I<=17 keepdims:i noop_with_empty_axes:i>=18"},
    {"ReduceMax", "axes:I<=17 keepdims:i noop_with_empty_axes:i>=18"},
    {"ReduceMean", "axes:I<=17 keepdims:i noop_with_empty_axes:i>=18"},
    {"ReduceMin", "axes:I<=17 keepdims:i noop_with_empty_axes:i>=18"},
    {"ReduceProd", "axes:I<=17 keepdims:i noop_with_empty_axes:i>=18"},
    {"ReduceSum", "axes:I<=12 keepdims:i noop_with_empty_axes:i>=13"},
    {"ReduceSumSquare", "axes:I<=17 keepdims:i noop_with_empty_axes:i>=18"},
    {"Relu", ""},
    {"Reshape", "allowzero:i>=14"},
    {"Resize",
     "mode:s antialias:i>=18 axes:I>=18 coordinate_transformation_mode:s>=11 cubic_coeff_a:f>=11 exclude_outside:i>=11 "
     "extrapolation_value:f>=11 keep_aspect_ratio_policy:s>=18 nearest_mode:s>=11"},
    {"ReverseSequence", "batch_axis:i time_axis:i"},
    {"Round", ""},
    {"Scan", "body:g num_scan_inputs:i scan_input_axes:I scan_input_directions:I scan_output_axes:I scan_output_directions:I"},
    {"ScatterElements", "axis:i reduction:s>=16"},
    {"ScatterND", "reduction:s>=16"},
    {"Selu", "alpha:f gamma:f"},
    {"Shape", "end:i>=15 start:i>=15"},
    {"Shrink", "bias:f lambd:f"},
    {"Sigmoid", ""},
    {"Sign", ""},
    {"Sin", ""},
    {"Sinh", ""},
    {"Size", ""},
    {"Slice", "axes:I<=9 ends:I<=9 starts:I<=9"},
    {"Softmax", "axis:i"},
    {"Softplus", ""},
    {"Softsign", ""},
    {"SpaceToDepth", "blocksize:i"},
    {"Split", "axis:i num_outputs:i>=18 split:I<=12"},
    {"Sqrt", ""},
    {"Squeeze", "axes:I<=12"},
    {"Sub", ""},
    {"Sum", ""},
    {"Tan", ""},
    {"Tanh", ""},
    {"ThresholdedRelu", "alpha:f"},
    {"Tile", ""},
    {"TopK", "axis:i k:i<=9 largest:i>=11 sorted:i>=11"},
    {"Transpose", "perm:I"},
    {"Trilu", "upper:i"},
    {"Unsqueeze", "axes:I<=12"},
    {"Where", ""},
    {"Xor", ""},
};

struct Known {
  std::string name;
  char type = 0;
  int64_t first = 0, last = INT64_MAX;  // opsets
};

Known parse(const std::string &text) {
  const size_t colon = text.find(':');
  Known known{text.substr(0, colon), text[colon + 1]};
  const std::string range = text.substr(colon + 2);
  if (range.compare(0, 2, ">=") == 0) known.first = std::atoll(range.c_str() + 2);
  if (range.compare(0, 2, "<=") == 0) known.last = std::atoll(range.c_str() + 2);
  return known;
}

const std::map<std::string, std::vector<Known>> &table() {
  static const std::map<std::string, std::vector<Known>> kTable = [] {
    std::map<std::string, std::vector<Known>> made;
    for (const AttributeRow &row : kAttributeRows) {
      std::vector<Known> &list = made[row.op_type];
      std::istringstream words(row.attributes);
      for (std::string word; words >> word;) list.push_back(parse(word));
    }
    return made;
  }();
  return kTable;
}

struct Type {
  char letter;
  OnnxAttribute::Kind type;
  const char *name;
};
constexpr Type kTypes[] = {
    {'i', OnnxAttribute::kInt, "an integer"},          {'f', OnnxAttribute::kFloat, "a float"},
    {'s', OnnxAttribute::kString, "a string"},         {'t', OnnxAttribute::kTensor, "a tensor"},
    {'g', OnnxAttribute::kGraph, "a graph"},           {'I', OnnxAttribute::kInts, "a list of integers"},
    {'F', OnnxAttribute::kFloats, "a list of floats"}, {'S', OnnxAttribute::kStrings, "a list of strings"},
};

// Letters to change, add or take away, whatever their case.
size_t distance(const std::string &a, const std::string &b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t corner = row[0];
    row[0] = i + 1;
    for (size_t k = 0; k < b.size(); ++k) {
      const bool same = std::tolower(static_cast<unsigned char>(a[i])) == std::tolower(static_cast<unsigned char>(b[k]));
      const size_t changed = corner + (same ? 0 : 1);
      corner = row[k + 1];
      row[k + 1] = std::min({changed, row[k] + 1, corner + 1});
    }
  }
  return row.back();
}

[[noreturn]] void refuse_unknown(const std::string &name, const std::vector<Known> &known, int64_t opset) {
  std::string list, nearest;
  size_t best = SIZE_MAX;
  for (const Known &each : known) {
    if (opset < each.first || opset > each.last) continue;
    list += (list.empty() ? "" : ", ") + each.name;
    const size_t far = distance(name.substr(0, 64), each.name);
    if (far < best) {
      best = far;
      nearest = each.name;
    }
  }
  std::string text = "attribute " + quote(name) + " is not known; accepted: " + (list.empty() ? "no attributes" : list);
  if (best <= 2 || best * 2 <= nearest.size()) text += " (the nearest is " + quote(nearest) + ")";
  throw Refusal(text);
}

const Known *find(const std::vector<Known> &known, const std::string &name) {
  const auto found = std::find_if(known.begin(), known.end(), [&](const Known &each) { return each.name == name; });
  return found == known.end() ? nullptr : &*found;
}

void check_type(const OnnxAttribute &attribute, const Known &known) {
  for (const Type &type : kTypes) {
    if (type.letter == known.type && type.type != attribute.type())
      throw Refusal("attribute " + quote(known.name) + " has the wrong type; accepted: " + type.name);
  }
}

void check(const OnnxAttribute &attribute, const std::vector<Known> &known, int64_t opset) {
  const Known *found = find(known, attribute.name());
  if (found == nullptr) refuse_unknown(attribute.name(), known, opset);
  if (opset < found->first || opset > found->last) {
    throw Refusal(
        "attribute " + quote(found->name) + " is of opset " +
        (opset < found->first ? std::to_string(found->first) + " and later" : std::to_string(found->last) + " and earlier") +
        "; the model has opset " + std::to_string(opset));
  }
  check_type(attribute, *found);
}

}  // namespace

bool has_attribute_row(const std::string &op_type) {
  return table().count(op_type) != 0;
}

void check_attributes(const OnnxNode &node, int64_t opset) {
  const auto row = table().find(node.op_type());
  if (row == table().end()) return;
  std::vector<std::string> seen;
  for (const OnnxAttribute &attribute : node.attribute()) {
    check(attribute, row->second, opset);
    // The table bounds how many there can be.
    if (std::find(seen.begin(), seen.end(), attribute.name()) != seen.end())
      throw Refusal("attribute " + quote(attribute.name()) + " is given twice");
    seen.push_back(attribute.name());
  }
}

void check_attribute_types(const OnnxGraph &graph, Problems *problems) {
  for (const OnnxNode &node : graph.node()) {
    const auto row = node.domain().empty() || node.domain() == "ai.onnx" ? table().find(node.op_type()) : table().end();
    for (const OnnxAttribute &attribute : node.attribute()) {
      const Known *known = row == table().end() ? nullptr : find(row->second, attribute.name());
      const auto refusal = refusal_of([&] {
        if (known != nullptr) check_type(attribute, *known);
      });
      if (refusal) problems->add(node_title(node), node.op_type(), *refusal);
      if (attribute.type() == OnnxAttribute::kGraph) check_attribute_types(attribute.g(), problems);
    }
  }
}

}  // namespace rnnp::compiler
