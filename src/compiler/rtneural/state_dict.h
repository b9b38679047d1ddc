// state_dict.h -- a PyTorch state_dict as JSON, with names alone to tell the layers; and GuitarML's (Proteus, GuitarLSTM's
// successors), which has a description beside it. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_RTNEURAL_STATE_DICT_H_
#define RNNPACK_COMPILER_RTNEURAL_STATE_DICT_H_

#include <memory>

#include "compiler/json/json_value.h"
#include "compiler/onnx/front_end.h"

namespace rnnp::compiler {

bool is_guitarml(const JsonValue &file);
std::unique_ptr<OnnxModel> read_guitarml(const JsonValue &file, const ReadOptions &options);

// Layers follow each other in the order of the file.
bool is_state_dict(const JsonValue &file);
std::unique_ptr<OnnxModel> read_state_dict(const JsonValue &file, const ReadOptions &options);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_RTNEURAL_STATE_DICT_H_
