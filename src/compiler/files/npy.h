// npy.h -- NumPy's .npy format, versions 1 to 3, little-endian: floats, integers and bool of any width in, in either order; float32
// and int32 in C order out.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_FILES_NPY_H_
#define RNNPACK_COMPILER_FILES_NPY_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/onnx/tensor.h"

namespace rnnp::compiler {

// f32 or i32, whichever the file's type is nearest to.
struct Array {
  Shape shape;
  bool is_int = false;
  std::vector<float> f32;
  std::vector<int32_t> i32;
};

using Arrays = std::map<std::string, Array>;

Tensor to_tensor(const Array &array);

// Throws IoError on anything that is not such a file.
Array parse_npy(const std::vector<uint8_t> &bytes, const std::string &what);
Array read_npy(const std::string &path);
std::vector<uint8_t> format_npy(const Array &array);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_FILES_NPY_H_
