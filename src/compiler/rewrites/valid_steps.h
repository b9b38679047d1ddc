// valid_steps.h -- the last valid step of each row as exporters write it: GatherND or GatherElements at sequence lengths - 1.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_REWRITES_VALID_STEPS_H_
#define RNNPACK_COMPILER_REWRITES_VALID_STEPS_H_

#include <memory>

#include "compiler/onnx/model_file.h"

namespace rnnp::compiler {

// The model with such a step as the first one of the row's valid steps in reverse order; of a row without steps it is the last of
// the run, as index -1 says. It refers to nodes of `model`. nullptr where there are none.
std::unique_ptr<OnnxModel> with_valid_steps(const OnnxModel &model);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_REWRITES_VALID_STEPS_H_
