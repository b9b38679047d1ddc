// cmd_compile.cpp -- `rnnpack compile`: a model's file to a blob, and with --emit-c to a C array.
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "compiler/cli/add_options.h"
#include "compiler/cli/command.h"
#include "compiler/files/files.h"
#include "compiler/import/import.h"
#include "compiler/job/compile_job.h"
#include "compiler/onnx/errors.h"
#include "compiler/options/progress_display.h"

namespace rnnp::compiler {
namespace {

void print(MessageKind kind, const std::string &text) {
  if (kind == MessageKind::kReport) {
    std::printf("%s", text.c_str());
    std::fflush(stdout);
  } else {
    std::fprintf(stderr, "note: %s\n", text.c_str());
  }
}

int run(const CompileArguments &options) {
  if (options.output.empty() && options.c_name.empty()) throw UsageError("nothing to write: give -o FILE or --emit-c NAME");
  const CompileResult made = run_compile(options, nullptr, 0, {print, progress_lines(options.progress), true});
  std::vector<OutputFile> files;
  for (const MadeFile &file : made.files) {
    if (!file.path.empty()) files.push_back({file.path, file.bytes.data(), file.bytes.size()});
  }
  write_files(files);
  std::fprintf(stderr, "%s", made.summary.c_str());
  return kExitOk;
}

int list_operators() {
  std::printf("%s", operator_table().c_str());
  return kExitOk;
}

}  // namespace

void add_compile(CLI::App *app, Action *action) {
  auto options = std::make_shared<CompileArguments>();
  CLI::App *command = app->add_subcommand("compile", "Compile a model into a blob: ONNX or another kind, which the content tells");
  add_options(command, compile_options(options.get()));
  command->callback([options, action] { *action = [options] { return run(*options); }; });
}

void add_operators(CLI::App *app, Action *action) {
  CLI::App *command = app->add_subcommand("operators", "List the supported operators and their limits as Markdown");
  command->callback([action] { *action = list_operators; });
}

}  // namespace rnnp::compiler
