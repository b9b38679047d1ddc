// cmd_tune.cpp -- `rnnpack tune`: which session options run a blob fastest on this machine, as a table, a C header or a machine
// file. SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "compiler/cli/command.h"
#include "compiler/cli/numbers.h"
#include "compiler/run/run.h"

namespace rnnp::compiler {
namespace {

int run(const TuneRequest &request) {
  tune_blob(request, {[](MessageKind, const std::string &text) { std::fputs(text.c_str(), stdout); }});
  return kExitOk;
}

}  // namespace

void add_tune(CLI::App *app, Action *action) {
  auto options = std::make_shared<TuneRequest>();
  CLI::App *command =
      app->add_subcommand("tune", "Time a blob on this machine with other session options than the library's choice");
  command->add_option("model", options->blob, "model.rnnp")->required();
  command->add_option("--steps", options->steps, "of one call; left out: those it was compiled for (--stream), or 100")
      ->check(CLI::Range(size_t{1}, size_t{1} << 24));
  command->add_option("--batch", options->batch, "rows")->check(CLI::Range(1u, 1u << 16))->capture_default_str();
  command->add_option("--threads", options->most_threads, "most threads to try")->check(CLI::Range(1, 256))->capture_default_str();
  command->add_option("--seconds", options->seconds, "for each comparison")->check(seconds())->capture_default_str();
  command->add_option("-o,--output", options->output,
                      "C header to write: NAME.h has NAME(options) and NAME_THREADS; NAME.json: a machine file for run --machine");
  command->callback([options, action] { *action = [options] { return run(*options); }; });
}

}  // namespace rnnp::compiler
