// model_options.h -- the options of every command that reads a model's file: --from, --to, --set, --dim, --shape,
// --axes, --state and --quality.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_OPTIONS_MODEL_OPTIONS_H_
#define RNNPACK_COMPILER_OPTIONS_MODEL_OPTIONS_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/bind_states.h"
#include "compiler/ir/graph.h"
#include "compiler/onnx/specialise.h"
#include "compiler/options/option_row.h"

namespace rnnp::compiler {

struct ModelOptions {
  std::vector<std::string> from, to, set, dims, shapes, axes, states;  // NAME=VALUE, as typed
  std::optional<double> quality;
};

OptionRows model_options(ModelOptions *options);

// A file of any kind (front_ends.h): its bytes, or where there are none what `path` names. Weights outside it are looked for in the
// path's folder, where there is a path.
struct ModelSource {
  std::string path;
  const void *bytes = nullptr;
  size_t size = 0;
};

// The model as the options make it. Throws UsageError beside what read_model_file throws.
std::unique_ptr<OnnxModel> load_model(const ModelSource &source, const ModelOptions &options);
std::unique_ptr<OnnxModel> load_model(const std::string &path, const ModelOptions &options);

std::vector<StatePair> state_pairs(const ModelOptions &options, const OnnxModel &model);

// The model's graph that a blob of this model id was written from; `pruning`: what --prune was. Nothing: it was another one.
std::optional<Graph> graph_of_blob(const OnnxModel &model, const ModelOptions &options, const std::string &pruning, uint64_t id);

}  // namespace rnnp::compiler
#endif  // RNNPACK_COMPILER_OPTIONS_MODEL_OPTIONS_H_
