// input_kinds.h -- how the library takes each input of a graph: float32, or int32 where it is an index or a length alone.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IMPORT_INPUT_KINDS_H_
#define RNNPACK_COMPILER_IMPORT_INPUT_KINDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/onnx/model_file.h"

namespace rnnp::compiler {

enum class InputKind : uint8_t {
  kRefused,
  kReal,   // f32
  kWhole,  // f32 that holds integers: an integer tensor that is computed with
  kMask,   // f32 of 0 and 1: a bool tensor
  kIndex,  // i32: rows of a table, lengths
};

struct InputUse {
  InputKind kind = InputKind::kReal;
  int64_t rows = 0;  // of the smallest table that it looks up; 0: none
};

std::vector<InputUse> input_uses(const OnnxModel &model);
// "INT64"
std::string elem_type_name(int elem_type);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IMPORT_INPUT_KINDS_H_
