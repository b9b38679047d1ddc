// npy.cpp -- Contract: npy.h.
// SPDX-License-Identifier: Apache-2.0
#include "compiler/cli/npy.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "compiler/cli/files.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

constexpr char kMagic[] = "\x93NUMPY";

// The value of 'key' in the header's Python dictionary, up to the comma that ends it.
std::string entry(const std::string &header, const std::string &key, const std::string &what) {
  const size_t at = header.find("'" + key + "'");
  const size_t colon = at == std::string::npos ? at : header.find(':', at);
  if (colon == std::string::npos) throw IoError(what + ": no '" + key + "' in its header");
  size_t begin = header.find_first_not_of(" ", colon + 1);
  if (begin == std::string::npos) throw IoError(what + ": its header is cut off");
  const size_t end = header[begin] == '(' ? header.find(')', begin) : header.find_first_of(",}", begin);
  if (end == std::string::npos) throw IoError(what + ": its header is cut off");
  return header.substr(begin, end - begin);
}

Shape parse_shape(const std::string &text, const std::string &what) {
  Shape shape;
  for (size_t at = text.find_first_of("0123456789"); at != std::string::npos; at = text.find_first_of("0123456789", at)) {
    size_t used = 0;
    try {
      shape.push_back(std::stoll(text.substr(at), &used));
    } catch (const std::exception &) {
      throw IoError(what + ": its shape is not valid");
    }
    at += used;
  }
  return shape;
}

template <typename From, typename To>
void convert(const uint8_t *data, size_t count, std::vector<To> *out, const std::string &what) {
  out->resize(count);
  for (size_t i = 0; i < count; ++i) {
    From v;
    std::memcpy(&v, data + i * sizeof v, sizeof v);
    if (std::numeric_limits<To>::is_integer && (static_cast<double>(v) > 2147483647.0 || static_cast<double>(v) < -2147483648.0)) {
      throw IoError(what + ": an integer does not fit 32 bits");
    }
    (*out)[i] = static_cast<To>(v);
  }
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
  if (entry(header, "fortran_order", what).rfind("False", 0) != 0)
    throw IoError(what + ": in Fortran order; save it with numpy.ascontiguousarray");
  const std::string type = entry(header, "descr", what);
  Array array;
  array.shape = parse_shape(entry(header, "shape", what), what);
  int64_t count = 0;
  try {
    count = element_count(array.shape, int64_t{1} << 33);
  } catch (const Refusal &refusal) {
    throw IoError(what + ": " + refusal.what());
  }
  const size_t item = type.find('8') != std::string::npos ? 8 : 4;
  if (static_cast<uint64_t>(count) * item != bytes.size() - start - length)
    throw IoError(what + ": its data does not fit its shape " + shape_text(array.shape));
  const uint8_t *data = bytes.data() + start + length;
  const size_t n = static_cast<size_t>(count);
  array.is_int = type.find('i') != std::string::npos;
  if (type == "'<f4'")
    convert<float>(data, n, &array.f32, what);
  else if (type == "'<f8'")
    convert<double>(data, n, &array.f32, what);
  else if (type == "'<i4'")
    convert<int32_t>(data, n, &array.i32, what);
  else if (type == "'<i8'")
    convert<int64_t>(data, n, &array.i32, what);
  else
    throw IoError(what + ": element type " + quote(type) + "; accepted: float32, float64, int32, int64");
  return array;
}

Array read_npy(const std::string &path) {
  return parse_npy(read_file(path), path);
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

void write_npy(const std::string &path, const Array &array) {
  const std::vector<uint8_t> bytes = format_npy(array);
  write_file(path, bytes.data(), bytes.size());
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
