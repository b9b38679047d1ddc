// json_models.h -- the front end of all model files that are JSON: the members of the outermost object tell which kind it is.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_FRONT_ENDS_JSON_MODELS_H_
#define RNNPACK_COMPILER_FRONT_ENDS_JSON_MODELS_H_

#include "compiler/onnx/front_end.h"

namespace rnnp::compiler {

const FrontEnd &json_models();

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_FRONT_ENDS_JSON_MODELS_H_
