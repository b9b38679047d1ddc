// load_model.h -- a model's file as a command's options make it (model_options.h), and the graph of a blob that was made from it.
// SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_COMPILER_OPTIONS_LOAD_MODEL_H_
#define RNNPACK_COMPILER_OPTIONS_LOAD_MODEL_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/bind_states.h"
#include "compiler/ir/graph.h"
#include "compiler/onnx/model_file.h"
#include "compiler/options/model_options.h"

namespace rnnp::compiler {

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
#endif  // RNNPACK_COMPILER_OPTIONS_LOAD_MODEL_H_
