// plain_indices.h -- exporters wrap negative indices of a table themselves (index < 0 ? index + rows : index, in any operators);
// Gather does so anyway. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_REWRITES_PLAIN_INDICES_H_
#define RNNPACK_COMPILER_REWRITES_PLAIN_INDICES_H_

#include <memory>

#include "compiler/onnx/model_file.h"

namespace rnnp::compiler {

// The model with such indices read straight from the input; it refers to nodes of `model`. nullptr where there are none.
std::unique_ptr<OnnxModel> with_plain_indices(const OnnxModel &model);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_REWRITES_PLAIN_INDICES_H_
