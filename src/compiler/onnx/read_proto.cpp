// read_proto.cpp -- Contract: read_proto.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/onnx/read_proto.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "compiler/onnx/problem.h"
#include "compiler/onnx/refusal_of.h"

namespace rnnp::compiler {
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

// Writes to what holds the numbers.
template <typename Number>
void set_all(Tensor *out, Number number) {
  if (out->data.are_floats()) {
    float *to = out->data.same_as(static_cast<const float *>(nullptr));
    for (size_t i = 0; i < out->data.size(); ++i) to[i] = static_cast<float>(number(i));
  } else {
    double *to = out->data.data();
    for (size_t i = 0; i < out->data.size(); ++i) to[i] = number(i);
  }
}

template <typename T, typename Convert>
void from_raw(const std::string &raw, Tensor *out, Convert convert) {
  if (raw.size() != out->data.size() * sizeof(T)) {
    throw Refusal("raw_data holds " + std::to_string(raw.size()) + " bytes where its shape " + shape_text(out->shape) + " needs " +
                  std::to_string(out->data.size() * sizeof(T)));
  }
  set_all(out, [&](size_t i) {
    T value;
    std::memcpy(&value, raw.data() + i * sizeof(T), sizeof(T));
    return convert(value);
  });
}

template <typename Field, typename Convert>
void from_field(const Field &field, Tensor *out, Convert convert) {
  if (static_cast<size_t>(field.size()) != out->data.size()) {
    throw Refusal("it holds " + std::to_string(field.size()) + " elements where its shape " + shape_text(out->shape) + " needs " +
                  std::to_string(out->data.size()));
  }
  set_all(out, [&](size_t i) { return convert(field.Get(static_cast<int>(i))); });
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

// Whether a float holds every number of the type.
bool are_floats(int type) {
  switch (type) {
    case onnx::TensorProto::DOUBLE:
    case onnx::TensorProto::INT64:
    case onnx::TensorProto::INT32:
    case onnx::TensorProto::UINT32:
    case onnx::TensorProto::UINT64:
      return false;
    default:
      return true;
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
  set_all(out, [&](size_t i) {
    const int byte = raw ? proto.raw_data()[i / 2] : field.Get(static_cast<int>(i / 2));
    const int nibble = byte >> (i % 2 * 4) & 15;
    return static_cast<double>(is_signed && nibble > 7 ? nibble - 16 : nibble);
  });
}

// No allocation before the stored bytes are known to be there: a hostile file may state any shape.
void check_stored(const onnx::TensorProto &proto, int64_t count) {
  const int64_t stored = proto.has_raw_data() ? static_cast<int64_t>(proto.raw_data().size())
                                              : int64_t{proto.float_data_size()} + proto.int32_data_size() +
                                                    proto.int64_data_size() + proto.double_data_size() + proto.uint64_data_size();
  const bool nibbles = proto.data_type() == kOnnxInt4 || proto.data_type() == kOnnxUint4;
  if ((nibbles ? count / 2 : count) > stored) {
    throw Refusal("it holds " + std::to_string(stored) + (proto.has_raw_data() ? " bytes" : " elements") +
                  " where its shape needs " + std::to_string(count) + " elements");
  }
}

OnnxTensor constant_of(const onnx::TensorProto &proto) {
  std::shared_ptr<const Tensor> tensor;
  const auto refusal = refusal_of([&] { tensor = std::make_shared<const Tensor>(read_tensor(proto)); });
  return {proto.name(), proto.data_type(), Shape(proto.dims().begin(), proto.dims().end()), tensor, refusal ? refusal->what() : ""};
}

OnnxValue value_of(const onnx::ValueInfoProto &info) {
  if (!info.type().has_tensor_type()) return OnnxValue(info.name());
  OnnxValue::Type type;
  type.elem_type = info.type().tensor_type().elem_type();
  type.has_shape = info.type().tensor_type().has_shape();
  for (const auto &dim : info.type().tensor_type().shape().dim())
    type.dims.push_back({dim.has_dim_value(), dim.has_dim_value() ? dim.dim_value() : 0, dim.dim_param()});
  return {info.name(), true, std::move(type)};
}

OnnxAttribute::Value value_of(const onnx::AttributeProto &proto) {
  switch (proto.type()) {
    case onnx::AttributeProto::INT:
      return int64_t{proto.i()};
    case onnx::AttributeProto::FLOAT:
      return proto.f();
    case onnx::AttributeProto::STRING:
      return proto.s();
    case onnx::AttributeProto::TENSOR:
      return constant_of(proto.t());
    case onnx::AttributeProto::GRAPH:
      return std::make_shared<const OnnxGraph>(read_graph(proto.g()));
    case onnx::AttributeProto::INTS:
      return std::vector<int64_t>(proto.ints().begin(), proto.ints().end());
    case onnx::AttributeProto::FLOATS:
      return std::vector<float>(proto.floats().begin(), proto.floats().end());
    case onnx::AttributeProto::STRINGS:
      return std::vector<std::string>(proto.strings().begin(), proto.strings().end());
    default:
      return std::monostate();
  }
}

}  // namespace

Tensor read_tensor(const onnx::TensorProto &proto) {
  if (proto.data_location() == onnx::TensorProto::EXTERNAL || proto.external_data_size() > 0) {
    throw Refusal("its data lies in another file, which is not at hand here");
  }
  const Shape shape(proto.dims().begin(), proto.dims().end());
  check_stored(proto, element_count(shape, kMaxTensorElems));
  Tensor out(elem_of(proto.data_type()), shape, kMaxTensorElems, are_floats(proto.data_type()));
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
    case kOnnxInt4:
    case kOnnxUint4:
      fill_nibbles(proto, proto.data_type() == kOnnxInt4, &out);
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

OnnxNode read_node(const onnx::NodeProto &proto) {
  OnnxNode node;
  node.set_op_type(proto.op_type());
  node.set_domain(proto.domain());
  node.set_name(proto.name());
  node.mutable_input()->assign(proto.input().begin(), proto.input().end());
  node.mutable_output()->assign(proto.output().begin(), proto.output().end());
  for (const onnx::AttributeProto &attribute : proto.attribute()) node.add_attribute(attribute.name(), value_of(attribute));
  return node;
}

OnnxGraph read_graph(const onnx::GraphProto &proto) {
  OnnxGraph graph;
  for (const onnx::NodeProto &node : proto.node()) *graph.add_node() = read_node(node);
  for (const onnx::TensorProto &tensor : proto.initializer()) graph.mutable_initializer()->push_back(constant_of(tensor));
  graph.set_has_sparse_initializers(proto.sparse_initializer_size() > 0);
  for (const onnx::ValueInfoProto &info : proto.input()) graph.mutable_input()->push_back(value_of(info));
  for (const onnx::ValueInfoProto &info : proto.output()) graph.mutable_output()->push_back(value_of(info));
  for (const onnx::ValueInfoProto &info : proto.value_info()) graph.mutable_value_info()->push_back(value_of(info));
  return graph;
}

}  // namespace rnnp::compiler
