// model_options.h -- the options of every command that reads an ONNX file: --from, --to, --set, --dim, --shape,
// --axes and --state.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_CLI_MODEL_OPTIONS_H_
#define RNNPACK_COMPILER_CLI_MODEL_OPTIONS_H_

#include <memory>
#include <string>
#include <vector>

#include "compiler/ir/bind_states.h"
#include "compiler/onnx/specialise.h"

namespace CLI {
class App;
}

namespace rnnp::compiler {

struct ModelOptions {
  std::vector<std::string> from, to, set, dims, shapes, axes, states;  // NAME=VALUE, as typed
};

void add_model_options(CLI::App *command, ModelOptions *options);

// The model as the options make it. Throws UsageError beside what load_model throws.
std::unique_ptr<OnnxModel> load_model(const std::string &path, const ModelOptions &options);

std::vector<StatePair> state_pairs(const ModelOptions &options);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_CLI_MODEL_OPTIONS_H_
