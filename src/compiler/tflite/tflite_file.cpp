// tflite_file.cpp -- Contract: tflite_file.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/tflite/tflite_file.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "compiler/onnx/model_file.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

constexpr const char *kKind = "the TensorFlow Lite file";
constexpr uint32_t kVersion = 3;

// The numbers that the schema gives to the fields of its tables.
namespace model_field {
enum { kVersionNumber = 0, kCodes = 1, kSubgraphs = 2, kBuffers = 4, kSignatures = 7 };
}
namespace code_field {
enum { kDeprecated = 0, kCustom = 1, kBuiltin = 3 };
}
namespace graph_field {
enum { kTensors = 0, kInputs = 1, kOutputs = 2, kOperators = 3, kName = 4 };
}
namespace tensor_field {
enum { kShape = 0, kType = 1, kBuffer = 2, kName = 3, kQuantization = 4, kIsVariable = 5, kSparsity = 6, kSignature = 7 };
}
namespace quantization_field {
enum { kScale = 2, kZero = 3, kDetailsType = 4, kAxis = 6 };
}
namespace operator_field {
enum { kCode = 0, kInputs = 1, kOutputs = 2, kOptions = 4, kOptions2 = 12 };
}
namespace signature_field {
enum { kInputs = 0, kOutputs = 1, kSubgraph = 4 };
}

struct Code {
  int number;
  std::string custom;
};

[[noreturn]] void refuse(const std::string &why) {
  throw ModelError(std::string(kKind) + " " + why);
}

void read_quantization(const FlatTable &table, TfTensor *tensor) {
  if (table.number<uint8_t>(quantization_field::kDetailsType, 0) != 0)
    refuse("has tensor " + quote(tensor->name) + " in a quantization of its own kind; accepted: scales and zero points");
  tensor->scales = table.numbers<float>(quantization_field::kScale);
  if (tensor->scales.empty()) return;
  tensor->zeros = table.numbers<int64_t>(quantization_field::kZero);
  if (tensor->zeros.empty()) tensor->zeros.assign(tensor->scales.size(), 0);
  const int32_t axis = table.number<int32_t>(quantization_field::kAxis, 0);
  const size_t count = tensor->scales.size();
  const bool fits = count == 1 || (axis >= 0 && static_cast<size_t>(axis) < tensor->shape.size() &&
                                   tensor->shape[static_cast<size_t>(axis)] == static_cast<int64_t>(count));
  const auto is_scale = [](float scale) { return std::isfinite(scale) && scale >= 0; };
  const auto is_zero = [](int64_t zero) { return zero >= INT16_MIN && zero <= INT16_MAX; };
  if (!fits || tensor->zeros.size() != count || !std::all_of(tensor->scales.begin(), tensor->scales.end(), is_scale) ||
      !std::all_of(tensor->zeros.begin(), tensor->zeros.end(), is_zero))
    refuse("has tensor " + quote(tensor->name) + " of shape " + shape_text(tensor->shape) + " with " + std::to_string(count) +
           " scales and " + std::to_string(tensor->zeros.size()) +
           " zero points; accepted: one, or one for each index of an axis, finite and in range");
  tensor->axis = count == 1 ? 0 : static_cast<size_t>(axis);
}

void read_shape(const FlatTable &table, TfTensor *tensor) {
  const std::vector<int32_t> shape = table.numbers<int32_t>(tensor_field::kShape);
  const std::vector<int32_t> open = table.numbers<int32_t>(tensor_field::kSignature);
  tensor->shape.assign(shape.begin(), shape.end());
  if (open.size() == shape.size()) {
    for (size_t i = 0; i < open.size(); ++i) {
      if (open[i] < 0) tensor->shape[i] = -1;
    }
  }
  const bool fits = std::all_of(tensor->shape.begin(), tensor->shape.end(), [](int64_t d) { return d >= -1; });
  if (!fits || tensor->shape.size() > 8)
    refuse("has tensor " + quote(tensor->name) + " of shape " + shape_text(tensor->shape) + "; accepted: up to 8 axes");
}

// Constants are as long as their shapes say.
void check_data(TfTensor *tensor) {
  const int bits = tflite_type_bits(tensor->type);
  if (!tensor->is_constant() || bits == 0) return;
  double elements = 1;
  for (const int64_t d : tensor->shape) elements *= static_cast<double>(d);
  if (elements < 0 || std::ceil(elements * bits / 8) != static_cast<double>(tensor->data.size))
    refuse("is truncated or damaged: tensor " + quote(tensor->name) + " is " + tflite_type_name(tensor->type) + " of shape " +
           shape_text(tensor->shape) + " and has " + std::to_string(tensor->data.size) + " bytes");
}

TfTensor read_tensor(const FlatTable &table, const std::vector<FlatTable> &buffers) {
  TfTensor tensor;
  tensor.name = table.text(tensor_field::kName);
  tensor.type = static_cast<TfType>(table.number<int8_t>(tensor_field::kType, 0));
  tensor.is_variable = table.flag(tensor_field::kIsVariable);
  read_shape(table, &tensor);
  if (table.has(tensor_field::kSparsity))
    refuse("has tensor " + quote(tensor.name) + " in a sparse form; accepted: dense tensors (pruned weights stay sparse here)");
  if (const auto quantization = table.table(tensor_field::kQuantization, "a quantization"))
    read_quantization(*quantization, &tensor);
  const uint32_t buffer = table.number<uint32_t>(tensor_field::kBuffer, 0);
  if (buffer >= buffers.size())
    refuse("is truncated or damaged: tensor " + quote(tensor.name) + " is in buffer " + std::to_string(buffer) + " of " +
           std::to_string(buffers.size()));
  if (buffers[buffer].number<uint64_t>(1, 0) > 1)
    refuse("keeps its weights behind the tables, as files beyond 2 GiB do; accepted: weights in the buffers of the tables");
  const FlatBytes data = buffers[buffer].span(0);
  if (data.size != 0) tensor.data = data;
  check_data(&tensor);
  return tensor;
}

void check_indices(const std::vector<int32_t> &indices, int32_t least, const TfSubgraph &graph, const std::string &who) {
  for (const int32_t i : indices) {
    if (i < least || i >= static_cast<int64_t>(graph.tensors.size()))
      refuse("is truncated or damaged: " + who + " names tensor " + std::to_string(i) + " of " +
             std::to_string(graph.tensors.size()));
  }
}

TfOperator read_operator(const FlatTable &table, const std::vector<Code> &codes, FlatFile *file) {
  const uint32_t code = table.number<uint32_t>(operator_field::kCode, 0);
  if (code >= codes.size()) file->refuse("an operator has kind " + std::to_string(code) + " of " + std::to_string(codes.size()));
  const auto options = table.table(operator_field::kOptions, "an operator's options");
  const auto more = options ? options : table.table(operator_field::kOptions2, "an operator's options");
  return {codes[code].number, codes[code].custom, table.numbers<int32_t>(operator_field::kInputs),
          table.numbers<int32_t>(operator_field::kOutputs), more ? *more : FlatTable()};
}

// DEQUANTIZE of a constant is the constant: whoever reads one reads real numbers.
void read_constants_in_place(TfSubgraph *graph) {
  std::map<int32_t, int32_t> constants;
  const auto is_of_constant = [&](const TfOperator &op) {
    return tflite_operator_name(op) == "DEQUANTIZE" && op.inputs.size() == 1 && op.outputs.size() == 1 && op.inputs[0] >= 0 &&
           graph->tensors[static_cast<size_t>(op.inputs[0])].is_constant();
  };
  for (const TfOperator &op : graph->operators) {
    if (is_of_constant(op)) constants.emplace(op.outputs[0], op.inputs[0]);
  }
  if (constants.empty()) return;
  const auto rename = [&](std::vector<int32_t> *names) {
    for (int32_t &name : *names) {
      const auto found = constants.find(name);
      if (found != constants.end()) name = found->second;
    }
  };
  graph->operators.erase(std::remove_if(graph->operators.begin(), graph->operators.end(), is_of_constant), graph->operators.end());
  for (TfOperator &op : graph->operators) rename(&op.inputs);
  rename(&graph->outputs);
}

TfSubgraph read_subgraph(const FlatTable &table, const std::vector<Code> &codes, const std::vector<FlatTable> &buffers,
                         FlatFile *file) {
  TfSubgraph graph;
  graph.name = table.text(graph_field::kName);
  for (const FlatTable &tensor : table.tables(graph_field::kTensors, "a tensor"))
    graph.tensors.push_back(read_tensor(tensor, buffers));
  graph.inputs = table.numbers<int32_t>(graph_field::kInputs);
  graph.outputs = table.numbers<int32_t>(graph_field::kOutputs);
  check_indices(graph.inputs, 0, graph, "a list of inputs");
  check_indices(graph.outputs, 0, graph, "a list of outputs");
  for (const FlatTable &op : table.tables(graph_field::kOperators, "an operator")) {
    graph.operators.push_back(read_operator(op, codes, file));
    check_indices(graph.operators.back().inputs, -1, graph, "operator " + tflite_operator_name(graph.operators.back()));
    check_indices(graph.operators.back().outputs, 0, graph, "operator " + tflite_operator_name(graph.operators.back()));
  }
  read_constants_in_place(&graph);
  return graph;
}

std::vector<std::pair<std::string, int32_t>> read_names(const FlatTable &signature, int field) {
  std::vector<std::pair<std::string, int32_t>> out;
  for (const FlatTable &map : signature.tables(field, "a signature's name"))
    out.emplace_back(map.text(0), static_cast<int32_t>(map.number<uint32_t>(1, 0)));
  return out;
}

const char *const kOperatorNames[] = {
#define TFLITE_OPERATOR(name) #name,
#include "compiler/tflite/tflite_operators.inc"
#undef TFLITE_OPERATOR
};

}  // namespace

int64_t TfTensor::elements() const {
  constexpr int64_t kMost = int64_t{1} << 40;  // more than any file holds
  int64_t count = 1;
  for (const int64_t d : shape) count = d <= 0 ? 0 : count > kMost / d ? kMost : count * d;
  return count;
}

bool is_tflite(FlatBytes bytes) {
  return bytes.size >= 8 && std::memcmp(bytes.data + 4, "TFL", 3) == 0;
}

TfModel read_tflite(FlatBytes bytes) {
  TfModel out;
  out.file = std::make_unique<FlatFile>(bytes, kKind);
  if (bytes.size < 8 || std::memcmp(bytes.data + 4, "TFL3", 4) != 0) refuse("is of another version than 3, the one that is read");
  const FlatTable model = FlatTable::root(out.file.get(), "the model");
  const uint32_t version = model.number<uint32_t>(model_field::kVersionNumber, 0);
  if (version != kVersion)
    refuse("is of version " + std::to_string(version) + "; accepted: " + std::to_string(kVersion) + ", which all converters write");
  std::vector<Code> codes;
  for (const FlatTable &code : model.tables(model_field::kCodes, "a kind of operator")) {
    const int old = code.number<int8_t>(code_field::kDeprecated, 0);
    codes.push_back({std::max(old, code.number<int32_t>(code_field::kBuiltin, 0)), code.text(code_field::kCustom)});
  }
  const std::vector<FlatTable> buffers = model.tables(model_field::kBuffers, "a buffer");
  for (const FlatTable &graph : model.tables(model_field::kSubgraphs, "a subgraph"))
    out.graphs.push_back(read_subgraph(graph, codes, buffers, out.file.get()));
  if (out.graphs.empty()) refuse("has no subgraph, so there is no network in it");
  const std::vector<FlatTable> signatures = model.tables(model_field::kSignatures, "a signature");
  if (signatures.size() == 1 && signatures[0].number<uint32_t>(signature_field::kSubgraph, 0) == 0) {
    out.input_names = read_names(signatures[0], signature_field::kInputs);
    out.output_names = read_names(signatures[0], signature_field::kOutputs);
  }
  return out;
}

std::string tflite_operator_name(const TfOperator &op) {
  if (!op.custom.empty()) return "CUSTOM " + quote(op.custom);
  const bool known = op.code >= 0 && static_cast<size_t>(op.code) < sizeof kOperatorNames / sizeof *kOperatorNames;
  return known ? kOperatorNames[op.code] : "operator " + std::to_string(op.code);
}

std::string tflite_type_name(TfType type) {
  switch (type) {
    case TfType::kFloat32:
      return "float32";
    case TfType::kFloat16:
      return "float16";
    case TfType::kInt32:
      return "int32";
    case TfType::kUint8:
      return "uint8";
    case TfType::kInt64:
      return "int64";
    case TfType::kBool:
      return "bool";
    case TfType::kInt16:
      return "int16";
    case TfType::kInt8:
      return "int8";
    case TfType::kResource:
      return "resource";
    case TfType::kInt4:
      return "int4";
    case TfType::kBfloat16:
      return "bfloat16";
  }
  return "type " + std::to_string(static_cast<int>(type));
}

int tflite_type_bits(TfType type) {
  switch (type) {
    case TfType::kInt4:
      return 4;
    case TfType::kUint8:
    case TfType::kBool:
    case TfType::kInt8:
      return 8;
    case TfType::kFloat16:
    case TfType::kBfloat16:
    case TfType::kInt16:
      return 16;
    case TfType::kFloat32:
    case TfType::kInt32:
      return 32;
    case TfType::kInt64:
      return 64;
    case TfType::kResource:
      return 0;
  }
  return 0;
}

}  // namespace rnnp::compiler
