// compile.h -- the whole road on the host: ONNX model in, blob out.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_COMPILE_H_
#define RNNPACK_COMPILER_COMPILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/onnx/model_file.h"

namespace rnnp::compiler {

struct Compiled {
  Graph graph;
  std::vector<uint8_t> blob;
};

// Throws ModelError with every problem; UsageError when the target is unknown.
Compiled compile_model(const OnnxModel &model, const std::string &target);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_COMPILE_H_
