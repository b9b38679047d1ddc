// tensor.cpp -- Contract: tensor.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "compiler/onnx/budget.h"
#include "compiler/onnx/onnx_type.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {

Tensor::Tensor(Elem type, Shape sizes, int64_t limit, bool as_floats) : elem(type), shape(std::move(sizes)) {
  const int64_t count = element_count(shape, limit);
  Budget::charge_elements(count);
  const size_t size = static_cast<size_t>(count);
  data = as_floats ? TensorData(std::vector<float>(size)) : TensorData(std::vector<double>(size));
}

// The charge comes first: `dims` and `data` are copied after it.
Tensor::Tensor(const Tensor &other) : elem(other.elem), shape(other.shape), file_type(other.file_type) {
  Budget::charge_elements(other.size());
  data = other.data;
  dims = other.dims;
  steps = other.steps;
}

bool Tensor::is_dynamic() const {
  return std::any_of(dims.begin(), dims.end(), [](const Dim &dim) { return !dim.is_number(); });
}

Dim Tensor::dim(size_t i) const {
  return dims.empty() ? Dim(to_int(data[i])) : dims[i];
}

int64_t element_count(const Shape &shape, int64_t limit) {
  if (shape.size() > kMaxTensorRank)
    throw Refusal("a tensor of rank " + std::to_string(shape.size()) + "; accepted: up to " + std::to_string(kMaxTensorRank));
  bool empty = false;
  for (int64_t dim : shape) {
    if (dim < 0) throw Refusal("a tensor has the negative dimension " + std::to_string(dim));
    empty = empty || dim == 0;
  }
  if (empty) return 0;
  int64_t count = 1;
  for (int64_t dim : shape) {
    if (dim > limit / count) throw Refusal("a tensor of shape " + shape_text(shape) + " is too large");
    count *= dim;
  }
  return count;
}

Shape dense_strides(const Shape &shape) {
  Shape strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) {
    if (__builtin_mul_overflow(strides[i], std::max<int64_t>(shape[i], 1), &strides[i - 1]))
      throw Refusal("a tensor of shape " + shape_text(shape) + " is too large");
  }
  return strides;
}

int64_t to_int(double value) {
  if (std::isnan(value)) return 0;
  if (value >= 9223372036854775807.0) return std::numeric_limits<int64_t>::max();
  if (value <= -9223372036854775808.0) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(std::llround(value));
}

std::vector<int64_t> to_ints(const Tensor &tensor) {
  std::vector<int64_t> out;
  out.reserve(tensor.data.size());
  for (double value : tensor.data) out.push_back(to_int(value));
  return out;
}

Tensor dim_tensor(const std::vector<Dim> &values) {
  Tensor out(Elem::kInt, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) out.data[i] = static_cast<double>(values[i].stand_in());
  if (std::any_of(values.begin(), values.end(), [](const Dim &dim) { return !dim.is_number(); })) out.dims = values;
  return out;
}

std::vector<Dim> to_dims(const Tensor &tensor) {
  std::vector<Dim> out;
  for (size_t i = 0; i < tensor.data.size(); ++i) out.push_back(tensor.dim(i));
  return out;
}

Tensor int_tensor(const std::vector<int64_t> &values) {
  Tensor out(Elem::kInt, {static_cast<int64_t>(values.size())});
  std::transform(values.begin(), values.end(), out.data.begin(), [](int64_t v) { return static_cast<double>(v); });
  return out;
}

size_t normal_axis(int64_t axis, size_t rank) {
  const int64_t count = static_cast<int64_t>(rank);
  if (axis < -count || axis >= count) {
    throw Refusal("axis " + std::to_string(axis) + " is outside a tensor of rank " + std::to_string(rank));
  }
  return static_cast<size_t>(axis < 0 ? axis + count : axis);
}

size_t normal_index(int64_t index, int64_t size) {
  if (index < -size || index >= size)
    throw Refusal("index " + std::to_string(index) + " is outside an axis of " + std::to_string(size));
  return static_cast<size_t>(index < 0 ? index + size : index);
}

Tensor steps_tensor(const Tensor &tensor) {
  Tensor out(Elem::kFloat, tensor.shape, kMaxTensorElems);
  for (size_t i = 0; i < tensor.steps.size(); ++i) out.data[i] = static_cast<double>(tensor.steps[i]);
  return out;
}

DType stored_type(const Tensor &tensor) {
  switch (tensor.file_type) {
    case kOnnxFloat16:
      return DType::kF16;
    case kOnnxBfloat16:
      return DType::kBf16;
    case kOnnxInt8:
    case kOnnxUint8:
      return tensor.steps.empty() ? DType::kF32 : DType::kI8;
    case kOnnxInt4:
    case kOnnxUint4:
      return tensor.steps.empty() ? DType::kF32 : DType::kI4;
    default:
      return DType::kF32;
  }
}

}  // namespace rnnp::compiler
