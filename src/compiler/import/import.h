// import.h -- from a checked ONNX model to the compiler's graph.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IMPORT_IMPORT_H_
#define RNNPACK_COMPILER_IMPORT_IMPORT_H_

#include <set>
#include <string>

#include "compiler/ir/graph.h"
#include "compiler/onnx/model_file.h"

namespace rnnp::compiler {

// What is known of how weights will be stored: where convolutions lie depends on it.
struct WeightForms {
  bool stay_f32 = true;  // those that the file has so
  bool winograd = true;  // those of windows of 3 x 3 may be written for F(2x2, 3x3)
};

// Throws ModelError holding every problem: node, operator, attribute, what would be accepted. `kept`: inputs that the library is to
// keep from step to step (ir/bind_states.h); they are read as one row per step.
Graph import_model(const OnnxModel &model, const std::set<std::string> &kept = {}, const WeightForms &weights = {});

// How often the thread has called import_model since the last call; for tests.
int imports_counted();

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IMPORT_IMPORT_H_
