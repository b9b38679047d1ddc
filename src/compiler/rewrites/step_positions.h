// step_positions.h -- a Range to an open size that is only compared: which steps a mask keeps. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_REWRITES_STEP_POSITIONS_H_
#define RNNPACK_COMPILER_REWRITES_STEP_POSITIONS_H_

#include <memory>

#include "compiler/onnx/model_file.h"

namespace rnnp::compiler {

// The model with such a Range as the running sum of ones before each step, which a stream goes on with. It refers to nodes of
// `model`. nullptr where there are none.
std::unique_ptr<OnnxModel> with_step_positions(const OnnxModel &model);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_REWRITES_STEP_POSITIONS_H_
