// cmd_run.cpp -- `rnnpack run`: .npy in, .npy out, through the public C API.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "compiler/cli/command.h"
#include "compiler/cli/runner.h"
#include "compiler/onnx/problem.h"

namespace rnnp::compiler {
namespace {

struct Options {
  std::string blob;
  std::vector<std::string> inputs, outputs;
  uint32_t threads = 1;
  size_t steps_per_call = 0;
  bool last_step = false;
};

// "name=file" or "file" for the only required (or first) tensor.
std::map<std::string, std::string> by_name(const std::vector<std::string> &given, const std::vector<rnnp_tensor_facts> &tensors,
                                           const char *what) {
  std::map<std::string, std::string> files;
  for (const std::string &text : given) {
    const size_t equals = text.find('=');
    std::string name = equals == std::string::npos ? "" : text.substr(0, equals);
    bool known = false;
    for (const rnnp_tensor_facts &facts : tensors) known = known || name == facts.name;
    if (!known && equals != std::string::npos && name.find('/') == std::string::npos)
      throw UsageError(std::string("the model has no ") + what + " " + quote(name));
    if (!known) {
      if (tensors.empty()) throw UsageError(std::string("the model has no ") + what + "s");
      name = tensors[0].name;
    }
    if (!files.emplace(name, known ? text.substr(equals + 1) : text).second)
      throw UsageError(std::string(what) + " " + quote(name) + " is given twice");
  }
  return files;
}

void show_progress(size_t done, size_t steps) {
  std::fprintf(stderr, "\r%zu of %zu steps%s", done, steps, done == steps ? "\n" : "");
  std::fflush(stderr);
}

int run(const Options &options) {
  Runner runner(read_file(options.blob));
  Arrays arrays;
  for (const auto &file : by_name(options.inputs, runner.inputs(), "input")) arrays[file.first] = read_npy(file.second);
  const auto outputs = by_name(options.outputs, runner.outputs(), "output");
  RunOptions how;
  how.threads = options.threads;
  how.steps_per_call = options.steps_per_call;
  how.last_step = options.last_step;
  if (isatty(STDERR_FILENO)) {
    // Results do not depend on the cut, so long work is cut where someone watches.
    constexpr size_t kWatchedSteps = 2000;
    if (how.steps_per_call == 0 && runner.facts().causal) how.steps_per_call = kWatchedSteps;
    how.progress = [](size_t done, size_t steps) {
      if (steps > kWatchedSteps) show_progress(done, steps);
    };
  }
  const Arrays results = runner.run(arrays, how);
  for (const auto &file : outputs) write_npy(file.second, results.at(file.first));
  return kExitOk;
}

}  // namespace

void add_run(CLI::App *app, Action *action) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app->add_subcommand("run", "Run a blob on .npy files, axes in the order of the ONNX file");
  command->add_option("model", options->blob, "model.rnnp")->required();
  command->add_option("--input", options->inputs, "x.npy for the first input, or name=file.npy; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--output", options->outputs, "y.npy for the first output, or name=file.npy; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("--threads", options->threads, "threads, the caller's included")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command->add_option("--steps-per-call", options->steps_per_call, "run as a stream, this many steps a call");
  command->add_flag("--last-step", options->last_step, "of sequence outputs write each row's last valid step only");
  command->callback([options, action] { *action = [options] { return run(*options); }; });
}

}  // namespace rnnp::compiler
