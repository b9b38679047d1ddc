// rtneural.h -- RTNeural's JSON: a list of layers with weights as Keras has them. AIDA-X's files are the same with gains, a skip
// connection and a test vector, which is checked. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_RTNEURAL_RTNEURAL_H_
#define RNNPACK_COMPILER_RTNEURAL_RTNEURAL_H_

#include <memory>

#include "compiler/json/json_value.h"
#include "compiler/onnx/front_end.h"

namespace rnnp::compiler {

bool is_rtneural(const JsonValue &file);
std::unique_ptr<OnnxModel> read_rtneural(const JsonValue &file, const ReadOptions &options);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_RTNEURAL_RTNEURAL_H_
