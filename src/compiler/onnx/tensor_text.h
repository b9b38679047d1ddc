// tensor_text.h -- elements of a tensor as messages name them. Host only; pure. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_ONNX_TENSOR_TEXT_H_
#define RNNPACK_COMPILER_ONNX_TENSOR_TEXT_H_

#include <string>

#include "compiler/onnx/tensor.h"

namespace rnnp::compiler {

// "[3, 0, 7]": the index of element `at` of an array of this shape.
std::string index_text(const Shape &shape, size_t at);
// "nan at [3, 0, 7]": the first element that is no finite number; empty: there is none.
std::string not_finite_text(const Tensor &tensor, bool infinite_only = false);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_ONNX_TENSOR_TEXT_H_
