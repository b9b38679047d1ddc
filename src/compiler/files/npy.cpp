// npy.cpp -- Contract: npy.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/files/npy.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "compiler/eval/eval.h"
#include "compiler/files/files.h"
#include "compiler/onnx/errors.h"

namespace rnnp::compiler {
namespace {

constexpr char kMagic[] = "\x93NUMPY";

// The value of 'key' in the header's Python dictionary, up to the comma that ends it.
std::string entry(const std::string &header, const std::string &key, const std::string &what) {
  const size_t at = header.find("'" + key + "'");
  const size_t colon = at == std::string::npos ? at : header.find(':', at);
  if (colon == std::string::npos) throw IoError(what + ": no '" + key + "' in its header");
  size_t begin = header.find_first_not_of(' ', colon + 1);
  if (begin == std::string::npos) throw IoError(what + ": its header is cut off");
  const size_t end = header[begin] == '(' ? header.find(')', begin) : header.find_first_of(",}", begin);
  if (end == std::string::npos) throw IoError(what + ": its header is cut off");
  return header.substr(begin, end - begin);
}

Shape parse_shape(const std::string &text, const std::string &what) {
  Shape shape;
  constexpr size_t kMaxRank = 32;
  for (size_t at = text.find_first_of("0123456789"); at != std::string::npos; at = text.find_first_of("0123456789", at)) {
    size_t used = 0;
    if (shape.size() == kMaxRank) throw IoError(what + ": its shape is not valid");
    try {
      shape.push_back(std::stoll(text.substr(at), &used));
    } catch (const std::exception &) {
      throw IoError(what + ": its shape is not valid");
    }
    at += used;
  }
  return shape;
}

template <typename From>
void to_floats(const uint8_t *data, size_t count, Array *out, const std::string &) {
  out->f32.resize(count);
  for (size_t i = 0; i < count; ++i) {
    From v;
    std::memcpy(&v, data + i * sizeof v, sizeof v);
    out->f32[i] = static_cast<float>(v);
  }
}

// IEEE binary16, which has no type of its own here.
void halves(const uint8_t *data, size_t count, Array *out, const std::string &) {
  out->f32.resize(count);
  for (size_t i = 0; i < count; ++i) {
    const unsigned half = data[2 * i] | unsigned{data[2 * i + 1]} << 8, exponent = half >> 10 & 31, fraction = half & 1023;
    const float size = exponent == 31
                           ? (fraction ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity())
                       : exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                       : std::ldexp(static_cast<float>(1024 + fraction), static_cast<int>(exponent) - 25);
    out->f32[i] = half & 0x8000u ? -size : size;
  }
}

template <typename From>
void to_ints(const uint8_t *data, size_t count, Array *out, const std::string &what) {
  out->is_int = true;
  out->i32.resize(count);
  for (size_t i = 0; i < count; ++i) {
    From v;
    std::memcpy(&v, data + i * sizeof v, sizeof v);
    if (static_cast<double>(v) > 2147483647.0 || static_cast<double>(v) < -2147483648.0)
      throw IoError(what + ": element " + std::to_string(i) + " is " + std::to_string(v) + ", which does not fit 32 bits");
    out->i32[i] = static_cast<int32_t>(v);
  }
}

struct ElementType {
  const char *descr, *name;
  size_t bytes;
  void (*read)(const uint8_t *data, size_t count, Array *out, const std::string &what);
};

constexpr ElementType kTypes[] = {
    {"<f4", "float32", 4, to_floats<float>}, {"<f8", "float64", 8, to_floats<double>}, {"<f2", "float16", 2, halves},
    {"|b1", "bool", 1, to_ints<uint8_t>},    {"|i1", "int8", 1, to_ints<int8_t>},      {"|u1", "uint8", 1, to_ints<uint8_t>},
    {"<i2", "int16", 2, to_ints<int16_t>},   {"<u2", "uint16", 2, to_ints<uint16_t>},  {"<i4", "int32", 4, to_ints<int32_t>},
    {"<u4", "uint32", 4, to_ints<uint32_t>}, {"<i8", "int64", 8, to_ints<int64_t>},    {"<u8", "uint64", 8, to_ints<uint64_t>},
};

// `descr` as the header has it, in quotes.
const ElementType &element_type(const std::string &descr, const std::string &what) {
  std::string accepted;
  for (const ElementType &type : kTypes) {
    if (descr == std::string("'") + type.descr + "'") return type;
    accepted += std::string(accepted.empty() ? "" : ", ") + type.name;
  }
  throw IoError(what + ": element type " + descr.substr(0, 40) + (descr[0] == '\'' && descr[1] == '>' ? " (big-endian)" : "") +
                "; accepted: " + accepted +
                ", little-endian; save it with array.astype(numpy.float32), or numpy.int32 for indices");
}

// The last axis moves slowest in the file; afterwards the first does.
void reorder_fortran(Array *array) {
  const size_t rank = array->shape.size();
  Shape strides(rank);
  int64_t stride = 1;
  for (size_t i = 0; i < rank; ++i) {
    strides[i] = stride;
    stride *= array->shape[i];
  }
  const Array from = *array;
  for_each_index(array->shape, strides, 0, [&](int64_t i, int64_t at) {
    const auto to = static_cast<size_t>(i), place = static_cast<size_t>(at);
    if (array->is_int)
      array->i32[to] = from.i32[place];
    else
      array->f32[to] = from.f32[place];
  });
}

}  // namespace

Array parse_npy(const std::vector<uint8_t> &bytes, const std::string &what) {
  if (bytes.size() < 12 || std::memcmp(bytes.data(), kMagic, 6) != 0) throw IoError(what + ": not a .npy file");
  const bool wide = bytes[6] >= 2;
  const size_t start = wide ? 12 : 10;
  size_t length = size_t{bytes[8]} | size_t{bytes[9]} << 8;
  if (wide) length |= size_t{bytes[10]} << 16 | size_t{bytes[11]} << 24;
  if (bytes[6] < 1 || bytes[6] > 3 || length > bytes.size() - start) throw IoError(what + ": a damaged .npy file");
  const std::string header(reinterpret_cast<const char *>(bytes.data()) + start, length);
  const ElementType &type = element_type(entry(header, "descr", what), what);
  const std::string order = entry(header, "fortran_order", what);
  if (order != "True" && order != "False") throw IoError(what + ": a damaged .npy file");
  Array array;
  array.shape = parse_shape(entry(header, "shape", what), what);
  int64_t count = 0;
  try {
    count = element_count(array.shape, int64_t{1} << 33);
  } catch (const Refusal &refusal) {
    throw IoError(what + ": " + refusal.what());
  }
  if (static_cast<uint64_t>(count) * type.bytes != bytes.size() - start - length)
    throw IoError(what + ": its data does not fit its shape " + shape_text(array.shape) + " of " + type.name);
  check_input_bytes(static_cast<uint64_t>(count) * sizeof(float), what);
  type.read(bytes.data() + start + length, static_cast<size_t>(count), &array, what);
  if (order == "True") reorder_fortran(&array);
  return array;
}

Array read_npy(const std::string &path) {
  return parse_npy(read_file(path, input_limit()), path);
}

std::vector<uint8_t> format_npy(const Array &array) {
  std::string header = std::string("{'descr': '") + (array.is_int ? "<i4" : "<f4") + "', 'fortran_order': False, 'shape': (";
  for (int64_t dim : array.shape) header += std::to_string(dim) + ", ";
  if (array.shape.size() > 1) header.erase(header.size() - 2);
  header += "), }";
  header.append(64 - (10 + header.size() + 1) % 64, ' ');
  header += '\n';
  std::vector<uint8_t> bytes(kMagic, kMagic + 6);
  bytes.insert(bytes.end(), {1, 0, static_cast<uint8_t>(header.size() & 255), static_cast<uint8_t>(header.size() >> 8)});
  bytes.insert(bytes.end(), header.begin(), header.end());
  const auto *data =
      array.is_int ? reinterpret_cast<const uint8_t *>(array.i32.data()) : reinterpret_cast<const uint8_t *>(array.f32.data());
  bytes.insert(bytes.end(), data, data + 4 * (array.is_int ? array.i32.size() : array.f32.size()));
  return bytes;
}

Tensor to_tensor(const Array &array) {
  Tensor out(array.is_int ? Elem::kInt : Elem::kFloat, array.shape);
  if (array.is_int)
    std::copy(array.i32.begin(), array.i32.end(), out.data.begin());
  else
    std::copy(array.f32.begin(), array.f32.end(), out.data.begin());
  return out;
}

}  // namespace rnnp::compiler
