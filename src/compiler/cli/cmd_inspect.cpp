// cmd_inspect.cpp -- `rnnpack inspect`: what a blob holds, as text or JSON.
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstring>
#include <memory>

#include "compiler/cli/blob_view.h"
#include "compiler/cli/command.h"

namespace rnnp::compiler {
namespace {

struct Options {
  std::string blob;
  bool json = false, memory = false;
};

int run(const Options &options) {
  const std::vector<uint8_t> bytes = read_file(options.blob);
  const AlignedBytes blob(bytes.size(), 64);
  if (!bytes.empty()) std::memcpy(blob.data(), bytes.data(), bytes.size());
  const nlohmann::ordered_json document = blob_document(blob);
  const std::string text = options.json ? document.dump(1) + "\n" : blob_text(document) + (options.memory ? memory_text(document) : "");
  std::fputs(text.c_str(), stdout);
  return kExitOk;
}

}  // namespace

void add_inspect(CLI::App *app, Action *action) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app->add_subcommand("inspect", "Show what a blob holds");
  command->add_option("model", options->blob, "model.rnnp")->required();
  command->add_flag("--json", options->json, "as JSON, everything");
  command->add_flag("--memory", options->memory, "also the map of the pools");
  command->callback([options, action] { *action = [options] { return run(*options); }; });
}

}  // namespace rnnp::compiler
