// inspect.cpp -- Contract: inspect.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/inspect/inspect.h"

#include <cstring>

#include "compiler/files/files.h"
#include "compiler/inspect/blob_view.h"
#include "compiler/inspect/cuda_plan_text.h"
#include "compiler/inspect/device_estimate.h"
#include "compiler/inspect/memory_map.h"
#include "compiler/inspect/plan_text.h"
#include "compiler/onnx/errors.h"
#include "compiler/options/load_model.h"

namespace rnnp::compiler {
namespace {

// What the compiler decided of the file's axes when it made the blob.
std::string decided_axes(const InspectRequest &options, const nlohmann::ordered_json &document) {
  const auto model = load_model(options.onnx, options.graph);
  if (!options.svg.empty()) check_distinct(model->data_files, {options.svg});
  const uint64_t id = std::stoull(document["model_id"].get<std::string>(), nullptr, 16);
  const std::optional<Graph> graph = graph_of_blob(*model, options.graph, options.prune, id);
  if (!graph)
    throw UsageError(quote(options.blob) + " is not made from " + quote(options.onnx) +
                     " with these options (their model ids differ): give inspect the --set, --dim, --shape, --axes, --state and "
                     "--prune that compile had");
  return graph->axes;
}

nlohmann::ordered_json document_of(const std::string &path, const AlignedBytes &blob) {
  try {
    return blob_document(blob);
  } catch (const IoError &error) {
    throw IoError(quote(path) + ": " + error.what());
  }
}

}  // namespace

std::string inspect(const InspectRequest &options) {
  if (!options.svg.empty()) check_distinct({options.blob, options.onnx, options.cuda}, {options.svg});
  const std::vector<uint8_t> bytes = read_file(options.blob);
  const AlignedBytes blob(bytes.size(), 64);
  if (!bytes.empty()) std::memcpy(blob.data(), bytes.data(), bytes.size());
  nlohmann::ordered_json document = document_of(options.blob, blob);
  if (!options.onnx.empty()) document["axes"] = decided_axes(options, document);
  if (!options.device.empty()) document["device"] = device_estimate(document, blob, options.device, options.mhz);
  const size_t nodes = document["nodes"].size();
  if (!options.svg.empty()) {
    const std::string picture = memory_svg(memory_map(document), nodes);
    write_file(options.svg, picture.data(), picture.size());
  }
  const bool gpu = options.plan && !options.cuda.empty();
  const std::string plan =
      gpu ? cuda_plan_text(blob.data(), bytes.size(), {options.cuda, options.cuda_weights}, options.machine) : "";
  return options.json ? document.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n"
                      : blob_text(document) + (options.device.empty() ? "" : device_text(document["device"])) +
                            (options.memory ? memory_text(memory_map(document), nodes) : "") +
                            (gpu ? plan
                             : options.plan
                                 ? plan_text(document, options.machine) + wavefront_text(blob.data(), bytes.size(), options.machine)
                                 : "");
}

}  // namespace rnnp::compiler
