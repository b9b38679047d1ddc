// carry_file_type.h -- how the file has the numbers of a constant, kept while nodes move them. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_EVAL_CARRY_FILE_TYPE_H_
#define RNNPACK_COMPILER_EVAL_CARRY_FILE_TYPE_H_

#include <vector>

#include "compiler/onnx/model_file.h"

namespace rnnp::compiler {

// Tensor::file_type and steps of what eval_node made of `in`: the same of all that come together here, or nothing is known.
void carry_file_type(const OnnxNode &node, int64_t opset, const std::vector<const Tensor *> &in, std::vector<Tensor> *out);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_EVAL_CARRY_FILE_TYPE_H_
