// front_ends.h -- the kinds of model files that are read. To add one: a folder of its own with a FrontEnd (onnx/front_end.h), and
// its line in the table of front_ends.cpp. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_FRONT_ENDS_FRONT_ENDS_H_
#define RNNPACK_COMPILER_FRONT_ENDS_FRONT_ENDS_H_

#include "compiler/onnx/front_end.h"

namespace rnnp::compiler {

// The model of a file of any kind. Throws ModelError, and UsageError where an option says nothing for such a file.
std::unique_ptr<OnnxModel> read_model_file(const ModelFile &file, const ReadOptions &options = {});

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_FRONT_ENDS_FRONT_ENDS_H_
