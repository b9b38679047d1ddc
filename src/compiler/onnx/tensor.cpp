// tensor.cpp -- TensorProto to doubles, with every size checked before it is believed. Contract: tensor.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/tensor.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "compiler/onnx/budget.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {

Tensor::Tensor(Elem type, Shape sizes, int64_t limit) : elem(type), shape(std::move(sizes)) {
  const int64_t count = element_count(shape, limit);
  Budget::charge_elements(count);
  data.resize(static_cast<size_t>(count));
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
    case onnx::TensorProto::FLOAT16:
      return DType::kF16;
    case onnx::TensorProto::BFLOAT16:
      return DType::kBf16;
    case onnx::TensorProto::INT8:
    case onnx::TensorProto::UINT8:
      return tensor.steps.empty() ? DType::kF32 : DType::kI8;
    case kInt4Type:
    case kUint4Type:
      return tensor.steps.empty() ? DType::kF32 : DType::kI4;
    default:
      return DType::kF32;
  }
}

namespace {

double half_to_double(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  double value = 0;
  if (exponent == 31) {
    value = fraction ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  } else {
    value = exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24);
  }
  return (bits & 0x8000) ? -value : value;
}

double bfloat_to_double(uint16_t bits) {
  const uint32_t wide = uint32_t{bits} << 16;
  float value = 0;
  std::memcpy(&value, &wide, sizeof value);
  return static_cast<double>(value);
}

template <typename T, typename Convert>
void from_raw(const std::string &raw, Tensor *out, Convert convert) {
  if (raw.size() != out->data.size() * sizeof(T)) {
    throw Refusal("raw_data holds " + std::to_string(raw.size()) + " bytes where its shape " + shape_text(out->shape) + " needs " +
                  std::to_string(out->data.size() * sizeof(T)));
  }
  for (size_t i = 0; i < out->data.size(); ++i) {
    T value;
    std::memcpy(&value, raw.data() + i * sizeof(T), sizeof(T));
    out->data[i] = convert(value);
  }
}

template <typename Field, typename Convert>
void from_field(const Field &field, Tensor *out, Convert convert) {
  if (static_cast<size_t>(field.size()) != out->data.size()) {
    throw Refusal("it holds " + std::to_string(field.size()) + " elements where its shape " + shape_text(out->shape) + " needs " +
                  std::to_string(out->data.size()));
  }
  for (int i = 0; i < field.size(); ++i) out->data[static_cast<size_t>(i)] = convert(field.Get(i));
}

// Raw: the type in raw_data. Field: the typed repeated field that replaces raw_data.
template <typename Raw, typename Field, typename Convert>
void fill(const onnx::TensorProto &proto, const Field &field, Tensor *out, Convert convert) {
  if (proto.has_raw_data()) {
    from_raw<Raw>(proto.raw_data(), out, convert);
  } else {
    from_field(field, out, [&](auto v) { return convert(static_cast<Raw>(v)); });
  }
}

Elem elem_of(int type) {
  switch (type) {
    case onnx::TensorProto::FLOAT:
    case onnx::TensorProto::DOUBLE:
    case onnx::TensorProto::FLOAT16:
    case onnx::TensorProto::BFLOAT16:
      return Elem::kFloat;
    case onnx::TensorProto::BOOL:
      return Elem::kBool;
    default:
      return Elem::kInt;
  }
}

// Two numbers in a byte, the first one in the low half; one byte in each element where they are not raw.
void fill_nibbles(const onnx::TensorProto &proto, bool is_signed, Tensor *out) {
  const auto &field = proto.int32_data();
  const bool raw = proto.has_raw_data();
  const size_t bytes = (out->data.size() + 1) / 2, held = raw ? proto.raw_data().size() : static_cast<size_t>(field.size());
  if (held != bytes)
    throw Refusal("it holds " + std::to_string(held) + " bytes of two numbers each where its shape " + shape_text(out->shape) +
                  " needs " + std::to_string(bytes));
  for (size_t i = 0; i < out->data.size(); ++i) {
    const int byte = raw ? proto.raw_data()[i / 2] : field.Get(static_cast<int>(i / 2));
    const int nibble = byte >> (i % 2 * 4) & 15;
    out->data[i] = is_signed && nibble > 7 ? nibble - 16 : nibble;
  }
}

// No allocation before the stored bytes are known to be there: a hostile file may state any shape.
void check_stored(const onnx::TensorProto &proto, int64_t count) {
  const int64_t stored = proto.has_raw_data() ? static_cast<int64_t>(proto.raw_data().size())
                                              : int64_t{proto.float_data_size()} + proto.int32_data_size() +
                                                    proto.int64_data_size() + proto.double_data_size() + proto.uint64_data_size();
  const bool nibbles = proto.data_type() == kInt4Type || proto.data_type() == kUint4Type;
  if ((nibbles ? count / 2 : count) > stored) {
    throw Refusal("it holds " + std::to_string(stored) + (proto.has_raw_data() ? " bytes" : " elements") +
                  " where its shape needs " + std::to_string(count) + " elements");
  }
}

}  // namespace

Tensor read_tensor(const onnx::TensorProto &proto) {
  if (proto.data_location() == onnx::TensorProto::EXTERNAL || proto.external_data_size() > 0) {
    throw Refusal("its data lies in another file, which is not at hand here");
  }
  const Shape shape(proto.dims().begin(), proto.dims().end());
  check_stored(proto, element_count(shape, kMaxTensorElems));
  Tensor out(elem_of(proto.data_type()), shape, kMaxTensorElems);
  const auto plain = [](auto v) { return static_cast<double>(v); };
  switch (proto.data_type()) {
    case onnx::TensorProto::FLOAT:
      fill<float>(proto, proto.float_data(), &out, plain);
      break;
    case onnx::TensorProto::DOUBLE:
      fill<double>(proto, proto.double_data(), &out, plain);
      break;
    case onnx::TensorProto::INT64:
      fill<int64_t>(proto, proto.int64_data(), &out, plain);
      break;
    case onnx::TensorProto::INT32:
      fill<int32_t>(proto, proto.int32_data(), &out, plain);
      break;
    case onnx::TensorProto::INT16:
      fill<int16_t>(proto, proto.int32_data(), &out, plain);
      break;
    case onnx::TensorProto::INT8:
      fill<int8_t>(proto, proto.int32_data(), &out, plain);
      break;
    case onnx::TensorProto::UINT16:
      fill<uint16_t>(proto, proto.int32_data(), &out, plain);
      break;
    case onnx::TensorProto::UINT8:
      fill<uint8_t>(proto, proto.int32_data(), &out, plain);
      break;
    case onnx::TensorProto::UINT32:
      fill<uint32_t>(proto, proto.uint64_data(), &out, plain);
      break;
    case onnx::TensorProto::UINT64:
      fill<uint64_t>(proto, proto.uint64_data(), &out, plain);
      break;
    case onnx::TensorProto::BOOL:
      fill<uint8_t>(proto, proto.int32_data(), &out, [](uint8_t v) { return v ? 1.0 : 0.0; });
      break;
    case onnx::TensorProto::FLOAT16:
      fill<uint16_t>(proto, proto.int32_data(), &out, half_to_double);
      break;
    case onnx::TensorProto::BFLOAT16:
      fill<uint16_t>(proto, proto.int32_data(), &out, bfloat_to_double);
      break;
    case kInt4Type:
    case kUint4Type:
      fill_nibbles(proto, proto.data_type() == kInt4Type, &out);
      break;
    default:
      throw Refusal("its element type " + std::to_string(proto.data_type()) + " is not supported");
  }
  out.file_type = proto.data_type();
  return out;
}

Tensor read_sparse_tensor(const onnx::SparseTensorProto &proto) {
  const Tensor values = read_tensor(proto.values()), places = read_tensor(proto.indices());
  Tensor out(values.elem, Shape(proto.dims().begin(), proto.dims().end()));
  out.file_type = values.file_type;
  const int64_t rank = static_cast<int64_t>(out.rank()), count = values.size();
  const bool linear = places.rank() == 1 && places.size() == count;
  if (values.rank() != 1 || places.elem != Elem::kInt || (!linear && places.shape != Shape{count, rank}))
    throw Refusal("its indices have shape " + shape_text(places.shape) + "; accepted: " + shape_text({count}) + " or " +
                  shape_text({count, rank}));
  const Shape strides = dense_strides(out.shape);
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = 0;
    for (int64_t axis = 0; axis < (linear ? 1 : rank); ++axis) {
      const int64_t index = to_int(places.data[static_cast<size_t>(linear ? i : i * rank + axis)]);
      const int64_t size = linear ? out.size() : out.shape[static_cast<size_t>(axis)];
      if (index < 0 || index >= size)
        throw Refusal("it has the index " + std::to_string(index) + "; accepted: 0 to " + std::to_string(size - 1));
      at += linear ? index : index * strides[static_cast<size_t>(axis)];
    }
    out.data[static_cast<size_t>(at)] = values.data[static_cast<size_t>(i)];
  }
  return out;
}

}  // namespace rnnp::compiler
