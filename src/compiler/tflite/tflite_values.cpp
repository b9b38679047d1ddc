// tflite_values.cpp -- constants and grids of a TensorFlow Lite file. Contract: tflite_graph.h. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "compiler/onnx/budget.h"
#include "compiler/onnx/tensor.h"
#include "compiler/tflite/tflite_graph.h"

namespace rnnp::compiler {
namespace {

// What the integers of a quantized type reach to.
std::pair<double, double> integer_range(TfType type) {
  switch (type) {
    case TfType::kInt8:
      return {-128, 127};
    case TfType::kUint8:
      return {0, 255};
    case TfType::kInt16:
      return {-32768, 32767};
    case TfType::kInt32:
      return {-2147483648.0, 2147483647.0};
    default:
      throw Refusal("a quantized tensor of type " + tflite_type_name(type) + "; accepted: int8, uint8, int16 and int32");
  }
}

float float_of_half(uint16_t bits) {
  const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  const float sign = (bits & 0x8000) != 0 ? -1.0f : 1.0f;
  if (exponent == 31) return fraction == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  return sign * std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
}

double element_at(const TfTensor &tensor, size_t i) {
  const uint8_t *at = tensor.data.data;
  switch (tensor.type) {
    case TfType::kFloat32:
      return little_endian<float>(at + 4 * i);
    case TfType::kFloat16:
      return float_of_half(little_endian<uint16_t>(at + 2 * i));
    case TfType::kBfloat16: {
      const uint32_t bits = uint32_t{little_endian<uint16_t>(at + 2 * i)} << 16;
      float value;
      std::memcpy(&value, &bits, 4);
      return value;
    }
    case TfType::kInt32:
      return little_endian<int32_t>(at + 4 * i);
    case TfType::kInt64:
      return static_cast<double>(little_endian<int64_t>(at + 8 * i));
    case TfType::kInt16:
      return little_endian<int16_t>(at + 2 * i);
    case TfType::kInt8:
      return static_cast<int8_t>(at[i]);
    case TfType::kUint8:
    case TfType::kBool:
      return at[i];
    case TfType::kInt4: {
      const int nibble = (at[i / 2] >> (i % 2 == 0 ? 0 : 4)) & 15;
      return nibble >= 8 ? nibble - 16 : nibble;
    }
    case TfType::kResource:
      break;
  }
  throw Refusal("a constant of " + tflite_type_name(tensor.type) + "; accepted: numbers");
}

// Which of its scales an element has.
size_t scale_index(const TfTensor &tensor, size_t element) {
  if (tensor.scales.size() == 1) return 0;
  size_t inner = 1;
  for (size_t i = tensor.axis + 1; i < tensor.shape.size(); ++i) inner *= static_cast<size_t>(tensor.shape[i]);
  return element / inner % tensor.scales.size();
}

std::string raw_of(const TfTensor &tensor) {
  Budget::charge_elements(tensor.elements());
  return std::string(reinterpret_cast<const char *>(tensor.data.data), tensor.data.size);
}

}  // namespace

int onnx_element_type(TfType type) {
  switch (type) {
    case TfType::kFloat32:
      return kOnnxFloat;
    case TfType::kFloat16:
      return kOnnxFloat16;
    case TfType::kBfloat16:
      return kOnnxBfloat16;
    case TfType::kInt8:
      return kOnnxInt8;
    case TfType::kUint8:
      return kOnnxUint8;
    case TfType::kInt16:
      return kOnnxInt16;
    case TfType::kInt32:
      return kOnnxInt32;
    case TfType::kInt64:
      return kOnnxInt64;
    case TfType::kBool:
      return kOnnxBool;
    case TfType::kInt4:
      return kOnnxInt4;
    case TfType::kResource:
      break;
  }
  throw Refusal("a constant of " + tflite_type_name(type) + "; accepted: numbers");
}

bool has_single_scale(const TfTensor &tensor) {
  return tensor.scales.size() == 1;
}

TfGrid grid_of(const TfTensor &tensor) {
  if (!has_single_scale(tensor))
    throw Refusal("tensor " + quote(tensor.name) + " has a scale for each channel; accepted: weights alone have");
  if (tensor.scales[0] <= 0) throw Refusal("tensor " + quote(tensor.name) + " has the scale 0; accepted: above 0");
  const auto range = integer_range(tensor.type);
  const double zero = static_cast<double>(tensor.zeros[0]);
  return {tensor.scales[0], range.first - zero, range.second - zero, zero};
}

bool is_same_grid(const TfTensor &a, const TfTensor &b) {
  return a.is_quantized() == b.is_quantized() && a.scales == b.scales && a.zeros == b.zeros &&
         (!a.is_quantized() || a.type == b.type);
}

std::vector<double> elements_of(const TfTensor &tensor) {
  if (!tensor.is_constant() && tensor.elements() != 0)
    throw Refusal("tensor " + quote(tensor.name) + " is computed; accepted: a constant");
  const size_t count = static_cast<size_t>(tensor.elements());
  Budget::charge_elements(tensor.elements());
  std::vector<double> out(count);
  for (size_t i = 0; i < count; ++i) out[i] = element_at(tensor, i);
  return out;
}

std::vector<double> integers_of(const TfTensor &tensor) {
  std::vector<double> out = elements_of(tensor);
  if (!tensor.is_quantized()) return out;
  for (size_t i = 0; i < out.size(); ++i) out[i] -= static_cast<double>(tensor.zeros[scale_index(tensor, i)]);
  return out;
}

std::vector<double> reals_of(const TfTensor &tensor) {
  std::vector<double> out = integers_of(tensor);
  if (!tensor.is_quantized()) return out;
  for (size_t i = 0; i < out.size(); ++i) out[i] *= tensor.scales[scale_index(tensor, i)];
  return out;
}

std::string dequantized_constant(GraphBuilder *nodes, GraphBuilder *constants, const TfTensor &tensor, const std::string &wished) {
  if (tensor.type == TfType::kFloat16 || tensor.type == TfType::kBfloat16) {
    const std::vector<double> values = elements_of(tensor);
    return constants->constant(wished, tensor.shape, std::vector<float>(values.begin(), values.end()));
  }
  std::string raw = constants->constant_raw(wished, onnx_element_type(tensor.type), tensor.shape, raw_of(tensor));
  if (!tensor.is_quantized()) return raw;
  const std::vector<int64_t> shape =
      tensor.scales.size() == 1 ? std::vector<int64_t>() : std::vector<int64_t>{static_cast<int64_t>(tensor.scales.size())};
  std::vector<std::string> inputs = {raw, constants->constant(wished + "_scale", shape, tensor.scales)};
  if (std::any_of(tensor.zeros.begin(), tensor.zeros.end(), [](int64_t zero) { return zero != 0; })) {
    std::string zeros;
    const int bytes = tflite_type_bits(tensor.type) / 8;
    if (bytes == 0) throw Refusal("tensor " + quote(tensor.name) + " of int4 has a zero point; accepted: 0");
    for (const int64_t zero : tensor.zeros) {
      for (int b = 0; b < bytes; ++b) zeros += static_cast<char>(static_cast<uint64_t>(zero) >> (8 * b));
    }
    inputs.push_back(constants->constant_raw(wished + "_zero", onnx_element_type(tensor.type), shape, zeros));
  }
  return nodes->node("DequantizeLinear", inputs, wished + "_f32").with("axis", static_cast<int64_t>(tensor.axis));
}

}  // namespace rnnp::compiler
