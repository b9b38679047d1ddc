// cmd_profile.cpp -- `rnnpack profile`: how long each node takes on this machine, as a table or as JSON.
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "compiler/cli/command.h"
#include "compiler/cli/numbers.h"
#include "compiler/run/run.h"

namespace rnnp::compiler {
namespace {

int run(const ProfileRequest &request) {
  std::fputs(profile_blob(request).c_str(), stdout);
  return kExitOk;
}

}  // namespace

void add_profile(CLI::App *app, Action *action) {
  auto options = std::make_shared<ProfileRequest>();
  CLI::App *command = app->add_subcommand("profile", "Time each node of a blob on this machine, on one thread");
  command->add_option("model", options->blob, "model.rnnp")->required();
  command->add_option("--steps", options->steps, "of one call; left out: those it was compiled for (--stream), or 100")
      ->check(CLI::Range(size_t{1}, size_t{1} << 24));
  command->add_option("--batch", options->batch, "rows")->check(CLI::Range(1u, 1u << 16))->capture_default_str();
  command->add_option("--seconds", options->seconds, "to spend")->check(seconds())->capture_default_str();
  command->add_flag("--json", options->json, "as JSON");
  command->add_option("--trace", options->trace, "file for Perfetto or Chrome: when each node of ten calls ran, as trace events");
  command->callback([options, action] { *action = [options] { return run(*options); }; });
}

}  // namespace rnnp::compiler
