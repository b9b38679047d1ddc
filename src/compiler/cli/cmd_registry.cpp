// cmd_registry.cpp -- `rnnpack registry`: blobs -> a C file that links what they need of the library and no more.
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>

#include "compiler/cli/command.h"
#include "compiler/files/files.h"
#include "compiler/run/run.h"

namespace rnnp::compiler {
namespace {

struct RegistryArguments {
  std::vector<std::string> blobs;
  std::string output;
};

int run(const RegistryArguments &options) {
  check_distinct(options.blobs, {options.output});
  const std::string text = registry_of_blobs(options.blobs);
  write_file(options.output, text.data(), text.size());
  return kExitOk;
}

}  // namespace

void add_registry(CLI::App *app, Action *action) {
  auto options = std::make_shared<RegistryArguments>();
  CLI::App *command = app->add_subcommand(
      "registry",
      "Write a C file that, compiled into a program, makes it link the operators and kernels of these blobs and no others");
  command->add_option("model", options->blobs, "model.rnnp, one or more")->required();
  command->add_option("-o,--output", options->output, "C file to write")->required();
  command->callback([options, action] { *action = [options] { return run(*options); }; });
}

}  // namespace rnnp::compiler
