// cmd_verify.cpp -- `rnnpack verify`: a blob against an f64 evaluation of the ONNX graph.
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "compiler/cli/add_options.h"
#include "compiler/cli/command.h"
#include "compiler/cli/numbers.h"
#include "compiler/cli/progress_view.h"
#include "compiler/verify/verify.h"

namespace rnnp::compiler {
namespace {

struct VerifyArguments : VerifyRequest {
  bool progress = false;
};

int run(const VerifyArguments &arguments) {
  ProgressView view("verify", arguments.progress);
  Listener listener;
  listener.say = [&view](MessageKind, const std::string &text) {
    view.clear();
    std::fputs(text.c_str(), stdout);
  };
  if (view.is_watched()) listener.progress = [&view](size_t done, size_t all) { view.show(done, all); };
  return verify(arguments, listener) ? kExitOk : kExitVerify;
}

}  // namespace

void add_verify(CLI::App *app, Action *action) {
  auto options = std::make_shared<VerifyArguments>();
  CLI::App *command =
      app->add_subcommand("verify", "Compare a blob with an f64 evaluation of the ONNX graph, on random inputs or on given ones");
  command->add_option("onnx", options->model, "model.onnx")->required();
  command->add_option("blob", options->blob, "model.rnnp")->required();
  add_input_option(command, &options->inputs, "; what is not given is drawn at random; may be repeated");
  command
      ->add_option("--steps", options->steps,
                   "steps; default: those of the inputs, what the file fixes, else 20, or fewer of a large network")
      ->check(CLI::Range(1, 1 << 24));
  command->add_option("--batch", options->batch, "batch rows; default: those of the inputs, what the file fixes, else 2")
      ->check(CLI::Range(1, 1 << 16));
  command->add_option("--seed", options->seed, "of the random inputs and of where the run is cut")->capture_default_str();
  command->add_option("--deviation", options->deviation, "standard deviation of the random inputs, around 0")
      ->check(above_zero())
      ->capture_default_str();
  command
      ->add_option("--tolerance", options->tolerance,
                   "largest error, relative to max(1, |expected|); default: 1e-5, or more where the network amplifies roundings")
      ->check(not_negative());
  command
      ->add_option("--accuracy-min", options->accuracy_min,
                   "smallest signal-to-noise ratio of every output, in dB, of a blob whose weights have low precision than f32")
      ->check(finite_number());
  command->add_option("--prune", options->prune, "what compile was given");
  add_options(command, model_options(&options->graph));
  add_progress_option(command, &options->progress);
  command->callback([options, action] { *action = [options] { return run(*options); }; });
}

}  // namespace rnnp::compiler
