// cmd_inspect.cpp -- `rnnpack inspect`: what a blob holds, as text or JSON.
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstring>
#include <memory>

#include "compiler/cli/add_options.h"
#include "compiler/cli/command.h"
#include "compiler/cli/numbers.h"
#include "compiler/compile.h"
#include "compiler/inspect/blob_view.h"
#include "compiler/inspect/cuda_plan_text.h"
#include "compiler/inspect/device_estimate.h"
#include "compiler/inspect/memory_map.h"
#include "compiler/inspect/plan_text.h"
#include "compiler/onnx/errors.h"
#include "compiler/options/model_options.h"

namespace rnnp::compiler {
namespace {

struct InspectArguments {
  std::string device, blob, onnx, prune, svg, cuda, cuda_weights = "f32";
  double mhz = 0;
  bool json = false, memory = false, plan = false;
  PlanMachine machine;
  ModelOptions graph;
};

// What the compiler decided of the file's axes when it made the blob.
std::string decided_axes(const InspectArguments &options, const nlohmann::ordered_json &document) {
  const auto model = load_model(options.onnx, options.graph);
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

int run(const InspectArguments &options) {
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
      gpu ? cuda_plan_text(blob.data(), bytes.size(), options.cuda, options.cuda_weights, options.machine) : "";
  const std::string text =
      options.json
          ? document.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n"
          : blob_text(document) + (options.device.empty() ? "" : device_text(document["device"])) +
                (options.memory ? memory_text(memory_map(document), nodes) : "") +
                (gpu            ? plan
                 : options.plan ? plan_text(document, options.machine) + wavefront_text(blob.data(), bytes.size(), options.machine)
                                : "");
  std::fputs(text.c_str(), stdout);
  return kExitOk;
}

}  // namespace

void add_inspect(CLI::App *app, Action *action) {
  auto options = std::make_shared<InspectArguments>();
  CLI::App *command = app->add_subcommand("inspect", "Show what a blob holds");
  command->add_option("model", options->blob, "model.rnnp")->required();
  command->add_option("--onnx", options->onnx,
                      "the file it was made from: also which axes were taken as time and batch, and why; takes compile's options");
  add_options(command, model_options(&options->graph));
  command->add_option("--prune", options->prune, "with --onnx: what compile was given");
  command->add_flag("--json", options->json, "as JSON, everything");
  command->add_flag("--memory", options->memory, "also the map of the pools");
  command->add_option("--svg", options->svg, "write the map of the pools there, as a picture");
  command->add_option("--target", options->device,
                      "also flash, RAM, instructions and cycles of a step there, by a table: " + device_names());
  command->add_option("--mhz", options->mhz, "with --target: the CPU's clock, for microseconds")
      ->check(above_zero())
      ->needs("--target");
  command->add_flag(
      "--plan", options->plan,
      "also how the recurrent layers would be cut, and predicted times, on the machine that the options below describe");
  command
      ->add_option("--cuda", options->cuda,
                   "with --plan: on this GPU instead, " + cuda_device_names() + " or a file of its facts (docs/CUDA.md)")
      ->needs("--plan");
  command->add_option("--cuda-weights", options->cuda_weights, "f32, f16 or bf16")
      ->check(CLI::IsMember({"f32", "f16", "bf16"}))
      ->needs("--cuda");
  PlanMachine &m = options->machine;
  command->add_option("--threads", m.threads, "threads of the executor")->check(CLI::Range(1u, 1024u))->capture_default_str();
  command->add_option("--batch", m.batch, "rows")->check(CLI::Range(1u, 1u << 20))->capture_default_str();
  command->add_option("--steps", m.steps, "steps of a run")->check(CLI::Range(1u, 1u << 28))->capture_default_str();
  command->add_option("--l1-kib", m.l1_kib, "first data cache of a core")->capture_default_str();
  command->add_option("--l2-kib", m.l2_kib, "private L2 of a core")->check(CLI::Range(0u, 1u << 20))->capture_default_str();
  command->add_option("--l3-kib", m.l3_kib, "L3 that a core can use")->check(CLI::Range(0u, 1u << 21))->capture_default_str();
  for (const auto &rate :
       {std::make_pair("--l1-gbs", &m.l1_gbs), std::make_pair("--l2-gbs", &m.l2_gbs), std::make_pair("--l3-gbs", &m.l3_gbs),
        std::make_pair("--dram-gbs", &m.dram_gbs), std::make_pair("--gflops", &m.gflops)}) {
    command->add_option(rate.first, *rate.second, "a core's measured rate (make bench)")
        ->check(above_zero())
        ->capture_default_str();
  }
  command->callback([options, action] { *action = [options] { return run(*options); }; });
}

}  // namespace rnnp::compiler
