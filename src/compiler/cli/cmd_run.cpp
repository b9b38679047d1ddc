// cmd_run.cpp -- `rnnpack run`: .npy in, .npy out.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "compiler/cli/add_options.h"
#include "compiler/cli/command.h"
#include "compiler/run/run.h"

namespace rnnp::compiler {
namespace {

void show_progress(size_t done, size_t steps) {
  std::fprintf(stderr, "\r%zu of %zu steps%s", done, steps, done == steps ? "\n" : "");
  std::fflush(stderr);
}

void say(MessageKind kind, const std::string &text) {
  if (kind == MessageKind::kReport) {
    std::fputs(text.c_str(), stdout);
  } else {
    std::fprintf(stderr, "rnnpack: %s\n", text.c_str());
  }
}

int run(const RunRequest &request) {
  Listener listener{say};
  if (isatty(STDERR_FILENO)) listener.progress = show_progress;
  run_blob(request, listener);
  return kExitOk;
}

}  // namespace

void add_run(CLI::App *app, Action *action) {
  auto options = std::make_shared<RunRequest>();
  CLI::App *command = app->add_subcommand("run", "Run a blob on .npy or .npz files, axes in the order of the ONNX file");
  command->add_option("model", options->blob, "model.rnnp")->required();
  add_input_option(command, &options->inputs, "; may be repeated");
  command
      ->add_option("--output", options->outputs,
                   "y.npy for the first output, or NAME=file.npy; may be repeated; without it a summary is printed")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  CLI::Option *threads = command->add_option("--threads", options->threads, "threads, the caller's included")
                             ->check(CLI::Range(1, 256))
                             ->capture_default_str();
  command->add_option("--machine", options->machine, "tuned.json of rnnpack tune: threads, chunk, instruction sets, size of L2")
      ->excludes(threads);
  command->add_option("--steps-per-call", options->steps_per_call, "run as a stream, this many steps a call")
      ->check(CLI::Range(size_t{1}, size_t{1} << 40));
  command->add_flag("--last-step", options->last_step, "of sequence outputs write each row's last valid step only");
  command->add_flag("--portable-ops", options->portable_ops, "without XNNPACK, as the sessions of --emit-c run");
  command->add_flag("--reference", options->reference, "reference kernels only, whose bits are the same on every CPU");
  CLI::Option *cuda =
      command->add_flag("--cuda", options->cuda, "on this machine's GPU (experimental)")->excludes(threads)->excludes("--machine");
  cuda->excludes("--portable-ops")->excludes("--reference");
  command->add_option("--cuda-weights", options->cuda_weights, "what the GPU's copy of dense weights is: f32, f16, bf16")
      ->check(CLI::IsMember({"f32", "f16", "bf16"}))
      ->capture_default_str()
      ->needs(cuda);
  command->callback([options, action] { *action = [options] { return run(*options); }; });
}

}  // namespace rnnp::compiler
