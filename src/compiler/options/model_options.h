// model_options.h -- the options of every command that reads a model's file: --from, --to, --set, --dim, --shape,
// --axes, --state and --quality.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_OPTIONS_MODEL_OPTIONS_H_
#define RNNPACK_COMPILER_OPTIONS_MODEL_OPTIONS_H_

#include <optional>
#include <string>
#include <vector>

#include "compiler/options/option_row.h"

namespace rnnp::compiler {

struct ModelOptions {
  std::vector<std::string> from, to, set, dims, shapes, axes, states;  // NAME=VALUE, as typed
  std::optional<double> quality;
};

OptionRows model_options(ModelOptions *options);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_OPTIONS_MODEL_OPTIONS_H_
