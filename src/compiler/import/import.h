// import.h -- from a checked ONNX model to the compiler's graph.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_IMPORT_IMPORT_H_
#define RNNPACK_COMPILER_IMPORT_IMPORT_H_

#include <set>
#include <string>

#include "compiler/ir/graph.h"
#include "compiler/onnx/model_file.h"

namespace rnnp::compiler {

// Throws ModelError holding every problem: node, operator, attribute, what would be accepted. `kept`: inputs that the library is to
// keep from step to step (ir/bind_states.h); they are read as one row per step. `float_weights`: those that the file has as f32 are
// stored so.
Graph import_model(const OnnxModel &model, const std::set<std::string> &kept = {}, bool float_weights = true);

// How often the thread has called import_model since the last call; for tests.
int imports_counted();

// The table of docs/OPERATORS.md as Markdown, and the operators that are only folded, from the importers' and the evaluator's
// tables.
std::string operator_table();

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_IMPORT_IMPORT_H_
